"""Table 2: power without requests."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

_ORDER = ("TGN", "MLC", "HDD", "SLC", "OLD")
_PUBLISHED_W = {"OLD": 1.075, "SLC": 0.937, "MLC": 0.519, "TGN": 0.210, "HDD": 0.869}


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""

    def order() -> bool:
        return all(_watts(evidence, one) < _watts(evidence, next_) for one, next_ in pairwise(_ORDER))

    each = {f"idle_{device}_w": partial(_watts, evidence, device) for device in _PUBLISHED_W}
    return {**each, "order": order, "raptor_w": partial(_watts, evidence, "Raptor")}


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw the powers beside the published ones."""
    devices = evidence["idle"].labels("device")
    rows = [Bar(device, "simulated", _watts(evidence, device), _PUBLISHED_W.get(device)) for device in devices]
    yield bars("Table 2: power without requests", "Strokes: Park et al., Table 4.", rows, "W", log=True)


def _watts(evidence: Evidence, device: str) -> float:
    return evidence["idle"].value("power_w.mean", device)
