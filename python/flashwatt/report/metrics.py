"""The figures that runs are compared by: what they are called, how they are written, which end is the good one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from flashwatt.base.literals import leaves
from flashwatt.base.units import count, duration, number, si

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashwatt.base.files import Json

    Best = Literal["low", "high"]


_NO_METRICS = {
    "schema",
    "version",
    "config",
    "config_sha256",
    "series",
    "edges",
    "latency_histogram",
    "ledger",
    "drain_ledger",
    "engine",
    "seed",
}


class Metric(NamedTuple):
    """A figure of the report."""

    name: str
    unit: str
    write: Callable[[Any], str]
    """For people, with the unit."""
    best: Best

    @property
    def title(self) -> str:
        """Its name and unit, for an axis whose numbers are those of the report."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


def _si(unit: str) -> Callable[[Any], str]:
    return lambda value: si(value, unit)


def _latency(name: str) -> Metric:
    return Metric(name, "ns", duration, "low")


METRICS = {
    "throughput.iops": Metric("throughput", "IOPS", lambda value: f"{count(value)} IOPS", "high"),
    "throughput.read_mb_s": Metric("read", "MB/s", lambda value: f"{number(value, 1)} MB/s", "high"),
    "throughput.write_mb_s": Metric("written", "MB/s", lambda value: f"{number(value, 1)} MB/s", "high"),
    "latency_ns.read.mean": _latency("read latency, mean"),
    "latency_ns.read.p99": _latency("read latency, p99"),
    "latency_ns.write.mean": _latency("write latency, mean"),
    "latency_ns.write.p99": _latency("write latency, p99"),
    "flash.write_amplification": Metric("write amplification", "", number, "low"),
    "flash.erases.total": Metric("blocks erased", "", count, "low"),
    "energy_j.total": Metric("energy", "J", _si("J"), "low"),
    "energy_j.nand.total": Metric("energy of NAND", "J", _si("J"), "low"),
    "energy_by_cause_j.gc": Metric("energy for gc", "J", _si("J"), "low"),
    "power_w.mean": Metric("mean power", "W", _si("W"), "low"),
    "power_w.peak": Metric("peak power", "W", _si("W"), "low"),
    "efficiency.j_per_gb": Metric("energy per GB", "J", _si("J"), "low"),
    "efficiency.iops_per_w": Metric("IOPS per watt", "IOPS/W", count, "high"),
}
"""By their dotted keys."""

HEADLINES = (
    "throughput.iops",
    "latency_ns.read.p99",
    "latency_ns.write.p99",
    "flash.write_amplification",
    "energy_j.total",
    "power_w.mean",
    "power_w.peak",
    "efficiency.j_per_gb",
)
"""Those that say the most."""


_UNITS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "ns": ("ns", duration),
    "j": ("J", _si("J")),
    "w": ("W", _si("W")),
    "v": ("V", _si("V")),
    "s": ("s", _si("s")),
    "bytes": ("bytes", _si("B")),
    "ma": ("mA", lambda value: si(None if value is None else value / 1e3, "A")),
}
"""What the ends of names say: `latency_ns`, `energy_j`, ...; those of rates (`mb_s`, `j_per_gb`) say more."""


def metric_of(key: str) -> Metric:
    """The figure of a dotted key; one that runs are not compared by else is called by its key."""
    if key in METRICS:
        return METRICS[key]
    if key.endswith(".count"):
        return Metric(key, "", count, "low")  # of what its parents measure
    for part in reversed(key.split(".")):
        name, _, unit = part.rpartition("_")
        if unit in _UNITS and not name.endswith(("_per", "mb")):
            return Metric(key, *_UNITS[unit], "low")
    return Metric(key, "", lambda value: count(value) if isinstance(value, int) else number(value), "low")


def title(key: str) -> str:
    """What an axis calls a figure; its key, if it is none of these."""
    return METRICS[key].title if key in METRICS else key


def best(key: str) -> Best:
    """Which end of a figure is the good one; the low one, if it is none of these."""
    return METRICS[key].best if key in METRICS else "low"


def flat(report: Json) -> dict[str, Any]:
    """The figures of a report by dotted keys; no lists, no configuration, no books."""
    figures = {key: value for key, value in report.items() if key not in _NO_METRICS}
    return {key: value for key, value in leaves(figures) if not isinstance(value, list | dict)}
