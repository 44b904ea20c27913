"""Fig. 3: throughput by scheduler and personality."""

from __future__ import annotations

from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

NEW = "pardispatcher"
AS_SET, ONE_DIE, LESS_MEMORY = "16 dies", "one die", "512 MiB"
RATE = "files.operations.per_s"
JUDGED, BEFORE = "ext3", "ext2"
"""The file system with a journal, and the one without that is shown beside it."""

COLUMNS = {
    "operations/s": (RATE, 1, ",.0f"),
    "read, MB/s": ("throughput.read_mb_s", 1, ".1f"),
    "written, MB/s": ("throughput.write_mb_s", 1, ".1f"),
    "mean write, KiB": ("host.write.dispatched_bytes_mean", 1024, ".1f"),
    "write amplification": ("flash.write_amplification", 1, ".2f"),
}
"""What the table shows of each run: the key, the unit, the format."""


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    personalities = evidence["throughput"].labels("personality")

    def above_mean(variant: str) -> int:
        rates = [_rates(evidence, variant, one) for one in personalities]
        return sum(rate[NEW] >= 0.98 * fmean(_others(rate)) for rate in rates)

    def noop_first() -> bool:
        first = {one: _rates(evidence, AS_SET, one) for one in personalities}
        is_first = {one: rate["noop"] == max(_others(rate)) for one, rate in first.items()}
        return all(is_first[one] for one in ("file", "web", "mail")) and not is_first["database"]

    def over(one: str, choose: Callable[[list[float]], float]) -> float:
        rate = _rates(evidence, AS_SET, one)
        return 100 * (rate[NEW] / choose(_others(rate)) - 1)

    def over_noop(variant: str) -> float:
        rates = [_rates(evidence, variant, one) for one in personalities]
        return max((rate[NEW] / rate["noop"] for rate in rates), key=lambda ratio: abs(ratio - 1))

    def ablated(label: str) -> float:
        return evidence["ablation"].value(RATE, label, JUDGED, "file")

    def longer(operations: str) -> float:
        return evidence["longer"].relative(RATE, JUDGED, "file", NEW, operations, scheduler="noop")

    of_each = {
        f"{one}_{name}": lambda one=one, choose=choose: over(one, choose)
        for one in personalities
        for name, choose in (("worst", min), ("best", max))
    }
    return {
        **of_each,
        "above_mean": lambda: above_mean(AS_SET),
        "less_memory": lambda: above_mean(LESS_MEMORY),
        "noop_first": noop_first,
        "striped": lambda: over_noop(AS_SET),
        "unstriped": lambda: over_noop(ONE_DIE),
        "longer_80000": lambda: longer("80000"),
        "longer_120000": lambda: longer("120000"),
        "one_region": lambda: ablated("one region") / _rates(evidence, AS_SET, "file")[NEW],
        "unmerged": lambda: ablated(f"no merging, {NEW}") / ablated("no merging, noop"),
    }


def figures(evidence: Evidence) -> Iterator[Chart | str]:
    """Draw a group of bars for each personality, relative to noop, and write the rates."""
    titles = {AS_SET: "Fig. 3: throughput", ONE_DIE: "A drive of one die", LESS_MEMORY: "A quarter of the memory"}
    for variant, title in titles.items():
        rates = {one: _rates(evidence, variant, one) for one in evidence["throughput"].labels("personality")}
        rows = [Bar(one, by, rate / of["noop"]) for one, of in rates.items() for by, rate in of.items()]
        yield bars(title, "Operations of filebench per second.", rows, "throughput / noop's")
    yield _table(evidence)


def _table(evidence: Evidence) -> str:
    """A table of the rates of filebench and of the drive, with a journal and without."""
    journal, plain = evidence["throughput"], evidence["without_journal"]
    lines = [
        "The striped drive, with a journal (ext3) and without (ext2):",
        "",
        f"| file system | personality | scheduler | {' | '.join(COLUMNS)} |",
        f"|---|---|---|{'---:|' * len(COLUMNS)}",
    ]
    for runs, labels in ((journal, (AS_SET, JUDGED)), (plain, (BEFORE,))):
        for one, by in product(runs.labels("personality"), runs.labels("scheduler")):
            values = [format(runs.value(key, *labels, one, by) / unit, how) for key, unit, how in COLUMNS.values()]
            lines.append(f"| {labels[-1]} | {one} | {by} | {' | '.join(values)} |")
    return "\n".join(lines)


def _rates(evidence: Evidence, variant: str, personality: str) -> dict[str, float]:
    runs = evidence["throughput"]
    return {one: runs.value(RATE, variant, JUDGED, personality, one) for one in runs.labels("scheduler")}


def _others(rates: dict[str, float]) -> list[float]:
    return [rate for scheduler, rate in rates.items() if scheduler != NEW]
