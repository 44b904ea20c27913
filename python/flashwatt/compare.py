"""Reports side by side: what was different, and what came of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from flashwatt.literals import leaves
from flashwatt.metrics import METRICS
from flashwatt.results import flat
from flashwatt.table import new_table, show_warnings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from flashwatt.metrics import Metric
    from flashwatt.report import Report

_BEST = "bold green"
_CHANGE_WIDTH = 10
_TWICE = 2  # from here on, a factor says more than per cent


def labels(paths: Sequence[Path]) -> list[str]:
    """Short names that tell files apart: their stems, or as much of their directories as it takes."""
    parts = [path.resolve().with_suffix("").parts for path in paths]
    if len(set(parts)) < len(parts):
        return [f"{at}: {path}" for at, path in enumerate(paths, 1)]
    if all(part[-1] == parts[0][-1] for part in parts) and len(parts) > 1:
        parts = [part[:-1] for part in parts]  # all of them are a report.json
    for depth in range(1, max(map(len, parts)) + 1):
        short = ["/".join(part[-depth:]) for part in parts]
        if len(set(short)) == len(short):
            break
    return short


def compared(reports: dict[str, Report]) -> dict[str, dict[str, Any]]:
    """For each label what distinguishes its configuration (`config`), and its figures (`metrics`), by dotted keys."""
    figures = {label: flat(report.to_dict()) for label, report in reports.items()}
    differences = _differences(reports)
    return {
        label: {
            "status": report.status,
            "config": {key: values[label] for key, values in differences.items()},
            "metrics": {key: figures[label].get(key) for key in METRICS},
        }
        for label, report in reports.items()
    }


def show(reports: dict[str, Report], console: Console | None = None) -> None:
    """Print a table with a column for each report: differing keys, then figures, the best of each in green.

    Later columns say how they differ from the first one.
    """
    console = console or Console(highlight=False)
    content = compared(reports)
    table = new_table("", "", *reports)
    for key in next(iter(content.values()))["config"]:
        table.add_row(Text(key), *(Text(_written(one["config"][key])) for one in content.values()))
    table.add_section()
    for key, metric in METRICS.items():
        values = [one["metrics"][key] for one in content.values()]
        if any(value for value in values):
            table.add_row(Text(metric.name), *_cells(values, metric))
    console.print(table)
    for label, report in reports.items():
        ends = [] if report.status == "complete" else [report.status]
        show_warnings([f"{label}: {text}" for text in (*ends, *report.warnings)], console)


def _differences(reports: dict[str, Report]) -> dict[str, dict[str, Any]]:
    """Dotted keys of the configurations that are not the same in all, with their values by label."""
    trees = {label: dict(leaves(report.config)) for label, report in reports.items()}
    keys = dict.fromkeys(key for tree in trees.values() for key in tree)
    values = {key: {label: tree.get(key) for label, tree in trees.items()} for key in keys}
    names = {"workload": {label: report.workload.name for label, report in reports.items()}}
    differing = {key: by for key, by in values.items() if len({repr(value) for value in by.values()}) > 1}
    return names | differing if len(set(names["workload"].values())) > 1 else differing


def _written(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _cells(values: list[Any], metric: Metric) -> list[Text]:
    there = [value for value in values if value is not None]
    best = (min if metric.best == "low" else max)(there)
    worth = len(values) > 1 and min(there) < max(there)
    first = values[0]
    cells = []
    for at, value in enumerate(values):
        cell = Text(metric.write(value), _BEST if worth and value == best else "")
        cells.append(cell.append(_change(first, value), "dim not bold") if at else cell)
    return cells


def _change(first: float | None, value: float | None) -> str:
    if not first or value is None or value == first or not math.isfinite(value / first):
        return " " * _CHANGE_WIDTH
    ratio = value / first
    change = f"×{ratio:.2f}" if ratio >= _TWICE else f"{100 * (ratio - 1):+.1f} %"
    return f"{change:>{_CHANGE_WIDTH}}"
