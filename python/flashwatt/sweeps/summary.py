"""The points of a sweep as a page for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from flashwatt.base.units import count
from flashwatt.report.comparable import distinct_warnings, unlike_map_units
from flashwatt.report.metrics import HEADLINES, METRICS
from flashwatt.report.table import emit, new_table, show_warnings

if TYPE_CHECKING:
    from rich.table import Table

    from flashwatt.report.metrics import Metric
    from flashwatt.sweeps.results import Results

_ANY_WIDTH = 10_000


def show_summary(results: Results, console: Console | None = None) -> None:
    """Print the points of a sweep: means with their confidence, of as many figures as fit into the terminal.

    A `!` beside the number of runs marks warnings, which are printed below the table.
    """
    console = console or Console(highlight=False)
    metrics = [key for key in HEADLINES if key in results.metrics]
    summary = results.summary(metrics)
    metrics = [key for key in metrics if summary[f"{key}.mean"].count()]
    rows = summary.to_dicts()
    for shown in range(len(metrics), 0, -1):
        table = _summary(rows, results.keys, metrics[:shown])
        if console.measure(table, options=console.options.update(width=_ANY_WIDTH)).maximum <= console.width:
            break
    emit(console, table)
    said = "means over seeds, ± half of the 95 % confidence interval; more in results.parquet"
    marked = "; !: with warnings" if any(row["warned"] for row in rows) else ""
    emit(console, Text(said + marked, "dim"))
    units = {f"{one.point}": one.report.ftl.map_unit_bytes for one in results}
    show_warnings([*unlike_map_units(units), *distinct_warnings(one.report.warnings for one in results)], console)


def _summary(rows: list[dict[str, Any]], keys: list[str], metrics: list[str]) -> Table:
    names = [METRICS[key].name.replace("latency, ", "").replace("amplification", "ampl.") for key in metrics]
    table = new_table("", *_short(keys), "runs", *names)
    for row in rows:
        means = (_interval(METRICS[key], row[f"{key}.mean"], row[f"{key}.ci95"]) for key in metrics)
        runs = count(row["runs"]) + (" !" if row["warned"] else "")
        table.add_row(*(Text(str(row[key])) for key in keys), runs, *means)
    return table


def _short(keys: list[str]) -> list[str]:
    """The last parts of dotted keys, where these tell them apart."""
    last = [key.rpartition(".")[2] for key in keys]
    return last if len(set(last)) == len(last) else keys


def _interval(metric: Metric, mean: float | None, half: float | None) -> str:
    if mean is None or half is None:
        return metric.write(mean)
    return f"{metric.write(mean)} ±{100 * half / mean if mean else 0:4.1f} %"
