"""The points of a sweep in two figures at once, and the front of those that no other point beats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt import _core
from flashwatt.base.literals import shown
from flashwatt.base.misspelt import known
from flashwatt.base.scripts import blaming
from flashwatt.base.units import NOTHING, setting
from flashwatt.plot.chart import Chart
from flashwatt.plot.style import FAINT, INK, SHAPES, short
from flashwatt.report import metrics
from flashwatt.report.axes import Figure, figures, word
from flashwatt.sweeps.results import Results

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from typing_extensions import Unpack

    from flashwatt.base.labels import Labels
    from flashwatt.plot.style import Canvas, Look
    from flashwatt.report.metrics import Best

_SPEED = (
    metrics.OPERATIONS_PER_S,
    "throughput.iops",
    "latency_ns.write.p99",
    "latency_ns.read.p99",
    "latency_ns.write.mean",
)
_COST = (
    metrics.OPERATION_J,
    "efficiency.j_per_gb",
    "energy_j.total",
    "power_w.mean",
    "flash.write_amplification",
    "flash.erases.total",
)
_VARIES = 0.005  # of the highest mean: figures that differ by less are no choice


@blaming
def tradeoff(
    results: Results,
    x: str | None = None,
    y: str | None = None,
    *,
    best: tuple[Best | None, Best | None] = (None, None),
    color: str | None = None,
    shape: str | None = None,
    labels: Mapping[str, Any] | Labels | None = None,
    **look: Unpack[Look],
) -> Chart:
    """Draw two figures of every point: means over seeds, bars for their 95 % confidence, a line for the Pareto front.

    `x` and `y` are figures by their dotted keys. Unless given, `x` is the first of operations on files, throughput,
    latencies, and `y` the first of energy per operation, energy per GB, energy, mean power, write amplification, blocks
    erased, that differs by more than 0.5 % among the points. `best` gives the better end, "low" or "high", of `x` and
    of `y`; None takes the figure's own. `color` and `shape` are the keys of the grid that colours and shapes
    distinguish: the first ones with several values unless given.
    Legends name both; the values of further keys stand beside
    the points. `labels` renames axes, legends and what they list, as in `Results.to_latex`.
    Further options are those of `Chart.restyle`. Raises `FlashwattError` for a
    figure or a key that is not in the results.
    """
    if not isinstance(results, Results):
        raise _core.FlashwattError(f"results: found {shown(results)}; expected the Results of a sweep")
    called = results.labelled(labels)
    known("color", [color] if color else [], results.keys)
    known("shape", [shape] if shape else [], results.keys)
    x = x or _varying(results, _SPEED, besides=y)
    y = y or _varying(results, _COST, besides=x)
    means = results.summary(list(dict.fromkeys([x, y])))
    good = {name: asked or metrics.best(name) for name, asked in zip((x, y), best, strict=True)}
    ends = {end: [name for name in good if good[name] == end] for end in ("low", "high")}
    front = results.pareto(minimize=ends["low"], maximize=ends["high"])
    vary = [key for key in results.keys if means[key].n_unique() > 1]
    told = _told(vary, color, shape)
    axes = figures(means, x, called.name(x, word(x))), figures(means, y, called.name(y, word(y)))
    rows = _rows(means, results.keys, axes, called)
    line = _rows(front.sort(f"{x}.mean"), results.keys, axes, called)
    names = {key: called.name(key, word(key)) for key in (x, y, *results.keys)}
    title = (
        f"{names[y]} against {names[x]}: {len(front)} of {len(means)} points {'is' if len(front) == 1 else 'are'} best"
    )
    arrows = {"low": "less", "high": "more"}
    wanted = " and ".join(f"{arrows[good[name]]} {names[name]}" for name in good)
    subtitle = f"Better: {wanted}. Ringed: no other point beats it. Bars: 95 % confidence over seeds."
    others = [key for key in vary if key not in told]
    more = (f"Beside the points: {', '.join(names[key] for key in others)}.",) if others else ()
    for row in rows:
        row["beside"] = ", ".join(str(row[_field(key)]) for key in others)

    def draw(on: Canvas) -> alt.LayerChart:
        return _points(rows, line, axes, on, told=told, names={key: names[key] for key in results.keys})

    return Chart(title[0].upper() + title[1:], (subtitle, *more), draw, "Point at a dot to see its values.", look)


def _varying(results: Results, names: tuple[str, ...], besides: str | None) -> str:
    """Give the first of these figures that differs among the points; the first of them if none does."""
    there = [name for name in names if name in results.metrics and name != besides]
    means = results.summary(there)
    for name in there:
        values = [abs(value) for value in means[f"{name}.mean"] if value is not None]
        if values and max(values) - min(values) > _VARIES * max(values):
            return name
    return next(iter(there), names[0])


def _told(keys: list[str], color: str | None, shape: str | None) -> list[str]:
    """Give the key that colours distinguish and the one that shapes do, if there are any."""
    first = color or next((key for key in keys if key != shape), None)
    second = shape or next((key for key in keys if key != first), None)
    return [key for key in (first, second) if key]


def _rows(means: pl.DataFrame, keys: list[str], axes: tuple[Figure, Figure], labels: Labels) -> list[dict[str, Any]]:
    rows = []
    for row in means.drop_nulls([f"{axis.key}.mean" for axis in axes]).iter_rows(named=True):
        point: dict[str, Any] = {_field(key): _value(key, row[key], labels) for key in keys}
        for name, axis in zip("xy", axes, strict=True):
            mean, half = row[f"{axis.key}.mean"] / axis.size, (row[f"{axis.key}.ci95"] or 0) / axis.size
            point |= {name: short(mean), f"{name}_low": short(mean - half), f"{name}_high": short(mean + half)}
        rows.append(point)
    return rows


def _value(key: str, value: Any, labels: Labels) -> Any:
    """A value of the grid as legends have it: a number stays one, and in its order, unless it has a label."""
    if value is None:
        return NOTHING
    text = setting(value)
    label = labels.value(key, text)
    return value if label == text else label


def _field(key: str) -> str:
    """Replace dots in a key: Vega-Lite takes them for a path into tables."""
    return key.replace(".", "_")


def _points(
    rows: list[dict[str, Any]],
    front: list[dict[str, Any]],
    axes: tuple[Figure, Figure],
    on: Canvas,
    *,
    told: list[str],
    names: dict[str, str],
) -> alt.LayerChart:
    part, scale = on.font / 12, alt.Scale(zero=False, nice=True, padding=14 * on.font / 12)
    x = alt.X("x:Q", title=axes[0].title, scale=scale, axis=alt.Axis(grid=False, tickCount=on.ticks(90)))
    y = alt.Y("y:Q", title=axes[1].title, scale=scale, axis=alt.Axis(tickCount=on.rows()))
    base = alt.Chart(alt.InlineData(values=rows))
    line = alt.Chart(alt.InlineData(values=front)).mark_line(color=FAINT, strokeDash=[5, 4], strokeWidth=1.2)
    bars_x = base.mark_rule(color=FAINT).encode(
        x=alt.X("x_low:Q", scale=scale, title=axes[0].title), x2="x_high:Q", y=y
    )
    bars_y = base.mark_rule(color=FAINT).encode(
        x=x, y=alt.Y("y_low:Q", scale=scale, title=axes[1].title), y2="y_high:Q"
    )
    tooltip = [alt.Tooltip(f"{_field(name)}:N", title=called) for name, called in names.items()]
    tooltip += [
        alt.Tooltip(f"{name}:Q", title=axis.title, format=".5~g") for name, axis in zip("xy", axes, strict=True)
    ]
    ringed = alt.Chart(alt.InlineData(values=front))
    rings = ringed.mark_point(size=260 * part * part, color=INK, strokeWidth=1.2 * part).encode(x=x, y=y)
    plain = len(told) < 2  # noqa: PLR2004 - hollow shapes are seen where they lie on one another
    dots = base.mark_point(filled=plain, size=90 * part * part, strokeWidth=2 * part, opacity=0.9).encode(
        x=x, y=y, tooltip=tooltip, **_channels(told, rows, names, on)
    )
    words = []
    if any(row["beside"] for row in rows):
        style: dict[str, Any] = {"align": "left", "dx": 9 * part, "dy": -8 * part, "fontSize": 0.85 * on.font}
        words = [base.mark_text(**style, color=FAINT).encode(x=x, y=y, text="beside:N")]
    drawn: alt.LayerChart = on.sized(alt.layer(line.encode(x=x, y=y), bars_x, bars_y, rings, *words, dots))
    return drawn


def _channels(told: list[str], rows: list[dict[str, Any]], names: dict[str, str], on: Canvas) -> dict[str, Any]:
    """Colours for the first key, shapes for the second, each with a legend under its name."""
    if not told:
        return {"color": alt.value(on.colours[0])}
    legends = [on.legend({row[_field(key)] for row in rows}, 6, title=names[key]) for key in told]
    colours = alt.Scale(range=on.colours)
    channels: dict[str, Any] = {"color": alt.Color(f"{_field(told[0])}:N", scale=colours, legend=legends[0])}
    if len(told) > 1:
        channels["shape"] = alt.Shape(f"{_field(told[1])}:N", scale=alt.Scale(range=SHAPES), legend=legends[1])
    return channels
