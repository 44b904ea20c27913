"""Section 4.2: what a battery of 50 Wh writes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flashwatt.dio.battery import gigabytes
from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

_BATTERY_WH = 50
_PUBLISHED_GB = {
    ("MLC", "random"): 2.2,
    ("HDD", "random"): 46,
    ("MLC", "sequential"): 3000,
    ("HDD", "sequential"): 1800,
}


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    return {f"{device}_{pattern}_gb": partial(_gb, evidence, device, pattern) for device, pattern in _PUBLISHED_GB}


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw the gigabytes beside the published ones."""
    rows = [Bar(device, pattern, _gb(evidence, device, pattern), gb) for (device, pattern), gb in _PUBLISHED_GB.items()]
    yield bars("Section 4.2: 50 Wh write", "Strokes: published.", rows, "GB", log=True)


def _gb(evidence: Evidence, device: str, pattern: str) -> float:
    """Gigabytes (10^9 bytes) that 50 Wh write."""
    runs = evidence["writes"]
    joules_per_mb = runs.value("power_w.mean", device, pattern) / runs.value("throughput.write_mb_s", device, pattern)
    return gigabytes(joules_per_mb, _BATTERY_WH)
