"""Fig. 6: current by time since a write of n pages arrived."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Point, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

DIES, STEP_NS, LAST_STEP_NS = 20, 30_000, 570_000


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs = evidence["writes"]
    sizes = runs.labels("pages")

    def climbs() -> Iterator[tuple[int, list[tuple[int, float]]]]:
        for base in runs.labels("base"):
            for pages in sizes:
                yield int(pages), _climb(evidence, base, pages)

    def step_ma() -> float:
        rises = {round(b - a, 9) for _, climb in climbs() for (_, a), (_, b) in pairwise(climb)}
        return max(rises, key=lambda rise: abs(rise - 17))

    def peak(base: str, pages: str) -> float:
        return runs.value("current_ma.peak", base, pages)

    return {
        "step_ma": step_ma,
        "steps_off": lambda: sum(len(climb) != min(pages, DIES) for pages, climb in climbs()),
        "late_us": lambda: max(abs(at - k * STEP_NS) for _, climb in climbs() for k, (at, _) in enumerate(climb)) / 1e3,
        "peak_ma": lambda: peak("as specified", "20"),
        "peak_calibrated_ma": lambda: peak("calibrated base", "20"),
        "peak_growth_ma": lambda: peak("as specified", "40") - peak("as specified", "20"),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw the stairs of all sizes."""
    for title, chosen in (("up to 80 KB", ("1", "5", "10", "15", "20")), ("beyond 80 KB", ("20", "21", "30", "40"))):
        rows = [
            Point(at / 1e3, f"{int(pages) * 4} KB", ma)
            for pages in chosen
            for at, ma in _levels(evidence, "calibrated base", pages)
        ]
        said = "Current by time since the write arrived, on the calibrated base. Published: steps of 17 mA to 520 mA."
        yield lines(f"Fig. 6: current of a write, {title}", said, rows, ("µs", "current (mA)"), stairs=True)


def _climb(evidence: Evidence, base: str, pages: str) -> list[tuple[int, float]]:
    """The steps upwards, until the last die of a round has begun."""
    return [(at, ma) for at, ma in _levels(evidence, base, pages) if at <= min(int(pages) - 1, DIES - 1) * STEP_NS]


def _levels(evidence: Evidence, base: str, pages: str) -> list[tuple[int, float]]:
    """When the current changed, and to what, where the total did change."""
    edges = evidence["writes"].report(base, pages).to_dict()["edges"]
    levels: list[tuple[int, float]] = []
    for at, ma in zip(edges["time_ns"], edges["total_ma"], strict=True):
        if not levels or ma != levels[-1][1]:
            levels.append((at, ma))
    return [*levels, (edges["until_ns"], levels[-1][1])]
