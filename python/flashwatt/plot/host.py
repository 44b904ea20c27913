"""The host's block layer: requests in the queue over time, and where the time of requests goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt import _core
from flashwatt.base.scripts import blaming
from flashwatt.base.units import duration
from flashwatt.plot.chart import Chart
from flashwatt.plot.choice import labelled
from flashwatt.plot.stack import ZOOM, lines, time_unit
from flashwatt.plot.style import short
from flashwatt.report.axes import figure

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from flashwatt.base.files import Json
    from flashwatt.plot.choice import Reports
    from flashwatt.plot.style import Canvas, Look

_PICTURE_BINS, _PAGE_BINS = 430, 3000
_PARTS = {"slat": "wait for a place", "queue": "in the queue", "device": "in the drive"}
_PART_COLOURS = [5, 1, 0]
"""Of the parts, in the palette."""


@blaming
def queue(reports: Reports, **look: Unpack[Look]) -> Chart:
    """Draw the mean number of queued requests over time, one line for each report.

    Options are those of `Chart.restyle`. Raises `FlashwattError` for a report without a block layer, and for one
    without a series (`run(..., series=True)` records one).
    """
    contents = labelled(reports)
    for label, content in contents.items():
        if not _host(label, content).get("series"):
            raise _core.FlashwattError(f"{label}: no requests over time; ask for them: run(..., series=True)")
    depths = [one["host"]["depth"] for one in contents.values()]
    queued, inside = (_range([one[key] for one in depths]) for key in ("queued_mean", "in_device_mean"))
    intervals = dict.fromkeys(duration(one["host"]["series"]["interval_ns"], exact=True) for one in contents.values())
    subtitle = f"Means over a run: {queued} queued, {inside} in the drive. Bins of {', '.join(intervals)}."
    return Chart("Queued requests over time", (subtitle,), lambda on: _lines(contents, on), ZOOM, look)


def _range(values: list[float]) -> str:
    """One number, or the lowest and the highest of several runs."""
    ends = list(dict.fromkeys(f"{one:.3g}" for one in (min(values), max(values))))
    return " to ".join(ends)


@blaming
def waits(reports: Reports, **look: Unpack[Look]) -> Chart:
    """Draw where the mean latency of reads and of writes goes, a bar for each report.

    The parts are the wait for a place in the queue, the queue, and the drive.

    Options are those of `Chart.restyle`. Raises `FlashwattError` for a report without a block layer.
    """
    contents = labelled(reports)
    rows = [
        {"kind": kind, "run": label, "part": said, "order": order, "ns": parts[part][kind]["mean"]}
        for label, content in contents.items()
        for parts in [_host(label, content)["latency_ns"]]
        for kind in ("read", "write")
        for order, (part, said) in enumerate(_PARTS.items())
        if parts[part][kind]["count"]
    ]
    schedulers = ", ".join(dict.fromkeys(content["host"]["scheduler"] for content in contents.values()))
    return Chart("Parts of the mean latency", (f"Scheduler: {schedulers}.",), lambda on: _bars(rows, on), look=look)


def _host(label: str, content: Json) -> Json:
    host: Json | None = content.get("host")
    if not host:
        raise _core.FlashwattError(f"{label}: the run had no block layer; expected `[host]` in its configuration")
    return host


def _lines(contents: dict[str, Json], on: Canvas) -> alt.LayerChart:
    series = {label: content["host"]["series"] for label, content in contents.items()}
    longest = max(len(one["queued"]) * one["interval_ns"] for one in series.values())
    scale, unit = time_unit(longest)
    bins, names = _PAGE_BINS if on.page else _PICTURE_BINS, list(contents)
    rows: list[dict[str, Any]] = [
        {"time": short(time / scale), "run": label, "value": short(value)}
        for label, one in series.items()
        for time, value in _joined(one, bins)
    ]
    return lines(rows, ("run", names), (unit, "queued"), on, title="queued requests", key=True)


def _joined(series: Json, bins: int) -> list[tuple[float, float]]:
    """Beginnings of bins in ns and means, with neighbouring bins joined to at most `bins`."""
    values, interval = series["queued"], series["interval_ns"]
    group = max(1, -(-len(values) // bins))
    return [
        (series["start_ns"] + first * interval, sum(some) / len(some))
        for first in range(0, len(values), group)
        for some in [values[first : first + group]]
    ]


def _bars(found: list[dict[str, Any]], on: Canvas) -> Any:
    axis = figure("latency_ns", [row["ns"] for row in found])
    rows = [{**row, "value": short(row["ns"] / axis.size)} for row in found]
    runs, kinds = (list(dict.fromkeys(row[key] for row in rows)) for key in ("run", "kind"))
    groups = [f"{run}, {kind}s" for kind in kinds for run in runs]
    rows = [{**row, "group": f"{row['run']}, {row['kind']}s"} for row in rows]
    names = list(_PARTS.values())
    colours = alt.Scale(domain=names, range=[on.colours[at] for at in _PART_COLOURS])
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("group:N", sort=groups, title=None, axis=on.named(groups)),
            y=alt.Y("value:Q", stack="zero", title=axis.title, axis=alt.Axis(tickCount=on.rows())),
            color=alt.Color("part:N", scale=colours, legend=on.legend(names)),
            order=alt.Order("order:Q", sort="descending"),
            tooltip=[
                alt.Tooltip("run:N"),
                alt.Tooltip("kind:N"),
                alt.Tooltip("part:N"),
                alt.Tooltip("value:Q", title=axis.title, format=".4~g"),
            ],
        )
    )
    return on.sized(alt.layer(bars))
