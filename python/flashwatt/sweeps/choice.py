"""The two figures that a sweep's picture shows unless someone names others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.report.metrics import OF_FILES, metric_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashwatt.sweeps.results import Results

_X = ("throughput.iops", "latency_ns.write.p99", "latency_ns.read.p99", "flash.write_amplification", "power_w.peak")
_Y = ("efficiency.j_per_gb", "energy_j.total", "power_w.mean", "power_w.peak", "flash.write_amplification")


def axes(results: Results, x: str | None = None, y: str | None = None) -> tuple[str, str]:
    """Choose figures that differ between the points: speed or wear against energy or power.

    The throughput of a trace, for example, is that of its own arrivals, the same on every drive.
    """
    rate, energy = ([key] if key in results.metrics else [] for key in OF_FILES)
    x = x or _first(results, [key for key in (*rate, *_X) if key != y])
    return x, y or _first(results, [key for key in (*energy, *_Y) if key != x])


def _first(results: Results, candidates: Sequence[str]) -> str:
    """The first that varies; the first of all if none does."""
    means = results.summary(candidates)
    written = (
        (key, {metric_of(key).write(one) for one in means[f"{key}.mean"] if one is not None}) for key in candidates
    )
    return next((key for key, texts in written if len(texts) > 1), candidates[0])
