"""Fig. 8: 1 / (response time × energy), over that of page mapping."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


COSTS = ("latency_ns.all.mean", "energy_total_j.busy_only")


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    found = (_efficiencies(evidence, workload) for workload in evidence["ftls"].labels("workload"))
    return {"dftl_best": lambda: sum(one["dftl"] == max(one.values()) for one in found)}


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw a group of bars for each workload."""
    workloads = evidence["ftls"].labels("workload")
    rows = [Bar(workload, ftl, one) for workload in workloads for ftl, one in _efficiencies(evidence, workload).items()]
    yield bars("Fig. 8: performance per energy", "Over that of page mapping. More is better.", rows, "normalised")


def _efficiencies(evidence: Evidence, workload: str) -> dict[str, float]:
    """1 / (response time × energy) of each layer, over that of page mapping."""
    runs = evidence["ftls"]
    return {
        ftl: 1 / math.prod(runs.relative(key, workload, ftl, ftl="page") for key in COSTS) for ftl in runs.labels("ftl")
    }
