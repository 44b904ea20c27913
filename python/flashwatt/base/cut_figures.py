"""The figures of a power cut, as the engine names and describes them: nothing lists them a second time."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, NamedTuple

from flashwatt import _core

_PLACE = ("at_ns", "operations", "operations_under_way", "after_ns")
"""Where a cut is, and no result of it."""

MAP_LOAD = "map_load_"
"""How the names of figures begin that a cut has if the drive loads a portion of its map after it."""


class CutFigure(NamedTuple):
    """A figure of a cut."""

    doc: str
    is_whole: bool
    """A whole number; else a real one."""
    is_always: bool
    """Every cut has it; else those of some configurations, with capacitors or a block layer for example."""


@cache
def cut_figures(*, second: bool = False) -> dict[str, CutFigure]:
    """Give the numbers of a cut by their names, in the engine's order; or those of a second cut, in the recovery."""
    schema = json.loads(_core.cut_schema())
    of = _second(schema["properties"]["again"]) if second else schema
    found = {
        name: CutFigure(" ".join(one.get("description", "").split()), _is("integer", one), name in of["required"])
        for name, one in of["properties"].items()
        if _is("integer", one) or _is("number", one)
    }
    # At a second cut capacitors are not charged yet, and no process has sent a request since the first one.
    return {name: one for name, one in found.items() if one.is_always or not second or name.startswith(MAP_LOAD)}


@cache
def results(*, second: bool = False) -> dict[str, CutFigure]:
    """As `cut_figures`, without the time of the cut, and the operations before it and at that time."""
    return {name: one for name, one in cut_figures(second=second).items() if name not in _PLACE}


def _second(again: Any) -> Any:
    """The schema of a second cut, which may be absent."""
    return next(one for one in (again, *again.get("anyOf", [])) if "properties" in one)


def _is(kind: str, schema: Any) -> bool:
    found = schema.get("type")
    return kind in (found if isinstance(found, list) else [found])
