"""Fig. 12, Fig. 13: distributions of requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.experiments.rftl.distribution import cdf, no_worse, share_below
from flashwatt.plot.figures import lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

TAIL = 80
LEVEL_NS = 250_000


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""

    def share(mix: str, kind: str, depth: str) -> Callable[[], float]:
        return lambda: no_worse(evidence, kind, (mix, depth, "0.9"), TAIL)

    def below() -> float:
        return share_below(evidence["study"], "read", ("reads", "8", "0.9", "1"), LEVEL_NS)

    return {
        **{
            f"{mix}_{kind}{suffix}": share(mix, kind, depth)
            for depth, suffix in (("8", ""), ("32", "_32"))
            for mix in evidence["study"].labels("mix")
            for kind in ("read", "write")
        },
        "below_250": below,
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw the distributions."""
    for mix, kind in (("reads", "read"), ("writes", "write")):
        rows = cdf(evidence, kind, (mix, "8", "0.9"))
        title = f"Fig. 12, 13: {kind}s, 80 % {mix}"
        yield lines(title, "M = 0.9, depth 8.", rows, ("µs", f"share of {kind}s"), stairs=True, log_x=True)
