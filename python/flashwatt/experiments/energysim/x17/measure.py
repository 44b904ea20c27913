"""Fig. 8: 1 / (response time × energy), over that of page mapping."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


VOLUME_CM3 = 6.985 * 10.045 * 0.95
"""Of a 2.5-inch drive of 9.5 mm, by its outer dimensions."""
COSTS = ("latency_ns.all.mean", "energy_total_j.busy_only")


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs = evidence["ftls"]
    workloads = runs.labels("workload")

    def dftl_best(hybrids: str) -> int:
        found = (_efficiencies(evidence, name, hybrids) for name in workloads)
        return sum(one["dftl"] == max(one.values()) for one in found)

    return {
        "dftl_best": lambda: dftl_best("ftls"),
        "dftl_best_empty": lambda: dftl_best("empty"),
        "energy_density": lambda: fmean(runs.value(COSTS[1], name, "page") for name in workloads) / VOLUME_CM3,
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw a group of bars for each workload."""
    workloads = evidence["ftls"].labels("workload")
    rows = [Bar(workload, ftl, one) for workload in workloads for ftl, one in _efficiencies(evidence, workload).items()]
    yield bars("Fig. 8: performance per energy", "Over that of page mapping. More is better.", rows, "normalised")


def _efficiencies(evidence: Evidence, workload: str, hybrids: str = "ftls") -> dict[str, float]:
    """1 / (response time × energy) of each layer over that of page mapping, with the hybrids of these runs."""
    judged, others = evidence["ftls"], evidence[hybrids]
    pages = [judged.value(key, workload, "page") for key in COSTS]
    hybrid = set(evidence["empty"].labels("hybrid_empty"))

    def efficiency(ftl: str) -> float:
        runs = others if ftl in hybrid else judged
        return math.prod(page / runs.value(key, workload, ftl) for key, page in zip(COSTS, pages, strict=True))

    return {ftl: efficiency(ftl) for ftl in judged.labels("ftl")}
