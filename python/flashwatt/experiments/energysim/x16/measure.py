"""Fig. 7(b): energy over that of page mapping."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.experiments.energysim.hybrid_grid import pictures, places
from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.plot.figures import Multiples
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

BUSY = "busy_only"
PUBLISHED = {"block": 1.092, "bast*": 1.079, "bast": 1.219}
POINTS = 0.15
"""How far from the published energies the criteria let the simulated ones be."""
GRID_KEY = f"energy_total_j.{BUSY}"


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    workloads = evidence["ftls"].labels("workload")

    def mean(ftl: str, accounting: str = BUSY) -> float:
        return fmean(_energies(evidence, workload, accounting)[ftl] for workload in workloads)

    def order() -> bool:
        return mean("bast") > max(mean("block"), mean("bast*")) and min(mean("block"), mean("bast*")) > 1 > mean("dftl")

    def otherwise(runs: str, ftl: str) -> float:
        return fmean(
            evidence[runs].value(GRID_KEY, workload, ftl) / evidence["ftls"].value(GRID_KEY, workload, "page")
            for workload in workloads
        )

    return {
        "dftl_less": lambda: sum(_energies(evidence, one)["dftl"] < 1 for one in workloads if one != "msnfs"),
        "dftl_msnfs": lambda: _energies(evidence, "msnfs")["dftl"],
        "dftl_msnfs_real": lambda: _energies(evidence, "msnfs")["dftl"],
        "order": order,
        "block": lambda: mean("block"),
        "bast_star": lambda: mean("bast*"),
        "bast": lambda: mean("bast"),
        "block_blocks": lambda: otherwise("stripes_of_blocks", "block"),
        "bast_star_blocks": lambda: otherwise("stripes_of_blocks", "bast*"),
        "bast_blocks": lambda: otherwise("stripes_of_blocks", "bast"),
        "block_empty": lambda: otherwise("empty", "block"),
        "bast_star_empty": lambda: otherwise("empty", "bast*"),
        "bast_empty": lambda: otherwise("empty", "bast"),
        "grid_near": lambda: fmean(
            abs(one.mean - PUBLISHED[one.layer]) <= POINTS for one in places(evidence["grid"], GRID_KEY)
        ),
        "dftl_always_on": lambda: mean("dftl", "always_on"),
        "dftl_flash_off": lambda: mean("dftl", "flash_off"),
    }


def figures(evidence: Evidence) -> Iterator[Chart | Multiples]:
    """Draw a group of bars for each workload."""
    workloads = evidence["ftls"].labels("workload")
    rows = [
        Bar(workload, ftl, energy) for workload in workloads for ftl, energy in _energies(evidence, workload).items()
    ]
    yield bars("Fig. 7(b): energy", "Over that of page mapping; charged while a die works.", rows, "normalised")
    yield pictures(places(evidence["grid"], GRID_KEY), "energy of the hybrids", PUBLISHED)


def _energies(evidence: Evidence, workload: str, accounting: str = BUSY) -> dict[str, float]:
    """Energy with each layer over that with page mapping."""
    runs, key = evidence["ftls"], f"energy_total_j.{accounting}"
    return {ftl: runs.relative(key, workload, ftl, ftl="page") for ftl in runs.labels("ftl")}
