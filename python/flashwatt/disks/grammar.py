"""DiskSim's parameter files as text: blocks `kind name { key = value, … }`, and files that they take in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.files import printable

if TYPE_CHECKING:
    from pathlib import Path

_TOKEN = re.compile(r"\s+|#[^\n]*|(?P<mark>[{}\[\],=])|(?P<text>[^{}\[\],=#\n]+)")
_DEPTH_MAX = 16
_FILES_MAX = 64
_BYTES_MAX = 64 << 20


@dataclass(slots=True)
class Block:
    """A block: its kind, its name, and its values by key."""

    kind: str
    name: str
    file: str
    line: int
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def place(self, key: str) -> str:
        """Name the file and the line of a key."""
        return f"{self.file}:{self.lines.get(key, self.line)}"


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    is_mark: bool
    line: int


class Reader:
    """Reads a file and those that it takes in with `source`."""

    def __init__(self, path: Path) -> None:
        """Begin with a file."""
        self.path = path
        self.file = printable(path)
        self.files = 1
        self.blocks: list[Block] = []

    def read(self) -> list[Block]:
        """Read all blocks, those of other files in their places."""
        self._file(self.path, 0)
        return self.blocks

    def _file(self, path: Path, depth: int) -> list[Block]:
        """Read the blocks of a file."""
        self.files += 1
        if depth > _DEPTH_MAX or self.files > _FILES_MAX:
            raise _core.FlashwattError(f"{printable(path)}: files that take each other in without end")
        return _File(self, path, depth).blocks_of()

    def inner(self, path: Path, name: str, depth: int) -> list[Block]:
        """Read the blocks of a file that another one names."""
        return self._file(path.parent / name, depth + 1)


class _File:
    def __init__(self, reader: Reader, path: Path, depth: int) -> None:
        self.reader, self.path, self.depth = reader, path, depth
        self.file = printable(path)
        self.tokens = _tokens(path)
        self.at = 0

    def blocks_of(self) -> list[Block]:
        found = []
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if not token.is_mark and token.text.split()[0] == "source":
                self.at += 1
                inner = self.reader.inner(self.path, token.text.partition(" ")[2].strip(), self.depth)
                found += inner
            elif not token.is_mark and self._mark(1) == "{":
                block = self._block(0)
                found.append(block)
                self.reader.blocks.append(block)
            else:
                self.at += 1  # what joins the parts: instantiations and the topology
        return found

    def _mark(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at].text if at < len(self.tokens) and self.tokens[at].is_mark else ""

    def _block(self, depth: int) -> Block:
        head = self.tokens[self.at]
        kind, _, name = head.text.partition(" ")
        block = Block(kind, name.strip(), self.file, head.line)
        self.at += 2
        while self._mark() != "}":
            if self._mark() == ",":
                self.at += 1
                continue
            key = self._text("a key or `}`")
            if self._mark() != "=":
                raise self._fault("`=`")
            self.at += 1
            block.values[key.text] = self._value(depth + 1)
            block.lines[key.text] = key.line
        self.at += 1
        return block

    def _value(self, depth: int) -> Any:
        if depth > _DEPTH_MAX:
            raise self._fault("blocks that are not nested as deep")
        if self._mark() == "[":
            return self._list(depth)
        if not self._mark() and self._mark(1) == "{":
            return self._block(depth)
        token = self._text("a value")
        word, _, rest = token.text.partition(" ")
        if word == "source" and rest:
            blocks = self.reader.inner(self.path, rest.strip(), self.depth)
            if len(blocks) != 1:
                raise _core.FlashwattError(
                    f"{self.file}:{token.line}: {rest}: found {len(blocks)} blocks; expected one"
                )
            return blocks[0]
        return _number(token.text)

    def _list(self, depth: int) -> list[Any]:
        found = []
        self.at += 1
        while self._mark() != "]":
            if self._mark() == ",":
                self.at += 1
                continue
            found.append(self._value(depth + 1))
        self.at += 1
        return found

    def _text(self, expected: str) -> _Token:
        if self.at >= len(self.tokens) or self.tokens[self.at].is_mark:
            raise self._fault(expected)
        self.at += 1
        return self.tokens[self.at - 1]

    def _fault(self, expected: str) -> _core.FlashwattError:
        if self.at >= len(self.tokens):
            return _core.FlashwattError(f"{self.file}: found the end of the file; expected {expected}")
        token = self.tokens[self.at]
        return _core.FlashwattError(f"{self.file}:{token.line}: found `{token.text}`; expected {expected}")


def _tokens(path: Path) -> list[_Token]:
    try:
        with path.open("rb") as opened:
            data = opened.read(_BYTES_MAX + 1)
    except OSError as error:
        raise _core.FlashwattError(f"{printable(path)}: {error.strerror}") from None
    if len(data) > _BYTES_MAX:
        raise _core.FlashwattError(f"{printable(path)}: larger than 64 MiB; expected DiskSim's parameters")
    text = data.decode(errors="replace")
    found, line, end = [], 1, 0
    for match in _TOKEN.finditer(text):
        if words := " ".join((match["text"] or "").split()):
            found.append(_Token(words, False, line))
        elif match["mark"]:
            found.append(_Token(match["mark"], True, line))
        line += text.count("\n", end, match.end())
        end = match.end()
    return found


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
