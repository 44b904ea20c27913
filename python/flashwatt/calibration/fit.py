"""The search for the values that come nearest to the measured figures, from several starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from flashwatt import _core
from flashwatt.calibration.solver import descend, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    from numpy.typing import NDArray

    from flashwatt.calibration.bench import Bench
    from flashwatt.calibration.space import Space, Unit

    Vector = NDArray[np.float64]

_TRIED = 40
"""Places that are looked at for each start: some configurations of a range may be refused."""
_EQUAL = 1e-9
"""Share of the misfit by which it may grow when a parameter goes back to its start, or to a bound."""
_AT_BOUND = 1e-3
"""Share of its range within which a parameter is tried at its bound."""
GOOD = 2.0
"""Difference of half the sum of squares up to which another end counts as equally good: two standard deviations."""


@dataclass(frozen=True)
class End:
    """Where a search ended."""

    unit: Unit
    misfit: float
    """Half the sum of squared residuals, each in units of its noise."""


class Problem:
    """The residuals of the rows that are fitted, and the slopes of all rows."""

    def __init__(self, bench: Bench, space: Space, fitted: Iterable[int]) -> None:
        """Take the rows with these numbers as fitted; the others are predicted."""
        self.fitted = frozenset(fitted)
        figures = bench.table.figures
        self.bench, self.space = bench, space
        self.used = np.array([one.row in self.fitted for one in figures])
        self.measured = np.array([one.value for one in figures])
        self.noise = np.array([one.noise for one in figures])
        self.best: End | None = None
        """The best place so far: what is left after an interruption."""

    def figures(self, unit: Unit, rows: Container[int] | None = None) -> Vector:
        """Give the figures of all rows at a place; with `rows`, those of the others are nan."""
        return np.asarray(self.bench.figures([self.space.values(unit)], rows)[0], dtype=float)

    def residuals(self, unit: Unit) -> Vector:
        """Give the deviations of the fitted rows in units of their noise."""
        found = ((self.figures(unit, self.fitted) - self.measured) / self.noise)[self.used]
        found = np.where(np.isfinite(found), found, np.inf)
        misfit = float(np.sum(found**2) / 2)
        if np.isfinite(misfit) and (self.best is None or misfit < self.best.misfit):
            self.best = End(unit.copy(), misfit)
        return np.asarray(found, dtype=float)

    def misfit(self, unit: Unit) -> float:
        """Give half the sum of squares at a place; infinite where a row cannot be run."""
        return float(np.sum(self.residuals(unit) ** 2) / 2)

    def slopes(self, unit: Unit, rows: Container[int] | None = None, *, both: bool = True) -> Vector:
        """By how much each figure grows over a parameter's whole range, at this place: a column for each parameter.

        With `rows`, of these rows of the table alone. Difference quotients to both sides, or to one: that costs half of
        the runs, and its error is far below the noise. A side beyond a bound, or that cannot be run, is left out.
        """
        pairs = [self.space.around(unit, number) for number in range(len(unit))]
        chosen = pairs if both else [_one_side(pair, unit, number) for number, pair in enumerate(pairs)]
        points = [unit, *(place for places in chosen for place in places)]
        found = iter(self.bench.figures([self.space.values(place) for place in points], rows))
        middle, first = self.space.unit(self.space.values(unit)), next(found)
        columns = []
        for number, places in enumerate(chosen):
            sides = [(float(middle[number]), first), *((float(place[number]), next(found)) for place in places)]
            columns.append(_quotient(sides))
        slopes = np.array(columns).T
        lost = np.isnan(slopes).any(axis=1) & np.isfinite(first)
        if lost.any() and not both:
            return self.slopes(unit, rows)
        return np.asarray(np.nan_to_num(slopes, nan=0.0), dtype=float)

    def jacobian(self, unit: Unit) -> Vector:
        """Give the slopes of the fitted rows in units of their noise."""
        return self.scaled(self.slopes(unit, self.fitted, both=False))

    def scaled(self, slopes: Vector) -> Vector:
        """Give the fitted rows of slopes in units of their noise."""
        return np.asarray((slopes / self.noise[:, None])[self.used], dtype=float)


def _one_side(pair: tuple[Unit, Unit], unit: Unit, number: int) -> tuple[Unit, ...]:
    """Choose the place above, or below where the upper bound is near."""
    below, above = pair
    return (above,) if above[number] > unit[number] else (below,)


def _quotient(sides: Sequence[tuple[float, Vector]]) -> Vector:
    """Give the difference quotient between the farthest two places with figures; nan where there are not two."""
    found = np.full_like(sides[0][1], np.nan)
    pairs = sorted(combinations(sorted(sides, key=lambda side: side[0]), 2), key=lambda two: two[1][0] - two[0][0])
    for (first, low), (last, high) in pairs:  # the farthest two come last, and count
        if last > first:
            quotient = (high - low) / (last - first)
            found = np.where(np.isfinite(quotient), quotient, found)
    return found


@dataclass
class Search:
    """A search from several starts."""

    problem: Problem
    starts: int
    seed: int
    told: Callable[[int, float | None], object] = lambda _ended, _misfit: None
    """Hears after each start how many have ended, and the least misfit."""
    ends: list[End] = field(default_factory=list)

    def run(self) -> End:
        """Give the best end, with parameters of no effect at their starts.

        Raises `FlashwattError` if no start could be run.
        """
        first = self.problem.space.unit(self.problem.bench.start)
        for number, start in enumerate([first, *self._others()]):
            if not np.isfinite(self.problem.residuals(start)).all():
                continue
            unit = descend(self.problem.residuals, self.problem.jacobian, start)
            self.ends.append(End(unit, self.problem.misfit(unit)))
            self.told(number + 1, min(one.misfit for one in self.ends))
        if not self.ends:
            name = self.problem.bench.table.places.name
            raise _core.FlashwattError(f"{name}: no start of the search can be run; expected ranges of valid values")
        best = min(self.ends, key=lambda one: one.misfit)
        return self._settled(self._stepped(best), first)

    def rivals(self, best: End) -> list[End]:
        """Give other ends that are as good as the best one within the noise."""
        return [one for one in self.ends if one.misfit <= best.misfit + GOOD]

    def _others(self) -> list[Unit]:
        """Choose the starts behind the first: the first places of a Sobol sequence at which every row can be run."""
        wanted = self.starts - 1
        if wanted < 1:
            return []
        places = spread(len(self.problem.space.parameters), wanted * _TRIED, self.seed)
        valid = (place for place in places if self.problem.bench.valid(self.problem.space.values(place)))
        return [place for place, _ in zip(valid, range(wanted), strict=False)]

    def _stepped(self, end: End) -> End:
        """Try the neighbours of coarse whole numbers, one parameter at a time, as long as that gains."""
        gained = True
        while gained:
            gained = False
            for number in self.problem.space.coarse():
                for place in self.problem.space.around(end.unit, number):
                    misfit = self.problem.misfit(place)
                    if misfit < end.misfit * (1 - _EQUAL):
                        end, gained = End(place, misfit), True
        return end

    def _settled(self, end: End, first: Unit) -> End:
        """Move parameters that are almost at a bound to it, and those without effect back to their starts."""
        allowed = end.misfit + _EQUAL * (1 + end.misfit)
        for number in range(len(first)):
            share = end.unit[number]
            bound = round(float(share)) if min(share, 1 - share) < _AT_BOUND else share
            for goal in (first[number], bound):
                place = end.unit.copy()
                place[number] = goal
                misfit = self.problem.misfit(place)
                if misfit <= allowed:
                    end = End(place, misfit)
                    break
        return End(self.problem.space.unit(self.problem.space.values(end.unit)), end.misfit)
