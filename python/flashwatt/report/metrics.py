"""The figures that runs are compared by: their names, units and formats, and whether low or high is better."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from flashwatt.base.digits import rounded
from flashwatt.base.literals import leaves
from flashwatt.base.units import NOTHING, count, duration, number, prefix, si

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flashwatt.base.files import Json

    Best = Literal["low", "high"]


NO_FIGURES = {
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
    "earlier",
    "not_steady",
    "precision",
}
"""Sections of a report whose numbers are no figures to compare runs by."""


_BIN = 1 / 128
"""The greatest relative width of a histogram's bin, whose upper bound a quantile is."""


def resolution(key: str) -> float:
    """Give the share of a figure below which differences mean nothing: that of a bin for quantiles, else 0."""
    return _BIN if re.search(r"latency_ns\.(.*\.)?p\d[\d_]*$", key) else 0.0


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


def _per_second(value: float | None) -> str:
    return count(value) if value is None else f"{count(value)}/s"


OPERATIONS_PER_S = "files.operations.per_s"
"""The key of the rate of operations on files."""

OPERATION_J = "files.operations.per_operation_j"
"""The key of the energy per operation on files."""

OF_FILES = {
    OPERATIONS_PER_S: Metric("operations", "1/s", _per_second, "high"),
    OPERATION_J: Metric("energy per operation", "J", _si("J"), "low"),
}
"""Those that come first where operations on files were measured."""

OF_CUTS = {
    "power_cuts.lost_units.max": Metric("units lost by a cut, max", "", count, "low"),
    "power_cuts.rolled_back_units.max": Metric("units rolled back, max", "", count, "low"),
    "power_cuts.files_lost.max": Metric("files lost by a cut, max", "", count, "low"),
    "power_cuts.files_rolled_back.max": Metric("files rolled back, max", "", count, "low"),
    "power_cuts.recovery_ns.median": Metric("recovery time, median", "ns", duration, "low"),
    "power_cuts.recovery_ns.max": Metric("recovery time, max", "ns", duration, "low"),
    "power_cuts.energy_j.median": Metric("recovery energy, median", "J", _si("J"), "low"),
}
"""Those of power cuts, where there were some."""

METRICS = {
    **OF_FILES,
    **OF_CUTS,
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
"""Those that every comparison shows, by their dotted keys; `OF_FILES` and `OF_CUTS` only where there are some."""

_ASKED_FOR = {
    "efficiency.j_per_tb": Metric("energy per TB", "J", _si("J"), "low"),
    "efficiency.j_per_tb_written": Metric("energy per TB written", "J", _si("J"), "low"),
    "efficiency.kwh_per_month": Metric("energy of a month", "kWh", lambda value: f"{number(value)} kWh", "low"),
    "lifetime.mean_wear.years": Metric("lifetime, mean wear", "years", lambda value: f"{number(value)} years", "high"),
    "lifetime.mean_wear.tbw": Metric("TBW, mean wear", "TB", lambda value: f"{number(value)} TB", "high"),
    "lifetime.worst_block.years": Metric(
        "lifetime, worst block", "years", lambda value: f"{number(value)} years", "high"
    ),
    "array.lifetime.first_years": Metric(
        "lifetime, first member", "years", lambda value: f"{number(value)} years", "high"
    ),
    "array.lifetime.data_loss_years": Metric(
        "lifetime, until data is lost", "years", lambda value: f"{number(value)} years", "high"
    ),
    "lifetime.worst_block.tbw": Metric("TBW, worst block", "TB", lambda value: f"{number(value)} TB", "high"),
}
"""Further ones with a name and a unit of their own."""

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
    "s": ("s", lambda value: duration(None if value is None else value * 1e9)),
    "bytes": ("bytes", _si("B")),
    "f": ("F", _si("F")),
    "ma": ("mA", lambda value: si(None if value is None else value / 1e3, "A")),
}
"""Units by the last part of a key: `latency_ns`, `energy_j`."""
_UNITS["seconds"] = _UNITS["s"]
_RATE = re.compile(r"(?:^|_)per_s$")
_QUOTIENT = re.compile(r"(?:^|_)(?:per_(?:cpu_|\d+_)?[a-z]+|mb_s)$")


def is_quotient(part: str) -> bool:
    """Whether a part of a key only looks as if it ended in a unit: `mb_s`, `mb_per_j`, `requests_per_cpu_s`."""
    return bool(_QUOTIENT.search(part))


def metric_of(key: str) -> Metric:
    """Give the figure of a dotted key; one outside `METRICS`, the latencies and lists has its key as a name."""
    if named := METRICS.get(key) or _ASKED_FOR.get(key) or _of_list(key) or _of_latency(key):
        return named
    if key.endswith(".count"):
        return Metric(key, "", count, "low")  # of its parent's quantity
    if _RATE.search(key.rpartition(".")[2]):
        return Metric(key, "1/s", _per_second, "high")
    for part in reversed(key.split(".")):
        unit = part.removesuffix("_mean").rpartition("_")[2]
        if unit in _UNITS and not is_quotient(part):
            return Metric(key, *_UNITS[unit], "low")
    return Metric(key, "", lambda value: count(value) if isinstance(value, int) else number(value), "low")


def _of_latency(key: str) -> Metric | None:
    found = re.fullmatch(r"latency_ns\.(?:(all|read|write|flush)\.)?(mean|min|max|p\d+(?:_\d+)?)", key)
    if not found:
        return None
    kind = "" if found[1] in (None, "all") else f"{found[1]} "
    return _latency(f"{kind}latency, {found[2].replace('_', '.')}")


def _of_list(key: str) -> Metric | None:
    part = listed_parts(key)
    if not part:
        return None
    inner = _IN_LISTS.get(part.figure) or metric_of(part.figure)
    return inner._replace(name=f"{part.name}: {inner.name.replace('_', ' ')}")


_IN_LISTS = {
    "iops": METRICS["throughput.iops"],
    "read_mb_s": METRICS["throughput.read_mb_s"],
    "write_mb_s": METRICS["throughput.write_mb_s"],
    "bytes_share": Metric("share of bytes", "", number, "low"),
    "read_bytes": Metric("bytes read", "bytes", _si("B"), "low"),
    "write_bytes": Metric("bytes written", "bytes", _si("B"), "low"),
    "start_ns": Metric("first arrival", "ns", duration, "low"),
    "end_ns": Metric("last completion", "ns", duration, "low"),
    "data_bytes": Metric("data written", "bytes", _si("B"), "low"),
    "metadata_bytes": Metric("metadata written", "bytes", _si("B"), "low"),
    "ns": Metric("longest wait", "ns", duration, "low"),
}
"""Figures of tables in lists whose keys are no words, as a whole report calls its own."""


_BASES = {"ns": (1e9, "s"), "mA": (1e3, "A"), "bytes": (1.0, "B")}
"""Units of the report by units that take a prefix."""
_PREFIXED = ("s", "A", "B", "J", "W", "V", "F")


def scale(unit: str, values: Sequence[float | None]) -> tuple[float, str]:
    """Choose one prefix for values of a unit by the largest; give the divisor and the unit of the result."""
    per, base = _BASES.get(unit, (1.0, unit))
    if base not in _PREFIXED:
        return per, base
    size, sign = prefix(max((abs(value) / per for value in values if value is not None), default=0))
    if base == "s" and size > 1:
        size, sign = 1.0, ""  # no one counts in kiloseconds
    return per * size, f"{sign}{base}"


def with_interval(metric: Metric, mean: float | None, half: float | None) -> str:
    """Write a mean with half of its interval, `4.96 ± 0.02` or `11,040 ± 80 IOPS`; without one as `metric.write`."""
    if mean is None:
        return NOTHING
    if half is None:
        return metric.write(mean)
    divisor, unit = scale(metric.unit, [mean])
    text, around = rounded(mean / divisor, half / divisor, grouped=True)
    return f"{text} ± {around}{' /s' if unit == '1/s' else f' {unit}' if unit else ''}"


def has_best(key: str) -> bool:
    """Whether one end of a figure is the better one: of `METRICS`, and of the times of operations on files."""
    part = listed_parts(key)
    return key in METRICS or bool(part and part.list == "files.flows" and part.figure.startswith("latency_ns."))


def title(key: str) -> str:
    """Give a figure's title for an axis; its key, if it is not in `METRICS`."""
    return METRICS[key].title if key in METRICS else key


def best(key: str) -> Best:
    """Give the better end of a figure; `low`, if it is not in `METRICS`."""
    return METRICS[key].best if key in METRICS else "low"


def flat(report: Json) -> dict[str, Any]:
    """Give the figures of a report by dotted keys, without lists, the configuration and the ledger."""
    return {key: value for key, value in _leaves(report) if not isinstance(value, list | dict)}


def _leaves(report: Json) -> Iterator[tuple[str, Any]]:
    return leaves({key: value for key, value in report.items() if key not in NO_FIGURES})


LISTS = {"origins": "name", "files.flows": "name", "files.written": "cause", "host.longest_wait": "process"}
"""The report's lists of tables, and the key of each that names a table: `files.flows.NAME.count`."""


class Listed(NamedTuple):
    """The parts of a key that goes into a list of tables: `files.flows.NAME.latency_ns.p99`."""

    list: str
    """Its key, as in `LISTS`."""
    name: str
    """Of the table; it may hold dots."""
    figure: str
    """The key within the table."""


_LISTED = re.compile(
    rf"({'|'.join(map(re.escape, LISTS))})\.(.+?)\.((?:latency_ns\.(?:(?:all|read|write|flush)\.)?)?\w+)", re.DOTALL
)


def listed_parts(key: str) -> Listed | None:
    """Take a key of a table in a list apart; None for another key."""
    found = _LISTED.fullmatch(key)
    return Listed(*found.groups()) if found else None


def listed(report: Json) -> dict[str, Any]:
    """Give the figures in a report's lists of tables, by dotted keys with the name of the table."""
    lists = {key: value for key, value in _leaves(report) if key in LISTS and value}
    return {
        f"{key}.{one[LISTS[key]]}.{inner}": value
        for key, tables in lists.items()
        for one in tables
        for inner, value in leaves(one)
        if inner != LISTS[key] and not isinstance(value, list | dict)
    }
