"""Marks in the content of files, by which this program recognises its own files under any name.

Pages, SVG, PNG and PDF name their generator, Parquet has a key in its metadata, `config.toml` a hash of its lines: one
that was edited since belongs to the user. Reports, verdicts and schemas are known by the keys that they begin with.
"""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, NamedTuple

from flashwatt import _core
from flashwatt.base.files import TEXT_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_GENERATOR = f"FlashWatt {_core.__version__}"
META = f'<meta name="generator" content="{_GENERATOR}">'
"""The mark in the head of a page."""
PARQUET = {"flashwatt.version": _core.__version__}
"""Metadata of a Parquet file."""
RESULT_HEAD = b'{"id": "'
"""The beginning of every line of a sweep's results."""
ARCHIVE_COMMENT = f"Archive of a sweep. Generator: {_GENERATOR}".encode()
"""The comment of a zip file, which is its end."""
_LOOKED_AT_BYTES = 4096
_PNG_HEAD_BYTES = 33  # the signature, and the chunk IHDR


class Kind(NamedTuple):
    """A kind of file that this program writes."""

    name: str
    """In messages: "a page"."""
    is_ours: Callable[[Path], bool]
    """Whether an existing file has the mark. Raises `OSError` for one that cannot be read."""
    yields_to_force: bool = True
    """Whether `--force` replaces another file by one of this kind."""


def svg(text: str) -> str:
    """Put the mark into an SVG."""
    head, end, rest = text.partition(">")
    return f"{head}{end}<!-- Generator: {_GENERATOR} -->{rest}"


def png(content: bytes) -> bytes:
    """Put the mark into a PNG: the text chunk `Software`."""
    body = b"tEXtSoftware\0" + _GENERATOR.encode()
    length, checksum = (len(body) - 4).to_bytes(4, "big"), zlib.crc32(body).to_bytes(4, "big")
    return content[:_PNG_HEAD_BYTES] + length + body + checksum + content[_PNG_HEAD_BYTES:]


def pdf(content: bytes) -> bytes:
    """Put the mark behind a PDF: a comment."""
    return content.rstrip() + f"\n% Generator: {_GENERATOR}\n".encode()


def config(text: str) -> str:
    """Put the mark before a configuration."""
    return _signed("run", text)


def standin(text: str) -> str:
    """Put the mark before a stand-in."""
    return _signed("standin fit", text)


def calibrated(text: str) -> str:
    """Put the mark before a calibrated preset."""
    return _signed("calibrate", text)


def _signed(command: str, text: str) -> str:
    """A mark that holds only as long as nobody edits the file."""
    return f"# Written by flashwatt {command}. SHA-256 of the lines below: {_sha256(text.encode())}\n{text}"


def _sha256(content: bytes) -> str:
    import hashlib  # OpenSSL, which many commands do not need

    return hashlib.sha256(content).hexdigest()


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_LOOKED_AT_BYTES)


def _tail(path: Path, length: int = _LOOKED_AT_BYTES) -> bytes:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - length))
        return file.read()


def _begins(pattern: bytes) -> Callable[[Path], bool]:
    return lambda path: re.match(pattern, _head(path)) is not None


def _holds(words: bytes) -> Callable[[Path], bool]:
    return lambda path: words in _head(path)


def _is_parquet(path: Path) -> bool:
    """The metadata stand at the end, behind them their length and the letters PAR1."""
    end = _tail(path, 8)
    if len(end) < 8 or end[4:] != b"PAR1":  # noqa: PLR2004
        return False
    (key,) = PARQUET
    length = int.from_bytes(end[:4], "little")
    return length <= TEXT_BYTES_MAX and key.encode() in _tail(path, 8 + length)


def _is_journal(path: Path) -> bool:
    """The first line may be torn."""
    head = _head(path)
    return head.startswith(RESULT_HEAD) or RESULT_HEAD.startswith(head)


def _is_signed(command: bytes) -> Callable[[Path], bool]:
    def is_signed(path: Path) -> bool:
        if path.stat().st_size > TEXT_BYTES_MAX:
            return False
        first, _, rest = path.read_bytes().partition(b"\n")
        words = rb"# Written by flashwatt %s\. SHA-256 of the lines below: ([0-9a-f]{64})" % command
        found = re.fullmatch(words, first)
        return found is not None and found[1].decode() == _sha256(rest)

    return is_signed


REPORT = Kind("a report", _begins(rb'\{\s*"schema": \d+,\s*"version": "[^"]*",\s*"status": "'))
DIO = Kind("a result of dio", _begins(rb'\{\s*"dio": \d+'))
CRASH = Kind("a result of crash", _begins(rb'\{\s*"crash": \d+'))
CONFIG = Kind("an unchanged config.toml", _is_signed(b"run"))
PAGE = Kind("a page", _holds(b'<meta name="generator" content="FlashWatt '))
SVG = Kind("a picture", _holds(b"<!-- Generator: FlashWatt "))
PNG = Kind("a picture", _holds(b"tEXtSoftware\0FlashWatt "))
PDF = Kind("a picture", lambda path: b"% Generator: FlashWatt " in _tail(path))
TABLE = Kind("a table", _is_parquet)
JOURNAL = Kind("results of a sweep", _is_journal, yields_to_force=False)
ARCHIVE = Kind("an archive of a sweep", lambda path: b"Archive of a sweep. Generator: FlashWatt " in _tail(path))
VERDICTS = Kind("verdicts", _begins(rb'\{\s*"version": "[^"]*",\s*"real_traces": \['))
GRID = Kind("figures of a grid", _begins(rb'\{"grid": "'))
STANDIN = Kind("an unchanged stand-in", _is_signed(b"standin fit"))
CALIBRATED = Kind("an unchanged calibrated preset", _is_signed(b"calibrate"))
CALIBRATION = Kind("the report of a calibration", _begins(rb'\{\s*"calibration": "'))
SCHEMA = Kind("a schema", _begins(rb'\{\s*"\$comment": "FlashWatt '))
PICTURES = {".html": PAGE, ".svg": SVG, ".png": PNG, ".pdf": PDF}
"""By the suffix of their names."""
