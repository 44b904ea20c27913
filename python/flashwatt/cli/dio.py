"""`flashwatt dio`: the micro-benchmark for simulated drives and real ones."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.missing import printable
from flashwatt.base.outputs import check as check_output
from flashwatt.base.outputs import directory, locked, save
from flashwatt.base.reads import renewed
from flashwatt.cli import completion
from flashwatt.cli.options import Finite, overriding
from flashwatt.cli.signals import interruptible
from flashwatt.cli.terminal import (
    DIRECTORY,
    FAILED,
    INTERRUPTED,
    as_json,
    complain,
    force,
    note,
    printed,
    quiet,
    quiet_is_on,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from click.decorators import FC

    from flashwatt.base.files import Json
    from flashwatt.dio.load import Plan
    from flashwatt.dio.measure import Bench
    from flashwatt.dio.power import Meter
    from flashwatt.dio.real import Real
    from flashwatt.dio.simulated import Simulated

_PICTURES = {"rate": "mb_s", "energy": "j_per_mb"}
_PROBED = ("power", "burst_rate", "response")
"""The pictures of probes."""
_FILES = {"dio.json": marks.DIO, "dio.html": marks.PAGE} | {f"{one}.svg": marks.SVG for one in (*_PICTURES, *_PROBED)}
_PROBES = ("idle", "sleep", "burst", "buffer_probe")
_IDLE_S, _AFTER_BURST_S = "600", "300"


def _seconds(_context: click.Context, option: click.Parameter, value: str | None) -> float | None:
    """Read a time in seconds, perhaps with a unit."""
    if value is None:
        return None
    try:
        seconds = float(_core.number("time_s", value))
    except _core.FlashwattError as error:
        raise click.BadParameter(str(error).removeprefix("time_s: ")) from None
    if not 0 < seconds < 1e9:  # noqa: PLR2004 - thirty years
        raise click.BadParameter(f"found {value}; expected seconds, > 0")
    return seconds


def _optional_seconds(name: str, default: str, text: str) -> Callable[[FC], FC]:
    return click.option(
        name,
        is_flag=False,
        flag_value=default,
        callback=_seconds,
        metavar="[SECONDS]",
        help=f"{text} {default} s unless given.",
    )


@click.command()
@click.argument("target", metavar="TARGET", shell_complete=completion.presets)
@overriding("Of a simulated drive: override any key, device.channels=4.")
@click.option("--sizes", metavar="SIZE,…", help="Sizes of the requests: 4KiB,1MiB, or 4KiB..16MiB in powers of two.")
@click.option("--patterns", metavar="NAME,…", help="Some of seqread, randread, seqwrite, randwrite.")
@click.option(
    "--bytes", "bytes_", metavar="SIZE", default="256MiB", help="End a point after this size; 256MiB unless given."
)
@click.option(
    "--seconds", metavar="SECONDS", default="30", callback=_seconds, help="Or after this time; 30 unless given."
)
@click.option(
    "--prepare",
    metavar="SIZE",
    help="Random writes before each point of random writes. 1GiB unless given for a simulated drive with log blocks, "
    "else none.",
)
@click.option("--span", metavar="SIZE", help="Use the first SIZE of the target only.")
@click.option("--align", metavar="SIZE", default="4KiB", help="Random offsets are multiples of it; 4KiB unless given.")
@click.option(
    "--queue-depth", type=click.IntRange(1, 1024), default=1, metavar="N", help="Requests at a time; 1 unless given."
)
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=1, metavar="N", help="Of the random offsets; 1 unless given."
)
@_optional_seconds("--idle", _IDLE_S, "Measure power without requests.")
@_optional_seconds(
    "--sleep", _IDLE_S, "The same after a command to sleep, of a simulated drive, and the read that wakes a disk."
)
@_optional_seconds("--burst", _AFTER_BURST_S, "Write 256 × 4 MiB at random, then watch the power.")
@click.option("--buffer-probe", is_flag=True, help="Find the write buffer by the response time of single writes.")
@click.option("--write", is_flag=True, help="Of a real target: allow writes. What they reach is lost.")
@click.option(
    "--overwrite",
    metavar="TARGET",
    help="Of a real target that is mounted or not empty: its name once more, in place of a question.",
)
@click.option("--buffered", is_flag=True, help="Of a real target: go through the page cache.")
@click.option("--threads", is_flag=True, help="Of a real target: send by threads, not by io_uring.")
@click.option(
    "--power",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Of a real target: a CSV of times and watts, or a number of hwmon or powercap in /sys.",
)
@click.option(
    "--power-offset",
    type=Finite(),
    default=0.0,
    metavar="SECONDS",
    help="Add this to the times of the CSV; 0 unless given.",
)
@click.option("--out", type=DIRECTORY, metavar="DIR", help="Keep dio.json and pictures there.")
@as_json
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, a row for each point.")
@force
@quiet
def dio(target: str, **options: Any) -> None:
    """Measure a drive by direct I/O: rate, latency, power and energy of every pattern and size.

    TARGET is a preset or a configuration, measured in simulated time, or a real file or block device. The table is of
    one form for both, and `flashwatt compare` lays results side by side. A probe (--idle, --sleep, --burst,
    --buffer-probe) takes the place of the sweep, unless --sizes or --patterns is given as well.

    A real target is only read, unless --write is given. No file changes its size. Ctrl-C ends a run early, keeps the
    points until then and says what was written. If TARGET is a dio.json or a directory with one, --power puts the power
    of a CSV into it.
    """
    from flashwatt.config.reference import presets
    from flashwatt.dio.result import is_result

    if options["as_json"] and options["as_csv"]:
        raise click.UsageError("--json and --csv are two formats; expected one of them")
    if options["power_offset"] and (options["power"] is None or _is_meter(options["power"])):
        raise click.UsageError("--power-offset: it moves the times of a CSV; found none; expected --power FILE.csv")
    if target not in presets() and is_result(Path(target)):
        _attach(Path(target), options)
        return
    plan = _plan(options)
    _check_used(options, plan)
    with ExitStack() as stack:
        opened = _opened(target, options)
        plan, span = _fitted(plan, opened, options)
        if options["out"]:
            stack.enter_context(_folder(options["out"], force=options["force"]))
        content = _run(opened, plan, span, options)
        _deliver(content, options)
    _finish(content, options["out"])


def _is_meter(path: Path) -> bool:
    from flashwatt.dio.power import is_meter

    return is_meter(path)


def _given(names: Iterable[str]) -> list[str]:
    """Give those of these parameters that stand on the command line, as options."""
    context = click.get_current_context()
    options = {one.name: one.opts[0] for one in context.command.params}
    return [options[name] for name in names if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]


_OF_POINTS = ("bytes_", "seconds", "prepare", "queue_depth")
_OF_RESULTS = {"target", "power", "power_offset", "as_json", "as_csv"}


def _check_used(options: dict[str, Any], plan: Plan) -> None:
    """Refuse options that the benchmark has no use for."""
    if not _sweeps(options) and (given := _given(_OF_POINTS)):
        found = "found only probes"
        raise click.UsageError(f"{given[0]}: an option of points; {found}; expected --sizes or --patterns as well")
    if options["prepare"] and plan.patterns and not any(one.write and one.random for one in plan.patterns):
        raise click.UsageError("--prepare: it comes before random writes; found none; expected the pattern randwrite")


def _plan(options: dict[str, Any]) -> Plan:
    """Read the options of the points. Raises `FlashwattError` for a wrong one, before anything is opened."""
    from flashwatt.dio.load import SIZES, Plan, bytes_of, patterns_of, sizes_of

    return Plan(
        sizes=sizes_of(options["sizes"]) if options["sizes"] else SIZES,
        patterns=patterns_of(options["patterns"]) if options["patterns"] else (),
        bytes=bytes_of("--bytes", options["bytes_"]),
        seconds=options["seconds"],
        prepare_bytes=bytes_of("--prepare", options["prepare"], 0) if options["prepare"] else 0,
        queue_depth=options["queue_depth"],
        seed=options["seed"],
        span_bytes=bytes_of("--span", options["span"]) if options["span"] else None,
        align_bytes=bytes_of("--align", options["align"]),
    )


def _opened(target: str, options: dict[str, Any]) -> Simulated | Real:
    """Open the target that a name stands for."""
    from flashwatt.config.config import Config
    from flashwatt.config.reference import presets
    from flashwatt.dio.simulated import Simulated

    named = target in presets()
    if named or target.endswith(".toml"):
        given = next((one for one in ("write", "overwrite", "buffered", "threads", "power") if options[one]), None)
        if given:
            found = f"--{given}: an option for real targets; found {target}, a simulated drive"
            raise click.UsageError(f"{found}; expected a file or a block device")
        config = Config(f'device.preset = "{target}"', "<preset>") if named else Config.of(target)
        whole = Config(config.text, config.name, options["sets"])
        whole.inputs()
        return Simulated(whole, target if named else Path(target).stem)
    if options["sets"]:
        raise click.UsageError(
            f"--set: an option for simulated drives; found {target}; expected a preset or a .toml file"
        )
    return _real(Path(target), target, options)


def _real(path: Path, target: str, options: dict[str, Any]) -> Real:
    from flashwatt.dio.real import Real

    if options["sleep"]:
        raise click.UsageError(f"--sleep: an option for simulated drives; found {target}; expected --idle")
    if options["power"]:
        _check_power(options["power"])
    if not options["write"]:
        _check_only_reads(target, options)
    modes = {"buffered": options["buffered"], "threads": options["threads"]}
    opened = Real(path, **modes)  # for reading: it is refused here before anything looks at its content
    if options["write"]:
        _confirm(path, target, options["overwrite"])
        opened = Real(path, write=True, **modes)
    return opened


def _check_only_reads(target: str, options: dict[str, Any]) -> None:
    """Refuse what writes, without --write."""
    from flashwatt.dio.load import patterns_of

    writes = [f"--{one.replace('_', '-')}" for one in ("burst", "buffer_probe", "prepare") if options[one]]
    if options["patterns"] and any(one.write for one in patterns_of(options["patterns"])):
        writes.insert(0, f"--patterns {options['patterns']}")
    if options["overwrite"]:
        writes.insert(0, "--overwrite")
    if writes:
        raise click.UsageError(
            f"{writes[0]}: it writes; found no --write; expected --write, which loses data of {target}"
        )


def _confirm(path: Path, target: str, overwrite: str | None) -> None:
    """Ask for the target's name once more if a write would destroy something."""
    from flashwatt.dio.guard import in_the_way

    try:
        found = in_the_way(path)
    except OSError as error:
        raise _core.FlashwattError(f"{printable(target)}: {error.strerror or error}") from None
    if overwrite is not None and overwrite != target:
        raise click.UsageError(f"--overwrite: another name than the target's; found {overwrite}; expected {target}")
    if not found or overwrite == target:
        return
    said = f"{printable(target)}: not empty; found {', '.join(found)}"
    if not sys.stdin.isatty():
        raise _core.FlashwattError(f"{said}; expected an empty target, or --overwrite {target}, which loses that")
    complain(said)
    if click.prompt("To lose that, type the target's name once more", err=True) != target:
        raise _core.FlashwattError(f"{printable(target)}: the name was not typed; nothing was written")


def _check_power(path: Path) -> None:
    """Refuse a file of power that is wrong already, before a long run; one that is not there yet may come."""
    from flashwatt.dio.power import check_header, is_meter

    if path.exists() and not is_meter(path):
        check_header(path)


def _fitted(plan: Plan, target: Simulated | Real, options: dict[str, Any]) -> tuple[Plan, int]:
    """Complete a plan for a target, and check it; also give the span."""
    from dataclasses import replace

    from flashwatt.dio.load import GIB, PATTERNS, check

    may_write = not target.is_real or options["write"]
    patterns = plan.patterns or tuple(one for one in PATTERNS.values() if may_write or not one.write)
    prepare = plan.prepare_bytes
    if options["prepare"] is None and getattr(target, "has_log_blocks", False):
        prepare = GIB
    if not _sweeps(options):
        patterns, prepare = (), 0
    plan = replace(plan, patterns=patterns, prepare_bytes=prepare)
    if not options["sizes"]:
        room = plan.span_bytes or target.size_bytes
        plan = replace(plan, sizes=[one for one in plan.sizes if one <= room and one % target.sector_bytes == 0])
        if not plan.sizes:
            found = f"{target.size_bytes} bytes"
            raise _core.FlashwattError(f"{target.name}: too small; found {found}; expected 4096 or more, or --sizes")
    return plan, check(plan, target.size_bytes, target.sector_bytes, target.name)


def _sweeps(options: dict[str, Any]) -> bool:
    """Whether the points are measured: not where probes are asked for and no points."""
    return bool(options["sizes"] or options["patterns"]) or not any(options[one] for one in _PROBES)


@contextmanager
def _folder(out: Path, *, force: bool) -> Iterator[None]:
    """Make the directory of the results, and refuse files in it that are not this command's."""
    with locked(directory(out)):
        for name, kind in _FILES.items():
            check_output(out / name, kind, force=force)
        yield


def _run(target: Simulated | Real, plan: Plan, span: int, options: dict[str, Any]) -> Json:
    """Measure; the result is kept after every point, and whatever ends the run."""
    import time

    from flashwatt.base.progress import bar
    from flashwatt.dio.measure import Bench, StoppedError
    from flashwatt.dio.power import Meter, is_meter
    from flashwatt.dio.simulated import Simulated
    from flashwatt.dio.target import SAMPLE_NS

    path = options["power"]
    meter = Meter(path) if path and is_meter(path) else None
    with interruptible() as signals, bar("Measuring", hidden=quiet_is_on()) as show:

        def go_on(done: int, total: int | None) -> bool:
            show(done, total, 0, None)
            return not signals

        bench = Bench(target, plan, span, _keeper(options), go_on)
        content = bench.content
        content["began_ns"] = time.time_ns() if target.is_real else 0
        content["warnings"] += target.warnings()
        if isinstance(target, Simulated):
            content["power"] = {"source": "simulated", "rails": target.rails, "interval_ns": SAMPLE_NS}
        try:
            _measure(bench, options)
            content["status"] = "complete"
        except StoppedError:
            content["status"] = "interrupted"
        except _core.FlashwattError as error:
            content["status"], content["reason"] = "failed", str(error)
        bench.keep()
    if path:
        _meter_in(content, path, meter, options)
        bench.keep()
    return content


def _keeper(options: dict[str, Any]) -> Callable[[Json], None]:
    """Give what keeps a result: nothing without --out."""
    from flashwatt.dio.result import FILE, encoded

    out = options["out"]
    if out is None:
        return lambda _content: None
    return lambda content: save(out / FILE, encoded(content), marks.DIO, force=options["force"])


def _measure(bench: Bench, options: dict[str, Any]) -> None:
    """Measure the points and the probes that are asked for."""
    from flashwatt.dio import probes

    if _sweeps(options):
        bench.sweep()
    for name, probe in (("idle", probes.idle), ("sleep", probes.sleep), ("burst", probes.burst)):
        if options[name] is not None:
            bench.content["probes"][name] = probe(bench, options[name])
            bench.keep()
            bench.check(stopped=not bench.go_on(0, None))
    if options["buffer_probe"]:
        bench.content["probes"]["buffer"] = probes.buffer(bench)


def _meter_in(content: Json, path: Path, meter: Meter | None, options: dict[str, Any]) -> None:
    """Put the power of a real target into its result; a fault of the meter is a warning, and the result is kept."""
    from flashwatt.dio.power import attach, read_csv

    try:
        readings = meter.stop() if meter else read_csv(path, content["began_ns"], options["power_offset"])
        windows, covered = attach(content, readings)
        _check_covered(path, content, readings.window_ns, windows, covered)
    except (_core.FlashwattError, OSError) as error:
        if options["out"] is None or content["status"] != "complete":
            content["warnings"].append(f"no power: {error}")
            return
        content["status"], content["reason"] = (
            "failed",
            f"{error}; the result without power is kept in {options['out']}",
        )


def _check_covered(path: Path, content: Json, window_ns: tuple[int, int], windows: int, covered: int) -> None:
    """Refuse readings that cover no measurement; warn of windows that they do not cover."""
    if covered == 0:
        since, until = ((one - content["began_ns"]) / 1e9 for one in window_ns)
        found = f"readings from {since:.3f} s until {until:.3f} s after the run's beginning"
        expected = "readings from before a measurement until after it (--power-offset moves them)"
        content["power"] = None
        raise _core.FlashwattError(f"{printable(path)}: no measurement is covered; found {found}; expected {expected}")
    if covered < windows:
        left = windows - covered
        content["warnings"].append(
            f"{path.name} does not cover {left} of {windows} measurements: their energy stays empty"
        )


def _attach(path: Path, options: dict[str, Any]) -> None:
    """Put the power of a CSV into a result that is there."""
    from flashwatt.dio.power import attach, is_meter, read_csv
    from flashwatt.dio.result import encoded, file_of, read

    others = [one.name for one in click.get_current_context().command.params if one.name not in _OF_RESULTS]
    if unused := _given(name for name in others if name):
        found = f"found the result {printable(path)}"
        raise click.UsageError(f"{unused[0]}: an option of a benchmark; {found}; expected --power FILE alone")
    given = options["power"]
    if given is None:
        raise click.UsageError(
            f"{printable(path)}: a result of `flashwatt dio`; expected --power FILE (`flashwatt compare` prints it)"
        )
    if is_meter(given):
        raise click.UsageError(f"--power: found {given}, a meter; expected a CSV of the time of the run")
    content = read(path)
    if content["target"]["kind"] == "simulated":
        raise click.UsageError(f"--power: an option for real targets; found the result of {content['target']['name']}")
    readings = read_csv(given, content["began_ns"], options["power_offset"])
    windows, covered = attach(content, readings)
    _check_covered(given, content, readings.window_ns, windows, covered)
    file = file_of(path)
    with renewed(file):
        save(file, encoded(content), marks.DIO)
    _print(content, options)
    drawn = _drawn(content, file.parent, force=options["force"]) if (file.parent / "dio.html").exists() else ()
    note(f"wrote {', '.join(map(str, (file, *drawn)))}")


def _print(content: Json, options: dict[str, Any]) -> None:
    if options["as_json"]:
        import json

        click.echo(json.dumps(content))
    elif options["as_csv"]:
        from flashwatt.dio.result import csv

        click.echo(csv(content), nl=False)
    elif not quiet_is_on():
        from flashwatt.dio.table import show

        show(content)


def _deliver(content: Json, options: dict[str, Any]) -> None:
    """Print the result, then draw it."""
    with printed() as faults:
        _print(content, options)
    if out := options["out"]:
        files = [out / "dio.json", *_drawn(content, out, force=options["force"])]
        note(f"wrote {', '.join(map(str, files))}")
    if faults:
        raise faults[0]


def _drawn(content: Json, out: Path, *, force: bool) -> Iterator[Path]:
    """Draw the points, rate and energy by size, and the probes; and all pictures on one page."""
    from flashwatt import plot
    from flashwatt.cli.delivery import save_drawn
    from flashwatt.plot.chart import page

    name = content["target"]["name"]
    drawn = [one for one, figure in _PICTURES.items() if any(row[figure] is not None for row in content["points"])]
    charts = {one: plot.dio({name: content}, _PICTURES[one]) for one in drawn} | plot.probes(content)
    for one, chart in charts.items():
        if save_drawn(chart, out / f"{one}.svg", force=force):
            yield out / f"{one}.svg"
    if charts:
        save(out / "dio.html", page(name, list(charts.values())), marks.PAGE, force=force)
        yield out / "dio.html"


def _finish(content: Json, out: Path | None) -> None:
    """Exit with the status of a benchmark that is not complete, and say what is kept and what was written."""
    status = content["status"]
    if status == "complete":
        return
    kept = f"kept in {out / 'dio.json'}" if out else "printed (--out DIR also keeps it)"
    cut = [one for one in content["points"] if one["interrupted"]]
    whole = len(content["points"]) - len(cut)
    part = f" and {cut[0]['requests']} requests of the next" if cut else ""
    said = f"{status} after {whole} point{'' if whole == 1 else 's'}{part}, {kept}"
    if content["target"]["kind"] != "simulated":
        from flashwatt.dio.table import written

        said += f"; {written(content)}" if content["written"]["bytes"] else "; nothing was written"
    if status == "failed":
        complain(f"error: {content['reason']}")
    complain(said)
    sys.exit(INTERRUPTED if status == "interrupted" else FAILED)
