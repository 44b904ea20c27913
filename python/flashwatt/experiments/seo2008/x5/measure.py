"""Fig. 2: throughput of direct I/O."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flashwatt.experiments.seo2008.dio import KIB, SSDS, charts, mb_s, ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

_LARGE = ("64K", "256K", "1M", "4M", "16M")


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    over = partial(ratio, mb_s, evidence)

    def rr_over_sr() -> float:
        return min(over(device, size, ("RR", "SR")) for device in SSDS for size in _LARGE)

    def sw_over_rw_aligned() -> float:
        aligned = evidence["aligned"]
        return min(
            mb_s(evidence, one, "SW", "16M") / aligned.value("throughput.write_mb_s", one, "16M") for one in SSDS
        )

    def widest_gap() -> bool:
        gaps = {device: over(device, "4K", ("SW", "RW")) for device in SSDS}
        return max(gaps, key=gaps.__getitem__) in ("MLC", "TGN")

    def hdd_reads_over_writes() -> float:
        ratios = [over("HDD", size, ("SR", "SW")) for size in KIB]
        return max(ratios, key=lambda one: max(one, 1 / one))

    rates = {f"{device}_reads_mb_s": partial(mb_s, evidence, device, "SR", "16M") for device in SSDS}
    rates |= {f"{device}_writes_mb_s": partial(mb_s, evidence, device, "SW", "16M") for device in SSDS}
    return {
        "rr_over_sr": rr_over_sr,
        "sw_over_rw_16m": lambda: min(over(device, "16M", ("SW", "RW")) for device in SSDS),
        "sw_over_rw_16m_aligned": sw_over_rw_aligned,
        "widest_gap": widest_gap,
        "hdd_reads_over_writes": hdd_reads_over_writes,
        "hdd_random_reads_over_writes": lambda: over("HDD", "4K", ("RR", "RW")),
        **rates,
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw throughput by size."""
    yield from charts("Fig. 2", mb_s, evidence, "MB/s")
