"""Fig. 3: throughput by scheduler and personality."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

NEW = "pardispatcher"


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    personalities = evidence["throughput"].labels("personality")

    def above_mean() -> int:
        rates = [_rates(evidence, "throughput", one) for one in personalities]
        return sum(rate[NEW] >= 0.98 * fmean(_others(rate)) for rate in rates)

    def noop_first() -> bool:
        first = {one: _rates(evidence, "throughput", one) for one in personalities}
        is_first = {one: rate["noop"] == max(_others(rate)) for one, rate in first.items()}
        return all(is_first[one] for one in ("file", "web", "mail")) and not is_first["database"]

    def over(one: str, choose: Callable[[list[float]], float]) -> float:
        rate = _rates(evidence, "throughput", one)
        return 100 * (rate[NEW] / choose(_others(rate)) - 1)

    def over_noop(runs: str) -> float:
        rates = [_rates(evidence, runs, one) for one in personalities]
        return max((rate[NEW] / rate["noop"] for rate in rates), key=lambda ratio: abs(ratio - 1))

    of_each = {
        f"{one}_{name}": lambda one=one, choose=choose: over(one, choose)
        for one in personalities
        for name, choose in (("worst", min), ("best", max))
    }
    return {
        **of_each,
        "above_mean": above_mean,
        "noop_first": noop_first,
        "striped": lambda: over_noop("throughput"),
        "unstriped": lambda: over_noop("one_die"),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw a group of bars for each personality."""
    for runs, title in (("throughput", "Fig. 3: throughput"), ("one_die", "The same on a drive of one die")):
        rows = [
            Bar(one, scheduler, rate / 1000)
            for one in evidence[runs].labels("personality")
            for scheduler, rate in _rates(evidence, runs, one).items()
        ]
        yield bars(title, "Requests of processes, 4 KiB each.", rows, "1000 requests/s")


def _rates(evidence: Evidence, runs: str, personality: str) -> dict[str, float]:
    of = evidence[runs]
    return {one: of.value("throughput.iops", personality, one) for one in of.labels("scheduler")}


def _others(rates: dict[str, float]) -> list[float]:
    return [rate for scheduler, rate in rates.items() if scheduler != NEW]
