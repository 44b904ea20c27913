"""Messages about files and directories that are not there, or of the other kind, and about libraries."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from flashwatt import _core

_NEAR = 0.7


def printable(path: str | os.PathLike[str]) -> str:
    """Give a file name for a message, with bytes that are no UTF-8 as escapes."""
    try:
        return str(path).encode(errors="surrogateescape").decode(errors="backslashreplace")
    except UnicodeEncodeError:  # half of a surrogate pair stands for no byte
        return str(path).encode(errors="backslashreplace").decode()


def check_name(path: str | os.PathLike[str]) -> None:
    """Raise `FlashwattError` for a name that no file can have: one with a NUL, or with half of a surrogate pair."""
    try:
        is_name = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        is_name = False
    if not is_name:
        found = f"found {os.fspath(path)!r}"
        raise _core.FlashwattError(f"not the name of a file; {found}; expected a name without NUL, of whole characters")


def unread(path: str | os.PathLike[str], error: OSError) -> str:
    """Say why a file was not opened, behind its name."""
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return f"{printable(path)}: {no_such(path)}"
    return f"{printable(path)}: {error.strerror or error}"


def no_such(path: str | os.PathLike[str], what: str = "file") -> str:
    """Say that a file or directory is missing: its nearest neighbour, a directory above it that is missing too."""
    above = Path(path).parent
    if not above.is_dir():
        kind = "not a directory" if above.exists() else "no such directory"
        return f"no such {what}; {printable(above)}: {kind}"
    nearest = _nearest(Path(path))
    return f"no such {what}" + (f"; did you mean {printable(nearest)}?" if nearest else "")


def _neighbours(path: Path) -> list[str]:
    return [one.name for one in path.parent.iterdir()]


def _nearest(path: Path) -> Path | None:
    from difflib import get_close_matches

    try:
        names = {one.lower(): one for one in _neighbours(path) if not one.startswith(".")}
    except OSError:
        return None
    found = get_close_matches(path.name.lower(), names, n=1, cutoff=_NEAR)
    return path.parent / names[found[0]] if found else None


def check_directory(path: str | os.PathLike[str]) -> None:
    """Raise `FlashwattError` for a path that cannot be a directory because it, or one above it, is a file."""
    check_name(path)
    for one in (Path(path), *Path(path).parents):
        if one.exists():
            if not one.is_dir():
                raise _core.FlashwattError(f"{printable(one)}: a file; expected a directory, or a name for a new one")
            return


def check_library(module: str, library: str, of: str, extra: str) -> None:
    """Raise `FlashwattError` if an optional library is not installed: what needs it, and how to install it."""
    from importlib.util import find_spec

    if find_spec(module) is None:
        expected = f"expected it installed: pip install 'flashwatt[{extra}]', or pip install {module}"
        raise _core.FlashwattError(f"{of} needs {library}; found no module `{module}`; {expected}")
