"""One run of many: a sweep or a reproduction hands tasks to its workers, and stores results by their ids."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.files import check_regular
from flashwatt.base.missing import unread
from flashwatt.config.config import Config

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Kept:
    """Recordings that a report holds beside its figures, as the engine takes them."""

    series_interval_ns: int | None = None
    edges_ns: tuple[int, int] | None = None
    latency_histogram: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """One run."""

    id: str
    """SHA-256 of everything that the report depends on: the resolved configuration with the seed, the contents of its
    traces, the recordings (`kept`), and the engine's build."""
    point: dict[str, Any]
    """Values by keys of the configuration that distinguish the task from the others."""
    seed: int
    config: Config
    kept: Kept
    requests: int
    """Requests of the workload, where the configuration gives their number; 0 for a whole trace."""


def defined(
    config: Config, point: dict[str, Any], hashes: Hashes, *, seeds: int | Iterable[int] = 1, kept: Kept | None = None
) -> list[Task]:
    """Check a configuration, and give a task for each seed.

    A number of seeds counts from the configuration's own seed on; other seeds are taken as they are.

    Raises `FlashwattError` with every fault of the configuration.
    """
    kept = kept or Kept()
    first, resolved, requests, paths = _core.definition(config.text, config.name, list(config.sets))
    besides = [*(hashes.of(path) for path in paths), hashes.of(_ENGINE), asdict(kept)]
    common = hashlib.sha256(f"{resolved}{json.dumps(besides)}".encode())
    tasks = []
    for seed in range(first, first + seeds) if isinstance(seeds, int) else seeds:
        if not 0 <= seed <= _SEED_MAX:
            raise _core.FlashwattError(f"seeds: found {seed}; expected whole numbers from 0 to {_SEED_MAX}")
        whole = common.copy()
        whole.update(b"%d" % seed)
        seeded = Config(config.text, config.name, (*config.sets, f"run.seed={seed}"))
        tasks.append(Task(whole.hexdigest(), point, seed, seeded, kept, requests))
    return tasks


_SEED_MAX = 2**64 - 1
_ENGINE = Path(_core.__file__)


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


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        check_regular(path)
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise _core.FlashwattError(unread(path, error)) from None
    return digest.hexdigest()
