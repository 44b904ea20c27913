"""Closed forms beside the means of a figure against a parameter: dashed lines, or strokes across bars."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt import _core
from flashwatt.base.literals import shown
from flashwatt.plot.style import INK, short
from flashwatt.sweeps.results import Results
from flashwatt.theory import of_config

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from flashwatt.plot.style import Canvas
    from flashwatt.report.axes import Figure

_OF_THEORY = ("flash.write_amplification", "flash.gc_factor")
_SAMPLES = 60  # of a function, from the lowest to the highest value


def forms(
    results: Results | pl.DataFrame,
    frame: pl.DataFrame,
    theory: Callable[[Any], float] | bool,
    names: tuple[str, str, Sequence[str]],
    means: Sequence[Any],
) -> list[dict[str, Any]]:
    """Give the points of theory: `x` as the means have it, `series`, and `value` in the unit of the report.

    Raises `FlashwattError` for a figure or a configuration without a closed form, and for values that are no numbers.
    """
    if not theory:
        return []
    if callable(theory):
        return [{"x": x, "series": "", "value": _number(theory(x), x)} for x in _places([one.x for one in means])]
    if theory is not True:
        raise _core.FlashwattError(f"theory: found {shown(theory)}; expected True, or a function of {names[0]}")
    if not isinstance(results, Results):
        raise _core.FlashwattError("theory: found a frame; expected the Results of a sweep, or a function")
    if names[1] not in _OF_THEORY:
        expected = " or ".join(_OF_THEORY)
        raise _core.FlashwattError(f"theory: no closed form of {names[1]}; expected y = {expected}, or a function")
    return _of_runs(results, frame, names, means)


def _of_runs(
    results: Results, frame: pl.DataFrame, names: tuple[str, str, Sequence[str]], means: Sequence[Any]
) -> list[dict[str, Any]]:
    """Give one value for each point of the picture, from the configuration of one of its runs."""
    keys = [names[0], *names[2]]
    wanted = list(dict.fromkeys(frame.select(keys).rows()))
    whole = results.frame().select(keys).rows()
    values: dict[tuple[Any, ...], float] = {}
    for cells, run in zip(whole, results, strict=True):
        if cells in wanted and cells not in values:
            values[cells] = of_config(run.report.config).write_amplification
    return [
        {"x": mean.x, "series": mean.series, "value": values[cells]} for cells, mean in zip(wanted, means, strict=True)
    ]


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


def drawn(
    chart: alt.LayerChart, points: list[dict[str, Any]], axes: tuple[Figure, Figure], on: Canvas, *, numeric: bool
) -> alt.LayerChart:
    """Lay the points over a chart of means."""
    rows = [
        {
            "x": short(one["x"] / axes[0].size) if numeric else str(one["x"]),
            "series": one["series"],
            "theory": short(one["value"] / axes[1].size),
        }
        for one in points
    ]
    base = alt.Chart(alt.InlineData(values=rows))
    part = on.font / 12
    tooltip = [alt.Tooltip("series:N"), alt.Tooltip("theory:Q", format=".5~g")]
    if numeric:
        line = base.mark_line(strokeDash=[5, 3], strokeWidth=1.2 * part, color=INK, clip=True)
        mark = line.encode(x="x:Q", y="theory:Q", detail="series:N", tooltip=tooltip)
    else:
        groups, series = (list(dict.fromkeys(one[name] for one in rows)) for name in ("x", "series"))
        places: dict[str, Any] = {"x": alt.X("x:N", sort=groups)}
        if len(series) > 1:
            places["xOffset"] = alt.XOffset("series:N", sort=series)
        mark = base.mark_tick(color=INK, thickness=2 * part, orient="horizontal")
        mark = mark.encode(y="theory:Q", tooltip=tooltip, **places)
    both = chart.copy()
    both.layer = [*both.layer, mark]
    return both
