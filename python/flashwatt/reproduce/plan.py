"""The runs of experiments as tasks: equal runs of several experiments are one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from flashwatt import _core
from flashwatt.config import Config
from flashwatt.misspelt import known
from flashwatt.task import Hashes, Kept, defined

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from flashwatt.reproduce.catalogue import Experiment, Overrides, Paper, RunSet
    from flashwatt.task import Task

WORKLOAD = "workload"
"""The axis whose labels real traces may stand in for."""

Labels: TypeAlias = "tuple[str, ...]"
"""One for each axis of a set, in their order."""
Place: TypeAlias = "tuple[str, str, Labels]"
"""An experiment's id, the name of its set, the labels."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run."""

    tasks: dict[Place, Task]
    """By their places: equal runs of several experiments are one task."""
    real: frozenset[str]
    """Workloads that are real traces."""

    def of(self, experiment: Experiment, runs: RunSet) -> dict[Labels, Task]:
        """The tasks of one set by their labels."""
        here = experiment.id, runs.name
        return {labels: task for (*place, labels), task in self.tasks.items() if tuple(place) == here}

    def once(self) -> list[Task]:
        """Each task once, the longest first: the last to end leave no processor idle for long."""
        return sorted({task.id: task for task in self.tasks.values()}.values(), key=weight, reverse=True)


def plan(experiments: Iterable[Experiment], traces: Mapping[str, Path], *, full: bool) -> Plan:
    """Check every run of the experiments. Raises `FlashwattError` for a trace that none of them asks for."""
    chosen = list(experiments)
    workloads = {label for one in chosen for runs in one.sets for label in runs.axes.get(WORKLOAD, ())}
    known("--trace", traces, workloads)
    hashes = Hashes()
    tasks = {
        (one.id, runs.name, labels): _task(one, runs, labels, traces, hashes, full=full)
        for one in chosen
        for runs in one.sets
        for labels in product(*runs.axes.values())
    }
    return Plan(tasks, frozenset(traces))


def weight(task: Task) -> int:
    """How long a task takes, roughly: laying down the drive, its requests, more for layers that copy whole blocks."""
    return _START + (task.requests or _TRACE) * (4 if str(task.point.get("ftl", "page")) in _COPIERS else 1)


_START, _TRACE = 500_000, 5_000_000
_COPIERS = {"block", "nftl", "bast", "bast_star", "fast", "last"}


def _task(
    experiment: Experiment,
    runs: RunSet,
    labels: Labels,
    traces: Mapping[str, Path],
    hashes: Hashes,
    *,
    full: bool,
) -> Task:
    point = experiment.paper.overrides | runs.overrides
    for (axis, meanings), label in zip(runs.axes.items(), labels, strict=True):
        trace = traces.get(label) if axis == WORKLOAD else None
        point |= _replay(experiment.paper, trace, meanings[label]) if trace else meanings[label]
    kept = Kept(runs.series_ns, runs.edges_ns, runs.latency)
    try:
        point |= {} if full or runs.requests is None else _limited(point, runs.requests)
        return defined(Config().override(point), point, hashes, kept=kept)[0]
    except _core.FlashwattError as error:
        where = f"{experiment.id}: {runs.name}: {', '.join(labels)}"
        raise _core.FlashwattError("\n".join(f"{where}: {line}" for line in str(error).splitlines())) from None


def _replay(paper: Paper, trace: Path, stand_in: Overrides) -> Overrides:
    """What a label means, with a real trace in the place of its model."""
    rest: dict[str, Any] = {key: value for key, value in stand_in.items() if not key.startswith("workload.")}
    return {**rest, "workload.trace.path": str(trace), **paper.real}


def _limited(point: Overrides, requests: int) -> Overrides:
    """At most so many requests, in the words of the workload at hand."""
    if "workload.trace.path" in point:
        return {"workload.trace.max_requests": requests}
    whole = Config().override(point).resolve()["workload"]["standin"]["requests"]
    return {"workload.standin.requests": min(requests, whole)}
