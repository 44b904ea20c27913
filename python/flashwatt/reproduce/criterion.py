"""Criteria: the bounds that a published figure sets for the simulated one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from flashwatt import _core
from flashwatt.base.misspelt import known

if TYPE_CHECKING:
    from collections.abc import Callable

Value: TypeAlias = bool | int | float

EXACT = 1e-9
"""Relative difference at which floating-point figures count as equal."""
_KEYS = ("quantity", "says", "published", "source", "unit", "gated", "calibrated", "why", "tolerance")


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
    calibrated: bool
    """Whether the model was fitted to the figure, which then is no prediction."""
    why: str
    """The reason, if known, why the figure misses the bound or differs from the published one."""

    @classmethod
    def of(cls, place: str, table: dict[str, Any], source: str) -> Criterion:
        """Read an entry of `criteria`. Raises `FlashwattError` for missing or contradictory keys."""
        known(place, table, (*_KEYS, *_BOUNDS))
        if missing := [key for key in ("quantity", "says") if not table.get(key)]:
            raise _core.FlashwattError(f"{place}: {missing[0]}: missing; expected text")
        bounds = [key for key in _BOUNDS if key in table]
        gated = table.get("gated", True)
        if len(bounds) != gated:
            wanted = "exactly one bound" if gated else "no bound, as it is not gated"
            raise _core.FlashwattError(f"{place}: found {' and '.join(bounds) or 'none'}; expected {wanted}")
        text, meets = _BOUNDS[bounds[0]](table[bounds[0]], table.get("tolerance", EXACT)) if gated else ("", None)
        return cls(
            quantity=table["quantity"],
            says=table["says"],
            published=str(table.get("published", "")),
            source=table.get("source", source),
            unit=table.get("unit", ""),
            bound=text,
            meets=meets,
            calibrated=table.get("calibrated", False),
            why=table.get("why", ""),
        )


_Bound: TypeAlias = "tuple[str, Callable[[Value], bool]]"


def _between(ends: list[float], _: float) -> _Bound:
    low, high = ends
    return f"{low:g} … {high:g}", lambda value: low <= value <= high


def _at_least(low: float, _: float) -> _Bound:
    return f"≥ {low:g}", lambda value: value >= low


def _at_most(high: float, _: float) -> _Bound:
    return f"≤ {high:g}", lambda value: value <= high


def _above(low: float, _: float) -> _Bound:
    return f"> {low:g}", lambda value: value > low


def _below(high: float, _: float) -> _Bound:
    return f"< {high:g}", lambda value: value < high


def _equals(wanted: float, tolerance: float) -> _Bound:
    text = f"= {wanted:g}" if tolerance <= EXACT else f"= {wanted:g} ± {100 * tolerance:g} %"
    return text, lambda value: math.isclose(value, wanted, rel_tol=tolerance)


def _holds(wanted: bool, _: float) -> _Bound:
    return "yes" if wanted else "no", lambda value: value is wanted


_BOUNDS: dict[str, Callable[[Any, float], _Bound]] = {
    "between": _between,
    "at_least": _at_least,
    "at_most": _at_most,
    "above": _above,
    "below": _below,
    "equals": _equals,
    "holds": _holds,
}
