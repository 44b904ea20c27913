"""One run of many: a sweep or a reproduction hands tasks to its workers, and stores results by their ids."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.files import check_regular
from flashwatt.base.missing import unread
from flashwatt.base.reads import reads
from flashwatt.config.config import Config

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashwatt.sweeps.start_states import Shared


@dataclass(frozen=True, slots=True)
class Kept:
    """Recordings that a report holds beside its figures, as the engine takes them."""

    series_interval_ns: int | None = None
    edges_ns: tuple[int, int] | None = None
    latency_histogram: bool = False


@dataclass(frozen=True, slots=True)
class Input:
    """A file that a run reads."""

    path: Path
    """As the user named it."""
    sha256: str
    """Of its content, and of the variables of the environment that it has, as `Hashes` gives it."""
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Task:
    """One run."""

    id: str
    """SHA-256 of everything that the report depends on: the resolved configuration with the seed, the contents of its
    traces, the recordings (`kept`), and the engine's sources (`_core.BUILD_ID`)."""
    point: dict[str, Any]
    """Values by keys of the configuration that distinguish the task from the others."""
    seed: int
    config: Config
    kept: Kept
    requests: int
    """Requests of the workload, where the configuration gives their number; 0 for a whole trace."""
    baseline: Config | None = None
    """The configuration that runs beside this one, and that its figures are compared with."""
    stream: Config | None = None
    """The configuration of a run before this one, whose dispatched requests (`--dispatch-log`) are this one's trace."""
    inputs: tuple[Input, ...] = ()
    """The files that the run reads, or the run before it."""
    start_state: Shared | None = None
    """The start state that it shares with other tasks. The report does not depend on it."""


def defined(
    config: Config,
    point: dict[str, Any],
    hashes: Hashes,
    *,
    seeds: int | Iterable[int] = 1,
    kept: Kept | None = None,
    baseline: Config | None = None,
    stream: Config | None = None,
) -> list[Task]:
    """Check a configuration, and give a task for each seed.

    `stream` is a configuration that runs first, with the same seed: what its block layer dispatches is the trace of
    this one, which names none.

    `baseline` is a configuration that runs beside this one, with the same seed.

    A number of seeds counts from the configuration's own seed on; other seeds are taken as they are.

    Raises `FlashwattError` with every fault of the configuration.
    """
    kept = kept or Kept()
    read = Config(config.text, config.name, (*config.sets, streamed(STREAM))) if stream else config
    first, resolved, requests, paths = _core.definition(read.text, read.name, list(read.sets))
    besides: list[Any] = [*(hashes.of(path) for path in paths if not stream), _core.BUILD_ID, asdict(kept)]
    if stream:
        _, before, requests, paths = _core.definition(stream.text, stream.name, list(stream.sets))
        besides += [before, *(hashes.of(path) for path in paths)]
    if baseline:
        _check_precision(resolved)
        _, other, _, beside_paths = _core.definition(baseline.text, baseline.name, list(baseline.sets))
        besides += ["against", other, *(hashes.of(path) for path in beside_paths)]
        paths = list(dict.fromkeys([*paths, *beside_paths]))
    common = hashlib.sha256(f"{resolved}{json.dumps(besides)}".encode())
    inputs = tuple(hashes.input(path) for path in paths)
    tasks = []
    for seed in range(first, first + seeds) if isinstance(seeds, int) else seeds:
        if not 0 <= seed <= _SEED_MAX:
            raise _core.FlashwattError(f"seeds: found {seed}; expected whole numbers from 0 to {_SEED_MAX}")
        whole = common.copy()
        whole.update(b"%d" % seed)
        seeded, beside, before_it = (
            one and Config(one.text, one.name, (*one.sets, f"run.seed={seed}")) for one in (config, baseline, stream)
        )
        tasks.append(Task(whole.hexdigest(), point, seed, seeded or config, kept, requests, beside, before_it, inputs))
    return tasks


def _check_precision(resolved: str) -> None:
    """Refuse to compare runs that no precision ends."""
    if not json.loads(resolved)["run"]["measure"].get("precision"):
        raise _core.FlashwattError(
            "baseline: differences are measured to a precision; found no run.measure.precision; expected the table in "
            'the base: run.measure.precision = { figures = ["throughput.iops"] }'
        )


STOPPED = "interrupted"
"""The status in the report of a run that was stopped from outside: the clock decided how far it came, not the task."""


STREAM = Path("stream.csv")
"""The name of a stream's file, wherever it lies: reports carry the names of traces without their directories."""


def streamed(path: Path) -> str:
    """The override that makes a file the trace of a run."""
    return f"workload.trace.path={json.dumps(str(path))}"


_SEED_MAX = 2**64 - 1


class Hashes:
    """SHA-256 of files, each read once."""

    def __init__(self) -> None:
        """Begin without any."""
        self._known: dict[Path, str] = {}

    def of(self, path: Path) -> str:
        """Give a file's. Raises `FlashwattError` for one that cannot be read."""
        if path not in self._known:
            self._known[path] = _sha256(path)
        return self._known[path]

    def input(self, path: Path) -> Input:
        """Describe a file. Raises `FlashwattError` for one that cannot be read."""
        return Input(path, self.of(path), path.stat().st_size)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    reads(path)
    try:
        check_regular(path)
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
                if file.tell() < 1 << 20:
                    digest.update(_variables(block))
    except OSError as error:
        raise _core.FlashwattError(unread(path, error)) from None
    return digest.hexdigest()


def _variables(text: bytes) -> bytes:
    """Give the values of the environment that a fio job file has: another value makes another job."""
    return "".join(f"{name}={os.environ[name]}\n" for name in variables(text) if name in os.environ).encode()


def variables(text: bytes) -> list[str]:
    """Name the variables of the environment that a fio job file has."""
    return sorted({name.decode() for name in re.findall(rb"\$\{(\w+)\}", text)})
