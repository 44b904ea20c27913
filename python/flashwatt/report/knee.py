"""The knee of a run: where the throughput of writes falls, as it does when an SLC cache is full.

The knee is defined on the recording over time alone (`series`), and knows nothing of SLC caches:

1. The part from the first to the last bin with writes counts, less the bins in which the host wrote its first bytes:
   four times what the write buffer holds, since a buffer takes its bytes faster than flash does.
2. Its bins are joined to stretches in each of which the host wrote a 200th of all that it wrote, or a little more: work
   that comes block by block is averaged. If there is no fall between these, a 50th is tried.
3. A boundary between two stretches divides the part in two. The level before it is the median of the rates before it. A
   stretch before it agrees if its rate is above 0.9 of that level, and one after it if it is not.
4. The boundary is a fall if 95 % of the stretches on either side agree, and if the mean rate after it is at most
   0.8 of the one before it. Two stretches must lie on either side. Of several boundaries the one counts with which most
   stretches agree; of equals the first.
5. What lies before a fall is searched in the same way for an earlier one. The knee is the first fall. Without a fall
   there is no knee.
6. The knee is moved by a stretch at most: to the boundary of bins with the least squared deviations from the mean rates
   on both sides of it.
7. What lies after the knee is searched in the same way for further falls, which bound its levels.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.base.units import duration, percent, si

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashwatt.base.files import Json

BUFFERS = 4
"""Contents of the write buffer that are left out at the begin."""
STRETCHES = (200, 50)
LEAST = 2
"""Stretches on either side of a fall, at least."""
NEAR = 0.9
"""A rate above this share of a level belongs to it."""
AGREE = 0.95
"""The share of the stretches on either side of a fall that agree with it, at least."""
FALL = 0.8
"""The mean rate after a fall, as a share of the one before, at most."""


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
    start_ns: float
    """Simulated time at which the recording begins: 0 without a warm-up."""
    written_bytes: float
    """Bytes that the host had written by then, since the recording began."""
    share: float
    """The same as a share of the drive's logical bytes."""
    before: Level
    """Up to the knee, without what the write buffer took first."""
    after: Level
    """From the knee to the last bin with writes."""
    levels: tuple[Level, ...]
    """The parts of `after`, one after the other: one, unless the rate falls again."""


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
    lengths = _lengths_ns(report, len(rates))
    first, last = writing[0] + _buffered(report, rates[writing[0] :], lengths[writing[0] :]), writing[-1] + 1
    found = first_fall(rates[first:last], lengths[first:last])
    if found is None:
        return None
    at = first + found
    bounds = [at]
    while (found := first_fall(rates[bounds[-1] : last], lengths[bounds[-1] : last])) is not None:
        bounds.append(bounds[-1] + found)
    watts = [sum(values) for values in zip(*series["power_w"].values(), strict=True)]
    written = sum(rate * ns for rate, ns in zip(rates[:at], lengths[:at], strict=True)) / 1e3
    logical = report["config"]["device"]["logical_bytes"]
    before, after, *levels = (
        _level(rates, watts, lengths, slice(*ends))
        for ends in ((first, at), (at, last), *zip(bounds, [*bounds[1:], last], strict=True))
    )
    start = series["start_ns"]
    return Knee(start + sum(lengths[:at]), start, written, written / logical, before, after, tuple(levels))


def place_of(knee: Knee) -> str:
    """Write where the knee is: bytes and share count from the begin of the recording, the time from that of the run."""
    since, took = (
        (" since the warm-up", f", of which the warm-up took {duration(knee.start_ns)}") if knee.start_ns else ("", "")
    )
    written = f"after {si(knee.written_bytes, 'B')}{since}, {percent(knee.share)} of the drive"
    return f"{written}, at {duration(knee.at_ns)}{took}"


def first_fall(rates: Sequence[float], lengths: Sequence[float]) -> int | None:
    """Find the number of bins before the first fall; `lengths` are those of the bins."""
    for count in STRETCHES:
        ends, joined = _stretches(rates, lengths, count)
        found: int | None = None
        while (fall := _fall(joined[:found])) is not None:
            found = fall
        if found is not None:
            break
    else:
        return None
    levels = _means(joined, found)
    low, high = ends[found - 2], min(len(rates) - 1, ends[min(found, len(ends) - 1)])
    return low + _nearest(rates[low:high], lengths[low:high], levels)


def _stretches(rates: Sequence[float], lengths: Sequence[float], count: int) -> tuple[list[int], list[float]]:
    """Join bins until the host has written enough in them; the rest is left out. Gives their ends and rates."""
    written = [rate * ns for rate, ns in zip(rates, lengths, strict=True)]
    least = sum(written) / count * (1 - 1e-9)
    ends: list[int] = []
    joined: list[float] = []
    first, held = 0, 0.0
    for at, bytes_ in enumerate(written, 1):
        held += bytes_
        if held >= least > 0:
            ends.append(at)
            joined.append(held / sum(lengths[first:at]))
            first, held = at, 0.0
    return ends, joined


def _fall(rates: Sequence[float]) -> int | None:
    """Find the boundary that is a fall and that most stretches agree with."""
    best: tuple[int, int] | None = None
    ordered: list[float] = []
    for at, rate in enumerate(rates, 1):
        insort(ordered, rate)
        if not LEAST <= at <= len(rates) - LEAST:
            continue
        limit = NEAR * ordered[at // 2]
        above = at - bisect_right(ordered, limit)
        below = sum(rate <= limit for rate in rates[at:])
        before, after = _means(rates, at)
        agree = above >= AGREE * at and below >= AGREE * (len(rates) - at)
        if agree and after <= FALL * before and (best is None or above + below > best[0]):
            best = above + below, at
    return best[1] if best else None


def _means(rates: Sequence[float], at: int) -> tuple[float, float]:
    """The mean rates on both sides of a boundary, over time: each stretch has as many bytes."""
    before, after = rates[:at], rates[at:]
    return len(before) / sum(1 / rate for rate in before), len(after) / sum(1 / rate for rate in after)


def _nearest(rates: Sequence[float], lengths: Sequence[float], levels: tuple[float, float]) -> int:
    """Find the boundary with the least squared deviations from the level before and the one after it."""
    before, after = levels
    gains = (
        ns * ((rate - after) ** 2 - (rate - before) ** 2) for rate, ns in zip(rates, lengths, strict=True)
    )  # of a bin that goes from the level after to the one before
    sums = list(accumulate(gains, initial=0.0))
    return max(range(len(sums)), key=sums.__getitem__)


def _buffered(report: Json, rates: Sequence[float], lengths: Sequence[float]) -> int:
    """Count the bins in which the write buffer may take bytes faster than flash does."""
    limit = BUFFERS * ((report["config"].get("write_buffer") or {}).get("bytes") or 0) * 1e3
    written = accumulate(rate * ns for rate, ns in zip(rates, lengths, strict=True))
    return sum(one < limit for one in written) + (limit > 0)


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
