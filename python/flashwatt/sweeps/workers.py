"""Tasks on several processors of this machine at once, each result kept as soon as it is there."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from flashwatt import _core
from flashwatt.sweeps.estimate import machine_bytes, memory_bytes
from flashwatt.sweeps.work import Timer, answer, request
from flashwatt.sweeps.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashwatt.sweeps.task import Task
    from flashwatt.sweeps.work import Work

_LOOKED_AT = 64
"""Tasks among which one is sought that has room beside those that run."""


class Local:
    """Runs tasks in processes of this machine: as many at a time as there are workers, and as its memory holds."""

    def __init__(self, workers: int | None = None, memory_limit_bytes: int | None = None) -> None:
        """Take a number of processes, one for each processor unless given, and a limit: the machine's memory."""
        self.workers = processors() if workers is None else workers
        self.memory_limit_bytes = machine_bytes() if memory_limit_bytes is None else memory_limit_bytes

    def run(self, work: Work) -> None:
        """Run all tasks. A process that ends before its time costs its task."""
        ready = _Ready(work.tasks, self.memory_limit_bytes)
        ends: SimpleQueue[_End | BaseException] = SimpleQueue()
        size = min(self.workers, len(work.tasks))
        lines = [_Line(f"process {number}", ready, ends) for number in range(1, size + 1)]
        try:
            for line in lines:
                work.at(line.worker)
                line.start()
            for _ in work.tasks:
                end = ends.get()
                if isinstance(end, BaseException):
                    raise end
                if isinstance(end.found, bytes):
                    work.keep(end.task, end.found, end.worker, end.seconds)
                else:
                    work.fail(end.task, str(end.found))
        finally:
            ready.close()
            for line in lines:
                line.stop()

    def close(self) -> None:
        """Do nothing: the processes end with each run."""


class Threads:
    """Runs tasks in threads of this process: the engine runs without Python's lock, and no process has to start.

    For many calls with few short runs each. A run that ends the process ends everything.
    """

    def __init__(self, workers: int) -> None:
        """Take the number of threads."""
        self.workers = workers

    def run(self, work: Work) -> None:
        """Run all tasks."""
        stop = threading.Event()
        pool = ThreadPoolExecutor(self.workers, "flashwatt-run")

        def line(task: Task) -> bytes:
            return answer(request(task), lambda *_how_far: not stop.is_set())

        try:
            futures = {pool.submit(line, task): task for task in work.tasks}
            for future in as_completed(futures):
                work.keep(futures[future], future.result())
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def close(self) -> None:
        """Do nothing: the threads end with each run."""


class _End(NamedTuple):
    """What a task came to."""

    task: Task
    worker: str
    found: bytes | _core.FlashwattError
    """Its answer, or how its process ended."""
    seconds: float


class _Line(threading.Thread):
    """A thread with a process: it takes one task after the other."""

    def __init__(self, name: str, ready: _Ready, ends: SimpleQueue[_End | BaseException]) -> None:
        super().__init__(name=f"flashwatt {name}", daemon=True)
        self.worker = name
        self._ready, self._ends = ready, ends
        self._process: Worker | None = None

    def run(self) -> None:
        try:
            while task := self._ready.take():
                timer = Timer()
                found = self._answer(task)
                self._ready.give_back(task)
                self._ends.put(_End(task, self.worker, found, timer.seconds))
        except BaseException as error:  # the thread that waits raises it
            self._ends.put(error)

    def _answer(self, task: Task) -> bytes | _core.FlashwattError:
        self._process = self._process or Worker()
        try:
            return self._process.run(task)
        except _core.FlashwattError as error:
            self._process.stop()  # it has ended; the next task has a new one
            self._process = None
            return error

    def stop(self) -> None:
        """End the process, also in the middle of a run, and wait for the thread."""
        for _ in range(2):  # the thread may begin a process while the first one ends
            if self._process:
                self._process.stop()
            if self.ident is not None:
                self.join()


class _Ready:
    """Tasks that have not begun, in their order. One is held back until there is memory for it."""

    def __init__(self, tasks: Iterable[Task], limit_bytes: int) -> None:
        self._tasks = list(tasks)
        self._free_bytes = limit_bytes
        self._running = 0
        self._changed = threading.Condition()

    def take(self) -> Task | None:
        """Wait for the first task that has room, and give it; None if there are no more.

        One that is too large for the machine runs alone: the engine says what it needs, and what there is.
        """
        with self._changed:
            while self._tasks:
                for place, task in enumerate(self._tasks[:_LOOKED_AT]):
                    if not self._running or memory_bytes(task) <= self._free_bytes:
                        self._free_bytes -= memory_bytes(task)
                        self._running += 1
                        return self._tasks.pop(place)
                self._changed.wait()
            return None

    def give_back(self, task: Task) -> None:
        """Take note that a task has ended."""
        with self._changed:
            self._free_bytes += memory_bytes(task)
            self._running -= 1
            self._changed.notify_all()

    def close(self) -> None:
        """Let no further task begin."""
        with self._changed:
            self._tasks.clear()
            self._changed.notify_all()


def processors() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
