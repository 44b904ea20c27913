"""Distributions of latencies, up to the highest: tails, shares, boxes and bars, of one run or of several."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import altair as alt
import polars as pl

from flashwatt import _core
from flashwatt.base import frames
from flashwatt.base.misspelt import known
from flashwatt.base.scripts import blaming
from flashwatt.base.units import duration
from flashwatt.plot import hollow
from flashwatt.plot.chart import Chart
from flashwatt.plot.choice import labelled
from flashwatt.plot.latency_bars import bar_marks, bars, boxes
from flashwatt.plot.style import DASHES, short

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Unpack

    from flashwatt.base.files import Json
    from flashwatt.plot.choice import Reports
    from flashwatt.plot.style import Canvas, Look

    Form = Literal["tail", "cdf", "box", "bars"]

_KINDS = {
    "read": "reads",
    "write": "writes",
    "flush": "flushes",
    "map_read": "map reads",
    "map_write_first": "map writes (first copy)",
    "map_write_last": "map writes (last copy)",
}
"""As titles call them."""
_US = 1e3
_POINTS = 300  # of a share from 1 to 0: more would only make the files large
_POINTS_PER_DECADE = 60  # of a share: a corner that is left out is lower than its neighbour by less than 4 %
_TIME = (
    "datum.value >= 1e6 ? datum.value / 1e6 + ' s' : "
    "datum.value >= 1e3 ? datum.value / 1e3 + ' ms' : datum.value + ' µs'"
)
_LEAST_US = 0.5  # stands for 0 on a logarithmic axis


_FORMS = {
    "tail": "Share of the {} that took longer than a time. Left and below is better.",
    "cdf": "Share of the {} that took at most a time. Left and above is better.",
    "box": "Boxes: the middle half of the {}, with the median; lines: from p1 to p99; points: p99.9.",
    "bars": "Mean and quantiles of the {}.",
}


@blaming
def latency(
    reports: Reports, kinds: Sequence[str] = ("read", "write"), *, form: Form = "tail", **look: Unpack[Look]
) -> Chart:
    """The distribution of latencies, of one report or of several by their names.

    `form` is "tail", the share of requests that took longer than a time, both on logarithmic axes, so that the tail is
    to scale; "cdf", the share that took at most a time; "box", a box for each run from p25 to p75 with the median,
    lines from p1 to p99 and a point at p99.9; or "bars", the mean, p50, p99 and p99.9 of each run,
    hollow where tables mark them `†` or `‡`.

    `kinds` says which of `Report.latency()` are drawn: of the host `read`, `write` and `flush`; of the map `map_read`,
    `map_write_first`, `map_write_last`. A kind that did not occur is not drawn. Further options are those of
    `Chart.restyle`.

    Raises `FlashwattError` for another kind or form, and for a report without the histogram: `run(..., latency=True)`
    keeps it ("bars" does without).
    """
    _check(kinds)
    known("form", [form], _FORMS)
    contents = labelled(reports)
    of_host = set(kinds) <= {"read", "write", "flush"}
    subtitle = _FORMS[form].format("requests" if of_host else "operations")
    doubted = hollow.said(bar_marks(contents, kinds)) if form == "bars" else []
    return Chart(_title(contents, kinds), (subtitle, *doubted), _draw(contents, kinds, form), look=look)


def _draw(contents: dict[str, Json], kinds: Sequence[str], form: Form) -> Callable[[Canvas], Any]:
    if form == "bars":
        figures = {label: {kind: _figures(one, kind) for kind in kinds} for label, one in contents.items()}
        return bars(figures, _KINDS, contents)
    if form == "box":
        return boxes({label: frames.latency(one) for label, one in contents.items()}, kinds, _KINDS)
    rows = [row for label, content in contents.items() for row in _rows(label, content, kinds, form)]
    return lambda on: _lines(rows, list(contents), kinds, on, form)


def _check(kinds: Sequence[str]) -> None:
    known("kinds", kinds, _KINDS)
    if not kinds:
        raise _core.FlashwattError(f"kinds: found none; expected a list of some of {', '.join(_KINDS)}")


def _title(contents: dict[str, Json], kinds: Sequence[str]) -> str:
    if len(contents) > 1:
        return "Latency"
    figures = {kind: _figures(next(iter(contents.values())), kind) for kind in kinds}
    parts = [f"{_KINDS[kind]} p99 {duration(of['p99'])}" for kind, of in figures.items() if of and of["count"]]
    return f"Latency: {', '.join(parts)}"


def _figures(content: Json, kind: str) -> Json | None:
    if not kind.startswith("map_"):
        figures: Json | None = content["latency_ns"].get(kind)  # an older report has no flushes
        return figures
    of_map: Json | None = (content.get("ftl") or {}).get("map_latency_ns")  # a disk has no map
    return of_map and of_map[kind.removeprefix("map_")]


def _rows(label: str, content: Json, kinds: Sequence[str], form: Form) -> list[dict[str, Any]]:
    """Corners of a falling stair for each kind, thinned out evenly along the logarithm of the share."""
    rows = []
    wanted = frames.latency(content).filter(pl.col("kind").cast(pl.String).is_in(list(kinds)))
    for (kind,), bins in wanted.group_by("kind", maintain_order=True):
        total = int(bins["count"].sum())
        left, last = total, None
        for upper_ns, count in bins.select("upper_ns", "count").iter_rows():
            left -= int(count)
            step = _step(left, total)
            if step != last or not left:
                # The slowest request ends the line of the tail at half of its share: there is no 0 on its axis.
                share = 1 - left / total if form == "cdf" else max(left, 0.5) / total
                rows.append(
                    {"run": label, "kind": kind, "us": max(short(upper_ns / _US), _LEAST_US), "share": short(share)}
                )
            last = step
    return rows


def _step(left: int, total: int) -> tuple[int, int]:
    """The part of a line that a share lies in; the first corner of each part is drawn.

    Parts end at 1 %, 0.1 %, … and not beyond: there the line falls where the quantiles of the report are.
    """
    linear = math.ceil(_POINTS * left / total)
    return linear, math.ceil(_POINTS_PER_DECADE * math.log10(left / total)) if left else linear


def _lines(rows: list[dict[str, Any]], labels: list[str], kinds: Sequence[str], on: Canvas, form: Form) -> alt.Chart:
    times, shares = [row["us"] for row in rows], [1.0, *(row["share"] for row in rows)]
    x = alt.X("us:Q", title="latency", scale=_scale(times), axis=_axis(times, (1, 2, 5), grid=False, labelExpr=_TIME))
    if form == "cdf":
        axis = alt.Axis(format="~%", tickCount=on.rows())
        y = alt.Y("share:Q", title="share that took at most", scale=alt.Scale(domain=[0, 1]), axis=axis)
    else:
        axis = _axis(shares, (1,), format="~%")
        y = alt.Y("share:Q", title="share that took longer", scale=_scale(shares), axis=axis)
    word = "took at most" if form == "cdf" else "took longer"
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=1.8 * on.font / 12)
        .encode(
            x,
            y,
            *_told(labels, kinds, on),
            detail="run:N",
            tooltip=[
                alt.Tooltip("run:N"),
                alt.Tooltip("kind:N"),
                alt.Tooltip("us:Q", title="µs", format=".4~g"),
                alt.Tooltip("share:Q", title=word, format=".3~%"),
            ],
        )
    )
    drawn: alt.Chart = on.sized(chart)
    return drawn


def _told(labels: list[str], kinds: Sequence[str], on: Canvas) -> list[Any]:
    """Colours for the runs and strokes for the kinds; colours for the kinds, if there is one run."""
    if len(labels) == 1:
        names, field = list(kinds), "kind:N"
    else:
        names, field = labels, "run:N"
    dashed = on.dashed and not (len(labels) > 1 and len(kinds) > 1)
    shown = on.legend(names, strokes=dashed)
    colour = alt.Color(field, scale=alt.Scale(domain=names, range=on.colours), legend=shown)
    strokes = alt.Scale(domain=list(kinds), range=DASHES[: len(kinds)])
    if len(labels) > 1 and len(kinds) > 1:
        return [colour, alt.StrokeDash("kind:N", scale=strokes, legend=on.legend(kinds, strokes=True))]
    if dashed:
        by_name = alt.Scale(domain=names, range=DASHES)
        return [colour, alt.StrokeDash(field, scale=by_name, legend=shown)]
    return [colour]


def _scale(values: list[float]) -> alt.Scale:
    return alt.Scale(type="log", domain=[min(values, default=0.1), max(values, default=1)], nice=False)


def _axis(values: list[float], digits: tuple[int, ...], **options: Any) -> alt.Axis:
    """Ticks at these digits of every decade: Vega's own choice would crowd its labels."""
    low, high = (math.floor(math.log10(end)) for end in (min(values, default=1), max(values, default=1)))
    ticks = [short(digit * 10.0**power) for power in range(low, high + 1) for digit in digits]
    return alt.Axis(values=ticks, labelOverlap=True, labelFlush=True, **options)
