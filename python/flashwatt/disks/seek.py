"""The seek curve of a description, as points."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flashwatt.disks.description import Description

_FIRST = 10
_SIX = 6
_FIVE = 5
_POINTS_MAX = 4096
POINTS, TEN, CURVE = "seek_points_cylinders_ms", "seek_first_ten_ms", "seek_a_sqrt"


def points(disk: Description) -> tuple[list[list[int]], str]:
    """Give the points of the curve, `[[cylinders, ns], …]`, and what stands behind them."""
    measured, ten, curve = disk.get(POINTS), disk.get(TEN), disk.get(CURVE)
    found: dict[int, float] = {}
    if curve is not None:
        found |= _of_curve(disk, curve)
    if ten is not None:
        found |= {at + 1: disk.number(TEN, ms) for at, ms in enumerate(_list(disk, TEN, ten)[:_FIRST])}
    if measured is not None:
        own = {
            disk.count(POINTS, cylinders, least=1): disk.number(POINTS, ms) for cylinders, ms in _pairs(disk, measured)
        }
        if curve is None:
            found = own if ten is None else {**own, **found}
        else:
            found |= own
    if not found:
        raise disk.fault(POINTS, None, f"points of the seek curve, or {TEN} and {CURVE}")
    said = " and ".join(key for key in (POINTS, TEN, CURVE) if disk.get(key) is not None)
    return [[cylinders, round(ms * 1e6)] for cylinders, ms in sorted(found.items())], said


def _pairs(disk: Description, value: Any) -> list[tuple[Any, Any]]:
    pairs = _list(disk, POINTS, value)
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:  # noqa: PLR2004
            raise disk.fault(POINTS, pair, "a pair of cylinders and ms")
    return [(pair[0], pair[1]) for pair in pairs]


def _list(disk: Description, key: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise disk.fault(key, value, "a list of numbers")
    return value


def _of_curve(disk: Description, value: Any) -> dict[int, float]:
    """Give points of a + b √d below a distance and c + e d from there on: every distance of the first part.

    Five numbers: the distance, a, b, c, e; a sixth is the time of a seek by one cylinder.
    """
    if isinstance(value, dict):
        names = ("joint_cylinders", "a_ms", "b_ms", "c_ms", "e_ms", "single_ms")
        value = [value[name] for name in names if name in value]
    numbers = [disk.number(CURVE, one, least=-1e9) for one in _list(disk, CURVE, value)]
    if not _FIVE <= len(numbers) <= _SIX:
        raise disk.fault(CURVE, value, "five or six numbers: distance, a, b, c, e, time of one cylinder")
    joint, a, b, c, e = numbers[:_FIVE]
    if joint > _POINTS_MAX - _FIRST:
        raise disk.fault(CURVE, joint, f"a distance of at most {_POINTS_MAX - _FIRST} cylinders")
    found = {distance: a + b * sqrt(distance) for distance in range(1, max(int(joint), 1))}
    start = max(int(joint), 1)
    found |= {distance: c + e * distance for distance in (start, start + 1)}
    if len(numbers) == _SIX and numbers[_FIVE] >= 0:
        found[1] = numbers[_FIVE]
    return found
