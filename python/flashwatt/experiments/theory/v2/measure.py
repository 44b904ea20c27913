"""Victim policies against theory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars
from flashwatt.theory import d_choices, first_in_first_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

THEORIES: dict[str, Callable[[float], float]] = {
    "random": lambda rho: d_choices(rho, 1),
    "best of 2": lambda rho: d_choices(rho, 2),
    "best of 10": lambda rho: d_choices(rho, 10),
    "first in, first out": first_in_first_out,
}
NAMES = dict(zip(THEORIES, ("random", "best_of_2", "best_of_10", "fifo"), strict=True))


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""

    def ratio(policy: str) -> Callable[[], float]:
        return lambda: _simulated(evidence, policy) / _theory(evidence, policy)

    return {name: ratio(policy) for policy, name in NAMES.items()}


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw both; theory as strokes."""
    rows = [Bar(policy, "simulated", _simulated(evidence, policy), _theory(evidence, policy)) for policy in THEORIES]
    yield bars("Write amplification by victim policy", "15 % spare.", rows, "write amplification")


def _simulated(evidence: Evidence, policy: str) -> float:
    return evidence["writes"].value("flash.gc_factor", policy)


def _theory(evidence: Evidence, policy: str) -> float:
    return THEORIES[policy](evidence["writes"].value("gc.mean_valid_fraction", policy))
