"""Parts of all pictures over time: the stack of the components, its axes, and the mark on the highest value."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt.plot.style import FAINT, INK, columns, short

if TYPE_CHECKING:
    from flashwatt.base.files import Json

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


_JOBS_SHOWN = 12
_APART = 0.02  # of the axis: jobs that start closer together share a line
_ROW_PX, _LETTER = 14, 7 / 780  # of 11 px letters, in pixels and as a share of the axis of a static picture


def job_starts(report: Json, begin_ns: float, end_ns: float, scale: float, x: alt.X) -> list[alt.Chart]:
    """Mark the first request of each fio job: a line, and above the picture the job's name; of many jobs, the first."""
    rows = _job_rows(report, begin_ns, end_ns, scale)
    if not rows:
        return []
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, tooltip=alt.Tooltip("job:N", title="job starts"))
    line = base.mark_rule(color=FAINT, strokeDash=[2, 3], strokeWidth=1)
    room = "width < 500 ? '' : datum.job"  # none on a phone, where they would overlap
    labels = [
        base.transform_filter(f"datum.row == {row} && datum.late == {str(late).lower()}")
        .transform_calculate(label=room)
        .mark_text(align="right" if late else "left", fontSize=11, color=INK)
        .encode(text="label:N", y=alt.value(-8 - _ROW_PX * row))
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
