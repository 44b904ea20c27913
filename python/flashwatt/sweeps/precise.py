"""How well the figures of a sweep's runs are known: a row for each run and figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from flashwatt.base.frames import column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flashwatt.base.files import Json

_OF_A_FIGURE = ("value", "lower", "upper", "relative_error")
_OF_A_DIFFERENCE = {
    "baseline": "baseline",
    "value": "difference",
    "lower": "difference.lower",
    "upper": "difference.upper",
    "relative_error": "difference.relative_error",
}


def precision_of(runs: Iterable[tuple[dict[str, Any], Json]]) -> pl.DataFrame:
    """Make the frame of `Results.precision` from points and lines."""
    rows = [row for point, content in runs for row in _rows(point, content["seed"], content["report"])]
    keys = dict.fromkeys(key for row in rows for key in row)
    return pl.DataFrame([column(key, [row.get(key) for row in rows]) for key in keys])


def _rows(point: dict[str, Any], seed: int, report: Json) -> Iterator[Json]:
    precision = report.get("precision")
    if precision is None:
        return
    against = precision.get("against") or {}
    differences = {one["key"]: one for one in against.get("differences") or ()}
    asked = report["config"]["run"]["measure"]["precision"]["figures"]
    known = {one["key"]: one for one in precision["figures"] or ()}
    for key in asked:
        one, difference = known.get(key, {}), differences.get(key, {})
        yield {
            **point,
            "seed": seed,
            "ended_by": precision["ended_by"],
            "requests": report["window"]["measured"],
            "found_warmup": precision["found_warmup"]["requests"],
            "figure": key,
            **{name: one.get(name) for name in _OF_A_FIGURE},
            **({to: difference.get(name) for name, to in _OF_A_DIFFERENCE.items()} if against else {}),
        }
