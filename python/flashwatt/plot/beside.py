"""Closed forms beside the means of a figure against a parameter: dashed lines, or strokes across bars."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import altair as alt

from flashwatt import _core
from flashwatt.base.literals import shown
from flashwatt.plot.style import INK, short
from flashwatt.sweeps.results import Results
from flashwatt.theory import of_config

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from flashwatt.plot.means import Mean
    from flashwatt.plot.style import Canvas
    from flashwatt.report.axes import Figure

_OF_THEORY = ("flash.write_amplification", "flash.gc_factor")
_SAMPLES = 60  # of a function, from the lowest to the highest value
_NAMED = 4  # points without a closed form that a subtitle names
_DASH = [5, 3]
_BAR = "M-1,-0.2L1,-0.2L1,0.2L-1,0.2Z"


class Forms(NamedTuple):
    """Closed forms beside the means."""

    points: list[dict[str, Any]]
    """`x` as the means have it, `series`, and `value` in the unit of the report."""
    without: list[str]
    """The series, or the points, that have none."""
    continuous: bool
    """Whether it is a function that is known between the points, too."""


def forms(
    results: Results | pl.DataFrame,
    frame: pl.DataFrame,
    theory: Callable[[Any], float] | Mapping[Any, float] | bool,
    names: tuple[str, str, Sequence[str]],
    means: Sequence[Mean],
) -> Forms:
    """Give the points of theory.

    Raises `FlashwattError` for a figure without a closed form, if no configuration has one, and for values that are no
    numbers.
    """
    if isinstance(theory, Mapping):
        return Forms(_given(theory, names[0], [one.x for one in means]), [], continuous=False)
    if not theory:
        return Forms([], [], continuous=False)
    if callable(theory):
        places = _places([one.x for one in means])
        return Forms([{"x": x, "series": "", "value": _number(theory(x), x)} for x in places], [], continuous=True)
    if theory is not True:
        expected = f"expected True, or a function of {names[0]}, or a dictionary of its values"
        raise _core.FlashwattError(f"theory: found {shown(theory)}; {expected}")
    if not isinstance(results, Results):
        found = "theory: found a frame, which has no configurations"
        remedy = "expected the Results of a sweep (`where` chooses its runs), a function or a dictionary"
        raise _core.FlashwattError(f"{found}; {remedy}")
    if names[1] not in _OF_THEORY:
        expected = " or ".join(_OF_THEORY)
        raise _core.FlashwattError(f"theory: no closed form of {names[1]}; expected y = {expected}, or a function")
    return _of_runs(results, frame, names, means)


def said(found: Forms, *, numeric: bool) -> list[str]:
    """Say in a subtitle how theory is drawn, and what has none."""
    if not found.points:
        return []
    some, more = found.without[:_NAMED], len(found.without) - _NAMED
    names = ", ".join(some) + (f" and {more} more" if more > 0 else "")
    return [f"{'Dashed' if numeric else 'Dark strokes'}: theory{f'; no closed form of {names}' if names else ''}."]


def _given(values: Mapping[Any, float], name: str, places: list[Any]) -> list[dict[str, Any]]:
    """Take the values of a dictionary: at any number on an axis of numbers, at the names that are drawn otherwise."""
    numeric = all(isinstance(one, int | float) for one in places)
    for x in values:
        if (not isinstance(x, int | float)) if numeric else (x not in places):
            expected = "numbers" if numeric else f"some of {', '.join(map(str, dict.fromkeys(places)))}"
            raise _core.FlashwattError(f"theory: found {shown(x)} as a value of {name}; expected {expected}")
    ordered = sorted(values.items()) if numeric else values.items()
    return [{"x": x, "series": "", "value": _number(value, x)} for x, value in ordered]


def _of_runs(
    results: Results, frame: pl.DataFrame, names: tuple[str, str, Sequence[str]], means: Sequence[Mean]
) -> Forms:
    """Give one value for each point of the picture that has one, from the configuration of one of its runs."""
    keys = [names[0], *names[2]]
    wanted = list(dict.fromkeys(frame.select(keys).rows()))
    whole, there = results.frame(), set(frame.select(results.keys).rows())  # without the runs that `where` leaves out
    values: dict[tuple[Any, ...], float | None] = {}
    reasons: list[_core.FlashwattError] = []
    for cells, point, run in zip(whole.select(keys).rows(), whole.select(results.keys).rows(), results, strict=True):
        if point in there and cells in wanted and cells not in values:
            try:
                values[cells] = of_config(run.report.config).write_amplification
            except _core.FlashwattError as error:
                values[cells] = None
                reasons.append(error)
    points = [
        {"x": mean.x, "series": mean.series, "value": values[cells]} for cells, mean in zip(wanted, means, strict=True)
    ]
    if reasons and len(reasons) == len(points):
        raise reasons[0]
    return Forms([one for one in points if one["value"] is not None], _without(points), continuous=False)


def _without(points: list[dict[str, Any]]) -> list[str]:
    """Name the series that have no closed form at all, and the other points without one."""
    there = {one["series"] for one in points if one["value"] is not None}
    names = [
        one["series"] if one["series"] not in there and one["series"] else f"{one['series']} at {one['x']}".strip()
        for one in points
        if one["value"] is None
    ]
    return list(dict.fromkeys(names))


def _places(values: Sequence[Any]) -> list[float]:
    """The values of x, and more between them."""
    if not all(isinstance(one, int | float) for one in values):
        raise _core.FlashwattError(f"theory: found x = {shown(values[0])}; expected numbers for a function")
    low, high = min(values), max(values)
    return sorted({*values, *(low + (high - low) * part / _SAMPLES for part in range(1, _SAMPLES))})


def _number(value: Any, x: Any) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise _core.FlashwattError(f"theory: found {shown(value)} at {x}; expected a finite number")
    return float(value)


def drawn(chart: alt.LayerChart, found: Forms, axes: tuple[Figure, Figure], on: Canvas, *, numeric: bool) -> Any:
    """Lay the points over a chart of means, with an entry of the legend."""
    rows = [
        {
            "x": short(one["x"] / axes[0].size) if numeric else str(one["x"]),
            "series": one["series"],
            "key": _NAME,
            "theory": short(one["value"] / axes[1].size),
        }
        for one in found.points
    ]
    base = alt.Chart(alt.InlineData(values=rows))
    both = chart.copy()
    both.layer = [*both.layer, *(_dashed(base, found, on) if numeric else [_strokes(base, rows, on)])]
    return both


_TOOLTIP = [alt.Tooltip("series:N"), alt.Tooltip("theory:Q", format=".5~g")]
_NAME = "theory"


def _dashed(base: alt.Chart, found: Forms, on: Canvas) -> list[Any]:
    """Dashed lines, with small strokes at the points that they are known at."""
    part = on.font / 12
    shown = on.legend([_NAME], strokes=True, symbolDash=_DASH, symbolStrokeColor=INK)
    key = alt.Stroke("key:N", scale=alt.Scale(domain=[_NAME], range=[INK]), legend=shown)
    line = base.mark_line(strokeDash=_DASH, strokeWidth=1.2 * part, clip=True)
    line = line.encode(x="x:Q", y="theory:Q", stroke=key, detail="series:N", tooltip=_TOOLTIP)
    if found.continuous:
        return [line]
    ends = base.mark_tick(orient="horizontal", size=6 * part, thickness=1.2 * part, color=INK, clip=True)
    return [line, ends.encode(x="x:Q", y="theory:Q", tooltip=_TOOLTIP)]


def _strokes(base: alt.Chart, rows: list[dict[str, Any]], on: Canvas) -> alt.Chart:
    """Strokes across bars."""
    groups, series = (list(dict.fromkeys(one[name] for one in rows)) for name in ("x", "series"))
    places: dict[str, Any] = {"x": alt.X("x:N", sort=groups)}
    if any(series):
        places["xOffset"] = alt.XOffset("series:N", sort=series)
    shown = on.legend([_NAME], symbolType=_BAR)
    key = alt.Fill("key:N", scale=alt.Scale(domain=[_NAME], range=[INK]), legend=shown)
    mark = base.mark_tick(thickness=2 * on.font / 12, orient="horizontal")
    strokes: alt.Chart = mark.encode(y="theory:Q", fill=key, tooltip=_TOOLTIP, **places)
    return strokes
