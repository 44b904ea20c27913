"""Mean waits against the formula of Pollaczek and Khinchine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

SERVICE_NS = 53813


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""

    def ratio(load: str) -> Callable[[], float]:
        return lambda: _wait_ns(evidence, load) / _theory_ns(load)

    return {f"load_{load.replace('.', '_')}": ratio(load) for load in evidence["reads"].labels("load")}


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw both; theory as strokes."""
    loads = evidence["reads"].labels("load")
    rows = [Bar(load, "simulated", _wait_ns(evidence, load) / 1e3, _theory_ns(load) / 1e3) for load in loads]
    yield bars("Mean waiting time at one die", "By load.", rows, "wait (µs)")


def _wait_ns(evidence: Evidence, load: str) -> float:
    return evidence["reads"].value("latency_ns.read.mean", load) - SERVICE_NS


def _theory_ns(load: str) -> float:
    rho = float(load)
    return rho * SERVICE_NS / (2 * (1 - rho))
