"""Short windows beside a long run: whether figures from the start state `steady` are right, or carry a warning.

For each translation layer and victim policy a run of many requests gives write amplification and IOPS; then windows of
several lengths, after warm-ups of several lengths, are measured with five seeds each. A cell is one length after one
warm-up. It covers the long run if for both figures the long run's value lies in Student's 95 % interval over the seeds,
or the mean of the seeds is within 1 % of it: five seeds that happen to agree give too narrow an interval. A cell has a
warning if the report of any seed has one about its window. `verdicts` has the bars.

The start state of each seed is prepared once, as a snapshot in a folder for the time of the measurement: a run from it
is the run that prepares in place. With --cache FILE the figures of long runs are kept in a file; it is no longer valid
when the engine changes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

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


def prepared(sets: tuple[str, ...], folder: str, seed: int) -> str:
    """Save the start state of a seed."""
    import flashwatt

    path = f"{folder}/{seed}.fw"
    flashwatt.age(flashwatt.Config(TEXT, sets=(*sets, f"run.seed={seed}", "run.precondition=steady")), to=path)
    return path


def measured(requests: int, warmup: int, sets: tuple[str, ...], seed: int, start: str = "") -> Figures:
    """Measure one window, from a snapshot or, without one, from a state that is prepared for it."""
    import flashwatt

    window = f"run.measure.requests={requests}", f"run.warmup.requests={warmup}", f"run.seed={seed}"
    total = f"workload.uniform.requests={requests + warmup + 64}"
    begin = f"run.precondition.snapshot={start}" if start else "run.precondition=steady"
    report = flashwatt.run(flashwatt.Config(TEXT, sets=(*sets, *window, total, begin))).to_dict()
    warns = any(words in warning for warning in report["warnings"] for words in WARNINGS)
    return Figures(report["flash"]["write_amplification"], report["throughput"]["iops"], warns)


def long_run(requests: int, sets: tuple[str, ...], cache: Path | None) -> Figures:
    """Measure a long run, or take its figures from the file."""
    known = json.loads(cache.read_text()) if cache and cache.exists() else {}
    name = f"{requests} {' '.join(sets)}"
    if name not in known:
        known[name] = asdict(measured(requests, min(1_000_000, requests), sets, 77))
        if cache:
            cache.write_text(json.dumps(known, indent=1))
    return Figures(**known[name])


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


def cells_of(
    pool: ProcessPoolExecutor, sets: tuple[str, ...], long: Figures, sizes: list[tuple[int, int]]
) -> list[Cell]:
    """Measure the cells of a layer and a policy."""
    cells = []
    with TemporaryDirectory() as folder:
        starts = list(pool.map(partial(prepared, sets, folder), SEEDS))
        for requests, warmup in sizes:
            runs = list(pool.map(partial(measured, requests, warmup, sets), SEEDS, starts))
            one = cell(requests, warmup, runs, long)
            cells.append(one)
            words = "covers" if one.covers else "does not cover", "warns" if one.warns else ""
            sys.stdout.write(f"  {requests:>7,} after {warmup:>7,}: {one.bias:+7.2%}  {'  '.join(words)}\n")
            sys.stdout.flush()
    return cells


def main() -> None:
    """Measure all cells, and say whether they meet the bars."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--long", type=int, default=15_000_000, help="requests of the long run")
    parser.add_argument("--cache", type=Path, help="a file for the figures of long runs")
    parser.add_argument("--layers", nargs="+", default=list(LAYERS), choices=list(LAYERS))
    parser.add_argument("--policies", nargs="+", default=list(POLICIES))
    parser.add_argument("--requests", nargs="+", type=int, default=list(REQUESTS))
    parser.add_argument("--warmups", nargs="+", type=int, default=list(WARMUPS))
    parser.add_argument("--set", dest="sets", action="append", default=[], help="a further setting")
    asked = parser.parse_args()
    sizes = list(product(asked.requests, asked.warmups))
    cells: list[Cell] = []
    with ProcessPoolExecutor() as pool:
        for layer, policy in product(asked.layers, asked.policies):
            sets = (*LAYERS[layer], f"gc.policy={policy}", *asked.sets)
            long = pool.submit(long_run, asked.long, sets, asked.cache).result()
            sys.stdout.write(f"{layer}, {policy}: {long.write_amplification:.4f}, {long.iops:.1f} IOPS\n")
            cells += cells_of(pool, sets, long, sizes)
    failed = False
    for words, is_met in verdicts(cells):
        failed |= not is_met
        sys.stdout.write(f"{'met' if is_met else 'MISSED':<6} {words}\n")
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
