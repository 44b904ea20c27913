"""Write amplification: MQSim, EnergySim, FlashWatt, and the theory of greedy collection."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flashwatt.experiments.peers.side_by_side import Line, figures_of, table, unexplained
from flashwatt.plot.figures import Bar, bars
from flashwatt.theory import greedy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

CONFIGURED = (
    "MQSim has data in 90 % of its logical pages and keeps 17 to 20 blocks a plane free; FlashWatt: in all, and 3"
)
NOT_SETTLED = (
    "MQSim's figure falls as its run goes on, while requests are lost; its free blocks are known as a range only"
)
UNKNOWN = "how many blocks EnergySim holds is not known"
ENDS = "fewest", "most"


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    found: dict[str, Callable[[], Value]] = {}
    for spare in figures_of("mqsim")["write_amplification"]:
        share = spare.removesuffix(" %")
        found[f"configured_{share}"] = partial(_simulated, evidence, "configured", spare)
        found[f"theory_configured_{share}"] = partial(_of_theory, evidence, "configured", spare)
        for end in ENDS:
            found[f"equal_{share}_{end}"] = partial(_simulated, evidence, "equal", spare, end)
            found[f"theory_equal_{share}_{end}"] = partial(_of_theory, evidence, "equal", spare, end)
    for held in evidence["energysim"].labels("held"):
        found[f"theory_held_{held.removesuffix(' blocks')}"] = partial(_of_theory, evidence, "energysim", held)
    return found | {
        "held_fewest": lambda: max(_held(evidence, "fewest")),
        "held_most": lambda: min(_held(evidence, "most")),
        "outstanding": lambda: min(_outstanding(evidence)),
        "energysim": lambda: _between(evidence),
        "unexplained": lambda: unexplained([*_against_mqsim(evidence), *_against_energysim(evidence)]),
    }


def figures(evidence: Evidence) -> Iterator[Chart | str]:
    """Lay the figures side by side, say what was seen of MQSim's collection, and draw the equal runs."""
    yield table("MQSim", "write amplification", _against_mqsim(evidence))
    yield table("EnergySim", "write amplification", _against_energysim(evidence))
    yield _seen()
    rows = [
        Bar(spare, name, value)
        for spare, found in figures_of("mqsim")["write_amplification"].items()
        for name, value in (
            ("MQSim, first", found["first"]),
            ("MQSim, later", found["later"]),
            *((f"FlashWatt, {end} free blocks", _simulated(evidence, "equal", spare, end)) for end in ENDS),
        )
    ]
    said = "By the spare share that MQSim was given; as many pages with data as counted in it."
    yield bars("Write amplification", said, rows, "write amplification")


def _seen() -> str:
    """What shows that MQSim loses requests where it collects."""
    seen = figures_of("mqsim")["collection"]
    outstanding = ", then ".join(map(str, seen["outstanding"]))
    lost = f"Requests per second × mean response is {outstanding} of {seen['queue_depth']}: requests are lost."
    return "\n".join(("MQSim where it collects:", "", *(f"- {one}" for one in (lost, *seen["seen"]))))


def _against_mqsim(evidence: Evidence) -> Iterator[Line]:
    states: list[tuple[str, tuple[str, ...], str, str]] = [("configured", (), "as configured", CONFIGURED)]
    states += [("equal", (end,), f"pages as counted, {end} free blocks", NOT_SETTLED) for end in ENDS]
    for name, ends, said, reason in states:
        for spare, found in figures_of("mqsim")["write_amplification"].items():
            ours, theory = _simulated(evidence, name, spare, *ends), _theory(evidence, name, spare, *ends)
            for when in ("first", "later"):
                yield Line(f"{spare} spare, {said}, MQSim's {when} figure", found[when], ours, theory, reason)


def _against_energysim(evidence: Evidence) -> Iterator[Line]:
    for spare, found in figures_of("energysim")["write_amplification"].items():
        for held in evidence["energysim"].labels("held"):
            ours, theory = _simulated(evidence, "energysim", held), _theory(evidence, "energysim", held)
            yield Line(f"{spare} spare, {held} held", found["waf"], ours, theory, UNKNOWN)


def _between(evidence: Evidence) -> bool:
    """Whether EnergySim's figure lies between ours."""
    fewer, more = (_simulated(evidence, "energysim", held) for held in evidence["energysim"].labels("held"))
    return fewer < float(figures_of("energysim")["write_amplification"]["9.7 %"]["waf"]) < more


def _simulated(evidence: Evidence, name: str, *labels: str) -> float:
    return evidence[name].value("flash.gc_factor", *labels)


def _theory(evidence: Evidence, name: str, *labels: str) -> float:
    """Greedy collection at the share of valid pages that the run reports."""
    runs = evidence[name]
    pages = runs.report(*labels).to_dict()["config"]["device"]["pages_per_block"]
    return greedy(runs.value("gc.mean_valid_fraction", *labels), pages)


def _of_theory(evidence: Evidence, name: str, *labels: str) -> float:
    return _simulated(evidence, name, *labels) / _theory(evidence, name, *labels)


def _held(evidence: Evidence, end: str) -> Iterator[float]:
    """Blocks of a plane that are not programmed when a victim is chosen, with the rest of those being written."""
    runs = evidence["equal"]
    for spare in runs.labels("counted"):
        device = runs.report(spare, end).to_dict()["config"]["device"]
        block_bytes = device["pages_per_block"] * device["page_bytes"] * device["channels"] * device["ways"]
        programmed = device["logical_bytes"] / block_bytes / runs.value("gc.mean_valid_fraction", spare, end)
        yield device["blocks_per_plane"] - programmed


def _outstanding(evidence: Evidence) -> Iterator[float]:
    for runs in evidence.values():
        for labels in runs:
            yield runs.value("throughput.iops", *labels) * runs.value("latency_ns.write.mean", *labels) / 1e9
