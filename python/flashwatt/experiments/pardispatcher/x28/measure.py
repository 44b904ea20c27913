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
JUDGED = "ext3"
"""The file system with a journal. The one without stands beside it."""
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

    def ratio(layer: str, pairs: list[tuple[str, str]]) -> float:
        return fmean(runs.relative(ERASES, JUDGED, of, by, layer, layer="page") for of, by in pairs)

    def rank(of: str) -> float:
        lengths = [-runs.value(LENGTH, JUDGED, of, by, "page") for by in schedulers]
        return _spearman(lengths, [runs.value(ERASES, JUDGED, of, by, "page") for by in schedulers])

    def is_fewest(of: str) -> bool:
        erases = _erases(evidence, "schedulers", of)
        return all(erases[NEW] < count for by, count in erases.items() if by != NEW)

    def is_in_order(of: str, by: str) -> bool:
        page, dftl, fast = (runs.value(ERASES, JUDGED, of, by, layer) for layer in ("page", "dftl", "fast"))
        return fast > dftl >= page

    less = {f"{of}_page": lambda of=of: _less(_erases(evidence, "schedulers", of)) for of in personalities}
    by_layer = {f"erases_{layer}": lambda layer=layer: _of_all(evidence, layer) for layer in runs.labels("layer")}
    ranks = {f"rank_{of}": lambda of=of: rank(of) for of in personalities}
    return {
        **less,
        **by_layer,
        **ranks,
        **_of_lengths(evidence),
        **_of_settings(evidence),
        "table_arithmetic": table_arithmetic,
        "dftl_page": lambda: ratio("dftl", every),
        "fast_page": lambda: ratio("fast", every),
        "fast_page_web": lambda: ratio("fast", [("web", by) for by in schedulers]),
        "fast_random": lambda: evidence["random"].relative(ERASES, "fast", layer="page"),
        "layers_in_order": lambda: all(is_in_order(of, by) for of, by in every),
        "dftl_page_web": lambda: ratio("dftl", [("web", by) for by in schedulers]),
        "fewest_if_longest": lambda: all(map(is_fewest, personalities)),
        "web_fast": lambda: _less(_erases(evidence, "schedulers", "web", "fast")),
    }


def _erases(evidence: Evidence, runs: str, *labels: str) -> dict[str, float]:
    """Erases by scheduler, under page mapping unless the labels say otherwise: of a personality and what follows it."""
    of, *rest = labels
    found = evidence[runs]
    return {by: found.value(ERASES, JUDGED, of, by, *(rest or ["page"])) for by in found.labels("dispatched_by")}


def _less(erases: dict[str, float]) -> float:
    """By how many percent ParDispatcher's erases are fewer than the mean of the others'."""
    return 100 * (1 - erases[NEW] / fmean(count for by, count in erases.items() if by != NEW))


def _of_all(evidence: Evidence, layer: str) -> float:
    """The same, the mean over the personalities."""
    return fmean(_less(_erases(evidence, "schedulers", of, layer)) for of in evidence["schedulers"].labels("of"))


def _of_settings(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """What alignment, merging and the settings change."""
    settings, personalities = evidence["settings"], evidence["unmerged"].labels("of")

    def apart(erases: dict[str, float]) -> float:
        return max(erases.values()) / min(erases.values())

    def longer(setting: str, of: str) -> float:
        return settings.relative(LENGTH, setting, of, NEW, "page", dispatched_by="deadline")

    return {
        "merged_apart": lambda: apart(_erases(evidence, "aligned", "mail")),
        "unmerged_apart": lambda: apart(_erases(evidence, "unmerged", "web", "off", "page")),
        "unmerged_less": lambda: max(_less(_erases(evidence, "unmerged", of, "off", "page")) for of in personalities),
        "longer": lambda: max(longer(*one) for one in product(settings.labels("setting"), settings.labels("of"))),
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
            Bar(of, by, runs.value(ERASES, JUDGED, of, by, layer))
            for of, by in product(runs.labels("of"), runs.labels("dispatched_by"))
        ]
        yield bars(f"Erases under {layer}", "ext3 on a partition at sector 63; 1/64 of the drive.", rows, "erases")
    yield _dispatched(evidence)
    yield _lengths(evidence)


def _dispatched(evidence: Evidence) -> str:
    """A table of what each scheduler dispatched, and what it did to the flash."""
    lines = [
        "What was dispatched, and what it did to a page-mapped drive, by file system and the partition's first sector;",
        "and the erases of DFTL and FAST:",
        "",
        "| file system | personality | scheduler | sector | MiB | writes | mean write, KiB | pages per 4 KiB | copies |"
        " erases | DFTL | FAST |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    columns = {"workload.write_bytes": (2**20, ".1f"), "workload.writes": (1, ",.0f"), LENGTH: (1024, ".2f")}
    columns |= {PAGES: (1, ".3f"), "replay.copies": (1, ",.0f"), ERASES: (1, ",.0f")}
    for sector, name, system in (("63", "schedulers", "ext2"), ("63", "schedulers", JUDGED), ("0", "aligned", JUDGED)):
        runs = evidence[name]
        for of, by in product(runs.labels("of"), runs.labels("dispatched_by")):
            place = (system, of, by)
            values = [format(runs.value(key, *place, "page") / unit, how) for key, (unit, how) in columns.items()]
            others = [layer for layer in runs.labels("layer") if layer != "page"]
            values += [format(runs.value(ERASES, *place, layer), ",.0f") for layer in others] or ["", ""]
            lines.append(f"| {system} | {of} | {by} | {sector} | {' | '.join(values)} |")
    return "\n".join(lines)


def _lengths(evidence: Evidence) -> str:
    """A table of the mean lengths of writes under other settings."""
    runs = evidence["settings"]
    lines = [
        "Mean write in KiB under other settings, and what ParDispatcher's has over deadline's:",
        "",
        "| setting | personality | deadline | pardispatcher | ratio |",
        "|---|---|---:|---:|---:|",
    ]
    for setting, of in product(runs.labels("setting"), runs.labels("of")):
        old, new = (runs.value(LENGTH, setting, of, by, "page") / 1024 for by in ("deadline", NEW))
        lines.append(f"| {setting} | {of} | {old:.2f} | {new:.2f} | {new / old:.3f} |")
    return "\n".join(lines)


def _spearman(first: list[float], second: list[float]) -> float:
    """Spearman's rank correlation. Raises `NoEvidenceError` if all values of a list are equal: they have no order."""
    if len(set(first)) == 1 or len(set(second)) == 1:
        raise NoEvidenceError("all schedulers have the same figure: there is no order")
    points = pl.DataFrame({"first": first, "second": second})
    return float(points.select(pl.corr("first", "second", method="spearman")).item())
