"""Verdicts: a criterion, what was simulated, and whether that meets it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.misspelt import known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from flashwatt.reproduce.catalogue import Experiment
    from flashwatt.reproduce.criterion import Criterion, Value
    from flashwatt.reproduce.evidence import Evidence


class Verdict(Enum):
    """What is to be said of a criterion."""

    MET = "met"
    MISSED = "MISSED"
    SHOWN = "shown"
    """It is not asked for: the figure stands beside the published one for whoever wants to compare."""
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
    bound: str
    verdict: Verdict
    calibrated: bool
    remark: str
    """Why it differs, as far as that is known, or why there is no figure."""

    def to_dict(self) -> dict[str, Any]:
        """As in verdicts.json."""
        return {**asdict(self), "verdict": self.verdict.value}


@dataclass(frozen=True, slots=True)
class Finding:
    """An experiment, the runs that it stands on, and what is to be said of its criteria."""

    experiment: Experiment
    evidence: Evidence
    rows: list[Row]


def judge(experiment: Experiment, evidence: Evidence) -> list[Row]:
    """Give a verdict on every criterion of an experiment."""
    quantities: Mapping[str, Callable[[], Value]] = experiment.measures().quantities(evidence)
    wanted = [criterion.quantity for criterion in experiment.criteria]
    known(f"{experiment.id}: quantity", wanted, quantities)
    return [_row(experiment.id, one, quantities[one.quantity]) for one in experiment.criteria]


def _row(experiment: str, criterion: Criterion, measure: Callable[[], Value]) -> Row:
    try:
        value, remark = measure(), ""
    except _core.FlashwattError as error:
        value, remark = None, str(error)
    verdict = _verdict(criterion, value)
    return Row(
        experiment,
        criterion.quantity,
        criterion.says,
        criterion.source,
        criterion.published,
        value,
        criterion.unit,
        criterion.bound,
        verdict,
        criterion.calibrated,
        criterion.why if verdict in (Verdict.MISSED, Verdict.SHOWN) else remark,
    )


def _verdict(criterion: Criterion, value: Value | None) -> Verdict:
    if value is None or math.isnan(value):
        return Verdict.UNKNOWN
    if criterion.meets is None:
        return Verdict.SHOWN
    return Verdict.MET if criterion.meets(value) else Verdict.MISSED


def tally(rows: Iterable[Row]) -> dict[str, int]:
    """How many criteria are gated, and how many rows have which verdict."""
    counted = Counter(row.verdict for row in rows)
    gated = sum(count for verdict, count in counted.items() if verdict is not Verdict.SHOWN)
    return {"gated": gated, **{verdict.value: counted[verdict] for verdict in Verdict}}
