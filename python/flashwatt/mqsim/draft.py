"""A configuration while it is made: its lines, each with where it came from, and what is said about the rest."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.literals import literal
from flashwatt.base.plain import plain
from flashwatt.config.config import Config
from flashwatt.config.reference import written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flashwatt.mqsim.values import Source, Values

_WIDTH = 116


@dataclass(frozen=True, slots=True)
class Line:
    """A key with its value, what stands behind it, and the keys of MQSim's that it came from."""

    table: str
    key: str
    value: Any
    said: str
    sources: tuple[Source, ...] = ()


@dataclass(slots=True)
class Draft:
    """The lines, the keys that were approximated, and those without a counterpart; each of these with a phrase."""

    lines: list[Line] = field(default_factory=list)
    near: dict[str, str] = field(default_factory=dict)
    none: dict[str, str] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)
    """Keys that are kept, and stand behind no line of the configuration."""
    exact: set[str] = field(default_factory=set)
    """Keys that are approximated in general, and not here."""

    def choose(self, key: str, value: Any, said: str) -> None:
        """Add a line that comes from no key of MQSim's."""
        table, _, short = key.rpartition(".")
        self.lines.append(Line(table, short, value, said))

    def take(self, key: str, value: Any, sources: Sequence[Source], said: str = "") -> None:
        """Add a line that comes from keys of MQSim's; `said` follows their names."""
        table, _, short = key.rpartition(".")
        came = ", ".join(source.said for source in sources)
        self.lines.append(Line(table, short, value, f"{came}{f': {said}' if said else ''}", tuple(sources)))

    def drop(self, key: str) -> None:
        """Remove a line."""
        self.lines = [line for line in self.lines if f"{line.table}.{line.key}" != key]

    def account(self, values: Values, unused: Mapping[str, str]) -> None:
        """Sort the keys of an element into those that were approximated and those without a counterpart.

        `unused` are those that count for nothing because of others, each with why.
        """
        written = {source.name for line in self.lines for source in line.sources}
        for name, key in values.keys.items():
            if name not in values.given:
                continue
            if name in unused or not key.to:
                self.none.setdefault(name, unused.get(name, key.note))
            elif key.note and name not in self.exact:
                self.near[name] = key.note
            elif name not in written:
                self.kept[name] = f"kept ({values.of(name)[0].said})"
        self.none |= values.unknown

    def body(self) -> str:
        """Write the tables of the configuration."""
        text = []
        for table in dict.fromkeys(line.table for line in self.lines):
            lines = [line for line in self.lines if line.table == table]
            setters = [f"{line.key} = {_value(line.value)}" for line in lines]
            width = min(max(map(len, setters)), _WIDTH // 3)
            said = (f"  # {plain(line.said)}" for line in lines)
            text += [
                "",
                f"[{table}]",
                *(f"{one:<{width}}{comment}" for one, comment in zip(setters, said, strict=True)),
            ]
        return "\n".join(text) + "\n"

    def remarks(self) -> str:
        """Write the comment that closes the configuration."""
        lines = [*_listed("Approximated", self.near), *_listed("Without a counterpart", self.none)]
        lines += _listed("In no line of its own", self.kept)
        return "\n".join(["", *lines[1:]]) + "\n" if lines else ""

    def resolve(self, name: str) -> dict[str, Any]:
        """Give what the engine makes of it. Raises `FlashwattError` with MQSim's key and line for what it refuses."""
        try:
            return Config(self.body(), name).resolve()
        except _core.FlashwattError as error:
            raise _core.FlashwattError(self._placed(str(error), name)) from None

    def _placed(self, message: str, name: str) -> str:
        """Put MQSim's file, line and key before the first fault that the engine found."""
        first = message.partition("\n")[0]
        lines = {first.find(f"{one.table}.{one.key}"): one for one in self.lines if one.sources}
        at = min((found for found in lines if found >= 0), default=-1)
        if at < 0:
            return f"{name}: cannot be converted: {first}"
        sources = lines[at].sources
        place = next((one for one in sources if one.is_given), sources[0])
        names = ", ".join(one.name for one in sources)
        return f"{place.values.file}:{place.line}: {names}: {first[at:]}"


def _value(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return written(value)
    return literal(value)


def _listed(title: str, said: dict[str, str]) -> Iterator[str]:
    if said:
        yield "#"
        yield f"# {title}:"
        for name, phrase in said.items():
            text = plain(f"{name}: {phrase}")
            yield from textwrap.wrap(text, _WIDTH, initial_indent="#   ", subsequent_indent="#     ")
