"""An ablation: energy and response of each layer with some of its rules, over page mapping."""

from __future__ import annotations

from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

PUBLISHED = {"block": 1.092, "bast*": 1.079, "bast": 1.219}
_JUDGED = ("none", "stripes of pages", "empty start", "all")
_ENERGY, _RESPONSE = "energy_j.total", "latency_ns.all.mean"


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    return {
        f"{layer} {rule}".replace("*", "_star").replace(" ", "_"): partial(
            _over_page, evidence, _ENERGY, f"{layer}, {rule}"
        )
        for layer in PUBLISHED
        for rule in _JUDGED
    }


def figures(evidence: Evidence) -> Iterator[Chart | str]:
    """Lay all combinations side by side, and draw their energies."""
    lines = ["| rules | energy | mean response |", "|---|---|---|"]
    rows = []
    for label in evidence["rules"].labels("rules"):
        layer, _, rule = label.partition(", ")
        if layer not in PUBLISHED:
            continue
        energy = _over_page(evidence, _ENERGY, label)
        lines.append(f"| {label} | {energy:.3f} | {_over_page(evidence, _RESPONSE, label):.2f} |")
        rows.append(Bar(rule, layer, energy, PUBLISHED[layer]))
    yield "Over page mapping, means over the workloads:\n\n" + "\n".join(lines)
    yield bars("Energy by rules", "Over page mapping, means over the workloads.", rows, "normalised", log=True)


def _over_page(evidence: Evidence, key: str, rules: str) -> float:
    runs = evidence["rules"]
    return fmean(runs.relative(key, workload, rules, rules="page") for workload in runs.labels("workload"))
