"""Fig. 7(a): mean response time over that of page mapping."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl

from flashwatt.experiments.energysim.hybrid_grid import pictures, places
from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.plot.figures import Multiples
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

KEY = "latency_ns.all.mean"
HYBRIDS = ("block", "bast*", "bast")
SLOW = 1.5
"""Over the response time of page mapping: the bound of the criteria for the hybrids."""
DENSITIES = {
    "financial1": 41.71,
    "financial2": 21.82,
    "homes": 62.28,
    "msnfs": 23.70,
    "filezilla": 99.30,
    "torrent": 34.11,
    "gimp": 57.36,
}
"""Written share of the pages of the written blocks of 512 KiB, in percent, over the whole stand-in: what
`cargo run --release --example standins` prints for the seed of these runs."""
_HALF_PERCENT = 50
DENSE = tuple(workload for workload, percent in DENSITIES.items() if percent >= _HALF_PERCENT)
"""Workloads whose writes fill half or more of the blocks that they touch."""


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    workloads = evidence["ftls"].labels("workload")

    def mean(ftl: str, stripes: str) -> Callable[[], float]:
        return lambda: fmean(_times(evidence, workload, stripes)[ftl] for workload in workloads)

    def page_best() -> int:
        return sum(min(_times(evidence, workload, "stripes_of_blocks").values()) >= 1 for workload in workloads)

    return {
        "page_best": page_best,
        "dftl": mean("dftl", "stripes_of_blocks"),
        "bast_dense": lambda: _bast_over_star(evidence, DENSE),
        "bast_real": lambda: _bast_over_star(evidence, ("financial1",)),
        "write_share": lambda: _rank_correlation(evidence),
        "grid_slow": lambda: fmean(one.mean >= SLOW for one in places(evidence["grid"], KEY)),
        **{_name(ftl): mean(ftl, "stripes_of_blocks") for ftl in HYBRIDS},
        **{f"{_name(ftl)}_pages": mean(ftl, "ftls") for ftl in HYBRIDS},
    }


def figures(evidence: Evidence) -> Iterator[Chart | Multiples]:
    """Draw a group of bars for each workload, with both kinds of stripes."""
    for stripes, said in (("stripes_of_blocks", "stripes of blocks"), ("ftls", "stripes of pages")):
        rows = [
            Bar(workload, ftl, time)
            for workload in evidence["ftls"].labels("workload")
            for ftl, time in _times(evidence, workload, stripes).items()
        ]
        yield bars(f"Fig. 7(a): mean response time, {said}", "Over that of page mapping.", rows, "normalised")
    yield pictures(places(evidence["grid"], KEY), "mean response time of the hybrids", dict.fromkeys(HYBRIDS, 2.0))


def _times(evidence: Evidence, workload: str, stripes: str) -> dict[str, float]:
    """Response time of each layer over that of page mapping; of the hybrids with these stripes."""
    base = evidence["ftls"].value(KEY, workload, "page")
    others = {"dftl": evidence["ftls"].value(KEY, workload, "dftl") / base}
    return {"page": 1.0, **others} | {ftl: evidence[stripes].value(KEY, workload, ftl) / base for ftl in HYBRIDS}


def _bast_over_star(evidence: Evidence, workloads: tuple[str, ...]) -> float:
    """Response time of BAST over that of BAST*, the least of some workloads."""
    return min(evidence["stripes_of_blocks"].relative(KEY, one, "bast", hybrid="bast*") for one in workloads)


def _rank_correlation(evidence: Evidence) -> float:
    """Spearman's coefficient of write share and response time over that of page mapping, workloads x hybrids."""
    runs = evidence["ftls"]
    shares, times = [], []
    for workload in runs.labels("workload"):
        writes = runs.value("workload.writes", workload, "page")
        share = writes / (writes + runs.value("workload.reads", workload, "page"))
        shares += [share] * len(HYBRIDS)
        times += [_times(evidence, workload, "stripes_of_blocks")[ftl] for ftl in HYBRIDS]
    points = pl.DataFrame({"share": shares, "time": times})
    return float(points.select(pl.corr("share", "time", method="spearman")).item())


def _name(ftl: str) -> str:
    return ftl.replace("*", "_star")
