"""Fig. 8, Fig. 9: mean times of operations of the map with one replica, over those of DFTL."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.experiments.rftl.scheme import changes, pictures, scheme, share_within
from flashwatt.plot.figures import Point, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.experiments.rftl.scheme import Change
    from flashwatt.plot import Chart
    from flashwatt.plot.figures import Multiples
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


_READS, _WRITES = -17.0, -55.0
"""Published changes of the mean map read and of the mean map write, in percent."""
_WORDS = {"read": "reads", "write_first": "writes to the first copy"}


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    runs = evidence["study"]
    mixes, misses = runs.labels("mix"), runs.labels("miss")

    def change(kind: str, mix: str, depth: str) -> Callable[[], float]:
        return lambda: 100 * fmean(_ratio(evidence, kind, mix, depth, miss) - 1 for miss in misses)

    return {
        "reads_reads": change("read", "reads", "8"),
        "reads_writes": change("read", "writes", "8"),
        "faster": lambda: all(_ratio(evidence, "read", mix, "8", miss) < 1 for mix in mixes for miss in misses),
        "first_writes": change("write_first", "writes", "8"),
        "last_writes": change("write_last", "writes", "8"),
        "reads_reads_32": change("read", "reads", "32"),
        "reads_writes_32": change("read", "writes", "32"),
        "grid_reads": lambda: share_within(_grid(evidence, "read", *mixes), _READS),
        "grid_writes": lambda: share_within(_grid(evidence, "write_first", "writes"), _WRITES),
    }


def figures(evidence: Evidence) -> Iterator[Chart | Multiples]:
    """Draw times by miss ratio, as the paper does."""
    runs = evidence["study"]
    for kind, said in (("read", "map reads"), ("write_first", "map writes, to the first copy")):
        for mix in runs.labels("mix"):
            rows = [
                Point(float(miss), scheme(replicas), _us(evidence, kind, mix, "8", miss, replicas))
                for replicas in runs.labels("replicas")
                for miss in runs.labels("miss")
            ]
            title = f"Fig. 8, 9: mean time of {said}, 80 % {mix}"
            yield lines(title, "By miss ratio; depth 8.", rows, ("miss ratio", "µs"))
    for kind, mix, published in (
        ("read", "reads", _READS),
        ("read", "writes", _READS),
        ("write_first", "writes", _WRITES),
    ):
        said = f"map {_WORDS[kind]} with one replica, 80 % {mix}"
        yield pictures(said, _grid(evidence, kind, mix), published, "change (%)")


def _grid(evidence: Evidence, kind: str, *mixes: str) -> list[Change]:
    return [one for mix in mixes for one in changes(evidence["grid"], _key(kind), mix)]


def _ratio(evidence: Evidence, kind: str, mix: str, depth: str, miss: str) -> float:
    return evidence["study"].relative(_key(kind), mix, depth, miss, "1", replicas="0")


def _us(evidence: Evidence, kind: str, *labels: str) -> float:
    return evidence["study"].value(_key(kind), *labels) / 1e3


def _key(kind: str) -> str:
    return f"ftl.map_latency_ns.{kind}.mean"
