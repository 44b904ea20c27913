"""Run the tasks of a plan that have no result yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.reproduce.plan import weight
from flashwatt.sweeps.workers import run_tasks

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from flashwatt.reproduce.plan import Plan
    from flashwatt.sweeps.journal import Journal
    from flashwatt.sweeps.task import Task

    Progress: TypeAlias = Callable[[int, int], object]
    """Called at the start and after every run: requests done, roughly, and requests in all."""


def run_missing(work: Plan, journal: Journal, workers: int, progress: Progress) -> str:
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

    try:
        run_tasks(missing, journal, workers, ended)
    except _core.FlashwattError as error:
        return str(error)
    return ""
