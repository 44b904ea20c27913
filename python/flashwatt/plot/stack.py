"""Parts of all pictures over time: the stack of the components, its axes, and the mark on the highest value."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt.plot.style import DASHES, FAINT, INK, PAPER, short
from flashwatt.report.components import spoken

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashwatt.base.files import Json
    from flashwatt.plot.style import Canvas

# From the bottom of the stack: parts that always draw current first, parts that depend on the workload on top.
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
_SHADES = {
    "colorblind": ["#e3e3e3", "#c4c4c4", "#9e9e9e", "#757575", "#56b4e9", "#0072b2", "#e69f00", "#d55e00"],
    "grey": ["#ededed", "#d4d4d4", "#b8b8b8", "#9a9a9a", "#7d7d7d", "#5c5c5c", "#363636", "#000000"],
}
"""The components' colours in other palettes, in the order of `COMPONENTS`."""
_OTHERS = {
    "": ["#a9b3c1", "#3b7dbd", "#f0932b", "#76b7b2", "#d1495b", "#7f8b9d", "#e3c567", "#59657a"],
    "colorblind": ["#9e9e9e", "#0072b2", "#e69f00", "#56b4e9", "#d55e00", "#009e73", "#f0e442", "#757575"],
    "grey": ["#ededed", "#b8b8b8", "#7d7d7d", "#363636", "#d4d4d4", "#9a9a9a", "#5c5c5c", "#000000"],
}
"""Colours of the components of other drives than SSDs, in turn, by palette."""
_BESIDE_SSDS = {
    "": ["#8e6bb0", "#e3c567", "#6a8f3c", "#8c5a3c", "#e58fb8", "#1f3a5f", "#b7cf7a", "#c9b1e0"],
    "colorblind": ["#009e73", "#f0e442", "#cc79a7", "#000000", "#8fd6c2", "#8a8000", "#7a3f60", "#f3d3e4"],
    "grey": ["#a9a9a9", "#e1e1e1", "#494949", "#c6c6c6", "#6d6d6d", "#1b1b1b", "#8c8c8c", "#f6f6f6"],
}
"""The same in a picture that has components of SSDs, too: none is a colour of those."""


def names_of(keys: Iterable[str]) -> dict[str, str]:
    """Give the names of a drive's components by their keys, in the order of the stack."""
    keys = list(keys)
    known = [key for key in COMPONENTS if key in keys]
    return {key: COMPONENTS[key][0] if key in COMPONENTS else spoken(key) for key in dict.fromkeys([*known, *keys])}


_NEAR = 0.09
"""A line that is nearer above a value than this share of it runs through the value's label."""
HEADROOM = 1.12  # room for the label of the highest value


def time_unit(span_ns: float) -> tuple[float, str]:
    """Choose a unit for an axis of `span_ns` nanoseconds; return its length in nanoseconds and its name."""
    for scale, unit in ((3.6e12, "h"), (1e9, "s"), (1e6, "ms")):
        if span_ns >= 2 * scale:
            return scale, unit
    return 1e3, "µs"


def component_colours(on: Canvas, names: Sequence[str], *, beside: float | None = None) -> alt.Color:
    """The colours of these components, with their legend; `beside` as for `Canvas.legend`."""
    shades = _SHADES.get(on.palette) or [colour for _, colour in COMPONENTS.values()]
    by_name = dict(zip((name for name, _ in COMPONENTS.values()), shades, strict=True))
    unknown = [name for name in names if name not in by_name]
    table = _OTHERS if len(unknown) == len(names) else _BESIDE_SSDS
    others = table.get(on.palette) or table[""]
    by_name |= {name: others[place % len(others)] for place, name in enumerate(unknown)}
    scale = alt.Scale(domain=list(names), range=[by_name[name] for name in names])
    return alt.Color("component:N", scale=scale, legend=on.legend(names, beside=beside, symbolType="square"))


def time_axis(title: str, on: Canvas) -> alt.X:
    """Make the axis of time."""
    axis = alt.Axis(grid=False, tickCount=on.ticks(), labelBound=on.padding)
    return alt.X("time:Q", title=title, axis=axis, scale=alt.Scale(nice=False))


def value_axis(title: str, top: float, on: Canvas) -> alt.Y:
    """Make the axis of the stacked values, from 0 to `top`."""
    axis = alt.Axis(tickCount=on.rows())
    return alt.Y("value:Q", title=title, axis=axis, scale=alt.Scale(domain=[0, top], nice=False))


def zoomed(chart: alt.Chart, on: Canvas) -> alt.Chart:
    """Let the reader of a page drag and zoom the axis of time; a wheel without Shift scrolls the page."""
    if not on.page:
        return chart
    drag = "[pointerdown[event.pointerType === 'mouse'], window:pointerup] > window:pointermove!"
    window = alt.selection_interval(
        bind="scales", encodings=["x"], zoom="wheel![event.shiftKey]", translate=drag, clear="dblclick"
    )
    zoomable: alt.Chart = chart.add_params(window)
    return zoomable


ZOOM = "Drag to move along the time axis, Shift and the mouse wheel to zoom; a double click shows all of it."


def columns(rows: list[dict[str, float]]) -> alt.InlineData:
    """Make data of numbers, as CSV: Altair copies and checks lists row by row, for each layer and each change again."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(rows[0])
    table.writerows(row.values() for row in rows)
    return alt.InlineData(
        values=text.getvalue(), format=alt.CsvDataFormat(type="csv", parse=dict.fromkeys(rows[0], "number"))
    )


def areas(rows: list[dict[str, float]], x: alt.X, y: alt.Y, units: tuple[str, str], on: Canvas) -> alt.Chart:
    """Stack the components: a row has `time` and a value for each by its name, until the next row's time."""
    names: list[str] = [name for name in rows[0] if name != "time"]
    chart: alt.Chart = (
        alt.Chart(columns(rows))
        .transform_fold(list(names), as_=["component", "value"])
        .transform_calculate(order=f"indexof({json.dumps(names)}, datum.component)")
        .mark_area(interpolate="step-after", clip=True)
        .encode(
            x=x,
            y=y.copy().stack("zero"),
            color=component_colours(on, names),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("component:N"),
                alt.Tooltip("value:Q", title=units[1], format=".4~g"),
                alt.Tooltip("time:Q", title=units[0], format=".6~g"),
            ],
        )
    )
    return zoomed(chart, on)


def lines(
    rows: list[dict[str, Any]], by: tuple[str, list[str]], units: tuple[str, str], on: Canvas, *, title: str, key: bool
) -> alt.LayerChart:
    """Draw a line for each value of a column: a row has it, `time` and `value`, which holds until the line's next row.

    `by` is the column and its values, in their order in the legend, which `key` asks for. `units` are those of the time
    and of the value, `title` that of the axis of values.
    """
    (column, names), (unit, said) = by, units
    top = max((row["value"] for row in rows), default=0) or 1
    legend = on.legend(names, strokes=on.dashed) if key else None
    encodings: dict[str, Any] = {
        "color": alt.Color(f"{column}:N", scale=alt.Scale(domain=names, range=on.colours), legend=legend)
    }
    if on.dashed:
        encodings["strokeDash"] = alt.StrokeDash(
            f"{column}:N", scale=alt.Scale(domain=names, range=DASHES), legend=legend
        )
    drawn = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=1.5 * on.font / 12, clip=True)
        .encode(
            x=time_axis(f"simulated time ({unit})", on),
            y=value_axis(title, HEADROOM * top, on),
            tooltip=[
                alt.Tooltip(f"{column}:N"),
                alt.Tooltip("value:Q", title=said, format=".4~g"),
                alt.Tooltip("time:Q", title=unit, format=".6~g"),
            ],
            **encodings,
        )
    )
    sized: alt.LayerChart = on.sized(alt.layer(zoomed(drawn, on)))
    return sized


def mark(
    time: float,
    value: float,
    said: str,
    axes: tuple[alt.X, alt.Y],
    on: Canvas,
    *,
    beside: str = "",
    above: float | None = None,
) -> list[Any]:
    """Mark the highest value, with a label on the side that has more room, if `beside` and it fit side by side.

    `above` is the value of a line across the chart: a label that it would run through stands above it.
    """
    x, y = axes
    base = alt.Chart(alt.InlineData(values=[{"time": short(time), "value": short(value), "said": said}]))
    lifted = above if above is not None and 0 <= above - value <= _NEAR * above else value
    over = base.transform_calculate(value=f"{short(lifted)}")
    base, over = (one.encode(x=x, y=y, tooltip=alt.Tooltip("said:N", title="highest")) for one in (base, over))
    part = on.font / 12
    point = base.mark_point(
        shape="triangle-down", filled=True, size=70 * part * part, color=INK, yOffset=-6 * part, clip=on.page
    )
    late = "scale('x', datum.time) > width / 2"
    text: dict[str, Any] = {
        "align": alt.ExprRef(f"{late} ? 'right' : 'left'"),
        "dx": alt.ExprRef(f"{late} ? {-10 * part:g} : {10 * part:g}"),
        "dy": -7 * part,
        "fontSize": on.font,
        "clip": on.page,
    }
    needed = on.text_px(said) + on.text_px(beside) + 24 * part
    # None on a phone, where the title says it.
    room = f"width {'' if beside else '/ 2 '}< {needed:.0f} ? '' : datum.said"
    label = over.transform_calculate(label=room).encode(text="label:N")
    return [point, label.mark_text(**text, stroke=PAPER, strokeWidth=4), label.mark_text(**text, color=INK)]


_JOBS_SHOWN = 12
_APART = 0.02  # of the axis: jobs that start closer together share a line
_ROW_PX, _LETTER = 14, 7 / 780  # of 11 px letters, in pixels and as a share of the axis of a static picture


def job_starts(report: Json, span_ns: tuple[float, float], scale: float, x: alt.X, on: Canvas) -> list[alt.Chart]:
    """Mark the first request of each fio job: a line, and at its top the job's name; of many jobs, the first."""
    rows = _job_rows(report, *span_ns, scale)
    if not rows:
        return []
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, tooltip=alt.Tooltip("job:N", title="job starts"))
    line = base.mark_rule(color=FAINT, strokeDash=[2, 3], strokeWidth=1, clip=on.page)
    room = "width < 500 ? '' : datum.job"  # none on a phone, where they would overlap
    # A page has no room above the plot, and its axis can be moved: there the labels stand inside and are clipped.
    first_px = 16 if on.page else -8
    step_px = _ROW_PX if on.page else -_ROW_PX
    labels = [
        base.transform_filter(f"datum.row == {row} && datum.late == {str(late).lower()}")
        .transform_calculate(label=room)
        .mark_text(align="right" if late else "left", fontSize=11 / 12 * on.font, color=INK, clip=on.page)
        .encode(text="label:N", y=alt.value((first_px + step_px * row) * on.font / 12))
        for row, late in sorted({(one["row"], one["late"]) for one in rows})
    ]
    return [line, *labels]


def _job_rows(report: Json, begin_ns: float, end_ns: float, scale: float) -> list[dict[str, Any]]:
    """One row per line, with the row of its label: labels that would overlap stand above one another."""
    jobs = [one for one in report.get("origins") or [] if one["kind"] == "job" and one.get("start_ns") is not None]
    inside = sorted((one["start_ns"], one["name"]) for one in jobs if begin_ns <= one["start_ns"] < end_ns)
    rows: list[dict[str, Any]] = []
    for start, name in inside[:_JOBS_SHOWN]:
        at = (start - begin_ns) / (end_ns - begin_ns)
        if rows and at - rows[-1]["at"] < _APART:
            rows[-1]["job"] += f", {name}"
        else:
            rows.append({"time": short(start / scale), "job": name, "at": short(at), "late": at > 0.5})  # noqa: PLR2004
    ends: list[float] = []  # of the last label in each row
    for one in rows:
        length = _LETTER * (len(one["job"]) + 2)
        left = one["at"] - length if one["late"] else one["at"]
        one["row"] = next((row for row, end in enumerate(ends) if end <= left), len(ends))
        ends[one["row"] : one["row"] + 1] = [left + length]
    return rows
