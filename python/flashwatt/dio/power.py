"""The power of a real target: from a file of readings, or from a meter that the kernel shows as a file."""

from __future__ import annotations

import csv
import io
import itertools
import math
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

from flashwatt import _core
from flashwatt.base.files import printable, read_text
from flashwatt.dio.figures import POWER_KEYS, priced
from flashwatt.dio.probes import in_bins
from flashwatt.dio.target import SAMPLE_NS, Power

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_TIMES = {"time": 1e9, "time_s": 1e9, "time_ms": 1e6, "time_us": 1e3, "time_ns": 1.0, "unix_s": 1e9, "timestamp": 1e9}
"""Names of a column of times, with the ns of its unit."""
_WATTS, _VOLTS, _AMPERES = ("watts", "power_w", "w"), ("volts", "v"), ("amperes", "a")
_RAILS = {"": "all", "_5v": "5V", "_12v": "12V"}
"""Ends of the names of columns: `watts_5v`, `volts_12v`."""
_UNIX_FROM_S = 1e9
"""Times from here on (2001) count from 1970, smaller ones from the beginning of the run."""
_BYTES_MAX = 1 << 30
_GAP_FACTOR, _GAP_LEAST_NS = 20, 100_000_000
"""A gap of more than this number of usual intervals, and of 0.1 s at least, is not covered by readings. Choice."""


class Readings:
    """Readings of the power by rail. A reading holds until the next one."""

    def __init__(
        self, name: str, times_ns: Sequence[int], rails: dict[str, list[float]], *, has_gaps: bool = True
    ) -> None:
        """Take readings in the order of their times, in ns since 1970; of each rail as many.

        The differences of a counter of energy have no gaps, however late it is read.
        """
        self.name, self._times, self._rails = name, times_ns, rails
        steps = sorted(later - earlier for earlier, later in itertools.pairwise(times_ns))
        self.interval_ns = steps[len(steps) // 2] if steps else 0
        self._longest = max(_GAP_FACTOR * self.interval_ns, _GAP_LEAST_NS) if has_gaps else math.inf

    @property
    def window_ns(self) -> tuple[int, int]:
        """The first and the last time."""
        return self._times[0], self._times[-1]

    @property
    def rails(self) -> list[str]:
        """The names of the rails."""
        return list(self._rails)

    def over(self, begin_ns: int, end_ns: int) -> Power | None:
        """Give the power in a window; None unless the readings cover all of it."""
        first = bisect_right(self._times, begin_ns) - 1
        last = bisect_right(self._times, end_ns - 1) - 1
        if first < 0 or end_ns > self._times[-1] + self.interval_ns or end_ns <= begin_ns:
            return None
        edges = [begin_ns, *self._times[first + 1 : last + 1], end_ns]
        if max(b - a for a, b in zip([self._times[first], *edges[1:-1]], edges[1:], strict=True)) > self._longest:
            return None
        spans = [(b - a) / 1e9 for a, b in itertools.pairwise(edges)]
        joules = 0.0
        for values in self._rails.values():
            joules += sum(watts * span for watts, span in zip(values[first : last + 1], spans, strict=True))
        series = {rail: resampled(values[first : last + 1], spans) for rail, values in self._rails.items()}
        return Power(joules, (end_ns - begin_ns) / 1e9, series, SAMPLE_NS)


def resampled(watts: Sequence[float], spans: Sequence[float]) -> list[float]:
    """Give means over intervals of 1 ms of power that is constant over each span (in s)."""
    step = SAMPLE_NS / 1e9
    found, energy, filled = [], 0.0, 0.0
    for watt, span in zip(watts, spans, strict=True):
        left = span
        while left > 0:
            part = min(left, step - filled)
            energy, filled, left = energy + watt * part, filled + part, left - part
            if filled >= step * (1 - 1e-9):
                found.append(energy / filled)
                energy = filled = 0.0
    if filled > step * 1e-6:
        found.append(energy / filled)
    return found


def check_header(path: Path) -> None:
    """Raise `FlashwattError` for a file without columns of times and power. A meter may still be writing the rest."""
    name = printable(path)
    header = next(csv.reader(io.StringIO(read_text(path, _BYTES_MAX))), None)
    if header is not None:
        _columns([one.strip().lower() for one in header], name)


class _Columns(NamedTuple):
    """Where the columns of a table stand: the time, and for each rail watts, or volts and amperes."""

    time: int
    ns: float
    rails: dict[str, tuple[int, ...]]


def read_csv(path: Path, began_unix_ns: int, offset_s: float) -> Readings:
    """Read a file of times and watts, or of volts and amperes.

    `offset_s` is added to the times; those that count from the run's beginning begin at `began_unix_ns`. Raises
    `FlashwattError` with the line of a fault.
    """
    name = printable(path)
    lines = csv.reader(io.StringIO(read_text(path, _BYTES_MAX)))
    header = next(lines, None)
    if header is None:
        raise _core.FlashwattError(f"{name}: no readings; found an empty file; expected columns time_s and watts")
    columns = _columns([one.strip().lower() for one in header], name)
    times: list[int] = []
    rails: dict[str, list[float]] = {rail: [] for rail in columns.rails}
    for number, row in enumerate(lines, 2):
        if not row:
            continue
        place = f"{name}:{number}"
        time = _number(row, columns.time, place, header)
        seconds = time * columns.ns / 1e9
        base = 0 if seconds >= _UNIX_FROM_S else began_unix_ns
        now = base + round(time * columns.ns) + round(offset_s * 1e9)
        if times and now <= times[-1]:
            found = f"{header[columns.time]}: times go back or stand still; found {row[columns.time]}"
            raise _core.FlashwattError(f"{place}: {found}; expected more than in the line before")
        times.append(now)
        for rail, cells in columns.rails.items():
            rails[rail].append(_watts([_number(row, cell, place, header) for cell in cells], place, header[cells[0]]))
    if len(times) < 2:  # noqa: PLR2004 - one reading holds for no time
        raise _core.FlashwattError(f"{name}: found {len(times)} readings; expected two or more")
    return Readings(path.name, times, rails)


def _watts(factors: list[float], place: str, column: str) -> float:
    watts = math.prod(factors)
    if watts < 0:
        raise _core.FlashwattError(f"{place}: {column}: negative power; found {watts:g} W; expected 0 or more")
    return watts


def _number(row: list[str], at: int, place: str, header: list[str]) -> float:
    text = row[at].strip() if at < len(row) else ""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _core.FlashwattError(f"{place}: {header[at].strip()}: found {text!r}; expected a number")
    return value


def _columns(names: list[str], name: str) -> _Columns:
    time = next((one for one in names if one in _TIMES), None)
    found = ", ".join(names)
    if time is None:
        raise _core.FlashwattError(f"{name}:1: no column of times; found {found}; expected one of {', '.join(_TIMES)}")
    rails = dict(_rails(names))
    if not rails:
        expected = "watts, or volts and amperes; by rail watts_5v, watts_12v"
        raise _core.FlashwattError(f"{name}:1: no column of power; found {found}; expected {expected}")
    if "all" in rails and len(rails) > 1:
        raise _core.FlashwattError(f"{name}:1: power in all and by rail; found {found}; expected one of them")
    return _Columns(names.index(time), _TIMES[time], rails)


def _rails(names: list[str]) -> Iterator[tuple[str, tuple[int, ...]]]:
    for end, rail in _RAILS.items():
        watts = next((f"{one}{end}" for one in _WATTS if f"{one}{end}" in names), None)
        volts = next((f"{one}{end}" for one in _VOLTS if f"{one}{end}" in names), None)
        amperes = next((f"{one}{end}" for one in _AMPERES if f"{one}{end}" in names), None)
        if watts:
            yield rail, (names.index(watts),)
        elif volts and amperes:
            yield rail, (names.index(volts), names.index(amperes))


_MICRO = 1e6
_COUNTERS = ("energy_uj", "energy1_input", "energy2_input", "energy3_input", "energy4_input")
_GAUGES = tuple(f"power{number}_{kind}" for number in range(1, 9) for kind in ("input", "average"))


def is_meter(path: Path) -> bool:
    """Whether a path is a number that hwmon (µW, µJ) or powercap (µJ) shows, by its name."""
    return path.name in (*_COUNTERS, *_GAUGES)


class Meter:
    """A number of hwmon or powercap that is read every 1 ms while the benchmark runs."""

    def __init__(self, path: Path, interval_ns: int = SAMPLE_NS) -> None:
        """Begin to read. Raises `FlashwattError` for a file that cannot be read, or holds no number."""
        self._path, self._meter = path, _core.Meter(path, interval_ns)

    def stop(self) -> Readings:
        """Stop; give the readings."""
        readings = self._meter.stop()
        name = f"{self._path.parent.name}/{self._path.name}"
        times = [one[0] for one in readings]
        values = [one[1] for one in readings]
        if self._path.name in _COUNTERS:
            values = [*unwrapped(values, self._wraps_at())]
            pairs = zip(times, times[1:], values, values[1:], strict=False)
            watts = [(b - a) / _MICRO / ((until - since) / 1e9) for since, until, a, b in pairs]
            return Readings(name, times, {"all": [*watts, watts[-1] if watts else 0.0]}, has_gaps=False)
        return Readings(name, times, {"all": [value / _MICRO for value in values]})

    def _wraps_at(self) -> int | None:
        """Of powercap: the largest value of the counter, behind which it begins at 0 again."""
        path = self._path.parent / "max_energy_range_uj"
        return int(path.read_text()) if path.exists() else None


def unwrapped(values: Sequence[int], wraps_at: int | None) -> Iterator[int]:
    """Give a counter without the steps back to 0. Raises `FlashwattError` for a step back of one that does not wrap."""
    base, last = 0, None
    for value in values:
        if last is not None and value < last:
            if wraps_at is None:
                raise _core.FlashwattError(f"a counter of energy goes back; found {value} after {last}; expected more")
            base += wraps_at + 1
        last = value
        yield base + value


def attach(content: dict[str, Any], readings: Readings) -> tuple[int, int]:
    """Put the power of the readings into the points and probes of a result.

    Give how many windows of the target's clock there are, and how many the readings cover.
    """
    windows, covered = 0, 0
    for at, one in enumerate(content["points"]):
        power = readings.over(one["began_ns"], one["ended_ns"])
        content["points"][at] = priced({**one, **dict.fromkeys(POWER_KEYS)}, power)
        windows, covered = windows + 1, covered + (power is not None)
    for one in _windows(content["probes"]):
        power = readings.over(one["began_ns"], one["ended_ns"])
        one["power"] = in_bins(power) if power else None
        windows, covered = windows + 1, covered + (power is not None)
    content["power"] = {"source": readings.name, "rails": readings.rails, "interval_ns": readings.interval_ns}
    return windows, covered


def _windows(probes: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for one in probes.values():
        if "power" in one:
            yield one
        if "after" in one:
            yield one["after"]
