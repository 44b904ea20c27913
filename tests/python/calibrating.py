"""Tables of measurements that a simulated drive of known parameters made, for the tests of calibrations."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import flashwatt as fw

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SMALL = {"device.logical_bytes": 1_000_000_000}
"""A drive that is laid out in no time."""
TRUTH = {
    "device.timing.read_ns": 68_000,
    "device.timing.program_ns": 1_150_000,
    "energy.dram.active_ma": 74.0,
    "energy.nand.read_ma": 31.0,
    "energy.nand.program_ma": 26.0,
}
RANGES = {
    "device.timing.read_ns": (20_000, 150_000),
    "device.timing.program_ns": (400_000, 2_000_000),
    "energy.dram.active_ma": (20, 200),
    "energy.nand.read_ma": (5, 60),
    "energy.nand.program_ma": (5, 60),
}
FIGURES = {
    1.0: ("throughput.read_mb_s", "latency_ns.read.mean", "power_w.mean", "efficiency.j_per_gb"),
    0.0: ("throughput.write_mb_s", "latency_ns.write.mean", "power_w.mean", "efficiency.j_per_gb"),
}
"""What is measured of reads and of writes."""


def rows() -> list[tuple[dict[str, Any], tuple[str, ...]]]:
    """Give overrides and figures of reads and writes, one at a time and many."""
    found = []
    for fraction, figures in FIGURES.items():
        for depth in (1, 4, 32):
            table = {"requests": 200, "request_bytes": 4096, "read_fraction": fraction, "queue_depth": depth}
            found.append(({f"workload.uniform.{key}": value for key, value in table.items()}, figures))
    return found


def repeated(times: int) -> list[tuple[dict[str, Any], tuple[str, ...]]]:
    """Give the rows as they are measured several times: the runs are the same, the noise is not."""
    return rows() * times


def table(
    truth: Mapping[str, float] = TRUTH,
    *,
    noise: float = 0.01,
    seed: int = 1,
    preset: str = "x25m",
    free: Mapping[str, Any] = RANGES,
    measured: Sequence[tuple[dict[str, Any], tuple[str, ...]]] = (),
    common: Mapping[str, Any] = SMALL,
) -> str:
    """Write a table that a drive with these parameters would give, each figure with noise of this deviation."""
    chance = random.Random(seed)
    lines = [f"noise_fraction = {noise or 0.01}", "[overrides]"]
    lines += [f"{key} = {value!r}" for key, value in common.items()]
    lines += ["[free]"]
    lines += [f"{key} = {{ min = {low}, max = {high} }}" for key, (low, high) in free.items()]
    base = fw.Config().override({"device.preset": preset}, common, truth)
    for overrides, figures in measured or rows():
        report = fw.run(base, **overrides).to_dict()
        lines += [
            "[[rows]]",
            *(f"overrides.{key} = {value!r}" for key, value in overrides.items()),
        ]
        for key in figures:
            value = at(report, key) * (1 + noise * chance.gauss(0, 1))
            lines.append(f"measured.{key} = {value!r}")
    return "\n".join(lines) + "\n"


def at(report: Mapping[str, Any], key: str) -> float:
    """Give a figure of a report by its dotted key."""
    found: Any = report
    for part in key.split("."):
        found = found[part]
    return float(found)
