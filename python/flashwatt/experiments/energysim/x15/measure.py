"""Fig. 7(a): mean response time over that of page mapping."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl

from flashwatt.plot.figures import Bar, bars
from flashwatt.reproduce.evidence import NoEvidenceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

KEY = "latency_ns.all.mean"
HYBRIDS = ("block", "bast*", "bast")
DENSE: tuple[str, ...] = ()
"""Workloads whose writes fill most of the blocks that they touch; none has been measured yet."""


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
        "bast_dense": lambda: _bast_over_star(evidence, DENSE),
        "bast_real": lambda: _bast_over_star(evidence, ("financial1",)),
        "write_share": lambda: _rank_correlation(evidence),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw a group of bars for each workload."""
    workloads = evidence["ftls"].labels("workload")
    rows = [Bar(workload, ftl, time) for workload in workloads for ftl, time in _times(evidence, workload).items()]
    yield bars("Fig. 7(a): mean response time", "Over that of page mapping.", rows, "normalised")


def _bast_over_star(evidence: Evidence, workloads: tuple[str, ...]) -> float:
    """Response time of BAST over that of BAST*, the least of some workloads."""
    if not workloads:
        raise NoEvidenceError("the footprints of the workloads have not been measured")
    return min(evidence["ftls"].relative(KEY, one, "bast", ftl="bast*") for one in workloads)


def _rank_correlation(evidence: Evidence) -> float:
    """Spearman's coefficient of write share and response time over that of page mapping, workloads x hybrids."""
    runs = evidence["ftls"]
    shares, times = [], []
    for workload in runs.labels("workload"):
        writes = runs.value("workload.writes", workload, "page")
        share = writes / (writes + runs.value("workload.reads", workload, "page"))
        shares += [share] * len(HYBRIDS)
        times += [_times(evidence, workload)[ftl] for ftl in HYBRIDS]
    return float(
        pl.DataFrame({"share": shares, "time": times}).select(pl.corr("share", "time", method="spearman")).item()
    )


def _times(evidence: Evidence, workload: str) -> dict[str, float]:
    """Response time of each layer over that of page mapping."""
    runs = evidence["ftls"]
    return {ftl: runs.relative(KEY, workload, ftl, ftl="page") for ftl in runs.labels("ftl")}
