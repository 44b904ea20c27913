"""Fig. 5: energy by operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, shares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

READ_UJ, WRITE_UJ, ERASE_UJ = 4.72, 38.04, 527.68  # Table 1


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs = evidence["ftls"]
    ftls = runs.labels("ftl")

    def joules(workload: str, ftl: str) -> float:
        return runs.value("energy_j.nand.total", workload, ftl)

    def page_least(workload: str) -> Callable[[], bool]:
        return lambda: joules(workload, "page") == min(joules(workload, ftl) for ftl in ftls)

    def map_uj(ftl: str) -> float:
        return _map_uj(evidence, "oltp", ftl) / runs.value("workload.requests", "oltp", ftl)

    def off() -> float:
        pairs = [(sum(_parts(evidence, *labels).values()), joules(*labels)) for labels in runs]
        return max(abs(counted / simulated - 1) for counted, simulated in pairs)

    return {
        "page_least_oltp": page_least("oltp"),
        "page_least_olap": page_least("olap"),
        "fast_over_page_oltp": lambda: joules("oltp", "fast") / joules("oltp", "page"),
        "fast_over_last_oltp": lambda: joules("oltp", "fast") / joules("oltp", "last"),
        "dftl_map_uj": lambda: map_uj("dftl"),
        "others_map_uj": lambda: sum(map_uj(ftl) for ftl in ftls if ftl != "dftl"),
        "off": off,
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw the parts on top of one another."""
    runs = evidence["ftls"]
    for workload in runs.labels("workload"):
        rows = [
            Bar(ftl, part, joules)
            for ftl in runs.labels("ftl")
            for part, joules in _parts(evidence, workload, ftl).items()
        ]
        yield shares(f"Fig. 5: energy on {workload.upper()}", "By flash operation.", rows, "energy (J)")


def _parts(evidence: Evidence, workload: str, ftl: str) -> dict[str, float]:
    """Operations × Table 1, in J."""
    flash = evidence["ftls"].report(workload, ftl).flash
    return {
        "data reads": 1e-6 * READ_UJ * (flash.reads.total - flash.reads.map),
        "data writes": 1e-6 * WRITE_UJ * (flash.programs.total - flash.programs.map),
        "erases": 1e-6 * ERASE_UJ * flash.erases.total,
        "translation reads": 1e-6 * READ_UJ * flash.reads.map,
        "translation writes": 1e-6 * WRITE_UJ * flash.programs.map,
    }


def _map_uj(evidence: Evidence, workload: str, ftl: str) -> float:
    parts = _parts(evidence, workload, ftl)
    return 1e6 * (parts["translation reads"] + parts["translation writes"])
