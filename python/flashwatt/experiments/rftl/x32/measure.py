"""Fig. 10, Fig. 11: distributions of map reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.experiments.rftl.distribution import cdf, no_worse
from flashwatt.plot.figures import lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""

    def share(mix: str, depth: str, miss: str) -> Callable[[], float]:
        return lambda: no_worse(evidence, "map_read", (mix, depth, miss), 1)

    return {
        f"{mix}_{miss.replace('.', '_')}{suffix}": share(mix, depth, miss)
        for depth, suffix in (("8", ""), ("32", "_32"))
        for mix in evidence["study"].labels("mix")
        for miss in ("0.2", "0.9")
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw the distributions."""
    for mix in evidence["study"].labels("mix"):
        rows = cdf(evidence, "map_read", (mix, "8", "0.6"))
        title = f"Fig. 10, 11: map reads, 80 % {mix}"
        yield lines(title, "M = 0.6, depth 8.", rows, ("µs", "share of map reads"), stairs=True)
