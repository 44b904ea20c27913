"""One run of many: what a sweep or a reproduction hands to its workers, and keeps its result under."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.config import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashwatt.config import Config


@dataclass(frozen=True, slots=True)
class Kept:
    """What a report holds beside its figures, as the engine takes it."""

    series_interval_ns: int | None = None
    edges_ns: tuple[int, int] | None = None
    latency_histogram: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """One run."""

    id: str
    """SHA-256 of everything that its report depends on: the resolved configuration with the seed, the contents of its
    traces, what is kept besides, and the engine itself: another build makes its own results."""
    point: dict[str, Any]
    """What tells it from the others: values by keys of the configuration."""
    seed: int
    config: Config
    kept: Kept
    requests: int
    """How many its workload makes, where the configuration says so; 0 for a whole trace."""


def defined(
    config: Config, point: dict[str, Any], hashes: Hashes, *, seeds: int | Iterable[int] = 1, kept: Kept | None = None
) -> list[Task]:
    """Check a configuration, and give a task for each seed: so many from its own on, or these.

    Raises `FlashwattError` with every fault of the configuration.
    """
    kept = kept or Kept()
    resolved = json.loads(_core.resolve(config.text, config.name, list(config.sets)))
    first, files = resolved["run"]["seed"], [hashes.of(path) for path in config.inputs()]
    requests = _requests(resolved["workload"])
    tasks = []
    for seed in range(first, first + seeds) if isinstance(seeds, int) else seeds:
        resolved["run"]["seed"] = seed
        definition = {"config": resolved, "inputs": files, "engine": hashes.of(Path(_core.__file__))}
        definition |= {"series": kept.series_interval_ns, "edges": kept.edges_ns, "latency": kept.latency_histogram}
        text = json.dumps(definition, sort_keys=True, separators=(",", ":"))
        name = hashlib.sha256(text.encode()).hexdigest()
        tasks.append(Task(name, point, seed, config.override({"run.seed": seed}), kept, requests))
    return tasks


def _requests(workload: dict[str, Any]) -> int:
    (model,) = workload.values()
    return int(model.get("requests") or model.get("max_requests") or 0)


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
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise _core.FlashwattError(f"{printable(path)}: {error.strerror}") from None
    return digest.hexdigest()
