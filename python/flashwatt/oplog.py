"""The files of a run's logs: the engine writes CSV, which is converted to Parquet after the run."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.literals import shown
from flashwatt.base.outputs import check, check_not_read, scratch

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from os import PathLike
    from typing import Literal

    from flashwatt.base.files import Json

    Kind = Literal["op_log", "request_log", "capture", "dispatch_log"]
    """Of the flash operations, of the host's requests (by their ends, or as a trace), or of those that its block layer
    dispatched: the name of the function of `frames` that reads it."""


class Log:
    """A log that is being written."""

    def __init__(self, kind: Kind, path: Path | None, engine_path: Path | None, *, force: bool) -> None:
        """Of the engine's CSV, which for a log in CSV is the file that was asked for."""
        self.kind = kind
        self.path = path
        self.engine_path = engine_path
        self.force = force

    def named(self, content: Json) -> Json:
        """Of a report: name the file that was asked for where the engine names its own."""
        if self.path and self.engine_path:
            content["status"] = content["status"].replace(str(self.engine_path), str(self.path))
        return content

    def finish(self) -> None:
        """Make Parquet of it, if that was asked for. Raises `FlashwattError` if it cannot be written."""
        if self.path is None or self.engine_path is None or self.path == self.engine_path:
            return
        if not self.engine_path.exists():
            return  # the engine could not keep it, and has said so
        from flashwatt.base import frames

        frames.sink(getattr(frames, self.kind)(self.engine_path), self.path, force=self.force)


def finish_all(logs: Collection[Log]) -> None:
    """Keep every log that can be kept. Raises the `FlashwattError` of the first one that cannot."""
    faults = []
    for log in logs:
        try:
            log.finish()
        except _core.FlashwattError as error:
            faults.append(error)
    if faults:
        raise faults[0]


def path_of(kind: Kind, name: str | PathLike[str]) -> Path:
    """Give the path of a log; `kind` is the argument that a `FlashwattError` names."""
    if not isinstance(name, str | os.PathLike):
        raise _core.FlashwattError(f"{kind}: found {shown(name)}; expected the path of a file")
    return Path(name)


@contextmanager
def logged(kind: Kind, name: str | PathLike[str] | None, *, force: bool = False) -> Iterator[Log]:
    """Give the log with the path for the engine to write to; call `Log.finish` when the run's result is saved.

    Parquet takes a temporary second file in the same directory, and as much memory as CSV. Raises `FlashwattError` for
    a file that must not be replaced; the engine checks a CSV itself, but does not know all files that are read.
    """
    path = None if name is None else path_of(kind, name)
    with ExitStack() as stack:
        engine_path = path
        if path is not None:
            check_not_read(path)
        if path is not None and path.suffix == ".parquet":
            check(path, marks.TABLE, force=force)
            engine_path = stack.enter_context(scratch(path)) / f"{kind}.csv"
        yield Log(kind, path, engine_path, force=force)


@contextmanager
def temporary(*, wanted: bool) -> Iterator[Path | None]:
    """Make a temporary file for a log. The caller removes it; if the block fails, it is removed here."""
    if not wanted:
        yield None
        return
    import tempfile

    handle, name = tempfile.mkstemp(prefix="flashwatt-", suffix=".csv")
    os.close(handle)
    try:
        yield Path(name)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
