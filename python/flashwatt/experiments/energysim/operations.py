"""Shares of the flash's energy by operation, with one definition of idle.

The paper charges idle dies while "at least one flash chip is executing a NAND operation" (footnote 5), which is the
accounting `busy_only`. A die idles for as long as it executes none itself (equation 12): so does one that is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashwatt.report import Report
    from flashwatt.reproduce.evidence import Evidence

PARTS = {"read": "read", "write": "program", "erase": "erase", "idle": "idle"}


def shares(evidence: Evidence, workload: str, ftl: str) -> dict[str, float]:
    """Percent of the energy of the flash and its bus."""
    report = evidence["ftls"].report(workload, ftl)
    joules = {**flash_j(report), "bus": report.energy_j.host_interface}
    total = sum(joules.values())
    return {part: 100 * value / total for part, value in joules.items()}


def flash_j(report: Report) -> dict[str, float]:
    """Energy in J of the array's operations, and of the dies that idle while another one executes an operation."""
    nand = report.energy_j.nand
    return {"read": nand.read, "write": nand.program, "erase": nand.erase, "idle": idle_j(report)}


def idle_j(report: Report) -> float:
    """Energy in J of dies that execute no array operation, while at least one does.

    A die that is loaded, or that holds data, draws what an idle one does. Its energy is `transfer`, of which the part
    counts that falls into times with an array at work.
    """
    loaded_ns = _die_ns(report, "read_transfer", "program_transfer", "erase_transfer", "data_wait")
    counted_ns = loaded_ns - report.ledger.transfer_die_ns
    nand = report.energy_j.nand
    return nand.idle + (nand.transfer * counted_ns / loaded_ns if loaded_ns else 0.0)


def dies_at_work(report: Report) -> float:
    """Mean number of dies that execute an array operation, while at least one does."""
    return _die_ns(report, "read", "program", "erase") / report.ledger.elapsed_ns.array


def _die_ns(report: Report, *states: str) -> int:
    return sum(sum(report.ledger.die_ns[state].values()) for state in states)
