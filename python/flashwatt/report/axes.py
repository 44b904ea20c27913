"""Axes in words and units: `latency_ns.read.p99_9` becomes "read latency, p99.9 (µs)"."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from flashwatt.base.units import prefix
from flashwatt.report import metrics

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

_CAPITALS = {"nand", "dram", "iops", "gc", "cmt", "ftl", "tpftl", "dftl", "mb", "gb", "op"}
_WORDS = {"op_ratio": "over-provisioning", "spare_fraction": "share of spare blocks", "j_per_gb": "energy per GB"}
_TIMES_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_PREFIXED = {"j": "J", "w": "W", "v": "V", "f": "F"}
_FIXED = {
    "ma": "mA",
    "ua": "µA",
    "mw": "mW",
    "mj": "mJ",
    "uj": "µJ",
    "nj": "nJ",
    "mhz": "MHz",
    "percent": "%",
    "iops": "IOPS",
}
_RATES = {"mb_s": "MB/s", "gb_s": "GB/s", "mt_s": "MT/s", "per_s": "1/s"}
_BYTES = ("bytes", "kib", "mib", "gib")


class Figure(NamedTuple):
    """A column of numbers on an axis."""

    key: str
    size: float
    """Divides the column's numbers."""
    title: str
    """For the axis: words, and the unit of the divided numbers."""


def word(key: str) -> str:
    """Give a figure or a key of the configuration in words, without its unit."""
    if key in metrics.METRICS:
        return metrics.METRICS[key].name
    if metrics.listed_parts(key):
        return metrics.metric_of(key).name
    parts = key.split(".")
    return _of_report(parts) or _of_name(parts)


def _of_report(parts: list[str]) -> str | None:
    """Words for the sections of a report whose keys are all built alike; None for another key."""
    if parts[0] == "latency_ns" and len(parts) > 2:  # noqa: PLR2004 - kind and statistic
        return f"{_said(parts[1])} latency, {parts[-1].replace('_', '.')}"
    if parts[0] in ("energy_j", "power_w", "energy_by_cause_j") and len(parts) > 1:
        return f"{_said(_unit(parts[0])[0])}, {', '.join(map(_said, parts[1:]))}"
    if parts[0] == "host" and len(parts) == 3 and parts[1] in ("read", "write", "trim"):  # noqa: PLR2004 - and a figure
        return f"{parts[1]}, {_of_name(parts[2:])}"
    if parts[0] == "flash" and len(parts) > 2:  # noqa: PLR2004 - what is counted, and for whom
        return ", ".join(map(_said, parts[1:]))
    return None


def _of_name(parts: list[str]) -> str:
    """Words for a key by its last part, and the one before it where that says too little."""
    if parts[-1].endswith("_mean"):
        return f"mean {_of_name([*parts[:-1], parts[-1].removesuffix('_mean')])}"
    if parts[-2:] == ["warmup", "requests"]:
        return "warm-up requests"
    name, unit = _unit(parts[-1])
    if unit in _BYTES:
        return f"{_said(name or parts[-2 % len(parts)])} size"
    if not name:  # a key that is a unit alone: `write_buffer.bytes`
        name = parts[-2] if len(parts) > 1 else unit
    if name in ("total", "mean", "max", "min", "count", "policy") and len(parts) > 1:
        of = _said(_unit(parts[-2])[0] or parts[-2])
        return f"{of}, {_said(name)}" if name != "policy" else f"{of} policy"
    return _said(name)


def figure(key: str, values: Iterable[float], called: str | None = None) -> Figure:
    """Choose the prefix of an axis by the largest of its values; `called` replaces its words, not its unit."""
    there = [abs(value) for value in values]
    size, unit = _scaled(_unit_of(key), max(there, default=0), whole_kib=_in_kib(there))
    name = word(key) if called is None else called
    return Figure(key, size, f"{name} ({unit})" if unit else name)


def heads(keys: Sequence[str]) -> list[str]:
    """Give keys of the configuration in words; those that share their words keep their keys."""
    words = [word(key) for key in keys]
    return [one if words.count(one) == 1 else key for key, one in zip(keys, words, strict=True)]


def figures(means: pl.DataFrame, key: str, called: str | None = None) -> Figure:
    """The axis of a figure in a summary, by its means."""
    return figure(key, means[f"{key}.mean"].drop_nulls(), called)


def _unit_of(key: str) -> str:
    if key in ("efficiency.j_per_gb",):
        return "j"
    if key in metrics.METRICS and metrics.METRICS[key].unit not in ("ns", "J", "W"):
        return metrics.METRICS[key].unit
    part = metrics.listed_parts(key)
    return next((unit for _, unit in map(_unit, reversed((part.figure if part else key).split("."))) if unit), "")


def _unit(part: str) -> tuple[str, str]:
    """Take the unit off the end of a name: `latency_ns` is `latency` in `ns`."""
    for rate in _RATES:
        if part == rate or part.endswith(f"_{rate}"):
            return part.removesuffix(rate).rstrip("_"), rate
    if metrics.is_quotient(part):
        return part, ""
    name, _, last = part.rpartition("_")
    if last in _TIMES_NS or last in _PREFIXED or last in _FIXED or last in _BYTES:
        return ("", last) if not name and last not in _BYTES and len(last) == 1 else (name, last)
    return part, ""


def _scaled(unit: str, highest: float, *, whole_kib: bool) -> tuple[float, str]:
    if unit in _TIMES_NS:
        return _time(highest * _TIMES_NS[unit], _TIMES_NS[unit])
    if unit in _PREFIXED:
        size, letter = prefix(highest)
        return size, f"{letter}{_PREFIXED[unit]}"
    if unit == "bytes":
        return _bytes(highest, binary=whole_kib)
    return 1.0, _FIXED.get(unit) or _RATES.get(unit) or {"kib": "KiB", "mib": "MiB", "gib": "GiB"}.get(unit, unit)


def _time(highest_ns: float, unit_ns: float) -> tuple[float, str]:
    for size_ns, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if highest_ns >= size_ns:
            return size_ns / unit_ns, name
    return 1.0 / unit_ns, "ns"


def _in_kib(values: list[float]) -> bool:
    """Whether sizes are multiples of half a KiB, and not all round in decimal."""
    return all(value % 512 == 0 for value in values) and any(value % 1000 for value in values)


def _bytes(highest: float, *, binary: bool) -> tuple[float, str]:
    step = 1024.0 if binary else 1000.0
    names = ("B", "KiB", "MiB", "GiB", "TiB") if binary else ("B", "kB", "MB", "GB", "TB")
    power = 0
    while power < len(names) - 1 and highest >= step ** (power + 1):
        power += 1
    return step**power, names[power]


def _said(name: str) -> str:
    if name in _WORDS:
        return _WORDS[name]
    return " ".join(part.upper() if part in _CAPITALS else part for part in name.split("_"))
