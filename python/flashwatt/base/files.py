"""Reading of files from outside: whole, up to a limit of bytes, regular files only."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashwatt import _core

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

Json = dict[str, Any]
"""The content of a report.json, or of a part of it."""

TEXT_BYTES_MAX = 16 << 20
"""Limit for a configuration, a study or a price table; real ones are far smaller."""

REPORT_BYTES_MAX = 4 << 30
"""Limit for a report: power over time in ten million bins takes about three gigabytes."""

_SNIFFED_BYTES = 4096
_DEPTH_MAX = 64
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe (FIFO)",
    stat.S_IFSOCK: "a socket",
}


def printable(path: str | PathLike[str]) -> str:
    """Give a file name for a message, with bytes that are no UTF-8 as escapes."""
    return str(path).encode(errors="surrogateescape").decode(errors="backslashreplace")


def read_text(path: str | PathLike[str], most_bytes: int = TEXT_BYTES_MAX) -> str:
    """Read a text file in UTF-8, without the byte order mark that some editors begin it with.

    Raises `FlashwattError` for a file that is no text or longer than `most_bytes`. It raises it for a pipe or a device
    as well, without waiting for data.
    """
    name = printable(path)
    try:
        content = _read(path, name, most_bytes)
    except _core.FlashwattError:
        raise
    except OSError as error:
        raise _core.FlashwattError(f"{name}: {error.strerror}") from None
    except ValueError as error:  # a NUL in the name
        raise _core.FlashwattError(f"{name!r}: not the name of a file; {error}") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"not a text file (byte {error.start} is not UTF-8)"
        raise _core.FlashwattError(f"{name}: {found}") from None


def check_regular(path: str | PathLike[str]) -> None:
    """Raise `FlashwattError` for a pipe, a device or another file without an end, and `OSError` for none at all."""
    found = Path(path).stat()
    mode = found.st_mode
    if stat.S_ISDIR(mode):
        raise _core.FlashwattError(f"{printable(path)}: {os.strerror(errno.EISDIR)}")
    if not (stat.S_ISREG(mode) or os.path.samestat(found, Path(os.devnull).stat())):
        kind = _KINDS.get(stat.S_IFMT(mode), "a special file")
        expected = "a file on a disk (the output of a pipe can be saved to one)"
        raise _core.FlashwattError(f"{printable(path)}: not a file with an end; found {kind}; expected {expected}")


def _read(path: str | PathLike[str], name: str, most_bytes: int) -> bytes:
    check_regular(path)
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        content = b"" if size > most_bytes else file.read(most_bytes + 1)
        if size > most_bytes or len(content) > most_bytes:
            found = f"{max(size, len(content)):,} bytes"
            raise _core.FlashwattError(f"{name}: too long; found {found}; expected {most_bytes:,} at most")
    return content


def read_json(path: str | PathLike[str]) -> Any:
    """Read a file of JSON. Raises `FlashwattError` as `read_text` does, and for text that is no plain JSON."""
    return parse_json(read_text(path, _most_bytes(path)), printable(path))


def read_report(path: str | PathLike[str]) -> tuple[str, str]:
    """Read the text of a report.json, or of the one in a directory; return it with its name for messages."""
    path = Path(path)
    path = path / "report.json" if path.is_dir() else path
    return read_text(path, _most_bytes(path)), printable(path)


def _most_bytes(path: str | PathLike[str]) -> int:
    """Give the limit for a file: the larger one only if the file begins as a JSON object."""
    try:
        if Path(path).stat().st_size <= TEXT_BYTES_MAX:
            return TEXT_BYTES_MAX
        check_regular(path)
        with Path(path).open("rb") as file:
            begins = file.read(_SNIFFED_BYTES)
    except (OSError, ValueError):
        return TEXT_BYTES_MAX
    return REPORT_BYTES_MAX if begins.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{" else TEXT_BYTES_MAX


def parse_json(text: str | bytes, name: str) -> Any:
    """Parse JSON; `name` is the name of its file in a `FlashwattError`."""
    try:
        content = json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise _core.FlashwattError(f"{name}:{error.lineno}:{error.colno}: not JSON; {error.msg}") from None
    except ValueError as error:  # also: more digits than Python converts
        raise _core.FlashwattError(f"{name}: not JSON; {error}") from None
    except RecursionError:
        raise _core.FlashwattError(f"{name}: nested too deep; expected {_DEPTH_MAX} levels at most") from None
    _check_depth(content, name)
    return content


def _no_number(word: str) -> Any:
    raise ValueError(f"found {word}; expected a finite number")


def _check_depth(content: Any, name: str) -> None:
    level = [content] if isinstance(content, dict | list) else []
    for _ in range(_DEPTH_MAX):
        level = [child for node in level for child in _children(node) if isinstance(child, dict | list)]
        if not level:
            return
    raise _core.FlashwattError(f"{name}: nested too deep; expected {_DEPTH_MAX} levels at most")


def _children(node: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node
