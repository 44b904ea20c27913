"""A real file or block device as a target: everything happens by the wall clock."""

from __future__ import annotations

import time
from array import array
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.missing import no_such, printable
from flashwatt.base.misspelt import hint
from flashwatt.config.reference import presets
from flashwatt.dio.target import Measured

if TYPE_CHECKING:
    from pathlib import Path

    from flashwatt.dio.load import Load
    from flashwatt.dio.target import GoOn, Source

_SLICE_S = 0.05
_SPARSE_PERCENT = 1  # of a file may be holes without a warning
_BLOCK_BYTES = 512  # in which the system counts what a file occupies


class Real:
    """A regular file or a block device that is open: for reading only, unless `write` is given."""

    is_real = True

    def __init__(self, path: Path, *, write: bool = False, buffered: bool = False, threads: bool = False) -> None:
        """Open it. Raises `FlashwattError` for what is no target."""
        self.name, self._path, self._buffered = printable(path), path, buffered
        if not path.exists():
            raise _core.FlashwattError(
                f"{self.name}: {no_such(path)}, and no such preset; {hint(str(path), presets())}"
            )
        if path.is_dir():
            raise _core.FlashwattError(f"{self.name}: a directory; expected a file on it, or its block device")
        self._core = _core.LiveTarget(path, write, buffered, threads)
        self.size_bytes, self.sector_bytes = self._core.size_bytes, self._core.sector_bytes

    @property
    def is_device(self) -> bool:
        """Whether it is a block device; else a regular file."""
        return self._core.is_device

    def about(self) -> dict[str, Any]:
        """Describe it for the result."""
        return {
            "kind": "device" if self._core.is_device else "file",
            "name": self.name,
            "size_bytes": self.size_bytes,
            "sector_bytes": self.sector_bytes,
            "clock": "unix",
            "requests_by": self._core.engine,
            "direct": not self._buffered,
        }

    def warnings(self) -> list[str]:
        """Say what makes the figures say less about the drive."""
        found = []
        if self._buffered:
            found.append(
                "--buffered: requests go through the page cache; rates and latencies are those of memory as well"
            )
        if not self.is_device and (percent := self._holes_percent()) >= _SPARSE_PERCENT:
            found.append(f"{percent:.0f} % of {self.name} is holes: reads of them do not reach the drive")
        return found

    def _holes_percent(self) -> float:
        occupied = self._path.stat().st_blocks * _BLOCK_BYTES
        return max(0.0, 100 * (1 - occupied / self.size_bytes))

    def run(self, load: Load, go_on: GoOn, *, watched: bool = True) -> Measured:
        """Send requests in a closed loop; see `Target.run`."""

        def progress(done: int, total: int | None, _now_ns: int, _preparing: str | None) -> bool:
            return go_on(done, total)

        began_ns, words, stopped = self._core.measure(
            load.pattern.write,
            load.seed if load.pattern.random else None,
            load.span_bytes,
            load.align_bytes,
            load.request_bytes,
            load.requests,
            load.limit_ns,
            load.queue_depth,
            progress,
        )
        times = array("Q")
        times.frombytes(words)
        return Measured(began_ns, times, stopped)

    def flush(self) -> int:
        """Wait until everything that was written is on the medium."""
        began = time.perf_counter_ns()
        self._core.flush()
        return time.perf_counter_ns() - began

    def idle(self, duration_ns: int, go_on: GoOn) -> tuple[int, int]:
        """Sleep."""
        began, clock = time.time_ns(), time.perf_counter_ns()
        while (passed := time.perf_counter_ns() - clock) < duration_ns and go_on(0, None):
            time.sleep(min(_SLICE_S, (duration_ns - passed) / 1e9))
        return began, began + time.perf_counter_ns() - clock

    def power(self) -> Source | None:
        """None: the meter's readings come when the run has ended."""
        return None
