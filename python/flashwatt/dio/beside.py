"""Results side by side: simulated beside real, a column each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.text import Text

from flashwatt.base.misspelt import known
from flashwatt.base.units import duration, si
from flashwatt.dio.result import rows as rows_of
from flashwatt.dio.table import SHORT, figure, rate, size
from flashwatt.report.comparison import change
from flashwatt.report.table import emit, new_table, show_warnings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flashwatt.base.files import Json


class Figure(NamedTuple):
    """A figure of a point."""

    name: str
    column: str
    """In the rows of CSV."""
    text: Callable[[float | None], str]


FIGURES = {
    "mb_s": Figure("rate, MB/s", "mb_s", rate),
    "iops": Figure("requests per second", "iops", rate),
    "mean": Figure("mean latency", "latency_mean_ns", duration),
    "p50": Figure("latency, p50", "latency_p50_ns", duration),
    "p99": Figure("latency, p99", "latency_p99_ns", duration),
    "max": Figure("highest latency", "latency_max_ns", duration),
    "w": Figure("mean power", "power_mean_w", lambda watts: si(watts, "W")),
    "j_per_mb": Figure("energy, J/MB", "j_per_mb", figure),
    "mb_per_j": Figure("efficiency, MB/J", "mb_per_j", figure),
    "iops_per_w": Figure("efficiency, IOPS per W", "iops_per_w", figure),
}
"""By the names of `compare --only`."""
SHOWN = ("mb_s", "mean", "p99", "w", "j_per_mb")
"""The figures that are compared unless others are asked for."""


def chosen(only: Sequence[str]) -> list[str]:
    """Give the figures to compare. Raises `FlashwattError` for an unknown one."""
    known("only", only, list(FIGURES))
    return list(only) or list(SHOWN)


def points(results: Mapping[str, Json], names: Sequence[str]) -> list[dict[str, Any]]:
    """Give for each pattern and size the figures of every result by its label, None where it has no such point."""
    found: dict[tuple[str, int], dict[str, dict[str, Any]]] = {}
    for label, content in results.items():
        for row in rows_of(content):
            found.setdefault((row["pattern"], row["request_bytes"]), {})[label] = row
    order = {pattern: at for at, pattern in enumerate(SHORT)}
    return [
        {
            "pattern": pattern,
            "request_bytes": request_bytes,
            **{name: {label: by_label.get(label, {}).get(FIGURES[name].column) for label in results} for name in names},
        }
        for (pattern, request_bytes), by_label in sorted(found.items(), key=lambda one: (order[one[0][0]], one[0][1]))
    ]


def rows(results: Mapping[str, Json]) -> list[dict[str, Any]]:
    """Give every point of every result as a flat row, with the result's label."""
    return [{"report": label, **row} for label, content in results.items() for row in rows_of(content)]


def show(results: Mapping[str, Json], names: Sequence[str], console: Console | None = None) -> None:
    """Print a table for each figure, with a column for each result; later ones say how far they are from the first."""
    console = console or Console(highlight=False)
    found = points(results, names)
    for label, content in results.items():
        emit(console, Text(f"{label}: {_said(content)}"))
    for name in names:
        if all(value is None for one in found for value in one[name].values()):
            continue
        table = new_table(f"\n{FIGURES[name].name}", "", "size", *results)
        for one in found:
            values = list(one[name].values())
            cells = [_cell(FIGURES[name], value, None if at == 0 else values[0]) for at, value in enumerate(values)]
            table.add_row(SHORT[one["pattern"]], size(one["request_bytes"]), *cells)
        emit(console, table)
    show_warnings(list(warnings(results)), console)


def _said(content: Json) -> str:
    target = content["target"]
    clock = "simulated" if target["kind"] == "simulated" else f"a real {target['kind']}, {target['requests_by']}"
    return f"{target['name']}, {si(target['size_bytes'], 'B')}, {clock}"


def _cell(of: Figure, value: float | None, first: float | None) -> str:
    text = of.text(value)
    return f"{text} {change(first, value):>8}" if first is not None and value is not None else text


_LIKE = {
    "queue_depth": "queue depth",
    "span_bytes": "spans of the target in bytes",
    "align_bytes": "alignment of random offsets",
    "prepare_bytes": "preparing writes",
}


def warnings(results: Mapping[str, Json]) -> Iterator[str]:
    """Say which settings differ, and which results are not whole; then what the results warn of."""
    for key, name in _LIKE.items():
        values = {label: content["plan"][key] for label, content in results.items()}
        if len(set(values.values())) > 1:
            yield f"different {name}: {', '.join(f'{value} ({label})' for label, value in values.items())}"
    for label, content in results.items():
        if content["status"] != "complete":
            yield f"{label} is {content['status']}"
        if not content["points"]:
            yield f"{label} has no points, and only points are compared; its probes are in dio.json"
        yield from (f"{label}: {warning}" for warning in content["warnings"])
