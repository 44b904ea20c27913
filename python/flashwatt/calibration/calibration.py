"""Fit parameters of a preset to a table of measurements: the function of the package."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.misspelt import known
from flashwatt.base.outputs import check, locked, save_together
from flashwatt.base.outputs import directory as made
from flashwatt.base.reads import reading
from flashwatt.base.scripts import blaming
from flashwatt.calibration.bench import Bench
from flashwatt.calibration.choices import check_choices, choices
from flashwatt.calibration.fit import Problem, Search
from flashwatt.calibration.identify import identified
from flashwatt.calibration.result import Calibration, fitted_of, points_of
from flashwatt.calibration.space import Space
from flashwatt.calibration.table import Table
from flashwatt.calibration.written import held_of, text_of
from flashwatt.config.reference import presets
from flashwatt.sweeps.executor import opened
from flashwatt.sweeps.journal import Journal
from flashwatt.sweeps.workers import Threads, processors

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from pathlib import Path
    from typing import TypeAlias

    from flashwatt.calibration.fit import End
    from flashwatt.sweeps.executor import Executor

    Told: TypeAlias = Callable[[str, int], object]
    """Called after every run: what is being done, and the number of runs so far."""

FILES = {"calibrated.toml": marks.CALIBRATED, "calibration.json": marks.CALIBRATION}
"""What a calibration leaves in its directory, beside its runs in results.jsonl."""


class CalibrationInterruptedError(KeyboardInterrupt):
    """Ctrl-C during a calibration; `calibration` holds the best values until then, None before the first ones."""

    def __init__(self, message: str, calibration: Calibration | None) -> None:
        """Name what was kept."""
        super().__init__(message)
        self.calibration = calibration


@blaming
@reading()
def calibrate(
    preset: str,
    table: str | PathLike[str] | Table,
    *,
    hold_out: int = 0,
    starts: int = 8,
    seed: int = 1,
    workers: int | None = None,
    executor: Executor | str | None = None,
    out: str | PathLike[str] | None = None,
    progress: Callable[[str, int], object] | None = None,
    force: bool = False,
) -> Calibration:
    """Fit the free parameters of a table to its measured figures, on the drive of a preset.

    `table` is the path of a TABLE.toml. Rows that it marks as held out are predicted. With `hold_out` every choice of
    this number of the other rows is held out in turn, too, and predicted by a fit to the rest (`Calibration.choices`).
    `starts` is the number of searches: the first begins at the preset's values, the others spread over the ranges, as
    `seed` chooses them. `workers` is the number of runs at a time, one for each processor unless given; the result is
    the same with any number. `executor` says where runs are made, as for `sweep`; unless given, in threads of this
    process. `progress` is called after every run with what is being done, and the number of runs.

    With a directory `out`, `out/results.jsonl` keeps every run as it ends, and a calibration that finds a run there
    does not simulate it again. `out/calibrated.toml` is the calibrated preset, `out/calibration.json` the report.

    Needs SciPy: `pip install 'flashwatt[calibrate]'`. Raises `FlashwattError` for a fault anywhere in the table, and
    `CalibrationInterruptedError` after Ctrl-C.
    """
    known("preset", [preset], presets())
    size = processors() if workers is None else workers
    for name, found, least in (
        ("starts", starts, 1),
        ("workers", size, 1),
        ("hold_out", hold_out, 0),
        ("seed", seed, 0),
    ):
        if found < least:
            raise _core.FlashwattError(f"{name}: found {found}; expected a whole number, ≥ {least}")
    read = table if isinstance(table, Table) else Table.read(table)
    directory = None if out is None else made(out)
    for name, kind in FILES.items():
        if directory:
            check(directory / name, kind, force=force)
    with (
        locked(directory),
        closing(Journal(directory / "results.jsonl" if directory else None)) as journal,
        opened(executor or Threads(size), size) as where,
    ):
        bench = Bench(read, preset, journal, where)
        work = _Work(bench, starts=starts, seed=seed, told=progress or (lambda _doing, _runs: None))
        try:
            found_ = work.whole(hold_out)
        except KeyboardInterrupt:
            best = work.interrupted()
            if best and directory:
                _save(best, directory, force=force)
            raise CalibrationInterruptedError(_said(best, directory, bench), best) from None
        if directory:
            _save(found_, directory, force=force)
        return found_


class _Work:
    """One calibration."""

    def __init__(self, bench: Bench, *, starts: int, seed: int, told: Told) -> None:
        table = bench.table
        self.bench, self.table, self.starts, self.seed, self.told = bench, table, starts, seed, told
        self.doing = "the rows at the start"
        bench.told = lambda runs: told(self.doing, runs)
        self.space = Space(table.parameters)
        self.problem = Problem(bench, self.space, table.fitted_rows)
        self.search = Search(self.problem, starts, seed, self._ended)
        self.fitted: Calibration | None = None

    def whole(self, hold_out: int) -> Calibration:
        """Fit the table, then every choice of rows."""
        check_choices(self.bench, hold_out)
        self.bench.begin()
        self._tell(f"start 1 of {self.starts}")
        self.fitted = self._result(self.search.run(), "complete")
        if hold_out:
            terms = {"starts": self.starts, "seed": self.seed}
            for one in choices(self.bench, self.space, hold_out, told=self._tell, **terms):
                self.fitted.choices.append(one)
            self.fitted.runs, self.fitted.found_runs = self.bench.simulated, self.bench.found
        return self.fitted

    def interrupted(self) -> Calibration | None:
        """Give the best until an interruption: of the choices of rows those that have ended."""
        if self.fitted:
            self.fitted.status = "interrupted"
            return self.fitted
        return self._result(self.problem.best, "interrupted") if self.problem.best else None

    def _ended(self, number: int, _misfit: float | None) -> None:
        self._tell(f"start {min(number + 1, self.starts)} of {self.starts}")

    def _tell(self, doing: str) -> None:
        self.doing = doing
        self.told(doing, self.bench.simulated + self.bench.found)

    def _result(self, end: End, status: str) -> Calibration:
        """Analyse an end; one of an interrupted search without further runs."""
        problem = self.problem
        slopes = problem.slopes(end.unit) if status == "complete" else None
        jacobian = None if slopes is None else problem.scaled(slopes)
        known_ = None if jacobian is None else identified(jacobian)
        rivals = self.search.rivals(end) if status == "complete" else []
        values = self.space.values(end.unit)
        found = Calibration(
            preset=self.bench.preset,
            table=self.table.name,
            table_sha256=self.table.sha256,
            status=status,
            parameters=fitted_of(problem, end, jacobian, known_, rivals),
            points=points_of(problem, end, slopes, known_),
            held=held_of(self.table, self.bench.preset, values),
            singular_values=[] if known_ is None else [float(one) for one in known_.singular_values],
            correlations=[] if known_ is None else known_.correlations.tolist(),
            starts=self.starts,
            best_starts=len(rivals),
            seed=self.seed,
            runs=self.bench.simulated,
            found_runs=self.bench.found,
            failures=dict(self.bench.failures),
        )
        found.text = text_of(found, self.table)
        return found


def _save(found: Calibration, directory: Path, *, force: bool) -> None:
    contents = (marks.calibrated(found.text), f"{json.dumps(found.to_dict(), indent=2)}\n")
    files = [
        (directory / name, content.encode(), kind)
        for (name, kind), content in zip(FILES.items(), contents, strict=True)
    ]
    save_together(files, force=force)


def _said(best: Calibration | None, directory: Path | None, bench: Bench) -> str:
    """Say what an interruption leaves."""
    runs = f"{bench.simulated + bench.found} runs"
    if directory is None:
        return (
            f"interrupted after {runs}; the best values are in the exception" if best else f"interrupted after {runs}"
        )
    kept = f"{runs} are kept in {directory / 'results.jsonl'}; the same calibration continues from there"
    return f"interrupted: {kept}" + (f"; best values so far: {directory / 'calibrated.toml'}" if best else "")
