"""Closed loops: MQSim, FlashWatt, and the most that queue depth, dies and bus allow."""

from __future__ import annotations

from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from flashwatt.experiments.peers.side_by_side import Line, figures_of, table, unexplained
from flashwatt.plot.figures import Point, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.base.files import Json
    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

DATA_FIRST, COMMAND_FIRST = "data first", "command first"
LOCK_STEP = "MQSim moves waiting data out before it sends commands: the dies of a channel read in lock-step"


class Case(NamedTuple):
    """A set of runs."""

    name: str
    """With the last label in the place of the braces."""
    array: str = ""
    """The time of the array in the configuration; empty for mixes, which have no such bound."""
    pages: int = 1
    """Of a request."""


CASES = {
    "reads": Case("random reads, QD {}", "read_ns"),
    "slow_reads": Case("slow bus, random reads, QD {}", "read_ns"),
    "writes": Case("random writes, QD {}", "program_ns"),
    "stream_reads": Case("sequential reads of 128 KiB, QD {}", "read_ns", 32),
    "stream_writes": Case("sequential writes of 128 KiB, QD {}", "program_ns", 32),
    "mixes": Case("{} reads, QD 32"),
}


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    mqsim = figures_of("mqsim")
    found: dict[str, Callable[[], Value]] = {
        f"{name}_{label.removesuffix(' %')}": partial(_iops, evidence, name, DATA_FIRST, label)
        for name in CASES
        for label in mqsim[name]
    }
    saturated = {"saturated": "reads", "slow_saturated": "slow_reads"}
    found |= {key: partial(_iops, evidence, name, COMMAND_FIRST, "1024") for key, name in saturated.items()}
    found |= {f"bound_{key}": partial(_share, evidence, name, "1024") for key, name in saturated.items()}
    for length in evidence["lengths"].labels("length"):
        found[f"length_{length.replace(',', '_')}"] = partial(_mean_of_seeds, evidence, length)
    return found | {
        "over": lambda: max(line.ours / line.theory for line in _lines(evidence) if line.theory),
        "alone": lambda: max(abs(_share(evidence, name, "1") - 1) for name in CASES if "1" in mqsim[name]),
        "unexplained": lambda: unexplained(_lines(evidence)),
        "collected": lambda: sum(
            int(runs.value("flash.erases.total", *labels)) for runs in evidence.values() for labels in runs
        ),
    }


def figures(evidence: Evidence) -> Iterator[Chart | str]:
    """Lay all cases side by side; draw the reads."""
    yield table("MQSim", "IOPS", _lines(evidence), "bound")
    mqsim = figures_of("mqsim")
    for name, said in (("reads", "Random reads of 4 KiB"), ("writes", "Random writes of 4 KiB")):
        points = [Point(float(depth), "MQSim", found["iops"], published=True) for depth, found in mqsim[name].items()]
        points += [
            Point(float(depth), order, _iops(evidence, name, order, depth))
            for order in (DATA_FIRST, COMMAND_FIRST)
            for depth in mqsim[name]
        ]
        yield lines(said, "By queue depth.", points, ("queue depth", "requests per second"), log_x=True)


def _lines(evidence: Evidence) -> Iterator[Line]:
    mqsim = figures_of("mqsim")
    for order, reason in ((DATA_FIRST, ""), (COMMAND_FIRST, LOCK_STEP)):
        for name, case in CASES.items():
            for label, found in mqsim[name].items():
                said = f"{case.name.format(label)}, {order}"
                ours = _iops(evidence, name, order, label)
                yield Line(said, found["iops"], ours, _bound(evidence, name, order, label), reason)


def _iops(evidence: Evidence, name: str, order: str, label: str) -> float:
    return evidence[name].value("throughput.iops", order, label)


def _mean_of_seeds(evidence: Evidence, length: str) -> float:
    runs = evidence["lengths"]
    return fmean(runs.value("throughput.iops", length, seed) for seed in runs.labels("seed"))


def _share(evidence: Evidence, name: str, label: str) -> float:
    """The share of the bound that is reached when commands go first."""
    return _iops(evidence, name, COMMAND_FIRST, label) / (_bound(evidence, name, COMMAND_FIRST, label) or 0)


def _bound(evidence: Evidence, name: str, order: str, label: str) -> float | None:
    """The most requests per second that queue depth, dies and bus allow; None for mixes."""
    case = CASES[name]
    if not case.array:
        return None
    device = evidence[name].report(order, label).to_dict()["config"]["device"]
    timing, dies = device["timing"], device["channels"] * device["ways"]
    command, page, array = timing["command_ns"], timing["page_transfer_ns"], timing[case.array]
    by_depth = int(label) / _alone(device, case)
    by_dies = dies / case.pages / (command + array + page)
    by_bus = device["channels"] / case.pages / (command + page)
    return float(1e9 * min(by_depth, by_dies, by_bus))


def _alone(device: Json, case: Case) -> float:
    """The time of a request that waits for no other one: a page on each of its dies, a channel after the other's."""
    timing, ways = device["timing"], max(1, case.pages // device["channels"])
    command, page, array = timing["command_ns"], timing["page_transfer_ns"], timing[case.array]
    reading = command + array + ways * page  # the commands of later dies go in while the first one reads
    return float(reading if case.array == "read_ns" else ways * (command + page) + array)
