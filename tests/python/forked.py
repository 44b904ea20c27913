"""Commands in forks of a process that has the package and its libraries loaded.

A command is a process as one that a user starts: it has its own memory, directory, environment, streams, signals and
exit status. Only the imports, a third of a second of processor time, are made once for all commands of a test process.
One process draws for all of them: its JavaScript engine takes a second to start. The process that forks runs nothing
but this file, so it has one thread. `test_forked.py` compares both ways.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_LOADED = (
    "rich.progress",
    "altair",
    "flashwatt.cli.main",
    "flashwatt.cli.explanation",
    "flashwatt.config.template",
    "flashwatt.dio.measure",
    "flashwatt.dio.power",
    "flashwatt.dio.simulated",
    "flashwatt.report.table",
    "flashwatt.runs",
)
"""Polars is not among them: it starts threads, which a fork would wait for in vain."""
_FIRST = {
    "calibrate": ("scipy.optimize", "scipy.stats"),
    "reproduce": ("markdown_it",),
    "sweep": ("concurrent.futures",),
}
"""Libraries that are loaded before the first fork for a command, if they are installed."""


def run(
    arguments: list[str], cwd: Path, *, env: Mapping[str, str] | None = None, timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run `flashwatt` with arguments and nothing on its standard input, as `subprocess.run` with captured text."""
    pipes = [os.pipe(), os.pipe()]
    answer, theirs = socket.socketpair()
    with answer:
        with theirs:
            _server(os.getpid()).start(arguments, cwd, env, [*(write for _, write in pipes), theirs.fileno()])
        for _, write in pipes:
            os.close(write)
        answers = answer.makefile("rb")
        printed = _read([read for read, _ in pipes], int(answers.readline()), timeout)
        status = int(answers.readline())
    stdout, stderr = (io.TextIOWrapper(io.BytesIO(text), encoding="utf-8").read() for text in printed)
    return subprocess.CompletedProcess(["flashwatt", *arguments], status, stdout, stderr)


def _read(pipes: list[int], process: int, timeout: float) -> list[bytes]:
    """Read pipes to their ends. A process that takes too long is killed."""
    texts = dict.fromkeys(pipes, b"")
    ends = time.monotonic() + timeout
    with selectors.DefaultSelector() as waiting:
        for pipe in pipes:
            waiting.register(pipe, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(max(0, ends - time.monotonic()))
            if not ready:
                os.kill(process, signal.SIGKILL)
                raise subprocess.TimeoutExpired("flashwatt", timeout)
            for key, _ in ready:
                if piece := os.read(key.fd, 1 << 16):
                    texts[key.fd] += piece
                else:
                    waiting.unregister(key.fd)
                    os.close(key.fd)
    return list(texts.values())


class _Server:
    """This process's end of the process that forks."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        command = [sys.executable, __file__, str(theirs.fileno())]
        alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        with theirs:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the server)
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stderr=self._errors, env=alone
            )
        self._socket = ours  # its end, when this process ends, ends the other one

    def start(self, arguments: list[str], cwd: Path, env: Mapping[str, str] | None, streams: list[int]) -> None:
        """Start a command. It writes to the first two streams; its id and then its status come on the third."""
        request = json.dumps([arguments, str(cwd), dict(os.environ if env is None else env)]).encode()
        try:
            socket.send_fds(self._socket, [len(request).to_bytes(8, "big")], streams)
            self._socket.sendall(request)
        except BrokenPipeError:
            self._errors.seek(0)
            said = self._errors.read().decode(errors="replace")
            raise RuntimeError(f"the process that forks ended with status {self._process.wait()}: {said}") from None


@cache
def _server(_process: int) -> _Server:
    """The one of a process: a fork does not share that of its parent."""
    return _Server()


def _serve(requests: socket.socket, drawing: socket.socket) -> None:
    """Fork for each request; the child returns when it has become the process of a command."""
    while True:
        head, streams, _, _ = socket.recv_fds(requests, 8, 3)
        if not head:
            os._exit(0)  # the tests have ended
        request = b""
        while len(request) < int.from_bytes(head, "big"):
            request += requests.recv(1 << 20)
        arguments, cwd, env = json.loads(request)
        *outputs, answer = streams
        _load(_FIRST.pop(next(iter(arguments), ""), ()))
        if not os.fork():  # commands run side by side: a process of its own waits for each
            process = os.fork()
            if process:
                for output in outputs:
                    os.close(output)
                requests.close()
                drawing.close()
                os.write(answer, b"%d\n" % process)
                _, status = os.waitpid(process, 0)
                with suppress(BrokenPipeError):  # of a command that took too long nobody waits for the status
                    os.write(answer, b"%d\n" % os.waitstatus_to_exitcode(status))
                os._exit(0)
            os.close(answer)
            requests.close()
            _become(arguments, cwd, env, outputs)
            _draw_there(drawing)
            return
        for stream in streams:
            os.close(stream)
        while _ended():
            pass


def _load(modules: Iterable[str]) -> None:
    """Load what is installed of these, and keep it from collections, which would copy it all into each fork."""
    for module in modules:
        with suppress(ImportError):
            importlib.import_module(module)
    tasks = Path("/proc/self/task")
    assert not tasks.exists() or len(list(tasks.iterdir())) == 1, "a library has started a thread"
    gc.collect()
    gc.freeze()


def _ended() -> bool:
    """Take the status of one of the processes that wait, if one has ended."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


def _become(arguments: list[str], cwd: str, env: dict[str, str], outputs: list[int]) -> None:
    """Take over a command's streams, directory, environment and arguments."""
    for number, output in enumerate(outputs, 1):
        os.dup2(output, number)
        os.close(output)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.stderr.reconfigure(line_buffering=True)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["flashwatt", *arguments]


def _drawer() -> socket.socket:
    """Fork a process that draws for all commands. It ends when each of them, and this process, has ended."""
    ours, theirs = socket.socketpair()
    if os.fork():
        theirs.close()
        return ours
    ours.close()
    from flashwatt.base import painter

    while True:
        word, streams, _, _ = socket.recv_fds(theirs, 1, 1)
        if not word:
            os._exit(0)
        with socket.socket(fileno=streams[0]) as asked:
            sys.stdin = sys.stdout = asked.makefile("rw")
            painter.main()


def _draw_there(drawing: socket.socket) -> None:
    """Let this command draw in the process of `_drawer`. A picture is a connection, so that no command waits long."""
    from flashwatt.base import painter

    class Shared(painter._Painter):
        def __init__(self) -> None:
            """Start nothing."""

        def call(self, line: bytes) -> bytes:
            ours, theirs = socket.socketpair()
            with theirs:
                socket.send_fds(drawing, [b"."], [theirs.fileno()])
            with ours, ours.makefile("rwb") as self._stdin:
                self._stdout = self._stdin
                return super().call(line)

        def stop(self) -> None:
            """End nothing: the next command draws there, too."""

    painter._Painter = Shared


def _end_after(command: Callable[[], None]) -> None:
    """Run a command and end the process as Python does, but leave its memory to the system.

    To take every object of every library apart, on pages that are shared until then, takes longer than most commands.
    """
    status = 0
    try:
        command()
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            sys.stderr.write(f"{end.code}\n")
        status = end.code if isinstance(end.code, int) else end.code is not None
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except OSError:
        status = 120
    sys.stderr.flush()
    os._exit(status)


def main() -> None:
    """Load everything, wait for requests, and go on as the command line in each fork."""
    from altair.utils import schemapi

    from flashwatt.cli.main import cli
    from flashwatt.config import reference
    from flashwatt.report.keys import meanings

    schemapi.disable_debug_mode()  # a chart is checked as a whole, and not each of its parts as well
    assert all(cli.commands.values())  # a look loads each
    assert reference.keys()  # what they give is kept
    assert meanings()
    _load(_LOADED)
    requests = socket.socket(fileno=int(sys.argv[1]))
    _serve(requests, _drawer())
    from flashwatt.__main__ import main as command_line

    _end_after(command_line)


if __name__ == "__main__":
    main()
