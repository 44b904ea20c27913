"""Fig. 6: varmail."""

from __future__ import annotations

from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.experiments.seo2008.dio import SSDS
from flashwatt.experiments.seo2008.rates import (
    DISKS,
    charts,
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
    """What the papers say about their own drives."""

    def over(figure: Figure, device: str, other: str, system: str = "ext2") -> float:
        return figure(runs, device, system) / figure(runs, other, system)

    def mlc_over_disks() -> float:
        return mb_per_s(runs, "MLC", "ext2") / max(mb_per_s(runs, disk, "ext2") for disk in DISKS)

    def mlc_joules_over_disks() -> float:
        return joules_per_mb(runs, "MLC", "ext2") / min(joules_per_mb(runs, disk, "ext2") for disk in DISKS)

    def ssd_over_hdd() -> float:
        return fmean(over(mb_per_s, device, "HDD") for device in SSDS)

    return {
        "gain_slc": partial(gain, mb_per_s, runs, "SLC"),
        "gain_least": lambda: min(gain(mb_per_s, runs, device) for device in runs.labels("device")),
        "mlc_over_old": partial(over, mb_per_s, "MLC", "OLD"),
        "mlc_over_disks": mlc_over_disks,
        "mlc_joules_over_old": partial(over, joules_per_mb, "MLC", "OLD"),
        "mlc_joules_over_disks": mlc_joules_over_disks,
        "raptor_over_old": partial(over, mb_per_s, "Raptor", "OLD"),
        "old_joules_over_raptor": partial(over, joules_per_mb, "OLD", "Raptor"),
        "old_joules_over_raptor_lfs": lambda: (
            over(joules_per_mb, "OLD", "Raptor", "lfs") / over(joules_per_mb, "OLD", "Raptor")
        ),
        "old_joules_over_hdd": partial(over, joules_per_mb, "OLD", "HDD"),
        "ssd_over_hdd": ssd_over_hdd,
    }


def figures(evidence: Evidence) -> Iterator[Chart | str]:
    """Draw throughput and energy, and lay out what else decides."""
    yield from charts("varmail", evidence["varmail"])
    yield from charts("varmail, the papers' drives", evidence["papers"])
    writes = {"MB written to the drive for each MB": written, "MB programmed on flash for each MB": programmed}
    yield table(writes, evidence["varmail"], evidence["others"])
    yield table({"MB written to the drive for each MB": written}, evidence["papers"])
