"""Reports by the labels of an experiment's axes; its quantities are computed from them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

from flashwatt import _core
from flashwatt.base.misspelt import known
from flashwatt.report.metrics import listed, listed_parts
from flashwatt.report.report import Report, content_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flashwatt.config.config import Config
    from flashwatt.reproduce.catalogue import RunSet
    from flashwatt.reproduce.plan import Labels
    from flashwatt.sweeps.journal import Journal
    from flashwatt.sweeps.task import Task


class NoEvidenceError(_core.FlashwattError):
    """A run that a quantity needs has not come to its end."""


class Runs:
    """The reports of one set of runs, with one seed each."""

    def __init__(self, runs: RunSet, tasks: Mapping[Labels, Sequence[Task]], journal: Journal, seed: int = 0) -> None:
        """Look the tasks' reports up where they are kept: of runs with several seeds, those of one of them."""
        self._set = runs
        self._tasks = {labels: some[seed if len(some) > 1 else 0] for labels, some in tasks.items()}
        self._seeded = {labels for labels, some in tasks.items() if len(some) > 1}
        self._journal = journal
        self._reports: dict[Labels, Report] = {}
        self.by_chance = False
        """Whether a report that depends on the seed has been looked at."""

    def labels(self, axis: str) -> list[str]:
        """An axis's labels, in their order."""
        known(f"runs.{self._set.name}", [axis], self._set.axes)
        return list(self._set.axes[axis])

    def report(self, *labels: str) -> Report:
        """The report of the run with these labels, one for each axis in their order.

        Raises `NoEvidenceError` for a run that is not there, or did not come to its end.
        """
        if labels not in self._tasks:
            known(f"runs.{self._set.name}", [" × ".join(labels)], [" × ".join(one) for one in self._tasks])
        self.by_chance |= labels in self._seeded
        if labels not in self._reports:
            self._reports[labels] = self._load(labels)
        return self._reports[labels]

    def value(self, key: str, *labels: str) -> float:
        """A figure of a report by its dotted key. Raises `NoEvidenceError` where the run has none."""
        found: Any = content_of(self.report(*labels))
        if listed_parts(key):
            found = listed(found)
            known(self._where(labels), [key], found)
            found = found[key]
        else:
            for part in key.split("."):
                if found is None:
                    break
                known(f"{self._where(labels)}: {key}", [part], found)
                found = found[part]
        if found is None:
            raise NoEvidenceError(f"{self._where(labels)}: no {key}")
        return float(found)

    def relative(self, key: str, *labels: str, **base: str) -> float:
        """A figure over that of the run with other labels: `relative("waf", "msnfs", "bast", ftl="page")`."""
        other = [base.get(axis, label) for axis, label in zip(self._set.axes, labels, strict=True)]
        known(f"runs.{self._set.name}", base, self._set.axes)
        return self.value(key, *labels) / self.value(key, *other)

    def config(self, *labels: str) -> Config:
        """The configuration of the run with these labels."""
        return self._tasks[labels].config

    def __iter__(self) -> Iterator[Labels]:
        return iter(self._tasks)

    def _load(self, labels: Labels) -> Report:
        task = self._tasks[labels]
        if task.id not in self._journal:
            raise NoEvidenceError(f"{self._where(labels)}: not run")
        report = Report(json.loads(self._journal.line(task.id))["report"])
        if report.status != "complete":
            raise NoEvidenceError(f"{self._where(labels)}: {report.status}")
        return report

    def _where(self, labels: Labels) -> str:
        return f"run {' × '.join((self._set.name, *labels))}"


Evidence: TypeAlias = "Mapping[str, Runs]"
"""The sets of runs of an experiment, by their names."""
