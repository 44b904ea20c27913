"""Means with their intervals, as lines over numbers, or as bars or points over names."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import altair as alt

from flashwatt.plot import hollow
from flashwatt.plot.style import DASHES, INK, SHAPES, short

if TYPE_CHECKING:
    from flashwatt.plot.style import Canvas
    from flashwatt.report.axes import Figure

_NARROW = 0.5  # values of which none is below this share of the highest need no axis from 0
_TICKS_MOST = 10  # values of the parameter that are the ticks of its axis


class Mean(NamedTuple):
    """One point of the picture."""

    x: Any
    series: str
    runs: int
    mean: float
    half: float | None
    """Half of the interval's width; None for a single run."""
    marks: str = ""
    """`†` not steady, `‡` too few requests or runs."""


class Scales(NamedTuple):
    """How the two axes begin and grow."""

    log_x: bool
    log_y: bool
    zero: bool | None


def rows_of(means: list[Mean], axes: tuple[Figure, Figure], *, numeric: bool) -> list[dict[str, Any]]:
    """Give the means as a chart takes them; where none is below 0, no interval reaches there: nothing could be."""
    across, up = axes
    floor = 0 if all(one.mean >= 0 for one in means) else -math.inf
    return [
        {
            "x": float(f"{one.x / across.size:.12g}") if numeric else str(one.x),
            "series": one.series,
            "mean": short(one.mean / up.size),
            "low": short(max(one.mean - (one.half or 0), floor) / up.size),
            "high": short((one.mean + (one.half or 0)) / up.size),
            "half": None if one.half is None else short(one.half / up.size),
            "runs": one.runs,
            **({"cut": True} if one.mean - (one.half or 0) < floor else {}),
            **hollow.noted(one.marks),
        }
        for one in means
    ]


def lines(
    rows: list[dict[str, Any]], axes: tuple[Figure, Figure], legend: str, scales: Scales, on: Canvas
) -> alt.LayerChart:
    """Draw a line for each series over an axis of numbers, with points and intervals."""
    values = sorted({row["x"] for row in rows})
    ticks: dict[str, Any] = {"tickCount": on.ticks()}
    if len(values) <= _TICKS_MOST:
        ticks = {"values": values}
    axis = alt.Axis(grid=False, format="~g", labelOverlap=True, **ticks)
    across = alt.Scale(type="log" if scales.log_x else "linear", nice=False, zero=False, padding=on.font)
    x = alt.X("x:Q", title=axes[0].title, axis=axis, scale=across)
    y = _value_axis(rows, axes[1].title, scales, on, bars=False)
    told, part = _told(rows, legend, on), on.font / 12
    base = alt.Chart(alt.InlineData(values=rows))
    style: dict[str, Any] = {} if told else {"color": on.colours[0]}
    line = [
        one.mark_line(strokeWidth=1.6 * part, **style, **dash).encode(x=x, y=y, **told)
        for one, dash in _strokes(base, rows, legend, on)
    ]
    dots = _dots(rows, axes, legend, {"x": x, "y": y}, on)
    whiskers = _whiskers(base, {"x": x, **told}, y, on)
    drawn: alt.LayerChart = on.sized(alt.layer(*line, *whiskers, *dots, *hollow.keys(rows, on)))
    return drawn


def named(rows: list[dict[str, Any]], axes: tuple[Figure, Figure], legend: str, scales: Scales, on: Canvas) -> Any:
    """Draw bars side by side for each name, with intervals; points on a logarithmic axis, where bars begin nowhere."""
    groups = list(dict.fromkeys(row["x"] for row in rows))
    names = list(dict.fromkeys(row["series"] for row in rows))
    places: dict[str, Any] = {"x": alt.X("x:N", sort=groups, title=axes[0].title, axis=on.named(groups))}
    if len(names) > 1:
        places["xOffset"] = alt.XOffset("series:N", sort=names)
    y = _value_axis(rows, axes[1].title, scales, on, bars=not scales.log_y)
    base = alt.Chart(alt.InlineData(values=rows))
    if scales.log_y:
        dots = _dots(rows, axes, legend, {"y": y, **places}, on)
        return on.sized(alt.layer(*_whiskers(base, places, y, on, INK), *dots, *hollow.keys(rows, on)))
    colour = _told(rows, legend, on)
    style: dict[str, Any] = {} if colour else {"color": on.colours[0]}
    marks = [
        chart.mark_bar(**style, **options).encode(y=y, tooltip=_tooltip(axes, rows), **places, **colour)
        for chart, options in hollow.parts(base, rows, 1.6 * on.font / 12)
    ]
    return on.sized(alt.layer(*marks, *_whiskers(base, places, y, on, INK), *hollow.keys(rows, on)))


def _dots(
    rows: list[dict[str, Any]], axes: tuple[Figure, Figure], legend: str, at: dict[str, Any], on: Canvas
) -> list[Any]:
    """The points, of a shape for each series."""
    part, told = on.font / 12, _told(rows, legend, on)
    style: dict[str, Any] = {"filled": True, "size": 56 * part * part, "opacity": 1}
    style |= {} if told else {"color": on.colours[0]}
    how = dict(told)
    if told:
        names = list(dict.fromkeys(row["series"] for row in rows))
        scale = alt.Scale(domain=names, range=SHAPES)
        how["shape"] = alt.Shape("series:N", scale=scale, legend=_legend(names, legend, on))
    base = alt.Chart(alt.InlineData(values=rows))
    return [
        chart.mark_point(**{**style, **options}).encode(tooltip=_tooltip(axes, rows), **at, **how)
        for chart, options in hollow.parts(base, rows, 1.4 * part)
    ]


def _whiskers(base: alt.Chart, places: dict[str, Any], y: alt.Y, on: Canvas, color: str | None = None) -> list[Any]:
    """The intervals, each a line with a stroke at either end; none for a point of one run."""
    part = on.font / 12
    style: dict[str, Any] = {"color": color or on.colours[0]} if color or "color" not in places else {}
    there = base.transform_filter("datum.half !== null")
    ends = [y.copy(), y.copy()]
    for end, name in zip(ends, ("low:Q", "high:Q"), strict=True):
        end.shorthand = name
    bar = there.mark_rule(strokeWidth=1.2 * part, **style).encode(y=ends[0], y2="high:Q", **places)
    whole = there.transform_filter("!datum.cut")
    caps = [
        chart.mark_tick(orient="horizontal", size=7 * part, thickness=1.2 * part, **style).encode(y=end, **places)
        for chart, end in zip((whole, there), ends, strict=True)
    ]
    return [bar, *caps]


def _told(rows: list[dict[str, Any]], legend: str, on: Canvas) -> dict[str, Any]:
    """Colours of the series; nothing for a single series."""
    names = list(dict.fromkeys(row["series"] for row in rows))
    if not legend:
        return {}
    scale = alt.Scale(domain=names, range=on.colours)
    return {"color": alt.Color("series:N", scale=scale, legend=_legend(names, legend, on))}


def _legend(names: list[str], title: str, on: Canvas) -> alt.Legend:
    return on.legend(names, title=title, symbolOpacity=1)


def _strokes(
    base: alt.Chart, rows: list[dict[str, Any]], legend: str, on: Canvas
) -> list[tuple[alt.Chart, dict[str, Any]]]:
    """The charts of the lines with their options: where greys need strokes, one for each series.

    A channel of strokes would break the symbols of the legend, the shapes of the points, into pieces.
    """
    if not legend or not on.dashed:
        return [(base, {})]
    names = list(dict.fromkeys(row["series"] for row in rows))
    return [
        (base.transform_filter(f"datum.series === {json.dumps(name)}"), {"strokeDash": DASHES[at % len(DASHES)]})
        for at, name in enumerate(names)
    ]


def _value_axis(rows: list[dict[str, Any]], title: str, scales: Scales, on: Canvas, *, bars: bool) -> alt.Y:
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    axis = (
        alt.Axis(tickCount=on.rows(), format="~g", labelOverlap=True) if scales.log_y else alt.Axis(tickCount=on.rows())
    )
    if scales.log_y:
        scale = alt.Scale(type="log", domain=[_lowest(rows), high], nice=True, clamp=True)
    else:
        wanted = scales.zero if scales.zero is not None else low < _NARROW * high
        scale = alt.Scale(domain=[min(low, 0) if bars or wanted else low, max(high, 0) if bars else high], nice=True)
    return alt.Y("mean:Q", title=title, axis=axis, scale=scale)


def _lowest(rows: list[dict[str, Any]]) -> float:
    """The lowest value that a logarithmic axis can show: an interval may reach below 0."""
    return float(min(row["low"] if row["low"] > 0 else row["mean"] for row in rows))


def _tooltip(axes: tuple[Figure, Figure], rows: list[dict[str, Any]]) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("series:N"),
        alt.Tooltip("x:N", title=axes[0].title),
        alt.Tooltip("mean:Q", title=axes[1].title, format=".5~g"),
        alt.Tooltip("half:Q", title="±", format=".3~g"),
        alt.Tooltip("runs:Q"),
        *([hollow.TOOLTIP] if any(row.get("doubt") for row in rows) else []),
    ]
