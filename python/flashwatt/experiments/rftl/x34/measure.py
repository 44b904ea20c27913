"""Fig. 14: throughput over that of DFTL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.experiments.rftl.scheme import changes, pictures, share_within
from flashwatt.plot.figures import Point, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.experiments.rftl.scheme import Change
    from flashwatt.plot import Chart
    from flashwatt.plot.figures import Multiples
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


_GAIN = 6.0
"""The published gain of throughput, in percent."""


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs = evidence["study"]
    mixes, misses = runs.labels("mix"), runs.labels("miss")

    def order(mix: str, depth: str) -> bool:
        one, two, three = (_gain(evidence, mix, depth, "0.9", replicas) for replicas in ("1", "2", "3"))
        return one > two > three

    def at(depth: str) -> dict[str, Callable[[], Value]]:
        def gain(mix: str, miss: str, replicas: str = "1") -> float:
            return _gain(evidence, mix, depth, miss, replicas)

        return {
            "one_least": lambda: min(gain(mix, miss) for mix in mixes for miss in misses),
            "order_reads": lambda: order("reads", depth),
            "order_writes": lambda: order("writes", depth),
            "reads_three": lambda: min(gain("reads", miss, "3") for miss in misses),
            "writes_three": lambda: gain("writes", "0.9", "3"),
            "growth": lambda: gain("reads", "0.9") - gain("reads", "0.2"),
            "reads_02": lambda: gain("reads", "0.2"),
            "reads_09": lambda: gain("reads", "0.9"),
            "writes_09": lambda: gain("writes", "0.9"),
        }

    deeper = {f"{name}_32": measure for name, measure in at("32").items()}
    return {
        **at("8"),
        **deeper,
        "grid_gain": lambda: share_within(_grid(evidence), _GAIN),
    }


def figures(evidence: Evidence) -> Iterator[Chart | Multiples]:
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
    yield pictures("throughput of RFTL(1) over DFTL, 80 % reads", _grid(evidence), _GAIN, "gain (%)")


def _grid(evidence: Evidence) -> list[Change]:
    return changes(evidence["grid"], "throughput.iops", "reads")


def _gain(evidence: Evidence, mix: str, depth: str, miss: str, replicas: str) -> float:
    """Percent more requests per second than with DFTL."""
    runs, key = evidence["study"], "throughput.iops"
    return 100 * (runs.value(key, mix, depth, miss, replicas) / runs.value(key, mix, depth, miss, "0") - 1)
