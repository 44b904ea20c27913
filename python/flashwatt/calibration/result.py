"""The result of a calibration: the fitted parameters, every row's figure, what the table determines."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from flashwatt.calibration.identify import RULE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from flashwatt.calibration.choices import Choice
    from flashwatt.calibration.fit import End, Problem
    from flashwatt.calibration.identify import Identified

    Vector = NDArray[np.float64]

_FELT = 0.05
"""Least share of a parameter's whole effect on the table that a row must have to count as one that it is fitted to."""
_APART = 0.05
"""Share of its range by which another end that fits as well must differ to be shown."""


@dataclass(frozen=True)
class Fitted:
    """A parameter of the fit."""

    key: str
    value: float
    start: float
    """The table's start; else the preset's value, within the bounds."""
    min: float
    max: float
    scale: str
    standard_error: float | None
    """In the unit of the value, at the optimum; None for a fit that was interrupted."""
    determined: bool | None
    """Whether the table determines it (see `rule`); None for a fit that was interrupted."""
    not_apart_from: tuple[str, ...]
    """Parameters from which the table cannot tell it apart."""
    at_bound: str | None
    """`min` or `max`, if the fit ended there."""
    rows: tuple[str, ...]
    """The rows that it is fitted to: those with a share in its effect on the table."""
    rivals: tuple[float, ...]
    """Its values at other ends of the search that fit as well within the noise."""


@dataclass(frozen=True)
class Point:
    """A measured figure beside the fitted drive's."""

    row: str
    key: str
    held_out: bool
    measured: float
    noise: float
    predicted: float | None
    """None for a row held out that cannot be run at the fitted values, or was not before an interruption."""
    deviation: float | None
    """(predicted − measured) / measured; None for a measured 0."""
    deviation_noises: float | None
    """(predicted − measured) / noise."""
    standard_error: float | None
    """Of the prediction, from the parameters' covariance."""
    elasticities: dict[str, float | None]
    """Change in per cent for a parameter that is 1 % larger; None for a parameter or a figure that is 0."""
    slopes: dict[str, float]
    """Change in the figure's unit for a parameter that is larger by 1 in its own unit."""


@dataclass(frozen=True)
class Held:
    """A key that was not fitted."""

    key: str
    value: Any
    source: str


@dataclass
class Calibration:
    """A preset fitted to a table of measurements."""

    preset: str
    table: str
    table_sha256: str
    status: str
    """`complete`, or `interrupted`: then the values are the best until that time."""
    parameters: list[Fitted]
    points: list[Point]
    held: list[Held]
    singular_values: list[float]
    correlations: list[list[float]]
    starts: int
    best_starts: int
    """Starts of the search that ended at the same fit."""
    seed: int
    runs: int
    """Runs that the search simulated."""
    found_runs: int
    """Runs that it found in the journal of an earlier one."""
    failures: dict[str, int]
    """Faults of configurations that the search asked for, with their numbers."""
    choices: list[Choice] = field(default_factory=list)
    text: str = field(default="", repr=False)
    """The calibrated preset, as a configuration in TOML."""

    rule = RULE

    @property
    def values(self) -> dict[str, float]:
        """The fitted values by key: overrides of a configuration."""
        return {one.key: one.value for one in self.parameters}

    @property
    def identifiable(self) -> bool | None:
        """Whether the table determines every parameter; None for a fit that was interrupted."""
        return None if self.status != "complete" else all(one.determined for one in self.parameters)

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """The parameters that the table does not determine; several together cannot be told apart."""
        groups = dict.fromkeys(
            tuple(sorted((one.key, *one.not_apart_from))) for one in self.parameters if one.determined is False
        )
        return list(groups)

    @property
    def rms_noises(self) -> float:
        """Root of the mean square of the fitted rows' deviations, in units of their noise, by degrees of freedom."""
        fitted = [one.deviation_noises or 0.0 for one in self.points if not one.held_out]
        freedom = max(1, len(fitted) - len(self.parameters))
        return math.sqrt(sum(one**2 for one in fitted) / freedom)

    @property
    def rms_deviation(self) -> float | None:
        """Root of the mean square of the fitted rows' relative deviations."""
        return rms(one.deviation for one in self.points if not one.held_out)

    @property
    def median_error(self) -> float | None:
        """The median of the absolute relative errors of all rows held out in turn; None without choices."""
        errors = [abs(point.deviation) for one in self.choices for point in one.points if point.deviation is not None]
        return float(np.median(errors)) if errors else None

    def to_dict(self) -> dict[str, Any]:
        """Everything as in calibration.json."""
        content = asdict(self)
        content.pop("text")
        choices = content.pop("choices")
        summary = {
            "identifiable": self.identifiable,
            "not_determined": [list(group) for group in self.groups],
            "rms_noises": self.rms_noises,
            "rms_deviation": self.rms_deviation,
            "rule": self.rule,
        }
        head = {"calibration": self.preset, **{key: content.pop(key) for key in ("table", "table_sha256", "status")}}
        rest = {key: value for key, value in content.items() if key != "preset"}
        held_out = {"choices": choices, "median_error": self.median_error} if choices else {}
        return {**head, **summary, **rest, **held_out}


def error_text(number: float) -> str:
    """Write a standard error with three significant digits, in groups as the value beside it has them."""
    return f"{float(f'{number:.3g}'):,.6g}"


def rms(deviations: Iterable[float | None]) -> float | None:
    """Root of the mean square of the numbers among these; None if there are none."""
    found = [one for one in deviations if one is not None]
    return math.sqrt(sum(one**2 for one in found) / len(found)) if found else None


def points_of(problem: Problem, end: End, slopes: Vector | None, known: Identified | None) -> list[Point]:
    """Lay the figures of all rows at an end beside the measured ones; without slopes those of the fitted rows."""
    found = problem.figures(end.unit, problem.fitted if slopes is None else None)
    values = problem.space.values(end.unit)
    per_unit = None if slopes is None else slopes / problem.space.slope(end.unit)
    points = []
    for number, one in enumerate(problem.bench.table.figures):
        predicted = None if np.isnan(found[number]) else float(found[number])
        off = None if predicted is None else predicted - one.value
        moved = {} if per_unit is None else {key: float(per_unit[number, i]) for i, key in enumerate(values)}
        error = None
        if slopes is not None and known is not None:
            error = float(np.sqrt(slopes[number] @ known.covariance @ slopes[number]))
        points.append(
            Point(
                row=problem.bench.table.rows[one.row].name,
                key=one.key,
                held_out=not problem.used[number],
                measured=one.value,
                noise=one.noise,
                predicted=predicted,
                deviation=_ratio(off, abs(one.value)),
                deviation_noises=_ratio(off, one.noise),
                standard_error=error,
                elasticities={key: _ratio(slope * values[key], predicted) for key, slope in moved.items()},
                slopes=moved,
            )
        )
    return points


def _ratio(change: float | None, of: float | None) -> float | None:
    return change / of if change is not None and of else None


def fitted_of(
    problem: Problem, end: End, jacobian: Vector | None, known: Identified | None, rivals: Sequence[End]
) -> list[Fitted]:
    """Describe the parameters at an end."""
    space, table = problem.space, problem.bench.table
    values, slope = space.values(end.unit), space.slope(end.unit)
    keys = list(values)
    others = [space.values(one.unit) for one in rivals if np.max(np.abs(one.unit - end.unit)) > _APART]
    fitted = []
    for number, one in enumerate(space.parameters):
        value, group = values[one.key], () if known is None else _group(known, number)
        apart = [other[one.key] for other in others if _far(problem, other, end, number)]
        determined = None if known is None else known.determined(number) and not apart
        fitted.append(
            Fitted(
                key=one.key,
                value=value,
                start=problem.bench.start[one.key],
                min=one.low,
                max=one.high,
                scale="log" if one.log else "linear",
                standard_error=None if known is None else float(known.errors[number] * slope[number]),
                determined=determined,
                not_apart_from=tuple(keys[other] for other in group if other != number),
                at_bound="min" if value == one.low else "max" if value == one.high else None,
                rows=() if jacobian is None else _felt(problem, jacobian[:, number], table.rows),
                rivals=tuple(dict.fromkeys(apart)),
            )
        )
    return fitted


def _far(problem: Problem, values: dict[str, float], end: End, number: int) -> bool:
    return bool(abs(problem.space.unit(values)[number] - end.unit[number]) > _APART)


def _group(known: Identified, number: int) -> tuple[int, ...]:
    return next((group for group in known.groups if number in group), ())


def _felt(problem: Problem, column: Vector, rows: Sequence[Any]) -> tuple[str, ...]:
    """Name the rows with a share in a parameter's effect on the fitted figures."""
    figures = [one for one, used in zip(problem.bench.table.figures, problem.used, strict=True) if used]
    whole = float(np.sum(np.abs(column)))
    felt = {
        rows[one.row].name: None
        for one, effect in zip(figures, column, strict=True)
        if whole and abs(effect) > _FELT * whole
    }
    return tuple(felt)
