"""The command line. It imports little: what draws tables and plots is loaded by the commands that need it."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flashwatt import _core
from flashwatt.explain_cli import explain, init, schema
from flashwatt.options import blamed, interval, numbers, window
from flashwatt.sweep_cli import compare, sweep
from flashwatt.terminal import DIRECTORY, FAILED, FILE, INTERRUPTED, fail, note
from flashwatt.terminal import as_json as _json
from flashwatt.trace_cli import trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from flashwatt.config import Config
    from flashwatt.report import Report

KINDS = ("ftls", "gc", "wear", "dispatch", "schedulers", "presets", "workloads", "standins", "formats", "experiments")

_format = click.option(
    "--format", "--trace-format", "trace_format", metavar="FORMAT", help="The trace's format; recognised unless given."
)
_skip_bad = click.option("--skip-bad", is_flag=True, help="Leave out trace records that cannot be read.")
_out = click.option("--out", type=DIRECTORY, metavar="DIR", help="Write report.json (and the plots) there.")


_OPTION_KEYS = {
    "fio": "workload.fio.path",
    "trace": "workload.trace.path",
    "trace_format": "workload.trace.format",
    "devices": "workload.trace.devices",
    "fold": "workload.trace.fold",
    "clip": "workload.trace.clip",
    "skip_bad": "workload.trace.skip_bad",
    "align_starts": "workload.trace.align_starts",
    "share_devices": "workload.trace.share_devices",
    "requests": "run.measure.requests",
    "series_ms": "series",
    "edges_ms": "edges",
}
"""What the options of `run` stand for."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; whatever the user did wrong ends in a message, not in a traceback.

    Returns after a success and exits with a status otherwise.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without "×" gets "?"
    try:
        cli(arguments, standalone_mode=False)
    except click.exceptions.Exit as stop:
        if stop.exit_code:
            sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        fail("interrupted; nothing was kept", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has gone (`| head`). Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)
    except _core.RunInterruptedError as error:
        fail(str(error), INTERRUPTED)
    except _core.FlashwattError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(_core.__version__, message="flashwatt %(version)s")
def cli() -> None:
    """Simulate a flash SSD under a workload: how fast, how worn, and where every joule went."""


cli.add_command(explain)
cli.add_command(init)
cli.add_command(schema)
cli.add_command(sweep)
cli.add_command(compare)


@cli.command()
@click.argument("config", type=FILE, metavar="CONFIG.toml")
@click.option(
    "--trace",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="Replay this trace (gzip and zstd are unpacked on the way); given several times, merge them by time.",
)
@_format
@click.option("--devices", metavar="N,N,…", callback=numbers, help="Keep only the trace's requests to these devices.")
@click.option("--fold", is_flag=True, help="Take addresses beyond the drive modulo its size.")
@click.option("--clip", is_flag=True, help="Cut requests at the drive's end; leave out those beyond it.")
@_skip_bad
@click.option("--align-starts", is_flag=True, help="Of several traces: let each begin at time 0.")
@click.option("--share-devices", is_flag=True, help="Of several traces: equal device numbers are one device.")
@click.option("--fio", type=FILE, metavar="JOB.fio", help="Run the jobs of this fio job file, in simulated time.")
@click.option("--requests", type=click.IntRange(min=1), metavar="N", help="Measure so many requests, then stop.")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Override any key: device.channels=4.")
@_out
@_json
@click.option("--series", is_flag=True, help="Record power over time (plotted with --out).")
@click.option("--series-ms", type=float, callback=interval, metavar="MS", help="The same, in bins of this length.")
@click.option(
    "--edges-ms",
    type=(float, float),
    callback=window,
    metavar="FROM UNTIL",
    help="Record every change of the current in this window of simulated time (plotted with --out).",
)
@click.option(
    "--op-log",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write one line per flash operation (CSV, or Parquet by its suffix).",
)
@click.option("--check", is_flag=True, help="Follow what every page holds; stop at the first difference (slow).")
def run(config: Path, sets: tuple[str, ...], out: Path | None, as_json: bool, **options: Any) -> None:
    """Simulate what CONFIG.toml describes and report it.

    Ctrl-C ends a run early and keeps what it has; the exit status is 0 for complete runs only.
    """
    if out:
        out.mkdir(parents=True, exist_ok=True)
    from flashwatt.config import Config

    if options["fio"] and options["trace"]:
        raise click.UsageError("--fio and --trace are two workloads; a run has one")
    base, own = Config.of(config), sets
    sets = (*_workload_sets(options), *own)
    whole = Config(base.text, base.name, sets)
    with blamed(_given(options), own):
        report = _simulate(whole, {**options, "keep": bool(out)})
    _deliver(report, out, as_json, whole)
    _finish(report, out)


@cli.command()
@click.argument("report", type=click.Path(exists=True, path_type=Path), metavar="REPORT")
@click.option(
    "--table", type=FILE, required=True, metavar="TABLE.toml", help="Its [energy] keys replace those of the run."
)
@click.option("--out", type=DIRECTORY, metavar="DIR", help="Write the new report.json there.")
@_json
def price(report: Path, table: Path, out: Path | None, as_json: bool) -> None:
    """Say what the run of a report would use with other currents and voltages, without simulating it again.

    REPORT is a report.json, or a directory with one. TABLE.toml holds [energy] tables as a configuration does; what it
    leaves out stays as it was in the run. Energies, means and efficiency come out as a run would give them; peaks and
    power over time depend on what happened at the same time, and need a run.
    """
    from flashwatt.config import printable, read_text
    from flashwatt.runs import reprice

    report = report / "report.json" if report.is_dir() else report
    if out and (out / "report.json").resolve() == report.resolve():
        raise click.UsageError(f"--out {out} would overwrite {report}, whose peaks and series would be lost")
    repriced = reprice(read_text(report), read_text(table), report_name=printable(report), name=printable(table))
    if out:
        out.mkdir(parents=True, exist_ok=True)
    _deliver(repriced, out, as_json)


@cli.command("list")
@click.argument("kind", type=click.Choice(KINDS), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object of names and descriptions.")
def list_(kind: str | None, as_json: bool) -> None:
    """Print what is registered, each with one line about it; without KIND, what kinds there are."""
    if kind is None:
        click.echo("\n".join(KINDS))
        return
    names = dict(_core.list_names(kind) or [])
    if as_json:
        click.echo(json.dumps(names, indent=2))
        return
    width = max(map(len, names), default=0)
    for name, line in names.items():
        click.echo(f"{name:<{width}}  {line}")
    if not names:
        note(f"this version has no {kind} yet")


cli.add_command(trace)


@cli.command()
def version() -> None:
    """Print the version."""
    click.echo(f"flashwatt {_core.__version__}")


_TRACE_FLAGS = ("fold", "clip", "skip_bad", "align_starts", "share_devices")


def _given(options: dict[str, Any]) -> dict[str, str]:
    """The options that were given, by the keys that they stand for."""
    names = {"trace_format": "--format"}
    return {
        key: names.get(option, f"--{option.replace('_', '-')}")
        for option, key in _OPTION_KEYS.items()
        if options[option]
    }


def _workload_sets(options: dict[str, Any]) -> list[str]:
    """The options that are short for a `--set`."""
    sets = []
    if options["fio"]:
        sets.append(f"workload.fio.path={_quoted(_path(options['fio']))}")
    if options["trace"]:
        sets.append(f"workload.trace.path={_paths(options['trace'])}")
    if options["trace_format"]:
        sets.append(f"workload.trace.format={_quoted(options['trace_format'])}")
    if options["devices"]:
        sets.append(f"workload.trace.devices=[{options['devices']}]")
    sets += [f"workload.trace.{key}=true" for key in _TRACE_FLAGS if options[key]]
    if options["requests"]:
        sets.append(f"run.measure.requests={options['requests']}")
    return sets


def _paths(paths: tuple[Path, ...]) -> str:
    """As a TOML value: one path, or a list of several."""
    quoted = [_quoted(_path(path)) for path in paths]
    return quoted[0] if len(quoted) == 1 else f"[{', '.join(quoted)}]"


def _path(path: Path) -> str:
    """As text: a configuration is UTF-8, and so is every path in it."""
    try:
        return str(path).encode().decode()
    except UnicodeEncodeError:
        from flashwatt.config import printable

        raise click.UsageError(f"{printable(path)}: the name is not UTF-8; rename or link the file") from None


def _quoted(text: str) -> str:
    """As a TOML string, whatever the text holds."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _simulate(config: Config, options: dict[str, Any]) -> Report:
    from flashwatt.oplog import written
    from flashwatt.progress import bar
    from flashwatt.report import Report
    from flashwatt.runs import simulate

    with _interruptible() as interrupted, bar() as show, written(options["op_log"]) as op_log:

        def progress(done: int, total: int | None, now_ns: int, preparing: str | None) -> bool:
            show(done, total, now_ns, preparing)
            return not interrupted

        content = simulate(
            config,
            op_log=op_log,
            series_interval_ns=options["series_ms"] or (0 if options["series"] else None),
            edges_ns=options["edges_ms"],
            latency_histogram=options["keep"],
            progress=progress,
            check=options["check"],
        )
    return Report(content)


@contextmanager
def _interruptible() -> Iterator[list[int]]:
    """Within the block, the first Ctrl-C is put on the list for the run to see; the second ends the process at once.

    So is the signal by which batch systems end what has run too long.
    """
    signals: list[int] = []

    def remember(number: int, _frame: FrameType | None) -> None:
        signals.append(number)
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, remember) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _deliver(report: Report, out: Path | None, as_json: bool, config: Config | None = None) -> None:
    """Keep the report before it is shown, and show it before anything is drawn: drawing takes seconds."""
    files = []
    if out:
        files = [out / "report.json"]
        report.write(files[0])
    if out and config:
        files.append(out / "config.toml")
        files[1].write_text(config.merged(), encoding="utf-8")
    if as_json:
        click.echo(report.json)
    else:
        from flashwatt.table import show

        show(report.to_dict())
    try:
        files += _draw(report, out) if out else []
    except KeyboardInterrupt:
        fail(f"interrupted while pictures were drawn; kept: {', '.join(map(str, files))}", INTERRUPTED)
    if files:
        note(f"wrote {', '.join(map(str, files))}")


def _draw(report: Report, out: Path) -> list[Path]:
    """What was recorded over time, as tables and as pictures."""
    recorded = report.to_dict()
    wanted = {"series": ("series", "power"), "edges": ("edges", "current")}
    return [path for key, names in wanted.items() if recorded.get(key) for path in _drawn(report, out, *names)]


def _drawn(report: Report, out: Path, frame: str, picture: str) -> Iterator[Path]:
    from flashwatt import plot

    note(f"drawing {picture} over time ...")
    table = out / f"{frame}.parquet"
    getattr(report, frame)().write_parquet(table)
    yield table
    try:
        chart = getattr(plot, picture)(report)
    except _core.FlashwattError as error:
        note(f"{picture} over time is not drawn: {error}")
        return
    yield from (chart.save(out / f"{picture}.{suffix}") for suffix in ("svg", "html"))


def _finish(report: Report, out: Path | None) -> None:
    status = report.status
    if status == "complete":
        return
    kept = f"kept in {out / 'report.json'}" if out else "printed (--out DIR also keeps it)"
    requests, warmup = report.workload.requests, report.window.warmup
    if warmup and not requests:
        note(f"{status} in the warm-up, after {warmup:,} requests: nothing was measured; the report is {kept}")
    else:
        note(f"{status} after {requests:,} requests; what was measured until then is {kept}")
    sys.exit(INTERRUPTED if status == "interrupted" else FAILED)
