"""The commands for many runs: `flashwatt sweep` makes them, `flashwatt compare` lays some side by side."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from flashwatt._core import FlashwattError
from flashwatt.base import marks
from flashwatt.base.files import report_file
from flashwatt.base.outputs import check, clear, save
from flashwatt.cli import completion
from flashwatt.cli.beside import compare_results
from flashwatt.cli.executing import Where, executor_of, executor_options
from flashwatt.cli.formats import formatted, label_option, names
from flashwatt.cli.options import Finite, blamed, start_states_option, workers_option
from flashwatt.cli.room import FRAMES_BYTES, left_over
from flashwatt.cli.terminal import (
    DIRECTORY,
    FAILED,
    FILE,
    INTERRUPTED,
    OUTPUT_FILE,
    REPORT,
    fail,
    force,
    note,
    printed,
)
from flashwatt.config.reference import DEFAULT_PRESET

if TYPE_CHECKING:
    from pathlib import Path

    from flashwatt import _core
    from flashwatt.base.labels import Labels
    from flashwatt.base.progress import Runs
    from flashwatt.report.comparison import Comparison
    from flashwatt.report.report import Report
    from flashwatt.sweeps.results import Results
    from flashwatt.sweeps.shards import Shard
    from flashwatt.sweeps.study import Study


def shard_of(_context: click.Context, _parameter: click.Parameter, text: str | None) -> Shard | None:
    """Give the shard of an option's text."""
    from flashwatt.sweeps.shards import Shard

    try:
        return None if text is None else Shard.of_text(text)
    except FlashwattError as error:
        raise click.BadParameter(str(error)) from None


_MANY = 2000  # from here on, checking takes long enough to be wondered at


@click.command()
@click.argument("study", type=FILE, metavar="STUDY.toml", required=False)
@click.option(
    "--out",
    type=DIRECTORY,
    metavar="DIR",
    help="Keep the results there; continue from those already there.",
)
@workers_option
@executor_options
@click.option(
    "--metrics",
    multiple=True,
    callback=names,
    shell_complete=completion.figures,
    metavar="KEY,…",
    help="Print these figures of the report, by dotted keys: latency_ns.read.p99_9,flash.erases.total.",
)
@click.option(
    "--baseline",
    multiple=True,
    metavar="KEY=VALUE",
    help="Print how the other points differ from those with this value of a key of the grid, paired by seed.",
)
@click.option("--per-run", is_flag=True, help="Print a row for each run instead of means over the seeds.")
@formatted
@label_option
@click.option(
    "--x",
    shell_complete=completion.figures,
    metavar="KEY",
    help="Figure on the horizontal axis of tradeoff.html; one that varies unless given.",
)
@click.option("--y", shell_complete=completion.figures, metavar="KEY", help="Figure on its vertical axis.")
@click.option("--color", metavar="KEY", help="Key of the grid that its colours tell apart.")
@click.option("--shape", metavar="KEY", help="Key of the grid that its shapes tell apart.")
@click.option(
    "--shard",
    callback=shard_of,
    metavar="I/N",
    help="Run the I-th of N parts of the study, I from 0 to N - 1, and keep its results in DIR: for arrays of jobs.",
)
@click.option("--merge", is_flag=True, help="Run nothing: take the results of the shards in DIR together.")
@start_states_option
@click.option("--missing", is_flag=True, help="Run nothing: print the runs without a result, their ids first.")
@click.option(
    "--follow", type=DIRECTORY, metavar="DIR", help="Run nothing: show the progress of the sweep that writes into DIR."
)
@force
def sweep(study: Path | None, out: Path | None, workers: int | None, format_: str, force: bool, **options: Any) -> None:
    """Run every combination of the grid in STUDY.toml, with every seed.

    STUDY.toml holds `base` (a configuration beside it, or a table), `[grid]` with a list of values for each key,
    `seeds` and `workers`. DIR/results.jsonl gets a line for each finished run. After Ctrl-C, or any other end, the same
    command continues. When all runs are there, it prints them in another way: nothing is run again.

    Several machines that see DIR run a part of the study each, with --shard, and --merge makes of them what one machine
    would have written.
    """
    if directory := options.pop("follow"):
        _follow(directory)
        return
    where = Where(workers, executor_of(options, workers))
    if study is None or out is None:
        context = click.get_current_context()
        missing = "study" if study is None else "out"
        raise click.MissingParameter(ctx=context, param=next(p for p in context.command.params if p.name == missing))
    if not left_over(FRAMES_BYTES):
        fail(f"a sweep needs {FRAMES_BYTES // 10**6} MB of address space; found less (`ulimit -v`)")
    from flashwatt.sweeps.study import Study

    if _is_about_a_part({**options, "format": format_ != "table"}, where):
        of_part = {name: options[name] for name in ("shard", "start_states")}
        _of_a_part(Study.read(study), out, where, only_missing=options["missing"], **of_part)
    else:
        _of_the_whole(Study.read(study), out, where, {**options, "format": format_}, force=force)


def _follow(directory: Path) -> None:
    """Show the progress of a sweep that runs elsewhere, until it ends."""
    context = click.get_current_context()
    sources = {name: context.get_parameter_source(name) for name in context.params}
    if [name for name, source in sources.items() if source == ParameterSource.COMMANDLINE] != ["follow"]:
        raise click.UsageError("--follow: runs nothing, and shows the sweep that runs; expected no other option")
    from functools import partial

    from flashwatt.base.progress import runs_bar
    from flashwatt.sweeps.follow import follow
    from flashwatt.sweeps.shards import finished

    lost: list[str] = []
    try:
        with runs_bar("Sweeping", counted=True, at_once=True) as show:
            for seen in follow(directory, lost.append):
                show.workers(partial(tuple, seen.workers))
                show(seen.done, seen.total)
    except KeyboardInterrupt:
        fail("no longer followed; the sweep goes on", INTERRUPTED)
    if lost:
        fail("\n".join(lost), FAILED)
    note(f"the sweep has ended; {directory} has {len(finished(directory)):,} results")


def _of_the_whole(whole: Study, out: Path, where: Where, options: dict[str, Any], *, force: bool) -> None:
    """Run a study, print its results, and draw them."""
    format_ = options["format"]
    for name, kind in (("results.parquet", marks.TABLE), ("tradeoff.html", marks.PAGE)):
        check(out / name, kind, force=force)
    _check_names(whole, options)
    labels = _labels(whole, options["labels"])
    if not whole.has_base:
        note(f"the study has no base: the drive is the default preset, {DEFAULT_PRESET}")
    baseline = _baseline(whole, options)
    for text in whole.suspicions():
        note(f"warning: {text}")
    of_runs = {name: options[name] for name in ("merge", "start_states")}
    results, fault = swept(whole, out, where, force, **of_runs)
    kept = [out / "results.jsonl", out / "results.parquet"]
    try:
        with printed() as faults, blamed({"metrics": "--metrics"}):
            if baseline:
                _show_differences(results, format_, options["metrics"], baseline, labels)
            else:
                _show(results, format_, options["metrics"], per_run=options["per_run"], labels=labels)
        if fault:
            raise fault
        written = [*kept, *_drawn(results, out, {**options, "labels": labels}, force)]
    except KeyboardInterrupt:
        fail(f"interrupted after the last run; all results are kept: {', '.join(map(str, kept))}", INTERRUPTED)
    note(f"wrote {', '.join(map(str, written))}")
    if faults:
        raise faults[0]
    _complain(results)


_OF_A_PART = ("shard", "merge", "missing")
_OF_ALL_RUNS = ("metrics", "baseline", "per_run", "labels", "x", "y", "color", "shape", "format")
"""Options that print or draw a whole study."""


def _is_about_a_part(options: dict[str, Any], where: Where) -> bool:
    """Whether the options ask for a part of the study. Refuses those that do not go together."""
    given = [f"--{name}" for name in _OF_A_PART if options[name]]
    if options["merge"] and len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)}: --merge takes all that is there; expected one of them")
    if any(where) and (options["merge"] or options["missing"]):
        option = "--workers" if where.workers else "--executor"
        raise click.UsageError(f"{option}: {given[-1]} runs nothing; expected no such option")
    whole = next((name for name in _OF_ALL_RUNS if options[name]), None)
    if whole and (options["shard"] or options["missing"]):
        named = "label" if whole == "labels" else whole.replace("_", "-")
        both = f"--{named} is about all runs of the study, {given[0]} about some"
        raise click.UsageError(f"{both}; expected it without {given[0]}, when all runs are there")
    return bool(options["shard"] or options["missing"])


def _of_a_part(
    study: Study, out: Path, where: Where, *, shard: Shard | None, only_missing: bool, start_states: int
) -> None:
    """Print what is missing, or run a shard and say where its results are."""
    if only_missing or shard is None:
        _print_missing(study, out, shard)
        return
    results, fault = swept(study, out, where, force=False, shard=shard, start_states=start_states)
    if fault:
        raise fault
    runs = len(results) or len(shard.part(study.tasks()))
    if not runs:
        kept = f"it has no runs: the study has {study.size}"
    elif len(results):
        kept = f"{len(results)} runs are kept in {out / shard.file}; --merge takes all shards together"
    else:
        kept = f"{out} has the results of its {runs} runs; --merge takes all shards together"
    note(f"shard {shard}: {kept}")
    _complain(results)


def _print_missing(study: Study, out: Path, shard: Shard | None) -> None:
    """Print the runs without a result, and end with an exit status of 1 if there are any."""
    from flashwatt.sweeps.shards import finished

    tasks = {task.id: task for task in study.tasks()}
    there = finished(out) if out.is_dir() else set()
    wanted = shard.part(list(tasks.values())) if shard else list(tasks.values())
    missing = [task for task in wanted if task.id not in there]
    with printed() as faults:
        for task in missing:
            values = " ".join(f"{key}={json.dumps(value)}" for key, value in {**task.point, "seed": task.seed}.items())
            click.echo(f"{task.id} {values}")
    if faults:
        raise faults[0]
    note(f"{len(missing)} of {len(wanted)} runs have no result")
    if missing:
        sys.exit(FAILED)


def _check_names(study: Study, options: dict[str, Any]) -> None:
    """Refuse a figure that no report has, or a key that the grid has not, before the first run."""
    from flashwatt.base.misspelt import known
    from flashwatt.report.keys import figures, is_figure, listed_figures, meanings

    every = (*figures(), *listed_figures())
    for name, value in (*(("metrics", one) for one in options["metrics"]), *((one, options[one]) for one in "xy")):
        if value in study.grid:
            expected = "every row has it" if name == "metrics" else "--color and --shape take it"
            raise click.UsageError(f"--{name}: {value} is a key of the grid; {expected}; expected a figure of a report")
    for name, asked in {"metrics": options["metrics"], "x": [options["x"]], "y": [options["y"]]}.items():
        known(f"--{name}", [one for one in asked if one and not is_figure(one)], every, meanings=meanings())
    for name in ("color", "shape"):
        known(f"--{name}", filter(None, [options[name]]), list(study.grid))


def _baseline(study: Study, options: dict[str, Any]) -> dict[str, Any]:
    """Find the values of the grid that `--baseline` names, text as it is, others as in JSON."""
    from flashwatt.base.literals import label
    from flashwatt.base.misspelt import known

    if options["baseline"] and options["per_run"]:
        raise click.UsageError("--per-run prints runs, --baseline differences of their means; expected one of them")
    found = {}
    for one in options["baseline"]:
        key, equals, text = one.partition("=")
        if not equals:
            raise click.UsageError(f"--baseline: no value; found {one}; expected KEY=VALUE, as device.channels=4")
        known("--baseline", [key.strip()], study.grid)
        values = {label(one): one for one in study.grid[key.strip()]}
        in_json = {json.dumps(one): name for name, one in values.items()}
        written = in_json.get(text.strip(), text.strip().strip('"'))
        known(f"--baseline {key.strip()}", [written], values)
        found[key.strip()] = values[written]
        if len(study.grid[key.strip()]) == 1:
            raise click.UsageError(f"--baseline {one}: the grid has no other value of it; expected one with several")
    return found


def _labels(study: Study, given: dict[str, str]) -> Labels:
    """The labels of the study, with those of `--label` laid over them."""
    from flashwatt.base.labels import Labels

    if not given:
        return study.labels
    of_options = Labels(given, "--label")
    study.check_labels(of_options)
    return study.labels.over(of_options)


class _Noted:
    """Progress that first says how many runs were there already."""

    def __init__(self, show: Runs, place: Path | None) -> None:
        self.workers = show.workers
        self._show, self._place = show, place

    def __call__(self, done: int, total: int) -> None:
        if self._place and done:
            note(f"{done} of {total} runs found in {self._place}")
        self._place = None
        self._show(done, total)


def swept(
    study: Study,
    out: Path | None,
    where: Where,
    force: bool,
    doing: str = "Sweeping",
    *,
    shard: Shard | None = None,
    merge: bool = False,
    **bounds: Any,
) -> tuple[Results, _core.FlashwattError | None]:
    """Run what is missing; the results, and the fault if they cannot be written. `bounds` are those of `sweep`."""
    from flashwatt.base.progress import runs_bar
    from flashwatt.sweeps.shards import doubts
    from flashwatt.sweeps.sweep import SweepInterruptedError, SweepNotSavedError
    from flashwatt.sweeps.sweep import sweep as run

    if study.size >= _MANY:
        note(f"checking {study.size:,} runs before the first one starts ...")
    try:
        with runs_bar(doing, counted=True) as show:
            place = out if out is None or shard else out / "results.jsonl"
            options = {**where._asdict(), "force": force, "shard": shard, "merge": merge, **bounds}
            results = run(study, out=out, progress=_Noted(show, place), **options)
        for text in doubts(out) if out and not shard else ():
            note(f"warning: {text}")
    except SweepInterruptedError as interrupted:
        fail(str(interrupted), INTERRUPTED)
    except SweepNotSavedError as error:
        return error.results, error
    return results, None


def _show(results: Results, format_: str, metrics: list[str], *, per_run: bool, labels: Labels | None = None) -> None:
    """Print the results on standard output."""
    from flashwatt.sweeps.summary import show_summary

    if format_ == "table":
        show_summary(results, metrics=metrics, per_run=per_run, labels=labels)
        return
    chosen = metrics or list(results.headlines)
    if format_ == "latex":
        click.echo(results.to_latex(chosen, per_run=per_run, labels=labels), nl=False)
        return
    frame = results.runs(chosen) if per_run else results.summary(chosen)
    if format_ == "csv":
        click.echo(frame.write_csv(), nl=False)
    else:
        click.echo(json.dumps({"runs": len(results), "points": frame.to_dicts()}, indent=2))


def _show_differences(
    results: Results, format_: str, metrics: list[str], baseline: dict[str, Any], labels: Labels
) -> None:
    """Print the differences from a baseline on standard output."""
    from flashwatt.sweeps.changes import show_differences

    chosen = metrics or list(results.headlines)
    if format_ == "table":
        show_differences(results, baseline, metrics, labels=labels)
    elif format_ == "latex":
        click.echo(results.differences_to_latex(baseline, chosen, labels=labels), nl=False)
    elif format_ == "csv":
        click.echo(results.differences(baseline, chosen).write_csv(), nl=False)
    else:
        click.echo(
            json.dumps({"runs": len(results), "points": results.differences(baseline, chosen).to_dicts()}, indent=2)
        )


def _drawn(results: Results, out: Path, options: dict[str, Any], force: bool) -> list[Path]:
    from flashwatt import plot
    from flashwatt.cli.delivery import save_drawn
    from flashwatt.sweeps.choice import axes

    picture = out / "tradeoff.html"
    if not results.keys:
        clear([(picture, marks.PAGE)])  # of an earlier study
        return []
    x, y = axes(results, options["x"], options["y"])
    means = results.summary([x, y])
    if missing := [name for name in (x, y) if not means[f"{name}.mean"].count()]:
        note(f"{picture} is not drawn: no run has {' or '.join(missing)}")
        return []
    varied = [key for key in results.keys if key not in (options["color"], options["shape"]) and results.varies(key)]
    color = options["color"] or next(iter(varied), None)
    shape = options["shape"] or next((key for key in varied if key != color), None)
    chart = plot.tradeoff(results, x, y, color=color, shape=shape, labels=options.get("labels"))
    return [picture] if save_drawn(chart, picture, force=force) else []


def _complain(results: Results) -> None:
    bad = [one for one in results if one.report.status != "complete"]
    for one in bad[:10]:
        note(f"{one.point}, seed {one.seed}: {one.report.status}")
    if bad:
        note(f"{len(bad)} of {len(results)} runs are not complete, and not in the means")
        sys.exit(FAILED)


@click.command()
@click.argument("reports", type=REPORT, nargs=-1, required=True, metavar="REPORT…")
@click.option(
    "--only",
    multiple=True,
    callback=names,
    metavar="KEY",
    help="Only these figures or settings, by dotted keys or tables: energy_j, latency_ns.read.p99_9.",
)
@click.option("--html", type=OUTPUT_FILE, metavar="FILE", help="Draw the comparison in a page, too.")
@click.option(
    "--battery",
    type=Finite(),
    metavar="WH",
    help="Print instead how many gigabytes a battery of WH watt-hours moves: Wh × 3600 J over J/MB.",
)
@formatted
@force
def compare(
    reports: tuple[Path, ...], only: list[str], html: Path | None, format_: str, *, force: bool, battery: float | None
) -> None:
    """Lay reports side by side: their figures, and the differences of their configurations.

    REPORT is a report.json, or a directory with one. The best value of each figure is green; the others say how far
    they are from the first report's. Settings are in the words and units of a configuration file. CSV has a row for
    each report with all of its figures; a single report is enough for it, and for LaTeX.

    Results of `flashwatt dio` are compared by pattern and size. Their figures for --only are mb_s, iops, mean, p50,
    p99, max, w, j_per_mb, mb_per_j and iops_per_w; there is no LaTeX of them.
    """
    if battery is not None:
        if only or html or format_ == "latex":
            raise click.UsageError("--battery prints a table of its own, as table, json or csv; expected it alone")
        from flashwatt.cli.battery import show_battery

        show_battery(reports, battery, format_, option="--battery")
        return
    from flashwatt.dio.result import is_result
    from flashwatt.report.comparison import Comparison, labels
    from flashwatt.report.report import Report

    if any(is_result(path) for path in reports):
        compare_results(reports, only, html, format_, force=force)
        return
    if len(reports) == 1 and format_ not in ("csv", "latex"):
        raise click.UsageError("one report alone has nothing to be compared with; name two or more")
    files = [report_file(path) for path in reports]
    if html:
        check(html, marks.PAGE, force=force)
    if html and html.suffix.lower() not in (".html", ".htm"):
        raise click.UsageError(
            f"--html: {html}: no format of a page; found {html.suffix or 'no ending'}; expected .html"
        )
    if len({path.resolve() for path in files}) == 1 < len(files):
        note(f"all reports are the same file, {files[0]}")
    loaded = {label: Report.read(path) for label, path in zip(labels(files), files, strict=True)}
    with blamed({"only": "--only"}):
        comparison = Comparison(loaded, only)
    with printed() as faults:
        _print(comparison, format_)
    if html:
        _draw(loaded, html, force)
    if faults:
        raise faults[0]


def _print(comparison: Comparison, format_: str) -> None:
    """Print a comparison on standard output."""
    from flashwatt.report.compare import show

    if format_ == "json":
        click.echo(json.dumps(comparison.to_dict(), indent=2))
    elif format_ == "csv":
        click.echo(comparison.frame().write_csv(), nl=False)
    elif format_ == "latex":
        click.echo(comparison.to_latex(), nl=False)
    else:
        show(comparison)


def _draw(reports: dict[str, Report], path: Path, force: bool) -> None:
    from flashwatt import plot
    from flashwatt.plot.chart import page
    from flashwatt.report.report import content_of

    charts = [plot.energy(reports)]
    without = [label for label, report in reports.items() if not content_of(report).get("latency_histogram")]
    if without:
        note(f"no latencies drawn: {', '.join(without)} came without their histogram (`run --out` keeps it)")
    else:
        charts.append(plot.latency(reports))
    if all(content_of(report).get("files") for report in reports.values()):
        charts.insert(0, plot.operations(reports))
    save(path, page(f"{' / '.join(reports)}", charts), marks.PAGE, force=force)
    note(f"wrote {path}")
