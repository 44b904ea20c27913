"""Parts of all pictures over time: the stack of the components, its axes, and the mark on the highest value."""

from __future__ import annotations

import json
from typing import Any

import altair as alt

from flashwatt.plot.style import INK, columns, short

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
HEADROOM = 1.12  # room for the label of the highest value


def time_unit(span_ns: float) -> tuple[float, str]:
    """Choose a unit for an axis of `span_ns` nanoseconds; return its length in nanoseconds and its name."""
    for scale, unit in ((3.6e12, "h"), (1e9, "s"), (1e6, "ms")):
        if span_ns >= 2 * scale:
            return scale, unit
    return 1e3, "µs"


def time_axis(title: str) -> alt.X:
    """Make the axis of time."""
    axis = alt.Axis(grid=False, tickCount=alt.ExprRef("width / 70"))
    return alt.X("time:Q", title=title, axis=axis, scale=alt.Scale(nice=False))


def value_axis(title: str, top: float) -> alt.Y:
    """Make the axis of the stacked values, from 0 to `top`."""
    return alt.Y("value:Q", title=title, axis=alt.Axis(tickCount=6), scale=alt.Scale(domain=[0, top], nice=False))


def areas(rows: list[dict[str, float]], x: alt.X, y: alt.Y, units: tuple[str, str]) -> alt.Chart:
    """Stack the components: a row has `time` and a value for each by its name, until the next row's time."""
    names: list[str | alt.FieldName] = [name for name, _ in COMPONENTS.values()]
    colours = [colour for _, colour in COMPONENTS.values()]
    legend = alt.Legend(orient="bottom", title=None, columns=columns(names, 4), symbolType="square", labelLimit=140)
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .transform_fold(names, as_=["component", "value"])
        .transform_calculate(order=f"indexof({json.dumps(names)}, datum.component)")
        .mark_area(interpolate="step-after")
        .encode(
            x=x,
            y=y.copy().stack("zero"),
            color=alt.Color("component:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("component:N"),
                alt.Tooltip("value:Q", title=units[1], format=".4~g"),
                alt.Tooltip("time:Q", title=units[0], format=".6~g"),
            ],
        )
    )
    return chart


def mark(time: float, value: float, said: str, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Mark the highest value, with a label on the side that has more room."""
    base = alt.Chart(alt.InlineData(values=[{"time": short(time), "value": short(value), "said": said}]))
    base = base.encode(x=x, y=y, tooltip=alt.Tooltip("said:N", title="highest"))
    point = base.mark_point(shape="triangle-down", filled=True, size=70, color=INK, yOffset=-6)
    late = "scale('x', datum.time) > width / 2"
    text: dict[str, Any] = {
        "align": alt.ExprRef(f"{late} ? 'right' : 'left'"),
        "dx": alt.ExprRef(f"{late} ? -10 : 10"),
        "dy": -7,
        "fontSize": 12,
    }
    room = "width < 500 ? '' : datum.said"  # none on a phone, where the title says it
    label = base.transform_calculate(label=room).encode(text="label:N")
    return [point, label.mark_text(**text, stroke="white", strokeWidth=4), label.mark_text(**text, color=INK)]
