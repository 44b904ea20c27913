"""Fig. 4: power of direct I/O."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from flashwatt.experiments.seo2008.dio import KIB, PATTERNS, SSDS, charts, j_per_mb, watts
from flashwatt.plot.figures import Point, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence, Runs

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
        "tgn_over_hdd_j_mb": lambda: j_per_mb(evidence, "TGN", "RW", "4K") / j_per_mb(evidence, "HDD", "RW", "4K"),
        "channels_power": lambda: max(map(partial(_over_channels, evidence), evidence["channels"].labels("direction"))),
    }


def figures(evidence: Evidence) -> Iterator[Chart | str]:
    """Draw power by size, and by the number of channels; write what copies inside the dies change."""
    yield from charts("Fig. 4", watts, evidence, "W", log_y=False)
    runs = evidence["channels"]
    rows = [
        Point(int(channels), direction, runs.value("power_w.mean", channels, direction))
        for direction in runs.labels("direction")
        for channels in runs.labels("channels")
    ]
    yield lines("Power by channels", "Eight dies of SLC's at 42 MB/s.", rows, ("channels", "W"), log_x=True)
    yield _copies(evidence)


def _copies(evidence: Evidence) -> str:
    """A table of power and energy with copies over the bus, and inside the dies."""
    table = ["Sequential over random writes, W, and random writes of 4 KiB, by the way of a copy:", ""]
    table += ["| drive | copies | 1 MiB | 4 MiB | 16 MiB | 4 KiB, J/MB |", "|---|---|---:|---:|---:|---:|"]
    inside = evidence["copyback"]
    for device in inside.labels("device"):
        for way, runs in (("over the bus", evidence["dio"]), ("inside the die", inside)):
            ratios = [_watts(runs, device, "SW", size) / _watts(runs, device, "RW", size) for size in _LARGE]
            small = _watts(runs, device, "RW", "4K") / runs.value("throughput.write_mb_s", device, "RW", "4K")
            table.append(f"| {device} | {way} | {' | '.join(f'{one:.3f}' for one in ratios)} | {small:.1f} |")
    return "\n".join(table)


def _watts(runs: Runs, *labels: str) -> float:
    return runs.value("power_w.mean", *labels)


def _over_channels(evidence: Evidence, direction: str) -> float:
    """The most power over the least, of 1 to 8 channels."""
    runs = evidence["channels"]
    found = [runs.value("power_w.mean", channels, direction) for channels in runs.labels("channels")]
    return max(found) / min(found)


def _by_size(evidence: Evidence, device: str, pattern: str) -> list[float]:
    return [watts(evidence, device, pattern, size) for size in KIB]
