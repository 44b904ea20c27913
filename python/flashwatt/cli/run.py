"""`flashwatt run` and `flashwatt price`: a report from a configuration, or from another report."""

from __future__ import annotations

import json
import re
import signal
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from flashwatt import _core
from flashwatt.base.files import parse_json
from flashwatt.cli import completion
from flashwatt.cli.delivery import EDGES, OF_A_RUN, SERIES, deliver, finish, folder
from flashwatt.cli.options import Quantity, blamed, interval, numbers, overriding, preset_option, reads_units, window
from flashwatt.cli.sources import FIO_JOB, SOURCE, opened, split
from flashwatt.cli.terminal import (
    DIRECTORY,
    FILE,
    OUTPUT_FILE,
    REPORT,
    TRACE,
    check_stdout,
    ending_signals,
    force,
    note,
    quiet,
    quiet_is_on,
)
from flashwatt.cli.terminal import as_json as _json
from flashwatt.config.reference import DEFAULT_PRESET
from flashwatt.oplog import finish_all, logged

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path
    from types import FrameType

    from flashwatt.cli.delivery import Folder
    from flashwatt.config.config import Config
    from flashwatt.oplog import Kind, Log
    from flashwatt.report.report import Report

_OPTION_KEYS = {
    "preset": "device.preset",
    "fio": "workload.fio.path",
    "trace": "workload.trace.path",
    "trace_format": "workload.trace.format",
    "time_unit": "workload.trace.time_unit",
    "offset_unit": "workload.trace.offset_unit",
    "size_unit": "workload.trace.size_unit",
    "sort": "workload.trace.sort",
    "devices": "workload.trace.devices",
    "fold": "workload.trace.fold",
    "clip": "workload.trace.clip",
    "skip_bad": "workload.trace.skip_bad",
    "align_starts": "workload.trace.align_starts",
    "share_devices": "workload.trace.share_devices",
    "requests": "run.measure.requests",
}
"""The options of `run` that are short for a `--set`, and its key."""

_LOGS: tuple[Kind, ...] = ("op_log", "request_log")
"""The options that name the file of a log."""

_format = click.option(
    "--format",
    "--trace-format",
    "trace_format",
    metavar="FORMAT",
    shell_complete=completion.formats,
    help="The trace's format; recognised unless given.",
)
_skip_bad = click.option("--skip-bad", is_flag=True, help="Leave out trace records that cannot be read.")


@click.command()
@click.argument("files", type=SOURCE, nargs=-1, metavar="[CONFIG.toml] [TRACE]...")
@preset_option
@click.option(
    "--trace",
    type=TRACE,
    multiple=True,
    metavar="FILE",
    help="Replay this trace (gzip and zstd are unpacked on the way); given several times, merge them by time.",
)
@_format
@reads_units
@click.option("--devices", metavar="N,N,…", callback=numbers, help="Keep only the trace's requests to these devices.")
@click.option("--fold", is_flag=True, help="Take addresses beyond the drive modulo its size.")
@click.option("--clip", is_flag=True, help="Cut requests at the drive's end; leave out those beyond it.")
@_skip_bad
@click.option("--align-starts", is_flag=True, help="Of several traces: let each begin at time 0.")
@click.option("--share-devices", is_flag=True, help="Of several traces: equal device numbers are one device.")
@click.option("--fio", type=FIO_JOB, metavar="JOB.fio", help="Run the jobs of this fio job file, in simulated time.")
@click.option(
    "--requests", type=Quantity("run.measure.requests", 1), metavar="N", help="Measure N requests, then stop."
)
@overriding("Override any key: device.channels=4.")
@click.option("--out", type=DIRECTORY, metavar="DIR", help="Write report.json (and the plots) there.")
@_json
@click.option("--series", is_flag=True, help="Record power over time (plotted with --out).")
@click.option(
    "--series-ms",
    type=Quantity("series_ms"),
    callback=interval,
    metavar="MS",
    help="Record power over time in bins of this length.",
)
@click.option(
    "--edges-ms",
    type=(Quantity("edges_ms"), Quantity("edges_ms")),
    callback=window,
    metavar="FROM UNTIL",
    help="Record every change of the current in this window of simulated time (plotted with --out).",
)
@click.option(
    "--op-log",
    type=OUTPUT_FILE,
    metavar="FILE",
    help="Write one line per flash operation (CSV, or Parquet by its suffix).",
)
@click.option(
    "--request-log",
    type=OUTPUT_FILE,
    metavar="FILE",
    help="Write one line per request of the host: arrival, start, end, place, sender (CSV or Parquet likewise).",
)
@click.option(
    "--check", is_flag=True, help="Keep a second account of every page's content; stop at the first difference (slow)."
)
@force
@quiet
def run(
    files: tuple[Path, ...], sets: tuple[str, ...], out: Path | None, as_json: bool, force: bool, **options: Any
) -> None:
    """Simulate a drive under a workload, and report the figures.

    A file that ends in .toml is the configuration, any other a trace; `-` is a trace on standard input. Without a
    configuration the drive is that of --preset (x25m unless given), and without a workload 100,000 random writes.

    Ctrl-C ends a run early and keeps the figures until then; the exit status is 0 for complete runs only. A file in the
    way that flashwatt did not write is replaced with --force only, one that the run reads never.
    """
    config, traces = split(files)
    options["trace"] = (*options["trace"], *traces)
    _check_sources(config, options)
    _check_preset(options, sets)
    _check_log_names(options)
    if quiet_is_on() and out is None and not as_json and not any(options[kind] for kind in _LOGS):
        raise click.UsageError("--quiet without --out, --json or a log: nothing would be left of the run")
    if options["op_log"] and options["op_log"] == options["request_log"]:
        raise click.UsageError(f"--op-log and --request-log are both {options['op_log']}; each needs a file of its own")
    with opened(options["trace"]) as names:
        report = _run(config, sets, out, as_json, {**options, "trace": names, "force": force})
    finish(report, out)


def _check_sources(config: Path | None, options: dict[str, Any]) -> None:
    """Refuse a run of nothing and one of two workloads; say which drive runs if none was named."""
    if options["fio"] and options["trace"]:
        raise click.UsageError("--fio and --trace are two workloads; a run has one")
    if config or options["preset"]:
        return
    if not options["fio"] and not options["trace"]:
        raise click.UsageError(
            "nothing to run; expected a configuration (CONFIG.toml), a trace, --preset NAME or --fio JOB.fio; "
            "`flashwatt try` runs an example"
        )
    options["preset"] = DEFAULT_PRESET
    note(f"the drive is the default preset, {DEFAULT_PRESET}; --preset NAME chooses another (flashwatt list presets)")


_OF_TRACES = ("trace_format", "time_unit", "offset_unit", "size_unit", "sort", "devices", "fold", "clip", "skip_bad")


def _check_trace_options(config: str, sets: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuse an option of traces for a run without one; the configuration's text or `--set` may name it."""
    given = next((one for one in _OF_TRACES if options[one]), None)
    if given is None or options["trace"] or any("trace" in text for text in (config, *sets)):
        return
    name = {"trace_format": "--format"}.get(given, f"--{given.replace('_', '-')}")
    found = "found --fio" if options["fio"] else "found no trace"
    raise click.UsageError(f"{name}: an option for traces; {found}; expected --trace FILE")


def _check_preset(options: dict[str, Any], sets: tuple[str, ...]) -> None:
    """Refuse two presets on one command line."""
    given = [value.strip().strip("\"'") for key, _, value in (one.partition("=") for one in sets) if _is_preset(key)]
    if options["preset"] and given and given[-1] != options["preset"]:
        found = f"found {options['preset']} (--preset), {given[-1]} (--set)"
        raise click.UsageError(f"--set device.preset: the preset is given twice; {found}; expected one of them")


def _is_preset(key: str) -> bool:
    return key.strip() == "device.preset"


def _check_log_names(options: dict[str, Any]) -> None:
    """Refuse a log whose name has the ending of another format: CSV would be written under it."""
    for kind in _LOGS:
        path = options[kind]
        if path and path.suffix.lower() in _OTHER_FORMATS and path.name not in OF_A_RUN:
            found = f"{path}: no format of a log; found {path.suffix}; expected .csv or .parquet"
            raise click.UsageError(f"--{kind.replace('_', '-')}: {found}")


_OTHER_FORMATS = {".xlsx", ".xls", ".json", ".jsonl", ".html", ".svg", ".png", ".pdf", ".feather", ".arrow"}


def _run(
    config: Path | None, sets: tuple[str, ...], out: Path | None, as_json: bool, options: dict[str, Any]
) -> Report:
    from flashwatt.config.config import Config

    base = Config.of(config) if config else Config()
    if config and re.search(r"^[ \t]*(\[grid[\].]|grid[ \t.=])", base.text, re.MULTILINE):
        found = f"{base.name}: a study, not the configuration of one run; found grid"
        raise click.UsageError(f"{found}; `flashwatt sweep {base.name} --out DIR` runs it")
    _check_trace_options(base.text, sets, options)
    whole = Config(base.text, base.name, (*_sets(options), *sets))
    if out is None:
        check_stdout()
    with ExitStack() as stack:
        with blamed(_given(options), sets):
            inputs = [*([config] if config else []), *whole.inputs()]
            kept = stack.enter_context(_folder(out, options, inputs, whole)) if out else None
            logs = [
                stack.enter_context(logged(kind, options[kind], inputs=inputs, force=options["force"]))
                for kind in _LOGS
            ]
            report = _simulate(whole, logs, {**options, "keep": bool(out)})
        deliver(report, kept, as_json, lambda: finish_all(logs))
    return report


def _folder(out: Path, options: dict[str, Any], inputs: list[Path], config: Config) -> AbstractContextManager[Folder]:
    for kind in _LOGS:
        log = options[kind]
        if log and log.name in OF_A_RUN and log.parent.resolve() == out.resolve():
            found = f"--{kind.replace('_', '-')} {log}: that is where --out {out} keeps its {log.name}"
            raise click.UsageError(f"{found}; expected another name")
    series, edges = options["series"] or options["series_ms"], options["edges_ms"]
    names = ["report.json", "config.toml", *(SERIES if series else ()), *(EDGES if edges else ())]
    return folder(out, names, inputs=inputs, force=options["force"], config=config.merged(out))


@click.command()
@click.argument("report", type=REPORT, metavar="REPORT")
@click.option(
    "--table",
    type=FILE,
    required=True,
    metavar="TABLE.toml",
    help="A file whose [energy] keys replace those of the run.",
)
@click.option("--out", type=DIRECTORY, metavar="DIR", help="Write the new report.json there.")
@_json
@force
def price(report: Path, table: Path, out: Path | None, as_json: bool, force: bool) -> None:
    """Compute the energy of a report's run with other currents and voltages, without simulating it again.

    REPORT is a report.json, or a directory with one. TABLE.toml holds [energy] tables as a configuration does; keys
    that it leaves out keep the run's values. Energies, means and efficiency equal those of a run with that table. Peaks
    and power over time depend on operations that overlap, and need a run.
    """
    from flashwatt.base.files import printable, read_report, read_text, report_file
    from flashwatt.runs import reprice

    report = report_file(report)
    if out and (out / "report.json").resolve() == report.resolve():
        raise click.UsageError(f"--out {out} would overwrite {report}, whose peaks and series would be lost")
    text, report_name = read_report(report)
    prices = read_text(table)
    _check_report(text, report_name, prices)
    with _said_once():
        repriced = reprice(text, prices, report_name=report_name, name=printable(table))
    kept = folder(out, ["report.json"], inputs=[report, table], force=force) if out else nullcontext()
    with kept as opened:
        deliver(repriced, opened, as_json)


def _check_report(text: str, name: str, prices: str) -> None:
    """Refuse a file of another kind before it is parsed as a report."""
    if text.lstrip()[:1] == "{":
        return
    if prices.lstrip()[:1] == "{":
        raise click.UsageError(f"{name}: not a report; REPORT and --table are swapped")
    parse_json(text, name)


@contextmanager
def _said_once() -> Iterator[None]:
    """Within the block, faults of several keys that have one reason say it once, behind the first."""
    try:
        yield
    except _core.FlashwattError as error:
        said: set[str] = set()
        lines = []
        for line in str(error).split("\n"):
            fault, _, reason = line.partition("; ")
            lines.append(fault if reason in said else line)
            said.add(reason)
        raise type(error)("\n".join(lines)) from None


def _sets(options: dict[str, Any]) -> list[str]:
    """Give the overrides that the options stand for."""
    values = {
        "preset": options["preset"] and _quoted(options["preset"]),
        "fio": options["fio"] and _quoted(_path(options["fio"])),
        "trace": options["trace"] and _paths(options["trace"]),
        "trace_format": options["trace_format"] and _quoted(options["trace_format"]),
        **{unit: options[unit] and _quoted(options[unit]) for unit in ("time_unit", "offset_unit", "size_unit")},
        "devices": options["devices"] and f"[{options['devices']}]",
        "requests": options["requests"],
    }
    return [f"{key}={values.get(option, 'true')}" for option, key in _OPTION_KEYS.items() if options[option]]


def _given(options: dict[str, Any]) -> dict[str, str]:
    """Give the options that the user gave, by the keys under which messages name them."""
    keys = {**_OPTION_KEYS, "series_ms": "series", "edges_ms": "edges"}
    names = {"trace_format": "--format"}
    return {key: names.get(option, f"--{option.replace('_', '-')}") for option, key in keys.items() if options[option]}


def _paths(paths: tuple[Path, ...]) -> str:
    """As a TOML value: one path, or a list of several."""
    quoted = [_quoted(_path(path)) for path in paths]
    return quoted[0] if len(quoted) == 1 else f"[{', '.join(quoted)}]"


def _path(path: Path) -> str:
    """As text: a configuration is UTF-8, and so is every path in it."""
    try:
        return str(path).encode().decode()
    except UnicodeEncodeError:
        from flashwatt.base.files import printable

        raise click.UsageError(f"{printable(path)}: the name is not UTF-8; rename or link the file") from None


def _quoted(text: str) -> str:
    """Write any text as a TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _simulate(config: Config, logs: list[Log], options: dict[str, Any]) -> Report:
    from flashwatt.base.progress import bar
    from flashwatt.report.report import Report
    from flashwatt.runs import simulate

    with interruptible() as interrupted, bar(hidden=quiet_is_on()) as show:

        def progress(done: int, total: int | None, now_ns: int, preparing: str | None) -> bool:
            show(done, total, now_ns, preparing)
            return not interrupted

        content = simulate(
            config,
            **{log.kind: log.engine_path for log in logs},
            force=options["force"],
            series_interval_ns=options["series_ms"] or (0 if options["series"] else None),
            edges_ns=options["edges_ms"],
            latency_histogram=options["keep"],
            progress=progress,
            check=options["check"],
        )
    for log in logs:
        content = log.named(content)
    return Report(content)


@contextmanager
def interruptible() -> Iterator[list[int]]:
    """Within the block, the first signal to end is put on the list for the run to see; the second ends the process."""
    signals: list[int] = []

    def remember(number: int, _frame: FrameType | None) -> None:
        signals.append(number)
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, remember) for number in ending_signals()}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
