"""What the papers' tool measures of a drive: MB/s, W and J/MB by pattern and size."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from flashwatt.plot.figures import Point, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.evidence import Evidence

SSDS = ("OLD", "SLC", "MLC", "TGN")
KIB = {"4K": 4, "16K": 16, "64K": 64, "256K": 256, "1M": 1024, "4M": 4096, "16M": 16384}
PATTERNS = {"SR": "sequential reads", "RR": "random reads", "SW": "sequential writes", "RW": "random writes"}

Figure: TypeAlias = "Callable[[Evidence, str, str, str], float]"
"""A figure of a device, a pattern and a size."""


def mb_s(evidence: Evidence, device: str, pattern: str, size: str) -> float:
    """Megabytes (10^6) in a second."""
    return _value(evidence, f"throughput.{'read' if pattern[1] == 'R' else 'write'}_mb_s", device, pattern, size)


def watts(evidence: Evidence, device: str, pattern: str, size: str) -> float:
    """Mean power."""
    return _value(evidence, "power_w.mean", device, pattern, size)


def j_per_mb(evidence: Evidence, device: str, pattern: str, size: str) -> float:
    """Energy for each megabyte."""
    return watts(evidence, device, pattern, size) / mb_s(evidence, device, pattern, size)


def _value(evidence: Evidence, key: str, device: str, pattern: str, size: str) -> float:
    """A figure of a run. Random writes to the page-mapped SLC begin in their steady state."""
    if (device, pattern) == ("SLC", "RW"):
        return evidence["steady"].value(key, device, pattern, size)
    return evidence["dio"].value(key, device, pattern, size)


def ratio(figure: Figure, evidence: Evidence, device: str, size: str, over: tuple[str, str]) -> float:
    """A figure of one pattern over that of another."""
    return figure(evidence, device, over[0], size) / figure(evidence, device, over[1], size)


def charts(title: str, figure: Figure, evidence: Evidence, unit: str, *, log_y: bool = True) -> Iterator[Chart]:
    """Draw a figure by request size, a chart for each pattern, a line for each device."""
    for pattern, name in PATTERNS.items():
        rows = [
            Point(kib, device, figure(evidence, device, pattern, size))
            for device in evidence["dio"].labels("device")
            for size, kib in KIB.items()
        ]
        axes = ("request size (KiB)", unit)
        yield lines(f"{title}: {name}", "One request at a time.", rows, axes, log_x=True, log_y=log_y)
