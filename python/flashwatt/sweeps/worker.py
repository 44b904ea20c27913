"""A process that runs a sweep's tasks: one line of JSON in, one line out, until the input ends.

It is a new process and not a fork, so that it shares neither the parent's threads nor its `__main__`. It runs in a
session of its own, so that Ctrl-C reaches the parent only. If the parent has died, the worker gives up its run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.config.config import Config
from flashwatt.sweeps.start_states import Shared, file_of
from flashwatt.sweeps.task import STOPPED, STREAM, streamed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashwatt.runs import Progress
    from flashwatt.sweeps.task import Task


TRACES_BYTES = 256_000_000
"""Memory in which each process keeps traces that it has read: 24 bytes a request. A trace without room is a stream."""


class Worker:
    """The parent's end."""

    def __init__(self) -> None:
        """Start a process that finds the package where this one found it."""
        here = str(Path(__file__).parents[2])
        path = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "flashwatt.sweeps.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,
        )

    def run(self, task: Task) -> bytes:
        """Run a task and give its answer: its line of the results, or an error.

        Raises `FlashwattError` if the process ends.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(_request(task))
            stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, and so has its output
        line = stdout.readline()
        if not line.endswith(b"\n"):
            status = self._process.wait()
            how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
            raise _core.FlashwattError(f"the process that ran it {how}")
        return line

    def stop(self) -> None:
        """End the process, also in the middle of a run."""
        self._process.kill()
        self._process.communicate()


def _request(task: Task) -> bytes:
    request = {
        "head": {"id": task.id, "point": task.point, "seed": task.seed},
        "config": _parts(task.config),
        "baseline": _parts(task.baseline),
        "kept": asdict(task.kept),
        "start_state": task.start_state,
        "stream": _parts(task.stream),
    }
    return json.dumps(request).encode() + b"\n"


def _parts(config: Config | None) -> tuple[Any, ...] | None:
    return (config.text, config.name, config.sets) if config else None


def main() -> None:
    """Serve the process that started this one."""
    parent = os.getppid()
    _core.keep_traces(TRACES_BYTES)

    def wanted(_done: int, _total: int | None, _now_ns: int, _preparing: str | None) -> bool:
        return os.getppid() == parent

    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(_answer(json.loads(line), wanted))
        sys.stdout.buffer.flush()


def _answer(request: dict[str, Any], wanted: Progress) -> bytes:
    """Run a task: the report goes into its line as the engine wrote it.

    A run that `wanted` stops has no line, but an error.
    """
    try:
        text, name, sets = request["config"]
        kept = request["kept"]
        window = kept.pop("edges_ns")
        baseline = request["baseline"] and tuple(request["baseline"])
        if shared := request["start_state"]:
            kept["start_state"] = file_of(Config(text, name, tuple(sets)), Shared(*shared), wanted)
        with _stream(request["stream"], wanted) as trace:
            report = _core.run(
                text,
                name,
                [*sets, *trace],
                edges_ns=window and tuple(window),
                progress=wanted,
                against=baseline,
                **kept,
            )
        if STOPPED in report and json.loads(report)["status"] == STOPPED:  # seldom parsed: a report may be large
            raise _core.FlashwattError("stopped before its end: nobody waits for the run")
    except _core.FlashwattError as error:
        return json.dumps({"error": str(error)}).encode() + b"\n"
    head = json.dumps(request["head"], ensure_ascii=False)
    return f'{head[:-1]}, "report": {report}}}\n'.encode()


@contextmanager
def _stream(config: list[Any] | None, wanted: Progress) -> Iterator[list[str]]:
    """Run the configuration that comes first, if there is one, and give the override that replays its requests."""
    if config is None:
        yield []
        return
    with TemporaryDirectory(prefix="flashwatt-") as directory:
        path = Path(directory) / STREAM
        text, name, sets = config
        status = json.loads(_core.run(text, name, sets, dispatch_log=path, progress=wanted))["status"]
        if status != "complete":
            raise _core.FlashwattError(f"the run before this one, whose requests it replays: {status}")
        yield [streamed(path)]


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os._exit(1)  # the reader has gone; Python would print an error when it closes the stream
