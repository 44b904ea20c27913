"""Fig. 14: throughput over that of DFTL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.plot.figures import Point, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs = evidence["study"]
    mixes, misses = runs.labels("mix"), runs.labels("miss")

    def order(mix: str) -> bool:
        one, two, three = (_gain(evidence, mix, "8", "0.9", replicas) for replicas in ("1", "2", "3"))
        return one > two > three

    def growth() -> float:
        return _gain(evidence, "reads", "8", "0.9", "1") - _gain(evidence, "reads", "8", "0.2", "1")

    return {
        "one_least": lambda: min(_gain(evidence, mix, "8", miss, "1") for mix in mixes for miss in misses),
        "order_reads": lambda: order("reads"),
        "order_writes": lambda: order("writes"),
        "reads_three": lambda: min(_gain(evidence, "reads", "8", miss, "3") for miss in misses),
        "writes_three": lambda: _gain(evidence, "writes", "8", "0.9", "3"),
        "growth": growth,
        "reads_02": lambda: _gain(evidence, "reads", "8", "0.2", "1"),
        "reads_09": lambda: _gain(evidence, "reads", "8", "0.9", "1"),
        "reads_09_32": lambda: _gain(evidence, "reads", "32", "0.9", "1"),
        "writes_09_32": lambda: _gain(evidence, "writes", "32", "0.9", "1"),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw throughput by miss ratio, as the paper does."""
    runs = evidence["study"]
    for mix in runs.labels("mix"):
        for depth in runs.labels("depth"):
            rows = [
                Point(float(miss), f"RFTL({replicas})", _gain(evidence, mix, depth, miss, replicas))
                for replicas in ("1", "2", "3")
                for miss in runs.labels("miss")
            ]
            title = f"Fig. 14: throughput over DFTL, 80 % {mix}, depth {depth}"
            yield lines(title, "By miss ratio.", rows, ("miss ratio", "gain (%)"))


def _gain(evidence: Evidence, mix: str, depth: str, miss: str, replicas: str) -> float:
    """Percent more requests per second than with DFTL."""
    runs, key = evidence["study"], "throughput.iops"
    return 100 * (runs.value(key, mix, depth, miss, replicas) / runs.value(key, mix, depth, miss, "0") - 1)
