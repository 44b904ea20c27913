"""Shares of the flash's energy by operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashwatt.reproduce.evidence import Evidence

PARTS = {"read": "read", "write": "program", "erase": "erase", "idle": "idle"}


def shares(evidence: Evidence, workload: str, ftl: str) -> dict[str, float]:
    """Percent of the energy of the flash and its bus."""
    energy = evidence["ftls"].report(workload, ftl).energy_j
    joules = {part: getattr(energy.nand, key) for part, key in PARTS.items()}
    joules["idle"] += energy.nand.transfer  # a die that is loaded draws what an idle one does
    joules["bus"] = energy.host_interface
    total = sum(joules.values())
    return {part: 100 * value / total for part, value in joules.items()}
