"""Table IX: energy of a write of 4 KB by size of page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""

    def program_uj(page: str, mapping: str) -> float:
        return _uj(evidence, "program", page, mapping)

    def array_uj(mapping: str) -> float:
        return _uj(evidence, "program", "16 KB", mapping) + _uj(evidence, "read", "16 KB", mapping)

    return {
        "whole_16_uj": lambda: program_uj("16 KB", "whole pages"),
        "whole_4_uj": lambda: program_uj("4 KB", "whole pages"),
        "sub_16_uj": lambda: program_uj("16 KB", "sub-pages of 4 KB"),
        "financial1": lambda: _of_4_kb(evidence, "financial1", "16 KB"),
        "filezilla": lambda: _of_4_kb(evidence, "filezilla", "16 KB"),
        "gain": lambda: array_uj("whole pages") / array_uj("sub-pages of 4 KB"),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw what the flash array takes for each write."""
    runs = evidence["pages"]
    rows = [
        Bar(page, mapping, _uj(evidence, "program", page, mapping) + _uj(evidence, "read", page, mapping))
        for page in runs.labels("page")
        for mapping in runs.labels("mapping")
    ]
    yield bars("Table IX: a write of 4 KB", "By size of page; reads and programs of the array.", rows, "energy (µJ)")

    workloads = evidence["workloads"]
    rows = [
        Bar(workload, flash, _of_4_kb(evidence, workload, flash))
        for workload in workloads.labels("workload")
        for flash in workloads.labels("flash")
    ]
    said = "Pages mapped as a whole; over 4 KB; charged while a die works."
    yield bars("Table IX: energy by size of page", said, rows, "normalised", log=True)


def _of_4_kb(evidence: Evidence, workload: str, flash: str) -> float:
    """Energy over that of pages of 4 KB."""
    runs, key = evidence["workloads"], "energy_total_j.busy_only"
    return runs.value(key, workload, flash) / runs.value(key, workload, "4 KB")


def _uj(evidence: Evidence, operation: str, page: str, mapping: str) -> float:
    """Energy of an operation of the flash array for each write."""
    runs = evidence["pages"]
    joules = runs.value(f"energy_j.nand.{operation}", page, mapping)
    return 1e6 * joules / runs.value("workload.writes", page, mapping)
