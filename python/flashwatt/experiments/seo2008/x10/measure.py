"""Fig. 6: varmail."""

from __future__ import annotations

from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.experiments.seo2008.dio import SSDS
from flashwatt.experiments.seo2008.rates import (
    DISKS,
    charts,
    farther,
    gain,
    joules_per_mb,
    mb_per_s,
    programmed,
    table,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.experiments.seo2008.rates import Figure
    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence, Runs

_GAIN_SLC = 2.5
"""Published: the middle of its bound."""
_SIMILAR = 1.55
"""The middle, in factors, of the bound from 0.8 to 3."""


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs, others = evidence["varmail"], evidence["others"]
    gains = {f"gain_{one}": partial(gain, mb_per_s, runs, one) for one in runs.labels("drive")}
    joules = {f"joules_{one}": partial(gain, joules_per_mb, runs, one) for one in runs.labels("drive")}

    def burst_log() -> float:
        return mb_per_s(runs, "fast", "ext2") / mb_per_s(others, "FAST, log of 30 MB", "ext2")

    return {
        **gains,
        **joules,
        "burst_log": burst_log,
        **_of_the_papers_drives(evidence["papers"]),
        **_straight(evidence["straight"]),
    }


def _straight(runs: Runs) -> dict[str, Callable[[], Value]]:
    """What LFS gains on them without a scheduler."""
    return {
        "gain_slc_straight": partial(gain, mb_per_s, runs, "SLC"),
        "gain_least_straight": lambda: min(gain(mb_per_s, runs, device) for device in runs.labels("device")),
    }


def _of_the_papers_drives(runs: Runs) -> dict[str, Callable[[], Value]]:
    """What the papers say about their own drives: of both schedulers the figure that is worse for the criterion."""
    both = runs.labels("elevator")

    def over(figure: Figure, device: str, other: str, by: str, system: str = "ext2") -> float:
        return figure(runs, device, by, system) / figure(runs, other, by, system)

    def least(figure: Figure, device: str, other: str) -> Callable[[], float]:
        return lambda: min(over(figure, device, other, by) for by in both)

    def mlc_over_disks(by: str) -> float:
        return mb_per_s(runs, "MLC", by, "ext2") / max(mb_per_s(runs, disk, by, "ext2") for disk in DISKS)

    def mlc_joules_over_disks(by: str) -> float:
        return joules_per_mb(runs, "MLC", by, "ext2") / min(joules_per_mb(runs, disk, by, "ext2") for disk in DISKS)

    def ssd_over_hdd(by: str) -> float:
        return fmean(over(mb_per_s, device, "HDD", by) for device in SSDS)

    def with_lfs_over_ext2(by: str) -> float:
        return over(joules_per_mb, "OLD", "Raptor", by, "lfs") / over(joules_per_mb, "OLD", "Raptor", by)

    devices = runs.labels("device")
    return {
        "gain_slc": lambda: farther((gain(mb_per_s, runs, "SLC", by) for by in both), _GAIN_SLC),
        "gain_least": lambda: min(gain(mb_per_s, runs, device, by) for device in devices for by in both),
        "mlc_over_old": least(mb_per_s, "MLC", "OLD"),
        "mlc_over_disks": lambda: min(map(mlc_over_disks, both)),
        "mlc_joules_over_old": lambda: max(over(joules_per_mb, "MLC", "OLD", by) for by in both),
        "mlc_joules_over_disks": lambda: max(map(mlc_joules_over_disks, both)),
        "raptor_over_old": least(mb_per_s, "Raptor", "OLD"),
        "old_joules_over_raptor": least(joules_per_mb, "OLD", "Raptor"),
        "old_joules_over_raptor_lfs": lambda: min(map(with_lfs_over_ext2, both)),
        "old_joules_over_hdd": least(joules_per_mb, "OLD", "HDD"),
        "ssd_over_hdd": lambda: farther(map(ssd_over_hdd, both), _SIMILAR),
    }


def figures(evidence: Evidence) -> Iterator[Chart | str]:
    """Draw throughput and energy, and lay out what else decides."""
    yield from charts("varmail", evidence["varmail"])
    yield from charts("varmail, the papers' drives", evidence["papers"])
    writes = {"MB written to the drive for each MB": written, "MB programmed on flash for each MB": programmed}
    yield table(writes, evidence["varmail"], evidence["others"])
    yield table({"MB written to the drive for each MB": written}, evidence["papers"])
