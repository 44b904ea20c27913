"""Table I: erases by scheduler, layer and personality, under FlashSim's rules."""

from __future__ import annotations

from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl

from flashwatt.plot.figures import Bar, bars
from flashwatt.reproduce.evidence import NoEvidenceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

NEW = "pardispatcher"
ERASES, LENGTH, PAGES = "flash.erases.total", "replay.write_bytes_mean", "replay.pages_per_4_kib"

TABLE = {
    "dftl": ({"noop": 32102, "deadline": 31543, "cfq": 31160, "as": 30356}, (34, 32.7, 32, 30), 21214),
    "page": ({"noop": 30244, "deadline": 29717, "cfq": 29356, "as": 28598}, (35.8, 34.7, 34, 32.2), 19401),
    "fast": ({"noop": 306957, "deadline": 298075, "cfq": 248418, "as": 277993}, (45.3, 43.6, 32.4, 39.6), 167953),
}
"""Table I: erases of the others, by how many percent ParDispatcher's are fewer, and ParDispatcher's."""


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs = evidence["schedulers"]
    personalities, schedulers = runs.labels("of"), runs.labels("dispatched_by")
    every = list(product(personalities, schedulers))

    def erases(of: str, by: str, layer: str, sector: str = "63") -> float:
        return runs.value(ERASES, of, by, sector, layer)

    def ratio(layer: str, pairs: list[tuple[str, str]]) -> float:
        return fmean(erases(of, by, layer) / erases(of, by, "page") for of, by in pairs)

    def rank(of: str) -> float:
        lengths = [runs.value(LENGTH, of, by, "63", "page") for by in schedulers]
        return _spearman([-length for length in lengths], [erases(of, by, "page") for by in schedulers])

    def fewest_if_longest(of: str) -> bool:
        others = [by for by in schedulers if by != NEW]
        is_longest = runs.value(LENGTH, of, NEW, "63", "page") > max(
            runs.value(LENGTH, of, by, "63", "page") for by in others
        )
        is_fewest = erases(of, NEW, "page") < min(erases(of, by, "page") for by in others)
        return is_longest or not is_fewest

    def less(of: str, layer: str) -> float:
        others = fmean(erases(of, by, layer) for by in schedulers if by != NEW)
        return 100 * (1 - erases(of, NEW, layer) / others)

    def spread(counts: list[float]) -> float:
        return max(counts) / min(counts)

    def unmerged() -> list[float]:
        return [evidence["unmerged"].value(ERASES, "web", by, "off", "page") for by in schedulers]

    def is_in_order(of: str, by: str) -> bool:
        return erases(of, by, "fast") > erases(of, by, "dftl") >= erases(of, by, "page")

    of_each = {f"{of}_page": lambda of=of: less(of, "page") for of in personalities}
    return {
        **of_each,
        **_of_lengths(evidence),
        "table_arithmetic": table_arithmetic,
        "dftl_page": lambda: ratio("dftl", every),
        "fast_page": lambda: ratio("fast", every),
        "fast_page_web": lambda: ratio("fast", [("web", by) for by in schedulers]),
        "fast_random": lambda: evidence["random"].relative(ERASES, "fast", layer="page"),
        "layers_in_order": lambda: all(is_in_order(of, by) for of, by in every),
        "rank_web": lambda: rank("web"),
        "rank_mail": lambda: rank("mail"),
        "dftl_page_web": lambda: ratio("dftl", [("web", by) for by in schedulers]),
        "fewest_if_longest": lambda: all(map(fewest_if_longest, personalities)),
        "merged_apart": lambda: spread([erases("mail", by, "page", "0") for by in schedulers]),
        "unmerged_apart": lambda: spread(unmerged()),
        "web_fast": lambda: less("web", "fast"),
    }


def _of_lengths(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """What the length of requests does, without a scheduler."""
    runs = evidence["lengths"]

    def fall(footprint: str, layer: str, sector: str) -> float:
        return 100 * (1 - runs.relative(ERASES, f"{footprint}-4", sector, layer, extents=f"{footprint}-1"))

    falls = {
        f"{layer}_{footprint}": lambda footprint=footprint, layer=layer: fall(footprint, layer, "63")
        for footprint in ("small", "large")
        for layer in ("page", "fast")
    }
    return {
        **falls,
        "aligned": lambda: max(abs(fall(footprint, "page", "0")) for footprint in ("small", "large")),
        "pages_63": lambda: runs.value(PAGES, "small-1", "63", "page"),
    }


def table_arithmetic() -> float:
    """F91: the greatest difference between a printed percentage and that of the printed counts, in points."""
    return max(
        abs(100 * (1 - own / count) - printed)
        for others, percentages, own in TABLE.values()
        for count, printed in zip(others.values(), percentages, strict=True)
    )


def figures(evidence: Evidence) -> Iterator[Chart | str]:
    """Draw erases by scheduler, and write what was dispatched."""
    runs = evidence["schedulers"]
    for layer in runs.labels("layer"):
        rows = [
            Bar(of, by, runs.value(ERASES, of, by, "63", layer))
            for of in runs.labels("of")
            for by in runs.labels("dispatched_by")
        ]
        yield bars(f"Erases under {layer}", "Partition at sector 63; 1/64 of the drive.", rows, "erases")
    yield _dispatched(evidence)


def _dispatched(evidence: Evidence) -> str:
    """A table of what each scheduler dispatched, and what it did to the flash."""
    runs = evidence["schedulers"]
    lines = [
        "What was dispatched, and what it did to a page-mapped drive, by the partition's first sector:",
        "",
        "| personality | scheduler | sector | mean write, KiB | pages per 4 KiB | programs | copies | erases |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for of, by, sector in product(runs.labels("of"), runs.labels("dispatched_by"), runs.labels("partition")):
        value = {
            key: runs.value(key, of, by, sector, "page")
            for key in (LENGTH, PAGES, "flash.programs.total", "replay.copies", ERASES)
        }
        programs, copies, erases = (f"{value[key]:,.0f}" for key in ("flash.programs.total", "replay.copies", ERASES))
        figures = f"{value[LENGTH] / 1024:.2f} | {value[PAGES]:.3f} | {programs} | {copies} | {erases}"
        lines.append(f"| {of} | {by} | {sector} | {figures} |")
    return "\n".join(lines)


def _spearman(first: list[float], second: list[float]) -> float:
    """Spearman's rank correlation. Raises `NoEvidenceError` if all values of a list are equal: they have no order."""
    if len(set(first)) == 1 or len(set(second)) == 1:
        raise NoEvidenceError("all schedulers have the same figure: there is no order")
    points = pl.DataFrame({"first": first, "second": second})
    return float(points.select(pl.corr("first", "second", method="spearman")).item())
