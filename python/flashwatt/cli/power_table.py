"""The tables of `flashwatt model power`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from flashwatt.base.units import si
from flashwatt.report.table import emit, new_table

if TYPE_CHECKING:
    from collections.abc import Mapping

_STATES = {"quiet": "no request", "outstanding": "a request, no die at work", "busy": "dies at work, without theirs"}
_PARTS = {
    "controller_idle": "controller, idle",
    "controller_active": "controller, active",
    "dram_idle": "DRAM, idle",
    "dram_active": "DRAM, active",
    "dies_idle": "all dies, idle",
}
_ADDS = {
    "read": "a die reading",
    "program": "a die programming",
    "erase": "a die erasing",
    "read_transfer": "a page out over the bus",
    "program_transfer": "a page in over the bus",
    "dram": "DRAM at work",
    "host_interface": "data on the host interface",
}


def show(levels: Mapping[str, Any], device: Mapping[str, Any]) -> None:
    """Print the power levels of a drive."""
    console = Console(highlight=False)
    name = device["preset"] or "drive"
    drive = f"{name}: {device['channels']} channels × {device['ways']} ways, {levels['dies']} dies"
    emit(console, Text(f"{drive}; currents at {levels['supply_v']:g} V", "bold"))
    table = new_table("\nThe drive, and its parts", "", "power", "current")
    for words, key, names in (("", None, _STATES), ("", "parts", _PARTS), ("+ ", "adds", _ADDS)):
        for each, label in names.items():
            table.add_row(label, *_cells((levels[key] if key else levels)[each], words))
        table.add_section()
    emit(console, table)
    table = new_table("\nThe drive with n dies at work", "dies", "reading", "", "programming", "", "erasing", "")
    for row in levels["at_work"]:
        cells = [cell for key in ("read", "program", "erase") for cell in _cells(row[key])]
        table.add_row(str(row["dies"]), *cells)
    emit(console, table)


def _cells(level: Mapping[str, float], sign: str = "") -> tuple[str, str]:
    return f"{sign}{si(level['w'], 'W')}", f"{sign}{si(level['ma'] / 1e3, 'A')}"
