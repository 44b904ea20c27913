"""The points of a sweep as a page for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from flashwatt.base.units import count
from flashwatt.report.comparable import distinct_warnings, map_unit_bytes, unlike_map_units
from flashwatt.report.metrics import metric_of, resolution
from flashwatt.report.table import emit, show_warnings
from flashwatt.sweeps.columns import Column, emit_columns, key_columns, short_name, stdout
from flashwatt.sweeps.seeds import varied_by_seeds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from flashwatt.sweeps.results import Results


def show_summary(
    results: Results, console: Console | None = None, metrics: Sequence[str] = (), *, per_run: bool = False
) -> None:
    """Print the points of a sweep: means over their seeds, with intervals, or a row for each run.

    `metrics` names the figures by their dotted keys. All of them are printed, in several tables where the terminal is
    narrow. Without it these are the headlines, as many as there is room for, those that differ between the rows first.
    What is the same in every row is said once, below. Raises `FlashwattError` for a figure that no run has.
    """
    console = console or stdout()
    keys, fixed, figures = _columns(results, metrics, per_run=per_run)
    same = [one for one in (*keys, *figures) if not one.varies]
    keys = [one for one in keys if one.varies] or keys
    shown = [one for one in figures if one.varies] or figures
    hidden = emit_columns([*keys, *fixed], shown, console, whole=bool(metrics))
    for line in (*_said_once(same, hidden), _explained(results, per_run=per_run)):
        emit(console, Text(line, "dim"))
    units = {f"{one.point}": map_unit_bytes(one.report) for one in results}
    show_warnings([*unlike_map_units(units), *distinct_warnings(one.report.warnings for one in results)], console)


def _columns(
    results: Results, metrics: Sequence[str], *, per_run: bool
) -> tuple[list[Column], list[Column], list[Column]]:
    """The columns of the grid's keys, the fixed ones, and those of the figures."""
    chosen = list(metrics) or [key for key in results.headlines if key in results.metrics]
    frame = results.runs(chosen) if per_run else results.summary(chosen)
    rows = frame.to_dicts()
    figures = [
        Column(key, short_name(key), [_figure(row, key, per_run=per_run) for row in rows])
        for key in chosen
        if metrics or frame[key if per_run else f"{key}.mean"].count()
    ]
    return key_columns(results.keys, rows), list(_fixed(results, rows, per_run=per_run)), figures


def _fixed(results: Results, rows: list[dict[str, Any]], *, per_run: bool) -> Iterator[Column]:
    """The seed of a run, or the number of runs where points differ in it; how many runs have warnings, if any has."""
    if per_run:
        yield Column("seed", "seed", [str(row["seed"]) for row in rows])
    elif len({row["runs"] for row in rows} | {results.replicates}) > 1:
        yield Column("runs", "runs", [count(row["runs"]) for row in rows])
    warned = [row["warnings" if per_run else "warned"] for row in rows]
    if any(warned):
        yield Column("warn", "warn", [count(one) if one else "" for one in warned])


def _said_once(same: list[Column], hidden: list[Column]) -> Iterator[str]:
    """Name what is the same in every row, and the figures that there was no room for."""
    if same:
        yield f"the same in every row: {', '.join(f'{one.name} {one.cells[0]}' for one in same)}"
    if hidden:
        yield f"no room for {', '.join(one.name for one in hidden)}: --metrics {hidden[0].key} asks for one"


def _explained(results: Results, *, per_run: bool) -> str:
    """Describe what the rows are, and what differs between the runs of a point."""
    seeds = results.replicates
    if per_run:
        return "one row for each run"
    if seeds < 2:  # noqa: PLR2004
        return "one run for each point, so that no interval is known (`seeds = 5` in the study gives them)"
    varied = varied_by_seeds(one.report.config for one in results)
    return f"means over {seeds} seeds, ± half of the 95 % confidence interval; {varied}"


def _figure(row: dict[str, Any], key: str, *, per_run: bool) -> str:
    """A figure of a run, or the mean of several with half its interval in per cent.

    The interval of a quantile is no narrower than the bins of the histogram: `±<0.8 %`.
    """
    metric = metric_of(key)
    if per_run:
        return metric.write(row[key])
    mean, half = row[f"{key}.mean"], row[f"{key}.ci95"]
    if mean and half is not None and half < resolution(key) * mean:
        return f"{metric.write(mean)} ±<{100 * resolution(key):.1f} %"
    if not mean or not half:
        return metric.write(mean)
    return f"{metric.write(mean)} ±{100 * half / abs(mean):4.1f} %"
