"""Grids: an experiment at every combination of choices that its paper does not state.

A grid takes long, so `flashwatt reproduce --sensitivity` runs it by itself and keeps a few figures of each run in a
file. The file is shipped beside the experiment. Criteria over the grid read it, and refuse one of another engine or of
another definition.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from itertools import product
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.files import read_text
from flashwatt.base.outputs import check, locked, save
from flashwatt.base.outputs import directory as made
from flashwatt.base.progress import silent
from flashwatt.reproduce.evidence import NoEvidenceError, Runs
from flashwatt.reproduce.plan import Terms, plan
from flashwatt.reproduce.runner import run_missing
from flashwatt.sweeps.journal import Journal
from flashwatt.sweeps.statistics import mean_and_ci
from flashwatt.sweeps.workers import processors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike
    from pathlib import Path

    from flashwatt.reproduce.catalogue import Experiment, RunSet
    from flashwatt.reproduce.plan import Labels
    from flashwatt.reproduce.runner import Progress
    from flashwatt.sweeps.executor import Executor
    from flashwatt.sweeps.task import Task


def grid_path(experiment: Experiment, directory: Path) -> Path:
    """The file of an experiment's grid in a directory."""
    name = "grid.json" if directory == experiment.directory else f"{experiment.id.lower()}-grid.json"
    return directory / name


class Grid(Runs):
    """The kept figures of a grid. Only its first point has been run."""

    def __init__(
        self, experiment: Experiment, runs: RunSet, tasks: Mapping[Labels, Sequence[Task]], journal: Journal, file: Path
    ) -> None:
        """Remember where the figures are kept; they are read when one is asked for."""
        super().__init__(runs, tasks, journal)
        self._experiment, self._file = experiment, file
        self._values: dict[str, dict[Labels, float]] = {}

    def value(self, key: str, *labels: str) -> float:
        """A kept figure. Raises `NoEvidenceError` if there are none, or none of this engine and this definition."""
        if not self._values:
            self._values = self._read()
        return self._values[key][labels]

    def _read(self) -> dict[str, dict[Labels, float]]:
        again = f"flashwatt reproduce --sensitivity {self._experiment.id} makes them anew"
        if not self._file.exists():
            raise NoEvidenceError(f"the grid's figures are not there; {again}")
        kept = json.loads(read_text(self._file))
        if kept["definition"] != definition(self._experiment, self._set):
            raise NoEvidenceError(f"the grid's figures are of another definition; {again}")
        places = list(product(*self._set.axes.values()))
        values = {key: dict(zip(places, kept["values"][key], strict=True)) for key in self._set.grid}
        for key, found in values.items():
            if super().value(key, *places[0]) != found[places[0]]:
                raise NoEvidenceError(f"the grid's figures are of another engine; {again}")
        return values


def over_seeds(grid: Runs, measure: Callable[[str], float]) -> tuple[float, float]:
    """The mean over the labels of a grid's axis `seed`, and half the width of its 95 % interval."""
    mean, half_width = mean_and_ci([measure(seed) for seed in grid.labels("seed")])
    return mean, half_width or 0


def run_grids(
    experiments: Sequence[Experiment],
    out: str | PathLike[str],
    *,
    workers: int | None = None,
    executor: Executor | str | None = None,
    progress: Progress | None = None,
    force: bool = False,
) -> tuple[list[Path], str]:
    """Run the grids of experiments, and write the figures of each experiment into the directory `out`.

    Each run is kept in `out/grids.jsonl` as it ends, and one that is there is not made again. Returns the files, and a
    message if some runs failed: their experiments have no file.
    """
    chosen = [one for one in experiments if any(runs.grid for runs in one.sets)]
    if not chosen:
        raise _core.FlashwattError("--sensitivity: none of these experiments has a grid")
    work = plan(chosen, Terms(sensitivity=True))
    directory = made(out)
    for one in chosen:
        check(grid_path(one, directory), marks.GRID, force=force)
    files = []
    with locked(directory), closing(Journal(directory / "grids.jsonl")) as journal:
        fault = run_missing(work, journal, progress or silent, executor, workers or processors())
        journal.finish(work.ids())
        for one in chosen:
            runs = next(runs for runs in one.sets if runs.grid)
            try:
                values = _values(runs, Runs(runs, work.of(one, runs), journal))
            except NoEvidenceError as missing:
                fault = "\n".join(filter(None, (fault, f"{one.id}: {missing}")))
                continue
            files.append(_write(one, runs, values, directory, force=force))
    return files, fault


def _values(runs: RunSet, found: Runs) -> dict[str, list[float]]:
    return {key: [found.value(key, *labels) for labels in product(*runs.axes.values())] for key in runs.grid}


def _write(
    experiment: Experiment, runs: RunSet, values: dict[str, list[float]], directory: Path, *, force: bool
) -> Path:
    content: dict[str, Any] = {
        "grid": experiment.id,
        "version": _core.__version__,
        "command": f"flashwatt reproduce --sensitivity {experiment.id}",
        "axes": {axis: list(labels) for axis, labels in runs.axes.items()},
        "definition": definition(experiment, runs),
        "values": values,
    }
    path = grid_path(experiment, directory)
    save(path, f"{json.dumps(content)}\n".encode(), marks.GRID, force=force)
    return path


def definition(experiment: Experiment, runs: RunSet) -> str:
    """A hash of what the experiment says about the grid's runs."""
    said = [experiment.paper.overrides, runs.overrides, runs.axes, runs.requests, runs.grid]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()
