"""The points of a sweep in two figures at once, and the front of those that no other point beats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt.base.misspelt import known
from flashwatt.plot.chart import Chart
from flashwatt.plot.style import COLOURS, FAINT, HEIGHT, INK, SHAPES, columns, short
from flashwatt.report import metrics

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from flashwatt.report.metrics import Best
    from flashwatt.sweeps.results import Results


def tradeoff(
    results: Results,
    x: str = "throughput.iops",
    y: str = "efficiency.j_per_gb",
    *,
    best: tuple[Best | None, Best | None] = (None, None),
    color: str | None = None,
    shape: str | None = None,
) -> Chart:
    """Draw two figures of every point: means over seeds, bars for their 95 % confidence, a line for the Pareto front.

    `best` gives the better end, "low" or "high", of `x` and of `y`; None takes the figure's own. `color` and `shape`
    are the keys of the grid that colours and shapes distinguish, the first ones unless given. Legends name both; the
    subtitle names further keys, which only the tooltips of a page show. Raises `FlashwattError` for a figure or a key
    that is not in the results.
    """
    known("color", [color] if color else [], results.keys)
    known("shape", [shape] if shape else [], results.keys)
    means = results.summary([x, y])
    good = {name: asked or metrics.best(name) for name, asked in zip((x, y), best, strict=True)}
    ends = {end: [name for name in good if good[name] == end] for end in ("low", "high")}
    front = results.pareto(minimize=ends["low"], maximize=ends["high"])
    told = _told(results.keys, color, shape)
    rows, line = _rows(means, results.keys, x, y), _rows(front.sort(f"{x}.mean"), results.keys, x, y)
    title = (
        f"{_word(y)} against {_word(x)}: {len(front)} of {len(means)} points {'is' if len(front) == 1 else 'are'} best"
    )
    arrows = {"low": "less", "high": "more"}
    wanted = " and ".join(f"{arrows[good[name]]} {_word(name)}" for name in good)
    subtitle = f"Better: {wanted}. Ringed: no other point beats it. Bars: 95 % confidence over seeds."
    others = [key for key in results.keys if key not in told]
    more = (f"Not distinguished here: {', '.join(others)}; point at a dot of the page to see them.",) if others else ()

    def draw(width: Any) -> alt.LayerChart:
        return _points(rows, line, (x, y), width, told=told, keys=results.keys)

    return Chart(title[0].upper() + title[1:], (subtitle, *more), draw)


def _told(keys: list[str], color: str | None, shape: str | None) -> list[str]:
    """Give the key that colours distinguish and the one that shapes do, if the grid has them."""
    first = color or next((key for key in keys if key != shape), None)
    second = shape or next((key for key in keys if key != first), None)
    return [key for key in (first, second) if key]


def _word(name: str) -> str:
    return metrics.METRICS[name].name if name in metrics.METRICS else name


def _rows(means: pl.DataFrame, keys: list[str], x: str, y: str) -> list[dict[str, Any]]:
    rows = []
    for row in means.drop_nulls([f"{x}.mean", f"{y}.mean"]).iter_rows(named=True):
        point: dict[str, Any] = {_field(key): row[key] for key in keys}
        for axis, name in (("x", x), ("y", y)):
            mean, half = row[f"{name}.mean"], row[f"{name}.ci95"] or 0
            point |= {axis: short(mean), f"{axis}_low": short(mean - half), f"{axis}_high": short(mean + half)}
        rows.append(point)
    return rows


def _field(key: str) -> str:
    """Replace dots in a key: Vega-Lite takes them for a path into tables."""
    return key.replace(".", "_")


def _points(
    rows: list[dict[str, Any]],
    front: list[dict[str, Any]],
    names: tuple[str, str],
    width: Any,
    *,
    told: list[str],
    keys: list[str],
) -> alt.LayerChart:
    scale = alt.Scale(zero=False, nice=True, padding=14)
    x = alt.X(
        "x:Q",
        title=metrics.title(names[0]),
        scale=scale,
        axis=alt.Axis(grid=False, tickCount=alt.ExprRef("width / 90")),
    )
    y = alt.Y("y:Q", title=metrics.title(names[1]), scale=scale)
    base = alt.Chart(alt.InlineData(values=rows))
    line = alt.Chart(alt.InlineData(values=front)).mark_line(color=FAINT, strokeDash=[5, 4], strokeWidth=1.2)
    bars_x = base.mark_rule(color=FAINT).encode(
        x=alt.X("x_low:Q", scale=scale, title=metrics.title(names[0])), x2="x_high:Q", y=y
    )
    bars_y = base.mark_rule(color=FAINT).encode(
        x=x, y=alt.Y("y_low:Q", scale=scale, title=metrics.title(names[1])), y2="y_high:Q"
    )
    tooltip = [alt.Tooltip(f"{_field(name)}:N", title=name) for name in keys]
    tooltip += [alt.Tooltip(f"{axis}:Q", title=name, format=".5~g") for axis, name in zip("xy", names, strict=True)]
    rings = alt.Chart(alt.InlineData(values=front)).mark_point(size=260, color=INK, strokeWidth=1.2).encode(x=x, y=y)
    plain = len(told) < 2  # noqa: PLR2004 - hollow shapes are seen where they lie on one another
    dots = base.mark_point(filled=plain, size=90, strokeWidth=2, opacity=0.9).encode(
        x=x, y=y, tooltip=tooltip, **_channels(told, rows)
    )
    chart: Any = alt.layer(line.encode(x=x, y=y), bars_x, bars_y, rings, dots)
    drawn: alt.LayerChart = chart.properties(width=width, height=HEIGHT, autosize=alt.AutoSizeParams(type="fit-x"))
    return drawn


def _legend(key: str, values: Iterable[object]) -> alt.Legend:
    return alt.Legend(orient="bottom", title=key, labelLimit=200, columns=columns(values, 6))


def _channels(told: list[str], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Colours for the first key, shapes for the second, each with a legend under its name."""
    if not told:
        return {"color": alt.value(COLOURS[0])}
    legends = [_legend(key, {row[_field(key)] for row in rows}) for key in told]
    channels: dict[str, Any] = {
        "color": alt.Color(f"{_field(told[0])}:N", scale=alt.Scale(range=COLOURS), legend=legends[0])
    }
    if len(told) > 1:
        channels["shape"] = alt.Shape(f"{_field(told[1])}:N", scale=alt.Scale(range=SHAPES), legend=legends[1])
    return channels
