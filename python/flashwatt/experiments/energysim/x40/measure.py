"""Fig. 15 and Table VIII under two sets of currents and times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.experiments.energysim.operations import flash_j
from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

_CONTROLLER_MA = 30
"""Table III; the published peak leaves the controller out."""
_PUBLISHED_J = {"msnfs": 169.0, "filezilla": 141.0}


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""

    def total(workload: str, assumption: str = "hypothesis") -> Callable[[], float]:
        return lambda: _total_j(evidence, workload, assumption)

    def peak(assumption: str) -> Callable[[], float]:
        return lambda: evidence["peak"].value("current_ma.peak", assumption) - _CONTROLLER_MA

    def part(of: str, over: str, assumption: str = "hypothesis") -> Callable[[], float]:
        def ratio() -> float:
            joules = flash_j(evidence["ftls"].report("financial1", "page", assumption))
            return joules[of] / (joules[over] if over else _total_j(evidence, "financial1", assumption) / 100)

        return ratio

    return {
        "peak_ma": peak("hypothesis"),
        "peak_stated_ma": peak("stated"),
        "filezilla_j": total("filezilla"),
        "filezilla_stated_j": total("filezilla", "stated"),
        "msnfs_j": total("msnfs"),
        "msnfs_stated_j": total("msnfs", "stated"),
        "msnfs_over_filezilla": lambda: total("msnfs")() / total("filezilla")(),
        "msnfs_idle_j": lambda: evidence["ftls"].value("energy_j.nand.idle", "msnfs", "page", "hypothesis"),
        "financial1_write": part("write", ""),
        "financial1_write_stated": part("write", "", "stated"),
        "financial1_read_over_write": part("read", "write"),
        "financial1_read_over_write_stated": part("read", "write", "stated"),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw the totals beside the published ones."""
    rows = [
        Bar(workload, assumption, _total_j(evidence, workload, assumption), published)
        for workload, published in _PUBLISHED_J.items()
        for assumption in evidence["ftls"].labels("assumption")
    ]
    yield bars("Table VIII: totals", "Energy of the flash.", rows, "energy (J)")


def _total_j(evidence: Evidence, workload: str, assumption: str) -> float:
    """Energy of the flash. Under the hypothesis a transfer is charged as an operation, and no die is idle meanwhile."""
    report = evidence["ftls"].report(workload, "page", assumption)
    if assumption == "stated":
        return sum(flash_j(report).values())
    nand = report.energy_j.nand
    return nand.read + nand.program + nand.erase + nand.transfer + nand.idle
