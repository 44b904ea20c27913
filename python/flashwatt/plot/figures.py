"""Figures as papers draw them: bars by group, lines, stairs, shares, with marks for the published values.

Rows are plain: a label or a number for each axis, a series, a value. A value of None leaves a gap.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import altair as alt

from flashwatt.plot.chart import Chart
from flashwatt.plot.style import INK, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashwatt.plot.style import Canvas

_MARKED = "Black strokes: published or theoretical values."


class Bar(NamedTuple):
    """One bar."""

    group: str
    series: str
    value: float | None
    published: float | None = None


class Point(NamedTuple):
    """One point of a line, or the beginning of one of its steps."""

    x: float
    series: str
    y: float | None
    published: bool = False
    error: float = 0
    """Half the width of the interval of y."""


def bars(title: str, said: str, rows: Iterable[Bar], unit: str, *, log: bool = False) -> Chart:
    """Draw bars side by side in each group, one for each series, with published values as strokes across them."""
    kept = list(rows)
    marked = [row for row in kept if row.published is not None]
    values = [{**row._asdict(), "value": _short(row.value), "published": _short(row.published)} for row in kept]
    groups, series = _names(row.group for row in kept), _names(row.series for row in kept)

    def draw(on: Canvas) -> alt.LayerChart:
        base = alt.Chart(alt.InlineData(values=values)).encode(
            x=alt.X("group:N", sort=groups, title=None, axis=on.named(groups)),
            xOffset=alt.XOffset("series:N", sort=series),
            tooltip=[alt.Tooltip(f"{name}:N") for name in ("group", "series", "value", "published")],
        )
        y, foot = _bar_axis(kept, unit, log=log)
        drawn = base.mark_bar().encode(y=y, color=_colour(series, on), **foot)
        strokes = base.mark_tick(color=INK, thickness=2, bandSize=14).encode(y=alt.Y("published:Q", title=unit))
        return _sized(alt.layer(drawn, *([strokes] if marked else [])), on)

    return Chart(title, (f"{said} {_MARKED}" if marked else said,), draw)


def shares(title: str, said: str, rows: Iterable[Bar], unit: str) -> Chart:
    """Draw one bar for each group, its series on top of one another."""
    kept = list(rows)
    groups, series = _names(row.group for row in kept), _names(row.series for row in kept)
    values = [
        {"group": row.group, "series": row.series, "value": _short(row.value), "at": series.index(row.series)}
        for row in kept
    ]

    def draw(on: Canvas) -> alt.LayerChart:
        drawn = (
            alt.Chart(alt.InlineData(values=values))
            .mark_bar()
            .encode(
                x=alt.X("group:N", sort=groups, title=None, axis=on.named(groups)),
                y=alt.Y("value:Q", title=unit, stack="zero", scale=alt.Scale(nice=False)),
                color=_colour(series, on),
                order=alt.Order("at:Q"),
                tooltip=[alt.Tooltip(f"{name}:N") for name in ("group", "series", "value")],
            )
        )
        return _sized(alt.layer(drawn), on)

    return Chart(title, (said,), draw)


def lines(
    title: str,
    said: str,
    rows: Iterable[Point],
    axes: tuple[str, str],
    *,
    stairs: bool = False,
    log_x: bool = False,
    log_y: bool = False,
) -> Chart:
    """Draw a line for each series, or its stairs; published ones are dashed. `axes` are the titles of x and y."""
    kept = list(rows)
    values = [
        {
            "x": short(row.x),
            "y": _short(row.y),
            "series": row.series,
            "origin": _origin(row.published),
            **_interval(row),
        }
        for row in kept
    ]
    series, several = _names(row.series for row in kept), any(row.published for row in kept)

    def draw(on: Canvas) -> alt.LayerChart:
        ticks = alt.Axis(grid=False, tickCount=on.ticks(80), labelOverlap=True)
        base = alt.Chart(alt.InlineData(values=values)).encode(
            x=alt.X("x:Q", title=axes[0], axis=ticks, scale=_scale(log=log_x)),
            y=alt.Y("y:Q", title=axes[1], scale=_scale(log=log_y)),
            color=_colour(series, on),
            tooltip=[alt.Tooltip(f"{name}:N") for name in ("series", "x", "y", "origin")],
        )
        line = base.mark_line(interpolate="step-after" if stairs else "linear", strokeWidth=1.8)
        if several:
            origins = alt.Scale(domain=[_origin(False), _origin(True)], range=[[1, 0], [5, 4]])
            dash = alt.StrokeDash("origin:N", scale=origins, legend=alt.Legend(orient="top", title=None))
            line = line.encode(strokeDash=dash)
        dots = [] if stairs else [base.mark_circle(size=36)]
        bars = [base.mark_rule().encode(y="low:Q", y2="high:Q")] if any(row.error for row in kept) else []
        return _sized(alt.layer(line, *dots, *bars), on)

    return Chart(title, (said,), draw)


def _interval(row: Point) -> dict[str, float]:
    return {} if row.y is None or not row.error else {"low": short(row.y - row.error), "high": short(row.y + row.error)}


def _origin(published: bool) -> str:
    return "published" if published else "simulated"


def _names(found: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(found))


def _colour(series: Sequence[str], on: Canvas) -> alt.Color:
    legend = on.legend(series, 5)
    return alt.Color("series:N", sort=list(series), scale=alt.Scale(range=on.colours), legend=legend)


def _bar_axis(rows: Sequence[Bar], unit: str, *, log: bool) -> tuple[alt.Y, dict[str, Any]]:
    """Give the axis of bars and their base: 0, or a power of ten on a logarithmic axis, which has no zero."""
    if not log:
        return alt.Y("value:Q", title=unit), {}
    values = [value for row in rows for value in (row.value, row.published) if value]
    least = 10.0 ** math.floor(math.log10(min(values, default=1)) - 1e-9)
    scale = alt.Scale(type="log", domain=[least, max(values, default=1)])
    return alt.Y("value:Q", title=unit, scale=scale), {"y2": alt.Y2Datum(least)}


def _scale(*, log: bool) -> alt.Scale:
    return alt.Scale(type="log", nice=False) if log else alt.Scale(zero=True)


def _short(value: float | None) -> float | None:
    return None if value is None else short(value)


def _sized(chart: alt.LayerChart | alt.FacetChart, on: Canvas) -> alt.LayerChart:
    drawn: alt.LayerChart = on.sized(chart)
    return drawn
