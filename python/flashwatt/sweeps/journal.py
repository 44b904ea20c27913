"""The results of a sweep as a file: one line of JSON for each finished task.

Until all tasks have finished, lines stand in the order of their ends. If the sweep is interrupted, finished lines stay:
only the last one can be torn, and it is removed when the file is opened again. When all tasks have finished, the file
is written anew in the order of the study: the same bytes with any number of workers and interruptions.

A run that was stopped from outside is no result: `add` refuses its line. A file that has one (earlier versions could
write it) counts its task as missing: the task runs again, and the line is gone when the file has been written anew.
"""

from __future__ import annotations

import io
import json
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.files import check_regular
from flashwatt.base.outputs import check, replacing, writing
from flashwatt.sweeps.task import STOPPED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


_PIECE_BYTES = 1 << 20
_PARTS = {"point": dict, "seed": int, "report": dict}
"""What a line has beside its id."""


class Journal:
    """Lines by the id of their task; in memory without a path."""

    def __init__(self, path: Path | None = None, *, only_read: bool = False) -> None:
        """Open or begin a file. Raises `FlashwattError` for one that is no journal."""
        self.path = path
        if path and not only_read:
            check(path, marks.JOURNAL)
        elif path and path.exists():
            check_regular(path)
        self._file: IO[bytes] = path.open("rb" if only_read else "a+b") if path else io.BytesIO()
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0
        try:
            self._index()
            if not only_read:
                self._file.truncate(self._end)
        except BaseException:
            self.close()
            raise

    def __contains__(self, task: str) -> bool:
        return task in self._places

    @property
    def ids(self) -> list[str]:
        """The ids of the tasks that have a line."""
        return list(self._places)

    def __iter__(self) -> Iterator[bytes]:
        return map(self.line, self.ids)

    def add(self, task: str, line: bytes) -> None:
        """Append the line of a task that has finished; it ends with a newline.

        Raises `FlashwattError` for the line of a run that was stopped.
        """
        if STOPPED.encode() in line and _was_stopped(json.loads(line)):  # seldom parsed: a report may be large
            found = f"task {task[:12]}: the run was stopped before its end; found the status {STOPPED!r}"
            raise _core.FlashwattError(f"{found}; expected the report of a run that has ended")
        with writing(self.path or "results"):
            self._file.seek(self._end)
            self._file.write(line)
            self._file.flush()
        self._place(task, line)

    def line(self, task: str) -> bytes:
        """The line of a finished task."""
        start, length = self._places[task]
        self._file.seek(start)
        return self._file.read(length)

    def finish(self, order: Iterable[str]) -> None:
        """Write the file anew: the tasks in this order, as far as they are there, then those of other studies."""
        if self.path is None:
            return
        with replacing(self.path, marks.JOURNAL) as part, part.open("wb") as file:
            file.writelines(self.line(task) for task in dict.fromkeys((*order, *self._places)) if task in self)

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):  # of a line that could not be written, which `add` has said
            self._file.close()

    def _index(self) -> None:
        self._file.seek(0)
        for number, line in enumerate(self._lines(), 1):
            if line.endswith(b"\n"):
                content = self._content(line, number)
                if _was_stopped(content):
                    self._end += len(line)
                else:
                    self._place(str(content["id"]), line)
            elif not line.startswith(marks.RESULT_HEAD[: len(line)]):
                raise self._foreign(line, number)

    def _lines(self) -> Iterator[bytes]:
        """Yield the lines of the file; of a line that does not begin as a result, only a piece is read."""
        while line := self._file.readline(_PIECE_BYTES):
            if len(line) < _PIECE_BYTES or line.endswith(b"\n"):
                yield line
            elif line.startswith(b"{"):
                yield line + self._file.readline()
            else:
                yield line + b"\n"  # no torn result: it is refused as it is

    def _place(self, task: str, line: bytes) -> None:
        self._places[task] = (self._end, len(line))
        self._end += len(line)

    def _content(self, line: bytes, number: int) -> dict[str, Any]:
        content = None
        with suppress(ValueError, RecursionError):
            content = json.loads(line)
        if not isinstance(content, dict) or "id" not in content:
            raise self._foreign(line, number)
        if wrong := [key for key, kind in _PARTS.items() if not isinstance(content.get(key), kind)]:
            task = f"{self.path}:{number}: task {str(content['id'])[:12]}"
            raise _core.FlashwattError(f"{task}: no {', '.join(wrong)}; expected a result of a sweep")
        return content

    def _foreign(self, line: bytes, number: int) -> _core.FlashwattError:
        found = line[:40].decode(errors="backslashreplace").rstrip()
        place = f"{self.path}:{number}: not a result of a sweep; found `{found}`"
        return _core.FlashwattError(f"{place}; expected a line with an id (remove the line, or the file)")


def _was_stopped(content: dict[str, Any]) -> bool:
    report = content.get("report")
    return isinstance(report, dict) and report.get("status") == STOPPED
