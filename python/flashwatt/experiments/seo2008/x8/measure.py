"""Fig. 5: energy of 1 MB of direct I/O."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flashwatt.experiments.seo2008.dio import KIB, SSDS, charts, j_per_mb, ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

_LARGE = ("64K", "256K", "1M", "4M", "16M")


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    joules = partial(j_per_mb, evidence)

    def over_hdd(device: str, pattern: str) -> float:
        return joules(device, pattern, "4K") / joules("HDD", pattern, "4K")

    def rr_over_sr_j() -> float:
        ratios = [ratio(j_per_mb, evidence, device, size, ("RR", "SR")) for device in SSDS for size in _LARGE]
        return max(ratios, key=lambda one: max(one, 1 / one))

    def sequential_j() -> float:
        return max(joules(one, pattern, size) for one in (*SSDS, "HDD") for pattern in ("SR", "SW") for size in KIB)

    return {
        "sequential_j": sequential_j,
        **{f"{device.lower()}_over_hdd": partial(over_hdd, device, "RW") for device in SSDS},
        "hdd_reads_over_writes": lambda: ratio(j_per_mb, evidence, "HDD", "4K", ("RR", "RW")),
        "ssd_reads_over_hdd": lambda: max(over_hdd(device, "RR") for device in SSDS),
        "rr_over_sr_j": rr_over_sr_j,
        "mlc_rw_j": partial(joules, "MLC", "RW", "4K"),
        "hdd_rw_j": partial(joules, "HDD", "RW", "4K"),
        "mlc_sw_j": partial(joules, "MLC", "SW", "4K"),
        "hdd_sw_j": partial(joules, "HDD", "SW", "4K"),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw energy by size."""
    yield from charts("Fig. 5", j_per_mb, evidence, "J/MB")
