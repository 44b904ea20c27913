"""Run the tasks of a plan that have no result yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.base.progress import ShowsWorkers
from flashwatt.reproduce.plan import weight
from flashwatt.sweeps.executor import opened
from flashwatt.sweeps.work import Work, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from flashwatt.reproduce.plan import Plan
    from flashwatt.sweeps.executor import Executor
    from flashwatt.sweeps.journal import Journal
    from flashwatt.sweeps.task import Task
    from flashwatt.sweeps.work import Hand

    Progress: TypeAlias = Callable[[int, int], object]
    """Called at the start and after every run: requests done, roughly, and requests in all."""


def run_missing(work: Plan, journal: Journal, progress: Progress, executor: Executor | str | None, workers: int) -> str:
    """Run the tasks without a result; return the message of those that failed."""
    tasks = work.once()
    total = sum(map(weight, tasks))
    missing = [task for task in tasks if task.id not in journal]
    done = total - sum(map(weight, missing))
    progress(done, total)

    def ended(task: Task) -> None:
        nonlocal done
        done += weight(task)
        progress(done, total)

    def show_workers(hands: Mapping[str, Hand]) -> None:
        if isinstance(progress, ShowsWorkers):
            progress.workers(lambda: rows(hands))

    try:
        found = Work(missing, journal, ended, show_workers)
        with opened(executor, workers) as chosen:
            chosen.run(found)
        found.check()
    except _core.FlashwattError as error:
        return str(error)
    return ""
