"""Fig. 9: energy of the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

PUBLISHED = {"financial1": 0.25, "financial2": 0.25, "msnfs": 11.0}


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs = evidence["ftls"]

    def hits(workload: str) -> Callable[[], float]:
        return lambda: 100 * runs.value("ftl.map_hit_ratio", workload, "dftl")

    def ratio(workload: str) -> Callable[[], float]:
        return lambda: _ratio(evidence, workload)

    def over() -> float:
        return _ratio(evidence, "msnfs") / max(_ratio(evidence, "financial1"), _ratio(evidence, "financial2"))

    return {
        **{f"hits_{workload}": hits(workload) for workload in PUBLISHED},
        **{f"map_{workload}": ratio(workload) for workload in PUBLISHED},
        "map_msnfs_single": lambda: _joules(evidence, "msnfs", "dftl", "single") / _joules(evidence, "msnfs", "page"),
        "msnfs_over_financial": over,
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw the ratios."""
    rows = [Bar(workload, "DFTL", _ratio(evidence, workload), published) for workload, published in PUBLISHED.items()]
    yield bars("Fig. 9: energy of the map", "DFTL over page mapping.", rows, "normalised", log=True)


def _ratio(evidence: Evidence, workload: str) -> float:
    dftl, page = (_joules(evidence, workload, ftl) for ftl in ("dftl", "page"))
    return dftl / page


def _joules(evidence: Evidence, workload: str, ftl: str, runs: str = "ftls") -> float:
    map_energy = evidence[runs].report(workload, ftl).ftl.map_energy_j
    return map_energy.dram + map_energy.flash
