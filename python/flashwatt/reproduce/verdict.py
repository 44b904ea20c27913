"""Verdicts: a criterion, the simulated figure, and whether the figure meets the criterion."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from flashwatt.base.misspelt import known
from flashwatt.reproduce.criterion import CriterionClass
from flashwatt.reproduce.evidence import NoEvidenceError
from flashwatt.reproduce.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from types import ModuleType

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
    TRACE = "needs a trace"
    """It is about a real trace, which `--trace` did not name."""
    PENDING = "pending"
    """It waits for something that FlashWatt does not model yet, and nothing of it is tested. The headline counts it as
    missed."""
    UNKNOWN = "no evidence"
    """A run that it needs was not made, failed, or went over its budget of operations; or its figure is infinite or no
    number."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table of verdicts."""

    experiment: str
    quantity: str
    says: str
    source: str
    published: str
    simulated: Value | None
    """The mean over the seeds; of a yes or no that differs between them, the share of yes."""
    interval: float | None
    """Half the width of the mean's 95 % confidence interval (Student); None for a figure that no seed can change, for a
    single seed, and for a yes or no."""
    by_seed: tuple[Value, ...]
    """The figure with each seed; one if no seed can change it."""
    unit: str
    class_: CriterionClass
    reason: str
    """Why the criterion is of its class and has its bound."""
    chosen: str
    """The choices, not stated by the paper, that decide the verdict; empty if none does."""
    bound: str
    verdict: Verdict
    doubtful: bool
    """Whether the bound lies within the interval, or a yes or no differs between seeds: other seeds could give another
    verdict."""
    number: float | None
    """The published number as a number, where it was neither put in nor fitted."""
    remark: str
    """The reason, if known, why the figure differs from the published one, or why there is none."""

    @property
    def claim(self) -> str:
        """The paper's claim, and the choices that decide the verdict."""
        return f"{self.says} [{self.chosen}]" if self.chosen else self.says

    @property
    def ratio(self) -> float | None:
        """The simulated figure over the published number; None unless there are both."""
        if self.number is None or self.simulated is None or self.verdict is Verdict.SHORT:
            return None
        return self.simulated / self.number

    def to_dict(self) -> dict[str, Any]:
        """As in verdicts.json."""
        content = {**asdict(self), "verdict": self.verdict.value, "ratio": self.ratio}
        return content | {"class": content.pop("class_").value}


@dataclass(frozen=True, slots=True)
class Finding:
    """An experiment, its runs, and a row for each of its criteria."""

    experiment: Experiment
    evidence: Sequence[Evidence]
    """Of each seed."""
    rows: list[Row]


def judge(
    experiment: Experiment, evidence: Sequence[Evidence], *, short: bool = False, traces: Collection[str] = ()
) -> list[Row]:
    """Give a verdict on every criterion of an experiment, unless its runs are cut `short`.

    `evidence` has the runs of each seed; the mean of a figure is judged. `traces` names the workloads that are real
    traces. Raises `FlashwattError` for a fault in the experiment's own code.
    """
    with experiment.measures() as measures:
        quantities = [_quantities(experiment, measures, one) for one in evidence]
        return [_row(experiment.id, one, quantities, short=short, traces=traces) for one in experiment.criteria]


_Quantities: TypeAlias = "dict[str, Callable[[], tuple[Value, bool]]]"
"""Functions of an experiment's figures with one seed."""


def _quantities(experiment: Experiment, measures: ModuleType, evidence: Evidence) -> _Quantities:
    """Functions of an experiment's figures with one seed: the figure, and whether the seed can change it."""
    found: Mapping[str, Callable[[], Value]] = measures.quantities(evidence)
    wanted = [one.quantity for one in experiment.criteria if not one.pending]
    known(f"{measures.__file__}: quantities", wanted, found)
    already = any(runs.by_chance for runs in evidence.values())

    def watched(measure: Callable[[], Value]) -> tuple[Value, bool]:
        for runs in evidence.values():
            runs.by_chance = False
        return measure(), already or any(runs.by_chance for runs in evidence.values())

    return {name: partial(watched, measure) for name, measure in found.items()}


def _row(
    experiment: str,
    criterion: Criterion,
    quantities: Sequence[_Quantities],
    *,
    short: bool,
    traces: Collection[str],
) -> Row:
    waits, remark = _waits(criterion, traces)
    sample, remark = (None, remark) if waits else _measured([some[criterion.quantity] for some in quantities])
    value = None if sample is None else sample.mean
    verdict = waits or _verdict(criterion, value, short=short)
    reason = criterion.why or ("no reason is known" if verdict is Verdict.MISSED else "")
    return Row(
        experiment=experiment,
        quantity=criterion.quantity,
        says=criterion.says,
        source=criterion.source,
        published=criterion.published,
        simulated=value,
        interval=sample.half_width if sample else None,
        by_seed=sample.values if sample else (),
        unit=criterion.unit,
        class_=criterion.class_,
        reason=criterion.reason,
        chosen=criterion.chosen,
        bound=criterion.bound,
        verdict=verdict,
        doubtful=verdict in (Verdict.MET, Verdict.MISSED) and sample is not None and sample.reaches(criterion.ends),
        number=criterion.number,
        remark=reason if verdict in (Verdict.MISSED, Verdict.SHOWN) and not short else remark,
    )


def _waits(criterion: Criterion, traces: Collection[str]) -> tuple[Verdict | None, str]:
    """Give the verdict on a criterion that cannot be tested, and what it waits for; None for one that can."""
    if criterion.pending:
        return Verdict.PENDING, criterion.pending
    if criterion.trace not in ("", *traces):
        return Verdict.TRACE, f"--trace {criterion.trace}=FILE names it"
    return None, ""


def _measured(measures: Sequence[Callable[[], tuple[Value, bool]]]) -> tuple[Sample | None, str]:
    """Give the figure with each seed, once if no seed can change it, or the reason why there is none."""
    try:
        value, by_chance = measures[0]()
        others = [measure()[0] for measure in measures[1:]] if by_chance else []
        sample = Sample((value, *others))
        return (None, remark) if (remark := _no_number(sample)) else (sample, "")
    except NoEvidenceError as error:
        return None, str(error)
    except ZeroDivisionError:
        return None, "a ratio to nothing: something that it counts never happened"


def _no_number(sample: Sample) -> str:
    """Say why a figure cannot be judged that is infinite or not a number with some seed; empty if it is neither."""
    odd = [one for one in sample.values if not math.isfinite(one)]
    if not odd:
        return ""
    what = "not a number (NaN)" if any(map(math.isnan, odd)) else "infinite"
    seeds = f" with {len(odd)} of {len(sample.values)} seeds" if len(sample.values) > 1 else ""
    return f"not met: the figure is {what}{seeds}"


def _verdict(criterion: Criterion, value: Value | None, *, short: bool) -> Verdict:
    if value is None:
        return Verdict.UNKNOWN
    if criterion.meets is None:
        return Verdict.SHOWN
    if short:
        return Verdict.SHORT
    return Verdict.MET if criterion.meets(value) else Verdict.MISSED


DOUBTFUL = "with the bound inside the interval"
"""What is said of a verdict that other seeds could change."""
_NEAR = 0.25
"""Relative difference up to which a simulated figure counts as near the published number."""


def tally(rows: Iterable[Row]) -> dict[str, Any]:
    """Count criteria and verdicts of each class, and the published numbers that simulated ones are near.

    `{"classes": {"predictive": {"criteria": 70, "met": 60, "MISSED": 10}}, "numbers": {"laid": 28, "near": 9}}`, with
    every class and verdict that occurs.
    """
    rows = list(rows)
    classes = {
        one.value: {"criteria": len(some), **Counter(said for row in some for said in _counted(row))}
        for one in CriterionClass
        if (some := [row for row in rows if row.class_ is one])
    }
    published = [row for row in rows if row.number is not None and row.verdict not in _NOT_ASKED]
    return {"classes": classes, "numbers": {"laid": len(published), "near": sum(map(near, published))}}


_NOT_ASKED = (Verdict.SHORT, Verdict.TRACE)
"""Verdicts whose published numbers are not counted. One that waits, or has no evidence, is not near."""


def _counted(row: Row) -> list[str]:
    return [row.verdict.value, *([DOUBTFUL] if row.doubtful else [])]


def numbers(rows: Iterable[Row]) -> list[Row]:
    """Give the rows with a published number that was neither put in nor fitted, the nearest first."""
    laid = [row for row in rows if row.ratio is not None]
    return sorted(laid, key=lambda row: (_distance(row), row.experiment, row.quantity))


def near(row: Row) -> bool:
    """Whether the simulated figure is within 25 % of the published number."""
    return row.ratio is not None and abs(row.ratio - 1) <= _NEAR


def _distance(row: Row) -> float:
    """The factor between the two numbers, as its logarithm; infinite if their signs differ."""
    return abs(math.log(row.ratio)) if row.ratio and row.ratio > 0 else math.inf


def headline(rows: Iterable[Row]) -> str:
    """Say how many criteria are met: the predictive ones first, then those that say less."""
    counts = tally(rows)
    said = [_said(name, counts["classes"][name]) for name in _WORTH if name in counts["classes"]]
    reports = counts["classes"].get(CriterionClass.REPORT.value, {})
    if shown := reports.get("criteria", 0) - reports.get(Verdict.PENDING.value, 0):
        said.append(f"{shown} figures shown, not judged")
    if laid := counts["numbers"]["laid"]:
        near = counts["numbers"]["near"]
        said.append(f"{near} of {laid} published numbers, neither put in nor fitted, within {100 * _NEAR:.0f} %")
    return "; ".join(said)


_WORTH = [one.value for one in CriterionClass if one is not CriterionClass.REPORT]


def _said(name: str, counts: Mapping[str, int]) -> str:
    """Say how many criteria of a class are met. Predictive ones that wait for a part of FlashWatt count as missed."""
    as_missed = name == CriterionClass.PREDICTIVE.value
    pending = f"{Verdict.PENDING.value}, counted as missed" if as_missed else Verdict.PENDING.value
    words = {one: one.value for one in (Verdict.MISSED, Verdict.UNKNOWN, Verdict.SHORT, Verdict.TRACE)}
    words |= {Verdict.PENDING: pending}
    others = [f"{counts[one.value]} {said}" for one, said in words.items() if one.value in counts]
    if doubtful := counts.get(DOUBTFUL):
        others.append(f"{doubtful} {DOUBTFUL}")
    untested = [Verdict.TRACE, *([] if as_missed else [Verdict.PENDING])]
    judged = counts["criteria"] - sum(counts.get(one.value, 0) for one in untested)
    return ", ".join([f"{name}: {counts.get('met', 0)} of {judged} criteria met", *others])
