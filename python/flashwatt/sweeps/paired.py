"""Differences between points of a sweep, run by run with the same seed (common random numbers).

Runs with one seed have the same requests and the same draws of the start state, whatever the drive. What these add to
both figures of a pair cancels in their difference, whose interval is narrower than those of the two means.
(A. M. Law, Simulation Modeling and Analysis, 5th ed., 10.2.1 paired-t intervals and 11.2 common random numbers.)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from flashwatt import _core
from flashwatt.base.literals import shown
from flashwatt.base.misspelt import known
from flashwatt.sweeps.statistics import mean_and_ci

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    _Point = tuple[Any, ...]
    _Figures = dict[str, float | None]


def differences(
    runs: pl.DataFrame, keys: Sequence[str], baseline: Mapping[str, Any], metrics: Sequence[str], confidence: float
) -> pl.DataFrame:
    """Compare the points of a frame as `Results.runs` gives it; `Results.differences` describes the columns."""
    _check(runs, keys, baseline)
    by_point: dict[_Point, dict[int, _Figures]] = {}
    for row in runs.iter_rows(named=True):
        seeds = by_point.setdefault(tuple(row[key] for key in keys), {})
        if row["status"] == "complete":
            seeds[row["seed"]] = {name: row[name] for name in metrics}
    rows = []
    for point, seeds in by_point.items():
        other = tuple(baseline.get(key, value) for key, value in zip(keys, point, strict=True))
        foreign = any(value is None and key in baseline for key, value in zip(keys, point, strict=True))
        if other != point and not foreign:  # points of a grid without the baseline's key have no counterpart
            base = by_point.get(other, {})
            pairs = [(seeds[seed], base[seed]) for seed in seeds if seed in base]
            row = {**dict(zip(keys, point, strict=True)), "pairs": len(pairs)}
            rows.append(row | {key: one for name in metrics for key, one in _figures(name, pairs, confidence).items()})
    schema = {name: kind for name, kind in runs.schema.items() if name in keys}
    return pl.DataFrame(rows, schema_overrides={**schema, **_floats(metrics, confidence)}, infer_schema_length=None)


def _check(runs: pl.DataFrame, keys: Sequence[str], baseline: Mapping[str, Any]) -> None:
    """Refuse keys that the grid has not, and values that none of its points has."""
    if not baseline:
        raise _core.FlashwattError('baseline: found no key; expected one of the grid: {"gc.policy": "greedy"}')
    known("baseline", baseline, keys)
    for key, value in baseline.items():
        values = runs[key].unique(maintain_order=True).to_list()
        if value not in values:
            expected = ", ".join(shown(one) for one in values)
            raise _core.FlashwattError(
                f"baseline: {key}: found {shown(value)}; expected a value of the grid: {expected}"
            )
    if all(
        tuple(baseline.get(key, one) for key, one in zip(keys, row, strict=True)) == row for row in _rows(runs, keys)
    ):
        raise _core.FlashwattError(
            f"baseline: every point has {shown(dict(baseline))}; expected others to compare with it"
        )


def _rows(runs: pl.DataFrame, keys: Sequence[str]) -> list[_Point]:
    return runs.select(keys).rows()


def columns_of(name: str, confidence: float) -> dict[str, str]:
    """Give the names of a figure's columns, by what they hold."""
    level = f"{100 * confidence:g}"
    return {
        "difference": f"{name}.difference",
        "half": f"{name}.difference.ci{level}",
        "ratio": f"{name}.ratio",
        "low": f"{name}.ratio.low{level}",
        "high": f"{name}.ratio.high{level}",
    }


def _floats(metrics: Sequence[str], confidence: float) -> dict[str, Any]:
    return dict.fromkeys((one for name in metrics for one in columns_of(name, confidence).values()), pl.Float64)


def _figures(name: str, pairs: list[tuple[_Figures, _Figures]], confidence: float) -> _Figures:
    """The mean difference and the mean ratio of a figure, with intervals."""
    there = [(a, b) for one, base in pairs if (a := one[name]) is not None and (b := base[name]) is not None]
    mean, half = mean_and_ci([a - b for a, b in there], confidence) if there else (None, None)
    ratio, low, high = _ratio(there, confidence)
    found = {"difference": mean, "half": half, "ratio": ratio, "low": low, "high": high}
    return {column: found[part] for part, column in columns_of(name, confidence).items()}


def _ratio(pairs: list[tuple[float, float]], confidence: float) -> tuple[float | None, float | None, float | None]:
    """The geometric mean of the ratios, and its interval: Student's for the mean of their logarithms."""
    if not pairs or any(a <= 0 or b <= 0 for a, b in pairs):
        return None, None, None
    mean, half = mean_and_ci([math.log(a / b) for a, b in pairs], confidence)
    if half is None:
        return math.exp(mean), None, None
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)
