"""The coordinator of a sweep on a Dask cluster: it gives batches of tasks to the cluster, and takes their answers.

Only a few batches more than the cluster has threads are under way, so that the memory of the coordinator and of the
scheduler does not grow with the study. A worker says that a batch begins before it runs it. So when a worker dies, the
batch that it was running is known: its tasks go on alone, each on a worker without other tasks of the sweep, and a task
whose worker has died three times so is a fault. Batches that only waited there go on as they are.
"""

from __future__ import annotations

import json
from collections import deque
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from math import ceil
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from cloudpickle import (  # type: ignore[import-untyped]
    register_pickle_by_value,
    unregister_pickle_by_value,
)
from distributed import KilledWorker, TimeoutError  # noqa: A004 (another one than Python's, up to 3.10)

from flashwatt import _core
from flashwatt.sweeps.cluster import identity as identity_module
from flashwatt.sweeps.cluster.identity import difference, identity
from flashwatt.sweeps.cluster.inputs import Contents, receive, variables
from flashwatt.sweeps.cluster.worker import RefusedError, StoppedError, Terms, run_batch
from flashwatt.sweeps.estimate import MB, RESOURCE, memory_bytes
from flashwatt.sweeps.work import request

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

    from distributed import Client, Future

    from flashwatt.sweeps.task import Task
    from flashwatt.sweeps.work import Work

DEATHS_MAX = 3
_SHORT_S = 0.2
"""Tasks that take less go together."""
_BATCH_S = 0.5
_BATCH_TASKS = 64
_LOOK_S = 1.0
_FETCH_S = 30.0
_LAST_FETCH_S = 2.0
_UNSTARTED_MAX = 10
"""A batch that was on as many workers when they died counts as the reason, even if none said that it had begun."""


class Batch:
    """Tasks that are under way together."""

    def __init__(self, tasks: Sequence[Task], *, alone: bool = False) -> None:
        """Begin with a batch that has not been submitted. `alone` asks for a worker without other tasks of ours."""
        self.tasks, self.alone = tasks, alone
        self.megabytes = 0
        """The memory that it takes."""
        self.asked = 0
        """The memory that it asks a worker for: all of it, to be alone."""
        self.began_at: list[str] = []
        """The workers that have begun it, since it was submitted."""
        self.deaths: list[str] = []
        """The workers that died while they were running it."""
        self.unstarted = 0
        self.is_done = False
        """Whether its answers are there, and only to be fetched."""


class Answers(NamedTuple):
    """What came of a batch that has run."""

    batch: Batch
    future: Future[Any]
    found: list[tuple[bytes, float]] | Exception | None
    """None if the worker died before it had given them away."""


class Hands(NamedTuple):
    """The cluster as it is now."""

    threads: int
    megabytes: Sequence[int]
    """Of the workers that say how much memory they have for tasks."""


class Limits(NamedTuple):
    """What is sent to workers, and where they keep it."""

    send_limit_bytes: int
    cache: str
    """A directory on each worker; empty for the user's own cache there."""


class Expected(NamedTuple):
    """What a cluster of our own comes to have, before its workers are there; nothing is known of another one."""

    threads: int = 0
    megabytes: tuple[int, ...] = ()


class Coordinator:
    """One run of an executor."""

    def __init__(self, client: Client, work: Work, limits: Limits, expected: Expected) -> None:
        """Take a cluster and tasks."""
        self._client, self._work = client, work
        self._name = f"flashwatt-{uuid4().hex[:12]}"
        self._contents = Contents()
        self._ours = identity()
        self._terms = Terms(self._name, self._ours, *limits, environment=variables(work.tasks))
        self._expected = expected
        self._waiting = deque(work.tasks)
        self._again: deque[Batch] = deque()
        self._flying: dict[Any, tuple[Batch, Future[Any]]] = {}
        self._events: SimpleQueue[Future[Any] | Answers | dict[str, Any]] = SimpleQueue()
        self._number = 0
        self._hands = Hands(0, [])
        self._names: dict[str, str] = {}
        """Of the workers, by their addresses, as they call themselves."""
        self._looked_s = 0.0
        self._helpers = ThreadPoolExecutor(8, "flashwatt-help")
        """Threads that move bytes, so that no worker that dies stops this one."""

    def run(self) -> None:
        """Run all tasks. Raises `FlashwattError` if the cluster cannot."""
        self._check_workers()
        self._client.subscribe_topic(self._name, self._hear)
        try:
            while self._waiting or self._again or self._flying:
                if monotonic() - self._looked_s >= _LOOK_S:
                    self._look()
                self._fill()
                with suppress(Empty):
                    self._take(self._events.get(timeout=_LOOK_S))
        except KeyboardInterrupt:
            self._keep_finished()
            raise
        except Exception:
            self._check_scheduler()  # its end has many faces
            raise
        finally:
            self._leave()

    def _hear(self, event: tuple[float, dict[str, Any]]) -> None:
        """Take an event of a worker, in the thread of the client."""
        self._events.put(event[1])

    def _check_workers(self) -> None:
        """Compare the package of every worker with this one. Workers that come later compare it themselves."""
        with by_value(identity_module):
            found = self._client.run(identity, on_error="ignore")  # of one that has just died
        for theirs in found.values():
            if wrong := difference(theirs, self._ours):
                raise _core.FlashwattError(wrong)

    def _leave(self) -> None:
        """Let the workers stop what they run for this sweep."""
        self._helpers.shutdown(wait=False, cancel_futures=True)
        with suppress(Exception):  # the scheduler may be gone
            if self._flying:
                self._client.cancel([future for _, future in self._flying.values()], force=True)
            self._client.unsubscribe_topic(self._name)

    def _keep_finished(self) -> None:
        """Keep the answers that have come, but were not taken yet."""
        for batch, future in list(self._flying.values()):
            if future.status == "finished":
                self._fetch(batch, future, _LAST_FETCH_S)
        with suppress(Empty):
            while True:
                event = self._events.get_nowait()
                if isinstance(event, Answers) and event.future.key in self._flying and isinstance(event.found, list):
                    self._keep(event)

    # ---------------------------------------------------------------- what goes out

    @property
    def _threads(self) -> int:
        return max(self._hands.threads, self._expected.threads, 1)

    def _fill(self) -> None:
        """Submit batches until as many are under way as the cluster is to have."""
        most = 2 * self._threads + 1
        while (self._waiting or self._again) and len(self._flying) < most:
            batch = self._again.popleft() if self._again else self._next()
            self._submit(batch)

    def _next(self) -> Batch:
        """Take the next task, and short ones behind it, but never so many that workers would have nothing to do."""
        tasks = [self._waiting.popleft()]
        pace = self._work.pace.seconds
        most = min(_BATCH_TASKS, ceil(len(self._waiting) / (2 * self._threads)))
        seconds = pace(tasks[0])
        while self._waiting and len(tasks) < most and seconds < _BATCH_S and seconds / len(tasks) < _SHORT_S:
            tasks.append(self._waiting.popleft())
            seconds += pace(tasks[-1])
        return Batch(tasks)

    def _submit(self, batch: Batch) -> None:
        batch.began_at = []
        batch.megabytes = ceil(max(map(memory_bytes, batch.tasks)) / MB)
        resources = None
        if self._hands.megabytes:
            largest = max(self._hands.megabytes)
            if batch.megabytes > largest:
                self._refuse(batch, largest)
                return
            batch.asked = largest if batch.alone else batch.megabytes
            resources = {RESOURCE: batch.asked}
        self._number += 1
        future = self._client.submit(
            run_batch,
            [self._request(task) for task in batch.tasks],
            self._terms,
            key=f"{self._name}-{self._number}",
            pure=False,
            resources=resources,
        )
        self._flying[future.key] = batch, future
        future.add_done_callback(self._events.put)

    def _request(self, task: Task) -> bytes:
        content: dict[str, Any] = json.loads(request(task))
        return json.dumps({**content, "files": self._contents.named_by(task)}).encode()

    def _refuse(self, batch: Batch, largest: int) -> None:
        """Let the tasks of a batch go apart; one that is too large for every worker is a fault."""
        if len(batch.tasks) > 1:
            self._again.extend(Batch([task]) for task in batch.tasks)
            return
        found = f"needs {batch.megabytes:,} MB of memory; found {largest:,} MB at most at a worker ({RESOURCE})"
        self._work.fail(batch.tasks[0], f"{found}; expected one with more")

    # ---------------------------------------------------------------- what comes in

    def _take(self, event: Future[Any] | Answers | dict[str, Any]) -> None:
        if isinstance(event, Answers):
            self._keep(event)
        elif not isinstance(event, dict):
            self._ended(event)
        elif "start" in event:
            self._began(event)
        elif "send" in event:
            self._helpers.submit(self._send, event)
        else:
            self._work.at(event["name"], event["task"], event["share"])

    def _began(self, event: dict[str, Any]) -> None:
        """Take note that a worker runs a batch. If another one ran it before, that one has died, or was ended."""
        if event["start"] not in self._flying:
            return
        batch, future = self._flying[event["start"]]
        if batch.is_done:
            return  # it runs again because its answers were lost: that is not its fault
        if batch.began_at:
            batch.deaths.append(batch.began_at[-1])
            if len(batch.tasks) > 1 or self._is_hopeless(batch) or not batch.alone:
                del self._flying[future.key]
                self._client.cancel([future], force=True)
                self._died(batch)
                return
        batch.began_at.append(event["name"])
        self._names[event["worker"]] = event["name"]
        self._work.at(event["name"], batch.tasks[0].id)

    def _ended(self, future: Future[Any]) -> None:
        if future.key not in self._flying:
            return  # given up before
        batch, _ = self._flying[future.key]
        if future.status == "finished":
            batch.is_done = True
            self._helpers.submit(self._fetch, batch, future)
            return
        del self._flying[future.key]
        if future.status == "error":
            self._failed(batch, future.exception())
        else:
            self._check_scheduler()
            self._again.append(batch)

    def _fetch(self, batch: Batch, future: Future[Any], timeout_s: float = _FETCH_S) -> None:
        """Fetch the answers of a batch, in a thread: a worker that dies now would keep the others waiting."""
        found: list[tuple[bytes, float]] | Exception | None
        try:
            found = future.result(timeout=timeout_s)
        except (TimeoutError, CancelledError, OSError):  # the worker died with the answers in its memory
            found = None
        except Exception as error:
            found = error
        self._events.put(Answers(batch, future, found))

    def _keep(self, answers: Answers) -> None:
        """Put answers into the journal. After that their bytes are nowhere in the cluster."""
        batch, future, found = answers
        del self._flying[future.key]
        batch.is_done = False
        if found is None:
            self._check_scheduler()
            self._client.cancel([future], force=True)
            self._again.append(batch)
        elif isinstance(found, Exception):
            self._failed(batch, found)
        else:
            future.release()
            worker = batch.began_at[-1] if batch.began_at else "?"
            for task, (line, seconds) in zip(batch.tasks, found, strict=True):
                self._work.keep(task, line, worker, seconds)

    def _failed(self, batch: Batch, error: BaseException | None) -> None:
        if isinstance(error, StoppedError):  # Dask has given the batch to another worker in the meantime
            self._again.append(batch)
            return
        if isinstance(error, RefusedError):
            raise _core.FlashwattError(str(error))
        if not isinstance(error, KilledWorker):
            raise _core.FlashwattError(f"a worker cannot run tasks; found {type(error).__name__}: {error}")
        if not batch.began_at:
            batch.unstarted += 1
            if batch.unstarted < _UNSTARTED_MAX:
                self._again.append(batch)
                return
        batch.deaths.append(batch.began_at[-1] if batch.began_at else error.last_worker.address)
        self._died(batch)

    def _is_hopeless(self, batch: Batch) -> bool:
        return batch.alone and len(batch.deaths) >= DEATHS_MAX

    def _died(self, batch: Batch) -> None:
        """Let the tasks of a batch whose worker has died run alone; give one up that has been alone too often."""
        if not batch.alone:
            self._again.extend(Batch([task], alone=True) for task in batch.tasks)
            return
        if not self._is_hopeless(batch):
            self._again.append(batch)
            return
        (task,) = batch.tasks
        where = ", ".join(batch.deaths)
        needs = f"the system may have ended them for lack of memory (a run takes up to {batch.megabytes:,} MB)"
        reason = f"{needs}, or the batch system at the end of their time"
        self._work.fail(task, f"{DEATHS_MAX} workers ended while they ran it alone, on {where}; {reason}")

    def _send(self, event: dict[str, Any]) -> None:
        """Send a piece of a file to a worker that has asked for it."""
        content = b""
        with suppress(OSError):  # it has gone in the meantime: the worker finds that its content has changed
            content = self._contents.piece(event["send"], event["offset"])
        with suppress(Exception):  # a worker that is gone by now needs none
            self._client.run(receive, event["send"], event["offset"], content, workers=[event["worker"]])

    # ---------------------------------------------------------------- the cluster

    def _look(self) -> None:
        """See which workers are there."""
        self._looked_s = monotonic()
        self._check_scheduler()
        try:
            found = self._client.scheduler_info(n_workers=-1)["workers"]
        except OSError:
            self._check_scheduler()
            return
        said = [int(one["resources"][RESOURCE]) for one in found.values() if RESOURCE in one["resources"]]
        for gone in self._names.keys() - found.keys():
            self._work.gone(self._names.pop(gone))
        megabytes = said or self._expected.megabytes
        self._hands = Hands(sum(one["nthreads"] for one in found.values()), megabytes)
        if megabytes:
            self._submit_smaller(max(megabytes))

    def _submit_smaller(self, largest: int) -> None:
        """Submit anew what asks for more memory than any worker has now: the one that had it may never come back."""
        for key, (batch, future) in list(self._flying.items()):
            if not batch.began_at and future.status == "pending" and batch.asked > largest:
                del self._flying[key]
                self._client.cancel([future], force=True)
                self._again.append(batch)

    def _check_scheduler(self) -> None:
        if self._client.status != "running":
            address = self._client.scheduler.address if self._client.scheduler else "the cluster"
            found = f"the scheduler at {address} is gone; found the connection {self._client.status}"
            raise _core.FlashwattError(f"{found}; expected it running")


@contextmanager
def by_value(module: ModuleType) -> Iterator[None]:
    """Within the block, send the functions of a module to the workers as they are, also where it is not installed."""
    register_pickle_by_value(module)
    try:
        yield
    finally:
        unregister_pickle_by_value(module)
