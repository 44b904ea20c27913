"""Greedy collection against theory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars
from flashwatt.theory import greedy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs = evidence["writes"]

    def ratio(spare: str, frontiers: str) -> Callable[[], float]:
        return lambda: _simulated(evidence, spare, frontiers) / _theory(evidence, spare, frontiers)

    return {
        f"{frontiers}_{spare.removesuffix(' %')}": ratio(spare, frontiers)
        for spare in runs.labels("spare")
        for frontiers in runs.labels("frontiers")
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw both; theory as strokes."""
    runs = evidence["writes"]
    rows = [
        Bar(spare, frontiers, _simulated(evidence, spare, frontiers), _theory(evidence, spare, frontiers))
        for spare in runs.labels("spare")
        for frontiers in runs.labels("frontiers")
    ]
    said = "By spare share and frontiers of host and collection."
    yield bars("Write amplification of greedy collection", said, rows, "write amplification")


def _simulated(evidence: Evidence, spare: str, frontiers: str) -> float:
    return evidence["writes"].value("flash.gc_factor", spare, frontiers)


def _theory(evidence: Evidence, spare: str, frontiers: str) -> float:
    return greedy(evidence["writes"].value("gc.mean_valid_fraction", spare, frontiers))
