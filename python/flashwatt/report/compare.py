"""Reports side by side: their figures, and the differences of their configurations."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from flashwatt.base.misspelt import known
from flashwatt.base.units import NOTHING
from flashwatt.config.spelling import as_written
from flashwatt.report.comparable import unlike_map_units
from flashwatt.report.metrics import METRICS, flat, metric_of
from flashwatt.report.report import content_of
from flashwatt.report.table import emit, new_table, show_warnings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from flashwatt.report.metrics import Metric
    from flashwatt.report.report import Report

_BEST = "bold green"
_TWICE = 2  # from here on, a factor says more than per cent
_MANY, _VAST = 100, 100_000  # from here on, its decimals say nothing, and its digits
_WHOLE = 99.95  # per cent from here on are written without decimals
_LEFT_OUT = {"device.description"}
"""Keys of the configuration that the table has no room for, and that say nothing beside the others."""
_BETWEEN = 3  # cells from one column to the next
_EDGES = 2  # cells beside a table
_LEAST_WIDTH = 10  # of a column of values, which are folded if they are longer


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


def compared(reports: dict[str, Report], only: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """Give for each label the settings that differ (`config`) and the figures (`metrics`), by dotted keys.

    Keys of the configuration are in the words and units of a configuration file. `only` names keys or tables of the
    report or of the configuration: then these are given, whether they differ or not. Raises `FlashwattError` for a name
    that no report has.
    """
    figures = {label: _numbers(report) for label, report in reports.items()}
    configs = {label: as_written(report.config) for label, report in reports.items()}
    names = [key for tree in (*figures.values(), *configs.values()) for key in tree]
    if only:
        known("--only", only, dict.fromkeys(part for name in names for part in _tables(name)))
        keys, settings = _chosen(only, figures.values()), _chosen(only, configs.values())
    else:
        keys, settings = list(METRICS), _differing(configs)
    return {
        label: {
            "status": report.status,
            "config": {key: configs[label].get(key) for key in settings},
            "metrics": {key: figures[label].get(key) for key in keys},
        }
        for label, report in reports.items()
    }


def _numbers(report: Report) -> dict[str, Any]:
    figures = flat(content_of(report))
    return {key: one for key, one in figures.items() if one is None or type(one) in (int, float)}


def _tables(key: str) -> Iterator[str]:
    """The key, and every table that it is in."""
    while key:
        yield key
        key = key.rpartition(".")[0]


def _chosen(only: Sequence[str], trees: Iterable[dict[str, Any]]) -> list[str]:
    keys = list(dict.fromkeys(key for tree in trees for key in tree))
    return list(dict.fromkeys(key for name in only for key in keys if name in _tables(key)))


def _differing(configs: dict[str, dict[str, Any]]) -> list[str]:
    """Keys that do not have the same value in all, table by table."""
    found = dict.fromkeys(key for tree in configs.values() for key in tree)
    tables = list(dict.fromkeys(key.partition(".")[0] for key in found))
    keys = sorted(found, key=lambda key: tables.index(key.partition(".")[0]))
    return [key for key in keys if len({repr(tree.get(key)) for tree in configs.values()}) > 1]


def show(reports: dict[str, Report], console: Console | None = None, only: Sequence[str] = ()) -> None:
    """Print figures with a column for each report, the best of each in green, then how the configurations differ.

    Later columns show their difference from the first one. Columns that are too wide for the terminal follow below,
    again beside the first report.
    """
    console = console or Console(highlight=False)
    content = compared(reports, only)
    every = list(content.values())
    figures = [
        _figure(metric_of(key), values, judged=key in METRICS)
        for key in every[0]["metrics"]
        for values in [[one["metrics"][key] for one in every]]
        if any(values) or key in only
    ]
    shown = [key for key in every[0]["config"] if only or key not in _LEFT_OUT]
    settings = [_Row(key, [Text(_written(one["config"][key])) for one in every]) for key in shown]
    _print("", list(reports), figures, console, folded=False)
    heading = "Configuration" if only else "Configuration, where it differs"
    _print(heading, list(reports), settings, console, folded=True)
    show_warnings(unlike_map_units({label: report.ftl.map_unit_bytes for label, report in reports.items()}), console)
    for label, report in reports.items():
        ends = [] if report.status == "complete" else [report.status]
        show_warnings([f"{label}: {text}" for text in (*ends, *report.warnings)], console)


class _Row(NamedTuple):
    name: str
    cells: list[Text]


def _print(title: str, labels: list[str], rows: list[_Row], console: Console, *, folded: bool) -> None:
    """Print rows as one table, or as several that are as wide as the terminal."""
    if not rows:
        return
    widths = [max(min(cell_len(label), _LEAST_WIDTH), *_lengths(rows, at)) for at, label in enumerate(labels)]
    needed = [_foldable(rows, at, width) for at, width in enumerate(widths)] if folded else widths
    beside = sum(width + _BETWEEN for width in (needed[0], max(needed[1:], default=0)))
    room = console.width - _EDGES
    named = min(max(cell_len(row.name) for row in rows), max(_LEAST_WIDTH, room - beside))
    for at, columns in enumerate(_blocks(needed, room - named)):
        table = new_table(f"\n{title}" if title and not at else "", "")
        first = table.columns[0]
        first.no_wrap, first.overflow, first.width = False, "fold", named
        spare = room - named - sum(needed[column] + _BETWEEN for column in columns)
        for column in columns:
            width = needed[column] + max(0, min(widths[column] - needed[column], spare))
            spare -= width - needed[column]
            table.add_column(Text(labels[column]), justify="right", overflow="fold", width=width)
        for row in rows:
            table.add_row(Text(row.name), *(row.cells[column] for column in columns))
        emit(console, table)


def _foldable(rows: list[_Row], at: int, width: int) -> int:
    """The width that a column may be folded to: words may be, numbers may not."""
    numbers = (cell_len(text) for row in rows if _is_number(text := row.cells[at].plain))
    return max(min(width, _LEAST_WIDTH), *numbers, 0)


def _is_number(text: str) -> bool:
    return text.strip("-.e+0123456789") == ""


def _lengths(rows: list[_Row], at: int) -> Iterator[int]:
    return (cell_len(row.cells[at].plain) for row in rows)


def _blocks(widths: list[int], room: int) -> Iterator[list[int]]:
    """The columns of each table: the first one, and as many of the others as there is room for."""
    block, left = [0], room - widths[0] - _BETWEEN
    for at, width in enumerate(widths[1:], 1):
        if len(block) > 1 and width + _BETWEEN > left:
            yield block
            block, left = [0], room - widths[0] - _BETWEEN
        block.append(at)
        left -= width + _BETWEEN
    yield block


def _written(value: Any) -> str:
    """A value as in a configuration file; a dash where a configuration has no such key."""
    if value is None:
        return NOTHING
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _figure(metric: Metric, values: list[Any], *, judged: bool) -> _Row:
    """A line of figures: the best in green, and how the others differ from the first."""
    there = [value for value in values if value is not None]
    worth = judged and len(values) > 1 and bool(there) and min(there) < max(there)
    best = (min if metric.best == "low" else max)(there) if worth else None
    changes = ["", *(_change(values[0], value) for value in values[1:])]
    cells: list[Text] = []
    for value, change in zip(values, changes, strict=True):
        cell = Text(metric.write(value), _BEST if worth and value == best else "")
        cells.append(cell.append(f"{change:>{_CHANGE_WIDTH}}", "dim not bold") if cells else cell)
    return _Row(metric.name, cells)


_CHANGE_WIDTH = 8  # one more than the longest change


def _change(first: float | None, value: float | None) -> str:
    """Write the difference of a value from the first one; a dash where there is no ratio."""
    if value == first:
        return "="
    if not first or value is None or not math.isfinite(value / first):
        return NOTHING
    ratio = value / first
    if 0 <= ratio < _TWICE:
        percent = 100 * (ratio - 1)
        return f"{percent:+.1f} %" if abs(percent) < _WHOLE else f"{percent:+.0f} %"
    if 0 < ratio < _VAST:
        return f"×{ratio:.2f}" if ratio < _MANY else f"×{ratio:,.0f}"
    return f"×{ratio:.1g}"
