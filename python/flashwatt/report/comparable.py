"""Warnings for a comparison of runs: different map units, and the runs' own warnings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flashwatt.base.units import count
from flashwatt.report.components import kind_of
from flashwatt.report.report import content_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flashwatt.report.report import Report

_MOST = 10


def map_unit_bytes(report: Report) -> int | None:
    """Give the bytes of an entry of an SSD's map; None for the report of a disk or an array, which has no map."""
    return report.ftl.map_unit_bytes if kind_of(content_of(report)) == "SSD" else None


def unlike_map_units(units: Mapping[str, int | None]) -> list[str]:
    """Warn of runs, by their labels, whose maps have entries of different sizes: some figures count in those."""
    by_unit: dict[int, str] = {}
    for label, unit in units.items():
        if unit is not None:
            by_unit.setdefault(unit, label)
    if len(by_unit) < 2:  # noqa: PLR2004
        return []
    found = ", ".join(f"{unit} bytes ({label})" for unit, label in sorted(by_unit.items()))
    return [
        f"the runs map different units, ftl.map_unit_bytes: {found}; compare write_amplification, which is of the "
        "host's bytes, not rmw_factor, gc_factor or counts of map units"
    ]


def distinct_warnings(runs: Iterable[list[str]]) -> list[str]:
    """Give each warning of many runs once, with how many have it; those that differ in numbers alone are one."""
    texts: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for warnings in runs:
        kinds = {re.sub(r"\d[\d.,]*", "#", text): text for text in warnings}
        for kind, text in kinds.items():
            texts.setdefault(kind, text)
            numbers[kind] = numbers.get(kind, 0) + 1
    lines = [f"{_runs(numbers[kind])}: {text}" for kind, text in texts.items()]
    left_out = len(lines) - _MOST
    return lines if left_out <= 0 else [*lines[:_MOST], f"{left_out} kinds of warning more; see results.jsonl"]


def _runs(number: int) -> str:
    return "1 run" if number == 1 else f"{count(number)} runs, for example"
