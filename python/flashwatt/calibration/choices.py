"""Rows held out in turn: every choice of some rows is predicted by a fit to the others."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.calibration.fit import Problem, Search
from flashwatt.calibration.identify import identified
from flashwatt.calibration.result import Point, points_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.calibration.bench import Bench
    from flashwatt.calibration.space import Space

CHOICES_MAX = 1000
"""Choices of rows at most: each is a fit of its own."""


@dataclass(frozen=True)
class Choice:
    """The rows that were held out, and what the fit to the others predicts for them."""

    rows: tuple[str, ...]
    values: dict[str, float]
    points: tuple[Point, ...]
    """The figures of the rows held out."""
    not_determined: tuple[tuple[str, ...], ...]
    """Parameters that the other rows do not determine; several together cannot be told apart."""


def check_choices(bench: Bench, number: int) -> None:
    """Refuse a number of rows to hold out that leaves too few, or has too many choices."""
    if not number:
        return
    table = bench.table
    rows = len(table.fitted_rows)
    if number >= rows:
        raise _core.FlashwattError(f"hold_out: found {number}; expected fewer than the {rows} rows that are fitted")
    table.check_count(number)
    if (several := comb(rows, number)) > CHOICES_MAX:
        found = f"found {several:,} choices of {number} of {rows} rows"
        raise _core.FlashwattError(f"hold_out: {found}; expected at most {CHOICES_MAX:,}")


def choices(
    bench: Bench, space: Space, number: int, *, starts: int, seed: int, told: Callable[[str], object]
) -> Iterator[Choice]:
    """Fit every choice. Each begins at the same starts, and learns nothing from the rows that it holds out."""
    table = bench.table
    every = list(combinations(table.fitted_rows, number))
    for place, held in enumerate(every, 1):
        told(f"choice {place} of {len(every)}")
        problem = Problem(bench, space, set(table.fitted_rows) - set(held))
        end = Search(problem, starts, seed).run()
        slopes = problem.slopes(end.unit)
        known = identified(problem.scaled(slopes))
        keys = [one.key for one in space.parameters]
        names = tuple(table.rows[row].name for row in held)
        points = (one for one in points_of(problem, end, slopes, known) if one.row in names)
        groups = tuple(tuple(keys[one] for one in group) for group in known.groups)
        yield Choice(names, space.values(end.unit), tuple(points), groups)
