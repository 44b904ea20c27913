"""Totals by different paths."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, shares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.report.report import Report
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    return {
        "integral": lambda: _worst(evidence, _integral),
        "causes": lambda: _worst(evidence, _causes),
        "bins": lambda: _worst(evidence, _bins),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw energies by cause: what the sums are made of."""
    runs = evidence["mixed"]
    for drive in runs.labels("drive"):
        rows = [
            Bar(ftl, cause, joules)
            for ftl in runs.labels("ftl")
            for cause, joules in runs.report(drive, ftl).to_dict()["energy_by_cause_j"].items()
        ]
        yield shares(f"Energy by cause, {drive}", "By translation layer.", rows, "energy (J)")


def _worst(evidence: Evidence, path: Callable[[Report], float]) -> float:
    """The largest relative difference of a path from the sum of the components."""
    runs = evidence["mixed"]
    pairs = [(path(report), report.energy_j.total) for report in (runs.report(*labels) for labels in runs)]
    return max(abs(found / total - 1) for found, total in pairs)


def _integral(report: Report) -> float:
    return report.energy_integral_j or 0.0


def _causes(report: Report) -> float:
    return math.fsum(report.to_dict()["energy_by_cause_j"].values())


def _bins(report: Report) -> float:
    bins = report.series().select("start_ns", "end_ns", "total_w").iter_rows()
    return math.fsum((end - start) * 1e-9 * watts for start, end, watts in bins)
