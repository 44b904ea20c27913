"""Statistics of several runs: means with confidence intervals, and the Pareto front."""

from __future__ import annotations

import math
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.base.misspelt import known
from flashwatt.base.scripts import blaming

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

_HALVINGS = 100  # of an interval of doubles: more change nothing


def mean_and_ci(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float | None]:
    """Mean of independent replicates, and the half-width of its confidence interval.

    None for a single one, and where one is infinite or not a number: then the mean is so, too.

    mean ± t(n − 1) · s / √n with the sample's standard deviation s and Student's t: the interval for the mean of
    normally distributed values of unknown variance (any textbook of statistics).
    """
    if len(values) == 1:
        return fmean(values), None
    if not all(map(math.isfinite, values)):
        return sum(values) / len(values), None
    return fmean(values), student_t(confidence, len(values) - 1) * stdev(values) / math.sqrt(len(values))


def student_t(confidence: float, freedom: int) -> float:
    """The t which |T| exceeds with the probability 1 − confidence, by halving an interval; `freedom` ≥ 1 is T's."""
    if not 0 < confidence < 1:
        raise _core.FlashwattError(f"confidence: found {confidence}; expected more than 0 and less than 1, as 0.95")
    low, high = 0.0, 1.0
    while _within(high, freedom) < confidence:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < confidence else (low, middle)
    return high


def _within(t: float, freedom: int) -> float:
    """P(|T| ≤ t): the finite series of Abramowitz & Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(freedom))
    odd, square = freedom % 2, math.cos(angle) ** 2
    term, total = (math.cos(angle) if odd else 1.0), 0.0
    for k in range(1 + odd, freedom, 2):
        total += term
        term *= square * k / (k + 1)
    if odd:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total


@blaming
def pareto(frame: pl.DataFrame, *, minimize: Sequence[str] = (), maximize: Sequence[str] = ()) -> pl.DataFrame:
    """The rows that no other row beats: none is as good in every objective and better in one.

    Sorted by the first objective, best first; equal rows stay together. Rows without a value in an objective cannot be
    compared and are left out. Raises `FlashwattError` for a column that the frame has not.
    """
    signs = dict.fromkeys(minimize, 1) | dict.fromkeys(maximize, -1)
    if not signs:
        raise _core.FlashwattError("pareto: no objective; name columns to minimize or to maximize")
    known("pareto", list(signs), frame.columns)
    points = sorted(
        (tuple(s * x for s, x in zip(signs.values(), row, strict=True)), at) for at, row in _whole(frame, signs)
    )
    front: list[tuple[tuple[float, ...], int]] = []
    for point, at in points:  # a point that beats another one stands before it
        if all(other == point or any(a > b for a, b in zip(other, point, strict=True)) for other, _ in front):
            front.append((point, at))
    return frame[[at for _, at in front]]


def _whole(frame: pl.DataFrame, columns: dict[str, int]) -> list[tuple[int, tuple[float, ...]]]:
    rows = enumerate(frame.select(list(columns)).rows())
    return [(at, row) for at, row in rows if not any(x is None or math.isnan(x) for x in row)]
