"""Fig. 6: fileserver, its second phase."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flashwatt.experiments.seo2008.rates import charts, gain, joules_per_mb, mb_per_s, read_kib, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs = evidence["fileserver"]
    asked = {"gain": mb_per_s, "joules": joules_per_mb, "read": read_kib}
    return {
        f"{name}_{drive}": partial(gain, figure, runs, drive)
        for name, figure in asked.items()
        for drive in runs.labels("drive")
    }


def figures(evidence: Evidence) -> Iterator[Chart | str]:
    """Draw throughput and energy, and lay out what else decides."""
    yield from charts("fileserver", evidence["fileserver"])
    yield table({"length of a read": read_kib}, evidence["fileserver"], evidence["others"])
