"""What a battery moves through a drive: gigabytes by target and pattern, and the efficiency behind them."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.console import Console

from flashwatt import _core
from flashwatt.base.files import printable
from flashwatt.base.units import count, number
from flashwatt.dio import result
from flashwatt.dio.table import SHORT, figure, size
from flashwatt.report.report import Report, content_of
from flashwatt.report.table import drive_name, emit, foldable, is_timed, new_table, show_warnings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_J_PER_WH = 3600
_MB_PER_GB = 1000


def gigabytes(j_per_mb: float, wh: float) -> float:
    """Give the GB (10^9 bytes) that a battery moves: its energy, Wh × 3600 J, over J/MB (Park et al. 2011, 4.2)."""
    return wh * _J_PER_WH / j_per_mb / _MB_PER_GB


def table_of(files: Sequence[Path], wh: float) -> tuple[list[dict[str, Any]], list[str]]:
    """Give the rows of results and run reports, and warnings. Raises `FlashwattError` for a file without energy.

    Where targets have the same name, that of the file stands beside it.
    """
    if not (math.isfinite(wh) and wh > 0):
        raise _core.FlashwattError(f"--wh: found {wh:g}; expected the energy of a battery in Wh, > 0")
    found: dict[Path, list[dict[str, Any]]] = {}
    warnings: list[str] = []
    for file in files:
        found[file] = list(_of_result(file, wh, warnings) if result.is_result(file) else _of_report(file, wh, warnings))
    targets = Counter(rows[0]["target"] for rows in found.values())
    for file, rows in found.items():
        for row in rows:
            if targets[row["target"]] > 1:
                row["target"] += f" ({printable(file)})"
    return [row for rows in found.values() for row in rows], warnings


def _of_result(file: Path, wh: float, warnings: list[str]) -> Iterator[dict[str, Any]]:
    content = result.read(file)
    name = content["target"]["name"]
    if content["status"] != "complete":
        warnings.append(f"{printable(file)} is {content['status']}")
    if not content["points"]:
        expected = "expected points, as `flashwatt dio` without a probe measures them"
        raise _core.FlashwattError(f"{printable(file)}: found no points; {expected}")
    if not any(one["j_per_mb"] for one in content["points"]):
        expected = "expected a result with power (`flashwatt dio --power`)"
        raise _core.FlashwattError(f"{printable(file)}: no point has an energy; {expected}")
    if without := sum(one["j_per_mb"] is None for one in content["points"]):
        warnings.append(f"{printable(file)}: {without} of {len(content['points'])} points have no energy, and no row")
    for one in content["points"]:
        if one["j_per_mb"]:
            about = {"target": name, "pattern": one["pattern"], "request_bytes": one["request_bytes"]}
            yield _row(about, one["j_per_mb"], one["iops_per_w"], wh)


def _of_report(file: Path, wh: float, warnings: list[str]) -> Iterator[dict[str, Any]]:
    """The row of a run: its whole energy over the bytes that it wrote."""
    report = Report.read(file)
    content, name = content_of(report), printable(file)
    if not is_timed(content):
        raise _core.FlashwattError(f"{name}: a run without a clock has no energy; expected a run in simulated time")
    load = content["workload"]
    if not load["write_bytes"]:
        found = f"{count(load['reads'])} reads and no write"
        raise _core.FlashwattError(f"{name}: nothing was written; found {found}; expected a report with writes")
    if report.status != "complete":
        warnings.append(f"{name} is {report.status}")
    if load["read_bytes"]:
        warnings.append(f"{name}: the energy of reads counts as energy of its writes")
    about = {"target": drive_name(content), "pattern": load["name"], "request_bytes": None}
    joules = content["energy_j"]["total"]
    if not joules:
        raise _core.FlashwattError(f"{name}: energy_j.total: found {joules}; expected more than 0")
    yield _row(about, joules / (load["write_bytes"] / 1e6), content["efficiency"]["iops_per_w"], wh)


def _row(about: dict[str, Any], j_per_mb: float, iops_per_w: float | None, wh: float) -> dict[str, Any]:
    figures = {"j_per_mb": j_per_mb, "mb_per_j": 1 / j_per_mb, "iops_per_w": iops_per_w}
    return {**about, **figures, "battery_wh": wh, "gb_per_battery": gigabytes(j_per_mb, wh)}


def show(rows: Sequence[dict[str, Any]], wh: float, warnings: list[str]) -> None:
    """Print the rows."""
    console = Console(highlight=False)
    table = new_table(f"A battery of {wh:g} Wh", "", "pattern", "size", "J/MB", "GB", "MB/J", "IOPS per W")
    foldable(table, 0)
    above = None
    for row in rows:
        target = "" if row["target"] == above else row["target"]
        above = row["target"]
        of = size(row["request_bytes"]) if row["request_bytes"] else ""
        moved = number(row["gb_per_battery"], 1) if row["gb_per_battery"] < _MB_PER_GB else count(row["gb_per_battery"])
        cells = (figure(row["j_per_mb"]), moved, figure(row["mb_per_j"]), count(row["iops_per_w"]))
        table.add_row(target, SHORT.get(row["pattern"], row["pattern"]), of, *cells)
    emit(console, table)
    show_warnings(warnings, console)
