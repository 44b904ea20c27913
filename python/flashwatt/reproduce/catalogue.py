"""The experiments that there are: their files, read and checked."""

from __future__ import annotations

import importlib.util
import re
import traceback
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from flashwatt import _core
from flashwatt.config import read_text
from flashwatt.misspelt import known
from flashwatt.reproduce.criterion import Criterion

if TYPE_CHECKING:
    from types import ModuleType

EXPERIMENTS = Path(__file__).parents[1] / "experiments"

Overrides: TypeAlias = dict[str, Any]
"""Values by dotted keys of the configuration."""
Axis: TypeAlias = dict[str, Overrides]
"""What each of an axis's labels means."""

_PAPER_KEYS = ("title", "citation", "overrides", "real", "axes")
_EXPERIMENT_KEYS = ("title", "source", "runs", "axes", "criteria")
_SET_KEYS = ("axes", "overrides", "requests", "series_ns", "edges_ns", "latency", "only")


@dataclass(frozen=True, slots=True)
class RunSet:
    """Every combination of the labels of some axes."""

    name: str
    axes: dict[str, Axis]
    overrides: Overrides
    requests: int | None = None
    """So many of each run at most, unless the whole length is asked for."""
    series_ns: int | None = None
    """Length of a bin of power over time, if that is kept; 0 for one that suits the run."""
    edges_ns: tuple[int, int] | None = None
    """Window in which every change of the current is kept."""
    latency: bool = False
    """Are histograms of latencies kept?"""


@dataclass(frozen=True, slots=True)
class Paper:
    """A publication, and what its experiments share."""

    name: str
    title: str
    citation: str
    overrides: Overrides
    real: Overrides
    """Laid over a run that replays a real trace."""
    axes: dict[str, Axis]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A table or a figure of a paper."""

    id: str
    """As in X21."""
    paper: Paper
    title: str
    source: str
    """Where it stands in the paper."""
    sets: tuple[RunSet, ...]
    criteria: tuple[Criterion, ...]
    directory: Path = field(repr=False)

    @property
    def readme(self) -> str:
        """Claim, setting and deviations in Markdown, without the heading."""
        return (self.directory / "README.md").read_text(encoding="utf-8").partition("\n")[2].strip()

    def measures(self) -> ModuleType:
        """Its `measure.py`: `quantities(evidence)` and `figures(evidence)`."""
        name = f"flashwatt.experiments.{self.paper.name}.{self.directory.name}.measure"
        spec = importlib.util.spec_from_file_location(name, self.directory / "measure.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as error:  # whoever writes an experiment is told where, whatever it is
            raise broken(self.directory / "measure.py", error) from error
        return module


@cache
def catalogue() -> dict[str, Experiment]:
    """Every experiment by its id, in the order of the numbers. Raises `FlashwattError` for a file that is wrong."""
    found: dict[str, Experiment] = {}
    for file in EXPERIMENTS.glob("*/paper.toml"):
        paper = _paper(file)
        for one in file.parent.glob("*/experiment.toml"):
            experiment = _experiment(one, paper)
            found[experiment.id] = experiment
    return dict(sorted(found.items(), key=lambda entry: _order(entry[0])))


def papers() -> dict[str, Paper]:
    """Every paper that has experiments, by its name."""
    return {experiment.paper.name: experiment.paper for experiment in catalogue().values()}


def choose(ids: tuple[str, ...], paper: str | None) -> list[Experiment]:
    """Those with these ids, or of this paper, or all. Raises `FlashwattError` for a name that is none."""
    everything = catalogue()
    wanted = [one.upper() for one in ids]
    known("experiments", wanted, everything)
    known("--paper", [paper] if paper else [], papers())
    return [
        experiment
        for name, experiment in everything.items()
        if (not wanted or name in wanted) and paper in (None, experiment.paper.name)
    ]


def broken(file: Path, error: Exception) -> _core.FlashwattError:
    """What to say of an experiment's own code that fails: its file, the line, and Python's words."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == file]
    place = f"{file}:{lines[-1]}" if lines else f"{file}"
    return _core.FlashwattError(f"{place}: {type(error).__name__}: {error}")


def _order(name: str) -> tuple[str, int]:
    match = re.fullmatch(r"([A-Z]+)([0-9]+)", name)
    if match is None:
        raise _core.FlashwattError(f"{EXPERIMENTS}: found `{name.lower()}`; expected letters and a number, as in x40")
    return match[1], int(match[2])


def _paper(file: Path) -> Paper:
    content = _toml(file, _PAPER_KEYS)
    title, citation = content["title"], content["citation"]
    overrides, real = _flat(content.get("overrides", {})), _flat(content.get("real", {}))
    return Paper(file.parent.name, title, citation, overrides, real, _axes(content))


def _experiment(file: Path, paper: Paper) -> Experiment:
    content = _toml(file, _EXPERIMENT_KEYS)
    axes = paper.axes | _axes(content)
    sets = [_set(f"{file}: runs.{name}", name, table, axes) for name, table in content.get("runs", {}).items()]
    entries = content.get("criteria", [])
    source = content["source"]
    criteria = [Criterion.of(f"{file}: criteria {at}", entry, source) for at, entry in enumerate(entries, 1)]
    identity = file.parent.name.upper()
    return Experiment(identity, paper, content["title"], source, tuple(sets), tuple(criteria), file.parent)


def _set(place: str, name: str, table: dict[str, Any], axes: dict[str, Axis]) -> RunSet:
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
        _flat(table.get("overrides", {})),
        requests=table.get("requests"),
        series_ns=table.get("series_ns"),
        edges_ns=(window[0], window[1]) if window else None,
        latency=table.get("latency", False),
    )


def _axes(content: dict[str, Any]) -> dict[str, Axis]:
    return {
        axis: {label: _flat(overrides) for label, overrides in labels.items()}
        for axis, labels in content.get("axes", {}).items()
    }


def _flat(table: dict[str, Any], prefix: str = "") -> Overrides:
    """Dotted keys, so that one table can be laid over another."""
    flat: Overrides = {}
    for key, value in table.items():
        path = f"{prefix}{key}"
        flat |= _flat(value, f"{path}.") if isinstance(value, dict) else {path: value}
    return flat


def _toml(file: Path, keys: tuple[str, ...]) -> dict[str, Any]:
    import tomli

    try:
        content: dict[str, Any] = tomli.loads(read_text(file))
    except tomli.TOMLDecodeError as error:
        raise _core.FlashwattError(f"{file}: not TOML; {error}") from None
    known(str(file), content, keys)
    return content
