"""Fig. 3: a burst of random writes."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Point, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

_WRITE_MB = 4.194304
_FALLEN = 0.6
"""Throughput has fallen below this share of that of the first writes."""
_PULSE = 1.3
"""A pulse draws more than this many times the power without requests."""
_DRAWN = 25
"""Bins of 20 ms that a point of a picture stands for."""
_GROUP = 0.1
"""The least share of the writes that is a group."""


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    return {
        **{f"knee_{device}_mb": partial(_knee_mb, evidence, device) for device in ("MLC", "TGN")},
        **{
            f"before_over_sequential_{device}": partial(_before_over_sequential, evidence, device)
            for device in ("MLC", "TGN")
        },
        "two_levels_least": lambda: min(_levels(evidence, device) for device in ("MLC", "TGN")),
        "two_levels_others": lambda: max(_levels(evidence, device) for device in ("OLD", "SLC")),
        **{f"pulses_{device}": partial(_pulses_over_idle, evidence, device) for device in ("MLC", "TGN")},
        "refill_MLC_s": lambda: _pulses(evidence, "MLC")[1],
        "power_MLC_w": lambda: _burst_w(evidence, "MLC"),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw the power of the burst and the pause, and the throughput of the first writes."""
    for device in evidence["burst"].labels("device"):
        rows = [Point(seconds, device, watts) for seconds, watts in _drawn(evidence, device)]
        yield lines(f"Fig. 3: {device}, power", "Means over half a second.", rows, ("time (s)", "W"))
    rows = [
        Point(mb, device, rate)
        for device in evidence["first"].labels("device")
        for mb, rate in _rates(evidence, device)
    ]
    yield lines("Fig. 3: throughput", "Of the writes between two points.", rows, ("written (MB)", "MB/s"), log_y=True)


def _rates(evidence: Evidence, device: str) -> list[tuple[float, float]]:
    """Megabytes written at the ends of stretches of the burst, and the throughput in each."""
    runs = evidence["first"]
    ends = [(0, 0.0)] + [
        (int(writes), runs.value("throughput.simulated_s", device, writes)) for writes in runs.labels("writes")
    ]
    return [
        (writes * _WRITE_MB, (writes - before) * _WRITE_MB / (end_s - start_s))
        for (before, start_s), (writes, end_s) in pairwise(ends)
    ]


def _knee_mb(evidence: Evidence, device: str) -> float:
    """What was written before the first stretch with less than a share of the first one's throughput."""
    rates = _rates(evidence, device)
    full = rates[0][1]
    before = 0.0
    for mb, rate in rates:
        if rate < _FALLEN * full:
            return before
        before = mb
    return before


def _before_over_sequential(evidence: Evidence, device: str) -> float:
    knee = _knee_mb(evidence, device)
    runs = evidence["first"]
    writes = round(knee / _WRITE_MB)
    rate = knee / runs.value("throughput.simulated_s", device, str(writes))
    return rate / evidence["sequential"].value("throughput.write_mb_s", device)


def _levels(evidence: Evidence, device: str) -> float:
    """Mean time of the slower of two groups of writes over that of the faster, split at the widest gap."""
    frame = evidence["burst"].report(device).latency().filter(kind="write")
    times = [(float(ns), int(count)) for ns, count in frame.select("upper_ns", "count").iter_rows()]
    all_writes = sum(count for _, count in times)
    best = 1.0
    widest = 1.0
    for split in range(1, len(times)):
        groups = times[:split], times[split:]
        gap = times[split][0] / times[split - 1][0]
        if gap > widest and all(sum(count for _, count in one) >= _GROUP * all_writes for one in groups):
            widest, best = gap, _mean(groups[1]) / _mean(groups[0])
    return best


def _mean(times: list[tuple[float, int]]) -> float:
    return sum(ns * count for ns, count in times) / sum(count for _, count in times)


def _power(evidence: Evidence, device: str) -> list[tuple[float, float]]:
    bins = evidence["burst"].report(device).series().select("start_ns", "total_w").iter_rows()
    return [(start_ns * 1e-9, watts) for start_ns, watts in bins]


def _drawn(evidence: Evidence, device: str) -> list[tuple[float, float]]:
    """The same as means over as many bins as a picture can show."""
    bins = _power(evidence, device)
    groups = [bins[first : first + _DRAWN] for first in range(0, len(bins), _DRAWN)]
    return [(group[0][0], fmean(watts for _, watts in group)) for group in groups]


def _burst_end_s(evidence: Evidence, device: str) -> float:
    """The read comes ten minutes after the last write."""
    return evidence["burst"].value("throughput.simulated_s", device) - 600


def _burst_w(evidence: Evidence, device: str) -> float:
    end = _burst_end_s(evidence, device)
    return fmean(watts for start_s, watts in _power(evidence, device) if start_s < end)


def _pulses_over_idle(evidence: Evidence, device: str) -> float:
    return _pulses(evidence, device)[0]


def _pulses(evidence: Evidence, device: str) -> tuple[float, float]:
    """Mean power of the pulses over the power without requests, and the seconds from the burst to the last pulse."""
    end = _burst_end_s(evidence, device)
    after = [(start_s, watts) for start_s, watts in _power(evidence, device) if start_s > end + 1]
    idle_w = min(watts for _, watts in after)
    pulses = [(start_s, watts) for start_s, watts in after[:-1] if watts > _PULSE * idle_w]
    if not pulses:
        return 1.0, 0.0
    return fmean(watts for _, watts in pulses) / idle_w, pulses[-1][0] - end
