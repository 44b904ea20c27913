"""Fig. 9: energy of the map."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, Multiples, bars
from flashwatt.reproduce.grid import over_seeds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

LEAST, MOST = 0.1, 0.3
"""The bounds of the criteria for the Financials."""
PUBLISHED = {"financial1": 0.25, "financial2": 0.25, "msnfs": 11.0}


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs = evidence["ftls"]

    def hits(workload: str) -> Callable[[], float]:
        return lambda: 100 * runs.value("ftl.map_hit_ratio", workload, "dftl")

    def ratio(workload: str) -> Callable[[], float]:
        return lambda: _ratio(evidence, workload)

    def batched(workload: str) -> float:
        return _joules(evidence, workload, "dftl", "batched") / _joules(evidence, workload, "page")

    def over() -> float:
        return _ratio(evidence, "msnfs") / max(_ratio(evidence, "financial1"), _ratio(evidence, "financial2"))

    return {
        **{f"hits_{workload}": hits(workload) for workload in PUBLISHED},
        **{f"map_{workload}": ratio(workload) for workload in ("financial1", "financial2")},
        "map_msnfs": lambda: batched("msnfs"),
        "map_msnfs_single": ratio("msnfs"),
        "msnfs_over_financial": over,
        "grid_financials": lambda: fmean(
            LEAST <= _grid_ratio(evidence, workload, settings)[0] <= MOST
            for workload in ("financial1", "financial2")
            for settings in _grid_settings(evidence)
        ),
        "grid_msnfs_least": lambda: min(_grid_ratio(evidence, "msnfs", one)[0] for one in _grid_settings(evidence)),
        "grid_msnfs_most": lambda: max(_grid_ratio(evidence, "msnfs", one)[0] for one in _grid_settings(evidence)),
    }


def figures(evidence: Evidence) -> Iterator[Chart | Multiples]:
    """Draw the ratios, with batch update beside them."""
    rows = [
        Bar(workload, name, _joules(evidence, workload, "dftl", runs) / _joules(evidence, workload, "page"), published)
        for workload, published in PUBLISHED.items()
        for name, runs in (("DFTL", "ftls"), ("DFTL, batch update", "batched"))
    ]
    yield bars("Fig. 9: energy of the map", "DFTL over page mapping.", rows, "normalised", log=True)
    yield Multiples(
        "Grid: energy of the map",
        "DFTL over page mapping, by batch update and the order in which entries leave the cached map, at 1/64 of the "
        "size; means of five seeds with 95 % intervals. Black strokes: published values.",
        tuple(_grid_chart(evidence, workload) for workload in PUBLISHED),
    )


def _grid_settings(evidence: Evidence) -> list[str]:
    return [one for one in evidence["grid"].labels("map") if one != "page"]


def _grid_ratio(evidence: Evidence, workload: str, settings: str) -> tuple[float, float]:
    """Energy of the map with these settings over page mapping: the mean, and half the width of its interval."""
    grid = evidence["grid"]

    def joules(settings: str, seed: str) -> float:
        return sum(grid.value(f"ftl.map_energy_j.{part}", workload, settings, seed) for part in ("dram", "flash"))

    return over_seeds(grid, lambda seed: joules(settings, seed) / joules("page", seed))


def _grid_chart(evidence: Evidence, workload: str) -> Chart:
    rows = []
    for settings in _grid_settings(evidence):
        batch, order = settings.split(", ")
        mean, half_width = _grid_ratio(evidence, workload, settings)
        rows.append(Bar(order, f"batch update {batch}", mean, PUBLISHED[workload], half_width))
    return bars(workload, "", rows, "normalised", log=True)


def _ratio(evidence: Evidence, workload: str) -> float:
    dftl, page = (_joules(evidence, workload, ftl) for ftl in ("dftl", "page"))
    return dftl / page


def _joules(evidence: Evidence, workload: str, ftl: str, runs: str = "ftls") -> float:
    return sum(evidence[runs].value(f"ftl.map_energy_j.{part}", workload, ftl) for part in ("dram", "flash"))
