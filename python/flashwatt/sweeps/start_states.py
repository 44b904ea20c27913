"""Start states that several runs of a sweep share: laid down once, and kept as snapshots up to a bound of bytes.

Some start states are reached by writing to the drive, several times all of it: `steady` of layers for which there is
no theory, and the workload models of `[run.precondition]`. That takes seconds or minutes; to restore such a state from
a file takes a hundredth of it. Runs with the same drive, start state, seed and engine share one. Their reports have the
same bytes as without.

The files lie in the user's cache directory. The name of each is the SHA-256 of all that its content depends on. A
process that lays a state down holds a lock of that name: the others wait for it. Files are written aside and renamed.
An empty file stands for a state that is larger than the bound.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from platformdirs import user_cache_path

from flashwatt import _core
from flashwatt.base.outputs import HAS_LOCKS, waiting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from flashwatt.config.config import Config
    from flashwatt.runs import Progress
    from flashwatt.sweeps.task import Task

BYTES_MAX = 4_000_000_000
"""What the files take at most, unless another bound is given."""


class Shared(NamedTuple):
    """The start state of a task that it shares with others."""

    key: str
    """SHA-256 of all that it depends on."""
    bytes_max: int
    """What all files take at most."""


def directory() -> Path:
    """Give the directory of the files; it need not be there."""
    return user_cache_path("flashwatt", appauthor=False) / "start-states"


def shared(tasks: Sequence[Task], bytes_max: int) -> list[Task]:
    """Mark the tasks that share a start state with another one, if that is worth keeping. A bound of 0 marks none.

    Raises `FlashwattError` for a negative bound.
    """
    if bytes_max < 0:
        raise _core.FlashwattError(f"start_states: found {bytes_max}; expected a number of bytes, ≥ 0")
    if not bytes_max or not HAS_LOCKS:
        return list(tasks)
    keys = list(_keys(tasks))
    counts = Counter(keys)
    if any(keys):
        trim(bytes_max)
    return [
        replace(task, start_state=Shared(key, bytes_max)) if key and counts[key] > 1 else task
        for task, key in zip(tasks, keys, strict=True)
    ]


def file_of(config: Config, wanted: Shared, progress: Progress) -> Path | None:
    """Give the file with the start state of a configuration; it is laid down now if no process has done that before.

    None if it cannot be kept: then the run lays down its own. `progress` may end the preparation, as in a run.
    """
    if wanted in _NOT_KEPT:
        return None
    place = directory()
    path = place / f"{wanted.key}{_ENDING}"
    try:
        place.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            with waiting(place / f".{wanted.key}.lock"):
                if not path.exists():
                    _lay_down(config, path, wanted.bytes_max, progress)
        os.utime(path)  # it is the last one to be removed
    except _core.RunInterruptedError:
        raise
    except (OSError, _core.FlashwattError):  # too large, or no room on the disk, or a fault that the run will name
        _NOT_KEPT.add(wanted)
        return None
    return path


def trim(bytes_max: int) -> None:
    """Remove files, those first that were used longest ago, until all take at most `bytes_max`."""
    place = directory()
    with suppress(OSError, _core.FlashwattError):
        if place.is_dir():
            with waiting(place / _ROOM):
                _make_room(place, bytes_max)


_ENDING = ".fw"
_ROOM = ".room.lock"
_NOT_KEPT: set[Shared] = set()
"""Start states that this process could not keep: it does not try again."""


def _lay_down(config: Config, path: Path, bytes_max: int, progress: Progress) -> None:
    """Lay a start state down and save it. The lock of the room is held from when its length is known."""
    with ExitStack() as stack:

        def room(length: int) -> bool:
            try:
                stack.enter_context(waiting(path.parent / _ROOM))
                return length <= bytes_max and _make_room(path.parent, bytes_max - length)
            except (OSError, _core.FlashwattError):
                return False

        _core.age(config.text, config.name, list(config.sets), path, progress=progress, room=room)


def _make_room(place: Path, bytes_max: int) -> bool:
    """Remove the files that were used longest ago until the others take at most `bytes_max`. Give whether they do."""
    found = sorted((path.stat().st_mtime_ns, path.stat().st_size, path) for path in place.glob(f"*{_ENDING}"))
    total = sum(size for _, size, _ in found)
    for _, size, path in found:
        if total <= bytes_max:
            break
        path.unlink(missing_ok=True)
        total -= size
    return total <= bytes_max


def _keys(tasks: Iterable[Task]) -> Iterator[str | None]:
    """Give what the start state of each task depends on, as a hash; None for one that is not worth keeping."""
    known: dict[tuple[str, ...], str | None] = {}
    for task in tasks:
        config = task.config
        sets = tuple(one for one in config.sets if not one.startswith("run.seed="))
        if task.stream or not any("precondition" in one for one in (config.text, *sets)):
            yield None
            continue
        point = (config.text, *sets)
        if point not in known:
            known[point] = _core.shared_start(config.text, config.name, list(sets))
        start = known[point]
        yield start and hashlib.sha256(f"{_core.BUILD_ID} {task.seed} {start}".encode()).hexdigest()
