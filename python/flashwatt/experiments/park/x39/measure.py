"""Section 3.3: chips of memory for the tables of X3, and what they draw."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashwatt.experiments.park.tables import LARGEST, SCHEMES, SMALLEST, kib
from flashwatt.plot.figures import Point, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

CHIP_KIB = 64 * 1024
CHIP_W = {"SDRAM": 0.3, "LPRAM": 0.1}


def quantities(_: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    return {
        "page_512m_sdram_w": lambda: _watts(SMALLEST, "page", "SDRAM"),
        "page_1t_sdram_w": lambda: _watts(LARGEST, "page", "SDRAM"),
        "page_1t_lpram_w": lambda: _watts(LARGEST, "page", "LPRAM"),
        "dftl_1t_lpram_w": lambda: _watts(LARGEST, "dftl", "LPRAM"),
    }


def figures(_: Evidence) -> Iterator[Chart]:
    """Draw the power of LPRAM by capacity."""
    rows = [Point(size / 2**30, scheme, _watts(size, scheme, "LPRAM")) for size in kib() for scheme in SCHEMES]
    axes = ("capacity (GB)", "power (W)")
    yield lines("Section 3.3: power of the memory", "LPRAM, by capacity.", rows, axes, log_x=True, log_y=True)


def _watts(capacity: int, scheme: str, chip: str) -> float:
    """Power of whole chips that hold the tables of a scheme."""
    return math.ceil(kib()[capacity][scheme] / CHIP_KIB) * CHIP_W[chip]
