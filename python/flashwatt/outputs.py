"""Where results are written: what stands in the way is named, and nothing of an earlier run stays beside them."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.files import printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from os import PathLike

OF_A_RUN = (
    "report.json",
    "config.toml",
    *(f"{frame}.parquet" for frame in ("series", "edges")),
    *(f"{picture}.{suffix}" for picture in ("power", "current") for suffix in ("svg", "html")),
)
"""Every file that a run may leave in its directory."""


@contextmanager
def writing(path: str | PathLike[str]) -> Iterator[None]:
    """Within the block a file is written: a `FlashwattError` names it if that cannot be done."""
    try:
        yield
    except OSError as error:
        found = f"{printable(path)}: cannot be written; found: {error.strerror}"
        raise _core.FlashwattError(f"{found}; expected a file in a directory that is there") from None


def directory(path: str | PathLike[str]) -> Path:
    """Make a directory for results, with those above it; a `FlashwattError` names one that cannot be made."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        found = f"{printable(path)}: no directory for results; found: {error.strerror}"
        raise _core.FlashwattError(f"{found}; expected a directory, or a place for a new one") from None
    return Path(path)


def clear(out: Path, keep: Collection[str]) -> list[Path]:
    """Remove what an earlier run left in its directory, and what is not written anew; give what is gone.

    Only files with the names of a run's own go, and only beside a report.json, by which a run's directory is known.
    """
    if not (out / "report.json").is_file():
        return []
    stale = [out / name for name in OF_A_RUN if name not in keep and (out / name).is_file()]
    for path in stale:
        path.unlink()
    return stale
