"""The simulator as a Python library: a configuration in, a report out."""

from __future__ import annotations

import json
import re
import weakref
from collections.abc import Mapping
from contextlib import contextmanager
from inspect import signature
from operator import index
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.asked import run_progress
from flashwatt.base.files import parse_json
from flashwatt.base.literals import assignments, flattened, leaves, shown
from flashwatt.base.misspelt import known
from flashwatt.base.outputs import check_not_read
from flashwatt.base.reads import reading
from flashwatt.base.scripts import blaming, explained
from flashwatt.config.config import Config, dotted_of
from flashwatt.oplog import logged, path_of, temporary
from flashwatt.report.earlier import no_prices_of
from flashwatt.report.report import Report
from flashwatt.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from os import PathLike
    from typing import TypeAlias

    from flashwatt.base.files import Json
    from flashwatt.config.config import Source
    from flashwatt.oplog import Log

    Progress: TypeAlias = Callable[[int, int | None, int, str | None], bool | None]
    """Called about ten times a second: requests done, requests in all (if known), simulated nanoseconds, preparing.

    `preparing` is "reading the trace" (to its end, before a replay) or "laying down the start state" (with requests of
    its own); None during the simulation; "cutting the power" after it, with cuts in place of requests, if
    `[run.power_cuts]` asks for that. Return `False` to stop the run: its report has the status "interrupted" and
    the figures until then. A run that is stopped while it prepares has no report, and raises `RunInterruptedError`."""

    Edges: TypeAlias = bool | tuple[int, int]
    """The window in which the drive's current is recorded change by change; see `run`."""

_END_OF_TIME_NS = 2**64 - 1
_INTERVAL_NS_MAX = 2**63 - 1


@blaming
@reading()
def run(
    config: Source = MappingProxyType({}),
    /,
    *,
    seed: int | None = None,
    series: bool | int = False,
    edges: Edges = False,
    latency: bool = True,
    op_log: bool | str | PathLike[str] = False,
    request_log: str | PathLike[str] | None = None,
    capture: str | PathLike[str] | None = None,
    dispatch_log: str | PathLike[str] | None = None,
    check: bool = False,
    against: Source | None = None,
    progress: Progress | bool | None = None,
    force: bool = False,
    **overrides: Any,
) -> Report:
    """Simulate a configuration and report it.

    `config` is the path of a TOML file, a dictionary of the same shape or a `Config`; without one the default drive
    runs. `overrides` are laid over it: `device__channels=4`, `device={"channels": 4}` or `**{"device.channels": 4}`.

    `seed` is short for `run__seed`. `series` records power over time: a number is the length of a bin in nanoseconds;
    `True` chooses a length that gives 1,000 to 2,000 bins. `edges` records every change of the drive's current:
    `(from, until)` is a window in simulated nanoseconds from the start of the run, including the warm-up; `True` is the
    whole measured window. A run with more than ten million bins or a million changes ends there as "failed". `latency`
    keeps the histogram for `Report.latency`. `op_log` writes a line per flash operation into a file of that name (.csv
    or .parquet) or, if `True`, into a temporary file that is removed with the report. `request_log` writes a line per
    request of the host into such a file, `capture` the requests as the workload sends them, and `dispatch_log` as the
    block layer (`[host]`) gives them to the drive; these two are traces in CSV, which `workload__trace__path` replays.
    Other files of that name are replaced with `force` only. A log that cannot be written makes the status "failed"; the
    figures stay valid. `check` keeps a second account of every page's content and stops at the first difference (slow).
    `against` is a configuration that runs beside this one with the same draws: both end when the differences of the
    figures of `run.measure.precision` are known. `progress=True` shows a bar, in a notebook or on a terminal; a
    function is called as `Progress` says. Ctrl-C ends the run early: the report has the status "interrupted".

    Raises `FlashwattError` for a configuration that cannot be run, with the key, the value found and those expected.
    """
    config = Config.of(config).override(overrides_of(seed, overrides))
    named = None if isinstance(op_log, bool) else path_of("op_log", op_log)
    with nearest(overrides, run), explained(), temporary(wanted=op_log is True) as unnamed:
        config.inputs()
        with (
            logged("op_log", named or unnamed, force=force) as log,
            logged("request_log", request_log, force=force) as requests,
            logged("capture", capture, force=force) as captured,
            logged("dispatch_log", dispatch_log, force=force) as dispatches,
            run_progress(progress) as show,
        ):
            content = simulate(
                config,
                against=None if against is None else Config.of(against),
                op_log=log.engine_path,
                request_log=requests.engine_path,
                capture=captured.engine_path,
                dispatch_log=dispatches.engine_path,
                force=force,
                series_interval_ns=interval_ns(series),
                edges_ns=window_ns(edges),
                latency_histogram=latency,
                check=check,
                progress=show,
            )
            for one in (log, requests, captured, dispatches):
                _finish(one, one.named(content))
    report = Report(content, op_log=named or unnamed)
    if unnamed:
        weakref.finalize(report, unnamed.unlink, missing_ok=True)
    return report


@blaming
@reading()
def age(
    config: Source = MappingProxyType({}),
    /,
    *,
    to: str | PathLike[str],
    seed: int | None = None,
    run_workload: bool = False,
    progress: Progress | bool | None = None,
    force: bool = False,
    **overrides: Any,
) -> dict[str, Any]:
    """Prepare a drive, save it to the file `to`, and say what was saved.

    The drive is saved in the start state of the configuration (`run.precondition`), or with `run_workload` after
    that and its workload, with warm-up and drain. Runs begin from the file by `run__precondition__snapshot="aged.fw"`.
    The other arguments are those of `run`.

    A file of that name is replaced if it is a snapshot, others with `force` only, and never one that is read. An
    interrupted preparation raises `RunInterruptedError` and leaves nothing behind.
    """
    config = Config.of(config).override(overrides_of(seed, overrides))
    with nearest(overrides, age), explained(), run_progress(progress, "preparing") as show:
        return save_aged(config, to, workload=run_workload, progress=show, force=force)


def save_aged(
    config: Config,
    to: str | PathLike[str],
    *,
    workload: bool = False,
    progress: Progress | None = None,
    force: bool = False,
) -> dict[str, Any]:
    """Save a drive; messages call overrides `--set`."""
    check_not_read(to)
    text = _core.age(config.text, config.name, list(config.sets), to, workload, progress, force)
    return dict(json.loads(text))


def inspected(config: Config, *, after_run: bool = False, progress: Progress | None = None) -> Json:
    """Give where the files of a workload lie, as laid down or after the run."""
    found: Json = json.loads(_core.inspect(config.text, config.name, list(config.sets), after_run, progress))
    return found


def _finish(log: Log, content: Json) -> None:
    """Keep the log; if that fails, put the reason into the report, as the engine does."""
    try:
        log.finish()
    except _core.FlashwattError as error:
        fault = f"the {log.kind.replace('op_', 'operation_').replace('_', ' ')} was not kept: {error}"
        if content["status"] == "complete":
            content["status"] = f"failed: {fault}"
        else:
            content["warnings"].append(fault)


@contextmanager
def nearest(keywords: Collection[str], function: Callable[..., Any]) -> Iterator[None]:
    """Within the block, the error for an unknown keyword names the nearest option of the function, or key."""
    try:
        yield
    except _core.FlashwattError:
        from flashwatt.config.reference import keys

        options = [name for name, one in signature(function).parameters.items() if one.kind is one.KEYWORD_ONLY]
        tables = [key for key in keys() if "." not in key]
        below = [key.replace(".", "__") for key in keys() if "." in key]
        known(function.__name__, [re.split(r"\.|__", name)[0] for name in keywords], [*options, *tables], near=below)
        raise


def overrides_of(seed: int | None, keywords: dict[str, Any]) -> dict[str, Any]:
    """Keywords as dotted keys, and the seed among them."""
    dotted = dotted_of(keywords)
    if seed is None:
        return dotted
    if "run.seed" in dict(leaves(dotted)):
        raise _core.FlashwattError("seed: given twice; found `seed` and `run.seed`; expected one of them")
    return {**dotted, "run.seed": seed}


def _check_kinds(**given: object) -> None:
    for name, value in given.items():
        if not isinstance(value, bool):
            raise _core.FlashwattError(f"{name}: found {shown(value)}; expected True or False")


def interval_ns(series: bool | int) -> int | None:
    """As the engine takes it: none, 0 for an interval that suits the run, or nanoseconds."""
    if isinstance(series, bool):
        return 0 if series else None
    try:
        ns = index(series)
    except TypeError:
        ns = 0
    if 1 <= ns <= _INTERVAL_NS_MAX:
        return ns
    expected = f"True, False, or the nanoseconds of a bin, a whole number from 1 to {_INTERVAL_NS_MAX}"
    raise _core.FlashwattError(f"series: found {shown(series)}; expected {expected}")


def window_ns(edges: Edges) -> tuple[int, int] | None:
    """As the engine takes it: none, or the window in nanoseconds, which may be the whole run."""
    if isinstance(edges, bool):
        return (0, _END_OF_TIME_NS) if edges else None
    try:
        begin, end = (index(ns) for ns in edges)
    except (TypeError, ValueError):
        begin, end = 0, 0
    if 0 <= begin < end <= _END_OF_TIME_NS:
        return begin, end
    expected = "True, False, or (from, until): whole nanoseconds, 0 ≤ from < until"
    raise _core.FlashwattError(f"edges: found {shown(edges)}; expected {expected}")


def simulate(
    config: Config,
    *,
    against: Config | None = None,
    op_log: str | PathLike[str] | None = None,
    request_log: str | PathLike[str] | None = None,
    capture: str | PathLike[str] | None = None,
    dispatch_log: str | PathLike[str] | None = None,
    force: bool = False,
    series_interval_ns: int | None = None,
    edges_ns: tuple[int, int] | None = None,
    latency_histogram: bool = False,
    check: bool = False,
    progress: Progress | None = None,
) -> Json:
    """Run a configuration and give the report as it is in report.json; messages call overrides `--set`."""
    _check_kinds(latency=latency_histogram, check=check, force=force)
    watch = Stopwatch()
    text = _core.run(
        config.text,
        config.name,
        list(config.sets),
        op_log=op_log,
        request_log=request_log,
        capture=capture,
        dispatch_log=dispatch_log,
        force=force,
        series_interval_ns=series_interval_ns,
        edges_ns=edges_ns,
        latency_histogram=latency_histogram,
        check=check,
        progress=progress,
        started=watch.lap,
        against=(against.text, against.name, list(against.sets)) if against else None,
    )
    report: Json = json.loads(text)
    report["engine"] = watch.engine(report)
    return report


@blaming
def reprice(
    report: Report | Json | str,
    table: str | Mapping[str, Any],
    *,
    report_name: str = "<report>",
    name: str = "<prices>",
) -> Report:
    """Evaluate the run of a report with other currents and voltages: `[energy]` tables, laid over its own.

    `report` is a `Report`, or the content or the text of a report.json. `table` is a dictionary, as
    `{"energy.nand.program_ma": 20}`, or the text of TOML. The names are those of the two in messages.

    Energies, means and efficiency equal those of a run with that table. Figures that depend on overlapping operations
    (peaks, windows, the series) are None, and `repriced` gives the reason. Raises `FlashwattError` for a report or a
    table that cannot be used.
    """
    if isinstance(report, str) and not report.lstrip("\ufeff \t\r\n").startswith("{"):
        found = f"found {shown(report)}; expected a Report, or the text of a report.json"
        raise _core.FlashwattError(f"report: {found} (flashwatt.Report.read(path) reads one from a file)")
    if isinstance(table, Mapping):
        table = "\n".join(assignments(flattened(table)))
    if not isinstance(table, str):
        raise _core.FlashwattError(f"table: found {shown(table)}; expected a dictionary, or the text of TOML")
    text = report.json if isinstance(report, Report) else report if isinstance(report, str) else json.dumps(report)
    if '"earlier"' in text:
        no_prices_of(parse_json(text.removeprefix("\ufeff"), report_name), report_name)
    return Report.parse(_core.reprice(text.removeprefix("\ufeff"), report_name, table, name), report_name)


@blaming
def resolve(config: Source, **overrides: Any) -> dict[str, Any]:
    """Check a configuration and give every value that a run would use; the arguments are those of `run`."""
    return Config.of(config).override(**overrides).resolve()


@blaming
def names(kind: str) -> dict[str, str]:
    """Give the registered names of a kind ("ftls", "gc", "presets" and others), each with one line about it.

    Raises `FlashwattError` for an unknown kind.
    """
    known("names", [f"{kind}"], _core.kinds())
    return dict(_core.list_names(kind) or [])
