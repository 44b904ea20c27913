"""Where a run's operation log goes: the engine writes CSV; Parquet is made of that when the run is over."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from flashwatt.outputs import writing

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def written(path: Path | None) -> Iterator[Path | None]:
    """Give the file that the engine has to write; after the block the log is at `path`, in the format of its suffix.

    Parquet takes a second file for a while, in the same directory, but no more memory than CSV.
    """
    if path is None or path.suffix != ".parquet":
        yield path
        return
    from flashwatt import frames

    with writing(path):
        beside = tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent)
    with beside as directory:
        csv = Path(directory) / "ops.csv"
        yield csv
        frames.op_log(csv).sink_parquet(path)


@contextmanager
def temporary(*, wanted: bool) -> Iterator[Path | None]:
    """Make a file for a log that nobody named; it is the caller's to remove, unless the block fails."""
    if not wanted:
        yield None
        return
    handle, name = tempfile.mkstemp(prefix="flashwatt-", suffix=".csv")
    os.close(handle)
    try:
        yield Path(name)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
