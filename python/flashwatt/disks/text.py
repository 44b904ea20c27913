"""The text of a configuration: tables, each key with what stands behind it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from flashwatt.base.literals import literal
from flashwatt.base.plain import plain
from flashwatt.config.reference import written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flashwatt.disks.settings import Line

_WIDTH = 116
_LAYOUT = "geometry.layout"
_SETTER_MAX = 48


def body(lines: Sequence[Line]) -> str:
    """Write the tables of a disk."""
    plain_lines = [line for line in lines if line.key != _LAYOUT]
    text = []
    for table in dict.fromkeys(line.key.rpartition(".")[0] for line in plain_lines):
        text += ["", f"[hdd.{table}]"]
        text += _setters([line for line in plain_lines if line.key.rpartition(".")[0] == table])
    for line in lines:
        if line.key == _LAYOUT:
            for zone in line.value:
                text += ["", f"[[hdd.{_LAYOUT}]]", *(f"{key} = {value_of(value)}" for key, value in zone.items())]
    return "\n".join(text) + "\n"


def _setters(lines: Sequence[Line]) -> Iterator[str]:
    setters = [(f"{line.key.rpartition('.')[2]} = {value_of(line.value)}", line.said) for line in lines]
    short = [len(setter) for setter, _ in setters if len(setter) <= _SETTER_MAX]
    width = max(short, default=0)
    for setter, said in setters:
        if len(setter) <= _SETTER_MAX:
            yield f"{setter:<{width}}  # {plain(said)}"
        else:
            yield from (f"# {plain(said)}", *wrapped(setter))


def wrapped(setter: str) -> Iterator[str]:
    """Break a list that is longer than a line between its elements, which TOML allows."""
    if "[[" not in setter or len(setter) <= _WIDTH:
        yield setter
        return
    name, _, inner = setter.partition("[[")
    yield f"{name}["
    yield from textwrap.wrap(
        f"[{inner[:-1]},", _WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )
    yield "]"


def value_of(value: Any) -> str:
    """Write a value as in TOML."""
    if isinstance(value, bool):
        return literal(value)
    if isinstance(value, int):
        return written(value)
    if isinstance(value, list):
        return f"[{', '.join(_element(one) for one in value)}]"
    return literal(value)


def _element(value: Any) -> str:
    if isinstance(value, list):
        return f"[{','.join(str(one) for one in value)}]"
    return str(value)


def remarks(title: str, said: Mapping[str, str]) -> str:
    """Write the comment that closes a configuration: names without a counterpart, each with why."""
    if not said:
        return ""
    lines = [f"# {title}:"]
    for name, phrase in said.items():
        text = plain(f"{name}: {phrase}")
        lines += textwrap.wrap(text, _WIDTH, initial_indent="#   ", subsequent_indent="#     ")
    return "\n".join(["", *lines]) + "\n"
