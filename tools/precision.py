"""Try `run.measure.precision`: how often intervals hold the figures of runs 50 times as long, and what time it saves.

    python tools/precision.py                 means to 2 %: 40 configurations, 5 seeds each
    python tools/precision.py --tails         p99 of the latency to 5 %
    python tools/precision.py --pairs         differences of 20 pairs of configurations to 2 %
    python tools/precision.py --time          processor time against a run of 400,000 requests

`--only TEXT` takes the configurations whose names have TEXT. `--most N` bounds the long runs to N requests.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any, NamedTuple

import flashwatt
from flashwatt import _core

SEEDS = (1, 2, 3, 4, 5)
LONGER, LEAST = 50, 2_000_000
FIXED = 400_000
BOUND = 3_000_000
"""Requests of a run at most: a quantile that lies between two kinds of requests takes very long."""
CONFIDENCE = 0.95
LEAST_OF_MEANS, LEAST_OF_TAILS = 0.92, 0.90
"""Shares of intervals that hold the figure: below them the program ends with 1."""

LIMIT = ["device.preset=limit"]
SMALL = [*LIMIT, "device.channels=2", "device.ways=2", "device.blocks_per_plane=128", "device.pages_per_block=64"]
X25M = ["device.preset=x25m", "device.scale=1/64"]
PARK = ["device.preset=park-1g"]
TLC = ["device.preset=tlc-nvme-1t", "device.scale=1/512"]
STEADY, FILLED = ["run.precondition=steady"], ["run.precondition=filled"]


def load(model: str, *, reads: float = 0.0, depth: int = 8, rate: float = 0.0) -> list[str]:
    """Give the settings of a synthetic load: closed with a depth, or open with a mean rate."""
    keys = {"read_fraction": reads, "requests": 10**9}
    keys |= {"rate_per_s": rate} if rate else {"queue_depth": depth}
    return [f"workload.{model}.{key}={value}" for key, value in keys.items()]


def cases() -> dict[str, list[str]]:
    """Give 40 configurations by name."""
    found: dict[str, list[str]] = {}
    for depth in (1, 4, 16, 64, 256):
        found[f"limit writes QD {depth}"] = [*LIMIT, *STEADY, *load("uniform", depth=depth)]
        found[f"limit reads QD {depth}"] = [*LIMIT, *STEADY, *load("uniform", reads=1, depth=depth)]
    for depth in (1, 4, 32):
        found[f"x25m mix QD {depth}"] = [*X25M, *STEADY, *load("uniform", reads=0.7, depth=depth)]
        found[f"x25m writes QD {depth}"] = [*X25M, *STEADY, *load("uniform", depth=depth)]
    for rate in (100, 300, 1000):
        found[f"limit open {rate}/s"] = [*LIMIT, *STEADY, *load("uniform", rate=rate)]
    found["limit open reads 20000/s"] = [*LIMIT, *STEADY, *load("uniform", reads=1, rate=20_000)]
    for layer in ("dftl", "tpftl", "rftl", "superblock", "fast", "last", "bast"):
        found[f"{layer} writes"] = [*SMALL, *FILLED, f"ftl={layer}", *load("uniform")]
    for layer in ("dftl", "page", "superblock"):
        found[f"{layer} zipf"] = [*SMALL, *FILLED, f"ftl={layer}", *load("zipf", reads=0.3)]
    found["tpftl reads"] = [*SMALL, *FILLED, "ftl=tpftl", *load("uniform", reads=1)]
    for policy in ("fifo", "cost_benefit", "random"):
        found[f"{policy} writes"] = [*SMALL, *STEADY, f"gc.policy={policy}", *load("uniform", depth=4)]
    found["hot and cold"] = [*SMALL, *FILLED, *load("hot_cold", depth=16)]
    found["sequential writes"] = [*SMALL, *FILLED, *load("sequential", depth=16)]
    found["park writes"] = [*PARK, *STEADY, *load("uniform", depth=4)]
    found["tlc mix QD 64"] = [*TLC, *STEADY, *load("uniform", reads=0.7, depth=64)]
    found["tlc reads QD 32"] = [*TLC, *STEADY, *load("uniform", reads=1, depth=32)]
    found["scheduler mix"] = [*SMALL, *STEADY, "host.scheduler=mq_deadline", *load("uniform", reads=0.5, depth=32)]
    found["array mix"] = [
        *SMALL,
        *STEADY,
        "array.level=raid0",
        "array.members=2",
        *load("uniform", reads=0.5, depth=16),
    ]
    return found


def pairs() -> dict[str, tuple[list[str], list[str]]]:
    """Give 20 pairs of configurations by name: what is compared, and with what."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for depth in (1, 8, 64):
        writes = [*LIMIT, *STEADY, *load("uniform", depth=depth)]
        found[f"fifo QD {depth}"] = ([*writes, "gc.policy=fifo"], writes)
        found[f"random QD {depth}"] = ([*writes, "gc.policy=random"], writes)
        found[f"op QD {depth}"] = ([*writes, "device.op_ratio=0.2"], writes)
        reads = [*LIMIT, *STEADY, *load("uniform", reads=1, depth=depth)]
        found[f"ways QD {depth}"] = ([*reads, "device.ways=2"], reads)
        mix = [*X25M, *STEADY, *load("uniform", reads=0.7, depth=depth)]
        found[f"mix op QD {depth}"] = ([*mix, "device.op_ratio=0.3"], mix)
    for rate in (300, 1000):
        opened = [*LIMIT, *STEADY, *load("uniform", rate=rate)]
        found[f"open {rate}/s"] = ([*opened, "gc.policy=fifo"], opened)
    for layer in ("dftl", "superblock", "last"):
        small = [*SMALL, *FILLED, *load("uniform")]
        found[f"{layer} or page"] = ([*small, f"ftl={layer}"], small)
    return found


class Asked(NamedTuple):
    """What a run is asked for."""

    error: float
    figures: tuple[str, ...]


def asked_of(sets: list[str], *, tails: bool) -> Asked:
    """Give the figures that a configuration has."""
    reads = next(one for one in sets if "read_fraction" in one).endswith("=1")
    if tails:
        return Asked(0.05, (f"latency_ns.{'read' if reads else 'write'}.p99",))
    has_flash = not (reads or any(one.startswith("array.") for one in sets))
    extra = ("flash.write_amplification",) if has_flash else ()
    return Asked(0.02, ("throughput.iops", "latency_ns.all.mean", *extra))


def run(sets: list[str], against: list[str] | None = None) -> dict[str, Any]:
    """Run a configuration, and give the report with the seconds of processor time."""
    import json

    begun = time.process_time()
    beside = against and ("", "beside", against)
    report = json.loads(_core.run("", "case", sets, against=beside))
    report["cpu_s"] = time.process_time() - begun
    return report


def precise(sets: list[str], asked: Asked, seed: int, against: list[str] | None = None) -> dict[str, Any]:
    """Run until the figures are known."""
    names = ", ".join(f'"{key}"' for key in asked.figures)
    precision = f"{{relative_error={asked.error}, figures=[{names}], confidence={CONFIDENCE}}}"
    seeded = against and [*against, f"run.seed={seed}"]
    bound = f"run.measure.requests={BOUND}"
    return run([*sets, f"run.seed={seed}", bound, f"run.measure.precision={precision}"], seeded)


def truth(sets: list[str], requests: int, warmup: int) -> dict[str, Any]:
    """Run for long, with another seed."""
    return run([*sets, "run.seed=99", f"run.warmup.requests={warmup}", f"run.measure.requests={requests}"])


def figure(report: dict[str, Any], key: str) -> float:
    """Give a figure by its dotted key."""
    value: Any = report
    for name in key.split("."):
        value = value[name]
    return float(value)


def lengths(reports: list[dict[str, Any]], most: int) -> tuple[int, int, str]:
    """Give the requests and the warm-up of the run to compare with, and a mark if it is bounded."""
    stopped = max(report["window"]["measured"] for report in reports)
    wanted = max(LONGER * stopped, LEAST)
    warmup = max(report["window"]["warmup"] for report in reports)
    return min(wanted, most), warmup, " (bounded)" if wanted > most else ""


class Tried(NamedTuple):
    """How one configuration did."""

    name: str
    held: dict[str, int]
    requests: float
    note: str


def try_case(name: str, sets: list[str], asked: Asked, most: int) -> Tried:
    """Count the seeds whose interval holds the figure of the long run."""
    reports = [precise(sets, asked, seed) for seed in SEEDS]
    requests, warmup, note = lengths(reports, most)
    long = truth(sets, requests, warmup)
    held = dict.fromkeys(asked.figures, 0)
    for report in reports:
        if report["precision"]["ended_by"] != "precision":
            note += f" ended by {report['precision']['ended_by']}"
        for one in report["precision"]["figures"]:
            held[one["key"]] += one["lower"] is not None and one["lower"] <= figure(long, one["key"]) <= one["upper"]
    drifts = sum(report["precision"]["found_warmup"]["drifts"] for report in reports)
    note += f" {drifts} drifts" if drifts else ""
    return Tried(name, held, statistics.median(report["window"]["measured"] for report in reports), note)


def try_pair(name: str, both: tuple[list[str], list[str]], asked: Asked, most: int) -> Tried:
    """As `try_case`, of the differences."""
    own, other = both
    reports = [precise(own, asked, seed, other) for seed in SEEDS]
    requests, warmup, note = lengths(reports, most)
    with ThreadPoolExecutor(2) as both_at_once:
        long, beside = both_at_once.map(lambda sets: truth(sets, requests, warmup), both)
    held = dict.fromkeys(asked.figures, 0)
    for report in reports:
        for one in report["precision"]["against"]["differences"] or ():
            held[one["key"]] += one["lower"] <= figure(long, one["key"]) - figure(beside, one["key"]) <= one["upper"]
    return Tried(name, held, statistics.median(report["window"]["measured"] for report in reports), note)


def try_time(name: str, sets: list[str], asked: Asked, _most: int) -> Tried:
    """Compare processor times, medians of three: a run that ends by its precision, and one of a fixed length."""
    stopped = [precise(sets, asked, seed) for seed in SEEDS[:3]]
    fixed = [run([*sets, f"run.seed={seed}", f"run.measure.requests={FIXED}"]) for seed in SEEDS[:3]]
    ratio = statistics.median(b["cpu_s"] / a["cpu_s"] for a, b in zip(stopped, fixed, strict=True))
    requests = statistics.median(report["window"]["measured"] + report["window"]["warmup"] for report in stopped)
    return Tried(name, {}, requests, f"{ratio:.2f}")


def show(tried: list[Tried], least: float) -> bool:
    """Print the share of intervals that held, for each figure. Give whether all shares are high enough."""
    enough = True
    totals: dict[str, list[int]] = {}
    for one in tried:
        for key, held in one.held.items():
            totals.setdefault(key, []).append(held)
    for key, held in totals.items():
        runs = len(held) * len(SEEDS)
        print(
            f"{key}: {sum(held)} of {runs} intervals hold the figure of the long run ({100 * sum(held) / runs:.1f} %)"
        )
    print(f"median of {len(tried)}: {statistics.median(one.requests for one in tried):,.0f} requests")
    return enough


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("tails", "pairs", "time"):
        parser.add_argument(f"--{option}", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--most", type=int, default=sys.maxsize)
    given = parser.parse_args()
    todo: dict[str, Any] = pairs() if given.pairs else cases()
    todo = {name: one for name, one in todo.items() if given.only in name}
    work = try_pair if given.pairs else try_time if given.time else try_case
    print(f"FlashWatt {flashwatt.__version__}, {len(todo)} configurations")
    # Runs that are timed have the machine for themselves; a pair takes two processors by itself.
    with ProcessPoolExecutor(1 if given.time or given.pairs else os.cpu_count()) as pool:
        waiting = [
            pool.submit(work, name, one, asked_of(one[0] if given.pairs else one, tails=given.tails), given.most)
            for name, one in todo.items()
        ]
        tried = []
        for future in waiting:
            one = future.result()
            tried.append(one)
            held = ", ".join(f"{key} {count}/{len(SEEDS)}" for key, count in one.held.items())
            print(f"{one.name:28} {one.requests:>12,.0f} requests  {held}{one.note}", flush=True)
    enough = show(tried, LEAST_OF_TAILS if given.tails else LEAST_OF_MEANS)
    if given.time:
        print(f"median ratio of a run of {FIXED:,}: {statistics.median(float(one.note) for one in tried):.2f}")
    sys.exit(0 if enough else 1)


if __name__ == "__main__":
    main()
