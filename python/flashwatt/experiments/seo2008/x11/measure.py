"""Fig. 6: fileserver, its second phase."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flashwatt.experiments.seo2008.dio import SSDS
from flashwatt.experiments.seo2008.rates import DISKS, charts, gain, joules_per_mb, mb_per_s, read_kib, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence, Runs


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs = evidence["fileserver"]
    asked = {"gain": mb_per_s, "joules": joules_per_mb, "read": read_kib}
    each = {
        f"{name}_{drive}": partial(gain, figure, runs, drive)
        for name, figure in asked.items()
        for drive in runs.labels("drive")
    }
    straight = evidence["straight"]
    disks = {"gain_disks_straight": lambda: max(gain(mb_per_s, straight, disk) for disk in DISKS)}
    return {**each, **disks, **_of_the_papers_drives(evidence["papers"])}


def _of_the_papers_drives(runs: Runs) -> dict[str, Callable[[], Value]]:
    """What the papers say about their own drives: of both schedulers the figure that is worse for the criterion."""
    both = runs.labels("elevator")

    def ssds_over_disks(system: str, by: str) -> float:
        slowest = min(mb_per_s(runs, device, by, system) for device in SSDS)
        return slowest / max(mb_per_s(runs, disk, by, system) for disk in DISKS)

    return {
        "gain_disks": lambda: max(gain(mb_per_s, runs, disk, by) for disk in DISKS for by in both),
        "gain_ssds": lambda: min(gain(mb_per_s, runs, device, by) for device in SSDS for by in both),
        "gain_mlc": lambda: min(gain(mb_per_s, runs, "MLC", by) for by in both),
        "ssds_over_disks": lambda: min(ssds_over_disks("ext2", by) for by in both),
        "ssds_over_disks_lfs": lambda: min(ssds_over_disks("lfs", by) for by in both),
    }


def figures(evidence: Evidence) -> Iterator[Chart | str]:
    """Draw throughput and energy, and lay out what else decides."""
    yield from charts("fileserver", evidence["fileserver"])
    yield from charts("fileserver, the papers' drives", evidence["papers"])
    yield table({"length of a read": read_kib}, evidence["papers"], evidence["fileserver"], evidence["others"])
