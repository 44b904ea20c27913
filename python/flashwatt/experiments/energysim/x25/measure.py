"""Fig. 16: current over time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Point, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

DIE_MA = 17  # what a die draws at work above what it draws idle (Table III)
NEAR_PEAK = 0.9


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs = evidence["whole"]

    def near_peak(workload: str) -> list[float]:
        return [_near_peak(evidence, *labels) for labels in runs if labels[0] == workload]

    def peaks(program: str) -> int:
        return len({runs.value("current_ma.peak", "filezilla", layout, program) for layout in runs.labels("layout")})

    def longer(workload: str) -> float:
        key = "energy_total_j.busy_only"
        return runs.value(key, workload, "16x1", "900 µs") / runs.value(key, workload, "16x1", "500 µs")

    return {
        "financial1": lambda: max(near_peak("financial1")),
        "filezilla_16x1": lambda: _near_peak(evidence, "filezilla", "16x1", "900 µs"),
        "filezilla_2x8": lambda: _near_peak(evidence, "filezilla", "2x8", "900 µs"),
        "filezilla_least": lambda: min(near_peak("filezilla")),
        "peaks_900": lambda: peaks("900 µs"),
        "peaks_500": lambda: peaks("500 µs"),
        "longer_financial1": lambda: longer("financial1"),
        "longer_filezilla": lambda: longer("filezilla"),
        "longer_ratio": lambda: longer("financial1") / longer("filezilla"),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw the excerpts."""
    runs = evidence["excerpt"]
    for workload in runs.labels("workload"):
        rows = [point for program in runs.labels("program") for point in _current(evidence, workload, program)]
        said = "The first requests, mean current of every 100 µs; 16 × 1."
        yield lines(f"Fig. 16: current under {workload}", said, rows, ("ms", "current (mA)"), stairs=True)


def _current(evidence: Evidence, workload: str, program: str) -> Iterator[Point]:
    """Corners of the stairs: bins that differ from the one before."""
    report = evidence["excerpt"].report(workload, program)
    volts = report.config["energy"]["nand"]["millivolts"] / 1e3  # every part's
    last = None
    for start_ns, watts in report.series().select("start_ns", "total_w").iter_rows():
        ma = round(1e3 * watts / volts)
        if ma != last:
            yield Point(start_ns / 1e6, program, ma)
        last = ma


def _near_peak(evidence: Evidence, workload: str, layout: str, program: str) -> float:
    """Share of the busy time in which the current is near its peak."""
    report = evidence["whole"].report(workload, layout, program)
    seconds = report.parallelism.active_dies_s
    peak = report.current_ma.peak or math.inf
    enough = math.ceil(report.parallelism.max_active_dies - (1 - NEAR_PEAK) * peak / DIE_MA)
    return sum(seconds[enough:]) / sum(seconds[1:])
