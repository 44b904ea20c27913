"""Fig. 6: varmail."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flashwatt.experiments.seo2008.rates import charts, gain, joules_per_mb, mb_per_s, programmed, table, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs, others = evidence["varmail"], evidence["others"]
    gains = {f"gain_{one}": partial(gain, mb_per_s, runs, one) for one in runs.labels("drive")}
    joules = {f"joules_{one}": partial(gain, joules_per_mb, runs, one) for one in runs.labels("drive")}

    def burst_log() -> float:
        return mb_per_s(runs, "fast", "ext2") / mb_per_s(others, "FAST, log of 30 MB", "ext2")

    return {**gains, **joules, "burst_log": burst_log}


def figures(evidence: Evidence) -> Iterator[Chart | str]:
    """Draw throughput and energy, and lay out what else decides."""
    yield from charts("varmail", evidence["varmail"])
    writes = {"MB written to the drive for each MB": written, "MB programmed on flash for each MB": programmed}
    yield table(writes, evidence["varmail"], evidence["others"])
