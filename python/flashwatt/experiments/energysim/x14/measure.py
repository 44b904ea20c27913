"""Table IV: energy of single writes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

SIMULATED_MJ = {"4 KB": 1.2, "40 KB": 2.4, "80 KB": 3.7, "120 KB": 6.7, "160 KB": 8.2}
MEASURED_MJ = {"4 KB": 1.3, "40 KB": 2.5, "80 KB": 4.0, "120 KB": 7.3, "160 KB": 8.6}


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""

    def mj(profile: str, size: str) -> float:
        return 1e3 * evidence["writes"].value("energy_j.total", profile, size)

    def default(size: str) -> Callable[[], float]:
        return lambda: mj("default", size)

    def page_21() -> float:
        below = (mj("default", "80 KB") - mj("default", "40 KB")) / 10
        return (mj("default", "84 KB") - mj("default", "80 KB")) / below

    return {
        **{f"default_{size.lower().replace(' ', '_')}": default(size) for size in SIMULATED_MJ},
        "monotone": lambda: all(mj("default", a) < mj("default", b) for a, b in pairwise(SIMULATED_MJ)),
        "break": page_21,
        "calibrated_off": lambda: max(
            100 * abs(mj("calibrated", size) / published - 1) for size, published in SIMULATED_MJ.items()
        ),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw both profiles beside the table's columns."""
    runs = evidence["writes"]
    rows = []
    for size, published in SIMULATED_MJ.items():
        for profile in runs.labels("profile"):
            rows.append(Bar(size, profile, 1e3 * runs.value("energy_j.total", profile, size), published))
        rows.append(Bar(size, "measured X25-M (published)", MEASURED_MJ[size]))
    yield bars("Table IV: energy of a write", "By size.", rows, "energy (mJ)")
