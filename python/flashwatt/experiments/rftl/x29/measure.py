"""Fig. 6: the closed form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.plot.figures import Point, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

MISSES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
CHANNELS, COPIES = 8, (2, 4, 6)
HIT_US, MISS_US, WAIT_US = 0.1, 250.0, 900.0  # C; 2 R + W; the collection (Table 4)


def quantities(_: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    curves = _curves()
    worst, two = curves["base, P_GC = 1"], curves["2 copies, P = 0.250"]
    return {
        "off_us": lambda: max(abs(us - _by_hand(name, miss)) for name in curves for miss, us in curves[name].items()),
        "gain_percent": lambda: 100 * (1 - two[1.0] / worst[1.0]),
        "at_06_us": lambda: worst[0.6],
        "two_at_06_us": lambda: two[0.6],
    }


def figures(_: Evidence) -> Iterator[Chart]:
    """Draw the curves of the model."""
    rows = [Point(miss, name, us) for name, curve in _curves().items() for miss, us in curve.items()]
    yield lines("Fig. 6: mean time of a look-up", "By miss ratio; 8 channels.", rows, ("miss ratio", "µs"))


def _curves() -> dict[str, dict[float, float]]:
    found = json.loads(_core.rftl_model(list(MISSES), CHANNELS, list(COPIES), 1.0))["lookup_us"]
    return {name: dict(zip(MISSES, values, strict=True)) for name, values in found.items()}


def _by_hand(name: str, miss: float) -> float:
    """C + M · (2 R + W + (1 − P) · 900): what the equations come to."""
    share = 0.0 if name.startswith("base") else float(name.rpartition("= ")[2])
    return HIT_US + miss * (MISS_US + (1 - share) * WAIT_US)
