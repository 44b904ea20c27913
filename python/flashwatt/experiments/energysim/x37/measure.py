"""Section 5: response time and energy over those at the largest depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.plot.figures import Point, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

TIME, ENERGY = "latency_ns.all.mean", "energy_total_j.busy_only"
LARGEST = "64"


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    workloads = evidence["depths"].labels("workload")

    def over(key: str, workload: str) -> Callable[[], float]:
        return lambda: evidence["depths"].relative(key, workload, "1", depth=LARGEST)

    def spread(workload: str) -> float:
        times = [evidence["depths"].value(TIME, workload, depth) for depth in ("16", "32", "64")]
        return max(times) / min(times)

    return {
        **{f"time_1_{workload}": over(TIME, workload) for workload in workloads},
        **{f"energy_1_{workload}": over(ENERGY, workload) for workload in workloads},
        "time_from_16": lambda: max(map(spread, workloads)),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw both by depth."""
    runs = evidence["depths"]
    for key, said in ((TIME, "mean response time"), (ENERGY, "energy, charged while a die works")):
        rows = [
            Point(float(depth), workload, runs.relative(key, workload, depth, depth=LARGEST))
            for workload in runs.labels("workload")
            for depth in runs.labels("depth")
        ]
        axes = ("queue depth", "over depth 64")
        yield lines(f"Section 5: {said}", "By queue depth.", rows, axes, log_x=True)
