"""Throughput over power over time, with the knee marked: where an SLC cache is full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt import _core
from flashwatt.base.scripts import blaming
from flashwatt.base.units import number, percent, si
from flashwatt.plot.activity import points
from flashwatt.plot.chart import Chart, write_page
from flashwatt.plot.power import power_layers
from flashwatt.plot.stack import HEADROOM, ZOOM, columns, time_axis, time_unit, value_axis, zoomed
from flashwatt.plot.style import INK, PAPER, short
from flashwatt.report.knee import check_recorded, knee_of, place_of
from flashwatt.report.report import content_of
from flashwatt.report.table import describe_device, describe_workload

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Unpack

    from flashwatt.base.files import Json
    from flashwatt.plot.style import Canvas, Look
    from flashwatt.report.report import Report

_PICTURE_BINS, _PAGE_BINS = 430, 3000
_HEIGHT, _GAP = 190, 14
_AXIS_LETTERS = 7  # room beside a panel, in sizes of its labels
_AXIS_PX = 3.2  # of the labels of both axes of values, in sizes of them: so that the panels stand in line


@blaming
def knee(report: Report, **look: Unpack[Look]) -> Chart:
    """Throughput over time, and power below it, with the knee in both: where the rate of writes falls.

    `Report.knee` says how the knee is found; without one, none is drawn. Further options are those of `Chart.restyle`,
    but for `height`. Raises `FlashwattError` for a report without a recording of an SSD's activity, and for a height.
    """
    if look.get("height") is not None:
        raise _core.FlashwattError("height: the picture has two panels, each with its own; expected no height")
    content = _checked(report)
    title, subtitle = _words(content)

    def draw(on: Canvas) -> Any:
        width: Any = "container" if on.width is None else on.width - 2 * on.padding - _AXIS_LETTERS * on.font
        panels = [
            alt.layer(*layers(content, on)).properties(width=width, height=_HEIGHT) for layers in _PANELS.values()
        ]
        both = alt.vconcat(*panels, spacing=_GAP).resolve_scale(color="independent", x="independent")
        return both.configure_axisLeft(minExtent=_AXIS_PX * on.font)

    return Chart(title, subtitle, draw, look=look)


def write_knee(report: Report, path: Path, *, force: bool = False) -> Path:
    """Draw both panels into a page. Raises `FlashwattError` as `knee` and `write_page` do."""
    content = _checked(report)
    title, subtitle = _words(content)
    charts = [_panel(content, name, subtitle if at == 0 else ()) for at, name in enumerate(_PANELS)]
    return write_page(path, title, charts, force=force)


def _panel(content: Json, name: str, subtitle: tuple[str, ...]) -> Chart:
    """One panel by itself."""
    return Chart(name, subtitle, lambda on: on.sized(alt.layer(*_PANELS[name](content, on))), ZOOM)


def _checked(report: Report) -> Json:
    content = content_of(report)
    check_recorded(content)
    if not content["series"]["activity"]["iops"]:
        raise _core.FlashwattError("the series is empty, since the run took no time")
    return content


def _words(content: Json) -> tuple[str, tuple[str, ...]]:
    """Title and subtitle."""
    found = knee_of(content)
    described = f"{describe_device(content)}. {describe_workload(content)}."
    if found is None:
        return "Throughput and power over time", (described, "The rate of writes does not fall: no knee.")
    levels = (found.before, *found.levels)
    title = f"Writes fall from {' to '.join(f'{one.write_mb_s:,.0f}' for one in levels)} MB/s"
    costs = (f"{si(one.power_w, 'W')} and {number(one.j_per_gb, 2)} J/GB" for one in levels)
    return title, (described, f"Knee {place_of(found)}. {', then '.join(costs)}.")


def _throughput(content: Json, on: Canvas) -> list[Any]:
    """Lines of what the host writes and reads, if it does, and the knee."""
    scale, unit = _time(content)
    bins = _PAGE_BINS if on.page else _PICTURE_BINS
    lines = points(content, "throughput", bins)
    names = [name for name, line in lines.items() if any(value for _, value in line)] or ["writes"]
    rows: list[dict[str, Any]] = [
        {"time": short(ns / scale), "line": name, "value": short(value)} for name in names for ns, value in lines[name]
    ]
    top = max((row["value"] for row in rows), default=0) or 1
    x = time_axis(f"simulated time ({unit})" if on.page else "", on)
    y = value_axis("throughput (MB/s)", HEADROOM * top, on)
    legend = on.legend(names) if len(names) > 1 else None
    drawn = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=1.5 * on.font / 12, clip=True)
        .encode(
            x=x,
            y=y,
            color=alt.Color("line:N", scale=alt.Scale(domain=names, range=on.colours), legend=legend),
            tooltip=["line:N", alt.Tooltip("value:Q", title="MB/s", format=".4~g"), alt.Tooltip("time:Q", title=unit)],
        )
    )
    return [zoomed(drawn, on), *_levels(content, scale, x, y, on), *_rule(content, scale, x, on, labelled=True)]


def _power(content: Json, on: Canvas) -> list[Any]:
    """The stack of the components, and the knee."""
    scale, unit = _time(content)
    layers = power_layers(content, on, _PAGE_BINS if on.page else _PICTURE_BINS)
    return [*layers, *_rule(content, scale, time_axis(f"simulated time ({unit})", on), on, labelled=False)]


_PANELS = {"Throughput over time": _throughput, "Power over time": _power}
"""The panels from top to bottom: what makes the layers of each."""


def _time(content: Json) -> tuple[float, str]:
    series = content["series"]
    whole = len(series["activity"]["iops"]) * series["interval_ns"]
    return time_unit(min(whole, content["throughput"]["simulated_s"] * 1e9))


def _levels(content: Json, scale: float, x: alt.X, y: alt.Y, on: Canvas) -> list[alt.Chart]:
    """A dashed line at the mean rate of each level."""
    found = knee_of(content)
    if found is None:
        return []
    rows: list[dict[str, Any]] = []
    left = found.at_ns - found.before.seconds * 1e9
    for level in (found.before, *found.levels):
        right = left + level.seconds * 1e9
        rows.append({"time": short(left / scale), "until": short(right / scale), "value": short(level.write_mb_s)})
        left = right
    base = alt.Chart(columns(rows)).mark_rule(color=INK, strokeDash=[5, 4], strokeWidth=on.font / 12, clip=True)
    drawn: alt.Chart = base.encode(
        x=x, x2="until:Q", y=y, tooltip=alt.Tooltip("value:Q", title="mean, MB/s", format=",.0f")
    )
    return [drawn]


def _rule(content: Json, scale: float, x: alt.X, on: Canvas, *, labelled: bool) -> list[alt.Chart]:
    """A line at the knee, with what it is beside its top."""
    found = knee_of(content)
    if found is None:
        return []
    label = f"knee: {si(found.written_bytes, 'B')}, {percent(found.share)} of the drive"
    base = alt.Chart(alt.InlineData(values=[{"time": short(found.at_ns / scale), "said": label}])).encode(
        x=x, tooltip=alt.Tooltip("said:N", title=" ")
    )
    rule = base.mark_rule(color=INK, strokeWidth=1.5 * on.font / 12, clip=True)
    if not labelled:
        return [rule]
    late = "scale('x', datum.time) > width / 2"
    text: dict[str, Any] = {
        "align": alt.ExprRef(f"{late} ? 'right' : 'left'"),
        "dx": alt.ExprRef(f"{late} ? -6 : 6"),
        "fontSize": on.font,
        "fontWeight": "bold",
        "clip": on.page,
    }
    over = base.encode(text="said:N", y=alt.value(0.8 * on.font))
    return [rule, over.mark_text(**text, stroke=PAPER, strokeWidth=4), over.mark_text(**text, color=INK)]
