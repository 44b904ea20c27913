"""Table VIII: idle energy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.experiments.energysim.operations import dies_at_work, flash_j, idle_j
from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs = evidence["ftls"]

    def thousands(key: str, workload: str) -> Callable[[], float]:
        return lambda: runs.value(f"flash.{key}.total", workload, "page") / 1e3

    return {
        "share_ratio": lambda: _idle_share(evidence, "msnfs") / _idle_share(evidence, "filezilla"),
        "msnfs_share": lambda: 100 * _idle_share(evidence, "msnfs"),
        "filezilla_share": lambda: 100 * _idle_share(evidence, "filezilla"),
        "filezilla_dies": lambda: dies_at_work(runs.report("filezilla", "page")),
        "msnfs_idle_j": lambda: _idle_j(evidence, "msnfs"),
        "msnfs_reads_k": thousands("reads", "msnfs"),
        "msnfs_writes_k": thousands("programs", "msnfs"),
        "filezilla_writes_k": thousands("programs", "filezilla"),
        "filezilla_idle_mj": lambda: 1e3 * _idle_j(evidence, "filezilla"),
        "filezilla_idle_unloaded_mj": lambda: 1e3 * runs.value("energy_j.nand.idle", "filezilla", "page"),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw the shares beside the published ones."""
    published = {"msnfs": 18.6, "filezilla": 0.2}
    rows = [Bar(name, "idle dies", 100 * _idle_share(evidence, name), share) for name, share in published.items()]
    yield bars("Table VIII: idle dies", "Share of the flash's energy.", rows, "share (%)")


def _idle_j(evidence: Evidence, workload: str) -> float:
    return idle_j(evidence["ftls"].report(workload, "page"))


def _idle_share(evidence: Evidence, workload: str) -> float:
    return _idle_j(evidence, workload) / sum(flash_j(evidence["ftls"].report(workload, "page")).values())
