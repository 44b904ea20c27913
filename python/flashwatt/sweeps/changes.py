"""The differences between points of a sweep as a page for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from flashwatt.base.digits import changes
from flashwatt.base.labels import Labels
from flashwatt.base.units import NOTHING, count
from flashwatt.report.metrics import metric_of, resolution, with_interval
from flashwatt.report.table import emit
from flashwatt.sweeps.columns import Column, emit_columns, key_columns, short_names, stdout
from flashwatt.sweeps.paired import columns_of
from flashwatt.sweeps.seeds import varied_by_seeds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from flashwatt.sweeps.results import Results

CONFIDENCE = 0.95


def show_differences(
    results: Results,
    baseline: Mapping[str, Any],
    metrics: Sequence[str] = (),
    console: Console | None = None,
    labels: Labels | None = None,
) -> None:
    """Print how points differ from the baseline's: changes in per cent, with intervals; `*` where these leave out 0.

    A figure that can be 0 has its difference instead, in its own unit. `Results.differences` says what is compared.
    """
    console, labels = console or stdout(), labels or Labels()
    chosen = list(metrics) or [key for key in results.headlines if key in results.metrics]
    rows = results.differences(baseline, chosen, confidence=CONFIDENCE).to_dicts()
    keys = key_columns(results.keys, rows, labels)
    left = [one for one in keys if one.varies or one.key in baseline]
    figures = [
        Column(key, labels.name(key, name), [changed(row, key) for row in rows])
        for key, name in zip(chosen, short_names(chosen), strict=True)
    ]
    figures = [one for one in figures if metrics or set(one.cells) - {NOTHING, "="}]
    hidden = emit_columns([*left, *_pairs(rows)], figures, console, whole=bool(metrics))
    if hidden:
        emit(console, Text(f"no room for {', '.join(one.name for one in hidden)} (--metrics)", "dim"))
    emit(console, Text(_explained(results, baseline, rows), "dim"))


def _pairs(rows: list[dict[str, Any]]) -> list[Column]:
    """The number of pairs, where points differ in it."""
    column = Column("pairs", "pairs", [count(row["pairs"]) for row in rows])
    return [column] if len(set(column.cells)) > 1 else []


def _explained(results: Results, baseline: Mapping[str, Any], rows: list[dict[str, Any]]) -> str:
    base = ", ".join(f"{key} = {value}" for key, value in baseline.items())
    pairs = max(row["pairs"] for row in rows)
    if pairs < 2:  # noqa: PLR2004
        return f"change from {base}; one run for each point, so that no interval is known (`seeds = 5` gives them)"
    varied = varied_by_seeds(one.report.config for one in results)
    means = f"mean change over {pairs} pairs of runs with the same seed, [95 % confidence interval]"
    return f"change from {base}: {means}; *: the interval does not hold 0; {varied}"


def changed(row: Mapping[str, Any], key: str) -> str:
    """Write the change of a figure with its interval."""
    names = columns_of(key, CONFIDENCE)
    difference, half, ratio, low, high = (row[names[part]] for part in ("difference", "half", "ratio", "low", "high"))
    if difference is None:
        return NOTHING
    if not difference and not half:
        return "="
    if ratio is None:
        return f"{difference:+.3g}"[0] + with_interval(metric_of(key), abs(difference), half) + _mark(difference, half)
    mean, bounds = changes(ratio, low, high)
    if low is None:
        return f"{mean} %"
    certain = not low <= 1 <= high and abs(ratio - 1) > resolution(key)
    return f"{mean} % [{', '.join(bounds)}]" + (" *" if certain else "")


def _mark(difference: float, half: float | None) -> str:
    return " *" if half is not None and abs(difference) > half else ""


def percent(ratio: float) -> str:
    """Write a ratio as a change in per cent."""
    return f"{changes(ratio)[0]} %"
