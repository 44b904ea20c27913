"""Tasks on several processors at once, each result kept as soon as it is there."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.sweeps.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    from flashwatt.sweeps.journal import Journal
    from flashwatt.sweeps.task import Task


def run_tasks(tasks: Sequence[Task], journal: Journal, workers: int, ended: Callable[[Task], object]) -> None:
    """Run tasks in processes, started in this order; `ended` is called for each when it is in the journal.

    A task that fails does not stop the others; its fault is raised as `FlashwattError` when all have ended.
    """
    faults: dict[str, None] = {}
    with _pool(min(workers, len(tasks))) as start:
        for future in as_completed([start(task) for task in tasks]):
            try:
                task, line = future.result()
            except _core.FlashwattError as error:
                faults[str(error)] = None
                continue
            journal.add(task.id, line)
            ended(task)
    if faults:
        raise _core.FlashwattError("\n".join(faults))


@contextmanager
def _pool(size: int) -> Iterator[Callable[[Task], Future[tuple[Task, bytes]]]]:
    """Threads with a process each; when the block ends, however it does, so do they."""
    workers: list[Worker] = []
    mine = threading.local()

    def run(task: Task) -> tuple[Task, bytes]:
        if not getattr(mine, "worker", None):
            mine.worker = Worker()
            workers.append(mine.worker)
        try:
            return task, mine.worker.run(task)
        except _core.FlashwattError:
            mine.worker = None  # it may have ended
            raise

    pool = ThreadPoolExecutor(max(1, size), "flashwatt-task")
    try:
        yield lambda task: pool.submit(run, task)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.stop()
        pool.shutdown(wait=True)


def processors() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
