"""What an executor is given: tasks, and a place for their results."""

from __future__ import annotations

import json
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from flashwatt import _core
from flashwatt.base.scripts import in_keys
from flashwatt.sweeps.estimate import Pace, longest_first
from flashwatt.sweeps.worker import _answer, _request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from flashwatt.runs import Progress
    from flashwatt.sweeps.journal import Journal
    from flashwatt.sweeps.task import Task


def request(task: Task) -> bytes:
    """Write a task as a line of JSON, for a process on this machine or another one."""
    return _request(task)


def answer(request: bytes, wanted: Progress = lambda *_how_far: True) -> bytes:
    """Run the task of a request, and give the answer that `Work.keep` takes: a line of results, or an error.

    `wanted` is called about ten times a second; the run stops if it returns `False`. Files that the run reads must be
    where the request says, and the package must be the same build as the one that made the request.
    """
    return _answer(json.loads(request), wanted)


class Fault(NamedTuple):
    """Why a task has no result."""

    task: str
    """Its name in messages."""
    why: str

    def __str__(self) -> str:
        """Write both."""
        return f"{self.task}: {self.why}"


class Hand:
    """One worker, as progress shows it."""

    def __init__(self) -> None:
        """Begin with a worker that has done nothing."""
        self.ended = 0
        """Tasks that it has finished."""
        self.task: str | None = None
        """The id of the task that it runs."""
        self.share: float | None = None
        """How much of that task is done, where it is known."""

    def __str__(self) -> str:
        """Write the number of its runs, and how much of the next one is done."""
        now = "" if self.share is None else f" and {self.share:.0%} of the next"
        return f"{self.ended:,} runs{now}"


_SHOWN = 8


def rows(hands: Mapping[str, Hand]) -> list[str]:
    """Write what each worker has done and does, the first ones only if there are many."""
    found = [f"{name}: {hand}" for name, hand in list(hands.items())[:_SHOWN]]
    more = len(hands) - _SHOWN
    return [*found, f"{more} more workers"] if more > 0 else found


class Work:
    """Tasks, and a place for their results. An executor takes the ones and fills the other.

    Its methods must be called by the thread that called `Executor.run`.
    """

    def __init__(
        self,
        tasks: Iterable[Task],
        journal: Journal,
        ended: Callable[[Task], object],
        told: Callable[[Mapping[str, Hand]], object] = lambda _hands: None,
    ) -> None:
        """Take tasks that are to run. `ended` hears of each that has a result, `told` what each worker does."""
        self.tasks = longest_first(tasks)
        """Each task once, those that are likely to take longest first."""
        self.faults: dict[str, Fault] = {}
        """By the ids of tasks that have no result: why."""
        self.hands: dict[str, Hand] = {}
        """The workers, by name."""
        self.pace = Pace()
        self._journal, self._ended, self._told = journal, ended, told

    def keep(self, task: Task, found: bytes, worker: str = "", seconds: float | None = None) -> None:
        """Take the answer to a task's request, and keep it in the journal; an error is kept as the task's fault.

        `worker` is the name of the one that gave it, `seconds` what it has taken.

        Raises `FlashwattError` if the journal cannot be written.
        """
        if found.startswith(b'{"error"'):
            self.fail(task, str(json.loads(found)["error"]))
            return
        self._journal.add(task.id, found)
        if seconds is not None:
            self.pace.learn(task, seconds)
        if worker:
            hand = self.hands.setdefault(worker, Hand())
            hand.ended += 1
            hand.task = hand.share = None
            self._told(self.hands)
        self._ended(task)

    def fail(self, task: Task, why: str) -> None:
        """Keep the fault of a task that cannot be run. The others go on."""
        self.faults[task.id] = Fault(named(task), in_keys(why))

    def at(self, worker: str, task: str | None = None, share: float | None = None) -> None:
        """Take what a worker does: the id of its task, and how much of it is done. Both are for progress only."""
        hand = self.hands.setdefault(worker, Hand())
        hand.task, hand.share = task, share
        self._told(self.hands)

    def gone(self, worker: str) -> None:
        """Take note that a worker is no longer there."""
        if self.hands.pop(worker, None):
            self._told(self.hands)

    def check(self) -> None:
        """Raise a `FlashwattError` with the faults of all tasks, if there are any."""
        if self.faults:
            raise _core.FlashwattError("\n".join(dict.fromkeys(map(str, self.faults.values()))))


def named(task: Task) -> str:
    """Name a task in messages."""
    values = ", ".join(f"{key} = {value!r}" for key, value in task.point.items())
    return f"task {task.id[:12]} ({values or 'the only point'}, seed {task.seed})"


class Timer:
    """Seconds since its beginning."""

    def __init__(self) -> None:
        """Begin."""
        self._began_s = monotonic()

    @property
    def seconds(self) -> float:
        """Give the seconds so far."""
        return monotonic() - self._began_s
