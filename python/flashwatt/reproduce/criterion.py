"""Criteria: the bounds that a published figure sets for the simulated one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from flashwatt import _core
from flashwatt.base.misspelt import known

if TYPE_CHECKING:
    from collections.abc import Callable

Value: TypeAlias = bool | int | float

EXACT = 1e-9
"""Relative difference at which floating-point figures count as equal."""
_TEXTS = ("quantity", "says", "published", "source", "unit", "class", "reason", "chosen", "trace", "pending", "why")
_KEYS = (*_TEXTS, "number", "tolerance")


class CriterionClass(Enum):
    """What a verdict on a criterion is worth."""

    PREDICTIVE = "predictive"
    """Nothing of the figure was put in, and the criterion can fail."""
    IDENTITY = "identity"
    """A closed form against itself, or a value that was put in and is read back."""
    CALIBRATED = "calibrated"
    """The model, or the workload, was fitted to the figure."""
    THEORY = "theory"
    """The engine against a theory, or against itself: no figure of a paper."""
    PEER = "peer"
    """The engine against another simulator with equal settings: no figure of a paper."""
    HOUSE = "house"
    """A hypothesis of our own about the model: no paper has a figure for it, or a word."""
    REPORT = "report"
    """No bound: the simulated figure stands beside the published one."""


MEANINGS = {
    CriterionClass.PREDICTIVE: "nothing of the figure was put in, and the criterion can fail",
    CriterionClass.IDENTITY: "a closed form against itself, or a value that was put in and is read back",
    CriterionClass.CALIBRATED: "the model, or the workload, was fitted to the figure",
    CriterionClass.THEORY: "the engine against a theory, or against itself",
    CriterionClass.PEER: "the engine against another simulator with equal settings",
    CriterionClass.HOUSE: "a hypothesis of our own about the model; no paper states it",
    CriterionClass.REPORT: "no bound: the simulated figure stands beside the published one",
}
"""The classes in words, for readers of a page."""

_NO_NUMBER = {
    CriterionClass.IDENTITY: "it was put in, or a closed form gives it",
    CriterionClass.CALIBRATED: "the model was fitted to it",
    CriterionClass.PEER: "it is no figure of a paper",
    CriterionClass.HOUSE: "no paper states it",
}
"""Classes whose figures stay out of the count of published numbers, and why."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One line of a table of verdicts, before anything is simulated."""

    quantity: str
    """Its name among the experiment's quantities."""
    says: str
    published: str
    """As it stands in the paper; empty where the paper has no figure."""
    source: str
    unit: str
    bound: str
    """The bound in words; empty for a figure that is shown and not judged."""
    meets: Callable[[Value], bool] | None
    ends: tuple[float, ...]
    """The figures at which `meets` changes."""
    class_: CriterionClass
    reason: str
    """Why it is of this class and has this bound."""
    chosen: str
    """The choices, not stated by the paper, that decide the verdict; empty if none does."""
    number: float | None
    """The published number that the quantity is laid beside as a ratio, unless the number was put in or fitted."""
    trace: str
    """The workload whose real trace the quantity needs; empty if the models of the workloads serve."""
    pending: str
    """What is missing from FlashWatt, without which the quantity cannot be had; empty if nothing is. A predictive
    criterion that waits counts as missed."""
    why: str
    """The reason, if known, why the figure misses the bound or differs from the published one."""

    @classmethod
    def of(cls, place: str, table: dict[str, Any], source: str, reason: str = "") -> Criterion:
        """Read an entry of `criteria`; `source` and `reason` serve where it has none.

        Raises `FlashwattError` for missing or contradictory keys.
        """
        known(place, table, (*_KEYS, *_BOUNDS))
        texts = {"source": source, "reason": reason} | {key: str(table[key]) for key in _TEXTS if key in table}
        if missing := [key for key in ("quantity", "says", "class", "reason") if not texts.get(key)]:
            raise _core.FlashwattError(f"{place}: {missing[0]}: missing; expected text")
        known(f"{place}: class", [texts["class"]], [one.value for one in CriterionClass])
        class_ = CriterionClass(texts.pop("class"))
        if class_ in _NO_NUMBER and "number" in table:
            expected = f"no number, as {_NO_NUMBER[class_]}"
            raise _core.FlashwattError(f"{place}: number: found {table['number']}; expected {expected}")
        if class_ is CriterionClass.HOUSE and texts.get("published"):
            expected = "nothing, as no paper states what is of the class house"
            raise _core.FlashwattError(f"{place}: published: found {texts['published']}; expected {expected}")
        text, meets, ends = _bound(place, table, class_)
        rest = {key: texts.get(key, "") for key in _TEXTS if key != "class"}
        return cls(**rest, number=table.get("number"), bound=text, meets=meets, ends=ends, class_=class_)


_Bound: TypeAlias = "tuple[str, Callable[[Value], bool], tuple[float, ...]]"
"""In words, as a function, and the figures at which the function changes."""


def _bound(
    place: str, table: dict[str, Any], class_: CriterionClass
) -> tuple[str, Callable[[Value], bool] | None, tuple[float, ...]]:
    """Give the bound; a report has none."""
    bounds = [key for key in _BOUNDS if key in table]
    gated = class_ is not CriterionClass.REPORT
    if len(bounds) != gated:
        wanted = "exactly one bound" if gated else "no bound, as it is a report"
        raise _core.FlashwattError(f"{place}: found {' and '.join(bounds) or 'none'}; expected {wanted}")
    return _BOUNDS[bounds[0]](table[bounds[0]], table.get("tolerance", EXACT)) if gated else ("", None, ())


def _between(ends: list[float], _: float) -> _Bound:
    low, high = ends
    return f"{low:g} … {high:g}", lambda value: low <= value <= high, (low, high)


def _at_least(low: float, _: float) -> _Bound:
    return f"≥ {low:g}", lambda value: value >= low, (low,)


def _at_most(high: float, _: float) -> _Bound:
    return f"≤ {high:g}", lambda value: value <= high, (high,)


def _above(low: float, _: float) -> _Bound:
    return f"> {low:g}", lambda value: value > low, (low,)


def _below(high: float, _: float) -> _Bound:
    return f"< {high:g}", lambda value: value < high, (high,)


def _equals(wanted: float, tolerance: float) -> _Bound:
    text = f"= {wanted:g}" if tolerance <= EXACT else f"= {wanted:g} ± {100 * tolerance:g} %"
    ends = (wanted * (1 - tolerance), wanted * (1 + tolerance))
    return text, lambda value: math.isclose(value, wanted, rel_tol=tolerance), ends


def _holds(wanted: bool, _: float) -> _Bound:
    return "yes" if wanted else "no", lambda value: value is wanted, ()


_BOUNDS: dict[str, Callable[[Any, float], _Bound]] = {
    "between": _between,
    "at_least": _at_least,
    "at_most": _at_most,
    "above": _above,
    "below": _below,
    "equals": _equals,
    "holds": _holds,
}
