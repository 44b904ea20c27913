"""The values of one element of MQSim's: each with its line, checked by the table of keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashwatt.base.literals import shown
from flashwatt.base.misspelt import nearest
from flashwatt.mqsim.keys import SECTIONS, STRAY
from flashwatt.mqsim.tree import fault

if TYPE_CHECKING:
    from flashwatt import _core
    from flashwatt.mqsim.key import Key
    from flashwatt.mqsim.tree import Element


@dataclass(slots=True)
class Values:
    """The values of one element, by key."""

    file: str
    line: int
    section: str
    keys: dict[str, Key]
    given: dict[str, Element]
    found: dict[str, Any]
    unknown: dict[str, str] = field(default_factory=dict)
    """Names that MQSim does not read, and what they may be."""

    def __getitem__(self, name: str) -> Any:
        """Give a value, or MQSim's own if there is none. Raises `FlashwattError` if MQSim has none either."""
        value = self.found.get(name, self.keys[name].default)
        if value is None:
            expected = self.keys[name].kind.expected
            raise fault(self.file, self.line, f"{self.section}: {name}", "no such element", expected)
        return value

    def fault(self, name: str, expected: str) -> _core.FlashwattError:
        """Make the error of a value that does not go with the others."""
        element = self.given.get(name)
        found = shown(element.text) if element else f"none, hence MQSim's {self[name]}"
        return fault(self.file, element.line if element else self.line, name, found, expected)

    def of(self, *names: str) -> tuple[Source, ...]:
        """Name keys as the sources of a line."""
        return tuple(Source(self, name) for name in names)


@dataclass(frozen=True, slots=True)
class Source:
    """A key of an element."""

    values: Values
    name: str

    @property
    def is_given(self) -> bool:
        """Whether the file has it."""
        return self.name in self.values.given

    @property
    def line(self) -> int:
        """Its line; of one that is missing its element's."""
        return self.values.given[self.name].line if self.is_given else self.values.line

    @property
    def said(self) -> str:
        """Its name with its value, for the comment behind a line."""
        if self.is_given:
            text = " ".join(self.values.given[self.name].text.split())
            return f"{self.name} {text if len(text) <= _WORD_MAX else f'{text[:_WORD_MAX]}…'}"
        default = self.values[self.name]
        word = str(default).lower() if isinstance(default, bool) else str(default)
        return f"{self.name} {word} (not in the file: MQSim's own)"


_WORD_MAX = 60


def values(file: str, element: Element, also: frozenset[str] = frozenset()) -> Values:
    """Read the values of an element; `also` names the elements with values of their own that may be in it.

    Raises `FlashwattError` for a value that its key does not take, a key that is given twice, and a name that is no key
    while the key that looks most like it is missing: MQSim would take its own value for that.
    """
    keys = {key.name: key for key in SECTIONS[element.name]}
    read = Values(file, element.line, element.name, keys, {}, {})
    if element.text:
        raise fault(file, element.line, element.name, f"text {shown(element.text)}", "elements")
    for one in element.inner:
        if one.name in also:
            continue
        if before := read.given.get(one.name):
            raise fault(file, one.line, one.name, f"it a second time, after line {before.line}", "it once")
        if one.name not in keys:
            read.unknown[one.name] = ""
            continue
        if one.inner:
            raise fault(file, one.line, one.name, f"<{one.inner[0].name}> in it", keys[one.name].kind.expected)
        value = keys[one.name].kind.parse(one.text)
        if value is None:
            found = shown(one.text) if one.text else "nothing"
            raise fault(file, one.line, one.name, found, keys[one.name].kind.expected)
        read.given[one.name], read.found[one.name] = one, value
    _explain(read, element)
    return read


_UNKNOWN_MAX = 50


def _explain(read: Values, element: Element) -> None:
    """Say what the names may be that are no keys."""
    lines = {one.name: one.line for one in element.inner}
    if len(read.unknown) > _UNKNOWN_MAX:
        found = f"{len(read.unknown):,} names that are no keys of MQSim's, as <{next(iter(read.unknown))}>"
        raise fault(read.file, read.line, element.name, found, f"{_UNKNOWN_MAX} at most")
    for name in read.unknown:
        if name in STRAY:
            read.unknown[name] = STRAY[name]
            continue
        home = next((section for section, keys in SECTIONS.items() if name in {key.name for key in keys}), None)
        if home:
            raise fault(read.file, lines[name], element.name, f"<{name}>", f"it in <{home}>")
        near = next(iter(nearest(name, read.keys)), None)
        if near and near not in read.given:
            expected = f"a key of MQSim's; did you mean {near}, which is missing?"
            raise fault(read.file, lines[name], element.name, f"<{shown(name)[1:-1]}>", expected)
        read.unknown[name] = f"no key of MQSim's at 7ec40e3{f'; nearest: {near}' if near else ''}"
