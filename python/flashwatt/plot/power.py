"""Power over time, component by component."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt import _core
from flashwatt.base.units import duration, si
from flashwatt.plot.chart import Chart
from flashwatt.plot.stack import COMPONENTS, HEADROOM, areas, job_starts, mark, time_axis, time_unit, value_axis
from flashwatt.plot.style import HEIGHT, INK, short
from flashwatt.report.report import content_of
from flashwatt.report.table import describe_device, describe_workload

if TYPE_CHECKING:
    from flashwatt.base.files import Json
    from flashwatt.report.report import Report

_PICTURE_BINS, _PAGE_BINS = 430, 1200  # two pixels each: more would only make the files large


def power(report: Report) -> Chart:
    """Mean power of each component over time, stacked, with the highest bin and the instantaneous peak marked.

    Raises `FlashwattError` for a report without a series: `run(..., series=True)` records one.
    """
    content = content_of(report)
    if not content.get("series"):
        raise _core.FlashwattError("the report holds no power over time; ask for it: run(..., series=True)")
    title, subtitle = _words(content)

    def draw(width: Any) -> alt.LayerChart:
        return power_chart(content, width, _PAGE_BINS if width == "container" else _PICTURE_BINS)

    return Chart(title, subtitle, draw)


def power_chart(report: Json, width: Any, bins: int) -> alt.LayerChart:
    """Draw a report's series, with neighbouring bins joined to at most a given number."""
    scale, unit = time_unit(_end_ns(report))
    peak = report["power_w"].get("peak")
    start_ns, highest = _highest(report)
    x = time_axis(f"simulated time ({unit})")
    y = value_axis("power (W)", HEADROOM * max(highest, peak or 0))
    interval = duration(report["series"]["interval_ns"], exact=True)
    said = f"highest mean over {interval}: {si(highest, 'W')}"
    layers = [areas(_rows(report, scale, bins), x, y, (unit, "W")), *mark(start_ns / scale, highest, said, x, y)]
    layers += job_starts(report, report["series"]["start_ns"], _end_ns(report), scale, x)
    if peak is not None:
        layers += _peak_line(peak, left=start_ns > _middle_ns(report))
    chart: Any = alt.layer(*layers).properties(width=width, height=HEIGHT, autosize=alt.AutoSizeParams(type="fit-x"))
    drawn: alt.LayerChart = chart
    return drawn


def _peak_line(peak: float, *, left: bool) -> list[alt.Chart]:
    """A line with a label at the side that the mark leaves free."""
    base = alt.Chart(alt.InlineData(values=[{"peak": peak}])).encode(y=alt.Y("peak:Q"))
    line = base.mark_rule(color=INK, strokeDash=[5, 4], strokeWidth=1)
    text: dict[str, Any] = {
        "text": f"instantaneous peak {si(peak, 'W')}",
        "x": 4 if left else alt.ExprRef("width - 2"),
        "align": "left" if left else "right",
        "dy": -8,
        "fontSize": 12,
    }
    halo = base.mark_text(**text, stroke="white", strokeWidth=4)  # or a grid line might run through it
    return [line, halo, base.mark_text(**text, color=INK)]


def _rows(report: Json, scale: float, bins: int) -> list[dict[str, float]]:
    """One row per bin, wide; bins of the series are joined where there are more than `bins`."""
    series = report["series"]
    columns = {name: series["power_w"][key] for key, (name, _) in COMPONENTS.items()}
    length = len(next(iter(columns.values())))
    group = max(1, -(-length // bins))
    rows = []
    for first in range(0, length, group):
        means = {name: short(_mean(values[first : first + group])) for name, values in columns.items()}
        rows.append({"time": short((series["start_ns"] + first * series["interval_ns"]) / scale), **means})
    if rows:  # closes the last step
        rows.append({**rows[-1], "time": short(_end_ns(report) / scale)})
    return rows


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _highest(report: Json) -> tuple[int, float]:
    """Give the start of the bin with the highest mean power, in nanoseconds, and that power in W."""
    series = report["series"]
    watts = [sum(values) for values in zip(*series["power_w"].values(), strict=True)]
    index = max(range(len(watts)), key=watts.__getitem__, default=None)
    if index is None:
        return series["start_ns"], 0.0
    return series["start_ns"] + index * series["interval_ns"], watts[index]


def _end_ns(report: Json) -> float:
    """Give the end of the last bin, which the end of the run may have cut short."""
    series = report["series"]
    whole = len(series["power_w"]["controller"]) * series["interval_ns"]
    return float(series["start_ns"] + min(whole, report["throughput"]["simulated_s"] * 1e9))


def _middle_ns(report: Json) -> float:
    return float(report["series"]["start_ns"] + _end_ns(report)) / 2


def _words(report: Json) -> tuple[str, tuple[str, ...]]:
    """Title and subtitle."""
    power, (start_ns, watts) = report["power_w"], _highest(report)
    peak = f"peak {si(power['peak'], 'W')}, " if power.get("peak") is not None else ""
    interval = duration(report["series"]["interval_ns"], exact=True)
    highest = f"highest mean over {interval} {si(watts, 'W')} at {duration(start_ns)}"
    title = f"Power over time: mean {si(power['mean'], 'W')}, {peak}{highest}"
    return title, (f"{describe_device(report)}.", f"{describe_workload(report)}.")
