"""The simulator as a Python library: configurations in, reports out as plain dictionaries."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashwatt import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike
    from typing import TypeAlias

    Progress: TypeAlias = Callable[[int, int | None, int, bool], bool | None]
    """Called about ten times a second: requests done, requests in all (if known), simulated nanoseconds, preparing.

    While it prepares, the run lays down the drive's start state with requests of its own. `False` stops the run: the
    report then says "interrupted" and holds what was done. A run that is still preparing has nothing to report, and
    raises `RunInterruptedError`."""

Report = dict[str, Any]
"""A report: the contents of report.json."""


def run_text(
    text: str,
    *,
    name: str = "<config>",
    sets: Sequence[str] = (),
    op_log: str | PathLike[str] | None = None,
    series_interval_ns: int | None = None,
    progress: Progress | None = None,
    check: bool = False,
) -> Report:
    """Run a configuration given as TOML and return the report.

    `sets` are overrides as on the command line ("device.channels=4"). `series_interval_ns` asks for power over time, 0
    for an interval that suits the length of the run. `op_log` names a file for one line per flash operation.
    `check` keeps a second account of what every page holds and stops at the first difference (slow).
    Raises `FlashwattError` for what cannot be run.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    report: Report = json.loads(_core.run(text, name, list(sets), op_log, series_interval_ns, progress, check))
    report["engine"] = _speed(report, time.perf_counter() - wall, time.process_time() - cpu)
    return report


def run_file(path: str | PathLike[str], **options: Any) -> Report:
    """Run a configuration file; the options are those of `run_text`."""
    return run_text(read_text(path), name=printable(path), **options)


def reprice(report: Report | str, table: str, *, report_name: str = "<report>", name: str = "<prices>") -> Report:
    """Price the run of a report with another table: `[energy]` tables in TOML, laid over the report's own.

    Energies, means and efficiency come out as in a run with that table; what depends on what happened at the same time
    (peaks, windows, the series) is None, and `repriced` says why. Raises `FlashwattError` for what cannot be priced.
    """
    text = report if isinstance(report, str) else json.dumps(report)
    repriced: Report = json.loads(_core.reprice(text, report_name, table, name))
    return repriced


def resolve(text: str, *, name: str = "<config>", sets: Sequence[str] = ()) -> dict[str, Any]:
    """Check a configuration and return it with every value that a run would use."""
    config: dict[str, Any] = json.loads(_core.resolve(text, name, list(sets)))
    return config


def trace_info(path: str | PathLike[str], *, trace_format: str | None = None, skip_bad: bool = False) -> dict[str, Any]:
    """Statistics of a trace file as it is; its format is recognised unless given."""
    info: dict[str, Any] = json.loads(_core.trace_info(path, trace_format, skip_bad))
    return info


def names(kind: str) -> dict[str, str]:
    """Everything that is registered under a kind ("ftls", "gc", "presets", ...), each with one line about it."""
    return dict(_core.list_names(kind) or [])


def read_text(path: str | PathLike[str]) -> str:
    """Read a text file; a `FlashwattError` says what is wrong with it."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise _core.FlashwattError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise _core.FlashwattError(f"{path}: not a text file (byte {error.start} is not UTF-8)") from None


def printable(path: str | PathLike[str]) -> str:
    """Give a file name as a message can hold it: bytes that are no UTF-8 as escapes."""
    return str(path).encode(errors="surrogateescape").decode(errors="backslashreplace")


def _speed(report: Report, wall_s: float, cpu_s: float) -> dict[str, float | None]:
    """How fast the engine was: it reads no clock itself, so that equal runs have equal reports."""
    flash = report["flash"]
    operations = sum(flash[kind]["total"] for kind in ("reads", "programs", "erases"))
    return {
        "wall_s": wall_s,
        "cpu_s": cpu_s,
        "requests_per_cpu_s": report["workload"]["requests"] / cpu_s if cpu_s > 0 else None,
        "flash_ops_per_cpu_s": operations / cpu_s if cpu_s > 0 else None,
    }
