"""Fig. 4: power of direct I/O."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from flashwatt.experiments.seo2008.dio import KIB, PATTERNS, SSDS, charts, watts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

_NOISE = 0.02
_LARGE = ("1M", "4M", "16M")


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""

    def rises(device: str, pattern: str) -> bool:
        return all(next_ >= one * (1 - _NOISE) for one, next_ in pairwise(_by_size(evidence, device, pattern)))

    def rr_over_sr_w() -> float:
        pairs = [zip(_by_size(evidence, one, "RR"), _by_size(evidence, one, "SR"), strict=True) for one in SSDS]
        return max((rr / sr for pair in pairs for rr, sr in pair), key=lambda one: max(one, 1 / one))

    def rw_spread() -> float:
        return max(pstdev(values) / fmean(values) for values in (_by_size(evidence, one, "RW") for one in SSDS))

    def rw_of_highest(device: str) -> float:
        highest = max(watt for pattern in PATTERNS for watt in _by_size(evidence, device, pattern))
        return min(_by_size(evidence, device, "RW")) / highest

    def deviates(device: str) -> bool:
        return any(watts(evidence, device, "SW", size) > watts(evidence, device, "RW", size) for size in _LARGE)

    return {
        "read_power_rises": lambda: all(rises(device, pattern) for device in SSDS for pattern in ("SR", "RR")),
        "rr_over_sr_w": rr_over_sr_w,
        "rw_spread": rw_spread,
        "rw_of_highest": lambda: min(map(rw_of_highest, SSDS)),
        "deviating": lambda: sum(map(deviates, SSDS)),
        "rw_over_hdd": lambda: (
            max(watts(evidence, one, "RW", "4K") for one in SSDS) / watts(evidence, "HDD", "RW", "4K")
        ),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw power by size."""
    yield from charts("Fig. 4", watts, evidence, "W", log_y=False)


def _by_size(evidence: Evidence, device: str, pattern: str) -> list[float]:
    return [watts(evidence, device, pattern, size) for size in KIB]
