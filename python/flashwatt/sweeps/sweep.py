"""Many runs: every point of a grid with every seed, on all processors, continued where an earlier sweep ended."""

from __future__ import annotations

import os
import warnings
from contextlib import closing
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.asked import sweep_progress
from flashwatt.base.frames import write
from flashwatt.base.outputs import check, locked
from flashwatt.base.outputs import directory as made
from flashwatt.base.progress import ShowsWorkers, silent
from flashwatt.base.reads import reading
from flashwatt.base.scripts import blaming
from flashwatt.sweeps import shards
from flashwatt.sweeps.executor import opened
from flashwatt.sweeps.follow import Published
from flashwatt.sweeps.journal import Journal
from flashwatt.sweeps.results import Results
from flashwatt.sweeps.start_states import BYTES_MAX, shared
from flashwatt.sweeps.study import Study
from flashwatt.sweeps.work import Work, rows
from flashwatt.sweeps.workers import processors

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from os import PathLike
    from typing import TypeAlias

    from flashwatt.config.config import Source
    from flashwatt.sweeps.executor import Executor
    from flashwatt.sweeps.task import Task
    from flashwatt.sweeps.work import Hand

    SweepProgress: TypeAlias = Callable[[int, int], object]
    """Called at the start and after every task: tasks finished, tasks in all."""


class SweepInterruptedError(KeyboardInterrupt):
    """Ctrl-C during a sweep; `results` holds the finished runs, and so does the directory if there is one."""

    def __init__(self, message: str, results: Results) -> None:
        """Name the results that were kept."""
        super().__init__(message)
        self.results = results


class SweepNotSavedError(_core.FlashwattError):
    """The final files of a sweep could not be written; `results` holds the results."""

    def __init__(self, message: str, results: Results) -> None:
        """Name the results that cannot be written."""
        super().__init__(message)
        self.results = results


@blaming
@reading()
def sweep(
    grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | PathLike[str] | Study,
    *,
    base: Source = MappingProxyType({}),
    seeds: int | Sequence[int] = 1,
    workers: int | None = None,
    executor: Executor | str | None = None,
    out: str | PathLike[str] | None = None,
    series: bool | int = False,
    latency: bool = False,
    baseline: Mapping[str, Any] = MappingProxyType({}),
    progress: SweepProgress | bool | None = None,
    force: bool = False,
    shard: tuple[int, int] | None = None,
    merge: bool = False,
    start_states: int = BYTES_MAX,
) -> Results:
    """Run every combination of the grid's values, laid over `base`, with every seed; results come in that order.

    `grid` maps keys of the configuration to lists of values: `{"device.channels": [4, 8]}`. A list of such grids gives
    the points of each of them. It may also be a `Study`, or the path of a STUDY.toml; these bring their own base,
    seeds, series and latency. `seeds` is a number of replicates, counted from the configuration's own seed, or a list
    of seeds. `workers` is a number of processes, one for each processor unless given; the results are the same with any
    number. `executor` says where tasks run: "local", in processes of this machine, unless given; "dask"; the name of
    one that another package brings; or an object, as `flashwatt.Dask(scheduler="tcp://…")`, which the caller closes.
    `series` keeps power over time, as for `run`; `latency` keeps the histogram of latencies for `Results.quantiles`.
    With `baseline`, values of keys of the grid, each other point runs in step with the point that has these values,
    until the differences of the figures of `run.measure.precision` are known. `progress=True` shows a bar, below the
    cell of a notebook or on a terminal; a function is called with the number of runs finished and of all.

    With a directory `out` each task is kept in `out/results.jsonl` as it finishes, and a sweep that finds some of its
    tasks there does not run them again. When all are finished, that file has the order of the grid, and
    `out/results.parquet` holds the frame of the results. Ctrl-C and even a killed process lose no finished task. A
    results.parquet that no sweep wrote is replaced with `force` only, a results.jsonl never.

    `shard=(I, N)` runs a part of the study, the tasks I, I + N, I + 2 N, …, and keeps them in `out/shard-I-of-N.jsonl`.
    Several machines that see the directory run a shard each. A sweep of the whole study takes what shards there have
    finished, and runs what is missing; with `merge=True` it runs nothing, and raises if tasks are missing.

    The user's cache directory keeps at most `start_states` bytes of start states that several runs share.

    Raises `FlashwattError` before the first run for a fault anywhere in the grid or a file that must not be replaced,
    `SweepInterruptedError` after Ctrl-C, `SweepNotSavedError` if the results cannot be written at the end.
    """
    study = _study(grid, base=base, seeds=seeds, series=series, latency=latency, baseline=baseline)
    size = _processes(workers, study)
    tasks = shared(study.tasks(), 0 if merge else start_states)
    if not isinstance(grid, Study):  # the command line, which has one, says it itself
        for text in study.suspicions():
            warnings.warn(text, stacklevel=4)
    part = _part(shard, out, merge=merge)
    directory = None if out is None else made(out)
    where = _Where(executor, size, directory, str(part or ""))
    if directory is None:
        with closing(Journal()) as journal:
            return _all_run(tasks, journal, where, progress)
    if part:
        return _sweep_part(part.part(tasks), part, directory, where, progress)
    table = directory / "results.parquet"
    check(table, marks.TABLE, force=force)
    with locked(directory), closing(Journal(directory / shards.RESULTS)) as journal:
        shards.gather(directory, tasks, journal)
        if merge:
            _check_all(tasks, journal, directory)
        results = _all_run(tasks, journal, where, progress, save=lambda made: write(made.frame(), table, force=force))
        shards.remove_gathered(directory, journal)
    if not isinstance(grid, Study):
        for text in shards.doubts(directory):
            warnings.warn(text, stacklevel=4)
    return results


def _processes(workers: int | None, study: Study) -> int:
    size = next(n for n in (workers, study.workers, processors()) if n is not None)
    if size < 1:
        raise _core.FlashwattError(f"workers: found {size}; expected a whole number, ≥ 1")
    return size


class _Where(NamedTuple):
    """Where tasks run."""

    executor: Executor | str | None
    workers: int
    """The number of processes, if they are those of this machine."""
    directory: Path | None
    shard: str = ""


def _all_run(
    tasks: list[Task],
    journal: Journal,
    where: _Where,
    progress: SweepProgress | bool | None,
    *,
    elsewhere: Collection[str] = (),
    save: Callable[[Results], object] = lambda _results: None,
) -> Results:
    """Run the tasks that have a result neither in the journal nor `elsewhere`, and write the final files."""
    with sweep_progress(progress) as show, Published(where.directory, where.shard.replace("/", "-of-")) as published:
        _run_missing(tasks, journal, where, progress=show or silent, published=published, elsewhere=elsewhere)
    results = _results(tasks, journal)
    try:
        journal.finish(task.id for task in tasks)
        save(results)
    except _core.FlashwattError as error:
        raise SweepNotSavedError(str(error), results) from None
    return results


def _part(shard: tuple[int, int] | None, out: str | os.PathLike[str] | None, *, merge: bool) -> shards.Shard | None:
    if (shard or merge) and out is None:
        name = "shard" if shard else "merge"
        raise _core.FlashwattError(f"{name}: found no out; expected a directory for the results")
    if shard and merge:
        raise _core.FlashwattError("shard: one part of a study runs, and merge runs nothing; expected one of them")
    if merge and out is not None and not Path(out).is_dir():
        found = f"merge: no such directory; found {os.fspath(out)}"
        raise _core.FlashwattError(f"{found}; expected one with results of shards")
    if shard is None:
        return None
    part = shards.Shard(*shard)
    if not part.is_valid():
        raise _core.FlashwattError(f"shard: found {shard}; expected (I, N), with I from 0 to N - 1")
    return part


def _sweep_part(
    tasks: list[Task], part: shards.Shard, directory: Path, where: _Where, progress: SweepProgress | bool | None
) -> Results:
    """Run a shard; tasks that have a result elsewhere in the directory are not run again."""
    if not tasks:
        return Results([])
    elsewhere = shards.finished(directory, but=part.file)
    with part.locked(directory), closing(Journal(directory / part.file)) as journal:
        return _all_run(tasks, journal, where, progress, elsewhere=elsewhere)


def _check_all(tasks: list[Task], journal: Journal, directory: Path) -> None:
    """Raise a `FlashwattError` if tasks have no result."""
    wanted = {task.id for task in tasks}
    if missing := sum(task not in journal for task in wanted):
        kept = f"{len(wanted) - missing} of {len(wanted)} tasks are finished and kept in {directory / shards.RESULTS}"
        lines = [
            f"merge: {missing} tasks have no result; {kept} (without merge they run here)",
            *shards.doubts(directory),
        ]
        raise _core.FlashwattError("\n".join(lines))


def _study(
    grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | PathLike[str] | Study, **options: Any
) -> Study:
    if isinstance(grid, str | os.PathLike):
        grid = Study.read(grid)
    if not isinstance(grid, Study):
        return Study.of(grid, **{**options, "baseline": options["baseline"] or None})
    given = [name for name, value in options.items() if value is True or (value is not False and value not in ({}, 1))]
    if given:
        raise _core.FlashwattError(f"{grid.name}: brings its own {given[0]}; expected it in the study, not beside it")
    return grid


def _run_missing(
    tasks: list[Task],
    journal: Journal,
    where: _Where,
    *,
    progress: SweepProgress,
    published: Published,
    elsewhere: Collection[str],
) -> None:
    total = len({task.id for task in tasks})
    missing = {task.id: task for task in tasks if task.id not in journal and task.id not in elsewhere}
    ended = count(total - len(missing) + 1)

    def show(done: int) -> None:
        published.runs(done, total)
        progress(done, total)

    def show_workers(hands: Mapping[str, Hand]) -> None:
        published.workers(hands)
        if isinstance(progress, ShowsWorkers):
            progress.workers(lambda: rows(hands))

    show(total - len(missing))
    in_file = f"in {journal.path}; the same sweep continues from there"
    try:
        if missing:
            work = Work(missing.values(), journal, lambda _task: show(next(ended)), show_workers)
            with opened(where.executor, where.workers) as executor:
                executor.run(work)
            work.check()
    except KeyboardInterrupt:
        place = in_file if journal.path else "in the exception's results"
        message = f"interrupted: {next(ended) - 1} of {total} tasks are finished and kept {place}"
        raise SweepInterruptedError(message, _results(tasks, journal)) from None
    except _core.FlashwattError as error:
        finished = next(ended) - 1
        if not journal.path or not finished:
            raise
        raise _core.FlashwattError(f"{error} ({finished} of {total} tasks are finished and kept {in_file})") from None


def _results(tasks: list[Task], journal: Journal) -> Results:
    return Results((task.point, journal.line(task.id)) for task in tasks if task.id in journal)
