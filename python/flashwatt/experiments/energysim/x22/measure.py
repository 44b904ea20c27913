"""Fig. 12: energy by layout, over that of 2 × 8."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    return {
        "always_on": lambda: _worst(evidence, "always_on"),
        "busy_only": lambda: _worst(evidence, "busy_only"),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw a group of bars for each layer."""
    runs = evidence["layouts"]
    rows = [
        Bar(ftl, layout, _energy(evidence, "busy_only", ftl, layout))
        for ftl in runs.labels("ftl")
        for layout in runs.labels("layout")
    ]
    said = "Mean over the workloads; over 2 × 8; charged while a die works."
    yield bars("Fig. 12: energy by layout", said, rows, "normalised")


def _worst(evidence: Evidence, accounting: str) -> float:
    """The greatest ratio of two layouts under any layer."""
    runs = evidence["layouts"]
    energies = {
        ftl: [_energy(evidence, accounting, ftl, layout) for layout in runs.labels("layout")]
        for ftl in runs.labels("ftl")
    }
    return max(max(found) / min(found) for found in energies.values())


def _energy(evidence: Evidence, accounting: str, ftl: str, layout: str) -> float:
    """Energy over that of 2 × 8, mean over the workloads."""
    runs, key = evidence["layouts"], f"energy_total_j.{accounting}"
    return fmean(runs.relative(key, one, ftl, layout, layout="2x8") for one in runs.labels("workload"))
