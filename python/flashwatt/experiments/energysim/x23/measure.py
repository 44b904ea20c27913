"""Fig. 13, Fig. 14: energy and response time by switch delay, over those of the longest."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

TIME = "latency_ns.all.mean"


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    workloads = evidence["delays"].labels("workload")

    def busy(workload: str) -> Callable[[], float]:
        return lambda: _spread(evidence, "energy_total_j.busy_only", workload)

    def falls(workload: str) -> bool:
        return any(b < a for a, b in pairwise(_values(evidence, TIME, workload).values()))

    return {
        "always_on": lambda: max(_off_percent(evidence, "energy_total_j.always_on", one) for one in workloads),
        "busy_worst": lambda: max(_spread(evidence, "energy_total_j.busy_only", one) for one in workloads),
        **{f"busy_{workload}": busy(workload) for workload in workloads},
        "rt_falls": lambda: sum(map(falls, workloads)),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw a group of bars for each workload."""
    for title, key in (("Fig. 13: energy", "energy_total_j.busy_only"), ("Fig. 14: mean response time", TIME)):
        rows = [
            Bar(workload, delay, value / values["30/164"])
            for workload in evidence["delays"].labels("workload")
            for values in [_values(evidence, key, workload)]
            for delay, value in values.items()
        ]
        yield bars(f"{title} by switch delay", "Channel/way, µs; over the longest.", rows, "normalised")


def _values(evidence: Evidence, key: str, workload: str) -> dict[str, float]:
    runs = evidence["delays"]
    return {delay: runs.value(key, workload, delay) for delay in runs.labels("delay")}


def _off_percent(evidence: Evidence, key: str, workload: str) -> float:
    values = _values(evidence, key, workload).values()
    return 100 * max(abs(value / fmean(values) - 1) for value in values)


def _spread(evidence: Evidence, key: str, workload: str) -> float:
    values = _values(evidence, key, workload).values()
    return max(values) / min(values)
