"""Fig. 7, Table 1: the closed form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.plot.figures import Point, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


def quantities(_: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    rows = _rows()
    return {
        "writes_off": lambda: max(abs(row["extra_writes_per_write"] - 0.4 * row["replicas"]) for row in rows),
        "space_off": lambda: max(abs(row["map_mb"] - 200 * (row["replicas"] + 1)) for row in rows),
    }


def figures(_: Evidence) -> Iterator[Chart]:
    """Draw extra writes by the number of replicas."""
    rows = [Point(row["replicas"], "extra writes", row["extra_writes_per_write"]) for row in _rows()]
    yield lines("Fig. 7: extra writes per write", "By the number of replicas.", rows, ("replicas", "extra writes"))


def _rows() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(_core.rftl_model([1.0], 8, [2], 1.0))["cost"]
    return found
