"""Fig. 6: response time and searches by the size of the window."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, Multiples, bars
from flashwatt.reproduce.grid import over_seeds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

SATURATED = ("uniform", "skewed")
TIME = "latency_ns.all.mean"
LARGER = 1.05
"""How much more than the worst window a random victim costs: the bound of the criteria."""


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs = evidence["windows"]
    random, *windows = runs.labels("window")
    _, *grid_windows = evidence["grid"].labels("window")

    def response(writes: str, window: str) -> float:
        return runs.value("latency_ns.all.mean", writes, window)

    def random_over(writes: str, worst_or_best: Callable[[list[float]], float]) -> float:
        return response(writes, random) / worst_or_best([response(writes, window) for window in windows])

    def rise_after_best(writes: str) -> float:
        times = [response(writes, window) for window in windows]
        return max(times[times.index(min(times)) :]) / min(times)

    def searches_rise() -> bool:
        found = {writes: [runs.value("gc.searches", writes, one) for one in windows] for writes in SATURATED}
        return all(a < b for counts in found.values() for a, b in pairwise(counts))

    return {
        "random_over_worst_uniform": lambda: random_over("uniform", max),
        "random_over_worst_skewed": lambda: random_over("skewed", max),
        "rise_uniform": lambda: max(
            response("uniform", b) / response("uniform", a) for a, b in pairwise((random, *windows))
        ),
        "rise_skewed": lambda: rise_after_best("skewed"),
        "searches_rise": searches_rise,
        "random_over_best_oltp": lambda: random_over("oltp", min),
        "grid_random": lambda: fmean(
            max(_over(evidence, TIME, pattern, window)[0] for window in grid_windows) <= 1 / LARGER
            for pattern in evidence["grid"].labels("pattern")
        ),
    }


def figures(evidence: Evidence) -> Iterator[Chart | Multiples]:
    """Draw both, each over its value for a random victim or for the smallest window."""
    runs = evidence["windows"]
    random, first, *_ = windows = runs.labels("window")
    for title, key, base, log in (
        ("mean response time, over that of a random victim", "latency_ns.all.mean", random, False),
        ("table searches, over those of the smallest window", "gc.searches", first, True),
    ):
        rows = [
            Bar(window, writes, runs.value(key, writes, window) / runs.value(key, writes, base))
            for window in windows
            for writes in runs.labels("writes")
        ]
        yield bars(f"Fig. 6: {title}", "By the window that a victim is searched in.", rows, "normalised", log=log)
    yield Multiples(
        "Grid: mean response time, over that of a random victim",
        "By the window, for writes of which a share goes to a share of the space; five seeds with 95 % intervals.",
        tuple(_grid_chart(evidence, pattern) for pattern in evidence["grid"].labels("pattern")),
    )


def _over(evidence: Evidence, key: str, pattern: str, window: str) -> tuple[float, float]:
    """A figure of the grid over that of a random victim: the mean, and half the width of its interval."""
    grid = evidence["grid"]
    return over_seeds(
        grid, lambda seed: grid.value(key, pattern, window, seed) / grid.value(key, pattern, "random", seed)
    )


def _grid_chart(evidence: Evidence, pattern: str) -> Chart:
    rows = []
    for window in evidence["grid"].labels("window"):
        mean, half_width = _over(evidence, TIME, pattern, window)
        rows.append(Bar(window, "response", mean, error=half_width))
    return bars(pattern, "", rows, "normalised")
