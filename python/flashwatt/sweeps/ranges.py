"""The ranges of a preset's parameters, and what they make of its figures: intervals, and the keys that matter most.

Each key is set to both ends of its range while the others stay as they are: these runs say which way a key moves a
figure, and how far. For each figure two more runs set every key to the end at which the figure was lowest, or highest.
Where each key moves a figure one way only, however the others stand, these two runs bound it; the interval is that of
all runs. Nothing is drawn at random: the same command gives the same intervals.
"""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.literals import assignments
from flashwatt.base.misspelt import hint
from flashwatt.config.config import Config, parse_toml
from flashwatt.report.knee import knee_of
from flashwatt.sweeps.journal import Journal
from flashwatt.sweeps.task import Hashes, Kept, defined
from flashwatt.sweeps.work import Work
from flashwatt.sweeps.workers import Local

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from flashwatt.base.files import Json

_FILE = Path(__file__).parents[1] / "config" / "ranges.toml"
NAMED = 3
"""Keys that are named for a figure."""

FIGURES = {
    "knee": "of the drive",
    "write_mb_s_before": "MB/s",
    "write_mb_s_after": "MB/s",
    "power_w_before": "W",
    "power_w_after": "W",
    "j_per_gb_before": "J/GB",
    "j_per_gb_after": "J/GB",
    "mb_s": "MB/s",
    "power_w": "W",
    "j_per_gb": "J/GB",
}
"""The figures and their units: the knee, what holds before and after it, and the means of the whole run."""

Ends = tuple[tuple[str, Any], ...]
"""Values by key, of the keys that are not as the configuration has them."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A key of a preset, and how far its value can lie from the one there."""

    key: str
    low: Any
    high: Any
    source: str


@dataclass(frozen=True, slots=True)
class Effect:
    """What a figure does while a key goes through its range."""

    key: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure over all runs."""

    unit: str
    nominal: float
    """With the values of the configuration."""
    low: float
    high: float
    effects: tuple[Effect, ...]
    """Of the keys alone, those that move it most first. Keys without an effect are left out."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """The figures of a preset as intervals."""

    preset: str
    runs: int
    without_knee: int
    """Runs in which the rate of writes does not fall, where it does with the values of the configuration."""
    figures: dict[str, Interval]
    parameters: tuple[Parameter, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Give it as it is printed in JSON."""
        return asdict(self)


@cache
def _table() -> dict[str, tuple[Parameter, ...]]:
    content = parse_toml(_FILE.read_text(encoding="utf-8"), _FILE.name)
    return {preset: tuple(_parameter(key, one) for key, one in rows.items()) for preset, rows in content.items()}


def _parameter(key: str, row: Mapping[str, Any]) -> Parameter:
    low, high = (tuple(end) if isinstance(end, list) else end for end in (row["low"], row["high"]))
    return Parameter(key, low, high, row["source"])


def presets() -> list[str]:
    """Name the presets whose parameters have ranges."""
    return list(_table())


def parameters(preset: str) -> tuple[Parameter, ...]:
    """Give the parameters of a preset. Raises `FlashwattError` for one without ranges."""
    if preset not in _table():
        found = f"--ranges: no ranges are known of the parameters of this preset; found `{preset}`"
        raise _core.FlashwattError(f"{found}; {hint(preset, presets())}")
    return _table()[preset]


def ranges(
    config: Config,
    *,
    keep: Iterable[str] = (),
    factors: Mapping[str, float] = MappingProxyType({}),
    workers: int = 1,
    progress: Callable[[int, int], object] = lambda _done, _total: None,
) -> Ranges:
    """Run a configuration through the ranges of its preset; the keys of `keep` stay as it has them.

    `factors` are those by which a small drive has the values of keys: the ends of their ranges are taken times these.

    `progress` gets the number of runs that are finished, and of those that are known to be needed.
    """
    preset = config.resolve()["device"]["preset"]
    kept = set(keep)
    varied = tuple(one for one in parameters(preset) if one.key not in kept)
    runner = _Runner(config, factors, workers, progress)
    alone = [((one.key, end),) for one in varied for end in (one.low, one.high)]
    runner.run([(), *alone])
    has_knee = runner.figures[()]["knee"] is not None
    names = [name for name in FIGURES if has_knee or name in _OF_ALL]
    effects = {name: _effects(varied, runner.figures, name) for name in names}
    runner.run([corner(effects[name], side) for name in names for side in (0, 1)])
    found = {name: _interval(name, runner.figures, effects[name]) for name in names}
    without = sum(one["knee"] is None for one in runner.figures.values()) if has_knee else 0
    return Ranges(preset, len(runner.figures), without, found, varied)


_OF_ALL = ("mb_s", "power_w", "j_per_gb")


class _Runner:
    """Runs points of the ranges, each once, and keeps their figures."""

    def __init__(
        self, config: Config, factors: Mapping[str, float], workers: int, progress: Callable[[int, int], object]
    ) -> None:
        self.figures: dict[Ends, dict[str, float | None]] = {}
        self._config, self._workers, self._progress = config, workers, progress
        self._factors = factors
        self._done = count(1)
        self._hashes = Hashes()

    def run(self, points: Iterable[Ends]) -> None:
        """Run those of these points that have not run."""
        wanted = [one for one in dict.fromkeys(points) if one not in self.figures]
        kept = Kept(series_interval_ns=0)
        tasks = {one: defined(self._at(one), {}, self._hashes, kept=kept)[0] for one in wanted}
        total = len(self.figures) + len({task.id for task in tasks.values()})
        with closing(Journal()) as journal:
            by_id = {task.id: task for task in tasks.values()}
            work = Work(by_id.values(), journal, lambda _: self._progress(next(self._done), total))
            Local(self._workers).run(work)
            work.check()
            for point, task in tasks.items():
                report = json.loads(journal.line(task.id))["report"]
                if report["status"] != "complete":
                    sets = ", ".join(self._at(point).sets[len(self._config.sets) :]) or "the preset as it is"
                    raise _core.FlashwattError(f"a run of the ranges is not complete ({sets}): {report['status']}")
                self.figures[point] = figures_of(report)

    def _at(self, point: Ends) -> Config:
        sets = assignments({key: self._value(key, value) for key, value in point})
        return Config(self._config.text, self._config.name, (*self._config.sets, *sets))

    def _value(self, key: str, value: Any) -> Any:
        """The value of a key as the configuration takes it."""
        if key in self._factors:
            return round(value * self._factors[key])
        return list(value) if isinstance(value, tuple) else value


def figures_of(report: Json) -> dict[str, float | None]:
    """Give the figures of a run; those of the knee are None without one."""
    knee = knee_of(report)
    found: dict[str, float | None] = dict.fromkeys(FIGURES)
    if knee is not None:
        found["knee"] = knee.share
        for side, level in (("before", knee.before), ("after", knee.after)):
            found |= {f"{name}_{side}": getattr(level, name) for name in ("write_mb_s", "power_w", "j_per_gb")}
    rates = report["throughput"]
    return found | {
        "mb_s": rates["read_mb_s"] + rates["write_mb_s"],
        "power_w": report["power_w"]["mean"],
        "j_per_gb": report["efficiency"]["j_per_gb"],
    }


@dataclass(frozen=True, slots=True)
class Moved:
    """A key, and the values of a figure at the ends of its range."""

    key: str
    nominal: float
    ends: tuple[tuple[Any, float], ...]
    """Values of the key and the figure; without those at which there is no such figure."""

    @property
    def low(self) -> float:
        """The least value of the figure."""
        return min([self.nominal, *(value for _, value in self.ends)])

    @property
    def high(self) -> float:
        """The greatest value of the figure."""
        return max([self.nominal, *(value for _, value in self.ends)])


def _effects(varied: Iterable[Parameter], figures: Mapping[Ends, Mapping[str, float | None]], name: str) -> list[Moved]:
    nominal = figures[()][name]
    assert nominal is not None
    found = []
    for one in varied:
        ends = [(end, figures[((one.key, end),)][name]) for end in (one.low, one.high)]
        found.append(Moved(one.key, nominal, tuple((end, value) for end, value in ends if value is not None)))
    return found


def corner(effects: Iterable[Moved], side: int) -> Ends:
    """Give the values of all keys that lower a figure (`side` 0) or raise it (1), as each does alone."""
    point = []
    for one in effects:
        best = (max if side else min)(one.ends, key=lambda end: end[1], default=(None, one.nominal))
        if best[1] > one.nominal if side else best[1] < one.nominal:
            point.append((one.key, best[0]))
    return tuple(point)


def _interval(name: str, figures: Mapping[Ends, Mapping[str, float | None]], effects: Iterable[Moved]) -> Interval:
    values = [value for one in figures.values() if (value := one[name]) is not None]
    moving = sorted((one for one in effects if one.high > one.low), key=lambda one: one.low - one.high)
    nominal = figures[()][name]
    assert nominal is not None
    shown = tuple(Effect(one.key, one.low, one.high) for one in moving)
    return Interval(FIGURES[name], nominal, min(values), max(values), shown)
