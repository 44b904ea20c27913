"""The check of a report.json: it comes from outside, and a person may have edited it."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from flashwatt import _core
from flashwatt.base.literals import shown
from flashwatt.report.components import ONLY_OF_AN_SSD, kind_of
from flashwatt.report.earlier import LEDGERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WHOLE_MAX, _TIME_MAX_NS = 2**64 - 1, 2**63 - 1
_NUMBER_MIN, _NUMBER_MAX = 1e-60, 1e18
"""Bounds of a figure's magnitude, in any unit; 0 is allowed. Products and ratios of two such figures are finite."""
_WORDS = {
    int: "a whole number of at most 64 bits (a time: 63)",
    float: f"0, or a number from {_NUMBER_MIN:g} to {_NUMBER_MAX:g}",
    str: "text",
    bool: "true or false",
}


@dataclass(frozen=True, slots=True)
class Device:
    """The description of a drive on pages, which read nothing else of `config.device`."""

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
class Disk:
    """The description of a disk on pages, which read nothing else of `config.device`."""

    preset: str | None
    description: str | None
    logical_bytes: int


@dataclass(frozen=True, slots=True)
class DiskConfiguration:
    """As `Configuration`, of a disk."""

    device: Disk


@dataclass(frozen=True, slots=True)
class Array:
    """The description of an array on pages."""

    level: str
    drives: list[Any]


@dataclass(frozen=True, slots=True)
class ArrayConfiguration:
    """As `Configuration`, of an array."""

    array: Array


_CONFIGURATIONS: dict[str, Any] = {"SSD": Configuration, "disk": DiskConfiguration, "array": ArrayConfiguration}


@dataclass(frozen=True, slots=True)
class Activity:
    """What an SSD did in each bin of a series. Operations count where they end, requests where they leave the drive.
    The sums over all bins are the figures of the report."""

    iops: list[float]
    """Requests that left the drive, per second."""
    read_mb_s: list[float]
    """MB/s that they read."""
    write_mb_s: list[float]
    """MB/s that they wrote."""
    queue_depth: list[float]
    """Mean number of requests inside the drive."""
    write_amplification: list[float | None]
    """Bytes programmed / `accepted_bytes`. None in a bin without accepted bytes."""
    accepted_bytes: list[int]
    """Bytes of the host's writes that the drive accepted."""
    programmed_pages: list[int]
    """Pages programmed."""
    erased_blocks: list[int]
    """Blocks erased."""
    free_blocks: list[int]
    """Erased blocks in the drive at the end of the bin."""
    energy_by_cause_j: dict[str, list[float]]
    """Energy in J of the flash operations that ended, by cause. Causes without operations are left out."""


@dataclass(frozen=True, slots=True)
class Series:
    """Power over time, if it was recorded. `owed_j` is the energy, by component, of the work that DRAM and the host
    interface have left at the end of the last bin."""

    start_ns: int
    """Simulated time at which the first bin begins."""
    interval_ns: int
    """Length of a bin. The last one ends with the window and may be shorter."""
    power_w: dict[str, list[float]]
    """Mean power in each bin, by component. The columns add up to the drive's power."""
    activity: Activity | None = None
    """Throughput, write amplification, free blocks, queue and energy by cause in each bin of an SSD."""


@dataclass(frozen=True, slots=True)
class Edges:
    """The current as it changed in a window of time, if it was recorded."""

    from_ns: int
    """Begin of the recorded part of the window."""
    until_ns: int
    """End of it."""
    time_ns: list[int]
    """Time of each change; the values hold until the next one."""
    current_ma: dict[str, list[float]]
    """Current in mA at `current_ma.supply_v` from each change on, by component."""
    total_ma: list[float]
    """Their sum: the drive's current."""


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


UNTIMED = (
    "latency_ns",
    "throughput",
    "lifetime",
    "energy_j",
    "energy_by_cause_j",
    "energy_total_j",
    "efficiency",
    "power_w",
    "current_ma",
    "parallelism",
    "energy_integral_j",
    "ledger",
    "drain_ledger",
)
"""Sections of time and energy: null in the report of a run without a clock, which has a section `replay`."""


def check(content: Mapping[str, Any], kinds: Mapping[str, Any], name: str) -> None:
    """Raise a `FlashwattError` with the first key of a report that is missing or of a wrong type.

    `kinds` gives the type of each key; keys that it does not have are not looked at. `name` is that of the file.
    """
    _check_kinds(content, kinds, name)
    _check_members(content, kinds, name)
    for table, columns in (("series", "power_w"), ("edges", "current_ma")):
        if content.get(table) and not _columns(content, table, columns):
            raise _core.FlashwattError(f"{name}: {table}.{columns}: found no column; expected one for each component")
    lists = [(f"series.power_w.{key}", values) for key, values in _columns(content, "series", "power_w").items()]
    lists += [(f"series.activity.{key}", values) for key, values in activity_columns(content).items()]
    lists += [(f"edges.current_ma.{key}", values) for key, values in _columns(content, "edges", "current_ma").items()]
    lists += [("edges.total_ma", edges["total_ma"])] if (edges := content.get("edges")) else []
    for key, values in lists:
        first = edges["time_ns"] if key.startswith("edges") and edges else lists[0][1]
        _same_length(f"{name}: {key}", values, first)
    for kind, bars in (content.get("latency_histogram") or {}).items():
        _same_length(f"{name}: latency_histogram.{kind}.count", bars["count"], bars["upper_ns"])
        for key, values in bars.items():
            _no_less_than_0(f"{name}: latency_histogram.{kind}.{key}", values)
        if (total := sum(bars["count"])) > _WHOLE_MAX:
            place = f"{name}: latency_histogram.{kind}.count"
            raise _core.FlashwattError(f"{place}: found {total} requests in all; expected at most 64 bits")


def activity_columns(content: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Give the lists of `series.activity` by their keys, those of a cause as `energy_by_cause_j.CAUSE`."""
    activity = (content.get("series") or {}).get("activity") or {}
    flat = {key: values for key, values in activity.items() if isinstance(values, list)}
    by_cause = activity.get("energy_by_cause_j") or {}
    return flat | {f"energy_by_cause_j.{cause}": values for cause, values in by_cause.items()}


def _check_kinds(content: Mapping[str, Any], kinds: Mapping[str, Any], name: str) -> None:
    timed, drive = content.get("replay") is None, kind_of(content)
    of_drive = {**kinds, **BESIDES, "config": _CONFIGURATIONS[drive]}
    if drive != "SSD":
        of_drive = {key: kind for key, kind in of_drive.items() if key not in ONLY_OF_AN_SSD}
        of_drive["energy_j"] = dict[str, float]
    if content.get("earlier"):
        of_drive = {key: kind for key, kind in of_drive.items() if key not in LEDGERS or content.get(key) is not None}
    for key, kind in of_drive.items():
        if timed or key not in UNTIMED:
            for fault in _faults(kind, content.get(key), key):
                raise _core.FlashwattError(f"{name}: {fault}")
        elif content.get(key) is not None:
            raise _core.FlashwattError(f"{name}: {key}: found a value; expected null, as the run had no clock")


def _check_members(content: Mapping[str, Any], kinds: Mapping[str, Any], name: str) -> None:
    """Check what pages read of the members of an array, and of its drives; another drive has no members."""
    members = content.get("members")
    if kind_of(content) != "array":
        if members is not None:
            raise _core.FlashwattError(f"{name}: members: found {shown(members)}; expected none: the run had one drive")
        return
    array, timed = content["config"]["array"], content.get("replay") is None
    for fault in _array_faults(array):
        raise _core.FlashwattError(f"{name}: config.array.{fault}")
    if not isinstance(members, list) or len(members) != len(array["drives"]):
        expected = f"expected a list of {len(array['drives'])}, one for each of config.array.drives"
        raise _core.FlashwattError(f"{name}: members: found {shown(members)}; {expected}")
    hints = get_type_hints(kinds["latency_ns"])
    latency = {kind: hints[kind] for kind in ("read", "write")}
    for at, member in enumerate(members):
        for fault in _member_faults(member, latency, f"members[{at}]", timed=timed):
            raise _core.FlashwattError(f"{name}: {fault}")


def _member_faults(member: Any, latency: Mapping[str, Any], place: str, *, timed: bool) -> Iterator[str]:
    """Describe the faults of a member; None stands for one that has failed."""
    if member is None:
        return
    yield from _table_faults(dict, member, place)
    if timed:
        yield from _faults(float, member.get("mean_w"), f"{place}.mean_w")
        of_kinds = member.get("latency_ns")
        yield from _faults(dict, of_kinds, f"{place}.latency_ns")
        for kind, hint in latency.items():
            yield from _faults(hint, of_kinds.get(kind), f"{place}.latency_ns.{kind}")


def _array_faults(array: Mapping[str, Any]) -> Iterator[str]:
    """Describe the faults of what pages read of an array's configuration."""
    spare, failed = array.get("spare"), array.get("failed")
    for place, drive in (*((f"drives[{at}]", one) for at, one in enumerate(array["drives"])), ("spare", spare or {})):
        device = (drive.get("device") or {}) if isinstance(drive, dict) else None
        if not isinstance(device, dict):
            yield f"{place}: wrong type; found {shown(drive)}; expected a drive"
            continue
        for key in ("preset", "description"):
            yield from _faults(str | None, device.get(key), f"{place}.device.{key}")
    if failed is not None and not isinstance(failed, dict):
        yield f"failed: wrong type; found {shown(failed)}; expected a table"
    elif spare and not (failed and type(failed.get("member")) is int and 0 <= failed["member"] < len(array["drives"])):
        yield f"failed: found {shown(failed)}; expected the member whose place the spare takes"


def _columns(content: Mapping[str, Any], table: str, key: str) -> dict[str, list[float]]:
    columns: dict[str, list[float]] = (content.get(table) or {}).get(key, {})
    return columns


def _same_length(place: str, values: list[Any], first: list[Any]) -> None:
    if len(values) != len(first):
        raise _core.FlashwattError(f"{place}: found {len(values)} values; expected {len(first)}")


def _no_less_than_0(place: str, values: list[int]) -> None:
    if (least := min(values, default=0)) < 0:
        raise _core.FlashwattError(f"{place}: found {least}; expected no number below 0")


def _faults(kind: Any, value: Any, path: str) -> Iterator[str]:
    """Describe the fault of a value of that type."""
    options = [one for one in get_args(kind) if one is not type(None)] if type(None) in get_args(kind) else []
    if value is None and (options or kind is None):
        return
    kind = options[0] if options else kind
    if value is None:
        yield _missing(path)
    elif is_dataclass(kind) or kind is dict or get_origin(kind) is dict:
        yield from _table_faults(kind, value, path)
    elif kind is list or get_origin(kind) is list:
        yield from _list_faults(kind, value, path)
    elif kind is not Any and not _fits(kind, value, path):
        yield f"{path}: wrong type; found {shown(value)}; expected {_WORDS[kind]}"


def _missing(path: str) -> str:
    return f"{path}: missing in this report; expected one of schema {_core.REPORT_SCHEMA}"


def _table_faults(kind: Any, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path}: wrong type; found {shown(value)}; expected a table"
    elif is_dataclass(kind):
        later = {field.name for field in fields(kind) if field.default is not MISSING}  # older versions lack these
        for key, hint in get_type_hints(kind).items():
            if key in value:
                yield from _faults(hint, value[key], f"{path}.{key}")
            elif key not in later:
                yield _missing(f"{path}.{key}")
    elif get_args(kind):
        for key, one in value.items():
            yield from _faults(get_args(kind)[1], one, f"{path}.{key}")


def _list_faults(kind: Any, value: Any, path: str) -> Iterator[str]:
    (inner,) = get_args(kind) or (Any,)
    if not isinstance(value, list):
        yield f"{path}: wrong type; found {shown(value)}; expected a list"
    elif is_dataclass(inner):
        for at, one in enumerate(value):
            yield from _faults(inner, one, f"{path}[{at}]")
    elif inner is not Any:
        wrong = next((at for at, one in enumerate(value) if not _fits(inner, one, path)), None)
        if wrong is not None:
            yield f"{path}[{wrong}]: wrong type; found {shown(value[wrong])}; expected {_WORDS[inner]}"


def _fits(kind: Any, value: Any, path: str) -> bool:
    if kind is int:
        return type(value) is int and abs(value) <= (_TIME_MAX_NS if "_ns" in path else _WHOLE_MAX)
    if kind is float:
        return type(value) in (int, float) and (value == 0 or _NUMBER_MIN <= abs(value) <= _NUMBER_MAX)
    return isinstance(value, kind)
