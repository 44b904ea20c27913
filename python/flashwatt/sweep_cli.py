"""The commands for many runs: `flashwatt sweep` makes them, `flashwatt compare` lays some side by side."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashwatt.terminal import DIRECTORY, FAILED, FILE, INTERRUPTED, as_json, fail, note

if TYPE_CHECKING:
    from flashwatt.report import Report
    from flashwatt.results import Results


_MANY = 2000  # from here on, checking takes long enough to be wondered at


@click.command()
@click.argument("study", type=FILE, metavar="STUDY.toml")
@click.option("--out", type=DIRECTORY, metavar="DIR", required=True, help="Keep the results there; go on from those.")
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Run so many at a time; all processors else.")
@as_json
def sweep(study: Path, out: Path, workers: int | None, as_json: bool) -> None:
    """Run every combination of STUDY.toml's grid, with every seed.

    STUDY.toml holds `base` (a configuration beside it, or a table), `[grid]` with a list of values for each key,
    `seeds` and `workers`. DIR/results.jsonl gets a line for each finished run: the same command goes on where one was
    ended, by Ctrl-C or otherwise.
    """
    from flashwatt.progress import runs_bar
    from flashwatt.study import Study
    from flashwatt.sweeps import SweepInterruptedError
    from flashwatt.sweeps import sweep as run

    whole = Study.read(study)
    if whole.size >= _MANY:
        note(f"checking {whole.size:,} runs before the first one starts ...")
    try:
        with runs_bar("Sweeping", counted=True) as progress:
            results = run(whole, workers=workers, out=out, progress=progress)
    except SweepInterruptedError as interrupted:
        fail(str(interrupted), INTERRUPTED)
    written = [out / "results.jsonl", out / "results.parquet", *_drawn(results, out)]
    if as_json:
        click.echo(json.dumps({"runs": len(results), "points": results.summary().to_dicts()}, indent=2))
    else:
        from flashwatt.summary import show_summary

        show_summary(results)
    note(f"wrote {', '.join(map(str, written))}")
    _complain(results)


def _drawn(results: Results, out: Path) -> list[Path]:
    from flashwatt import plot

    picture = out / "tradeoff.html"
    if results.keys:
        return [plot.tradeoff(results).save(picture)]
    picture.unlink(missing_ok=True)  # of an earlier study
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
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Draw them, too.")
@as_json
def compare(reports: tuple[Path, ...], only: tuple[str, ...], html: Path | None, as_json: bool) -> None:
    """Lay reports side by side: what came of each, and how their configurations differ.

    REPORT is a report.json, or a directory with one. The best value of each figure is green; the others say how far
    they are from the first report's. Settings are in the words and units of a configuration file.
    """
    from flashwatt.compare import compared, labels, show
    from flashwatt.report import Report

    if len(reports) == 1:
        raise click.UsageError("one report alone has nothing to be compared with; name two or more")
    files = [path / "report.json" if path.is_dir() else path for path in reports]
    loaded = {label: Report.read(path) for label, path in zip(labels(files), files, strict=True)}
    keys = [key.strip() for one in only for key in one.split(",")]
    if as_json:
        click.echo(json.dumps(compared(loaded, keys), indent=2))
    else:
        show(loaded, only=keys)
    if html:
        _draw(loaded, html)


def _draw(reports: dict[str, Report], path: Path) -> None:
    from flashwatt import plot
    from flashwatt.report import content_of

    charts = [plot.energy(reports)]
    without = [label for label, report in reports.items() if not content_of(report).get("latency_histogram")]
    if without:
        note(f"no latencies drawn: {', '.join(without)} came without their histogram (`run --out` keeps it)")
    else:
        charts.append(plot.latency(reports))
    plot.write_page(path, f"{' / '.join(reports)}", charts)
    note(f"wrote {path}")
