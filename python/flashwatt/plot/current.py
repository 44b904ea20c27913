"""The drive's current in a window of time, change by change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from flashwatt import _core
from flashwatt.base.scripts import blaming
from flashwatt.base.units import duration, si
from flashwatt.plot.chart import Chart
from flashwatt.plot.stack import HEADROOM, ZOOM, areas, mark, names_of, time_axis, time_unit, value_axis
from flashwatt.plot.style import short
from flashwatt.report.report import content_of
from flashwatt.report.table import describe_device, describe_workload

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from flashwatt.base.files import Json
    from flashwatt.plot.style import Canvas, Look
    from flashwatt.report.report import Report

EDGES_MAX = 5_000
"""More edges would be thinner than a pixel, and make the files large."""


@blaming
def current(report: Report, **look: Unpack[Look]) -> Chart:
    """Current of each component in the window of `run(..., edges=…)`, stacked, with the highest marked: a staircase.

    Further options are those of `Chart.restyle`. Raises `FlashwattError` for a report without edges, or with more than
    `EDGES_MAX`.
    """
    content = content_of(report)
    edges = content.get("edges")
    if not edges or not edges["time_ns"]:
        asked = (
            "a window in the measured part of the run: --edges-ms FROM UNTIL, or run(..., edges=(from_ns, until_ns))"
        )
        raise _core.FlashwattError(f"the report holds no edges of the current; expected {asked}")
    if len(edges["time_ns"]) > EDGES_MAX:
        found = f"found {len(edges['time_ns']):,} edges; expected at most {EDGES_MAX:,}"
        raise _core.FlashwattError(f"too many edges to draw; {found}; record a shorter window, or a series")
    volts = content["current_ma"]["supply_v"]
    subtitle = (f"{describe_device(content)}.", f"{describe_workload(content)}. Currents at {volts:g} V.")
    return Chart(_title(edges), subtitle, lambda on: current_chart(edges, on), ZOOM, look)


def current_chart(edges: Json, on: Canvas) -> alt.LayerChart:
    """Draw the edges of a report."""
    begin, end = edges["from_ns"], edges["until_ns"]
    scale, unit = time_unit(end - begin)
    at_ns, _, highest = _highest(edges)
    since = f" since {begin:,} ns" if begin else ""  # exact: a window may begin late, and be short
    x = time_axis(f"simulated time{since} ({unit})", on)
    y = value_axis("current (mA)", HEADROOM * highest, on)
    said = f"highest: {si(highest / 1e3, 'A')}"
    top = mark((at_ns - begin) / scale, highest, said, (x, y), on)
    layers = [areas(_rows(edges, scale), x, y, (unit, "mA"), on), *top]
    drawn: alt.LayerChart = on.sized(alt.layer(*layers))
    return drawn


def _rows(edges: Json, scale: float) -> list[dict[str, float]]:
    """One row per edge, wide, and one that closes the last step."""
    keys = names_of(edges["current_ma"])
    columns = [[short(value) for value in edges["current_ma"][key]] for key in keys]
    names = list(keys.values())
    times = [short((ns - edges["from_ns"]) / scale) for ns in (*edges["time_ns"], edges["until_ns"])]
    rows = [{"time": time, **dict(zip(names, values, strict=True))} for time, *values in zip(times, *columns)]  # noqa: B905
    return [*rows, {**rows[-1], "time": times[-1]}]


def _highest(edges: Json) -> tuple[int, int, float]:
    """When the current is highest for the first time, for how many nanoseconds in all, and its mA."""
    totals, times = edges["total_ma"], [*edges["time_ns"], edges["until_ns"]]
    highest = max(totals)
    lasts = sum(end - begin for begin, end, total in zip(times, times[1:], totals, strict=False) if total == highest)
    return times[totals.index(highest)], lasts, highest


def _title(edges: Json) -> str:
    at_ns, lasts_ns, highest = _highest(edges)
    when = f"for {duration(lasts_ns)} in all, first at {at_ns:,} ns"
    return f"Current: {len(edges['time_ns']):,} edges, highest {si(highest / 1e3, 'A')} {when}"
