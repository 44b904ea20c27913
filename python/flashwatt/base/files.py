"""Reading of files from outside: whole, up to a limit of bytes, regular files only."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.missing import check_name, unread
from flashwatt.base.missing import printable as printable  # noqa: PLC0414 (others import it from here)
from flashwatt.base.reads import reads

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


def read_text(path: str | PathLike[str], most_bytes: int = TEXT_BYTES_MAX) -> str:
    """Read a text file in UTF-8, without the byte order mark that some editors begin it with.

    Raises `FlashwattError` for a file that is no text, and as `read_bytes` does.
    """
    content = read_bytes(path, most_bytes)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"not a text file (byte {error.start} is not UTF-8)"
        raise _core.FlashwattError(f"{printable(path)}: {found}") from None


def read_bytes(path: str | PathLike[str], most_bytes: int = TEXT_BYTES_MAX) -> bytes:
    """Read a whole file.

    Raises `FlashwattError` for a file longer than `most_bytes`. It raises it for a pipe or a device as well, without
    waiting for data.
    """
    check_name(path)
    reads(path)
    try:
        return _read(path, printable(path), most_bytes)
    except _core.FlashwattError:
        raise
    except OSError as error:
        raise _core.FlashwattError(unread(path, error)) from None


def check_regular(path: str | PathLike[str]) -> None:
    """Raise `FlashwattError` for a pipe, a device or another file without an end, and `OSError` for none at all."""
    found = Path(path).stat()
    mode = found.st_mode
    if stat.S_ISDIR(mode):
        raise _core.FlashwattError(f"{printable(path)}: {os.strerror(errno.EISDIR)}")
    if not stat.S_ISREG(mode):
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
    path = report_file(path)
    return read_text(path, _most_bytes(path)), printable(path)


def report_file(path: str | PathLike[str]) -> Path:
    """Give the report.json of a directory, or the file itself. Raises `FlashwattError` for a directory without one."""
    path = Path(path)
    check_name(path)
    if not path.is_dir():
        reads(path)
        return path
    if not (path / "report.json").exists():
        name = printable(path)
        if (path / "results.jsonl").exists():
            found = "results of a sweep, not a report"
            raise _core.FlashwattError(f"{name}: {found}; `flashwatt sweep STUDY.toml --out {name}` prints them")
        expected = "expected a directory that `flashwatt run --out` wrote"
        raise _core.FlashwattError(f"{name}: no report.json in this directory; {expected}")
    reads(path / "report.json")
    return path / "report.json"


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
        raise _core.FlashwattError(_not_json(str(error.doc), name, error)) from None
    except ValueError as error:  # also: more digits than Python converts
        raise _core.FlashwattError(f"{name}: not JSON; {error}") from None
    except RecursionError:
        raise _core.FlashwattError(f"{name}: nested too deep; expected {_DEPTH_MAX} levels at most") from None
    _check_depth(content, name)
    return content


def _not_json(text: str, name: str, error: json.JSONDecodeError) -> str:
    """Name the kind of a file that is no report; else the line at which its JSON ends or breaks."""
    begins = text.lstrip()
    if begins[:1] != "{" and error.pos <= len(text) - len(begins) + 1:
        if re.search(r"^[ \t]*(\[[\w.]+\]|[\w.]+[ \t]*=)", text[:_SNIFFED_BYTES], re.MULTILINE):
            made = f"`flashwatt run {name} --out DIR` makes one"
            return f"{name}: a configuration; expected a report.json, or a directory with one ({made})"
        return f"{name}:{error.lineno}:{error.colno}: not JSON; expected a report.json, or a directory with one"
    if error.msg == "Extra data" and begins.startswith('{"task"') | name.endswith(".jsonl"):
        expected = "expected a report.json, or a directory with one"
        return f"{name}: a file of several JSON objects, as the runs of a sweep; {expected}"
    if not text[error.pos :].strip() or "Unterminated" in error.msg:
        return f"{name}:{error.lineno}:{error.colno}: not JSON; the file ends in the middle (line {error.lineno})"
    return f"{name}:{error.lineno}:{error.colno}: not JSON; {error.msg}"


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
