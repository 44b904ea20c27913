"""Quantiles of latency over all runs of a point, with bootstrap intervals.

The requests of one run depend on each other: those that queue together are late together. Runs with different seeds do
not, so runs are drawn and not requests (cluster bootstrap). Of n runs, n are drawn with replacement, their histograms
are added, and the quantile is taken; the interval holds the middle of many such quantiles (percentile method: B. Efron
and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapters 6 and 13).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.literals import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashwatt.base.files import Json

KINDS = ("read", "write", "flush", "map_read", "map_write_first", "map_write_last")


class Pooled:
    """The histograms of several runs."""

    def __init__(self, histograms: Sequence[Json]) -> None:
        """Take the `upper_ns` and `count` of each run's bins."""
        self._upper_ns = sorted({upper for one in histograms for upper in one["upper_ns"]})
        self._up_to = [self._cumulated(one) for one in histograms]

    @property
    def requests(self) -> int:
        """The requests of all runs."""
        return sum(one[-1] for one in self._up_to if one)

    def quantile(self, share: float) -> int | None:
        """The least bound of a bin up to which that share of all requests is; None without requests."""
        return self._of(self._up_to, share)

    def interval(self, share: float, confidence: float, resamples: int, seed: int) -> tuple[int | None, int | None]:
        """The bounds of the interval; None for fewer than two runs."""
        runs = len(self._up_to)
        if runs < 2 or not self.requests:  # noqa: PLR2004
            return None, None
        draw = Random(seed)  # its random() gives the same numbers in every version of Python
        found = []
        for _ in range(resamples):
            one = self._of([self._up_to[int(draw.random() * runs)] for _ in range(runs)], share)
            if one is not None:
                found.append(one)
        found.sort()
        beside = (1 - confidence) / 2
        last = len(found) - 1
        return found[math.floor(beside * last)], found[math.ceil((1 - beside) * last)]

    def _cumulated(self, histogram: Json) -> list[int]:
        counts = dict(zip(histogram["upper_ns"], histogram["count"], strict=True))
        return list(accumulate(counts.get(upper, 0) for upper in self._upper_ns))

    def _of(self, up_to: list[list[int]], share: float) -> int | None:
        total = sum(one[-1] for one in up_to if one)
        if not total:
            return None
        wanted = max(1, math.ceil(share * total))
        bins = range(len(self._upper_ns))
        upper_ns: int = self._upper_ns[bisect_left(bins, wanted, key=lambda at: sum(one[at] for one in up_to))]
        return upper_ns


def row(
    histograms: Sequence[Json], shares: Sequence[float], *, confidence: float, resamples: int, seed: int
) -> dict[str, Any]:
    """Give the figures of one point by the names of their columns."""
    pooled = Pooled(histograms)
    level = f"{100 * confidence:g}"
    found: dict[str, Any] = {"runs": len(histograms), "requests": pooled.requests}
    for share in shares:
        low, high = pooled.interval(share, confidence, resamples, seed)
        name = name_of(share)
        found |= {name: pooled.quantile(share), f"{name}.low{level}": low, f"{name}.high{level}": high}
    return found


def name_of(share: float) -> str:
    """Name a quantile as reports do: `p99_9_ns`."""
    return f"p{100 * share:.10g}_ns".replace(".", "_")


def check(kind: str, shares: Sequence[float], confidence: float, resamples: int) -> None:
    """Refuse what is no quantile, no level of confidence or no number of resamples."""
    for place, values in (("quantiles", shares), ("confidence", [confidence])):
        for value in values:
            if isinstance(value, str) or not 0 < value < 1:
                found = f"{place}: found {shown(value)}; expected more than 0 and less than 1, as 0.95"
                raise _core.FlashwattError(found)
    if resamples < 1:
        raise _core.FlashwattError(f"resamples: found {resamples}; expected a whole number, ≥ 1")
    if kind not in KINDS:
        from flashwatt.base.misspelt import known

        known("kind", [kind], KINDS)


def histogram_of(report: Json, kind: str) -> Json:
    """Give a kind's bins of one run, none if it did not occur. Raises `FlashwattError` if the run kept none."""
    kept = report.get("latency_histogram")
    if kept is None:
        asked = "ask for them: sweep(..., latency=True), or `latency = true` in the study"
        raise _core.FlashwattError(f"the runs hold no histograms of latencies; {asked}")
    found: Json = kept.get(kind) or {"upper_ns": [], "count": []}
    return found
