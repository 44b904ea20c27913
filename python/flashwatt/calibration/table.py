"""The table of a calibration: the free parameters, and rows of measured figures. Every fault is named with its line."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.files import printable, read_text
from flashwatt.base.literals import flattened, shown
from flashwatt.base.misspelt import hint
from flashwatt.calibration.places import Places
from flashwatt.config.config import parse_toml
from flashwatt.config.reference import keys, numbered
from flashwatt.report.keys import figures, is_figure, listed_figures

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

_KEYS = ("description", "source", "noise_fraction", "overrides", "free", "rows")
_ROW_KEYS = ("name", "overrides", "measured", "noise_fraction", "held_out")
_FREE_KEYS = ("min", "max", "start", "scale")
_FIGURE_KEYS = ("value", "noise_fraction", "noise_absolute")
_SCALES = ("linear", "log")
PARAMETERS_MAX = 20
"""Free parameters at most: a run for each of them, and for each row, in every step."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A key of the configuration that the fit may change, within bounds."""

    key: str
    low: float
    high: float
    log: bool
    """Whether equal ratios of the value count as equal distances, and not equal differences."""
    whole: bool
    start: float | None
    """Where the first search begins; None for the preset's value."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured figure of a row."""

    row: int
    key: str
    """Of the report: `energy_j.total`."""
    value: float
    noise: float
    """Standard deviation of the measurement, in the unit of the value."""


@dataclass(frozen=True, slots=True)
class Row:
    """One workload, and what was measured under it."""

    name: str
    overrides: dict[str, Any]
    """Values by keys of the configuration, those of the table and then its own."""
    held_out: bool


@dataclass(frozen=True, slots=True)
class Table:
    """A table of measurements with the parameters that are to be fitted to it."""

    places: Places
    description: str
    source: str
    overrides: dict[str, Any]
    """Of every row."""
    parameters: tuple[Parameter, ...]
    rows: tuple[Row, ...]
    figures: tuple[Figure, ...]
    """Of all rows, in their order."""

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Table:
        """Read a TABLE.toml. Raises `FlashwattError` for a file that is none."""
        places = Places(printable(path), read_text(path))
        return cls.of(parse_toml(places.text, places.name), places)

    @classmethod
    def of(cls, content: Mapping[str, Any], places: Places) -> Table:
        """Check the content of a table. Raises `FlashwattError`, which names the place."""
        _check_keys(places, content)
        parameters = tuple(_parameters(places, _table(places, content, "free")))
        overrides = _overrides(places, content, parameters)
        listed = content.get("rows", [])
        if not isinstance(listed, list) or not all(isinstance(one, Mapping) for one in listed):
            raise places.fault("rows", f"found {shown(listed)}; expected [[rows]], a table for each row")
        rows = tuple(_row(places, one, number, overrides, parameters) for number, one in enumerate(listed))
        _check_names(places, rows)
        noise = _noise(places, content, None)
        measured = tuple(one for number, row in enumerate(listed) for one in _figures(places, row, number, noise))
        description, source = (_text(places, content, key) for key in ("description", "source"))
        table = cls(places, description, source, overrides, parameters, rows, measured)
        table.check_count(0)
        return table

    @property
    def name(self) -> str:
        """The name of its file without directories: results name no path of a machine."""
        return Path(self.places.name).name

    @property
    def sha256(self) -> str:
        """Of its text."""
        return hashlib.sha256(self.places.text.encode()).hexdigest()

    @property
    def fitted_rows(self) -> tuple[int, ...]:
        """The numbers of the rows that are not held out."""
        return tuple(number for number, row in enumerate(self.rows) if not row.held_out)

    def check_count(self, hold_out: int) -> None:
        """Refuse fewer measured figures than parameters, with `hold_out` more rows held out."""
        counts = sorted(sum(one.row == row for one in self.figures) for row in self.fitted_rows)
        found = sum(counts[: max(0, len(counts) - hold_out)])  # the rows that leave least behind
        if found < len(self.parameters):
            rest = f" when {hold_out} rows are held out" if hold_out else ", rows held out aside"
            what = f"fewer measured figures than free parameters; found {found} figures{rest}"
            raise self.places.fault("rows", f"{what}; expected {len(self.parameters)} at least, one for each parameter")


def _check_keys(places: Places, content: Mapping[str, Any]) -> None:
    if not set(content) & {"free", "rows"} and set(content) & {key.partition(".")[0] for key in keys()}:
        found = f"{places.name}: not a table of measurements but a configuration; found `{next(iter(content))}`"
        raise _core.FlashwattError(f"{found}; expected `[free]` and `[[rows]]`")
    for key in content:
        if key not in _KEYS:
            raise places.unknown(key, _KEYS)
    for key, example in (
        ("free", "device.timing.program_ns = { min = 500_000, max = 1_500_000 }"),
        ("rows", "measured = { energy_j.total = 1.3e-3 }"),
    ):
        if not content.get(key):
            brackets = f"[{key}]" if key == "free" else f"[[{key}]]"
            raise _core.FlashwattError(f"{places.name}: {key}: found none; expected {brackets} with {example}")


def _table(places: Places, content: Mapping[str, Any], key: str, row: int | None = None) -> Mapping[str, Any]:
    found = content.get(key, {})
    if not isinstance(found, Mapping):
        raise places.fault(key, f"found {shown(found)}; expected a table", row)
    return found


def _text(places: Places, content: Mapping[str, Any], key: str) -> str:
    found = content.get(key, "")
    if not isinstance(found, str) or "\n" in found:
        raise places.fault(key, f"found {shown(found)}; expected text on one line")
    return found


def _number(places: Places, key: str, value: Any, expected: str, row: int | None = None) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise places.fault(key, f"found {shown(value)}; expected {expected}", row)
    return value


def _parameters(places: Places, tree: Mapping[str, Any]) -> Iterator[Parameter]:
    leaves = dict(_free_keys(places, tree, ""))
    if len(leaves) > PARAMETERS_MAX:
        raise places.fault("free", f"found {len(leaves)} parameters; expected at most {PARAMETERS_MAX}")
    for key, found in leaves.items():
        yield _parameter(places, key, found)


def _free_keys(places: Places, tree: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Find the tables of bounds below `[free]`, by the keys that they are for."""
    for name, value in tree.items():
        key = f"{prefix}{name}"
        if not isinstance(value, Mapping):
            raise places.fault(f"free.{key}", f"found {shown(value)}; expected {{ min = …, max = … }}")
        if _takes_numbers(key) or not value or set(value) & set(_FREE_KEYS):
            yield key, value
        else:
            yield from _free_keys(places, value, f"{key}.")


def _takes_numbers(key: str) -> bool:
    return bool({"integer", "number"} & set(keys().get(key, {}).get("types", ())))


def _parameter(places: Places, key: str, found: Mapping[str, Any]) -> Parameter:
    name = f"free.{key}"
    if key not in keys():
        numeric = [one for one in keys() if _takes_numbers(one)]
        raise places.fault(name, f"unknown key of the configuration; found `{key}`; {hint(key, numeric)}")
    if not _takes_numbers(key):
        types = " or ".join(keys()[key]["types"])
        raise places.fault(name, f"not a number; found a key that takes {types}; expected one that takes numbers")
    for one in found:
        if one not in _FREE_KEYS:
            raise places.unknown(f"{name}.{one}", _FREE_KEYS)
    whole = "number" not in keys()[key]["types"]
    bounds = {one: _bound(places, key, one, found, whole=whole) for one in ("min", "max")}
    if not bounds["min"] < bounds["max"]:
        what = f"found {bounds['max']}; expected more than min, {bounds['min']}"
        raise places.fault(f"{name}.max", what)
    scale = found.get("scale", "linear")
    if scale not in _SCALES:
        raise places.fault(f"{name}.scale", f"found {shown(scale)}; {hint(str(scale), _SCALES)}")
    if scale == "log" and bounds["min"] <= 0:
        raise places.fault(f"{name}.min", f"found {bounds['min']}; expected more than 0 on a logarithmic scale")
    start = _bound(places, key, "start", found, whole=whole) if "start" in found else None
    if start is not None and not bounds["min"] <= start <= bounds["max"]:
        raise places.fault(f"{name}.start", f"found {start}; expected {bounds['min']} to {bounds['max']}")
    return Parameter(key, bounds["min"], bounds["max"], scale == "log", whole, start)


def _bound(places: Places, key: str, name: str, found: Mapping[str, Any], *, whole: bool) -> float:
    """Take a bound, which the key must be able to have as its value."""
    place = f"free.{key}.{name}"
    if name not in found:
        raise places.fault(f"free.{key}", f"no {name}; found {shown(dict(found))}; expected {{ min = …, max = … }}")
    expected = "a whole number" if whole else "a number"
    value = _number(places, place, numbered(key, found[name]), expected)
    if whole and value != int(value):
        raise places.fault(place, f"found {value}; expected a whole number")
    least, most = keys()[key]["minimum"], keys()[key]["maximum"]
    if (least is not None and value < least) or (most is not None and value > most):
        raise places.fault(place, f"found {value}; expected {least:g} to {most:g}, as the key takes")
    return int(value) if whole else value


def _overrides(
    places: Places, content: Mapping[str, Any], free: tuple[Parameter, ...], row: int | None = None
) -> dict[str, Any]:
    """Dotted keys and values of `overrides`, none of which may be a free parameter."""
    found = flattened(_table(places, content, "overrides", row), f"{places.name}: overrides.")
    for key in found:
        for one in free:
            if key == one.key or one.key.startswith(f"{key}."):
                what = f"found a value for {one.key}, a free parameter; expected one or the other"
                raise places.fault(f"overrides.{key}", what, row)
        if key == "device.preset":
            raise places.fault(f"overrides.{key}", "found a preset; expected it on the command line", row)
    return found


def _row(
    places: Places, content: Mapping[str, Any], number: int, common: dict[str, Any], free: tuple[Parameter, ...]
) -> Row:
    for key in content:
        if key not in _ROW_KEYS:
            raise places.unknown(key, _ROW_KEYS, number)
    name = content.get("name", f"row {number + 1}")
    if not isinstance(name, str) or not name.strip() or "\n" in name:
        raise places.fault("name", f"found {shown(name)}; expected text on one line", number)
    held_out = content.get("held_out", False)
    if not isinstance(held_out, bool):
        raise places.fault("held_out", f"found {shown(held_out)}; expected true or false", number)
    return Row(name, {**common, **_overrides(places, content, free, number)}, held_out)


def _check_names(places: Places, rows: tuple[Row, ...]) -> None:
    first: dict[str, int] = {}
    for number, row in enumerate(rows):
        if (other := first.setdefault(row.name, number)) != number:
            raise places.fault("name", f"found `{row.name}`, as in row {other + 1}; expected each name once", number)


def _noise(places: Places, content: Mapping[str, Any], row: int | None, prefix: str = "") -> float | None:
    """Take `noise_fraction` where it is given."""
    if "noise_fraction" not in content:
        return None
    key, expected = f"{prefix}noise_fraction", "a share of the value, more than 0 and at most 1: 0.02 for 2 %"
    found = _number(places, key, content["noise_fraction"], expected, row)
    if not 0 < found <= 1:
        raise places.fault(key, f"found {found}; expected {expected}", row)
    return found


def _figures(places: Places, content: Mapping[str, Any], row: int, noise: float | None) -> Iterator[Figure]:
    """Take the measured figures of a row."""
    tree = _table(places, content, "measured", row)
    measured = dict(_measured_keys(tree, ""))
    if not measured:
        key = "measured" if "measured" in content else "name"
        expected = "expected one measured figure at least: measured = { energy_j.total = 1.3e-3 }"
        raise places.fault(key, f"a row without values; {expected}", row)
    of_row = _noise(places, content, row)
    for key, found in measured.items():
        if not is_figure(key):
            every = (*figures(), *listed_figures())
            raise places.fault(f"measured.{key}", f"no figure of a report; found `{key}`; {hint(key, every)}", row)
        yield _figure(places, key, found, row, noise if of_row is None else of_row)


def _measured_keys(tree: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """Find the values below `measured`, by the keys of figures: numbers, or tables with `value`."""
    for name, value in tree.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping) and not is_figure(key) and not set(value) & set(_FIGURE_KEYS):
            yield from _measured_keys(value, f"{key}.")
        else:
            yield key, value


def _figure(places: Places, key: str, found: Any, row: int, noise: float | None) -> Figure:
    name = f"measured.{key}"
    table = found if isinstance(found, Mapping) else {"value": found}
    for one in table:
        if one not in _FIGURE_KEYS:
            raise places.unknown(f"{name}.{one}", _FIGURE_KEYS, row)
    if "value" not in table:
        raise places.fault(name, f"no value; found {shown(dict(table))}; expected {{ value = … }}", row)
    expected = "a number in the unit of the report, 0 or more"
    value = _number(places, name, table["value"], expected, row)
    if value < 0:
        raise places.fault(name, f"found {value}; expected {expected}", row)
    if "noise_absolute" in table:
        if "noise_fraction" in table:
            raise places.fault(name, "found noise_fraction and noise_absolute; expected one of them", row)
        expected = "a number above 0, in the unit of the figure"
        absolute = _number(places, f"{name}.noise_absolute", table["noise_absolute"], expected, row)
        if absolute <= 0:
            raise places.fault(f"{name}.noise_absolute", f"found {absolute}; expected {expected}", row)
        return Figure(row, key, value, absolute)
    own = _noise(places, table, row, f"{name}.")
    fraction = noise if own is None else own
    if fraction is None:
        expected = "noise_fraction here, in the row or at the head of the table, or noise_absolute here"
        raise places.fault(name, f"no noise: nothing says how exact the value is; expected {expected}", row)
    if value == 0:
        raise places.fault(name, "found 0 with a relative noise; expected noise_absolute beside it", row)
    return Figure(row, key, value, abs(value) * fraction)
