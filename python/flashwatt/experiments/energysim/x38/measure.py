"""Section 5.3: shares of the flash's energy, over everything."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.experiments.energysim.operations import PARTS
from flashwatt.experiments.energysim.operations import shares as shares_of
from flashwatt.plot.figures import Bar, shares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    workloads = evidence["ftls"].labels("workload")

    def mean(part: str, *of: str) -> Callable[[], float]:
        return lambda: fmean(_over_layers(evidence, workload)[part] for workload in of or workloads)

    return {
        "writes": mean("write"),
        "idle": mean("idle"),
        "erases": mean("erase"),
        "financial2_writes": mean("write", "financial2"),
        "financial2_reads": mean("read", "financial2"),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw the shares of every workload."""
    rows = [
        Bar(workload, part, share)
        for workload in evidence["ftls"].labels("workload")
        for part, share in _over_layers(evidence, workload).items()
    ]
    yield shares("Section 5.3: energy by operation", "Mean over the layers.", rows, "share (%)")


def _over_layers(evidence: Evidence, workload: str) -> dict[str, float]:
    """Percent by part, mean over the translation layers."""
    layers = [shares_of(evidence, workload, ftl) for ftl in evidence["ftls"].labels("ftl")]
    return {part: fmean(one[part] for one in layers) for part in (*PARTS, "bus")}
