"""Fig. 10, Fig. 11: distributions of map reads; the depth that DFTL's published shares imply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.experiments.rftl.distribution import cdf, no_worse, share_below
from flashwatt.plot.figures import lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence


MAP_READ_NS, HOST_READ_NS = 300_000, 600_000
"""Fig. 10: below 65 % of DFTL's operations of the map are faster; Fig. 13: over 20 % of its reads are slower."""


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""

    def share(mix: str, depth: str, miss: str) -> Callable[[], float]:
        return lambda: no_worse(evidence, "map_read", (mix, depth, miss), 1)

    return {
        f"{mix}_{miss.replace('.', '_')}{suffix}": share(mix, depth, miss)
        for depth, suffix in (("8", ""), ("32", "_32"))
        for mix in evidence["study"].labels("mix")
        for miss in ("0.2", "0.9")
    }


def figures(evidence: Evidence) -> Iterator[Chart | str]:
    """Draw the distributions, and lay out what each depth gives."""
    yield _depths(evidence)
    for mix in evidence["study"].labels("mix"):
        rows = cdf(evidence, "map_read", (mix, "8", "0.6"))
        title = f"Fig. 10, 11: map reads, 80 % {mix}"
        yield lines(title, "M = 0.6, depth 8.", rows, ("µs", "share of map reads"), stairs=True)


def _depths(evidence: Evidence) -> str:
    """A table of the shares that Fig. 10 and Fig. 13 publish of DFTL, and of what a replica gains, by depth."""
    runs = evidence["depths"]
    lines = [
        "80 % reads, by depth and M. Published of DFTL: below 65 % of the map's operations under 300 µs (Fig. 10), "
        "over 20 % of the host's reads above 600 µs (Fig. 13). Of RFTL(1): over 90 %, and 6 % more throughput at M = "
        "0.9.",
        "",
        "| depth | M | DFTL: map reads under 300 µs | reads above 600 µs | RFTL(1): map reads under 300 µs | gain |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for depth in runs.labels("any_depth"):
        for miss in runs.labels("miss"):
            dftl, rftl = ("reads", depth, miss, "0"), ("reads", depth, miss, "1")
            gain = 100 * (runs.value("throughput.iops", *rftl) / runs.value("throughput.iops", *dftl) - 1)
            shares = [
                share_below(runs, "map_read", dftl, MAP_READ_NS),
                1 - share_below(runs, "read", dftl, HOST_READ_NS),
                share_below(runs, "map_read", rftl, MAP_READ_NS),
            ]
            lines.append(f"| {depth} | {miss} | {' | '.join(f'{100 * one:.1f} %' for one in shares)} | {gain:+.2f} % |")
    return "\n".join(lines)
