"""What a report.json must look like: it comes from outside, and a person may have edited it."""

from __future__ import annotations

import math
from dataclasses import dataclass, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin, get_type_hints

from flashwatt import _core
from flashwatt.literals import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WHOLE_MAX = 2**64
_WORDS = {int: "a whole number of at most 64 bits", float: "a number", str: "text", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class Device:
    """What every page says of a drive; the rest of `config.device` is read by nobody."""

    preset: str | None
    description: str | None
    channels: int
    ways: int
    page_bytes: int
    logical_bytes: int


@dataclass(frozen=True, slots=True)
class Configuration:
    """The part of `config` that pages need."""

    device: Device


@dataclass(frozen=True, slots=True)
class Series:
    """`series`: power over time."""

    start_ns: int
    interval_ns: int
    power_w: dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Edges:
    """`edges`: the current as it changed."""

    from_ns: int
    until_ns: int
    time_ns: list[int]
    current_ma: dict[str, list[float]]
    total_ma: list[float]


@dataclass(frozen=True, slots=True)
class Bars:
    """One kind of `latency_histogram`."""

    upper_ns: list[int]
    count: list[int]


BESIDES: dict[str, Any] = {
    "config": Configuration,
    "series": Series | None,
    "edges": Edges | None,
    "latency_histogram": dict[str, Bars] | None,
}
"""Keys that are no section of `Report`, or not a typed one."""

_NEEDED = {
    *("status", "warnings", "config", "workload", "window", "latency_ns", "throughput", "flash", "energy_j"),
    *("efficiency", "power_w"),
}
"""Keys without which there is no page of a report."""

_MAY_LACK_KEYS = {"ftl", "gc", "ledger", "parallelism", "energy_total_j", "current_ma"}
"""Sections that older versions wrote with fewer keys, and that are read key by key."""


def check(content: Mapping[str, Any], kinds: Mapping[str, Any], name: str) -> None:
    """Raise a `FlashwattError` with the first key of a report that is missing or of a wrong type.

    `kinds` gives the type of each key; keys that it does not have are not looked at. `name` is that of the file.
    """
    for key, kind in {**kinds, **BESIDES}.items():
        if content.get(key) is None and key not in _NEEDED:
            continue
        for fault in _faults(kind, content.get(key), key):
            if not (fault.missing and key in _MAY_LACK_KEYS):
                raise _core.FlashwattError(f"{name}: {fault.text}")
    lists = [(f"series.power_w.{key}", values) for key, values in _columns(content, "series", "power_w")]
    lists += [(f"edges.current_ma.{key}", values) for key, values in _columns(content, "edges", "current_ma")]
    lists += [("edges.total_ma", edges["total_ma"])] if (edges := content.get("edges")) else []
    for key, values in lists:
        first = edges["time_ns"] if key.startswith("edges") and edges else lists[0][1]
        _same_length(f"{name}: {key}", values, first)
    for kind, bars in (content.get("latency_histogram") or {}).items():
        _same_length(f"{name}: latency_histogram.{kind}.count", bars["count"], bars["upper_ns"])


def _columns(content: Mapping[str, Any], table: str, key: str) -> Iterator[tuple[str, list[float]]]:
    yield from ((content.get(table) or {}).get(key) or {}).items()


def _same_length(place: str, values: list[Any], first: list[Any]) -> None:
    if len(values) != len(first):
        raise _core.FlashwattError(f"{place}: found {len(values)} values; expected {len(first)}")


class _Fault(NamedTuple):
    text: str
    missing: bool = False


def _faults(kind: Any, value: Any, path: str) -> Iterator[_Fault]:
    """What is wrong with a value of that type."""
    options = [one for one in get_args(kind) if one is not type(None)] if type(None) in get_args(kind) else []
    if value is None and (options or kind is None):
        return
    kind = options[0] if options else kind
    if value is None:
        yield _Fault(f"{path}: missing in this report; expected one of schema {_core.REPORT_SCHEMA}", missing=True)
    elif is_dataclass(kind) or kind is dict or get_origin(kind) is dict:
        yield from _table_faults(kind, value, path)
    elif kind is list or get_origin(kind) is list:
        yield from _list_faults(kind, value, path)
    elif kind is not Any and not _fits(kind, value):
        yield _Fault(f"{path}: wrong type; found {shown(value)}; expected {_WORDS[kind]}")


def _table_faults(kind: Any, value: Any, path: str) -> Iterator[_Fault]:
    if not isinstance(value, dict):
        yield _Fault(f"{path}: wrong type; found {shown(value)}; expected a table")
    elif is_dataclass(kind):
        for key, hint in get_type_hints(kind).items():
            yield from _faults(hint, value.get(key), f"{path}.{key}")
    elif get_args(kind):
        for key, one in value.items():
            yield from _faults(get_args(kind)[1], one, f"{path}.{key}")


def _list_faults(kind: Any, value: Any, path: str) -> Iterator[_Fault]:
    (inner,) = get_args(kind) or (Any,)
    if not isinstance(value, list):
        yield _Fault(f"{path}: wrong type; found {shown(value)}; expected a list")
    elif inner is not Any:
        wrong = next((at for at, one in enumerate(value) if not _fits(inner, one)), None)
        if wrong is not None:
            yield _Fault(f"{path}[{wrong}]: wrong type; found {shown(value[wrong])}; expected {_WORDS[inner]}")


def _fits(kind: Any, value: Any) -> bool:
    if kind is int:
        return type(value) is int and abs(value) < _WHOLE_MAX
    if kind is float:
        return _fits(int, value) or (type(value) is float and math.isfinite(value))
    return isinstance(value, kind)
