"""The digits of a mean beside its interval: half of the interval has one significant digit, or two that begin with 1.

The mean ends at the same place: 4.96 ± 0.02, 8.36 ± 0.13, 11,040 ± 80. A mean has five significant digits at most: an
interval that is narrower is written as one unit of the last one, which is wider than it is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

_MOST = 5  # significant digits of a mean
_ALONE = 3  # of a number without an interval
_LEAST_PLACE = -1  # of a change in per cent


class Rounded(NamedTuple):
    """A number, and half of its interval, as text."""

    value: str
    half: str | None
    """None if no interval is known."""


def rounded(value: float, half: float | None = None, *, grouped: bool = False) -> Rounded:
    """Write a number with half of its interval; `grouped` puts commas between thousands.

    Without an interval a number has three significant digits, and all of its whole part; a whole number (`int`) has no
    decimals.
    """
    if half is None or not math.isfinite(half) or not math.isfinite(value):
        return Rounded(_text(value, _place_alone(value), grouped=grouped), None)
    if not half:
        return Rounded(_text(value, _place_alone(value), grouped=grouped), "0")
    place = _place(half)
    if value:
        place = max(place, _exponent(value) - _MOST + 1)
    least = 10.0**place
    return Rounded(*(_text(one, place, grouped=grouped) for one in (value, max(half, least))))


def changes(ratio: float | None, low: float | None = None, high: float | None = None) -> tuple[str | None, list[str]]:
    """Write a ratio as a change in per cent, and the bounds of its interval.

    Half of the interval has two significant digits: with one, a bound may round to 0 that is none. One decimal is the
    most. Nothing that rounds to 0 has a sign.
    """
    if ratio is None:
        return None, []
    if low is None or high is None:
        return _signed(ratio, -1), []
    half = 50 * (high - low)
    place = max(_exponent(half) - 1, _LEAST_PLACE) if half and math.isfinite(half) else -1
    return _signed(ratio, place), [_signed(low, place), _signed(high, place)]


def _signed(ratio: float, place: int) -> str:
    change = 100 * (ratio - 1)
    text = _text(abs(change), place, grouped=False)
    return text if not any(one in "123456789" for one in text) else f"{'-' if change < 0 else '+'}{text}"


def _place(half: float) -> int:
    mantissa, power = f"{half:.1e}".split("e")
    return int(power) - (1 if mantissa.startswith("1") else 0)


def _place_alone(value: float) -> int:
    if not value or isinstance(value, int) or not math.isfinite(value):
        return 0
    return min(0, _exponent(value) - _ALONE + 1)


def _exponent(value: float) -> int:
    """The power of ten of the first digit, of a number that is rounded to three."""
    return int(f"{value:.2e}".split("e")[1])


def _text(value: float, place: int, *, grouped: bool) -> str:
    if not math.isfinite(value):
        return f"{value:g}"
    shown = f"{round(value, -place):{',' if grouped else ''}.{max(0, -place)}f}"
    return shown.lstrip("-") if not any(one in "123456789" for one in shown) else shown
