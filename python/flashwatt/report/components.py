"""The kinds of drives that a report may be of, and the components of their energy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flashwatt.base.files import Json

Kind = Literal["SSD", "disk", "array"]

ONLY_OF_AN_SSD = (
    "flash",
    "spare",
    "wear",
    "lifetime",
    "ftl",
    "gc",
    "write_buffer",
    "host_memory",
    "energy_by_cause_j",
    "energy_total_j",
    "parallelism",
    "ledger",
    "drain_ledger",
)
"""Sections that the reports of other drives do not have."""

_OF_AN_SSD = {
    "NAND program": ("nand", "program"),
    "NAND read": ("nand", "read"),
    "NAND erase": ("nand", "erase"),
    "NAND transfer": ("nand", "transfer"),
    "NAND idle": ("nand", "idle"),
    "controller active": ("controller", "active"),
    "controller idle": ("controller", "idle"),
    "DRAM active": ("dram", "active"),
    "DRAM idle": ("dram", "idle"),
    "host interface": ("host_interface",),
}


def kind_of(report: Mapping[str, Any]) -> Kind:
    """Tell the kind of drive from the sections that only one kind has."""
    if "array" in report:
        return "array"
    return "disk" if "hdd" in report else "SSD"


def spoken(key: str) -> str:
    """Write the name of a component as words, and its supply as data sheets do: `spindle_12v` is "spindle, +12 V"."""
    part, _, supply = key.rpartition("_")
    if part and supply.endswith("v") and supply[:-1].isdigit():
        return f"{part.replace('_', ' ')}, +{supply[:-1]} V"
    return key.replace("_", " ")


def energies(report: Json) -> dict[str, float | None]:
    """Give the energy in J of each component of a drive of any kind, by name; None where an old report has none."""
    energy = report["energy_j"]
    if kind_of(report) == "SSD":
        return {name: _at(energy, path) for name, path in _OF_AN_SSD.items()}
    return {spoken(key): joules for key, joules in energy.items() if key != "total"}


def columns(report: Json) -> dict[str, float]:
    """Give the energy in J of each component, by the names that the columns of power over time have."""
    energy = report["energy_j"]
    if kind_of(report) != "SSD":
        return {key: joules for key, joules in energy.items() if key != "total"}
    joules = {f"nand_{name}": value for name, value in energy["nand"].items() if name != "total"}
    joules |= {name: energy[name]["active"] + energy[name]["idle"] for name in ("controller", "dram")}
    return {**joules, "host_interface": energy["host_interface"]}


def _at(tree: Any, path: Iterable[str]) -> float | None:
    for key in path:
        tree = tree.get(key) if isinstance(tree, dict) else None
    found: float | None = tree
    return found
