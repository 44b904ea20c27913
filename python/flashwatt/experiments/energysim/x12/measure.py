"""Figs. 3 and 4: current of drives that write."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

_DISK_MA, _SSD_MA = 690, 800
_VOLTS = 5.0


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    return {
        "caviar_ma": partial(_ma, evidence, "caviar"),
        "published_ratio": lambda: _SSD_MA / _DISK_MA,
        "x25m_ma": partial(_ma, evidence, "x25m"),
        "x25m_peak_w": lambda: evidence["writes"].value("power_w.peak", "x25m"),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw the currents."""
    published = {"caviar": _DISK_MA, "x25m": _SSD_MA}
    rows = [Bar(drive, "simulated", _ma(evidence, drive), ma) for drive, ma in published.items()]
    yield bars("Figs. 3 and 4: current while writing", "Strokes: published, of a disk and of an SSD.", rows, "mA")


def _ma(evidence: Evidence, drive: str) -> float:
    """Mean current at 5 V: a disk draws from 12 V, too."""
    runs = evidence["writes"]
    joules = "hdd.energy_by_supply_j.v5" if drive == "caviar" else "energy_j.total"
    return runs.value(joules, drive) / runs.value("throughput.simulated_s", drive) / _VOLTS * 1e3
