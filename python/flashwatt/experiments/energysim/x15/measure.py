"""Fig. 7(a): mean response time over that of page mapping."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

KEY = "latency_ns.all.mean"


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    workloads = evidence["ftls"].labels("workload")

    def mean(ftl: str) -> Callable[[], float]:
        return lambda: fmean(_times(evidence, workload)[ftl] for workload in workloads)

    def count(ftl: str, first: Callable[[list[float]], float]) -> Callable[[], int]:
        """On how many workloads a layer is the fastest or the slowest."""
        return lambda: sum(
            times[ftl] == first(list(times.values()))
            for times in (_times(evidence, workload) for workload in workloads)
        )

    return {
        "page_best": count("page", min),
        "dftl": mean("dftl"),
        "block": mean("block"),
        "bast_star": mean("bast*"),
        "bast": mean("bast"),
        "bast_worst": count("bast", max),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw a group of bars for each workload."""
    workloads = evidence["ftls"].labels("workload")
    rows = [Bar(workload, ftl, time) for workload in workloads for ftl, time in _times(evidence, workload).items()]
    yield bars("Fig. 7(a): mean response time", "Over that of page mapping.", rows, "normalised")


def _times(evidence: Evidence, workload: str) -> dict[str, float]:
    """Response time of each layer over that of page mapping."""
    runs = evidence["ftls"]
    return {ftl: runs.relative(KEY, workload, ftl, ftl="page") for ftl in runs.labels("ftl")}
