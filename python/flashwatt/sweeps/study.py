"""The definition of a sweep: a configuration, a grid of overrides, seeds; all are checked before the first run."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sized
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from math import prod
from operator import index
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.files import read_text
from flashwatt.base.labels import Labels
from flashwatt.base.literals import flattened, label, leaves, shown
from flashwatt.base.missing import no_such, printable
from flashwatt.base.misspelt import known
from flashwatt.base.scripts import without_lines
from flashwatt.base.units import setting
from flashwatt.config.config import Config, parse_toml
from flashwatt.config.reference import numbered, presets
from flashwatt.runs import interval_ns
from flashwatt.sweeps.task import Hashes, Kept, defined

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flashwatt.config.config import Source
    from flashwatt.sweeps.task import Task

_KEYS = ("base", "grid", "baseline", "seeds", "workers", "series", "latency", "labels")
_CONFIG_TABLES = {"device", "workload", "run", "ftl", "gc", "wear", "controller", "energy", "write_buffer", "recovery"}
_FAULTS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Study:
    """One grid of runs or several: every combination of a grid's values, each with every seed."""

    base: Config
    grids: tuple[dict[str, list[Any]], ...]
    """Lists of values by keys of the configuration. Points are combined within a grid, not across grids."""
    seeds: int | tuple[int, ...] = 1
    """A number of seeds, counted from the configuration's own, or the seeds themselves."""
    workers: int | None = None
    series: bool | int = False
    latency: bool = False
    """Keep the histogram of latencies of each run, for `Results.quantiles`."""
    baseline: dict[str, Any] = field(default_factory=dict)
    """Values of keys of the grid. Each other point is compared with the point that has these, and its own other values.
    Both run in step, until the differences of the figures of `run.measure.precision` are known."""
    labels: Labels = field(default_factory=Labels)
    """What keys, figures and values are called in tables and pictures."""
    name: str = "<study>"
    text: str = field(default="", repr=False)
    """The content of the file, in which messages look up the lines of keys."""

    @classmethod
    def of(
        cls,
        grid: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        base: Source = MappingProxyType({}),
        seeds: int | Sequence[int] = 1,
        workers: int | None = None,
        series: bool | int = False,
        latency: bool = False,
        baseline: Mapping[str, Any] | None = None,
        labels: Mapping[str, Any] | None = None,
        name: str = "<study>",
        text: str = "",
    ) -> Study:
        """Check the shape of a study; whether its runs are valid is for `tasks` to say. Raises `FlashwattError`."""
        several = [grid] if isinstance(grid, Mapping) else list(grid)
        if not several:
            expected = 'one grid at least: {"device.channels": [4, 8]}'
            raise _core.FlashwattError(f"grid: found an empty list; expected {expected}")
        grids = tuple(_lists(name, text, one, number) for number, one in enumerate(several))
        replicates = _replicates(f"{_place(name, text, 'seeds')}seeds", seeds)
        _check_count(f"{_place(name, text, 'seeds')}seeds", replicates)
        _check_count(f"{_place(name, text, 'workers')}workers", 1 if workers is None else workers)
        for number, lists in enumerate(grids):
            if "run.seed" in lists and replicates != 1:
                place = _place(name, text, "grid.run.seed", number)
                raise _core.FlashwattError(f"{place}grid.run.seed: the study has `seeds` as well")
        interval_ns(series)
        _check_size(f"{name}: " if text else "", grids, replicates)
        called = Labels(labels, f"{_place(name, text, 'labels')}labels")
        beside = _baseline(name, text, grids, baseline)
        whole = cls(Config.of(base), grids, replicates, workers, series, latency, beside, called, name, text)
        whole.check_labels(called)
        return whole

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Study:
        """Read a STUDY.toml: `base` (a file beside it, or a table), `[grid]`, and the other arguments of `of`."""
        text, name = read_text(path), printable(path)
        content = parse_toml(text, name)
        _check_keys(name, text, content)
        base, grid = content.pop("base", {}), content.pop("grid", None)
        if grid == {} or (isinstance(grid, list) and {} in grid):
            number = grid.index({}) if isinstance(grid, list) else 0
            found = f"{_place(name, text, 'grid', number)}grid: empty"
            raise _core.FlashwattError(f"{found}; expected a list of values for a key: device.channels = [4, 8]")
        if isinstance(base, str):
            base = _base_file(name, text, Path(path).parent / base)
        elif isinstance(base, dict):
            base = Config(Config.of(base).text, f"{name}: base")
        if not isinstance(base, Path | Config):
            raise _core.FlashwattError(f"{name}: base: found {base!r}; expected a table")
        several = grid if isinstance(grid, list) and grid else [{} if grid is None else grid]
        for one in several:
            if not isinstance(one, dict):
                raise _core.FlashwattError(f"{name}: grid: found {one!r}; expected a table")
        return cls.of(several, base=base, name=name, text=text, **_typed(name, text, content))

    @property
    def grid(self) -> dict[str, list[Any]]:
        """All keys of the grids, each with all its values."""
        values: dict[str, list[Any]] = {}
        for key, one in ((key, one) for grid in self.grids for key, listed in grid.items() for one in listed):
            there = values.setdefault(key, [])
            if one not in there:
                there.append(one)
        return values

    def check_labels(self, labels: Labels) -> None:
        """Raise `FlashwattError` for a label of something that this study has not."""
        if labels:
            from flashwatt.report.keys import figures

            labels.check(figures(), {key: [setting(_cell(one)) for one in values] for key, values in self.grid.items()})

    @property
    def has_base(self) -> bool:
        """Whether the study names a configuration, or a preset in its grids."""
        presets = all("device.preset" in grid for grid in self.grids)
        return bool(self.base.text.strip() or self.base.sets or presets)

    @property
    def size(self) -> int:
        """The number of its runs."""
        return _size(self.grids, self.seeds)

    def tasks(self) -> list[Task]:
        """Every run, in the order of the grid, each checked. Raises `FlashwattError` with all faults of all runs."""
        _check_size(f"{self.name}: " if self.text else "", self.grids, self.seeds)
        tasks: list[Task] = []
        faults: dict[str, None] = {}
        known_points: dict[str, dict[str, Any]] = {}
        hashes = Hashes()
        for number, grid in enumerate(self.grids):
            for values in product(*grid.values()):
                point = dict(zip(grid, values, strict=True))
                try:
                    tasks += self._at(point, hashes, known_points)
                except _core.FlashwattError as error:
                    faults |= dict.fromkeys(self._explain(line, point, number) for line in str(error).splitlines())
        if faults:
            more = len(faults) - _FAULTS_SHOWN
            rest = [f"… and {more} more faults"] if more > 0 else []
            raise _core.FlashwattError("\n".join([*list(faults)[:_FAULTS_SHOWN], *rest]))
        return tasks

    def suspicions(self) -> list[str]:
        """Give warnings that are known before the first run: shares that look as if they were per cents."""
        places: list[tuple[str, dict[str, Any]]] = []
        with suppress(_core.FlashwattError):  # `tasks` says what is wrong with the base
            places.append((f"{_place(self.name, self.text, 'base')}base.", parse_toml(self.base.text, self.base.name)))
        for number, grid in enumerate(self.grids):
            listed = (dict(leaves({key: value})) for key, values in grid.items() for value in values)
            several: dict[str, list[Any]] = {}
            for key, value in ((key, value) for one in listed for key, value in one.items()):
                several.setdefault(key, []).append(value)
            places.append((f"{_place(self.name, self.text, 'grid.device.op_ratio', number)}grid.", several))
        return [
            f"{place}{key}: found {', '.join(f'{one:g}' for one in high)}: the flash would be {1 + max(high):g} times "
            f'what the host sees; expected shares: "28%" is 0.28'
            for place, tree in places
            for key, values in leaves(tree)
            if key.endswith("op_ratio") and (high := _high(values if isinstance(values, list) else [values]))
        ]

    def _at(self, point: dict[str, Any], hashes: Hashes, known_points: dict[str, dict[str, Any]]) -> list[Task]:
        """The runs of a point, which must differ from those of all points before it."""
        kept = Kept(series_interval_ns=interval_ns(self.series), latency_histogram=self.latency)
        beside = {key: value for key, value in self.baseline.items() if key in point and point[key] != value}
        baseline = self.base.override({**point, **beside}) if beside else None
        config = self.base.override(point)
        tasks = defined(config, point, hashes, seeds=self.seeds, kept=kept, baseline=baseline)
        for task in tasks:
            if (other := known_points.setdefault(task.id, point)) is not point:
                place = f"{_place(self.name, self.text, 'grid')}grid"
                raise _core.FlashwattError(
                    f"{place}: two points are the same run, which would count twice; found {_listed(other)} and "
                    f"{_listed(point)}; expected points whose configurations differ"
                )
        return tasks

    def _explain(self, message: str, point: dict[str, Any], number: int) -> str:
        """Name the place of a fault in the study, and the point if the fault is not that of one value."""
        if key := re.match(r"--set: ([^:;]+): ", message):
            where = f"{_place(self.name, self.text, f'grid.{key[1]}', number)}grid.{message.removeprefix('--set: ')}"
            if ": has no effect;" in message:
                where += "; put it into another [[grid]]: each has combinations of its own"
            return where if key[1] in self.grids[number] else f"{where} (at {_listed(point)})"
        if key := re.match(rf"{re.escape(self.name)}: base:\d+:\d+: ([^:;]+): ", message):
            return f"{_place(self.name, self.text, f'base.{key[1]}')}base.{message[key.start(1) :]}"
        return without_lines(message)


_RATIO_MAX = 5.0
"""An `op_ratio` from which on a per cent sign may be missing, as in the warnings of a run."""


def _high(values: list[Any]) -> list[float]:
    numbers = (one for one in values if isinstance(one, int | float) and not isinstance(one, bool))
    return [one for one in numbers if one >= _RATIO_MAX]


def _cell(value: Any) -> Any:
    """A value of the grid as a table has it."""
    return label(value) if isinstance(value, dict | list) else value


def _check_keys(name: str, text: str, content: dict[str, Any]) -> None:
    """Refuse a file with other keys than those of a study; a configuration is called one."""
    if not set(content) & set(_KEYS) and set(content) & _CONFIG_TABLES:
        raise _core.FlashwattError(
            f"{name}: not a study but the configuration of one run; found `{next(iter(content))}`; expected `base`, "
            f'`[grid]`, `seeds`; `flashwatt run {name}` runs it, a study with `base = "{Path(name).name}"` varies it'
        )
    if tables := sorted(set(content) & _CONFIG_TABLES):
        found = f"{_table_place(name, text, tables[0])}{tables[0]}: no key of a study"
        raise _core.FlashwattError(f"{found}; keys of the configuration go into base = {{ … }} or into [grid]")
    known(name, content, _KEYS)


def _table_place(name: str, text: str, table: str) -> str:
    found = re.search(rf"^[ \t]*\[?{table}\b", text, re.MULTILINE)
    return f"{name}:{text.count(chr(10), 0, found.end()) + 1}: " if found else f"{name}: "


def _base_file(name: str, text: str, path: Path) -> Path:
    """Check that the file of `base` is there; its fault names the line of the study."""
    if path.exists():
        return path
    fault = f"{_place(name, text, 'base')}base: {no_such(path)}; found {path.name!r}"
    if path.name in presets():
        fault += f'; {path.name} is a preset: base = {{ device.preset = "{path.name}" }}'
    raise _core.FlashwattError(fault)


def _listed(point: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {value!r}" for key, value in point.items())


def _typed(name: str, text: str, content: dict[str, Any]) -> dict[str, Any]:
    """The keys that are numbers or lists of them, and the labels, as they are."""
    expected = {
        "seeds": "a whole number or a list of them",
        "workers": "a whole number",
        "series": "true or ns of a bin",
        "latency": "true or false",
    }
    for key, value in content.items():
        if key in ("labels", "baseline"):  # `Labels` and `_baseline` check them
            continue
        whole = type(value) is int and key != "latency"
        whole = whole or (key in ("series", "latency") and isinstance(value, bool))
        several = key == "seeds" and isinstance(value, list) and all(type(one) is int for one in value)
        if not (whole or several):
            raise _core.FlashwattError(f"{_place(name, text, key)}{key}: found {value!r}; expected {expected[key]}")
    return content


def _lists(name: str, text: str, grid: Mapping[str, Any], number: int) -> dict[str, list[Any]]:
    """Check the shape of one grid; `number` is its place among those of the study."""
    if not isinstance(grid, Mapping):
        raise _core.FlashwattError(f"grid: found {shown(grid)}; expected a dictionary: {{'device.channels': [4, 8]}}")

    def place(key: str) -> str:
        return f"{_place(name, text, f'grid.{key}', number)}grid.{key}"

    tree = flattened(grid, f"{_place(name, text, 'grid', number)}grid.")
    lists = {key: _values(place(key), values, key) for key, values in tree.items()}
    _check_overlap(place, lists)
    return lists


def _baseline(
    name: str, text: str, grids: Sequence[dict[str, list[Any]]], baseline: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Check that the keys of a baseline are those of the grid, and its values among theirs."""
    if baseline is None:
        return {}
    place = f"{_place(name, text, 'baseline')}baseline"
    if not isinstance(baseline, Mapping) or not baseline:
        raise _core.FlashwattError(
            f'{place}: found {shown(baseline)}; expected keys of the grid: {{ gc.policy = "greedy" }}'
        )
    keys = list(dict.fromkeys(key for lists in grids for key in lists))
    values = {key: numbered(key, value) for key, value in flattened(baseline, f"{place}.").items()}
    known(place, values, keys)
    for key, value in values.items():
        listed = [one for lists in grids for one in lists.get(key, [])]
        if value not in listed:
            expected = ", ".join(dict.fromkeys(shown(one) for one in listed))
            raise _core.FlashwattError(f"{place}.{key}: found {shown(value)}; expected a value of the grid: {expected}")
    return values


def _values(place: str, values: Any, key: str) -> list[Any]:
    _check_length(place, values)
    listed = _plain(values)
    if "__" in key:
        raise _core.FlashwattError(f"{place}: unknown key; keys have dots: did you mean `{key.replace('__', '.')}`?")
    if key in _KEYS and key != "base" and not isinstance(listed, list):
        raise _core.FlashwattError(f"{place}: {key} is a key of the study: put it above [grid]")
    if not isinstance(listed, list) or not listed:
        raise _core.FlashwattError(f"{place}: found {shown(values)}; expected a list of at least one value")
    listed = [numbered(key, value) for value in listed]
    first: dict[str, Any] = {}
    for value in listed:
        name = _same(value)
        if name in first:
            other = first[name]
            twice = f"{value!r} twice" if repr(other) == repr(value) else f"{other!r} and {value!r}, which are equal"
            raise _core.FlashwattError(f"{place}: found {twice}; expected each value once (`seeds` repeats runs)")
        first[name] = value
    return listed


def _same(value: Any) -> str:
    """Give the same text for equal values: 1 and 1.0, or a table with its keys in another order."""

    def whole(one: Any) -> Any:
        if isinstance(one, dict):
            return {str(key): whole(inner) for key, inner in one.items()}
        if isinstance(one, list):
            return [whole(inner) for inner in one]
        return int(one) if isinstance(one, float) and one.is_integer() else one

    return json.dumps(whole(value), sort_keys=True, default=repr)


def _check_length(place: str, values: Any) -> None:
    """Check the length before a list is made: a range takes no memory, a list of its values does."""
    try:
        length = len(values) if isinstance(values, Sized) else 0
    except OverflowError:  # a range may be longer than Python can say
        length = sys.maxsize
    if length > RUNS_MAX and not isinstance(values, str | bytes | Mapping):
        raise _core.FlashwattError(f"{place}: found {length:,} values; {_AT_MOST}")


def _replicates(place: str, seeds: int | Sequence[int]) -> int | tuple[int, ...]:
    if isinstance(seeds, int):
        return seeds
    _check_length(place, seeds)
    try:
        return tuple(index(seed) for seed in seeds)
    except TypeError:
        found = f"found {shown(seeds)}; expected a whole number or a list of them"
        raise _core.FlashwattError(f"{place}: {found}") from None


RUNS_MAX = 100_000
"""Runs of one sweep at most: they are all checked, and kept in memory, before the first one starts."""

_AT_MOST = f"expected at most {RUNS_MAX:,} runs in one sweep (several sweeps may share a directory)"


def _size(grids: Sequence[dict[str, list[Any]]], seeds: int | tuple[int, ...]) -> int:
    points = sum(prod(map(len, lists.values())) for lists in grids)
    return points * (seeds if isinstance(seeds, int) else len(seeds))


def _check_size(place: str, grids: Sequence[dict[str, list[Any]]], seeds: int | tuple[int, ...]) -> None:
    """Count the runs before any of them is made."""
    largest = max(grids, key=lambda lists: prod(map(len, lists.values())))
    counts = {f"grid.{key}": len(values) for key, values in largest.items()}
    counts["seeds"] = seeds if isinstance(seeds, int) else len(seeds)
    if (runs := _size(grids, seeds)) > RUNS_MAX:
        factors = " × ".join(f"{count:,} of {key}" for key, count in counts.items() if count > 1)
        raise _core.FlashwattError(f"{place}too many runs; found {runs:,} ({factors}); {_AT_MOST}")


def _check_overlap(place: Callable[[str], str], lists: dict[str, list[Any]]) -> None:
    """Refuse a key that would change the value of another key: `ftl = "page"` and `ftl.dftl.cmt_entries`."""
    for key, inner in ((key, inner) for key in lists for inner in lists if inner.startswith(f"{key}.")):
        for value in lists[key]:
            if _changes(inner.removeprefix(f"{key}."), value):
                found = f"grid.{key} = {shown(value)}, which this key would change"
                raise _core.FlashwattError(f"{place(inner)}: found {found}; expected keys that do not overlap")


def _changes(key: str, value: Any) -> bool:
    """Return whether a key below a value's key would change that value."""
    if not isinstance(value, Mapping):
        return bool(key.partition(".")[0] != value)  # the keys below a name are its parameters
    for name, one in leaves(value):
        if name == key or name.startswith(f"{key}."):
            return True
        if key.startswith(f"{name}.") and one != {} and _changes(key.removeprefix(f"{name}."), one):
            return True
    return False


def _plain(value: Any) -> Any:
    """As JSON has it: lists for arrays, ranges and tuples, text for paths."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    _check_length("grid", value)
    if isinstance(value, list | tuple | range):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return fspath(value) if isinstance(value, PathLike) else value


def _check_count(place: str, count: int | tuple[int, ...]) -> None:
    if isinstance(count, tuple):
        if not count or len(set(count)) < len(count):
            raise _core.FlashwattError(f"{place}: found {shown(list(count))}; expected at least one seed, each once")
    elif isinstance(count, bool) or count < 1:
        raise _core.FlashwattError(f"{place}: found {count}; expected a whole number, ≥ 1")


def _place(name: str, text: str, key: str, number: int = 0) -> str:
    """`study.toml:7: `, if the key stands somewhere in the file below the table that its first part names.

    `number` counts the tables of that name: every `[[grid]]` is one.
    """
    if not text:
        return ""
    table, _, last = key.rpartition(".")
    name_of_table = re.escape((table or key).partition(".")[0])
    arrays = list(re.finditer(rf"^[ \t]*\[\[{name_of_table}\]\]", text, re.MULTILINE))
    header = arrays[number] if number < len(arrays) else None
    if table and header is None:
        header = re.search(rf"^[ \t]*\[{name_of_table}\b", text, re.MULTILINE)
    assigned = re.compile(rf"""^[ \t]*(?:[\w.\-"']*\.)?["']?{re.escape(last)}["']?[ \t]*=""", re.MULTILINE)
    found = header if header and not table else assigned.search(text, header.end() if header else 0)
    return f"{name}:{text.count(chr(10), 0, found.end()) + 1}: " if found else f"{name}: "
