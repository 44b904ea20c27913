"""Fig. 10, Table VII: shares of the flash's energy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.experiments.energysim.operations import PARTS, dies_at_work
from flashwatt.experiments.energysim.operations import shares as shares_of
from flashwatt.plot.figures import Bar, shares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

WORKLOAD = "financial1"


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs = evidence["ftls"]

    def share(part: str, ftl: str) -> Callable[[], float]:
        return lambda: shares_of(evidence, WORKLOAD, ftl)[part]

    def dies(ftl: str) -> Callable[[], float]:
        return lambda: dies_at_work(runs.report(WORKLOAD, ftl))

    def idle_order() -> bool:
        idle = {ftl: shares_of(evidence, WORKLOAD, ftl)["idle"] for ftl in runs.labels("ftl")}
        return max(idle["page"], idle["dftl"]) < min(idle["block"], idle["bast*"], idle["bast"])

    return {
        **{f"{part}_{_name(ftl)}": share(part, ftl) for ftl in runs.labels("ftl") for part in (*PARTS, "bus")},
        **{f"dies_{_name(ftl)}": dies(ftl) for ftl in runs.labels("ftl")},
        "idle_order": idle_order,
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw the shares of every workload, as far as it fits: one picture for each layer."""
    runs = evidence["ftls"]
    for ftl in runs.labels("ftl"):
        rows = [
            Bar(workload, part, value)
            for workload in runs.labels("workload")
            for part, value in shares_of(evidence, workload, ftl).items()
        ]
        yield shares(f"Fig. 10: energy by operation, {ftl}", "By workload.", rows, "share (%)")


def _name(ftl: str) -> str:
    return ftl.replace("*", "_star")
