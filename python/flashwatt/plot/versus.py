"""A figure of the report against a parameter, with confidence intervals: lines over numbers, bars over names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import altair as alt
import polars as pl

from flashwatt import _core
from flashwatt.base.labels import Labels
from flashwatt.base.literals import label, shown
from flashwatt.base.misspelt import known
from flashwatt.base.scripts import blaming
from flashwatt.base.units import setting
from flashwatt.plot import beside
from flashwatt.plot.chart import Chart
from flashwatt.plot.style import DASHES, INK, SHAPES, short
from flashwatt.report.axes import Figure, figure, word
from flashwatt.sweeps.results import Results
from flashwatt.sweeps.statistics import mean_and_ci

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from typing_extensions import Unpack

    from flashwatt.plot.style import Canvas, Look

_NARROW = 0.5  # values of which none is below this share of the highest need no axis from 0
_TICKS_MOST = 10  # values of the parameter that are the ticks of its axis


class _Mean(NamedTuple):
    """One point of the picture."""

    x: Any
    series: str
    runs: int
    mean: float
    half: float | None
    """Half of the interval's width; None for a single run."""


class _Scales(NamedTuple):
    """How the two axes begin and grow."""

    log_x: bool
    log_y: bool
    zero: bool | None


@blaming
def versus(
    results: Results | pl.DataFrame,
    x: str,
    y: str,
    by: str | Sequence[str] | None = None,
    *,
    where: Mapping[str, Any] | None = None,
    log_x: bool = False,
    log_y: bool = False,
    zero: bool | None = None,
    confidence: float = 0.95,
    labels: Mapping[str, Any] | Labels | None = None,
    theory: Callable[[Any], float] | bool = False,
    **look: Unpack[Look],
) -> Chart:
    """Draw a figure against a parameter: means over seeds with their confidence intervals (Student's t).

    `results` are those of a sweep, or a frame with a row for each run as `Results.frame` and results.parquet have it.
    `x` is a column, usually a key of the grid: numbers give lines over an axis to scale, anything else bars. `y` is a
    figure by its dotted key. `by` names the column, or columns, that lines or bars of different colours distinguish.
    `where` keeps the runs with these values of columns only. `log_x` and `log_y` make an axis logarithmic. `zero` says
    whether the axis of lines begins at 0; unless given it does so if a value is below half of the highest one. Bars
    begin at 0. `labels` renames axes, the legend and what it lists, as in `Results.to_latex`; a unit stays behind the
    name of an axis. `theory` draws closed forms beside the means: True those of `flashwatt.theory.of_config` for the
    write amplification of each point, a function of the value of `x` its own values, in the units of the report.
    Further options are those of `Chart.restyle`. Runs that are not complete are left out.

    >>> chart = plot.versus(results, x="device.op_ratio", y="flash.write_amplification", by="gc.policy")
    >>> chart.restyle(width=252, title=None).save("wa.pdf")

    Raises `FlashwattError` for an unknown column, for one that varies and is in neither `x`, `by` nor `where`, for no
    run to draw, and for values ≤ 0 on a logarithmic axis.
    """
    series = [by] if isinstance(by, str) else list(by or [])
    frame = _chosen(results, x, y, series, where or {})
    called = _labelled(results, frame, [x, *series], labels)
    means = _means(frame, x, y, series, confidence, labels=called)
    numeric = frame[x].dtype.is_numeric()
    axes = (
        figure(x, [one.x for one in means] if numeric else [], called.name(x, word(x))),
        figure(y, [one.mean for one in means], called.name(y, word(y))),
    )
    _check_logarithms(means, (x, y), log_x=log_x, log_y=log_y, numeric=numeric)
    scales = _Scales(log_x, log_y, zero)
    legend = ", ".join(called.name(key, word(key)) for key in series)

    known_forms = beside.forms(results, frame, theory, (x, y, series), means)

    def draw(on: Canvas) -> alt.LayerChart:
        rows = _rows(means, axes, numeric=numeric)
        drawn = (_lines if numeric else _bars)(rows, axes, legend, scales, on)
        return beside.drawn(drawn, known_forms, axes, on, numeric=numeric) if known_forms else drawn

    title = f"{called.name(y, word(y))} against {called.name(x, word(x))}"
    said = (_said(means, confidence), *([f"{'Dashed' if numeric else 'Dark strokes'}: theory."] if known_forms else []))
    return Chart(title[0].upper() + title[1:], said, draw, look=look)


def _labelled(
    results: Results | pl.DataFrame, frame: pl.DataFrame, keys: list[str], labels: Mapping[str, Any] | Labels | None
) -> Labels:
    """Take the labels: of anything in the results, or in the columns of a frame."""
    if isinstance(results, Results):
        return results.labelled(labels)
    taken = labels if isinstance(labels, Labels) else Labels(labels)
    taken.check(frame.columns, {key: [setting(one) for one in frame[key].unique(maintain_order=True)] for key in keys})
    return taken


def _chosen(results: Results | pl.DataFrame, x: str, y: str, by: list[str], where: Mapping[str, Any]) -> pl.DataFrame:
    """Give the runs to draw, one row each."""
    if not isinstance(results, Results | pl.DataFrame):
        expected = "expected the Results of a sweep, or a frame with a row for each run"
        raise _core.FlashwattError(f"results: found {shown(results)}; {expected}")
    frame = results.frame() if isinstance(results, Results) else results
    known("x", [x], frame.columns)
    known("y", [y], [name for name, kind in frame.schema.items() if kind.is_numeric()])
    known("by", by, frame.columns)
    known("where", where, frame.columns)
    for key, given in where.items():
        value = label(given) if isinstance(given, dict | list) else given
        if (kept := frame.filter(pl.col(key).eq_missing(pl.lit(value)))).is_empty():
            there = ", ".join(map(str, frame[key].unique(maintain_order=True).to_list()[:20]))
            raise _core.FlashwattError(f"where: no run with {key} = {value!r}; expected one of {there}")
        frame = kept
    if "status" in frame.columns:
        frame = frame.filter(pl.col("status") == "complete")
    frame = frame.filter(pl.col(y).is_not_null() & pl.col(x).is_not_null()).unique(maintain_order=True)
    if frame.is_empty():
        raise _core.FlashwattError(f"no complete run has a value of {y}; expected at least one to draw")
    _check_means(results, frame, [x, *by])
    return frame


def _check_means(results: Results | pl.DataFrame, frame: pl.DataFrame, drawn: list[str]) -> None:
    """Refuse means over different configurations: only seeds may differ among the runs of a point."""
    remedy = "draw it with `by`, or choose one of its values with `where`"
    if isinstance(results, Results):
        for key in results.keys:
            if key not in drawn and frame[key].n_unique() > 1:
                raise _core.FlashwattError(f"`{key}` varies among the runs of a point; {remedy}")
    elif "seed" in frame.columns and frame.select(*drawn, "seed").is_duplicated().any():
        raise _core.FlashwattError(f"a point has several runs of one seed, so something else varies; {remedy}")


def _means(frame: pl.DataFrame, x: str, y: str, by: list[str], confidence: float, *, labels: Labels) -> list[_Mean]:
    means = []
    for keys, rows in frame.group_by([x, *by], maintain_order=True):
        mean, half = mean_and_ci(rows[y].cast(pl.Float64).to_list(), confidence)
        there = [(key, one) for key, one in zip(by, keys[1:], strict=True) if one is not None]
        series = ", ".join(labels.value(key, setting(one), str(one)) for key, one in there)
        at = labels.value(x, keys[0]) if isinstance(keys[0], str) else keys[0]
        means.append(_Mean(at, series, len(rows), mean, half))
    return means


def _check_logarithms(means: list[_Mean], names: tuple[str, str], *, log_x: bool, log_y: bool, numeric: bool) -> None:
    if log_x and not numeric:
        raise _core.FlashwattError(f"log_x: {names[0]} holds no numbers; expected a column of numbers")
    for option, name, values in (
        ("log_x", names[0], [one.x for one in means] if log_x else []),
        ("log_y", names[1], [one.mean for one in means] if log_y else []),
    ):
        if wrong := [value for value in values if value <= 0]:
            raise _core.FlashwattError(f"{option}: found {name} = {wrong[0]:g}; expected values above 0")


def _said(means: list[_Mean], confidence: float) -> str:
    runs = [one.runs for one in means]
    if max(runs) == 1:
        return "One run for each point: there are no intervals."
    seeds = f"{runs[0]} runs" if min(runs) == max(runs) else f"{min(runs)} to {max(runs)} runs"
    return f"Means over {seeds} for each point; bars: {100 * confidence:g} % confidence interval of the mean."


def _rows(means: list[_Mean], axes: tuple[Figure, Figure], *, numeric: bool) -> list[dict[str, Any]]:
    across, up = axes
    return [
        {
            "x": float(f"{one.x / across.size:.12g}") if numeric else str(one.x),
            "series": one.series,
            "mean": short(one.mean / up.size),
            "low": short((one.mean - (one.half or 0)) / up.size),
            "high": short((one.mean + (one.half or 0)) / up.size),
            "half": None if one.half is None else short(one.half / up.size),
            "runs": one.runs,
        }
        for one in means
    ]


def _lines(
    rows: list[dict[str, Any]], axes: tuple[Figure, Figure], legend: str, scales: _Scales, on: Canvas
) -> alt.LayerChart:
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
    line = base.mark_line(strokeWidth=1.6 * part, **style).encode(x=x, y=y, **told)
    dots = base.mark_point(filled=True, size=56 * part * part, opacity=1, **style)
    dots = dots.encode(x=x, y=y, tooltip=_tooltip(axes), **{k: v for k, v in told.items() if k != "strokeDash"})
    if told:
        names = list(dict.fromkeys(row["series"] for row in rows))
        shape = alt.Shape(
            "series:N", scale=alt.Scale(domain=names, range=SHAPES), legend=on.legend(names, title=legend)
        )
        dots = dots.encode(shape=shape)
    colour = {key: value for key, value in told.items() if key == "color"}
    whiskers = _whiskers(base, {"x": x, **colour}, y, on)
    drawn: alt.LayerChart = on.sized(alt.layer(line, *whiskers, dots))
    return drawn


def _bars(
    rows: list[dict[str, Any]], axes: tuple[Figure, Figure], legend: str, scales: _Scales, on: Canvas
) -> alt.LayerChart:
    groups = list(dict.fromkeys(row["x"] for row in rows))
    names = list(dict.fromkeys(row["series"] for row in rows))
    places: dict[str, Any] = {"x": alt.X("x:N", sort=groups, title=axes[0].title, axis=on.named(groups))}
    if len(names) > 1:
        places["xOffset"] = alt.XOffset("series:N", sort=names)
    y = _value_axis(rows, axes[1].title, scales, on, bars=True)
    base = alt.Chart(alt.InlineData(values=rows))
    colour = {key: value for key, value in _told(rows, legend, on).items() if key == "color"}
    foot = {"y2": alt.Y2Datum(_least(rows))} if scales.log_y else {}
    style: dict[str, Any] = {} if colour else {"color": on.colours[0]}
    drawn = base.mark_bar(**style)
    drawn = drawn.encode(y=y, tooltip=_tooltip(axes), **places, **colour, **foot)
    laid: alt.LayerChart = on.sized(alt.layer(drawn, *_whiskers(base, places, y, on, INK)))
    return laid


def _whiskers(base: alt.Chart, places: dict[str, Any], y: alt.Y, on: Canvas, color: str | None = None) -> list[Any]:
    """The intervals, each a line with a stroke at either end; none for a point of one run."""
    part = on.font / 12
    style: dict[str, Any] = {"color": color or on.colours[0]} if color or "color" not in places else {}
    there = base.transform_filter("datum.half !== null")
    ends = [y.copy(), y.copy()]
    for end, name in zip(ends, ("low:Q", "high:Q"), strict=True):
        end.shorthand = name
    bar = there.mark_rule(strokeWidth=1.2 * part, **style).encode(y=ends[0], y2="high:Q", **places)
    caps = [
        there.mark_tick(orient="horizontal", size=7 * part, thickness=1.2 * part, **style).encode(y=end, **places)
        for end in ends
    ]
    return [bar, *caps]


def _told(rows: list[dict[str, Any]], legend: str, on: Canvas) -> dict[str, Any]:
    """Colours of the series, and strokes where greys need them; nothing for a single series."""
    names = list(dict.fromkeys(row["series"] for row in rows))
    if not legend:
        return {}
    shown = on.legend(names, title=legend)
    told: dict[str, Any] = {
        "color": alt.Color("series:N", scale=alt.Scale(domain=names, range=on.colours), legend=shown)
    }
    if on.dashed:
        told["strokeDash"] = alt.StrokeDash("series:N", scale=alt.Scale(domain=names, range=DASHES), legend=shown)
    return told


def _value_axis(rows: list[dict[str, Any]], title: str, scales: _Scales, on: Canvas, *, bars: bool) -> alt.Y:
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    axis = (
        alt.Axis(tickCount=on.rows(), format="~g", labelOverlap=True) if scales.log_y else alt.Axis(tickCount=on.rows())
    )
    if scales.log_y:
        scale = alt.Scale(type="log", domain=[_least(rows) if bars else _lowest(rows), high], nice=not bars, clamp=True)
    else:
        wanted = scales.zero if scales.zero is not None else low < _NARROW * high
        scale = alt.Scale(domain=[min(low, 0) if bars or wanted else low, max(high, 0) if bars else high], nice=True)
    return alt.Y("mean:Q", title=title, axis=axis, scale=scale)


def _lowest(rows: list[dict[str, Any]]) -> float:
    """The lowest value that a logarithmic axis can show: an interval may reach below 0."""
    return float(min(row["low"] if row["low"] > 0 else row["mean"] for row in rows))


def _least(rows: list[dict[str, Any]]) -> float:
    """The power of ten below all bars: a logarithmic axis has no 0 to begin at."""
    return float(10.0 ** math.floor(math.log10(_lowest(rows)) - 1e-9))


def _tooltip(axes: tuple[Figure, Figure]) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("series:N"),
        alt.Tooltip("x:N", title=axes[0].title),
        alt.Tooltip("mean:Q", title=axes[1].title, format=".5~g"),
        alt.Tooltip("half:Q", title="±", format=".3~g"),
        alt.Tooltip("runs:Q"),
    ]
