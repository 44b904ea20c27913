"""Reports side by side as data: figures with their changes, settings that differ, a frame, a card, a LaTeX table."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flashwatt import _core
from flashwatt.base.labels import Labels
from flashwatt.base.literals import shown
from flashwatt.base.misspelt import known
from flashwatt.base.scripts import blaming
from flashwatt.base.units import NOTHING, setting
from flashwatt.config.spelling import as_written
from flashwatt.report.comparable import map_unit_bytes, unlike_host_rules, unlike_map_units
from flashwatt.report.doubts import legend, mark
from flashwatt.report.keys import meanings
from flashwatt.report.metrics import METRICS, OF_CUTS, OF_FILES, flat, has_best, listed, listed_parts, metric_of
from flashwatt.report.report import Report, content_of
from flashwatt.report.table import drive_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from os import PathLike
    from typing import TypeAlias

    import polars as pl

    Saved: TypeAlias = "Report | str | PathLike[str]"
    """A report, or the path of a report.json or of a directory with one."""

_TWICE = 2  # from here on, a factor says more than per cent
_MANY, _VAST = 100, 100_000  # from here on, its decimals say nothing, and its digits
_WHOLE = 99.95  # per cent from here on are written without decimals
_SOME = {*OF_FILES, *OF_CUTS}
"""Figures that only some reports have, which are added for these."""
_LEFT_OUT = {"device.description"}
"""Keys of the configuration that a table has no room for, and that say nothing beside the others."""
_WIDTH = 100  # of the table as text


class Cell(NamedTuple):
    """One value of a comparison for people."""

    text: str
    change: str = ""
    """How far it is from the first report's; empty for the first one."""
    best: bool = False
    mark: str = ""
    """What the figure lacks: see the legend."""


class Row(NamedTuple):
    """A figure, or a setting, of all reports."""

    key: str
    name: str
    values: list[Any]
    cells: list[Cell]


class Comparison:
    """Reports side by side; `flashwatt.compare` makes one. A notebook shows it as a card, `print` as a table."""

    def __init__(self, reports: Mapping[str, Report], only: Sequence[str] = ()) -> None:
        """Take reports by their labels. Raises `FlashwattError` for a name in `only` that no report has."""
        if not reports:
            raise _core.FlashwattError("compare: no report; expected at least one")
        self.reports = dict(reports)
        """The reports by their labels."""
        self._only = list(only)
        self._content = compared(self.reports, self._only)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Give `status`, `config` and `metrics` of each report, by its label, as `flashwatt compare --json` does."""
        return {label: {**one} for label, one in self._content.items()}

    def frame(self) -> pl.DataFrame:
        """One row for each report: `report` (its label), `status`, `warnings` (how many), settings, figures.

        Settings are those that differ, in the words and units of a configuration file; figures are all of the report,
        by dotted keys, in its units. With `only` both are what was asked for.
        """
        import polars as pl

        from flashwatt.base.frames import column

        figures = {label: _numbers(report) for label, report in self.reports.items()}
        keys = dict.fromkeys(key for tree in figures.values() for key in tree if not listed_parts(key))
        chosen = list(next(iter(self._content.values()))["metrics"]) if self._only else list(keys)
        rows = [
            {
                "report": label,
                "status": one["status"],
                "warnings": len(self.reports[label].warnings),
                **one["config"],
                **{key: figures[label].get(key) for key in chosen},
            }
            for label, one in self._content.items()
        ]
        return pl.DataFrame([column(key, [row[key] for row in rows]) for key in rows[0]])

    def to_latex(self, *, labels: Mapping[str, Any] | None = None) -> str:
        r"""Give the comparison as a table in LaTeX (package booktabs): a column for each report, the best in bold.

        Each figure has one unit for its row. `labels` renames rows and the texts of settings, as in `Results.to_latex`;
        a column is called as its report is.
        """
        from flashwatt.report import latex
        from flashwatt.report.axes import heads, word

        settings = self.settings()
        called = Labels(labels)
        called.check(
            [row.key for row in self.figures()], {row.key: [one.text for one in row.cells] for row in settings}
        )

        figures = []
        for row in self.figures():
            metric = metric_of(row.key)
            unit, cells = latex.numbers(metric, row.values)
            cells = [cell + latex.escape(one.mark) for cell, one in zip(cells, row.cells, strict=True)]
            best = [rf"\textbf{{{cell}}}" if one.best else cell for cell, one in zip(cells, row.cells, strict=True)]
            figures.append([latex.heading(latex.escape(called.name(row.key, word(row.key))), unit), *best])
        set_to = [
            [
                latex.escape(called.name(row.key, words)),
                *(latex.escape(called.value(row.key, one.text)) for one in row.cells),
            ]
            for row, words in zip(settings, heads([row.key for row in settings]), strict=True)
        ]
        head = ["", *map(latex.escape, self.reports)]
        return latex.table(
            head,
            [rows for rows in (figures, set_to) if rows],
            "\n".join(["one column for each report", *self.legend()]),
        )

    def figures(self) -> list[Row]:
        """Give the rows of figures that any report has a value other than 0 of, and those that were asked for."""
        every = list(self._content.values())
        contents = [content_of(report) for report in self.reports.values()]
        return [
            _figure(key, values, [mark(one, key) for one in contents])
            for key in every[0]["metrics"]
            for values in [[one["metrics"][key] for one in every]]
            if any(values) or key in self._only
        ]

    def settings(self) -> list[Row]:
        """Give the rows of settings that differ, or that were asked for."""
        every = list(self._content.values())
        keys = [key for key in every[0]["config"] if self._only or key not in _LEFT_OUT]
        columns = {key: [one["config"][key] for one in every] for key in keys}
        return [Row(key, key, values, [Cell(_written(one)) for one in values]) for key, values in columns.items()]

    def legend(self) -> list[str]:
        """Explain the marks beside figures, a line for each that occurs."""
        marks = [cell.mark for row in self.figures() for cell in row.cells]
        return legend(marks, [content_of(report) for report in self.reports.values()])

    @property
    def heading_of_settings(self) -> str:
        """What the rows of `settings` are."""
        return "Configuration" if self._only else "Configuration, where it differs"

    def warnings(self) -> list[str]:
        """Give the ends that were not complete and the warnings of all reports, each with the report's label."""
        found = unlike_map_units({label: map_unit_bytes(report) for label, report in self.reports.items()})
        found += unlike_host_rules({label: content_of(one)["config"] for label, one in self.reports.items()})
        for label, report in self.reports.items():
            ends = [] if report.status == "complete" else [report.status]
            found += [f"{label}: {text}" for text in (*ends, *report.warnings)]
        return found

    def __repr__(self) -> str:
        from rich.console import Console

        from flashwatt.report.compare import show

        stream = io.StringIO()
        show(self, Console(file=stream, width=_WIDTH, highlight=False))
        return stream.getvalue().strip("\n")

    def _repr_html_(self) -> str:
        from flashwatt.report.html import comparison

        return comparison(self)


@blaming
def compare(*reports: Saved | Mapping[str, Saved], only: Sequence[str] = ()) -> Comparison:
    """Lay reports side by side: their figures, and the differences of their configurations.

    Each is a `Report`, a path of a report.json or of a directory with one, or a dictionary of such by the labels that
    they get: `compare({"page": page, "dftl": dftl})`. Others are called by their paths or drives. `only` names figures
    or settings, or tables of them, by dotted keys. Raises `FlashwattError` for a report that cannot be read or a name
    that no report has.
    """
    if isinstance(only, str):
        raise _core.FlashwattError(f"only: found {only!r}; expected a list of keys: only=[{only!r}]")
    named: dict[str, Report] = {}
    loose: list[Saved] = []
    for one in reports:
        if isinstance(one, Mapping):
            named |= {str(label): _read(report) for label, report in one.items()}
        else:
            loose.append(one)
    if named and loose:
        raise _core.FlashwattError("compare: found reports with labels and others without; expected one dictionary")
    return Comparison(named or _labelled(loose), only)


def _read(report: Saved) -> Report:
    if isinstance(report, Report):
        return report
    if not isinstance(report, str | os.PathLike):
        expected = "a Report, the path of a report.json, or a dictionary of these"
        raise _core.FlashwattError(f"compare: found {shown(report)}; expected {expected}")
    return Report.read(report)


def _labelled(reports: Sequence[Saved]) -> dict[str, Report]:
    """Reports without labels: paths are told apart as on the command line, others are numbered."""
    loaded = [_read(one) for one in reports]
    if any(isinstance(one, Report) for one in reports):
        return {f"{at}: {drive_name(content_of(one))}": one for at, one in enumerate(loaded, 1)}
    paths = [Path(one) / "report.json" if Path(one).is_dir() else Path(one) for one in reports]  # type: ignore[arg-type]
    return dict(zip(labels(paths), loaded, strict=True)) if paths else {}


def labels(paths: Sequence[Path]) -> list[str]:
    """Short names that tell files apart: their stems, or as much of their directories as it takes."""
    parts = [path.resolve().with_suffix("").parts for path in paths]
    if len(set(parts)) < len(parts):
        return [f"{at}: {path}" for at, path in enumerate(paths, 1)]
    names = {part[-1] for part in parts}
    if len(names) == 1 and (len(parts) > 1 or names == {"report"}):
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
        there = dict.fromkeys(part for name in names for part in _tables(name))
        known("only", only, there, meanings=meanings())
        keys, settings = _chosen(only, figures.values()), _chosen(only, configs.values())
    else:
        keys, settings = (
            [*_of_files(figures.values()), *_of_cuts(figures.values()), *(key for key in METRICS if key not in _SOME)],
            _differing(configs),
        )
    return {
        label: {
            "status": report.status,
            "config": {key: configs[label].get(key) for key in settings},
            "metrics": {key: figures[label].get(key) for key in keys},
        }
        for label, report in reports.items()
    }


def _numbers(report: Report) -> dict[str, Any]:
    content = content_of(report)
    figures = flat(content) | listed(content)
    return {key: one for key, one in figures.items() if one is None or type(one) in (int, float)}


def _of_cuts(trees: Collection[dict[str, Any]]) -> list[str]:
    """The figures of power cuts, if any report has them."""
    return list(OF_CUTS) if any(tree.get("power_cuts.cuts") is not None for tree in trees) else []


def _of_files(trees: Collection[dict[str, Any]]) -> list[str]:
    """The figures of files, if any report has them: operations, the flow of each that takes longest, bytes written."""
    if not any(tree.get("files.operations.count") is not None for tree in trees):
        return []
    longest = [max(times, key=times.__getitem__) for times in map(_times, trees) if times]
    latencies = [f"files.flows.{name}.latency_ns.p99" for name in dict.fromkeys(longest)]
    written = [key for tree in trees for key in tree if key.startswith("files.written.")]
    return [*OF_FILES, *latencies, *dict.fromkeys(written)]


def _times(tree: dict[str, Any]) -> dict[str, float]:
    """The time of all operations of each flow."""
    parts = {key: part for key in tree if (part := listed_parts(key)) and part.list == "files.flows"}
    means = {part.name: tree[key] or 0 for key, part in parts.items() if part.figure == "latency_ns.mean"}
    return {name: mean * tree[f"files.flows.{name}.latency_ns.count"] for name, mean in means.items()}


def _tables(key: str) -> Iterator[str]:
    """The key, and every table that it is in. The lifetime of an array is among lifetimes."""
    while key:
        yield key
        if key == "array.lifetime":
            yield "lifetime"
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


def _figure(key: str, values: list[Any], marks: list[str]) -> Row:
    """A row of figures: which of them is best, and how the others differ from the first."""
    metric = metric_of(key)
    there = [value for value in values if value is not None]
    worth = has_best(key) and len(values) > 1 and bool(there) and min(there) < max(there)
    best = (min if metric.best == "low" else max)(there) if worth else None
    changes = ["", *(change(values[0], value) for value in values[1:])]
    cells = [
        Cell(metric.write(value) + doubt, change, worth and value == best, doubt)
        for value, change, doubt in zip(values, changes, marks, strict=True)
    ]
    return Row(key, metric.name, values, cells)


def _written(value: Any) -> str:
    """A value as in a configuration file; a dash where a configuration has no such key."""
    if value is None:
        return NOTHING
    if isinstance(value, float):
        return setting(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def change(first: float | None, value: float | None) -> str:
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
