"""Fig. 7: the closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.experiments.park.tables import LARGEST, SCHEMES, SMALLEST, kib
from flashwatt.plot.figures import Point, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


def quantities(_: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    tables = kib()
    small, large = tables[SMALLEST], tables[LARGEST]
    return {
        "page_512m": lambda: small["page"],
        "page_1t": lambda: large["page"],
        "block_512m": lambda: small["block"],
        "hybrid_512m": lambda: small["fast"],
        "dftl_512m": lambda: small["dftl"],
        "order": lambda: all(t["page"] > t["fast"] == t["last"] > t["dftl"] > t["block"] for t in tables.values()),
        "dftl_over_block": lambda: large["dftl"] / large["block"],
    }


def figures(_: Evidence) -> Iterator[Chart]:
    """Draw the tables by capacity, both on logarithmic axes."""
    rows = [Point(size / 2**30, scheme, kib[scheme]) for size, kib in kib().items() for scheme in SCHEMES]
    axes = ("capacity (GB)", "tables (KB)")
    yield lines("Fig. 7: memory of mapping tables", "By capacity.", rows, axes, log_x=True, log_y=True)
