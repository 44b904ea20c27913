"""Fig. 11: mean response time by layout, over that of 2 × 8."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

MANY = ("4x4", "8x2", "16x1")


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    ftls = evidence["layouts"].labels("ftl")

    def spread(ftl: str) -> float:
        times = [_time(evidence, ftl, layout) for layout in MANY]
        return max(times) / min(times)

    return {
        "spread_page": lambda: spread("page"),
        "spread_worst": lambda: max(map(spread, ftls)),
        "slower": lambda: min(1 / _time(evidence, ftl, "8x2") for ftl in ftls),
    }


def figures(evidence: Evidence) -> Iterator[Chart | str]:
    """Draw a group of bars for each layer, and write what page mapping does where reads take the channel."""
    runs = evidence["layouts"]
    rows = [
        Bar(ftl, layout, _time(evidence, ftl, layout)) for ftl in runs.labels("ftl") for layout in runs.labels("layout")
    ]
    yield bars("Fig. 11: mean response time by layout", "Mean over the workloads; over 2 × 8.", rows, "normalised")
    yield _read_rules(evidence)


def _read_rules(evidence: Evidence) -> str:
    """A table of page mapping by what the data of a read does to its channel."""
    lines = ["Page mapping, mean response time over that of 2 × 8, by the data of a read:", ""]
    lines += ["| layout | does not hold the channel | holds it (`on_bus`) |", "|---|---:|---:|"]
    runs, workloads = evidence["on_bus"], evidence["on_bus"].labels("workload")
    for layout in MANY:
        held = fmean(
            runs.relative("latency_ns.all.mean", one, "page", layout, "on_bus", layout="2x8") for one in workloads
        )
        lines.append(f"| {layout} | {_time(evidence, 'page', layout):.3f} | {held:.3f} |")
    return "\n".join(lines)


def _time(evidence: Evidence, ftl: str, layout: str) -> float:
    """Response time over that of 2 × 8, mean over the workloads."""
    runs = evidence["layouts"]
    workloads = runs.labels("workload")
    return fmean(runs.relative("latency_ns.all.mean", one, ftl, layout, layout="2x8") for one in workloads)
