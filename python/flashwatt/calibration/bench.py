"""The rows of a table as runs: each configuration is simulated once, and other prices are priced from its report.

A run depends on times, sizes and policies; currents and voltages only price its ledger. So a parameter that the
engine accepts as a price (`flashwatt.reprice`) needs no run of its own. Energy is linear in the currents: where the
figures of a row are, which is checked at three price tables, they follow from one repricing for each current, and any
further price costs a product of numbers.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from flashwatt import _core
from flashwatt.base.literals import assignments
from flashwatt.config.config import Config
from flashwatt.config.reference import keys
from flashwatt.config.spelling import as_written
from flashwatt.report.metrics import listed, listed_parts
from flashwatt.sweeps.task import Hashes, defined
from flashwatt.sweeps.work import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from numpy.typing import NDArray

    from flashwatt.base.files import Json
    from flashwatt.calibration.space import Values
    from flashwatt.calibration.table import Figure, Parameter, Table
    from flashwatt.sweeps.executor import Executor
    from flashwatt.sweeps.journal import Journal
    from flashwatt.sweeps.task import Task

_EXACT = 1e-9
"""Relative difference up to which figures count as linear in the prices: rounding of doubles alone."""


@dataclass
class _Row:
    """What is known of a row."""

    name: str
    config: Config
    figures: list[Figure]
    prices: Values = field(default_factory=dict)
    """Free parameters that price a report and change no run; of each a value beside the start, for its slope."""
    linear: bool = False
    """Whether the figures are linear in the prices."""
    tasks: dict[tuple[float, ...], Task | None] = field(default_factory=dict)
    """By the values of the other parameters; None for a configuration that cannot be run."""
    valid: dict[tuple[float, ...], bool] = field(default_factory=dict)
    """By the values of all parameters: whether the configuration is one. A pair of prices may be none."""
    lines: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = field(default_factory=dict)
    """By the id of a task: the figures at the first prices, and their slopes by price."""
    priced: dict[tuple[str, tuple[float, ...]], NDArray[np.float64]] = field(default_factory=dict)
    """By the id of a task and prices: the figures, where they are not linear."""


class Bench:
    """Gives the figures of all rows at values of the parameters."""

    def __init__(self, table: Table, preset: str, journal: Journal, executor: Executor) -> None:
        """Prepare the rows; the executor runs them."""
        self.table, self.preset, self.journal, self.executor = table, preset, journal, executor
        self.told: Callable[[int], object] = lambda _runs: None
        """Hears the number of runs after each of them."""
        self.rows = self._rows()
        self.start: Values = {}
        self.simulated, self.found = 0, 0
        self.failures: Counter[str] = Counter()
        """Faults of configurations that the search asked for, and how often."""
        self._hashes = Hashes()
        self._counted: set[str] = set()
        self._failed: dict[str, str] = {}

    def begin(self) -> Values:
        """Run every row at the start values, which are given, and find which parameters are prices.

        Raises `FlashwattError` with the faults of all rows, or for a figure that a row's report does not have.
        """
        self.start = self._start()
        tasks = [self._checked(number) for number in range(len(self.rows))]
        self._run(tasks)
        for number, (row, task) in enumerate(zip(self.rows, tasks, strict=True)):
            if any(other is row for other in self.rows[:number]):
                continue
            report = self._report(task)
            if report is None:
                fault = self._failed[task.id]
                raise _core.FlashwattError(f"{self.table.places.name}: {row.name}: no run at the start values; {fault}")
            self._check_figures(row, report)
            self._find_prices(row, report)
        return dict(self.start)

    def figures(self, points: Sequence[Values], rows: Container[int] | None = None) -> NDArray[np.float64]:
        """Give a row for each point: the figures of the table in its order; nan where a configuration cannot be run.

        With `rows`, only these rows of the table are run; the figures of the others are nan.
        """
        wanted = [rows is None or number in rows for number in range(len(self.rows))]
        asked = [
            [self._task(row, point) if run else None for row, run in zip(self.rows, wanted, strict=True)]
            for point in points
        ]
        self._run([task for tasks in asked for task in tasks if task])
        found = np.full((len(points), len(self.table.figures)), np.nan)
        for place, (point, tasks) in enumerate(zip(points, asked, strict=True)):
            begin = 0
            for row, task in zip(self.rows, tasks, strict=True):
                end = begin + len(row.figures)
                if task:
                    found[place, begin:end] = self._priced(row, task, point)
                begin = end
        return found

    def valid(self, point: Values) -> bool:
        """Whether every row can be run at this point."""
        return all(self._task(row, point) for row in self.rows)

    # ---------------------------------------------------------------- the start

    def _rows(self) -> list[_Row]:
        """Give what is known of each row: one object for rows that measure the same figures of the same run."""
        same: dict[str, _Row] = {}
        found = []
        for number, row in enumerate(self.table.rows):
            config = _config(self.table, self.preset, row.overrides)
            measured = [one for one in self.table.figures if one.row == number]
            name = repr((config.text, [one.key for one in measured]))
            found.append(same.setdefault(name, _Row(row.name, config, measured)))
        return found

    def _start(self) -> Values:
        """Give each parameter its start: the table's, else the preset's value within the bounds, else their middle."""
        found: Values = {}
        known: dict[str, Any] = {}
        with suppress(_core.FlashwattError):  # without the free parameters it may be no whole configuration
            known = _written(self.rows[0].config)
        for one in self.table.parameters:
            value = one.start if one.start is not None else known.get(one.key)
            if isinstance(value, bool) or not isinstance(value, int | float):
                value = (one.low * one.high) ** 0.5 if one.log else (one.low + one.high) / 2
            value = min(max(value, one.low), one.high)
            found[one.key] = round(value) if one.whole else value
        return found

    def _checked(self, number: int) -> Task:
        """Define the run of a row at the start; its faults name the row and the key in the table."""
        row = self.rows[number]
        try:
            return self._define(row, self.start)
        except _core.FlashwattError as error:
            lines = [self._explained(line, number) for line in str(error).splitlines()]
            raise _core.FlashwattError("\n".join(lines)) from None

    def _explained(self, line: str, number: int) -> str:
        places, row = self.table.places, self.table.rows[number]
        line = re.sub(rf"^{re.escape(places.name)}(:\d+)*: ", "", line.removeprefix("override "))
        line = line.removeprefix("--set: ")
        key, colon, fault = line.partition(": ")
        if colon and key.partition(".")[0] in keys():
            if any(one.key == key for one in self.table.parameters):
                return f"{places.at(f'free.{key}')}free.{key}: {fault} (at the start, {row.name})"
            whole = f"overrides.{key}"
            common = key in self.table.overrides
            return f"{places.at(whole, None if common else number)}{'' if common else f'{row.name}: '}{whole}: {fault}"
        return f"{places.at('overrides', number)}{row.name}: {line}"

    def _check_figures(self, row: _Row, report: Json) -> None:
        for one in row.figures:
            if _value(report, one.key) is None:
                number = next(place for place, other in enumerate(self.rows) if other is row)
                what = "the run has no such figure; found nothing; expected one that this workload gives"
                raise self.table.places.fault(f"measured.{one.key}", what, number)

    def _find_prices(self, row: _Row, report: Json) -> None:
        """Find the parameters that the engine takes as prices of a report, and whether figures are linear in them."""
        text = json.dumps(report)
        for one in self.table.parameters:
            if one.key.startswith("energy.") and (value := self._another(row, text, one)) is not None:
                row.prices[one.key] = value
        if not row.prices:
            return
        first = self._repriced(row, text, self._prices(row, self.start))
        slopes = self._slopes(row, text, first)
        try:
            row.linear = all(self._is_linear(row, text, first, slopes, share) for share in (0.5, 1.0))
        except _core.FlashwattError:  # no price table: the prices are valid one by one only
            row.linear = False

    def _another(self, row: _Row, text: str, one: Parameter) -> float | None:
        """Give a value of a parameter, far from its start, at which a report can be priced; None if it is no price."""
        start = self.start[one.key]
        for value in sorted((one.low, one.high, (start + one.high) / 2), key=lambda value: -abs(value - start)):
            with suppress(_core.FlashwattError):
                if value != start and not np.isnan(self._repriced(row, text, {one.key: round(value, 3)})).any():
                    return round(value, 3)  # with nan it has a figure that only a run gives: a peak
        return None

    def _is_linear(
        self, row: _Row, text: str, first: NDArray[np.float64], slopes: NDArray[np.float64], share: float
    ) -> bool:
        """Compare figures at a share of the way to the other prices, all of them changed, with those of the slopes."""
        there = {key: round(self.start[key] + share * (far - self.start[key]), 3) for key, far in row.prices.items()}
        predicted = first + slopes @ self._moves(row, there)
        return bool(np.allclose(predicted, self._repriced(row, text, there), rtol=_EXACT, atol=0))

    # ---------------------------------------------------------------- runs

    def _task(self, row: _Row, point: Values) -> Task | None:
        """Give the run of a row at a point, at the start's prices; None if it cannot be run."""
        if row.prices and not self._is_valid(row, point):
            return None
        key = tuple(value for name, value in point.items() if name not in row.prices)
        if key not in row.tasks:
            try:
                row.tasks[key] = self._define(row, point)
            except _core.FlashwattError as error:
                self.failures[str(error).splitlines()[0]] += 1
                row.tasks[key] = None
        return row.tasks[key]

    def _is_valid(self, row: _Row, point: Values) -> bool:
        """Whether the configuration is valid at the prices of a point: its run has those of the start."""
        key = tuple(point.values())
        if key not in row.valid:
            config = row.config.override(point)
            try:
                _core.definition(config.text, config.name, list(config.sets))
                row.valid[key] = True
            except _core.FlashwattError as error:
                self.failures[str(error).splitlines()[0]] += 1
                row.valid[key] = False
        return row.valid[key]

    def _define(self, row: _Row, point: Values) -> Task:
        values = {key: self.start[key] if key in row.prices else value for key, value in point.items()}
        (task,) = defined(row.config.override(values), {"row": row.name, **values}, self._hashes)
        return task

    def _run(self, tasks: Sequence[Task]) -> None:
        """Simulate the runs that the journal has not. One that failed is remembered until the end of the command."""
        every = {task.id: task for task in tasks if task.id not in self._failed}
        missing = {name: task for name, task in every.items() if name not in self.journal}
        self.found += sum(name not in missing and name not in self._counted for name in every)
        self._counted |= set(every)
        if not missing:
            return
        work = Work(missing.values(), self.journal, self._kept)
        self.executor.run(work)
        for task, fault in work.faults.items():
            self._failed[task] = fault.why.splitlines()[0]
            self.failures[self._failed[task]] += 1

    def _kept(self, _task: Task) -> None:
        self.simulated += 1
        self.told(self.simulated + self.found)

    def _report(self, task: Task) -> Json | None:
        """Give the report of a run; None if it failed or did not complete."""
        if task.id in self._failed:
            return None
        found: Json = json.loads(self.journal.line(task.id))["report"]
        if found["status"] != "complete":
            self._failed[task.id] = found["status"]
            self.failures[found["status"]] += 1
            return None
        return found

    # ---------------------------------------------------------------- prices

    def _priced(self, row: _Row, task: Task, point: Values) -> NDArray[np.float64]:
        """Give the figures of a run at the prices of a point; nan for a run that did not complete."""
        prices = self._prices(row, point)
        if row.linear or not row.prices:
            if task.id not in row.lines:
                row.lines[task.id] = self._line(row, task)
            first, slopes = row.lines[task.id]
            return np.asarray(first + slopes @ self._moves(row, prices), dtype=float)
        key = (task.id, tuple(prices.values()))
        if key not in row.priced:
            report = self._report(task)
            row.priced[key] = self._repriced(row, json.dumps(report), prices) if report else _nothing(row)
        return row.priced[key]

    def _line(self, row: _Row, task: Task) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give the figures of a run at the prices of the start, and their slopes."""
        report = self._report(task)
        if report is None or not row.prices:
            first = _values(report, row) if report else _nothing(row)
            return first, np.zeros((len(row.figures), len(row.prices)))
        text = json.dumps(report)
        first = self._repriced(row, text, self._prices(row, self.start))
        return first, self._slopes(row, text, first)

    def _slopes(self, row: _Row, text: str, first: NDArray[np.float64]) -> NDArray[np.float64]:
        """By how much each figure grows with each price, from one repricing for each."""
        start = self._prices(row, self.start)
        columns = [
            (self._repriced(row, text, {**start, key: value}) - first) / (value - start[key])
            for key, value in row.prices.items()
        ]
        return np.asarray(np.transpose(columns), dtype=float)

    def _moves(self, row: _Row, prices: Values) -> NDArray[np.float64]:
        return np.array([prices[key] - self.start[key] for key in row.prices], dtype=float)

    @staticmethod
    def _prices(row: _Row, point: Values) -> Values:
        return {key: point[key] for key in row.prices}

    @staticmethod
    def _repriced(row: _Row, text: str, prices: Values) -> NDArray[np.float64]:
        table = "\n".join(assignments(prices))
        return _values(json.loads(_core.reprice(text, row.name, table, "the free parameters")), row)


def _config(table: Table, preset: str, overrides: dict[str, Any]) -> Config:
    """Give a row's configuration; its name makes relative paths lead from the directory of the table."""
    return Config("\n".join(assignments({"device.preset": preset, **overrides})), table.places.name)


def _written(config: Config) -> dict[str, Any]:
    return as_written(json.loads(_core.resolve(config.text, config.name, list(config.sets))))


def _values(report: Json, row: _Row) -> NDArray[np.float64]:
    """Give the figures of a row; nan for one that the report does not have."""
    found = (_value(report, one.key) for one in row.figures)
    return np.array([np.nan if one is None else one for one in found], dtype=float)


def _nothing(row: _Row) -> NDArray[np.float64]:
    return np.full(len(row.figures), np.nan)


def _value(report: Json, key: str) -> float | None:
    """Give a figure of a report by its dotted key."""
    found: Any = report
    if listed_parts(key):
        found = listed(report).get(key)
    else:
        for part in key.split("."):
            found = found.get(part) if isinstance(found, dict) else None
    return None if isinstance(found, bool) or not isinstance(found, int | float) else found
