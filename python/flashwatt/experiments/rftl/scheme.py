"""What the paper calls a number of replicas, and the grid of what it does not state."""

from __future__ import annotations

from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from flashwatt.plot.figures import Multiples, Point, lines
from flashwatt.reproduce.grid import over_seeds

if TYPE_CHECKING:
    from flashwatt.reproduce.evidence import Runs


def scheme(replicas: str) -> str:
    """Without any it is DFTL."""
    return "DFTL" if replicas == "0" else f"RFTL({replicas})"


class Change(NamedTuple):
    """The change of a figure with one replica at a point of the grid, in percent."""

    depth: str
    policy: str
    stride: str
    batch: str
    mean: float
    """Over the seeds, each paired with DFTL's run of the same seed."""
    half_width: float
    """Of the 95 % interval."""


def changes(grid: Runs, key: str, mix: str) -> list[Change]:
    """The changes at all points of the grid."""
    axes = ("grid_depth", "policy", "stride", "batch")
    return [_change(grid, key, mix, point) for point in product(*map(grid.labels, axes))]


def _change(grid: Runs, key: str, mix: str, point: tuple[str, ...]) -> Change:
    def value(scheme: str, seed: str) -> float:
        return grid.value(key, mix, *point, scheme, seed)

    depth, policy, stride, batch = point
    change = over_seeds(grid, lambda seed: 100 * (value("RFTL(1)", seed) / value("DFTL", seed) - 1))
    return Change(depth, policy, stride, batch, *change)


def share_within(found: list[Change], published: float) -> float:
    """The share of points whose change is from half to twice the published one."""
    least, most = 0.5, 2.0
    return fmean(least <= one.mean / published <= most for one in found)


def pictures(title: str, found: list[Change], published: float, unit: str) -> Multiples:
    """A small chart for each stride and batch update: the change over the depth, a line for each policy."""
    charts = []
    for stride, batch in dict.fromkeys((one.stride, one.batch) for one in found):
        here = [one for one in found if (one.stride, one.batch) == (stride, batch)]
        rows = [Point(float(one.depth), one.policy, one.mean, error=one.half_width) for one in here]
        rows += [Point(float(one.depth), "paper", published, published=True) for one in here]
        charts.append(lines(f"stride {stride}, batch update {batch}", "", rows, ("queue depth", unit), log_x=True))
    return Multiples(f"Grid: {title}", "M = 0.9; means of five seeds with 95 % intervals.", tuple(charts))
