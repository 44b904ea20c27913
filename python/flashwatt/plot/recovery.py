"""Power cuts: how long recoveries take and what they cost, over all cuts and by the time of the cut."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import altair as alt

from flashwatt import _core
from flashwatt.base.misspelt import known
from flashwatt.base.scripts import blaming
from flashwatt.base.units import count, counted, duration, si
from flashwatt.plot.chart import Chart
from flashwatt.plot.style import INK, PAPER, SHAPES, short
from flashwatt.report.axes import figure as axis_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Unpack

    from flashwatt.plot.style import Canvas, Look
    from flashwatt.power_cuts import Crash

_BINS_MAX = 40
_ALONE = 0.02
"""Half the width of the bar of a single value, as a share of the value."""
_CROSS = "M-1,-1L1,1M-1,1L1,-1"
_FIRST, _SECOND = "first cut", "second cut"


class _Figure(NamedTuple):
    """A figure of a recovery that can be drawn."""

    key: str
    """What it is called on an axis, with its unit behind it."""
    title: str
    write: Callable[[float], str]


FIGURES = {
    "recovery_ns": _Figure("recovery_time_ns", "Recovery time", duration),
    "energy_j": _Figure("recovery_energy_j", "Recovery energy", lambda value: si(value, "J")),
    "reads": _Figure("page_reads", "Page reads of the recovery", count),
    "programs": _Figure("programs", "Programs of the recovery", count),
    "erases": _Figure("erases", "Erases of the recovery", count),
    "map_load_ns": _Figure("map_load_time_ns", "Time for the load of the map", duration),
    "map_load_energy_j": _Figure("map_load_energy_j", "Energy for the load of the map", lambda value: si(value, "J")),
    "dump_ns": _Figure("time_by_capacitors_ns", "Time by capacitors", duration),
    "dump_energy_j": _Figure("energy_by_capacitors_j", "Energy by capacitors", lambda value: si(value, "J")),
    "capacitance_f": _Figure("capacitance_f", "Capacitance", lambda value: si(value, "F")),
}
"""By the columns of `Crash.cuts`."""
_DUMP = ("dump_ns", "dump_energy_j", "capacitance_f")
"""Those of capacitors, which second cuts do not have."""
_MAP_LOAD = ("map_load_ns", "map_load_energy_j")
"""Those of a portion of the map that is loaded."""


@blaming
def recovery(result: Crash, figure: str = "recovery_ns", **look: Unpack[Look]) -> Chart:
    """Draw the distribution of a figure of the recovery over the cuts: numbers of cuts in bins of equal width.

    `figure` is one of recovery_ns, energy_j, reads, programs and erases, with capacitors one of dump_ns,
    dump_energy_j and capacitance_f, and with a portion of the map that is loaded one of map_load_ns and
    map_load_energy_j. Second cuts stand beside first ones. Where all cuts have the same value, as a
    single one has, there is one bar. Further options are those of `Chart.restyle`. Raises `FlashwattError` for an
    unknown figure, and for a result without cuts.
    """
    absent = (*(() if result.capacitors else _DUMP), *(() if result.loads_map else _MAP_LOAD))
    known("figure", [figure], [name for name in FIGURES if name not in absent])
    of = FIGURES[figure]
    series = {_FIRST: _values(result, figure)}
    if figure not in _DUMP and (second := result.values(figure, second=True)):
        series[_SECOND] = second
    axis = axis_of(of.key, [value for values in series.values() for value in values])
    scaled = {name: [short(value / axis.size) for value in values] for name, values in series.items()}
    rows, is_alone = _bars(scaled)
    said = "; ".join(_said(result, name, figure, several=len(series) > 1) for name in series)

    def draw(on: Canvas) -> alt.LayerChart:
        return _histogram(rows, list(series), axis.title, on, is_alone=is_alone)

    title = f"{of.title} after {counted(len(series[_FIRST]), 'power cut')}"
    beside = " Of each bin the bars stand side by side." if len(series) > 1 and not is_alone else ""
    return Chart(title, (result.drive, f"{said}.{beside}"), draw, "Point at a bar to see its values.", look)


@blaming
def cuts(result: Crash, **look: Unpack[Look]) -> Chart:
    """Draw the recovery time of each cut against the time of the cut, coloured by the pages that it tore.

    With second cuts, squares are the recoveries from those, at the times of the first ones. Cuts after which durable
    data was missing have a cross. Further options are those of `Chart.restyle`. Raises `FlashwattError` for a result
    without cuts.
    """
    times = _values(result, "at_ns")
    names = [_FIRST, *([_SECOND] if result.values("recovery_ns", second=True) else [])]
    found = [
        {"at": at, "cut": name, "ns": ns, "torn": torn, "lost": lost}
        for name in names
        for at, ns, torn, lost in zip(
            times,
            *(_values(result, key, second=name == _SECOND) for key in ("recovery_ns", "torn_pages", "lost_units")),
            strict=True,
        )
    ]
    x, y = axis_of("time_of_the_cut_ns", times), axis_of("recovery_time_ns", [row["ns"] for row in found])
    rows = [{**row, "at": short(row["at"] / x.size), "recovery": short(row.pop("ns") / y.size)} for row in found]

    def draw(on: Canvas) -> alt.LayerChart:
        return _places(rows, names, (x.title, y.title), on)

    lost = (f"Crosses: {counted(result.lost_units, 'unit')} of durable data lost.",) if result.losses else ()
    title = "Recovery time by the time of the power cut"
    return Chart(title, (result.drive, *lost), draw, "Point at a dot to see its values.", look)


def _values(result: Crash, figure: str, *, second: bool = False) -> list[float]:
    values = result.values(figure, second=second)
    if not values:
        raise _core.FlashwattError("no cut to draw; expected at least one")
    return values


def _said(result: Crash, name: str, figure: str, *, several: bool) -> str:
    """The spread of a series in words."""
    spread, write = result.spread(figure, second=name == _SECOND), FIGURES[figure].write
    assert spread is not None
    place = f"{name}: " if several else ""
    if spread.min == spread.max:
        return f"{place}{write(spread.min)} each, nothing to distribute"
    return f"{place}{write(spread.min)} to {write(spread.max)}, median {write(spread.median)}, p99 {write(spread.p99)}"


def _bars(series: dict[str, list[float]]) -> tuple[list[dict[str, Any]], bool]:
    """The bars of a histogram, those of the series side by side in each bin, and whether all values are one."""
    values = [value for some in series.values() for value in some]
    low, high = min(values), max(values)
    bins = min(_BINS_MAX, math.ceil(math.sqrt(len(values))))
    is_alone = low == high
    if is_alone:
        half = _ALONE * low or 0.5
        low, high, bins = low - half, high + half, 1
    width, rows = (high - low) / bins, []
    bar = width / len(series)
    for number, (name, some) in enumerate(series.items()):
        held: dict[int, list[float]] = {}
        for value in some:
            held.setdefault(min(bins - 1, int((value - low) / width)), []).append(value)
        for at, inside in sorted(held.items()):
            left = low + at * width + number * bar
            ends = {"least": min(inside), "most": max(inside)}
            rows.append({"cut": name, "from": left, "to": left + bar, "n": len(inside), "foot": 0, **ends})
    return rows, is_alone


def _histogram(
    rows: list[dict[str, Any]], names: Sequence[str], title: str, on: Canvas, *, is_alone: bool
) -> alt.LayerChart:
    low, high = min(row["from"] for row in rows), max(row["to"] for row in rows)
    room = (high - low) * (4 if is_alone else 0.02)
    x = alt.X(
        "from:Q",
        title=title,
        scale=alt.Scale(domain=[low - room, high + room], nice=False, zero=False),
        axis=alt.Axis(grid=False, tickCount=on.ticks(90), labelOverlap=True),
    )
    most = max(row["n"] for row in rows)
    y = alt.Y(
        "foot:Q",
        title="cuts",
        scale=alt.Scale(domain=[0, most], nice=True),
        axis=alt.Axis(tickCount=on.rows() if most > 9 else most, tickMinStep=1, format="d"),  # noqa: PLR2004
    )
    colours = alt.Scale(domain=list(names), range=on.colours)
    legend = on.legend(names) if len(names) > 1 else None
    drawn = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_rect(stroke=PAPER, strokeWidth=on.font / 12)
        .encode(
            x=x,
            x2="to:Q",
            y=y,
            y2="n:Q",
            color=alt.Color("cut:N", scale=colours, legend=legend),
            tooltip=[
                alt.Tooltip("n:Q", title="cuts"),
                *([alt.Tooltip("cut:N")] if len(names) > 1 else []),
                alt.Tooltip("least:Q", title=f"{title}, from"),
                alt.Tooltip("most:Q", title="to"),
            ],
        )
    )
    chart: alt.LayerChart = on.sized(alt.layer(drawn))
    return chart


def _places(rows: list[dict[str, Any]], names: Sequence[str], titles: tuple[str, str], on: Canvas) -> alt.LayerChart:
    part, torn = on.font / 12, max(row["torn"] for row in rows)
    told = {"at": titles[0], "recovery": titles[1], "torn": "torn pages", "lost": "units lost"}
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "at:Q",
            title=titles[0],
            axis=alt.Axis(grid=False, tickCount=on.ticks(90), labelOverlap=True),
            scale=alt.Scale(zero=True),
        ),
        y=alt.Y(
            "recovery:Q",
            title=titles[1],
            axis=alt.Axis(tickCount=on.rows()),
            scale=alt.Scale(zero=True),
        ),
        tooltip=[alt.Tooltip("cut:N"), *(alt.Tooltip(f"{name}:Q", title=title) for name, title in told.items())],
    )
    none, all_ = (3, 0) if on.palette == "grey" else (0, 1)
    ends = [on.colours[none], on.colours[all_]]
    shade = alt.Scale(domain=[0, max(1, torn)], range=ends, interpolate="lab")
    ticks = sorted({0, torn // 2, torn}) if torn else [0]
    legend = alt.Legend(orient="bottom", direction="horizontal", title="torn pages", values=ticks, gradientLength=160)
    dots = base.mark_point(filled=True, size=56 * part * part, opacity=0.9).encode(
        color=alt.Color("torn:Q", scale=shade, legend=legend)
    )
    if len(names) > 1:
        shapes = alt.Scale(domain=list(names), range=SHAPES)
        dots = dots.encode(shape=alt.Shape("cut:N", scale=shapes, legend=on.legend(names)))
    layers = [dots]
    if any(row["lost"] for row in rows):
        cross = base.transform_filter("datum.lost > 0").mark_point(
            shape=_CROSS, filled=False, size=300 * part * part, color=INK, strokeWidth=2 * part, opacity=1
        )
        layers.append(cross)
    chart: alt.LayerChart = on.sized(alt.layer(*layers))
    return chart
