"""Figures as papers draw them: bars by group, lines, stairs, shares, with marks for the published values.

Rows are plain: a label or a number for each axis, a series, a value. A value of None leaves a gap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import altair as alt

from flashwatt.plot.chart import Chart
from flashwatt.plot.style import FAINT, INK, short
from flashwatt.sweeps.statistics import mean_and_ci

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flashwatt.plot.style import Canvas

_MARKED = "Black strokes: published or theoretical values."


class Bar(NamedTuple):
    """One bar."""

    group: str
    series: str
    value: float | None
    published: float | None = None
    error: float = 0
    """Half the width of the interval of the value."""


class Point(NamedTuple):
    """One point of a line, or the beginning of one of its steps."""

    x: float
    series: str
    y: float | None
    published: bool = False
    error: float = 0
    """Half the width of the interval of y."""


@dataclass(frozen=True)
class Figure(Chart):
    """A chart of rows, which can be drawn with others."""

    rows: Sequence[Bar] | Sequence[Point] = ()
    redraw: Callable[[Any], Chart] | None = None
    """The same chart of other rows; None where means of rows would show nothing that was simulated."""


@dataclass(frozen=True)
class Multiples:
    """Small charts of one figure at different settings, to be laid side by side."""

    title: str
    said: str
    charts: tuple[Chart, ...]
    """Their titles say how they differ."""


def averaged(charts: Sequence[Chart]) -> Chart:
    """One chart of the same figures from several seeds: means with 95 % intervals; equal ones are drawn as they are.

    Stairs show what happened in one run, and so does a chart whose rows differ between the seeds in more than figures:
    the first seed's is drawn, and says so.
    """
    figures = [one for one in charts if isinstance(one, Figure)]
    first = charts[0]
    if len(figures) < len(charts) or not isinstance(first, Figure) or all(one.rows == first.rows for one in figures):
        return first
    matching = len({tuple(map(_place, one.rows)) for one in figures}) == 1
    if first.redraw is None or not matching:
        return _with(first, f"The first of {len(charts)} seeds.")
    rows = [_averaged(some) for some in zip(*(one.rows for one in figures), strict=True)]
    return _with(first.redraw(rows), f"Means of {len(charts)} seeds with 95 % intervals.")


def _with(chart: Chart, said: str) -> Chart:
    *before, last = chart.subtitle
    return replace(chart, subtitle=(*before, f"{last} {said}"))


def _place(row: Bar | Point) -> tuple[Any, ...]:
    """What a row is about: everything but the simulated figure."""
    if isinstance(row, Bar):
        return row.group, row.series, row.value is None, row.published
    return row.x, row.series, row.y is None, row.published


def _averaged(rows: Sequence[Any]) -> Bar | Point:
    """The mean of rows about the same, with its interval. Equal rows stay as they are, with the interval they have."""
    first = rows[0]
    if all(row == first for row in rows):
        return first  # type: ignore[no-any-return]
    field = "value" if isinstance(first, Bar) else "y"
    mean, half_width = mean_and_ci([getattr(row, field) for row in rows])
    return first._replace(**{field: mean, "error": half_width or 0})  # type: ignore[no-any-return]


def bars(title: str, said: str, rows: Iterable[Bar], unit: str, *, log: bool = False) -> Chart:
    """Draw bars side by side in each group, one for each series, with published values as strokes across them."""
    kept = list(rows)
    marked = [row for row in kept if row.published is not None]
    floor = _floor(kept) if log else -math.inf
    values = [_bar(row, floor) for row in kept]
    groups, series = _names(row.group for row in kept), _names(row.series for row in kept)

    def draw(on: Canvas) -> alt.LayerChart:
        base = alt.Chart(alt.InlineData(values=values)).encode(
            x=alt.X("group:N", sort=groups, title=None, axis=on.named(groups)),
            xOffset=alt.XOffset("series:N", sort=series),
            tooltip=[alt.Tooltip(f"{name}:N") for name in _told(kept, "group", "series", "value", "published")],
        )
        y, foot = _bar_axis(kept, unit, log=log)
        drawn = base.mark_bar().encode(y=y, color=_colour(series, on), **foot)
        strokes = base.mark_tick(color=INK, thickness=2, bandSize=14).encode(y=alt.Y("published:Q", title=unit))
        rules = base.mark_rule(color=FAINT, strokeWidth=1.5).encode(y=alt.Y("low:Q", title=unit), y2="high:Q")
        layers = [*([strokes] if marked else []), *([rules] if any(row.error for row in kept) else [])]
        return _sized(alt.layer(drawn, *layers), on)

    text = f"{said} {_MARKED}" if marked else said
    return Figure(title, (text,), draw, rows=kept, redraw=lambda rows: bars(title, said, rows, unit, log=log))


def shares(title: str, said: str, rows: Iterable[Bar], unit: str) -> Chart:
    """Draw one bar for each group, its series on top of one another."""
    kept = list(rows)
    groups, series = _names(row.group for row in kept), _names(row.series for row in kept)
    values = [{**_bar(row), "at": series.index(row.series)} for row in kept]

    def draw(on: Canvas) -> alt.LayerChart:
        drawn = (
            alt.Chart(alt.InlineData(values=values))
            .mark_bar()
            .encode(
                x=alt.X("group:N", sort=groups, title=None, axis=on.named(groups)),
                y=alt.Y("value:Q", title=unit, stack="zero", scale=alt.Scale(nice=False)),
                color=_colour(series, on),
                order=alt.Order("at:Q"),
                tooltip=[alt.Tooltip(f"{name}:N") for name in _told(kept, "group", "series", "value")],
            )
        )
        return _sized(alt.layer(drawn), on)

    return Figure(title, (said,), draw, rows=kept, redraw=lambda rows: shares(title, said, rows, unit))


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
    floor = min((row.y for row in kept if row.y), default=0) if log_y else -math.inf
    values = [
        {
            "x": short(row.x),
            "y": _short(row.y),
            "series": row.series,
            "origin": _origin(row.published),
            **_interval(row.y, row.error, floor),
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
            tooltip=[alt.Tooltip(f"{name}:N") for name in _told(kept, "series", "x", "y", "origin")],
        )
        line = base.mark_line(interpolate="step-after" if stairs else "linear", strokeWidth=1.8)
        if several:
            origins = alt.Scale(domain=[_origin(False), _origin(True)], range=[[1, 0], [5, 4]])
            dash = alt.StrokeDash("origin:N", scale=origins, legend=alt.Legend(orient="top", title=None))
            line = line.encode(strokeDash=dash)
        dots = [] if stairs else [base.mark_circle(size=36)]
        bars = [base.mark_rule().encode(y="low:Q", y2="high:Q")] if any(row.error for row in kept) else []
        return _sized(alt.layer(line, *dots, *bars), on)

    def redraw(rows: Iterable[Point]) -> Chart:
        return lines(title, said, rows, axes, log_x=log_x, log_y=log_y)

    return Figure(title, (said,), draw, rows=kept, redraw=None if stairs else redraw)


def _bar(row: Bar, floor: float = -math.inf) -> dict[str, Any]:
    """The row as a chart takes it."""
    plain = {"group": row.group, "series": row.series, "value": _short(row.value), "published": _short(row.published)}
    return {**plain, **_interval(row.value, row.error, floor)}


def _interval(value: float | None, error: float, floor: float) -> dict[str, float]:
    """The ends of an interval, and half its width. It is drawn from `floor` on."""
    if value is None or not error:
        return {}
    return {"low": short(max(value - error, floor)), "high": short(value + error), "±": short(error)}


def _floor(rows: Sequence[Bar]) -> float:
    """The power of ten below all figures, where a logarithmic axis begins: it has no zero."""
    values = [value for row in rows for value in (row.value, row.published) if value]
    return 10.0 ** math.floor(math.log10(min(values, default=1)) - 1e-9)


def _told(rows: Sequence[Bar] | Sequence[Point], *names: str) -> list[str]:
    """The columns of a tooltip: these, and the interval if some rows have one."""
    return [*names, *(["±"] if any(row.error for row in rows) else [])]


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
    least, ends = _floor(rows), [(row.value or 0) + row.error for row in rows] + [row.published or 0 for row in rows]
    scale = alt.Scale(type="log", domain=[least, max(ends, default=1)])
    return alt.Y("value:Q", title=unit, scale=scale), {"y2": alt.Y2Datum(least)}


def _scale(*, log: bool) -> alt.Scale:
    return alt.Scale(type="log", nice=False) if log else alt.Scale(zero=True)


def _short(value: float | None) -> float | None:
    return None if value is None else short(value)


def _sized(chart: alt.LayerChart | alt.FacetChart, on: Canvas) -> alt.LayerChart:
    drawn: alt.LayerChart = on.sized(chart)
    return drawn
