"""Table 6: miss ratios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

PUBLISHED = {"32 KB": 0.9, "68 KB": 0.8, "147 KB": 0.6, "208 KB": 0.4, "247 KB": 0.2, "512 KB": 0.0}


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs = evidence["entries"]

    def with_bytes(size: str) -> Callable[[], float]:
        return lambda: _miss(evidence, "bytes", size)

    return {
        "off": lambda: max(abs(_miss(evidence, "entries", miss) - float(miss)) for miss in runs.labels("miss")),
        **{f"kb_{size.removesuffix(' KB')}": with_bytes(size) for size in PUBLISHED},
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw them beside the table's."""
    rows = [Bar(size, "simulated", _miss(evidence, "bytes", size), miss) for size, miss in PUBLISHED.items()]
    yield bars("Table 6: miss ratio", "By size of the cached table.", rows, "miss ratio")


def _miss(evidence: Evidence, runs: str, label: str) -> float:
    return 1 - evidence[runs].value("ftl.map_hit_ratio", label)
