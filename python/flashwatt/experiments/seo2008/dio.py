"""What the papers' tool measures of a drive: MB/s, W and J/MB by pattern and size."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from flashwatt.plot.figures import Point, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.evidence import Runs

SSDS = ("OLD", "SLC", "MLC", "TGN")
KIB = {"4K": 4, "16K": 16, "64K": 64, "256K": 256, "1M": 1024, "4M": 4096, "16M": 16384}
PATTERNS = {"SR": "sequential reads", "RR": "random reads", "SW": "sequential writes", "RW": "random writes"}

Figure: TypeAlias = "Callable[[Runs, str, str, str], float]"
"""A figure of a device, a pattern and a size."""


def mb_s(runs: Runs, device: str, pattern: str, size: str) -> float:
    """Megabytes (10^6) in a second."""
    return runs.value(f"throughput.{'read' if pattern[1] == 'R' else 'write'}_mb_s", device, pattern, size)


def watts(runs: Runs, device: str, pattern: str, size: str) -> float:
    """Mean power."""
    return runs.value("power_w.mean", device, pattern, size)


def j_per_mb(runs: Runs, device: str, pattern: str, size: str) -> float:
    """Energy for each megabyte."""
    return watts(runs, device, pattern, size) / mb_s(runs, device, pattern, size)


def ratio(figure: Figure, runs: Runs, device: str, size: str, over: tuple[str, str]) -> float:
    """A figure of one pattern over that of another."""
    return figure(runs, device, over[0], size) / figure(runs, device, over[1], size)


def charts(title: str, figure: Figure, runs: Runs, unit: str, *, log_y: bool = True) -> Iterator[Chart]:
    """Draw a figure by request size, a chart for each pattern, a line for each device."""
    for pattern, name in PATTERNS.items():
        rows = [
            Point(kib, device, figure(runs, device, pattern, size))
            for device in runs.labels("device")
            for size, kib in KIB.items()
        ]
        axes = ("request size (KiB)", unit)
        yield lines(f"{title}: {name}", "One request at a time.", rows, axes, log_x=True, log_y=log_y)
