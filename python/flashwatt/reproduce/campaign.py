"""Run the tasks of experiments, then judge the results."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.outputs import check, locked, save
from flashwatt.base.outputs import directory as made
from flashwatt.base.progress import silent
from flashwatt.base.reads import reading, reads
from flashwatt.reproduce.evidence import Runs
from flashwatt.reproduce.grid import Grid, grid_path
from flashwatt.reproduce.page import page_path, texts, write_pages
from flashwatt.reproduce.plan import plan
from flashwatt.reproduce.runner import run_missing
from flashwatt.reproduce.show import origin
from flashwatt.reproduce.verdict import Finding, judge, tally
from flashwatt.sweeps.journal import Journal
from flashwatt.sweeps.workers import processors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from pathlib import Path

    from flashwatt.reproduce.catalogue import Experiment
    from flashwatt.reproduce.plan import Plan, Terms
    from flashwatt.reproduce.runner import Progress
    from flashwatt.reproduce.verdict import Row
    from flashwatt.sweeps.executor import Executor


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The result: verdicts, files, faults."""

    rows: list[Row]
    fault: str
    """Faults of runs and of the writing of files; empty if there were none."""
    files: list[Path]
    origin: str
    """The workloads that are real traces, and those that are models, in words."""
    texts: dict[str, list[str]]
    """By the experiments' ids: the texts in Markdown that stand among the charts of a page."""


@reading()
def reproduce(
    experiments: Sequence[Experiment],
    out: str | PathLike[str],
    *,
    terms: Terms | None = None,
    workers: int | None = None,
    executor: Executor | str | None = None,
    progress: Progress | None = None,
    force: bool = False,
) -> Reproduction:
    """Run experiments, judge them, and write `verdicts.json` and a page for each paper into the directory `out`.

    Each run is kept in `out/results.jsonl` as it ends, and one that is there is not made again. A run that fails
    leaves the criteria that need it without evidence, and the others as they are. `executor` says where the runs are
    made, as for `sweep`. Files of those names that no
    reproduction wrote are replaced with `force` only, a results.jsonl never.

    Raises `FlashwattError` before the first run for a fault of an experiment, or a file that must not be replaced.
    """
    work = plan(experiments, terms)
    reads(*work.terms.traces.values())
    for trace in work.terms.traces.values():
        # To its end, so that a fault is reported before the first run.
        _core.trace_info(trace, skip_bad=work.terms.skip_bad)
    directory = made(out)
    for path, kind in _files(experiments, directory):
        check(path, kind, force=force)
    with locked(directory), closing(Journal(directory / "results.jsonl")) as journal:
        faults = [run_missing(work, journal, progress or silent, executor, workers or processors())]
        findings = [_finding(one, work, journal) for one in experiments]
        rows = [row for finding in findings for row in finding.rows]
        files: list[Path] = []
        said: dict[str, list[str]] = {}
        try:
            journal.finish(work.ids())
            files.append(_write_verdicts(rows, work, directory, force=force))
            files += write_pages(findings, work.terms, directory, force=force)
            said = {one.experiment.id: texts(one) for one in findings}
        except _core.FlashwattError as error:
            faults.append(str(error))
    workloads = [name for one in experiments for name in one.workloads]
    fault = "\n".join(filter(None, faults))
    return Reproduction(rows, fault, files, origin(workloads, work.terms.traces), said)


def _files(experiments: Sequence[Experiment], directory: Path) -> list[tuple[Path, marks.Kind]]:
    """Name the files that are written at the end."""
    pages = dict.fromkeys(page_path(one, directory) for one in experiments)
    return [(directory / "verdicts.json", marks.VERDICTS), *((page, marks.PAGE) for page in pages)]


def _finding(experiment: Experiment, work: Plan, journal: Journal) -> Finding:
    evidence: list[dict[str, Runs]] = [{} for _ in range(work.terms.replicates)]
    for runs in experiment.sets:
        tasks = work.of(experiment, runs)
        file = grid_path(experiment, experiment.directory)
        grid = Grid(experiment, runs, tasks, journal, file) if runs.grid else None
        for seed, found in enumerate(evidence):
            found[runs.name] = grid or Runs(runs, tasks, journal, seed)
    return Finding(
        experiment, evidence, judge(experiment, evidence, short=experiment.id in work.short, traces=work.terms.traces)
    )


def _write_verdicts(rows: list[Row], work: Plan, directory: Path, *, force: bool) -> Path:
    path = directory / "verdicts.json"
    content = {
        "version": _core.__version__,
        "real_traces": sorted(work.terms.traces),
        "changed": work.terms.changed(),
        "seeds": work.terms.replicates,
        "tally": tally(rows),
        "rows": [row.to_dict() for row in rows],
    }
    text = json.dumps(content, indent=2, ensure_ascii=False)
    save(path, f"{text}\n".encode(), marks.VERDICTS, force=force)
    return path
