"""Fig. 13, Fig. 14: energy and response time by switch delay, over those of the longest."""

from __future__ import annotations

from functools import partial
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
    runs = evidence["delays"]
    workloads, ftls = runs.labels("workload"), runs.labels("ftl")
    both = [(workload, ftl) for workload in workloads for ftl in ftls]

    def busy(workload: str, ftl: str = "page") -> float:
        return _spread(evidence, "energy_total_j.busy_only", workload, ftl)

    def falls(workload: str, ftl: str) -> bool:
        return any(b < a for a, b in pairwise(_values(evidence, TIME, workload, ftl).values()))

    return {
        "always_on": lambda: max(_off_percent(evidence, "energy_total_j.always_on", *one) for one in both),
        "busy_worst": lambda: max(map(busy, workloads)),
        **{f"busy_{workload}": partial(busy, workload) for workload in workloads},
        "busy_mean": lambda: max(fmean(busy(workload, ftl) for workload in workloads) for ftl in ftls),
        "rt_falls": lambda: sum(falls(*one) for one in both),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw a group of bars for each workload, under page mapping; then for each layer, over all workloads."""
    runs = evidence["delays"]
    for title, key in (("Fig. 13: energy", "energy_total_j.busy_only"), ("Fig. 14: mean response time", TIME)):
        rows = [
            Bar(workload, delay, value)
            for workload in runs.labels("workload")
            for delay, value in _normalised(evidence, key, workload, "page").items()
        ]
        yield bars(f"{title} by switch delay, page mapping", "Channel/way, µs; over the longest.", rows, "normalised")
        rows = [
            Bar(ftl, delay, fmean(_normalised(evidence, key, one, ftl)[delay] for one in runs.labels("workload")))
            for ftl in runs.labels("ftl")
            for delay in runs.labels("delay")
        ]
        said = "Channel/way, µs; over the longest; mean over the workloads."
        yield bars(f"{title} by switch delay, all layers", said, rows, "normalised")


def _normalised(evidence: Evidence, key: str, workload: str, ftl: str) -> dict[str, float]:
    values = _values(evidence, key, workload, ftl)
    return {delay: value / values["30/164"] for delay, value in values.items()}


def _values(evidence: Evidence, key: str, workload: str, ftl: str) -> dict[str, float]:
    runs = evidence["delays"]
    return {delay: runs.value(key, workload, ftl, delay) for delay in runs.labels("delay")}


def _off_percent(evidence: Evidence, key: str, workload: str, ftl: str) -> float:
    values = _values(evidence, key, workload, ftl).values()
    return 100 * max(abs(value / fmean(values) - 1) for value in values)


def _spread(evidence: Evidence, key: str, workload: str, ftl: str) -> float:
    values = _values(evidence, key, workload, ftl).values()
    return max(values) / min(values)
