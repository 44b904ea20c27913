"""Short windows beside a long run: whether figures from the start state `steady` are right, or carry a warning.

For each translation layer and victim policy a run of many requests gives write amplification and IOPS; then windows of
several lengths, after warm-ups of several lengths, are measured with five seeds each. A cell is one length after one
warm-up. It covers the long run if for both figures the long run's value lies in Student's 95 % interval over the seeds,
or the mean of the seeds is within 1 % of it: five seeds that happen to agree give too narrow an interval. A cell has a
warning if the report of any seed has one about its window. `verdicts` has the bars.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product

SEEDS = range(1, 6)
STUDENT = 2.776
"""The 97.5 % quantile of Student's distribution with four degrees of freedom."""
NEAR = 0.01
REQUESTS = 1_000, 3_000, 10_000, 30_000, 100_000, 300_000
WARMUPS = 0, 1_000, 10_000, 30_000, 100_000
LAYERS = {"page": ("ftl=page",), "dftl": ("ftl=dftl", "ftl.dftl.cmt_fraction=0.05")}
POLICIES = "greedy", "cost_benefit", "random"
WARNINGS = "part of a wave", "fell behind", "has not settled", "write amplification is too low"
TEXT = '[device]\npreset = "limit"\n[workload.uniform]\nrequest_bytes = 4096\nread_fraction = 0\n'


@dataclass
class Figures:
    """Figures of one run, and whether it warns of its window."""

    write_amplification: float
    iops: float
    warns: bool


@dataclass
class Cell:
    """Windows of one length after one warm-up."""

    requests: int
    warmup: int
    bias: float
    covers: bool
    warns: bool


def measured(requests: int, warmup: int, seed: int, sets: tuple[str, ...]) -> Figures:
    """Measure one window."""
    import flashwatt

    window = f"run.measure.requests={requests}", f"run.warmup.requests={warmup}", f"run.seed={seed}"
    total = f"workload.uniform.requests={requests + warmup + 64}"
    config = flashwatt.Config(TEXT, sets=(*sets, *window, total, "run.precondition=steady"))
    report = flashwatt.run(config).to_dict()
    warns = any(words in warning for warning in report["warnings"] for words in WARNINGS)
    return Figures(report["flash"]["write_amplification"], report["throughput"]["iops"], warns)


def cell(requests: int, warmup: int, runs: list[Figures], long: Figures) -> Cell:
    """Judge the windows of five seeds."""
    figures = [
        ([run.write_amplification for run in runs], long.write_amplification),
        ([run.iops for run in runs], long.iops),
    ]
    return Cell(
        requests,
        warmup,
        max((statistics.mean(of) / value - 1 for of, value in figures), key=abs),
        all(_covers(of, value) for of, value in figures),
        any(run.warns for run in runs),
    )


def _covers(of: list[float], value: float) -> bool:
    mean, half = statistics.mean(of), STUDENT * statistics.stdev(of) / len(of) ** 0.5
    return abs(mean - value) <= max(half, NEAR * value)


LATE, LONG = 10_000, 30_000
"""Requests, and requests of warm-up, from which on means have no bias, and no warning is needed."""
BIAS_MAX, COVERING_MIN, ALARMS_MAX = 0.02, 0.9, 0.1


def verdicts(cells: list[Cell]) -> list[tuple[str, bool]]:
    """Compare all cells with the bars."""
    late = [one for one in cells if one.requests >= LATE and one.warmup >= LATE]
    silent, right = [one for one in cells if not one.warns], [one for one in cells if one.covers]
    long = [one for one in cells if one.requests >= LONG and one.warmup >= LONG]
    bias = abs(statistics.mean(one.bias for one in late)) if late else 0.0
    share = sum(one.covers for one in silent) / max(len(silent), 1)
    alarms = sum(one.warns for one in right) / max(len(right), 1)
    loud = sum(one.warns for one in long)
    return [
        (f"mean bias from {LATE:,} requests after {LATE:,} on: {bias:.2%} (at most {BIAS_MAX:.0%})", bias <= BIAS_MAX),
        (
            f"cells without a warning that cover: {share:.1%} of {len(silent)} (at least {COVERING_MIN:.0%})",
            share >= COVERING_MIN,
        ),
        (
            f"cells that cover and carry a warning: {alarms:.1%} of {len(right)} (at most {ALARMS_MAX:.0%})",
            alarms <= ALARMS_MAX,
        ),
        (f"cells of {LONG:,} requests and more after {LONG:,} with a warning: {loud} of {len(long)} (none)", loud == 0),
    ]


def main() -> None:
    """Measure all cells, and say whether they meet the bars."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--long", type=int, default=15_000_000, help="requests of the long run")
    parser.add_argument("--layers", nargs="+", default=list(LAYERS), choices=list(LAYERS))
    parser.add_argument("--policies", nargs="+", default=list(POLICIES))
    parser.add_argument("--requests", nargs="+", type=int, default=list(REQUESTS))
    parser.add_argument("--warmups", nargs="+", type=int, default=list(WARMUPS))
    parser.add_argument("--set", dest="sets", action="append", default=[], help="a further setting")
    asked = parser.parse_args()
    cells: list[Cell] = []
    with ProcessPoolExecutor() as pool:
        for layer, policy in product(asked.layers, asked.policies):
            sets = (*LAYERS[layer], f"gc.policy={policy}", *asked.sets)
            long = pool.submit(measured, asked.long, 1_000_000, 77, sets).result()
            sys.stdout.write(f"{layer}, {policy}: {long.write_amplification:.4f}, {long.iops:.1f} IOPS\n")
            for requests, warmup in product(asked.requests, asked.warmups):
                runs = list(pool.map(partial(measured, requests, warmup, sets=sets), SEEDS))
                one = cell(requests, warmup, runs, long)
                cells.append(one)
                words = "covers" if one.covers else "does not cover", "warns" if one.warns else ""
                sys.stdout.write(f"  {requests:>7,} after {warmup:>7,}: {one.bias:+7.2%}  {'  '.join(words)}\n")
                sys.stdout.flush()
    failed = False
    for words, is_met in verdicts(cells):
        failed |= not is_met
        sys.stdout.write(f"{'met' if is_met else 'MISSED':<6} {words}\n")
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
