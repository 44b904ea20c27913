"""Power over time, component by component."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt import _core
from flashwatt.plot.chart import Chart
from flashwatt.plot.style import HEIGHT, INK, short
from flashwatt.table import describe_device, describe_workload
from flashwatt.units import duration, si

if TYPE_CHECKING:
    from flashwatt.report import Report
    from flashwatt.sections import Json

# From the bottom of the stack: what is always there first, what the workload adds on top.
COMPONENTS = {
    "nand_idle": ("NAND idle", "#d5dae1"),
    "controller": ("controller", "#a9b3c1"),
    "dram": ("DRAM", "#7f8b9d"),
    "host_interface": ("host interface", "#59657a"),
    "nand_transfer": ("NAND transfer", "#76b7b2"),
    "nand_read": ("NAND read", "#3b7dbd"),
    "nand_program": ("NAND program", "#f0932b"),
    "nand_erase": ("NAND erase", "#d1495b"),
}
_PICTURE_BINS, _PAGE_BINS = 430, 1200  # two pixels each: more would only make the files large
_HEADROOM = 1.12  # room for the peak's label


def power(report: Report) -> Chart:
    """Mean power of each component over time, stacked, with the highest bin and the instantaneous peak marked.

    Raises `FlashwattError` for a report without a series: `run(..., series=True)` records one.
    """
    content = report.to_dict()
    if not content.get("series"):
        raise _core.FlashwattError("the report holds no power over time; ask for it: run(..., series=True)")
    title, subtitle = _words(content)

    def draw(width: Any) -> alt.LayerChart:
        return power_chart(content, width, _PAGE_BINS if width == "container" else _PICTURE_BINS)

    return Chart(title, subtitle, draw)


def power_chart(report: Json, width: Any, bins: int) -> alt.LayerChart:
    """Draw a report's series in at most so many bins."""
    scale, unit = _time_unit(report)
    peak = report["power_w"].get("peak")
    start_ns, highest = _highest(report)
    top = _HEADROOM * max(highest, peak or 0)
    x = alt.X(
        "time:Q",
        title=f"simulated time ({unit})",
        axis=alt.Axis(grid=False, tickCount=alt.ExprRef("width / 70")),
        scale=alt.Scale(nice=False),
    )
    y = alt.Y("power:Q", title="power (W)", axis=alt.Axis(tickCount=6), scale=alt.Scale(domain=[0, top], nice=False))
    layers = [_areas(_rows(report, scale, bins), x, y, unit), _highest_mark(start_ns / scale, highest, x, y, unit)]
    if peak is not None:
        layers += _peak_line(peak)
    chart: Any = alt.layer(*layers).properties(width=width, height=HEIGHT, autosize=alt.AutoSizeParams(type="fit-x"))
    drawn: alt.LayerChart = chart
    return drawn


def _areas(rows: list[dict[str, float]], x: alt.X, y: alt.Y, unit: str) -> alt.Chart:
    names: list[str | alt.FieldName] = [name for name, _ in COMPONENTS.values()]
    colours = [colour for _, colour in COMPONENTS.values()]
    columns = alt.ExprRef("width < 500 ? 2 : 4")
    legend = alt.Legend(orient="bottom", title=None, columns=columns, symbolType="square", labelLimit=140)
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .transform_fold(names, as_=["component", "power"])
        .transform_calculate(order=f"indexof({json.dumps(names)}, datum.component)")
        .mark_area(interpolate="step-after")
        .encode(
            x=x,
            y=y.copy().stack("zero"),
            color=alt.Color("component:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("component:N"),
                alt.Tooltip("power:Q", title="W", format=".4~g"),
                alt.Tooltip("time:Q", title=unit, format=".6~g"),
            ],
        )
    )
    return chart


def _highest_mark(time: float, power: float, x: alt.X, y: alt.Y, unit: str) -> alt.Chart:
    data = alt.InlineData(values=[{"time": short(time), "power": short(power)}])
    tooltip = [alt.Tooltip("power:Q", title="highest mean, W"), alt.Tooltip("time:Q", title=unit)]
    point = alt.Chart(data).mark_point(shape="triangle-down", filled=True, size=70, color=INK, yOffset=-6)
    chart: alt.Chart = point.encode(x=x, y=y, tooltip=tooltip)
    return chart


def _peak_line(peak: float) -> list[alt.Chart]:
    base = alt.Chart(alt.InlineData(values=[{"peak": peak}])).encode(y=alt.Y("peak:Q"))
    line = base.mark_rule(color=INK, strokeDash=[5, 4], strokeWidth=1)
    text: dict[str, Any] = {
        "text": f"peak {si(peak, 'W')}",
        "x": alt.ExprRef("width - 2"),
        "align": "right",
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
    """Where the bin with the highest mean power starts, in nanoseconds, and its watts."""
    series = report["series"]
    watts = [sum(values) for values in zip(*series["power_w"].values(), strict=True)]
    index = max(range(len(watts)), key=watts.__getitem__, default=None)
    if index is None:
        return series["start_ns"], 0.0
    return series["start_ns"] + index * series["interval_ns"], watts[index]


def _end_ns(report: Json) -> float:
    """Where the last bin ends, which the end of the run may have cut short."""
    series = report["series"]
    whole = len(series["power_w"]["controller"]) * series["interval_ns"]
    return float(series["start_ns"] + min(whole, report["throughput"]["simulated_s"] * 1e9))


def _time_unit(report: Json) -> tuple[float, str]:
    for scale, unit in ((3.6e12, "h"), (1e9, "s"), (1e6, "ms")):
        if _end_ns(report) >= 2 * scale:
            return scale, unit
    return 1e3, "µs"


def _words(report: Json) -> tuple[str, tuple[str, ...]]:
    """Title and subtitle."""
    power, (start_ns, watts) = report["power_w"], _highest(report)
    peak = f"peak {si(power['peak'], 'W')}, " if power.get("peak") is not None else ""
    interval = duration(report["series"]["interval_ns"], exact=True)
    highest = f"highest mean over {interval} {si(watts, 'W')} at {duration(start_ns)}"
    title = f"Power over time: mean {si(power['mean'], 'W')}, {peak}{highest}"
    return title, (f"{describe_device(report)}.", f"{describe_workload(report)}.")
