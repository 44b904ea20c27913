"""One die: MQSim, FlashWatt, and the formula of Pollaczek and Khinchine."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flashwatt.experiments.peers.queue_theory import mean_response
from flashwatt.experiments.peers.side_by_side import Line, figures_of, table, unexplained
from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

SERVICE_US = 54.396


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    found: dict[str, Callable[[], Value]] = {"unexplained": lambda: unexplained(_lines(evidence))}
    for load in evidence["reads"].labels("load"):
        name = load.replace(".", "_")
        found[f"mean_{name}"] = partial(_mean_us, evidence, load)
        found[f"theory_{name}"] = partial(_of_theory, evidence, load)
    return found


def figures(evidence: Evidence) -> Iterator[Chart | str]:
    """Lay the means side by side, and draw them; theory as strokes."""
    rows = list(_lines(evidence))
    yield table("MQSim", "µs", rows, "M/D/1")
    drawn = [Bar(row.case, name, value, row.theory) for row in rows for name, value in _both(row)]
    yield bars("Mean response at one die", "By load.", drawn, "response (µs)")


def _both(row: Line) -> tuple[tuple[str, float], ...]:
    return ("MQSim", row.peer), ("FlashWatt", row.ours)


def _lines(evidence: Evidence) -> Iterator[Line]:
    for load, found in figures_of("mqsim")["one_die"].items():
        theory = mean_response(SERVICE_US, float(load))
        yield Line(f"load {load}", found["mean_us"], _mean_us(evidence, load), theory)


def _mean_us(evidence: Evidence, load: str) -> float:
    return evidence["reads"].value("latency_ns.read.mean", load) / 1e3


def _of_theory(evidence: Evidence, load: str) -> float:
    return _mean_us(evidence, load) / mean_response(SERVICE_US, float(load))
