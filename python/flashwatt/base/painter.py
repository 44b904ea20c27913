"""A process that draws: it answers a line of JSON by a line of JSON and the bytes that this line announces.

The drawing library holds a JavaScript engine, which ends its process if it finds too little address space, as under a
limit (`ulimit -v`). In a process of its own that costs the picture, not the result.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from typing import IO, Any

from flashwatt import _core


def paint(function: str, /, *arguments: Any, **keywords: Any) -> bytes:
    """Call a function of vl_convert and give its result, text as UTF-8.

    Raises `FlashwattError` for a picture that cannot be drawn, also if drawing ends the process.
    """
    line = json.dumps([function, arguments, keywords]).encode() + b"\n"
    with _guard:
        painter = _painter(os.getpid())
        try:
            return painter.call(line)
        except BaseException:
            painter.stop()  # the next call would take an answer left in the pipe for its own
            _painter.cache_clear()
            raise


class _Painter:
    """The parent's end."""

    def __init__(self) -> None:
        here = str(Path(__file__).parents[2])
        path = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._owner = os.getpid()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "flashwatt.base.painter"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin: IO[bytes] = self._process.stdin
        self._stdout: IO[bytes] = self._process.stdout

    def call(self, line: bytes) -> bytes:
        try:
            self._stdin.write(line)
            self._stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, and so has its output
        answer = self._stdout.readline()
        if not answer.endswith(b"\n"):
            raise _core.FlashwattError(f"the process that draws {_end(self._process.wait())}")
        head = json.loads(answer)
        if "error" in head:
            raise _core.FlashwattError(f"the process that draws said: {head['error']}")
        content = self._stdout.read(head["bytes"])
        if len(content) < head["bytes"]:
            raise _core.FlashwattError(f"the process that draws {_end(self._process.wait())}")
        return content

    def stop(self) -> None:
        if os.getpid() != self._owner:
            return  # a fork of the process that started it
        self._process.kill()
        self._process.communicate()


_guard = threading.Lock()


@cache
def _painter(_process: int) -> _Painter:
    """The one of this process: that of a parent is not shared."""
    painter = _Painter()
    atexit.register(painter.stop)
    return painter


def _end(status: int) -> str:
    how = f"ended with status {status}" if status >= 0 else f"was ended by {signal.Signals(-status).name}"
    limit = _address_space_bytes()
    if limit is None:
        return how
    return f"{how}; drawing needs more address space than the limit of {limit // 10**6:,} MB (`ulimit -v`) leaves it"


def _address_space_bytes() -> int | None:
    """The limit of this process's address space, if there is one."""
    try:
        import resource
    except ImportError:  # not on this system
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def main() -> None:
    """Serve the process that started this one."""
    import vl_convert

    output = sys.stdout.buffer
    for line in sys.stdin.buffer:
        function, arguments, keywords = json.loads(line)
        try:
            result = getattr(vl_convert, function)(*arguments, **keywords)
        except Exception as error:  # the parent reports it
            output.write(json.dumps({"error": str(error)}).encode() + b"\n")
        else:
            content = result.encode() if isinstance(result, str) else result
            output.write(json.dumps({"bytes": len(content)}).encode() + b"\n" + content)
        output.flush()


if __name__ == "__main__":
    main()
