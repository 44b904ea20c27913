"""The commands for many runs: `flashwatt sweep` makes them, `flashwatt compare` lays some side by side."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashwatt.base import marks
from flashwatt.base.outputs import check, clear
from flashwatt.cli.room import FRAMES_BYTES, left_over
from flashwatt.cli.terminal import (
    DIRECTORY,
    FAILED,
    FILE,
    INTERRUPTED,
    OUTPUT_FILE,
    as_json,
    fail,
    force,
    note,
    printed,
)

if TYPE_CHECKING:
    from flashwatt import _core
    from flashwatt.report.report import Report
    from flashwatt.sweeps.results import Results


_MANY = 2000  # from here on, checking takes long enough to be wondered at


@click.command()
@click.argument("study", type=FILE, metavar="STUDY.toml")
@click.option(
    "--out",
    type=DIRECTORY,
    metavar="DIR",
    required=True,
    help="Keep the results there; continue from those already there.",
)
@click.option(
    "--workers", type=click.IntRange(min=1), metavar="N", help="Run N at a time; one per processor unless given."
)
@as_json
@force
def sweep(study: Path, out: Path, workers: int | None, as_json: bool, force: bool) -> None:
    """Run every combination of the grid in STUDY.toml, with every seed.

    STUDY.toml holds `base` (a configuration beside it, or a table), `[grid]` with a list of values for each key,
    `seeds` and `workers`. DIR/results.jsonl gets a line for each finished run. After Ctrl-C, or any other end, the same
    command continues.
    """
    if not left_over(FRAMES_BYTES):
        fail(f"a sweep needs {FRAMES_BYTES // 10**6} MB of address space; found less (`ulimit -v`)")
    from flashwatt.base.progress import runs_bar
    from flashwatt.sweeps.study import Study
    from flashwatt.sweeps.sweep import SweepInterruptedError, SweepNotSavedError
    from flashwatt.sweeps.sweep import sweep as run

    for name, kind in (("results.parquet", marks.TABLE), ("tradeoff.html", marks.PAGE)):
        check(out / name, kind, inputs=[study], force=force)
    whole = Study.read(study)
    if whole.size >= _MANY:
        note(f"checking {whole.size:,} runs before the first one starts ...")
    fault: _core.FlashwattError | None = None
    try:
        with runs_bar("Sweeping", counted=True) as progress:
            results = run(whole, workers=workers, out=out, progress=progress, force=force)
    except SweepInterruptedError as interrupted:
        fail(str(interrupted), INTERRUPTED)
    except SweepNotSavedError as error:
        results, fault = error.results, error
    with printed() as faults:
        _show(results, as_json)
    if fault:
        raise fault
    written = [out / "results.jsonl", out / "results.parquet", *_drawn(results, out, force)]
    note(f"wrote {', '.join(map(str, written))}")
    if faults:
        raise faults[0]
    _complain(results)


def _show(results: Results, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"runs": len(results), "points": results.summary().to_dicts()}, indent=2))
    else:
        from flashwatt.sweeps.summary import show_summary

        show_summary(results)


def _drawn(results: Results, out: Path, force: bool) -> list[Path]:
    from flashwatt import plot
    from flashwatt.cli.delivery import save_drawn

    picture = out / "tradeoff.html"
    if results.keys:
        return [picture] if save_drawn(plot.tradeoff(results), picture, force=force) else []
    clear([(picture, marks.PAGE)])  # of an earlier study
    return []


def _complain(results: Results) -> None:
    bad = [one for one in results if one.report.status != "complete"]
    for one in bad[:10]:
        note(f"{one.point}, seed {one.seed}: {one.report.status}")
    if bad:
        note(f"{len(bad)} of {len(results)} runs are not complete, and not in the means")
        sys.exit(FAILED)


@click.command()
@click.argument("reports", type=click.Path(exists=True, path_type=Path), nargs=-1, required=True, metavar="REPORT…")
@click.option(
    "--only",
    multiple=True,
    metavar="KEY",
    help="Only these figures or settings, by dotted keys or tables: energy_j, latency_ns.read.p99_9.",
)
@click.option("--html", type=OUTPUT_FILE, metavar="FILE", help="Draw the comparison in a page, too.")
@as_json
@force
def compare(reports: tuple[Path, ...], only: tuple[str, ...], html: Path | None, as_json: bool, force: bool) -> None:
    """Lay reports side by side: their figures, and the differences of their configurations.

    REPORT is a report.json, or a directory with one. The best value of each figure is green; the others say how far
    they are from the first report's. Settings are in the words and units of a configuration file.
    """
    from flashwatt.report.compare import compared, labels, show
    from flashwatt.report.report import Report

    if len(reports) == 1:
        raise click.UsageError("one report alone has nothing to be compared with; name two or more")
    files = [path / "report.json" if path.is_dir() else path for path in reports]
    if html:
        check(html, marks.PAGE, inputs=files, force=force)
    loaded = {label: Report.read(path) for label, path in zip(labels(files), files, strict=True)}
    keys = [key.strip() for one in only for key in one.split(",")]
    with printed() as faults:
        if as_json:
            click.echo(json.dumps(compared(loaded, keys), indent=2))
        else:
            show(loaded, only=keys)
    if html:
        _draw(loaded, html, force)
    if faults:
        raise faults[0]


def _draw(reports: dict[str, Report], path: Path, force: bool) -> None:
    from flashwatt import plot
    from flashwatt.report.report import content_of

    charts = [plot.energy(reports)]
    without = [label for label, report in reports.items() if not content_of(report).get("latency_histogram")]
    if without:
        note(f"no latencies drawn: {', '.join(without)} came without their histogram (`run --out` keeps it)")
    else:
        charts.append(plot.latency(reports))
    plot.write_page(path, f"{' / '.join(reports)}", charts, force=force)
    note(f"wrote {path}")
