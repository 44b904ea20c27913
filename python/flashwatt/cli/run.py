"""`flashwatt run` and `flashwatt price`: a report from a configuration, or from another report."""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager, nullcontext
from itertools import combinations
from typing import TYPE_CHECKING, Any

import click

from flashwatt import _core
from flashwatt.base.files import parse_json
from flashwatt.cli import completion
from flashwatt.cli.checks import LOGS, SlowStart, check, check_content
from flashwatt.cli.delivery import EDGES, KNEE, OF_A_RUN, SERIES, deliver, finish, folder
from flashwatt.cli.options import (
    Finite,
    Quantity,
    blamed,
    interval,
    numbers,
    overriding,
    preset_option,
    reads_units,
    window,
)
from flashwatt.cli.sections import Panelled
from flashwatt.cli.signals import interruptible
from flashwatt.cli.sources import FIO_JOB, PROGRAM, SOURCE, opened, split
from flashwatt.cli.terminal import (
    DIRECTORY,
    FILE,
    OUTPUT_FILE,
    REPORT,
    TRACE,
    check_stdout,
    force,
    quiet,
    quiet_is_on,
)
from flashwatt.cli.terminal import as_json as _json
from flashwatt.oplog import finish_all, logged

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from flashwatt.cli.delivery import Folder
    from flashwatt.config.config import Config
    from flashwatt.oplog import Log
    from flashwatt.report.report import Report

_OPTION_KEYS = {
    "preset": "device.preset",
    "scheduler": "host.scheduler",
    "fs": "workload.files.system",
    "personality": "workload.files.personality",
    "program": "workload.files.path",
    "fio": "workload.fio.path",
    "trace": "workload.trace.path",
    "trace_format": "workload.trace.format",
    "time_unit": "workload.trace.time_unit",
    "offset_unit": "workload.trace.offset_unit",
    "size_unit": "workload.trace.size_unit",
    "sort": "workload.trace.sort",
    "max_gap": "workload.trace.max_gap_s",
    "devices": "workload.trace.devices",
    "fold": "workload.trace.fold",
    "clip": "workload.trace.clip",
    "skip_bad": "workload.trace.skip_bad",
    "align_starts": "workload.trace.align_starts",
    "share_devices": "workload.trace.share_devices",
    "requests": "run.measure.requests",
}
"""The options of `run` that are short for a `--set`, and its key."""

_format = click.option(
    "--format",
    "--trace-format",
    "trace_format",
    metavar="FORMAT",
    shell_complete=completion.formats,
    help="The trace's format; recognised unless given.",
)
_skip_bad = click.option("--skip-bad", is_flag=True, help="Leave out trace records that cannot be read.")


@click.command(cls=Panelled)
@click.argument("files", type=SOURCE, nargs=-1, metavar="[CONFIG.toml] [TRACE]...")
@preset_option
@click.option(
    "--scheduler",
    metavar="NAME",
    shell_complete=completion.schedulers,
    help="The scheduler of the host's block layer (`flashwatt list schedulers`); without one there is no such layer.",
)
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
@click.option(
    "--max-gap",
    type=Quantity("max_gap_s"),
    metavar="SECONDS",
    help="Cut longer gaps of the trace, and steps back of its clock.",
)
@click.option("--fold", is_flag=True, help="Take addresses beyond the drive modulo its size.")
@click.option("--clip", is_flag=True, help="Cut requests at the drive's end; leave out those beyond it.")
@_skip_bad
@click.option("--align-starts", is_flag=True, help="Of several traces: let each begin at time 0.")
@click.option("--share-devices", is_flag=True, help="Of several traces: equal device numbers are one device.")
@click.option(
    "--fs",
    metavar="NAME",
    shell_complete=completion.filesystems,
    help="The file system that a personality or fio jobs work on (`flashwatt list filesystems`).",
)
@click.option(
    "--personality",
    metavar="NAME",
    shell_complete=completion.personalities,
    help="Threads that create, read, write and remove files (`flashwatt list personalities`).",
)
@click.option(
    "--program",
    type=PROGRAM,
    metavar="FILE.f",
    help="The same from a file in filebench's language, in place of a name.",
)
@click.option("--fio", type=FIO_JOB, metavar="JOB.fio", help="Run the jobs of this fio job file, in simulated time.")
@click.option(
    "--requests",
    type=Quantity("run.measure.requests", 1),
    metavar="N",
    help="Measure N requests, then stop; fewer if the workload ends before.",
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
    "--capture",
    type=OUTPUT_FILE,
    metavar="FILE",
    help="Write the requests as the workload sends them: as CSV a trace that --trace replays, as Parquet for analysis.",
)
@click.option(
    "--dispatch-log",
    type=OUTPUT_FILE,
    metavar="FILE",
    help="Write the requests as the block layer gives them to the drive, CSV or Parquet likewise.",
)
@click.option(
    "--ranges",
    is_flag=True,
    help="Run the ranges of the preset's parameters; print intervals, and the keys that matter most. "
    "Without a workload a 64th of the drive is filled.",
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
    check(config, options, sets)
    if options["ranges"]:
        from flashwatt.cli import ranges

        ranges.show(_configured(config, sets, options), {**options, "out": out, "json": as_json})
        return
    if quiet_is_on() and out is None and not as_json and not any(options[kind] for kind in LOGS):
        raise click.UsageError("--quiet without --out, --json or a log: nothing would be left of the run")
    for first, second in combinations(LOGS, 2):
        if options[first] and options[first] == options[second]:
            both = " and ".join(f"--{kind.replace('_', '-')}" for kind in (first, second))
            raise click.UsageError(f"{both} are both {options[first]}; each needs a file of its own")
    with opened(options["trace"]) as names:
        report = _run(config, sets, out, as_json, {**options, "trace": names, "force": force})
    finish(report, out)


def _run(
    config: Path | None, sets: tuple[str, ...], out: Path | None, as_json: bool, options: dict[str, Any]
) -> Report:
    whole = _configured(config, sets, options)
    if out is None:
        check_stdout()
    with ExitStack() as stack:
        with blamed(_given(options), sets):
            whole.inputs()
            kept = stack.enter_context(_folder(out, options, whole)) if out else None
            logs = [stack.enter_context(logged(kind, options[kind], force=options["force"])) for kind in LOGS]
            report = _simulate(whole, logs, {**options, "keep": bool(out)})
        deliver(report, kept, as_json, lambda: finish_all(logs))
    return report


def _configured(config: Path | None, sets: tuple[str, ...], options: dict[str, Any]) -> Config:
    """The configuration with all that the options lay over it."""
    from flashwatt.config.config import Config

    base = Config.of(config) if config else Config()
    check_content(base, options, sets, is_file=config is not None)
    return Config(base.text, base.name, (*_sets(options), *sets))


def _folder(out: Path, options: dict[str, Any], config: Config) -> AbstractContextManager[Folder]:
    for kind in LOGS:
        log = options[kind]
        if log and log.name in OF_A_RUN and log.parent.resolve() == out.resolve():
            found = f"--{kind.replace('_', '-')} {log}: that is where --out {out} keeps its {log.name}"
            raise click.UsageError(f"{found}; expected another name")
    series, edges = options["series"] or options["series_ms"], options["edges_ms"]
    names = ["report.json", "config.toml", *((*SERIES, *KNEE) if series else ()), *(EDGES if edges else ())]
    return folder(out, names, force=options["force"], config=config.merged(out))


@click.command()
@click.argument("report", type=REPORT, metavar="REPORT")
@click.option(
    "--table",
    type=FILE,
    metavar="TABLE.toml",
    help="A file whose [energy] keys replace those of the run.",
)
@click.option(
    "--kwh-price",
    type=Finite(min=0),
    metavar="PRICE",
    help="Print what the energy costs, at this price of a kilowatt-hour, in its currency.",
)
@click.option("--out", type=DIRECTORY, metavar="DIR", help="Write the new report.json there.")
@_json
@force
def price(
    report: Path, table: Path | None, out: Path | None, as_json: bool, *, force: bool, kwh_price: float | None
) -> None:
    """Compute the energy of a report's run with other currents and voltages, without simulating it again.

    REPORT is a report.json, or a directory with one. TABLE.toml holds [energy] tables as a configuration does; keys
    that it leaves out keep the run's values. Energies, means and efficiency equal those of a run with that table. Peaks
    and power over time depend on operations that overlap, and need a run. With --kwh-price, print instead what the
    energy costs: that of the run, of a month if the run repeats without a pause, and of a terabyte written.
    """
    from flashwatt.cli.costs import show_costs

    if kwh_price is not None:
        if table or out:
            raise click.UsageError("--kwh-price prints costs of REPORT; --table and --out make another report of it")
        show_costs(report, kwh_price, as_json=as_json)
        return
    if table is None:
        raise click.UsageError("nothing to compute; expected --table TABLE.toml, or --kwh-price PRICE")
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
    kept = folder(out, ["report.json"], force=force) if out else nullcontext()
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
    """Give the overrides that the options stand for. A fio job with --fs works on files."""
    values = {
        **{name: options[name] and _quoted(options[name]) for name in ("preset", "scheduler", "fs", "personality")},
        "program": options["program"] and _quoted(_path(options["program"])),
        "fio": options["fio"] and _quoted(_path(options["fio"])),
        "trace": options["trace"] and _paths(options["trace"]),
        "trace_format": options["trace_format"] and _quoted(options["trace_format"]),
        **{unit: options[unit] and _quoted(options[unit]) for unit in ("time_unit", "offset_unit", "size_unit")},
        "devices": options["devices"] and f"[{options['devices']}]",
        "requests": options["requests"],
        "max_gap": options["max_gap"],
    }
    keys = _OPTION_KEYS | ({"fio": "workload.files.fio"} if options["fs"] else {})
    return [f"{key}={values.get(option, 'true')}" for option, key in keys.items() if options[option]]


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

    slow = SlowStart()
    paths: dict[str, Any] = {log.kind: log.engine_path for log in logs}
    with interruptible() as interrupted, bar(hidden=quiet_is_on()) as show:

        def progress(done: int, total: int | None, now_ns: int, preparing: str | None) -> bool:
            show(done, total, now_ns, preparing)
            slow.look(done, total, preparing)
            return not interrupted

        content = simulate(
            config,
            **paths,
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
