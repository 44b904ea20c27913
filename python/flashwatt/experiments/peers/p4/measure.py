"""Open loops: EnergySim, FlashWatt, and the formula of Pollaczek and Khinchine."""

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

READ_US, WRITE_US = 132.0, 982.0
"""A page's time on a die, its transfer of 82 µs with it: what loads are reckoned by."""
ARRAY_US = 50.0
BUS_US = {"4,096 bytes": 82.0, "4,224 bytes": 84.48}
PLAIN, WITH_METADATA = BUS_US
ORDERS = DATA_FIRST, COMMAND_FIRST = "data first", "command first"
ALONE, SHARED = "16 × 1", "8 × 2"
METADATA = "EnergySim moves 528 bytes of each sector, 16 of them metadata"
CHANCE = "chance, perhaps: runs of 20,000 requests differ by as much; the length of EnergySim's was not recorded"
TOGETHER = "EnergySim lets the two dies of a channel move data at the same time; here they take turns"
SLOWER = {DATA_FIRST: f"{TOGETHER}, and read in lock-step", COMMAND_FIRST: TOGETHER}
"""Why reads of 8 × 2 take longer than in EnergySim, by what a channel carries first."""


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    found: dict[str, Callable[[], Value]] = {}
    for load in evidence["alone"].labels("load"):
        at = load.replace(".", "_")
        found[f"alone_{at}"] = partial(_mean_us, evidence, "alone", ALONE, WITH_METADATA, load)
        found[f"plain_{at}"] = partial(_mean_us, evidence, "alone", ALONE, PLAIN, load)
        found[f"theory_{at}"] = partial(_worse, evidence, load)
        found[f"shared_{at}"] = partial(_mean_us, evidence, "shared", SHARED, COMMAND_FIRST, load)
        found[f"writes_16_{at}"] = partial(_mean_us, evidence, "writes", ALONE, load)
        found[f"writes_8_{at}"] = partial(_mean_us, evidence, "writes", SHARED, load)
        found[f"theory_writes_{at}"] = partial(_of_theory, evidence, load)
    return found | {
        "scatter": lambda: _is_chance(evidence),
        "one_bus": lambda: min(_mean_us(evidence, "shared", SHARED, one, "0.8") for one in ORDERS) / _one_bus_us("0.8"),
        "short": lambda: min(_mean_us(evidence, "short", *labels) for labels in evidence["short"]),
        "unexplained": lambda: unexplained([*_reads(evidence), *_writes(evidence)]),
        "collected": lambda: sum(
            int(runs.value("flash.erases.total", *labels)) for runs in evidence.values() for labels in runs
        ),
    }


def figures(evidence: Evidence) -> Iterator[Chart | str]:
    """Lay the means side by side; draw those without a shared bus, theory as strokes."""
    yield table("EnergySim", "µs", [*_reads(evidence), *_writes(evidence)])
    rows = [
        Bar(load, name, value, _queue_us(WITH_METADATA, load))
        for load, found in figures_of("energysim")["reads_alone"].items()
        for name, value in (
            ("EnergySim", found["mean_us"]),
            ("FlashWatt", _mean_us(evidence, "alone", ALONE, WITH_METADATA, load)),
        )
    ]
    yield bars("Mean response of reads, 16 × 1", "By load; 4,224 bytes a page.", rows, "response (µs)")


def _reads(evidence: Evidence) -> Iterator[Line]:
    energysim = figures_of("energysim")
    for load, found in energysim["reads_alone"].items():
        for moved, reason in ((PLAIN, METADATA), (WITH_METADATA, CHANCE if _is_chance(evidence) else "")):
            ours = _mean_us(evidence, "alone", ALONE, moved, load)
            theory = _queue_us(moved, load)
            yield Line(f"{ALONE}, reads of {moved}, load {load}", found["mean_us"], ours, theory, reason)
    for load, found in energysim["reads_shared"].items():
        for order in ORDERS:
            ours = _mean_us(evidence, "shared", SHARED, order, load)
            said = f"{SHARED}, reads, {order}, load {load}"
            yield Line(said, found["mean_us"], ours, _one_bus_us(load), SLOWER[order])


def _writes(evidence: Evidence) -> Iterator[Line]:
    energysim = figures_of("energysim")
    for layout, name in ((ALONE, "writes_alone"), (SHARED, "writes_shared")):
        for load, found in energysim[name].items():
            ours, theory = _mean_us(evidence, "writes", layout, load), mean_response(WRITE_US, float(load))
            yield Line(f"{layout}, writes, load {load}", found["mean_us"], ours, theory)


def _mean_us(evidence: Evidence, name: str, *labels: str) -> float:
    return evidence[name].value("latency_ns.all.mean", *labels) / 1e3


def _queue_us(moved: str, load: str) -> float:
    """A die on a bus of its own."""
    service = ARRAY_US + BUS_US[moved]
    return mean_response(service, float(load) * service / READ_US)


def _one_bus_us(load: str) -> float:
    """The least for two dies on one bus: dies that never wait, then the bus."""
    return ARRAY_US + mean_response(BUS_US[PLAIN], 2 * float(load) * BUS_US[PLAIN] / READ_US)


def _worse(evidence: Evidence, load: str) -> float:
    """Of both sizes, the mean response over theory that is farther from 1."""
    ratios = [_mean_us(evidence, "alone", ALONE, moved, load) / _queue_us(moved, load) for moved in BUS_US]
    return max(ratios, key=lambda ratio: abs(ratio - 1))


def _of_theory(evidence: Evidence, load: str) -> float:
    return _mean_us(evidence, "writes", ALONE, load) / mean_response(WRITE_US, float(load))


def _is_chance(evidence: Evidence) -> bool:
    """Whether short runs lie on both sides of EnergySim's figure."""
    means = [_mean_us(evidence, "scatter", *labels) for labels in evidence["scatter"]]
    return min(means) < float(figures_of("energysim")["reads_alone"]["0.8"]["mean_us"]) < max(means)
