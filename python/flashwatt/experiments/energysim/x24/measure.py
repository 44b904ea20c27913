"""Fig. 15: time at the highest current."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

ALL_DIES_MA = 30 + 100 + 16 * 20  # controller, DRAM, every die at work
MANY = ("4x4", "8x2", "16x1")


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""

    def single_us(program: str) -> float:
        """The time that the three layouts agree on."""
        times = {_at_peak_ns(evidence, "single_program", layout, program) for layout in MANY}
        if len(times) > 1:
            raise _core.FlashwattError(f"the layouts differ: {sorted(times)} ns")
        return times.pop() / 1e3

    def spread(runs: str, program: str) -> float:
        found = [_share(evidence, runs, layout, program) for layout in MANY]
        return max(found) / min(found)

    def two_channels_less() -> bool:
        return all(
            _share(evidence, "stream_program", "2x8", program) < _share(evidence, "stream_program", "4x4", program)
            for program in ("500 µs", "900 µs")
        )

    def longer_more() -> bool:
        return all(
            _share(evidence, "stream_program", layout, "900 µs") > _share(evidence, "stream_program", layout, "500 µs")
            for layout in ("2x8", *MANY)
        )

    def of_many(workload: str, layout: str) -> float | None:
        return _of_16x1(evidence, workload, layout, "900 µs")

    def filezilla() -> float:
        found = [of_many("filezilla", layout) or 0.0 for layout in MANY]
        return max(found) / min(found)

    def mean(layout: str) -> float:
        found = [of_many(workload, layout) for workload in evidence["workloads"].labels("workload")]
        return fmean(ratio for ratio in found if ratio is not None)

    return {
        "workloads_filezilla": filezilla,
        "workloads_mean": lambda: mean("4x4"),
        "workloads_two_channels": lambda: mean("2x8"),
        "single_500_us": lambda: single_us("500 µs"),
        "single_500_2x8_us": lambda: _at_peak_ns(evidence, "single_program", "2x8", "500 µs") / 1e3,
        "single_900_us": lambda: single_us("900 µs"),
        "single_900_2x8_us": lambda: _at_peak_ns(evidence, "single_program", "2x8", "900 µs") / 1e3,
        "working_500": lambda: spread("stream_working", "500 µs"),
        "working_900": lambda: spread("stream_working", "900 µs"),
        "program_500": lambda: spread("stream_program", "500 µs"),
        "program_900": lambda: spread("stream_program", "900 µs"),
        "two_channels_less": two_channels_less,
        "longer_more": longer_more,
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw the shares over that of 16 channels, as the paper does."""
    runs = evidence["stream_program"]
    for program in runs.labels("program"):
        rows = [
            Bar(layout, said, _share(evidence, name, layout, program) / _share(evidence, name, "16x1", program))
            for layout in runs.labels("layout")
            for name, said in (("stream_program", "programming"), ("stream_working", "loading or programming"))
        ]
        title = f"Fig. 15: time at the highest current, programs of {program}"
        yield bars(title, "A stream of writes, by layout; over 16 channels.", rows, "normalised")

    runs = evidence["workloads"]
    for program in runs.labels("program"):
        rows = [
            Bar(workload, layout, _of_16x1(evidence, workload, layout, program))
            for workload in runs.labels("workload")
            for layout in runs.labels("layout")
        ]
        title = f"Fig. 15: time at the highest current, programs of {program}, by workload"
        yield bars(title, "Time with 16 dies loading or programming; over 16 channels.", rows, "normalised")


def _of_16x1(evidence: Evidence, workload: str, layout: str, program: str) -> float | None:
    """Time with all dies at work over that with 16 channels; None where these never have them all at work."""
    here, there = (
        evidence["workloads"].report(workload, one, program).parallelism.active_dies_s[-1] for one in (layout, "16x1")
    )
    return here / there if there else None


def _share(evidence: Evidence, runs: str, layout: str, program: str) -> float:
    elapsed = evidence[runs].value("throughput.simulated_s", layout, program)
    return _at_peak_ns(evidence, runs, layout, program) / 1e9 / elapsed


def _at_peak_ns(evidence: Evidence, runs: str, layout: str, program: str) -> int:
    """Time at the current of all dies; none where they never were at work together."""
    current = evidence[runs].report(layout, program).current_ma
    return int(current.time_at_peak_ns or 0) if current.peak == ALL_DIES_MA else 0
