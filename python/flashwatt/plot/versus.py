"""A figure of the report against a parameter, with confidence intervals: lines over numbers, bars over names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from flashwatt import _core
from flashwatt.base.labels import Labels
from flashwatt.base.scripts import blaming
from flashwatt.base.units import setting
from flashwatt.plot import beside, hollow
from flashwatt.plot.chart import Chart
from flashwatt.plot.chosen import MARKS, chosen
from flashwatt.plot.means import Mean, Scales, lines, named, rows_of
from flashwatt.report.axes import figure, word
from flashwatt.report.doubts import TOO_SHORT, is_wide
from flashwatt.sweeps.results import Results
from flashwatt.sweeps.statistics import mean_and_ci

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import altair as alt
    from typing_extensions import Unpack

    from flashwatt.plot.style import Canvas, Look


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
    theory: Callable[[Any], float] | Mapping[Any, float] | bool = False,
    **look: Unpack[Look],
) -> Chart:
    """Draw a figure against a parameter: means over seeds with their confidence intervals (Student's t).

    `results` are those of a sweep, or a frame with a row for each run as `Results.frame` and results.parquet have it.
    `x` is a column, usually a key of the grid: numbers give lines over an axis to scale, anything else bars. `y` is a
    figure by its dotted key. `by` names the column, or columns, that lines or bars of different colours distinguish.
    `where` keeps the runs with these values of columns only: `{"gc.policy": "greedy"}`, or a list of several values.
    `log_x` and `log_y` make an axis logarithmic; names have points there, as bars could begin nowhere. `zero` says
    whether the axis of lines begins at 0; unless given it does so if a value is below half of the highest one. Bars
    begin at 0. `labels` renames axes, the legend and what it lists, as in `Results.to_latex`; a unit stays behind the
    name of an axis. Further options are those of `Chart.restyle`. Runs that are not complete are left out. Where no
    mean is below 0, an interval that reaches there is cut off at 0, without a stroke at this end.

    Hollow are the figures that tables mark `†`, not steady, and `‡`, too short: quantiles of too few requests, and
    means whose interval is wider than they are. A frame knows the latter alone.

    `theory` draws closed forms beside the means. True draws those of `flashwatt.theory.of_config` for the write
    amplification, at each point of the picture, from its configuration; the subtitle names the points without one. A
    dictionary gives a value for each value of `x`, in the units of the report, and is drawn at these alone. A function
    of the value of `x` is called between the points, too, 60 times over an axis of numbers: one that makes a drive of
    each value gives stairs, as drives have whole blocks. Draw that at the points alone:
    `theory={value: f(value) for value in (0.1, 0.2, 0.3)}`.

    >>> chart = plot.versus(results, x="device.op_ratio", y="flash.write_amplification", by="gc.policy")
    >>> chart.restyle(width=252, title=None).save("wa.pdf")

    Raises `FlashwattError` for an unknown column, for one that varies and is in neither `x`, `by` nor `where`, for no
    run to draw, and for values ≤ 0 on a logarithmic axis.
    """
    series = [by] if isinstance(by, str) else list(by or [])
    frame = chosen(results, x, y, series, where or {})
    called = _labelled(results, frame, [x, *series], labels)
    means = _means(frame, x, y, series, confidence, labels=called)
    numeric = frame[x].dtype.is_numeric()
    axes = (
        figure(x, [one.x for one in means] if numeric else [], called.name(x, word(x))),
        figure(y, [one.mean for one in means], called.name(y, word(y))),
    )
    _check_logarithms(means, (x, y), log_x=log_x, log_y=log_y, numeric=numeric)
    scales = Scales(log_x, log_y, zero)
    legend = ", ".join(called.name(key, word(key)) for key in series)

    known_forms = beside.forms(results, frame, theory, (x, y, series), means)

    def draw(on: Canvas) -> alt.LayerChart:
        rows = rows_of(means, axes, numeric=numeric)
        drawn = (lines if numeric else named)(rows, axes, legend, scales, on)
        return beside.drawn(drawn, known_forms, axes, on, numeric=numeric) if known_forms.points else drawn

    title = f"{called.name(y, word(y))} against {called.name(x, word(x))}"
    said = (
        _said(means, confidence),
        *hollow.said(one.marks for one in means),
        *beside.said(known_forms, numeric=numeric),
    )
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


def _means(frame: pl.DataFrame, x: str, y: str, by: list[str], confidence: float, *, labels: Labels) -> list[Mean]:
    means = []
    for keys, rows in frame.group_by([x, *by], maintain_order=True):
        mean, half = mean_and_ci(rows[y].cast(pl.Float64).to_list(), confidence)
        there = [(key, one) for key, one in zip(by, keys[1:], strict=True) if one is not None]
        series = ", ".join(labels.value(key, setting(one), str(one)) for key, one in there)
        at = labels.value(x, keys[0]) if isinstance(keys[0], str) else keys[0]
        marks = "".join(rows[MARKS]) + (TOO_SHORT if is_wide(mean, half) else "")
        means.append(Mean(at, series, len(rows), mean, half, "".join(dict.fromkeys(marks))))
    return means


def _check_logarithms(means: list[Mean], names: tuple[str, str], *, log_x: bool, log_y: bool, numeric: bool) -> None:
    if log_x and not numeric:
        raise _core.FlashwattError(f"log_x: {names[0]} holds no numbers; expected a column of numbers")
    for option, name, values in (
        ("log_x", names[0], [one.x for one in means] if log_x else []),
        ("log_y", names[1], [one.mean for one in means] if log_y else []),
    ):
        if wrong := [value for value in values if value <= 0]:
            raise _core.FlashwattError(f"{option}: found {name} = {wrong[0]:g}; expected values above 0")


def _said(means: list[Mean], confidence: float) -> str:
    runs = [one.runs for one in means]
    if max(runs) == 1:
        return "One run for each point: there are no intervals."
    seeds = f"{runs[0]} runs" if min(runs) == max(runs) else f"{min(runs)} to {max(runs)} runs"
    return f"Means over {seeds} for each point; bars: {100 * confidence:g} % confidence interval."
