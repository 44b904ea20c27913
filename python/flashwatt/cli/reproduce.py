"""`flashwatt reproduce`: published studies rerun, every figure beside the published one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flashwatt.cli import completion
from flashwatt.cli.executing import Where, executor_of, executor_options
from flashwatt.cli.options import Quantity, overriding, workers_option
from flashwatt.cli.terminal import DIRECTORY, FAILED, INTERRUPTED, as_json, fail, force, note, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashwatt.reproduce.catalogue import Experiment

_LONG_S = 20
"""Shorter experiments need no word about their time."""


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]…", shell_complete=completion.experiments)
@click.option("--paper", metavar="NAME", shell_complete=completion.papers, help="All experiments of one paper.")
@click.option("--all", "everything", is_flag=True, help="All experiments of all papers.")
@click.option("--full", is_flag=True, help="Run every workload to its end, not only a part of it.")
@click.option(
    "--requests",
    type=Quantity("run.measure.requests", 1),
    metavar="N",
    help="Run at most N requests of each workload: a first look.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run with N seeds what they can change; 3 unless given, 1 with --requests.",
)
@click.option("--sensitivity", is_flag=True, help="Run the grids over what the papers do not state, and nothing else.")
@overriding("Override a key in every run.")
@click.option(
    "--trace", "traces", multiple=True, metavar="NAME=FILE", help="Replay a real trace in place of a workload's model."
)
@click.option("--skip-bad", is_flag=True, help="Leave out records of these traces that cannot be read.")
@click.option("--experiments", type=DIRECTORY, metavar="DIR", help="Experiments of your own, laid out like ours.")
@click.option("--out", type=DIRECTORY, default="reproduction", show_default=True, help="Keep runs and pages there.")
@workers_option
@executor_options
@as_json
@force
def reproduce(
    ids: tuple[str, ...],
    *,
    paper: str | None,
    everything: bool,
    full: bool,
    requests: int | None,
    seeds: int | None,
    sensitivity: bool,
    sets: tuple[str, ...],
    traces: tuple[str, ...],
    skip_bad: bool,
    experiments: Path | None,
    out: Path,
    workers: int | None,
    as_json: bool,
    force: bool,
    **options: Any,
) -> None:
    """Rerun published experiments, and lay the published figures beside the simulated ones.

    ID is one of `flashwatt list experiments`. Each run is kept as soon as it ends. After Ctrl-C, or any other end, the
    same command continues. DIR gets a page for each paper and verdicts.json.
    """
    from flashwatt.base.progress import runs_bar
    from flashwatt.base.units import about
    from flashwatt.reproduce.campaign import reproduce as rerun
    from flashwatt.reproduce.catalogue import EXPERIMENTS, choose
    from flashwatt.reproduce.plan import SEEDS, Terms
    from flashwatt.reproduce.show import show_verdicts

    where = Where(workers, executor_of(options, workers))
    if [bool(ids), paper is not None, everything].count(True) != 1:
        raise click.UsageError("name experiments, or a --paper, or --all; `flashwatt list experiments` names them")
    if full and requests:
        raise click.UsageError("--full and --requests contradict each other")
    chosen = choose(ids, paper, experiments or EXPERIMENTS)
    if sensitivity:
        if any((full, requests, seeds, sets, traces, skip_bad, as_json)):
            raise click.UsageError(
                "--sensitivity takes no --full, --requests, --seeds, --set, --trace, --skip-bad and --json"
            )
        _run_grids(chosen, out, where, force=force)
        return
    terms = Terms(_named(traces, skip_bad=skip_bad), skip_bad, full, requests, sets, seeds=seeds)
    seconds = sum(one.cpu_s or 0 for one in chosen) * terms.replicates / SEEDS
    if not full and not requests and seconds >= _LONG_S:
        note(f"the runs take {about(seconds)} of processor time, less if {out} has some of them already")
    try:
        with runs_bar("Reproducing", counted=False) as progress:
            found = rerun(chosen, out, terms=terms, **where._asdict(), progress=progress, force=force)
    except KeyboardInterrupt:
        fail(f"interrupted: the finished runs are kept in {out}; the same command continues from there", INTERRUPTED)
    if as_json:
        click.echo(json.dumps([row.to_dict() for row in found.rows], indent=2))
    else:
        show_verdicts(found.rows)
        if found.origin:
            say(found.origin)
    if terms.changed():
        note(f"not as published: {terms.changed()}")
    _end(found.files, found.fault)


def _end(files: list[Path], fault: str) -> None:
    if files:
        note(f"wrote {', '.join(map(str, files))}")
    if fault:
        note(f"not all could be done:\n{fault}")
        sys.exit(FAILED)


def _run_grids(chosen: Sequence[Experiment], out: Path, where: Where, *, force: bool) -> None:
    from flashwatt.base.progress import runs_bar
    from flashwatt.reproduce.grid import run_grids

    try:
        with runs_bar("Grids", counted=False) as progress:
            files, fault = run_grids(chosen, out, **where._asdict(), progress=progress, force=force)
    except KeyboardInterrupt:
        fail(f"interrupted: the finished runs are kept in {out}; the same command continues from there", INTERRUPTED)
    _end(files, fault)


def _named(traces: tuple[str, ...], *, skip_bad: bool) -> dict[str, Path]:
    if skip_bad and not traces:
        raise click.UsageError("--skip-bad is about the records of a --trace")
    named = {}
    for one in traces:
        name, equals, path = one.partition("=")
        if not (name and equals and path):
            raise click.UsageError(f"--trace {one}: expected NAME=FILE, as in financial1=Financial1.spc.gz")
        if not Path(path).is_file():
            raise click.UsageError(f"--trace {one}: there is no file {path}")
        named[name] = Path(path)
    return named
