"""Verdicts: a criterion, the simulated figure, and whether the figure meets the criterion."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from flashwatt.base.misspelt import known
from flashwatt.reproduce.evidence import NoEvidenceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from flashwatt.reproduce.catalogue import Experiment
    from flashwatt.reproduce.criterion import Criterion, Value
    from flashwatt.reproduce.evidence import Evidence


class Verdict(Enum):
    """The verdict on a criterion."""

    MET = "met"
    MISSED = "MISSED"
    SHOWN = "shown"
    """The criterion has no bound: the figure stands beside the published one for comparison."""
    SHORT = "too short"
    """Runs were cut short by `--requests`, and the criterion is for whole ones."""
    UNKNOWN = "no evidence"
    """A run that it needs was not made, failed, or went over its budget of operations."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table of verdicts."""

    experiment: str
    quantity: str
    says: str
    source: str
    published: str
    simulated: Value | None
    unit: str
    gated: bool
    bound: str
    verdict: Verdict
    calibrated: bool
    remark: str
    """The reason, if known, why the figure differs from the published one, or why there is none."""

    @property
    def claim(self) -> str:
        """The paper's claim, and whether the model was fitted to it."""
        return f"{self.says} (calibrated)" if self.calibrated else self.says

    def to_dict(self) -> dict[str, Any]:
        """As in verdicts.json."""
        return {**asdict(self), "verdict": self.verdict.value}


@dataclass(frozen=True, slots=True)
class Finding:
    """An experiment, its runs, and a row for each of its criteria."""

    experiment: Experiment
    evidence: Evidence
    rows: list[Row]


def judge(experiment: Experiment, evidence: Evidence, *, short: bool = False) -> list[Row]:
    """Give a verdict on every criterion of an experiment, unless its runs are cut `short`.

    Raises `FlashwattError` for a fault in the experiment's own code.
    """
    with experiment.measures() as measures:
        quantities: Mapping[str, Callable[[], Value]] = measures.quantities(evidence)
        known(f"{measures.__file__}: quantities", [one.quantity for one in experiment.criteria], quantities)
        return [_row(experiment.id, one, quantities[one.quantity], short=short) for one in experiment.criteria]


def _row(experiment: str, criterion: Criterion, measure: Callable[[], Value], *, short: bool) -> Row:
    try:
        value, remark = measure(), ""
    except NoEvidenceError as error:
        value, remark = None, str(error)
    except ZeroDivisionError:
        value, remark = None, "a ratio to nothing: something that it counts never happened"
    verdict = _verdict(criterion, value, short=short)
    reason = criterion.why or ("no reason is known" if verdict is Verdict.MISSED else "")
    return Row(
        experiment,
        criterion.quantity,
        criterion.says,
        criterion.source,
        criterion.published,
        value,
        criterion.unit,
        criterion.meets is not None,
        criterion.bound,
        verdict,
        criterion.calibrated,
        reason if verdict in (Verdict.MISSED, Verdict.SHOWN) and not short else remark,
    )


def _verdict(criterion: Criterion, value: Value | None, *, short: bool) -> Verdict:
    if value is None or math.isnan(value):
        return Verdict.UNKNOWN
    if criterion.meets is None:
        return Verdict.SHOWN
    if short:
        return Verdict.SHORT
    return Verdict.MET if criterion.meets(value) else Verdict.MISSED


def tally(rows: Iterable[Row]) -> dict[str, int]:
    """Count the gated criteria, and the rows of each verdict."""
    rows = list(rows)
    counted = Counter(row.verdict for row in rows)
    return {"gated": sum(row.gated for row in rows), **{verdict.value: counted[verdict] for verdict in Verdict}}
