"""Fig. 15: writes of the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.experiments.rftl.scheme import scheme
from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""

    def total(replicas: str) -> float:
        return sum(_writes(evidence, miss, replicas) for miss in evidence["study"].labels("miss"))

    def ratio(replicas: str) -> Callable[[], float]:
        return lambda: total(replicas) / total("0")

    return {
        **{f"ratio_{replicas}": ratio(replicas) for replicas in ("1", "2", "3")},
        "evictions": lambda: total("0"),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw writes by miss ratio and replicas."""
    runs = evidence["study"]
    rows = [
        Bar(f"M = {miss}", scheme(replicas), _writes(evidence, miss, replicas))
        for miss in runs.labels("miss")
        for replicas in runs.labels("replicas")
    ]
    yield bars("Fig. 15: writes of the map", "80 % writes, depth 8.", rows, "pages written")


def _writes(evidence: Evidence, miss: str, replicas: str) -> float:
    return evidence["study"].value("flash.programs.map", "writes", "8", miss, replicas)
