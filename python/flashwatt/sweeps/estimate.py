"""What a task takes before it has run: its time, so that the longest go first, and its memory.

Both are for the order of tasks and for their number at a time. No result depends on them.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.sweeps.task import STREAM, streamed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashwatt.config.config import Config
    from flashwatt.sweeps.task import Task

MB = 1_000_000
RESOURCE = "flashwatt_mb"
"""The resource of a cluster's workers that stands for their memory, in megabytes."""
_REQUEST_S = 2e-6
"""Processor time of a request: between a read (0.35 µs) and a write that is collected five times (3 µs)."""
_RUN_S = 0.005
"""What a run takes with hardly any requests."""
_RECORD_BYTES = 32
"""Bytes of a request in a trace: its number of requests is known only when it has been read."""
_NO_LIMIT = "max"
_GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Files with the memory that a container or a batch job may use."""


def requests(task: Task) -> float:
    """Give the number of requests of a task, estimated for a whole trace by the size of its file."""
    return task.requests or sum(one.size_bytes for one in task.inputs) / _RECORD_BYTES


class Pace:
    """The time of tasks: begun with a guess, corrected by each task that has run."""

    _WEIGHT = 0.2
    """The share of the last task in the correction."""

    def __init__(self) -> None:
        """Begin with the guess."""
        self._factor = 1.0

    def seconds(self, task: Task) -> float:
        """Estimate the seconds that a task takes."""
        return self._factor * _guess_s(task)

    def learn(self, task: Task, seconds: float) -> None:
        """Take the seconds that a task has taken."""
        self._factor += self._WEIGHT * (seconds / _guess_s(task) - self._factor)


def _guess_s(task: Task) -> float:
    return _RUN_S + _REQUEST_S * requests(task)


def longest_first(tasks: Iterable[Task]) -> list[Task]:
    """Order tasks by their estimated time. Of equal ones the first of the study comes first."""
    return sorted(tasks, key=lambda task: -requests(task))


def memory_bytes(task: Task) -> int:
    """Give the memory that a task takes at most: of both runs of a pair, of the larger one of two after another."""
    trace = [streamed(STREAM)] if task.stream else []
    own = _of_config(task.config, *trace) + (_of_config(task.baseline) if task.baseline else 0)
    return max(own, _of_config(task.stream)) if task.stream else own


def _of_config(config: Config, *sets: str) -> int:
    seedless = (one for one in config.sets if not one.startswith("run.seed="))
    return _memory_bytes(config.text, config.name, (*seedless, *sets))


@lru_cache(maxsize=4096)
def _memory_bytes(text: str, name: str, sets: tuple[str, ...]) -> int:
    """Ask the engine, once for all seeds of a point."""
    return _core.memory_bytes(text, name, list(sets))


def machine_bytes() -> int:
    """Give the memory of this machine, or what the container or the batch job has of it."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else _UNKNOWN
    return min([whole, *(limit for limit in map(_limit, _GROUPS) if limit)])


_UNKNOWN = 1 << 62
"""No limit, where the system does not tell its memory."""


def _limit(path: str) -> int | None:
    try:
        text = Path(path).read_text(encoding="ascii").strip()
    except OSError:
        return None
    return None if text == _NO_LIMIT else int(text)
