"""Reports of earlier schemas, brought into today's: a figure that a schema lacks, or meant otherwise, has no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.literals import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashwatt.base.files import Json

FIRST = 1
"""The first schema that is read."""
LEDGERS = ("ledger", "drain_ledger")
"""Sections that no report of an earlier schema has: theirs lack the time of array work."""


def read_as_today(content: Json, name: str) -> Json:
    """Bring the content of a report into today's schema, in place.

    Of a report of an earlier schema `earlier` says what that was and which keys have no value. Raises `FlashwattError`
    for a schema that is not read; `name` is that of the file.
    """
    found, today = content.get("schema"), _core.REPORT_SCHEMA
    if type(found) is not int or not FIRST <= found <= today:
        remedy = "run its configuration again with this version"
        raise _core.FlashwattError(
            f"{name}: schema: a report of another version; found {shown(found)}; expected {FIRST} to {today} ({remedy})"
        )
    if found == today:
        return content
    without: list[str] = []
    for schema in range(found, today):
        without += _STEPS[schema](content, name)
    without = [key for key in without if _taken(content, key)]
    content["schema"] = today
    content["earlier"] = {"schema": found, "null": without}
    warnings = content.get("warnings")
    if isinstance(warnings, list):
        warnings.append(
            f"read from a report of schema {found}, which lacks these figures or means others by their names: "
            f"{', '.join(without)}"
        )
    return content


def no_prices_of(content: Json, name: str) -> None:
    """Raise a `FlashwattError` if a report came from an earlier schema: its ledger lacks what other prices need."""
    earlier = content.get("earlier")
    if isinstance(earlier, dict):
        found = f"found {shown(earlier.get('schema'))}; expected {_core.REPORT_SCHEMA}"
        remedy = "price it with the version that made it, or run its configuration again"
        raise _core.FlashwattError(f"{name}: schema: a report of another schema; {found} ({remedy})")


def _from_1(content: Json, name: str) -> list[str]:
    """Schema 2 counts write amplification in bytes of the host and states currents at one voltage."""
    if _get(content, "window.drain_counted") and _get(content, "window.drain_s"):
        found = "its totals cover the drain, its rates and recordings do not"
        remedy = "run its configuration again with this version"
        raise _core.FlashwattError(
            f"{name}: window.drain_counted: found a report of schema 1 with a counted drain: {found}; expected one "
            f"without, or schema 2 to {_core.REPORT_SCHEMA} ({remedy})"
        )
    # Bytes programmed / bytes written by the host in whole map units: the product of the other two factors.
    _put(content, "flash.gc_factor", _get(content, "flash.write_amplification"))
    without = ["flash.write_amplification", "flash.rmw_factor", "window.flash_ops"]
    without += ["flash.buffer_factor", "flash.gc_factor"] if content.get("write_buffer") is not None else []
    _put(content, "flash.buffer_factor", None)
    _put(content, "ftl.map_unit_bytes", _get(content, "config.ftl.page.map_unit_bytes"))
    without += ["ftl.map_unit_bytes"] if _get(content, "ftl.map_unit_bytes") is None else []
    content.setdefault("drain_ledger", None)
    return [*without, *_currents_of_1(content)]


def _currents_of_1(content: Json) -> list[str]:
    """The power was right, the current summed up parts at different voltages: it follows from the power."""
    terminal_mv = _number(_get(content, "config.energy.mode.terminal"))
    supply_v = (terminal_mv or _highest_mv(_get(content, "config.energy"))) / 1e3
    _put(content, "current_ma.supply_v", supply_v)
    for key in ("mean", "peak"):
        power_w = _number(_get(content, f"power_w.{key}"))
        if power_w is not None and supply_v:
            _put(content, f"current_ma.{key}", power_w / supply_v * 1e3)
    return [] if terminal_mv else ["current_ma.time_at_peak_ns", "edges"]


def _highest_mv(energy: Any) -> float:
    """The highest voltage of a part that draws current."""
    parts = [_get(energy, key) for key in ("controller", "dram.part", "nand", "host_interface")]
    drawing = [one for one in parts if isinstance(one, dict) and any(one[key] for key in one if key.endswith("_ua"))]
    return max((_number(one.get("millivolts")) or 0.0 for one in drawing), default=0.0)


def _from_2(content: Json, _name: str) -> list[str]:
    """Schema 3 has two idle accountings for one: today's `busy_or_loading` is what `busy_only` was."""
    _put(content, "energy_total_j.busy_or_loading", _get(content, "energy_total_j.busy_only"))
    if _get(content, "config.energy.idle_accounting") == "busy_only":
        _put(content, "config.energy.idle_accounting", "busy_or_loading")
    if isinstance(workload := content.get("workload"), dict):
        workload.setdefault("input_sha256", None)
    return ["energy_total_j.busy_only", *LEDGERS]


_STEPS: dict[int, Callable[[Json, str], list[str]]] = {1: _from_1, 2: _from_2}
"""By schema, the change to the next one. It gives the keys that have no value then."""


def _get(content: Any, key: str) -> Any:
    """Give the value of a dotted key; None if there is none."""
    for part in key.split("."):
        content = content.get(part) if isinstance(content, dict) else None
    return content


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _put(content: Json, key: str, value: Any) -> None:
    """Set a dotted key, if its table is there."""
    table, _, last = key.rpartition(".")
    parent = _get(content, table)
    if isinstance(parent, dict):
        parent[last] = value


def _taken(content: Json, key: str) -> bool:
    """Make the value of a dotted key null. Returns whether the report has its table, or that recording."""
    table, _, last = key.rpartition(".")
    parent = _get(content, table) if table else content
    if not isinstance(parent, dict) or (not table and parent.get(last) is None):
        return False
    parent[last] = None
    return True
