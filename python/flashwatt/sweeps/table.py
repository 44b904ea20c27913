"""The points of a sweep as a table in LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashwatt.report import latex
from flashwatt.report.metrics import metric_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl


def points_table(frame: pl.DataFrame, keys: Sequence[str], metrics: Sequence[str], comment: str) -> str:
    """Write a frame as `Results.summary` or `Results.runs` gives it.

    Keys that have one value in all rows are left out, unless all of them do. Each figure has one unit for the whole
    column; a figure without any value has no column.
    """
    varying = [key for key in keys if frame[key].n_unique() > 1] or list(keys)
    columns: list[tuple[str, list[str]]] = [
        (latex.escape(key), [latex.escape(_value(one)) for one in frame[key]])
        for key in (*varying, *(key for key in ("seed", "runs") if key in frame.columns))
    ]
    for name in metrics:
        of_mean = f"{name}.mean" in frame.columns
        means = frame[f"{name}.mean" if of_mean else name].to_list()
        if any(value is not None for value in means):
            halves = next((frame[one].to_list() for one in frame.columns if one.startswith(f"{name}.ci")), None)
            metric = metric_of(name)
            unit, cells = latex.numbers(metric, means, halves)
            columns.append((latex.heading(latex.escape(metric.name), unit), cells))
    rows = list(zip(*(cells for _, cells in columns), strict=True))
    return latex.table([head for head, _ in columns], [rows], comment)


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
