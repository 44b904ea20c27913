"""What runs on a worker of a Dask cluster: a batch of tasks, bytes in and bytes out."""

from __future__ import annotations

import json
import os
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from distributed import get_worker
from distributed.utils import sync

from flashwatt import _core
from flashwatt.sweeps.cluster.identity import Identity, difference, identity
from flashwatt.sweeps.cluster.inputs import Node, local_overrides, renamed
from flashwatt.sweeps.work import Timer, answer
from flashwatt.sweeps.worker import TRACES_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distributed import Worker

_TOLD_EVERY_S = 2.0


class RefusedError(Exception):
    """No task of the sweep can run on this worker."""


class StoppedError(Exception):
    """Nobody waits for the batch any more."""


class Terms(NamedTuple):
    """What all batches of a sweep have in common."""

    topic: str
    """Of the events that the coordinator hears."""
    identity: Identity
    """The coordinator's."""
    send_limit_bytes: int
    cache: str
    """The directory for files that are sent; empty for the user's own cache on each machine."""
    environment: dict[str, str | None]
    """The variables that fio job files have, None for one that is not set."""


def run_batch(requests: Sequence[bytes], terms: Terms) -> list[tuple[bytes, float]]:
    """Run tasks one after the other; give the answer of each, and its seconds.

    Raises `RefusedError` if this worker cannot run tasks of this sweep, and `StoppedError` if nobody waits for them.
    """
    if wrong := difference(identity(), terms.identity):
        raise RefusedError(wrong)
    for name, value in terms.environment.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    _core.keep_traces(TRACES_BYTES)
    call = Call(terms)
    call.begin()
    return [call.run(one) for one in requests]


class Call:
    """A batch on its way, seen from the worker."""

    def __init__(self, terms: Terms) -> None:
        """Find the worker and the key that Dask has for the batch."""
        self._terms = terms
        self._worker: Worker = get_worker()
        self._key = str(self._worker.get_current_task())
        self._told_s = 0.0
        self._task = ""

    def begin(self) -> None:
        """Say that the batch begins, and wait until the scheduler has heard it.

        If the worker dies from now on, the coordinator knows which tasks it was running.
        """
        event = {"start": self._key, "worker": self._worker.address, "name": self._name}
        log = self._worker.scheduler.log_event
        sync(self._worker.loop, log, topic=self._terms.topic, msg=event)

    @property
    def _name(self) -> str:
        return f"{identity()['host']}:{self._worker.address.rpartition(':')[2]}"

    def run(self, request: bytes) -> tuple[bytes, float]:
        """Run a task; give its answer and its seconds."""
        timer = Timer()
        content: dict[str, Any] = json.loads(request)
        self._task = content["head"]["id"]
        try:
            node = Node(self._terms.cache, self._terms.send_limit_bytes, self._ask, self._wanted)
            names: dict[str, str] = {}
            for part, files in content.pop("files").items():
                overrides, here = local_overrides(files, node)
                content[part][2] += overrides
                names |= here
        except _core.FlashwattError as error:
            raise RefusedError(str(error)) from None
        found = answer(json.dumps(content).encode(), self._progress)
        if not self._wanted():
            raise StoppedError
        return renamed(found, names), timer.seconds

    def _ask(self, event: dict[str, Any]) -> None:
        """Ask the coordinator for a piece of a file."""
        self._worker.log_event(self._terms.topic, {**event, "worker": self._worker.address})

    def _wanted(self) -> bool:
        """Whether the batch is still wanted: Dask marks what was cancelled, or asked for by a client that is gone."""
        state = self._worker.state.tasks.get(self._key)
        return state is not None and state.state in ("executing", "long-running")

    def _progress(self, done: int, total: int | None, _now_ns: int, _preparing: str | None) -> bool:
        now_s = monotonic()
        if now_s - self._told_s >= _TOLD_EVERY_S:
            self._told_s = now_s
            share = done / total if total else None
            event = {"share": share, "task": self._task, "name": self._name}
            self._worker.log_event(self._terms.topic, event)
        return self._wanted()
