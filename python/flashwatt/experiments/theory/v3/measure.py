"""Hit ratios against the share of entries in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    return {"off": lambda: max(abs(hits - share) for share, hits in _hits(evidence).items())}


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw both; theory as strokes."""
    rows = [Bar(f"{share:g}", "simulated", hits, share) for share, hits in _hits(evidence).items()]
    yield bars("Hit ratio of DFTL", "By the share of entries in memory.", rows, "hit ratio")


def _hits(evidence: Evidence) -> dict[float, float]:
    runs = evidence["reads"]
    return {float(share): runs.value("ftl.map_hit_ratio", share) for share in runs.labels("share")}
