"""The runs of experiments as tasks: equal runs of several experiments are one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import TYPE_CHECKING, Any, TypeAlias

from flashwatt import _core
from flashwatt.base.misspelt import known
from flashwatt.config.config import Config
from flashwatt.config.spelling import MERGING
from flashwatt.reproduce.catalogue import WORKLOAD
from flashwatt.sweeps.seeds import matters
from flashwatt.sweeps.task import Hashes, Kept, defined

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from flashwatt.reproduce.catalogue import Experiment, Overrides, Paper, RunSet
    from flashwatt.sweeps.task import Task

SEEDS = 3
"""Seeds of each run unless another number is asked for."""

Labels: TypeAlias = "tuple[str, ...]"
"""One for each axis of a set, in their order."""
Place: TypeAlias = "tuple[str, str, Labels]"
"""An experiment's id, the name of its set, the labels."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Changes to the experiments as they are written; the defaults change nothing."""

    traces: Mapping[str, Path] = field(default_factory=dict)
    """Real traces that replace the models of workloads, by the workload's name."""
    skip_bad: bool = False
    """Leave out the records of these traces that cannot be read."""
    full: bool = False
    """Run every workload to its end."""
    requests: int | None = None
    """The most requests of each workload: a first look."""
    sets: tuple[str, ...] = ()
    """Overrides as on the command line, `device.channels=4`, laid over every run."""
    sensitivity: bool = False
    """Run the grids, and nothing else."""
    seeds: int | None = None
    """Seeds of each run, from the one that it is configured with; 3 unless given, 1 with `requests`."""

    @property
    def replicates(self) -> int:
        """The number of seeds."""
        return self.seeds or (1 if self.requests else SEEDS)

    def changed(self) -> str:
        """Describe the changes in words, for the reader of the verdicts."""
        some = [f"{self.requests:,} requests of each workload at most"] if self.requests else []
        some += ["bad records of traces left out"] if self.skip_bad else []
        return "; ".join([*some, *self.sets])

    def most(self, runs: RunSet) -> int | None:
        """The most requests of a set's workloads, if not all."""
        limits = [self.requests, None if self.full else runs.requests]
        return min((limit for limit in limits if limit), default=None)


@dataclass(frozen=True, slots=True)
class Plan:
    """The tasks of experiments."""

    terms: Terms
    tasks: dict[Place, tuple[Task, ...]]
    """By their places, one for each seed, or a single one if no seed can change the run. Equal runs of several
    experiments are one task."""
    short: frozenset[str]
    """Experiments whose runs `Terms.requests` cut short."""

    def of(self, experiment: Experiment, runs: RunSet) -> dict[Labels, tuple[Task, ...]]:
        """The tasks of one set by their labels."""
        here = experiment.id, runs.name
        return {labels: tasks for (*place, labels), tasks in self.tasks.items() if tuple(place) == here}

    def ids(self) -> Iterable[str]:
        """The ids of all tasks, in the order of the experiments."""
        return (task.id for tasks in self.tasks.values() for task in tasks)

    def once(self) -> list[Task]:
        """Each task once, the longest first: the last to end leave no processor idle for long."""
        every = {task.id: task for tasks in self.tasks.values() for task in tasks}
        return sorted(every.values(), key=weight, reverse=True)


def plan(experiments: Iterable[Experiment], terms: Terms | None = None) -> Plan:
    """Check every run of the experiments. Raises `FlashwattError` for a trace that none of them asks for."""
    chosen, terms = list(experiments), terms or Terms()
    known("--trace", terms.traces, {name for one in chosen for name in one.workloads})
    hashes = Hashes()
    tasks = _tasks(chosen, terms, hashes)
    whole = _tasks(chosen, replace(terms, requests=None), hashes) if terms.requests else tasks
    short = frozenset(place[0] for place, some in tasks.items() if some[0].id != whole[place][0].id)
    return Plan(terms, tasks, short)


def _tasks(experiments: list[Experiment], terms: Terms, hashes: Hashes) -> dict[Place, tuple[Task, ...]]:
    return {
        (one.id, runs.name, labels): _replicates(one, runs, labels, Terms(seeds=1) if runs.grid else terms, hashes)
        for one in experiments
        for runs in one.sets
        for labels in _labels(runs, terms)
    }


def _labels(runs: RunSet, terms: Terms) -> Iterable[Labels]:
    """Of a grid only the first point is run otherwise, to find out whether the kept figures are of this engine.

    The terms change no run of a grid.
    """
    everything = product(*runs.axes.values())
    if terms.sensitivity:
        return everything if runs.grid else ()
    return islice(everything, 1) if runs.grid else everything


def weight(task: Task) -> int:
    """Estimate a task's time: the start state, its requests, more for layers that copy whole blocks."""
    chosen = [key.split(".")[1] for key in task.point if key.startswith("ftl.")]
    layer = task.point.get("ftl", *chosen[:1])
    return _START + (task.requests or _TRACE) * (4 if layer in MERGING else 1)


STREAM = "stream."
"""Keys that begin so belong to the run that comes first, whose dispatched requests the other one replays."""

_START, _TRACE = 500_000, 5_000_000


def _replicates(experiment: Experiment, runs: RunSet, labels: Labels, terms: Terms, hashes: Hashes) -> tuple[Task, ...]:
    """A task for each seed; a single one if the experiment sets the seed, or if no seed can change the run."""
    point = ({} if runs.alone else experiment.paper.overrides) | runs.overrides
    for (axis, meanings), label in zip(runs.axes.items(), labels, strict=True):
        trace = terms.traces.get(label) if axis == WORKLOAD else None
        point |= _replay(experiment.paper, trace, meanings[label], terms) if trace else meanings[label]
    kept = Kept(runs.series_ns, runs.edges_ns, runs.latency)
    try:
        own = {key: value for key, value in point.items() if not key.startswith(STREAM)}
        before = {key.removeprefix(STREAM): value for key, value in point.items() if key.startswith(STREAM)}
        first = before or own
        limits = _limited(first, terms.most(runs))
        config = Config(sets=(*Config().override(own if before else own | limits).sets, *terms.sets))
        stream = Config(sets=Config().override(before | limits).sets) if before else None
        one = _SEED in first or not matters((stream or config).resolve())
        seeds = 1 if one else terms.replicates
        return tuple(defined(config, point | limits, hashes, seeds=seeds, kept=kept, stream=stream))
    except _core.FlashwattError as error:
        where = f"{experiment.id}: {runs.name}: {', '.join(labels)}"
        raise _core.FlashwattError("\n".join(f"{where}: {line}" for line in str(error).splitlines())) from None


def _replay(paper: Paper, trace: Path, stand_in: Overrides, terms: Terms) -> Overrides:
    """Give the overrides of a label, with a real trace in the place of its model."""
    rest: dict[str, Any] = {key: value for key, value in stand_in.items() if not key.startswith("workload.")}
    skip_bad = {"workload.trace.skip_bad": True} if terms.skip_bad else {}
    return {**rest, "workload.trace.path": str(trace), **paper.real, **skip_bad}


def _limited(point: Overrides, requests: int | None) -> Overrides:
    """Give the overrides that limit the measured requests, and the warm-up, to `requests` each."""
    if requests is None:
        return {}
    if "workload.trace.path" in point:
        return {"workload.trace.max_requests": requests}
    model = next(key.split(".")[1] for key in point if key.startswith("workload."))
    (described,) = Config().override(point).resolve()["workload"].values()
    if model == "files":
        return {"workload.files.operations": min(requests, described.get("operations", requests))}
    if "requests" not in described:  # jobs end by themselves
        return {_MEASURED: requests}
    before = int(point.get(_WARMUP, 0))
    warmup = min(before, requests)
    limited = {f"workload.{model}.requests": warmup + min(requests, described["requests"] - before)}
    return {**limited, _WARMUP: warmup} if before else limited


_WARMUP = "run.warmup.requests"
_MEASURED = "run.measure.requests"
_SEED = "run.seed"
