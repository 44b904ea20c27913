"""The elements of an XML file, each with its line. A document type, and with it every entity, is refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat

from flashwatt import _core
from flashwatt.base.files import printable, read_bytes
from flashwatt.base.literals import shown

if TYPE_CHECKING:
    from os import PathLike

_BYTES_MAX = 4 << 20
_ELEMENTS_MAX = 20_000
_DEPTH_MAX = 16
_NAME_MAX = 100
"""Limits. The largest file that MQSim's repository holds has 30 kB, 400 elements, and 4 levels."""


@dataclass(slots=True)
class Element:
    """An element: its name, its own text without blanks around it, its elements, and the line where it begins."""

    name: str
    line: int
    text: str = ""
    inner: list[Element] = field(default_factory=list)


def fault(file: str, line: int, place: str, found: str, expected: str) -> _core.FlashwattError:
    """Make the error of one place in a file."""
    return _core.FlashwattError(f"{file}:{line}: {place}: found {found}; expected {expected}")


def read(path: str | PathLike[str]) -> Element:
    """Read an XML file; give its outermost element. Raises `FlashwattError` for a file that is none."""
    name = printable(path)
    content = read_bytes(path, _BYTES_MAX)
    if not content.strip():
        raise _core.FlashwattError(f"{name}: empty; expected XML")
    builder = _Builder(name)
    try:
        builder.parser.Parse(content, True)
    except expat.ExpatError as error:
        said = _said(error, content)
        raise _core.FlashwattError(f"{name}:{error.lineno}:{error.offset + 1}: not XML; {said}") from None
    except _core.FlashwattError:
        raise
    except (LookupError, ValueError) as error:  # an encoding that Python does not have
        raise _core.FlashwattError(f"{name}:1: not XML; {error}; expected the encoding UTF-8 or ASCII") from None
    return builder.top()


def _said(error: expat.ExpatError, content: bytes) -> str:
    """Say what is wrong, and what stands in the line."""
    said = expat.ErrorString(error.code)
    if said == "unknown encoding":
        return "unknown encoding; expected UTF-8 or ASCII"
    lines = content.splitlines()[error.lineno - 1 : error.lineno]
    found = shown(lines[0].strip().decode(errors="backslashreplace")) if lines else "the end of the file"
    return f"{said}; found {found}; expected XML, every <NAME> with its </NAME>"


class _Builder:
    """Collects elements from the events of one parse."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._open: list[Element] = []
        self._texts: list[list[str]] = []
        self._top: Element | None = None
        self._count = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._doctype

    def top(self) -> Element:
        """Give the outermost element: a parse without error has one."""
        if self._top is None:
            raise _core.FlashwattError(f"{self._name}: no element; expected one around all others")
        return self._top

    def _refuse(self, message: str) -> NoReturn:
        raise _core.FlashwattError(f"{self._name}:{self.parser.CurrentLineNumber}: {message}")

    def _doctype(self, *_declared: object) -> None:
        self._refuse("a document type (<!DOCTYPE>); expected none: entities are not read")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if len(name) > _NAME_MAX:
            self._refuse(f"found an element with a name of {len(name):,} characters; expected {_NAME_MAX} at most")
        if attributes:
            found = shown(f'{next(iter(attributes))}="…"')
            self._refuse(f"found <{name}> with the attribute {found}; expected values between <{name}> and </{name}>")
        if self._count > _ELEMENTS_MAX:
            self._refuse(f"too many elements; expected {_ELEMENTS_MAX:,} at most")
        if len(self._open) >= _DEPTH_MAX:
            self._refuse(f"nested too deep; expected {_DEPTH_MAX} levels at most")
        element = Element(name, self.parser.CurrentLineNumber)
        if self._open:
            self._open[-1].inner.append(element)
        else:
            self._top = element
        self._open.append(element)
        self._texts.append([])

    def _end(self, _name: str) -> None:
        element = self._open.pop()
        element.text = "".join(self._texts.pop()).strip()
        if element.text and element.inner:
            line = element.inner[0].line
            raise fault(self._name, line, element.name, f"text {shown(element.text)} among elements", "elements only")

    def _text(self, text: str) -> None:
        self._texts[-1].append(text)
