"""The catalogue of experiments: their files, read and checked."""

from __future__ import annotations

import importlib.util
import re
import traceback
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from flashwatt import _core
from flashwatt.base.files import read_text
from flashwatt.base.literals import flattened, shown
from flashwatt.base.misspelt import known
from flashwatt.config.config import parse_toml
from flashwatt.reproduce.criterion import Criterion

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

EXPERIMENTS = Path(__file__).parents[1] / "experiments"

Overrides: TypeAlias = dict[str, Any]
"""Values by dotted keys of the configuration."""
Axis: TypeAlias = dict[str, Overrides]
"""The overrides of each label of an axis."""

WORKLOAD = "workload"
"""The axis whose labels real traces may stand in for."""

_PAPER_TEXTS, _PAPER_TABLES = ("title", "citation"), ("overrides", "real", "axes")
_EXPERIMENT_TEXTS, _EXPERIMENT_TABLES = ("title", "source"), ("runs", "axes", "criteria")
_CPU_S_MAX = 1e9
_SET_KEYS = ("axes", "overrides", "alone", "requests", "series_ns", "edges_ns", "latency", "only", "grid")


@dataclass(frozen=True, slots=True)
class RunSet:
    """Every combination of the labels of some axes."""

    name: str
    axes: dict[str, Axis]
    overrides: Overrides
    requests: int | None = None
    """The most requests of each run; `--full` runs the whole length."""
    series_ns: int | None = None
    """Length of a bin of power over time, if that is kept; 0 for one that suits the run."""
    edges_ns: tuple[int, int] | None = None
    """Window in which every change of the current is kept."""
    latency: bool = False
    """Whether histograms of latencies are kept."""
    alone: bool = False
    """Whether the overrides that the paper's experiments share are left out: of drives that they do not fit."""
    grid: tuple[str, ...] = ()
    """Of a grid: the figures that it keeps, by their dotted keys. Only `reproduce --sensitivity` runs it; other runs
    take the figures from a file beside the experiment."""


@dataclass(frozen=True, slots=True)
class Paper:
    """A publication, and the settings that its experiments share."""

    name: str
    title: str
    citation: str
    overrides: Overrides
    real: Overrides
    """Overrides of a run that replays a real trace."""
    axes: dict[str, Axis]
    directory: Path = field(repr=False)

    @property
    def found(self) -> str:
        """What its experiments found, in Markdown; empty if nobody has written that down."""
        file = self.directory / "README.md"
        return read_text(file).strip() if file.exists() else ""


@dataclass(frozen=True, slots=True)
class Experiment:
    """A table or a figure of a paper."""

    id: str
    """As in X21."""
    paper: Paper
    title: str
    source: str
    """The table or figure of the paper."""
    sets: tuple[RunSet, ...]
    criteria: tuple[Criterion, ...]
    directory: Path = field(repr=False)
    cpu_s: float | None = None
    """Processor seconds that its runs with three seeds and its page take, as measured on one machine; None if nobody
    measured it."""
    also: dict[str, str] = field(default_factory=dict)
    """Other papers that have the same experiment, and the table or figure there."""

    @property
    def sources(self) -> dict[str, str]:
        """The table or figure in each paper that has it, its own first."""
        return {self.paper.name: self.source, **self.also}

    @property
    def readme(self) -> str:
        """Claim, setting and deviations in Markdown, without the heading."""
        return read_text(self.directory / "README.md").partition("\n")[2].strip()

    @property
    def workloads(self) -> list[str]:
        """The workloads of its runs, each once."""
        return list(dict.fromkeys(label for runs in self.sets for label in runs.axes.get(WORKLOAD, ())))

    @contextmanager
    def measures(self) -> Iterator[ModuleType]:
        """Its `measure.py`, for `quantities(evidence)` and `figures(evidence)`.

        An error in the block becomes a `FlashwattError` with the file's name and line, for the author of the
        experiment.
        """
        file = self.directory / "measure.py"
        try:
            yield _module(f"flashwatt.experiments.{self.paper.name}.{self.directory.name}.measure", file)
        except _core.FlashwattError:
            raise
        except Exception as error:
            raise _core.FlashwattError(f"{_place(file, error)}: {type(error).__name__}: {error}") from error


@cache
def catalogue(directory: Path = EXPERIMENTS) -> dict[str, Experiment]:
    """Every experiment by its id, in the order of the numbers. Raises `FlashwattError` for a file that is wrong."""
    found: dict[str, Experiment] = {}
    papers = [_paper(file) for file in directory.glob("*/paper.toml")]
    for paper in papers:
        for file in paper.directory.glob("*/experiment.toml"):
            experiment = _experiment(file, paper)
            known(f"{file}: also", experiment.also, [one.name for one in papers])
            found[experiment.id] = experiment
    return dict(sorted(found.items(), key=lambda entry: _order(entry[0])))


def choose(ids: tuple[str, ...], paper: str | None, directory: Path = EXPERIMENTS) -> list[Experiment]:
    """Those with these ids, or of this paper, or all. Raises `FlashwattError` for a name that is none."""
    everything = catalogue(directory)
    if not everything:
        raise _core.FlashwattError(
            f"{directory}: no experiments; expected PAPER/paper.toml and PAPER/x1/experiment.toml"
        )
    spelled = {one.lower(): one for one in everything}
    wanted = [spelled.get(one.lower(), one) for one in ids]
    known("experiments", wanted, everything)
    known("--paper", [paper] if paper else [], {one.paper.name for one in everything.values()})
    return [
        experiment
        for name, experiment in everything.items()
        if (not wanted or name in wanted) and paper in (None, *experiment.sources)
    ]


@cache
def _module(name: str, file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _place(file: Path, error: Exception) -> str:
    """The file, and the last line of it that had to do with the error."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == file]
    return f"{file}:{lines[-1]}" if lines else f"{file}"


def _order(name: str) -> tuple[str, int]:
    match = re.fullmatch(r"([A-Z]+)([0-9]+)", name)
    if match is None:
        raise _core.FlashwattError(f"experiments: found `{name.lower()}`; expected letters and a number, as in x40")
    return match[1], int(match[2])


def _paper(file: Path) -> Paper:
    content = _content(file, _PAPER_TEXTS, _PAPER_TABLES)
    overrides, real = (
        flattened(content.get("overrides", {}), f"{file}: overrides."),
        flattened(content.get("real", {}), f"{file}: real."),
    )
    axes = _axes(content, file.parent)
    directory = file.parent
    overrides = _beside(overrides, directory)
    return Paper(directory.name, content["title"], content["citation"], overrides, real, axes, directory)


def _experiment(file: Path, paper: Paper) -> Experiment:
    content = _content(file, _EXPERIMENT_TEXTS, (*_EXPERIMENT_TABLES, "cpu_s", "reason", "also"))
    axes = paper.axes | _axes(content, file.parent)
    sets = [
        _set(f"{file}: runs.{name}", name, table, axes, file.parent) for name, table in content.get("runs", {}).items()
    ]
    entries = content.get("criteria", [])
    shared = content["source"], content.get("reason", "")
    criteria = [Criterion.of(f"{file}: criteria {at}", entry, *shared) for at, entry in enumerate(entries, 1)]
    identity = file.parent.name.upper()
    seconds = content.get("cpu_s")
    if seconds is not None and (type(seconds) not in (int, float) or not 0 < seconds < _CPU_S_MAX):
        expected = "seconds of processor time, more than 0"
        raise _core.FlashwattError(f"{file}: cpu_s: found {shown(seconds)}; expected {expected}")
    also = content.get("also", {})
    return Experiment(
        identity, paper, content["title"], shared[0], tuple(sets), tuple(criteria), file.parent, seconds, also
    )


def _set(place: str, name: str, table: dict[str, Any], axes: dict[str, Axis], directory: Path) -> RunSet:
    known(place, table, _SET_KEYS)
    known(f"{place}.axes", table.get("axes", ()), axes)
    chosen = {axis: axes[axis] for axis in table.get("axes", ())}
    for axis, labels in table.get("only", {}).items():
        known(f"{place}.only", [axis], chosen)
        known(f"{place}.only.{axis}", labels, chosen[axis])
        chosen[axis] = {label: chosen[axis][label] for label in labels}
    window = table.get("edges_ns")
    return RunSet(
        name,
        chosen,
        _beside(flattened(table.get("overrides", {}), f"{place}.overrides."), directory),
        requests=table.get("requests"),
        series_ns=table.get("series_ns"),
        edges_ns=(window[0], window[1]) if window else None,
        latency=table.get("latency", False),
        alone=table.get("alone", False),
        grid=tuple(table.get("grid", ())),
    )


def _axes(content: dict[str, Any], directory: Path) -> dict[str, Axis]:
    return {
        axis: {
            label: _beside(flattened(overrides, f"axes.{axis}.{label}."), directory)
            for label, overrides in labels.items()
        }
        for axis, labels in content.get("axes", {}).items()
    }


def _beside(overrides: Overrides, directory: Path) -> Overrides:
    """The overrides, with the paths of job files relative to the directory of the file that names them."""
    return {
        key: str(directory / value) if key.endswith("workload.fio.path") else value for key, value in overrides.items()
    }


def _content(file: Path, texts: tuple[str, ...], tables: tuple[str, ...]) -> dict[str, Any]:
    content = parse_toml(read_text(file), str(file))
    known(str(file), content, (*texts, *tables))
    if missing := [key for key in texts if not content.get(key)]:
        raise _core.FlashwattError(f"{file}: {missing[0]}: missing; expected text")
    return content
