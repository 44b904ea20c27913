"""Two planes a die: MQSim beside FlashWatt."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from flashwatt.experiments.peers.side_by_side import Line, figures_of, table, unexplained
from flashwatt.plot.figures import Point, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


class Case(NamedTuple):
    """A set of runs."""

    name: str
    """With the depth in the place of the braces."""
    alone_ns: float
    """Time of a request that waits for no other one."""
    reason: str = ""
    """Why the figures differ at the depths `differ`."""
    differ: tuple[str, ...] = ()


PAGE_NS, READ_NS, PROGRAM_NS = 16_384, 50_000, 600_000
ONE, PAIR = 310, 2 * 480
"""Commands of a read of one page and of two."""
LOAD, LOADS = 361 + PAGE_NS, 2 * (589 + PAGE_NS)
"""A page, and both pages of a die, with their commands."""
PAD_NS = 1_000_000
"""How long a row waits for its second page: `device.cells.pad_after_ns` unless given."""
IN_TURN = "here the dies are taken in turn, in MQSim they are drawn with the addresses"
WAITS = "a row waits for its second page, a plane of MQSim goes without the other one"
CASES = {
    "reads": Case("random reads of 4 KiB, QD {}", ONE + READ_NS + PAGE_NS / 4),
    "page_reads": Case("random reads of 16 KiB, QD {}", ONE + READ_NS + PAGE_NS),
    "pair_reads": Case("random reads of 32 KiB, QD {}", PAIR + READ_NS + 2 * PAGE_NS),
    "page_writes": Case("random writes of 16 KiB, QD {}, one plane", LOAD + PROGRAM_NS),
    "pair_writes": Case(
        "random writes of 32 KiB, QD {}", LOADS + PROGRAM_NS, IN_TURN, ("2", "4", "8", "16", "32", "64")
    ),
    "stream_reads": Case("sequential reads of 128 KiB, QD {}", ONE + READ_NS + PAGE_NS),
    "stream_reads_planes_first": Case("the same, QD {}, planes first", PAIR + READ_NS + 2 * PAGE_NS),
    "long_stream_reads": Case("sequential reads of 1 MiB, QD {}", PAIR + READ_NS + 8 * PAGE_NS),
    "stream_writes": Case(
        "sequential writes of 128 KiB, QD {}", PAD_NS + LOADS // 2 + PROGRAM_NS, WAITS, ("1", "2", "4", "8")
    ),
    "stream_writes_planes_first": Case("the same, QD {}, planes first", LOADS + PROGRAM_NS),
    "long_stream_writes": Case("sequential writes of 1 MiB, QD {}", 4 * LOADS + PROGRAM_NS),
}


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    found: dict[str, Callable[[], Value]] = {
        f"{name}_{label}": partial(_iops, evidence, name, label) for name in CASES for label in _depths(evidence, name)
    }
    return found | {
        "alone": lambda: max(
            abs(_iops(evidence, name, "1") * case.alone_ns / 1e9 - 1)
            for name, case in CASES.items()
            if "1" in _depths(evidence, name)
        ),
        "unexplained": lambda: unexplained(_lines(evidence)),
        "collected": lambda: sum(
            int(runs.value("flash.erases.total", *labels)) for runs in evidence.values() for labels in runs
        ),
    }


def figures(evidence: Evidence) -> Iterator[Chart | str]:
    """Lay all cases side by side; draw what is random."""
    yield table("MQSim", "IOPS", _lines(evidence))
    mqsim = figures_of("mqsim_planes")
    for name, said in (("pair_reads", "Random reads of 32 KiB"), ("pair_writes", "Random writes of 32 KiB")):
        depths = _depths(evidence, name)
        points = [Point(float(one), "MQSim", mqsim[name][one]["iops"], published=True) for one in depths]
        points += [Point(float(one), "FlashWatt", _iops(evidence, name, one)) for one in depths]
        yield lines(said, "By queue depth.", points, ("queue depth", "requests per second"), log_x=True)


def _lines(evidence: Evidence) -> Iterator[Line]:
    mqsim = figures_of("mqsim_planes")
    for name, case in CASES.items():
        for label in _depths(evidence, name):
            reason = case.reason if label in case.differ else ""
            yield Line(case.name.format(label), mqsim[name][label]["iops"], _iops(evidence, name, label), reason=reason)


def _depths(evidence: Evidence, name: str) -> list[str]:
    return evidence[name].labels("depth")


def _iops(evidence: Evidence, name: str, label: str) -> float:
    (dies,) = evidence[name].labels("dies")
    return evidence[name].value("throughput.iops", dies, label)
