"""Section 5: response time and energy over those at the largest depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.plot.figures import Multiples, Point, lines
from flashwatt.reproduce.grid import over_seeds

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
        "grid_time_from_16": lambda: max(
            _over_largest(evidence, TIME, workload, layer, "16")[0]
            for workload in evidence["grid"].labels("workload")
            for layer in evidence["grid"].labels("layer")
        ),
    }


def figures(evidence: Evidence) -> Iterator[Chart | Multiples]:
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
        yield Multiples(
            f"Grid: {said}",
            "By queue depth, over depth 64, at 1/64 of the size; means of five seeds with 95 % intervals.",
            tuple(_grid_chart(evidence, key, workload) for workload in evidence["grid"].labels("workload")),
        )


def _over_largest(evidence: Evidence, key: str, workload: str, layer: str, depth: str) -> tuple[float, float]:
    """A figure of the grid over that at the largest depth: the mean, and half the width of its interval."""
    grid = evidence["grid"]
    return over_seeds(
        grid,
        lambda seed: grid.value(key, workload, layer, depth, seed) / grid.value(key, workload, layer, LARGEST, seed),
    )


def _grid_chart(evidence: Evidence, key: str, workload: str) -> Chart:
    grid, rows = evidence["grid"], []
    for layer in grid.labels("layer"):
        for depth in grid.labels("depth"):
            mean, half_width = _over_largest(evidence, key, workload, layer, depth)
            rows.append(Point(float(depth), layer, mean, error=half_width))
    return lines(workload, "", rows, ("queue depth", "over depth 64"), log_x=True)
