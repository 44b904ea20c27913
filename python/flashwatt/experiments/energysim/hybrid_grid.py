"""The hybrids at every combination of start state, stripes, and search or limit of the logs."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from flashwatt.plot.figures import Bar, Multiples, bars
from flashwatt.reproduce.grid import over_seeds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashwatt.reproduce.evidence import Runs

_OPTIONS = {"one probe": 0, "90 % of the logs": 0, "a scan": 1, "all logs": 1}
_SERIES = ("one probe, 90 % of the logs", "a scan, all logs")
_PAGE, _PAGE_START = "page", "filled"
"""Page mapping starts filled, as in the code that the authors released."""


class Place(NamedTuple):
    """A point of the grid, and what a hybrid takes there over what page mapping takes, the mean over the workloads."""

    layer: str
    option: str
    """How block mapping searches, or how many of its logs a hybrid uses."""
    stripes: str
    start: str
    mean: float
    """Over the seeds, each paired with page mapping's run of the same seed."""
    half_width: float
    """Of the 95 % interval."""


def places(grid: Runs, key: str) -> list[Place]:
    """All points, for a figure by its dotted key."""
    rules = [one for one in grid.labels("rules") if one != _PAGE]
    return [_place(grid, key, rule, start) for start in grid.labels("start") for rule in rules]


def _place(grid: Runs, key: str, rule: str, start: str) -> Place:
    def over_page(seed: str) -> float:
        return fmean(
            grid.value(key, workload, start, rule, seed) / grid.value(key, workload, _PAGE_START, _PAGE, seed)
            for workload in grid.labels("workload")
        )

    layer, option, stripes = rule.split(", ")
    return Place(layer, option, stripes, start, *over_seeds(grid, over_page))


def pictures(found: list[Place], title: str, published: Mapping[str, float]) -> Multiples:
    """A small chart for each start state and stripes, with the published values."""
    charts = []
    for start, stripes in dict.fromkeys((one.start, one.stripes) for one in found):
        here = [one for one in found if (one.start, one.stripes) == (start, stripes)]
        rows = [
            Bar(one.layer, _SERIES[_OPTIONS[one.option]], one.mean, published.get(one.layer), one.half_width)
            for one in here
        ]
        charts.append(bars(f"{start} start, {stripes}", "", rows, "over page mapping", log=True))
    said = "Over page mapping, means over the workloads at 1/64 of the size, five seeds with 95 % intervals."
    return Multiples(f"Grid: {title}", f"{said} Black strokes: published values.", tuple(charts))
