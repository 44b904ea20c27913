"""The knee of a run: where the throughput of writes falls, as it does when an SLC cache is full.

The knee is defined on the recording over time alone (`series`), and knows nothing of caches:

1. The part from the first to the last bin with writes counts.
2. Its bins are joined to at most 200 stretches of equal length, so that work that comes block by block is averaged.
3. A boundary between two stretches divides the part into a level before and a level after it, the mean rates there.
   Each has two stretches at least. The boundary with the least squared deviations from its two levels is taken.
4. It is a fall if the level after it is at most 0.8 of the one before, and if the two levels leave at most half of the
   squared deviations from a single level.
5. What lies before a fall is searched in the same way for an earlier one. The knee is the first fall. Without a fall
   there is no knee.
6. The knee is moved by a stretch at most: to the boundary of bins with the least squared deviations from both levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from flashwatt import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashwatt.base.files import Json

STRETCHES_MAX = 200
STRETCHES_MIN = 2
"""Of a level."""
FALL = 0.8
"""The level after a fall, as a share of the one before, at most."""
LEFT = 0.5
"""The squared deviations from two levels, as a share of those from one, at most."""


@dataclass(frozen=True, slots=True)
class Level:
    """Means of a part of a run."""

    seconds: float
    """Its length in simulated time."""
    written_bytes: float
    """Bytes that the host wrote in it."""
    write_mb_s: float
    """Rate of the host's writes in MB/s."""
    power_w: float
    """Mean power in W."""
    j_per_gb: float
    """Energy in J for each GB that the host wrote."""


@dataclass(frozen=True, slots=True)
class Knee:
    """Where the rate of the host's writes falls, and what holds before and after it."""

    at_ns: float
    """Simulated time of the knee, on the axis of `series`."""
    written_bytes: float
    """Bytes that the host had written by then, since the recording began."""
    share: float
    """The same as a share of the drive's logical bytes."""
    before: Level
    """From the first bin with writes to the knee."""
    after: Level
    """From the knee to the last bin with writes."""


def check_recorded(report: Json) -> None:
    """Raise a `FlashwattError` for a report in which no knee can be looked for."""
    series = report.get("series")
    if not series:
        raise _core.FlashwattError("the report holds nothing over time; ask for it: run(..., series=True)")
    if not series.get("activity"):
        raise _core.FlashwattError("the series holds power alone; expected a run of one SSD")


def knee_of(report: Json) -> Knee | None:
    """Find the knee of a report's run; None without a fall, or if nothing of writes was recorded over time."""
    series = report.get("series") or {}
    rates: list[float] = (series.get("activity") or {}).get("write_mb_s") or []
    writing = [at for at, rate in enumerate(rates) if rate > 0]
    if not writing:
        return None
    first, last = writing[0], writing[-1] + 1
    lengths = _lengths_ns(report, len(rates))
    found = first_fall(rates[first:last], lengths[first:last])
    if found is None:
        return None
    at = first + found
    watts = [sum(values) for values in zip(*series["power_w"].values(), strict=True)]
    written = sum(rate * ns for rate, ns in zip(rates[:at], lengths[:at], strict=True)) / 1e3
    logical = report["config"]["device"]["logical_bytes"]
    before, after = (_level(rates, watts, lengths, part) for part in (slice(first, at), slice(at, last)))
    return Knee(series["start_ns"] + sum(lengths[:at]), written, written / logical, before, after)


def first_fall(rates: Sequence[float], lengths: Sequence[float]) -> int | None:
    """Find the number of bins before the knee; `lengths` are those of the bins."""
    step = max(1, -(-len(rates) // STRETCHES_MAX))
    starts = list(range(0, len(rates), step))
    weights = [sum(lengths[at : at + step]) for at in starts]
    joined = [
        sum(rate * ns for rate, ns in zip(rates[at : at + step], lengths[at : at + step], strict=True)) / weight
        for at, weight in zip(starts, weights, strict=True)
    ]
    found: int | None = None
    end = len(joined)
    levels = (0.0, 0.0)
    while (split := _fall(joined[:end], weights[:end])) is not None:
        found = end = split[0]
        levels = split[1:]
    if found is None:
        return None
    low, high = max(1, (found - 1) * step), min(len(rates) - 1, (found + 1) * step)
    return low + _nearest(rates[low:high], lengths[low:high], levels)


def _fall(rates: Sequence[float], weights: Sequence[float]) -> tuple[int, float, float] | None:
    """Find the best boundary and the levels beside it, if that is a fall."""
    sums = list(accumulate((rate * weight for rate, weight in zip(rates, weights, strict=True)), initial=0.0))
    spans = list(accumulate(weights, initial=0.0))
    total, span = sums[-1], spans[-1]
    if len(rates) < 2 * STRETCHES_MIN:
        return None
    mean = total / span
    deviations = sum(weight * (rate - mean) ** 2 for rate, weight in zip(rates, weights, strict=True))

    def explained(at: int) -> float:
        """What two levels take from the squared deviations."""
        before, after = sums[at] / spans[at], (total - sums[at]) / (span - spans[at])
        return spans[at] * (span - spans[at]) / span * (before - after) ** 2

    at = max(range(STRETCHES_MIN, len(rates) - STRETCHES_MIN + 1), key=explained)
    before, after = sums[at] / spans[at], (total - sums[at]) / (span - spans[at])
    if after > FALL * before or deviations - explained(at) > LEFT * deviations:
        return None
    return at, before, after


def _nearest(rates: Sequence[float], lengths: Sequence[float], levels: tuple[float, float]) -> int:
    """Find the boundary with the least squared deviations from the level before and the one after it."""
    before, after = levels
    gains = (
        ns * ((rate - after) ** 2 - (rate - before) ** 2) for rate, ns in zip(rates, lengths, strict=True)
    )  # of a bin that goes from the level after to the one before
    sums = list(accumulate(gains, initial=0.0))
    return max(range(len(sums)), key=sums.__getitem__)


def _level(rates: Sequence[float], watts: Sequence[float], lengths: Sequence[float], part: slice) -> Level:
    ns = sum(lengths[part])
    written = sum(rate * span for rate, span in zip(rates[part], lengths[part], strict=True)) / 1e3
    joules = sum(power * span for power, span in zip(watts[part], lengths[part], strict=True)) / 1e9
    return Level(ns / 1e9, written, written * 1e3 / ns, joules * 1e9 / ns, joules * 1e9 / written)


def _lengths_ns(report: Json, bins: int) -> list[float]:
    """Give the length of each bin; the end of the run may have cut the last one short."""
    series = report["series"]
    interval, end = series["interval_ns"], report["throughput"]["simulated_s"] * 1e9
    return [max(1.0, min(interval, end - at * interval)) for at in range(bins)]
