"""Fig. 5: energy by operation."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, Multiples, bars, shares
from flashwatt.reproduce.grid import over_seeds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

READ_UJ, WRITE_UJ, ERASE_UJ = 4.72, 38.04, 527.68  # Table 1
LEAST, MOST = 1.5, 4
"""The bounds of the criterion for FAST over page mapping."""


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
        "grid_fast": lambda: _share(evidence, "oltp", "FAST", lambda over: LEAST <= over <= MOST),
        "grid_page_least_oltp": lambda: _share(evidence, "oltp", "", lambda over: over >= 1),
        "grid_page_least_olap": lambda: _share(evidence, "olap", "", lambda over: over >= 1),
    }


def figures(evidence: Evidence) -> Iterator[Chart | Multiples]:
    """Draw the parts on top of one another."""
    runs = evidence["ftls"]
    for workload in runs.labels("workload"):
        rows = [
            Bar(ftl, part, joules)
            for ftl in runs.labels("ftl")
            for part, joules in _parts(evidence, workload, ftl).items()
        ]
        yield shares(f"Fig. 5: energy on {workload.upper()}", "By flash operation.", rows, "energy (J)")
    yield Multiples(
        "Grid: energy over page mapping",
        "By batch update of DFTL, and by the blocks for the logs of FAST and LAST; five seeds with 95 % intervals.",
        tuple(_grid_chart(evidence, workload) for workload in evidence["grid"].labels("workload")),
    )


def _over_page(evidence: Evidence, workload: str, rules: str) -> tuple[float, float]:
    """Energy by these rules over page mapping: the mean of the grid's seeds, and half the width of its interval."""
    grid, key = evidence["grid"], "energy_j.nand.total"
    return over_seeds(
        grid, lambda seed: grid.value(key, workload, rules, seed) / grid.value(key, workload, "page", seed)
    )


def _share(evidence: Evidence, workload: str, layer: str, holds: Callable[[float], bool]) -> float:
    """The share of the grid's rules of a layer, or of all but page mapping, for which something holds."""
    rules = [one for one in evidence["grid"].labels("rules") if one != "page" and one.startswith(layer)]
    return fmean(holds(_over_page(evidence, workload, one)[0]) for one in rules)


def _grid_chart(evidence: Evidence, workload: str) -> Chart:
    rows = []
    for rules in evidence["grid"].labels("rules"):
        if rules != "page":
            mean, half_width = _over_page(evidence, workload, rules)
            rows.append(Bar(rules, "over page mapping", mean, error=half_width))
    return bars(workload.upper(), "", rows, "over page mapping")


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
