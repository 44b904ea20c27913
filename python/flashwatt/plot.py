"""Power over time, component by component: one chart, drawn as SVG for documents and as HTML for looking closer."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any

import altair as alt
import vl_convert

from flashwatt.table import describe_device, describe_workload
from flashwatt.units import duration, si

if TYPE_CHECKING:
    from pathlib import Path

    from flashwatt.run import Report

# From the bottom of the stack: what is always there first, what the workload adds on top.
_COMPONENTS = {
    "nand_idle": ("NAND idle", "#d5dae1"),
    "controller": ("controller", "#a9b3c1"),
    "dram": ("DRAM", "#7f8b9d"),
    "host_interface": ("host interface", "#59657a"),
    "nand_transfer": ("NAND transfer", "#76b7b2"),
    "nand_read": ("NAND read", "#3b7dbd"),
    "nand_program": ("NAND program", "#f0932b"),
    "nand_erase": ("NAND erase", "#d1495b"),
}
_INK, _FAINT, _FONT = "#2b3340", "#69758a", "Helvetica, Arial, sans-serif"
_SVG_WIDTH, _HEIGHT = 860, 300
_SVG_BINS, _HTML_BINS = 430, 1200  # two pixels each: more would only make the files large
_HEADROOM = 1.12  # room for the peak's label
_VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])  # the one that Altair writes
_GLOBALS = "window.vegaEmbed = vegaEmbed;"


def write_power(report: Report, directory: Path) -> list[Path]:
    """Draw the power series of a report into power.svg and power.html; return their paths."""
    svg, page = directory / "power.svg", directory / "power.html"
    titled = power_chart(report, _SVG_WIDTH, _SVG_BINS).properties(title=_title(report))
    svg.write_text(_slim(vl_convert.vegalite_to_svg(titled.to_dict(), vl_version=_VEGA_LITE)), encoding="utf-8")
    page.write_text(_page(power_chart(report, "container", _HTML_BINS), *_words(report)), encoding="utf-8")
    return [svg, page]


def power_chart(report: Report, width: Any, bins: int) -> alt.LayerChart:
    """Make the chart: stacked areas of mean power, with the highest bin and the instantaneous peak marked."""
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
    chart: Any = alt.layer(*layers).properties(width=width, height=_HEIGHT, autosize=alt.AutoSizeParams(type="fit-x"))
    return _styled(chart)


def _areas(rows: list[dict[str, float]], x: alt.X, y: alt.Y, unit: str) -> alt.Chart:
    names: list[str | alt.FieldName] = [name for name, _ in _COMPONENTS.values()]
    colours = [colour for _, colour in _COMPONENTS.values()]
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
    data = alt.InlineData(values=[{"time": _short(time), "power": _short(power)}])
    tooltip = [alt.Tooltip("power:Q", title="highest mean, W"), alt.Tooltip("time:Q", title=unit)]
    point = alt.Chart(data).mark_point(shape="triangle-down", filled=True, size=70, color=_INK, yOffset=-6)
    chart: alt.Chart = point.encode(x=x, y=y, tooltip=tooltip)
    return chart


def _peak_line(peak: float) -> list[alt.Chart]:
    base = alt.Chart(alt.InlineData(values=[{"peak": peak}])).encode(y=alt.Y("peak:Q"))
    line = base.mark_rule(color=_INK, strokeDash=[5, 4], strokeWidth=1)
    text: dict[str, Any] = {
        "text": f"peak {si(peak, 'W')}",
        "x": alt.ExprRef("width - 2"),
        "align": "right",
        "dy": -8,
        "fontSize": 12,
    }
    halo = base.mark_text(**text, stroke="white", strokeWidth=4)  # or a grid line might run through it
    return [line, halo, base.mark_text(**text, color=_INK)]


def _styled(chart: alt.LayerChart) -> alt.LayerChart:
    styled: alt.LayerChart = (
        chart.configure(font=_FONT, background="white", padding=12)
        .configure_view(stroke=None)
        .configure_title(anchor="start", color=_INK, fontSize=17, subtitleColor=_FAINT, subtitleFontSize=13, offset=14)
        .configure_axis(
            labelColor=_FAINT,
            titleColor=_INK,
            titleFontWeight="normal",
            titleFontSize=13,
            labelFontSize=12,
            gridColor="#e8ebef",
            domainColor="#b8c0cc",
            tickColor="#b8c0cc",
            titlePadding=10,
        )
        .configure_legend(labelColor=_INK, labelFontSize=12, symbolSize=130, rowPadding=5, columnPadding=18)
    )
    return styled


def _rows(report: Report, scale: float, bins: int) -> list[dict[str, float]]:
    """One row per bin, wide; bins of the series are joined where there are more than `bins`."""
    series = report["series"]
    columns = {name: series["power_w"][key] for key, (name, _) in _COMPONENTS.items()}
    length = len(next(iter(columns.values())))
    group = max(1, -(-length // bins))
    rows = []
    for first in range(0, length, group):
        means = {name: _short(_mean(values[first : first + group])) for name, values in columns.items()}
        rows.append({"time": _short((series["start_ns"] + first * series["interval_ns"]) / scale), **means})
    if rows:  # closes the last step
        rows.append({**rows[-1], "time": _short(_end_ns(report) / scale)})
    return rows


def _slim(svg: str) -> str:
    """Round the coordinates of paths to a tenth of a pixel: smaller, and no eye can tell."""
    return re.sub(r' d="[^"]*"', lambda path: re.sub(r"\d+\.\d\d+", lambda x: f"{float(x[0]):.1f}", path[0]), svg)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _short(value: float) -> float:
    """Enough digits for a picture: files stay small."""
    return float(f"{value:.6g}")


def _highest(report: Report) -> tuple[int, float]:
    """Where the bin with the highest mean power starts, in nanoseconds, and its watts."""
    series = report["series"]
    watts = [sum(values) for values in zip(*series["power_w"].values(), strict=True)]
    index = max(range(len(watts)), key=watts.__getitem__, default=None)
    if index is None:
        return series["start_ns"], 0.0
    return series["start_ns"] + index * series["interval_ns"], watts[index]


def _end_ns(report: Report) -> float:
    """Where the last bin ends, which the end of the run may have cut short."""
    series = report["series"]
    whole = len(series["power_w"]["controller"]) * series["interval_ns"]
    return float(series["start_ns"] + min(whole, report["throughput"]["simulated_s"] * 1e9))


def _time_unit(report: Report) -> tuple[float, str]:
    for scale, unit in ((3.6e12, "h"), (1e9, "s"), (1e6, "ms")):
        if _end_ns(report) >= 2 * scale:
            return scale, unit
    return 1e3, "µs"


def _words(report: Report) -> tuple[str, str]:
    """Title and subtitle."""
    power, (start_ns, watts) = report["power_w"], _highest(report)
    peak = f"peak {si(power['peak'], 'W')}, " if power.get("peak") is not None else ""
    interval = duration(report["series"]["interval_ns"], exact=True)
    highest = f"highest mean over {interval} {si(watts, 'W')} at {duration(start_ns)}"
    title = f"Power over time: mean {si(power['mean'], 'W')}, {peak}{highest}"
    return title, f"{describe_device(report)}. {describe_workload(report)}."


def _title(report: Report) -> alt.TitleParams:
    title, subtitle = _words(report)
    return alt.TitleParams(title, subtitle=subtitle.split(". ", 1))


def _page(chart: alt.LayerChart, title: str, subtitle: str) -> str:
    # "</" would end the script element early if a name in the report held it.
    spec = json.dumps(chart.to_dict(), ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return _PAGE.format(
        title=html.escape(title),
        subtitle=html.escape(subtitle),
        library=vl_convert.javascript_bundle(_GLOBALS, vl_version=_VEGA_LITE),
        spec=spec,
        ink=_INK,
        faint=_FAINT,
        font=_FONT,
    )


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 0; padding: 16px; font-family: {font}; color: {ink}; background: white; }}
main {{ max-width: 1280px; margin: auto; }}
h1 {{ font-size: 1.15rem; margin: 0 0 .3rem; padding: 0 12px; }}
p {{ font-size: .9rem; margin: 0; padding: 0 12px; color: {faint}; }}
#chart {{ width: 100%; padding-right: 0 !important; }}
</style>
<script>{library}</script>
</head>
<body>
<main>
<h1>{title}</h1>
<p>{subtitle}</p>
<div id="chart"></div>
</main>
<script>
const actions = {{ export: true, source: false, editor: false, compiled: false }};
vegaEmbed("#chart", {spec}, {{ renderer: "svg", actions }});
</script>
</body>
</html>
"""
