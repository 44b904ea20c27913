"""The space of the free parameters: each one's range as 0 to 1, and back to values that a configuration can hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flashwatt.calibration.table import Parameter

    Unit: TypeAlias = NDArray[np.float64]
    """A place in the space: a share of its range for each parameter."""

Values: TypeAlias = "dict[str, float]"
"""Values by keys of the configuration."""

STEP = 0.005
"""Half the width of a difference quotient, as a share of the range. Choice: wide enough that rounding to whole
nanoseconds adds nothing, narrow enough that curvature adds nothing within the noise of a measurement."""
_COARSE = 200
"""A parameter of fewer whole values than this is searched value by value at the end."""
_DIGITS = 9
_THOUSANDTHS = ("_ma", "volts", "_v")
"""Ends of keys whose values the engine keeps in thousandths."""


@dataclass(frozen=True)
class Space:
    """The free parameters of a table."""

    parameters: Sequence[Parameter]

    def values(self, unit: Unit) -> Values:
        """Give the values of a place, rounded as the configuration keeps them."""
        return {one.key: _rounded(one, _at(one, share)) for one, share in zip(self.parameters, unit, strict=True)}

    def unit(self, values: Values) -> Unit:
        """Give the place of values; those outside of a range count as its nearest bound."""
        shares = [_share(one, values[one.key]) for one in self.parameters]
        return np.asarray(np.clip(shares, 0, 1), dtype=float)

    def slope(self, unit: Unit) -> Unit:
        """By how much each value grows with its share of the range, at a place."""
        spans = [
            value * math.log(one.high / one.low) if one.log else one.high - one.low
            for one, value in zip(self.parameters, self.values(unit).values(), strict=True)
        ]
        return np.array(spans, dtype=float)

    def around(self, unit: Unit, number: int) -> tuple[Unit, Unit]:
        """Give the places below and above one, that differ from it in one parameter by a step or by its resolution."""
        one = self.parameters[number]
        middle = _rounded(one, _at(one, unit[number]))
        sides = []
        for sign in (-1, 1):
            value = _rounded(one, _at(one, unit[number] + sign * STEP))
            if value == middle:
                value = _within(one, middle + sign * _resolution(one))
            place = unit.copy()
            place[number] = np.clip(_share(one, value), 0, 1)
            sides.append(place)
        return sides[0], sides[1]

    def coarse(self) -> list[int]:
        """Number the parameters that take few whole values."""
        return [number for number, one in enumerate(self.parameters) if one.whole and one.high - one.low < _COARSE]


def _at(one: Parameter, share: float) -> float:
    share = min(max(float(share), 0.0), 1.0)
    if one.log:
        return one.low * math.exp(share * math.log(one.high / one.low))
    return one.low + share * (one.high - one.low)


def _share(one: Parameter, value: float) -> float:
    if one.log:
        return math.log(max(value, one.low) / one.low) / math.log(one.high / one.low)
    return (value - one.low) / (one.high - one.low)


def _resolution(one: Parameter) -> float:
    if one.whole:
        return 1
    return 1e-3 if one.key.endswith(_THOUSANDTHS) else (one.high - one.low) * STEP


def _rounded(one: Parameter, value: float) -> float:
    if one.whole:
        return _within(one, round(value))
    if one.key.endswith(_THOUSANDTHS):
        return _within(one, round(value, 3))
    return _within(one, float(f"{value:.{_DIGITS}g}"))


def _within(one: Parameter, value: float) -> float:
    return min(max(value, one.low), one.high)
