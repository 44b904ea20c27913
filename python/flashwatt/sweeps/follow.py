"""How far a sweep is, for other processes: a small file in the directory of the results.

The process of a sweep, or of a shard, writes its file anew every two seconds and removes it at its end. Who sees
the directory can follow: no network and no lock is needed. A file that a killed process has left is recognised by its
process, on the same machine, or because it does not change.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from contextlib import suppress
from time import monotonic, sleep, time
from typing import TYPE_CHECKING, Any, NamedTuple

from flashwatt import _core
from flashwatt.base.missing import printable
from flashwatt.sweeps.shards import finished
from flashwatt.sweeps.work import rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from flashwatt.sweeps.work import Hand

EVERY_S = 2.0
SILENCE_S = 30.0
"""A file that has not changed for so long was left by a process that is gone."""
WAIT_S = 5.0
"""So long a follower waits for the first file."""
_LOOK_S = 0.5
_PREFIX, _SUFFIX = ".flashwatt-progress", ".json"


class Published:
    """The file of this process, which a thread writes. It is no result: one that cannot be written is left out."""

    def __init__(self, directory: Path | None, name: str = "") -> None:
        """Take the directory, and the name of a shard; without a directory nothing is written."""
        self._path = directory and directory / f"{_PREFIX}{name and f'-{name}'}{_SUFFIX}"
        self._state: dict[str, Any] = {"done": 0, "total": 0, "workers": []}
        self._hands: Mapping[str, Hand] = {}
        self._fixed = {"name": name, "host": socket.gethostname(), "process": os.getpid()}
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._keep_writing, name="flashwatt-progress", daemon=True)

    def __enter__(self) -> Published:
        if self._path:
            self._write()
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        if self._path:
            self._thread.join()
            with suppress(OSError):
                self._path.unlink()

    def runs(self, done: int, total: int) -> None:
        """Take the number of finished runs, and of all."""
        self._state = {**self._state, "done": done, "total": total}

    def workers(self, hands: Mapping[str, Hand]) -> None:
        """Take what each worker does."""
        self._hands = hands

    def _keep_writing(self) -> None:
        while not self._ends.wait(EVERY_S):
            self._write()

    def _write(self) -> None:
        assert self._path
        part = self._path.with_suffix(f".{os.getpid()}.part")
        with suppress(RuntimeError):  # a worker came while its names were read: the next time will do
            self._state = {**self._state, "workers": rows(self._hands)}
        content = json.dumps({**self._fixed, **self._state, "now": time()})
        with suppress(OSError):
            part.write_text(content, encoding="utf-8")
            part.replace(self._path)


class Seen(NamedTuple):
    """How far all sweeps in a directory are, shards of one included."""

    done: int
    total: int
    workers: Sequence[str]


def follow(directory: Path, lost: Callable[[str], object]) -> Iterator[Seen]:
    """Give how far the sweeps in a directory are, again and again, until all have ended.

    `lost` hears of each whose process is gone without having ended. Raises `FlashwattError` if none is at work.
    """
    changed_s: dict[str, tuple[Any, float]] = {}
    gone: set[tuple[str, int]] = set()
    ends_s = monotonic() + WAIT_S
    while True:
        states = [one for one in _states(directory) if (one["host"], one["process"]) not in gone]
        for one in list(states):
            if fault := _fault(one, changed_s):
                gone.add((one["host"], one["process"]))
                states.remove(one)
                lost(fault)
        if states:
            ends_s = 0.0
            if (seen := _together(states)).total:  # else a sweep has only just begun
                yield seen
        elif monotonic() > ends_s:
            if ends_s and not gone:
                there = f"{len(finished(directory))} results" if directory.is_dir() else "no such directory"
                found = f"{printable(directory)}: no sweep is at work there; found {there}"
                raise _core.FlashwattError(f"{found}; expected the --out of a sweep that runs")
            return
        sleep(_LOOK_S)


def _states(directory: Path) -> list[dict[str, Any]]:
    """Read the files of all sweeps."""
    found = []
    for path in sorted(directory.glob(f"{_PREFIX}*{_SUFFIX}")):
        with suppress(OSError, ValueError):  # removed, or of another version
            found.append(json.loads(path.read_text(encoding="utf-8")))
    return found


def _fault(state: dict[str, Any], changed_s: dict[str, tuple[Any, float]]) -> str:
    """Say that the process of a state is gone; empty if it is not."""
    name = f"shard {state['name']}" if state["name"] else "the sweep"
    process = f"process {state['process']} on {state['host']}"
    how_far = f"{state['done']} of {state['total']} runs are finished and kept"
    if state["host"] == socket.gethostname() and os.name == "posix":  # elsewhere looking would end the process
        return "" if _is_alive(state["process"]) else f"{name} was ended before its time: {process} is gone; {how_far}"
    before, since_s = changed_s.get(process, (None, 0.0))
    if before != state["now"]:
        changed_s[process] = state["now"], monotonic()
        return ""
    silent = monotonic() - since_s > SILENCE_S
    return f"{name} gives no sign of life: {process}, for {SILENCE_S:g} s; {how_far}" if silent else ""


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True


def _together(states: list[dict[str, Any]]) -> Seen:
    workers = [row for one in states for row in one["workers"]]
    shards = [f"shard {one['name']}: {one['done']:,} of {one['total']:,}" for one in states if one["name"]]
    return Seen(sum(one["done"] for one in states), sum(one["total"] for one in states), [*shards, *workers])
