"""The points of a sweep as a page for the terminal."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from rich.text import Text

from flashwatt.base.labels import Labels
from flashwatt.base.units import NOTHING, count
from flashwatt.report.comparable import distinct_warnings, map_unit_bytes, unlike_host_rules, unlike_map_units
from flashwatt.report.doubts import TOO_SHORT, is_wide, legend, united
from flashwatt.report.metrics import listed_parts, metric_of, resolution, with_interval
from flashwatt.report.report import content_of
from flashwatt.report.table import emit, show_warnings
from flashwatt.sweeps.columns import Column, emit_columns, key_columns, short_names, stdout
from flashwatt.sweeps.seeds import varied_by_seeds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from flashwatt.sweeps.results import Results

_NEARLY = 0.005
"""Figures that differ by less than this share of the highest one are shown behind those that differ by more."""


def show_summary(
    results: Results,
    console: Console | None = None,
    metrics: Sequence[str] = (),
    *,
    per_run: bool = False,
    labels: Labels | None = None,
) -> None:
    """Print the points of a sweep: means over their seeds, with intervals, or a row for each run.

    `metrics` names the figures by their dotted keys. All of them are printed, in several tables where the terminal is
    narrow. Without it these are the headlines, as many as there is room for, those that differ between the rows first.
    What is the same in every row is said once, below. Raises `FlashwattError` for a figure that no run has.
    """
    console = console or stdout()
    keys, fixed, figures = _columns(results, metrics, labels or Labels(), per_run=per_run)
    same = [one for one in (*keys, *fixed, *figures) if not one.varies]
    keys = [one for one in keys if one.varies] or keys
    fixed = [one for one in fixed if one.varies]
    shown = [one for one in figures if one.varies] or figures
    hidden = emit_columns([*keys, *fixed], shown, console, whole=bool(metrics))
    for line in (*_said_once(same, hidden, figures), *_doubts(figures, results), _explained(results, per_run=per_run)):
        emit(console, Text(line, "dim"))
    units = {f"{one.point}": map_unit_bytes(one.report) for one in results}
    rules = unlike_host_rules({f"{one.point}": content_of(one.report)["config"] for one in results})
    show_warnings(
        [*unlike_map_units(units), *rules, *distinct_warnings(one.report.warnings for one in results)], console
    )


def html_of(results: Results) -> str:
    """Give the points for a notebook: what differs between them first, and what does not in the line below."""
    keys, fixed, figures = _columns(results, (), Labels(), per_run=False)
    every = [*keys, *fixed, *figures]
    shown = [one for one in every if one.varies] or every
    same = [one for one in every if not one.varies]
    head = "".join(f"<th>{escape(one.name)}</th>" for one in shown)
    rows = zip(*(one.cells for one in shown), strict=True)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    below = (*_said_once(same, [], figures), *_doubts(figures, results), _explained(results, per_run=False))
    said = "".join(f"<p>{escape(one)}</p>" for one in below)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{said}"


def _doubts(figures: list[Column], results: Results) -> list[str]:
    """Explain the marks in these columns."""
    marks = united(*(cell for one in figures for cell in one.cells))
    return legend(marks, [content_of(one.report) for one in results])


def _columns(
    results: Results, metrics: Sequence[str], labels: Labels, *, per_run: bool
) -> tuple[list[Column], list[Column], list[Column]]:
    """The columns of the grid's keys, the fixed ones, and those of the figures: asked for, or the most different."""
    chosen = list(metrics) or [key for key in results.headlines if key in results.metrics]
    frame = results.runs(chosen) if per_run else results.summary(chosen)
    rows = frame.to_dicts()
    there = [key for key in chosen if metrics or frame[_values(key, per_run=per_run)].count()]
    if not metrics:
        there.sort(key=lambda key: nearly_equal(row[_values(key, per_run=per_run)] for row in rows))
    doubts = results.doubts(per_run=per_run)
    left = key_columns(results.keys, rows, labels)
    figures = [
        Column(
            key,
            labels.name(key, name),
            [_figure(row, key, doubts(row, key), per_run=per_run) for row in rows],
        )
        for key, name in zip(there, short_names(there, [one.name for one in left]), strict=True)
    ]
    return left, list(_fixed(results, rows, per_run=per_run)), figures


def _values(key: str, *, per_run: bool) -> str:
    return key if per_run else f"{key}.mean"


def nearly_equal(values: Iterable[float | None]) -> bool:
    """Whether values differ by so little that they are no choice, as the rate at which the requests of a trace come."""
    there = [value for value in values if value is not None]
    return not there or max(there) - min(there) <= _NEARLY * max(map(abs, there))


def _fixed(results: Results, rows: list[dict[str, Any]], *, per_run: bool) -> Iterator[Column]:
    """The seed of a run, or the number of runs where points differ in it; how many runs have warnings, if any has."""
    if per_run:
        yield Column("seed", "seed", [str(row["seed"]) for row in rows])
    elif len({row["runs"] for row in rows} | {results.replicates}) > 1:
        yield Column("runs", "runs", [count(row["runs"]) for row in rows])
    warned = [row["warnings" if per_run else "warned"] for row in rows]
    if any(warned):
        yield Column("warn", "warn", [count(one) if one else "" for one in warned])


def _said_once(same: list[Column], hidden: list[Column], figures: list[Column]) -> Iterator[str]:
    """Name what is the same in every row, figures without a value, and those that there was no room for."""
    if same:
        yield f"the same in every row: {', '.join(f'{one.name} {one.cells[0]}' for one in same)}"
    if empty := [one.key for one in figures if not any(cell.strip(f"{NOTHING}†‡ ") for cell in one.cells)]:
        yield f"{NOTHING} no run has a value: {', '.join(map(_why_none, empty))}"
    if hidden:
        yield f"no room for {', '.join(one.name for one in hidden)}: --metrics {hidden[0].key} asks for one"


_KINDS = {"read": "a read", "write": "a write", "flush": "a flush"}


def _why_none(key: str) -> str:
    """Name a figure that no run has; of a latency say why."""
    part = listed_parts(key)
    inner = part.figure if part else key
    kind = next((one for name, one in _KINDS.items() if f"latency_ns.{name}." in inner), None)
    of = f" of {part.name}" if part else ""
    return f"{key} (no request{of} was {kind})" if kind else key


def _explained(results: Results, *, per_run: bool) -> str:
    """Describe what the rows are, and what differs between the runs of a point."""
    seeds = results.replicates
    if per_run:
        return "one row for each run"
    if seeds < 2:  # noqa: PLR2004
        return (
            _known(results)
            or "one run for each point, so that no interval is known (`seeds = 5` in the study gives them)"
        )
    varied = varied_by_seeds(one.report.config for one in results)
    return f"means over {seeds} seeds, ± half of the 95 % confidence interval; {varied}"


def _known(results: Results) -> str:
    """Say how many runs ended by the precision of their figures, if the study asks for one."""
    asked = [one.report.precision for one in results if one.report.precision]
    if not asked:
        return ""
    known = sum(one.ended_by == "precision" for one in asked)
    ended = f"{known} of {len(asked)} runs ended when their figures were known"
    return f"{ended}; `Results.precision` in Python gives intervals, and differences from a baseline"


def _figure(row: dict[str, Any], key: str, doubts: str, *, per_run: bool) -> str:
    """A figure of a run, or the mean of several with half its interval, in the digits of the interval; its marks.

    The interval of a quantile is no narrower than the bins of the histogram: `2.05 ±<0.02 ms`.
    """
    metric = metric_of(key)
    if per_run:
        return metric.write(row[key]) + doubts
    mean, half = row[f"{key}.mean"], row[f"{key}.ci95"]
    if mean and half is not None and half < resolution(key) * mean:
        return with_interval(metric, mean, resolution(key) * mean).replace("± ", "±<") + doubts
    return with_interval(metric, mean, half) + united(doubts, TOO_SHORT if is_wide(mean, half) else "")
