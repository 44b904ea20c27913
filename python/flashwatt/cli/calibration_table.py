"""The tables of `flashwatt calibrate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from flashwatt.base.units import NOTHING, count
from flashwatt.calibration.fit import GOOD
from flashwatt.calibration.result import error_text
from flashwatt.report.metrics import metric_of
from flashwatt.report.table import emit, foldable, new_table
from flashwatt.sweeps.columns import stdout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from flashwatt.calibration.choices import Choice
    from flashwatt.calibration.result import Calibration, Point

_MODEL_MISSES = 2.0
"""Deviations of the fitted rows in units of their noise from which on the model, or the noise, is in doubt."""
_FELT = 0.0005


def show(found: Calibration) -> None:
    """Print the parameters, the rows, the sensitivities and the choices of rows, with what they say."""
    console = stdout()
    _parameters(found, console)
    for line in _said(found):
        emit(console, Text(line))
    _points(found, console)
    emit(console, Text(_residual(found)))
    _sensitivities(found, console)
    if found.choices:
        _choices(found, console)
    _held(found, console)
    emit(console, Text(f"\nRule: {found.rule}", "dim"))


def value(number: float) -> str:
    """Write a value of a parameter: whole numbers with groups of digits, others with six digits."""
    return count(number) if number == int(number) else f"{number:.6g}"


def _parameters(found: Calibration, console: Console) -> None:
    title = f"{found.preset}, fitted to {found.table}"
    table = new_table(title, "parameter", "start", "fitted", "± error", "range", "")
    for name, one in zip(_names(found), found.parameters, strict=True):
        error = NOTHING if one.standard_error is None else error_text(one.standard_error)
        span = f"{value(one.min)}–{value(one.max)}"
        mark = "?" if one.determined is False else ""
        table.add_row(name, value(one.start), value(one.value), error, span, mark)
    foldable(table, 0)
    emit(console, table)
    if found.groups:
        emit(console, Text("?: not determined by the table"))


def _names(found: Calibration) -> list[str]:
    """The last parts of the parameters' keys, where these tell them apart."""
    keys = [one.key for one in found.parameters]
    names = [key.rpartition(".")[2] for key in keys]
    return names if len(set(names)) == len(names) else keys


def _said(found: Calibration) -> Iterator[str]:
    """Name what the table does not determine, and bounds that were hit."""
    for group in found.groups:
        if len(group) > 1:
            yield f"The table cannot tell apart: {', '.join(group)}."
        elif not any(one.rivals for one in found.parameters if one.key in group):
            yield f"The table says too little about {group[0]}."
    for one in found.parameters:
        if one.rivals:
            others = ", ".join(map(value, one.rivals))
            yield f"{one.key} = {others} fits as well (half the sum of squares within {GOOD:g})."
        if one.at_bound:
            yield f"{one.key} ended at the {one.at_bound} of its range: the best value may lie beyond."
    if found.identifiable:
        yield "The table determines every parameter."
    if found.starts > 1:
        yield f"{found.best_starts} of {found.starts} starts ended at a fit as good as the best."
    else:
        yield "There was one start: whether another one ends at a better fit is open (--starts)."


def _points(found: Calibration, console: Console) -> None:
    table = new_table("\nRows", "row", "figure", "measured", "here", "off by", "noises")
    for one in found.points:
        table.add_row(f"{one.row} (held out)" if one.held_out else one.row, one.key, *_cells(one))
    table.columns[1].justify = "left"
    foldable(table, 1)
    emit(console, table)


def _cells(one: Point) -> tuple[str, ...]:
    write = metric_of(one.key).write
    noises = NOTHING if one.deviation_noises is None else f"{one.deviation_noises:+.2f}"
    return write(one.measured), write(one.predicted), _percent(one.deviation), noises


def _percent(share: float | None) -> str:
    return NOTHING if share is None else f"{100 * share:+.1f} %"


def _residual(found: Calibration) -> str:
    off = found.rms_noises
    fitted = sum(not one.held_out for one in found.points)
    if fitted <= len(found.parameters):
        return "There are as many fitted figures as parameters: how near they come says nothing about the model."
    text = f"The fitted rows are {off:.2f} times their noise from the fit (rms, by degrees of freedom)."
    if off > _MODEL_MISSES:
        return f"{text} The model misses something that the table shows, or the noise is larger: errors are too small."
    return text


def _sensitivities(found: Calibration, console: Console) -> None:
    if any(one.standard_error is None for one in found.parameters):
        return
    title = "\nSensitivity: change of the figure in % for a parameter 1 % larger"
    table = new_table(title, "row", "figure", *_names(found))
    table.columns[1].justify = "left"
    foldable(table, 1)
    for one in found.points:
        cells = [NOTHING if part is None else _elasticity(part) for part in one.elasticities.values()]
        table.add_row(one.row, one.key, *cells)
    emit(console, table)


def _elasticity(part: float) -> str:
    return f"{part:+.3f}" if abs(part) >= _FELT else "0"


def _choices(found: Calibration, console: Console) -> None:
    title = "\nRows held out in turn, predicted by a fit to the others"
    table = new_table(title, "held out", "off by", "not determined by the others")
    for one in found.choices:
        table.add_row(", ".join(one.rows), ", ".join(_percent(point.deviation) for point in one.points), _open(one))
    table.columns[-1].justify = "left"
    foldable(table, -1)
    emit(console, table)
    errors = sum(len(one.points) for one in found.choices)
    loose = sum(bool(one.not_determined) for one in found.choices)
    median = NOTHING if found.median_error is None else f"{100 * found.median_error:.1f} %"
    text = f"Median of {errors} absolute errors of {len(found.choices)} choices: {median}."
    if loose:
        text += f" In {loose} of the choices the other rows do not determine every parameter: the table is too small."
    emit(console, Text(text))


def _open(one: Choice) -> Text:
    return Text("; ".join(" and ".join(key.rpartition(".")[2] for key in group) for group in one.not_determined))


def _held(found: Calibration, console: Console) -> None:
    own = [f"{one.key} = {one.value}" for one in found.held if one.source.startswith("set by")]
    text = f"\nHeld fixed: {len(found.held)} keys of the drive, each with its source in calibrated.toml and --json"
    emit(console, Text(text + (f"; of these by the table: {', '.join(own)}." if own else ".")))
