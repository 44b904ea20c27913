"""What a sweep on a Dask cluster costs: the gain of a second worker, processor time, and the coordinator's memory.

    python tools/cluster_bench.py [--tasks 200] [--seconds 1] [--empty 100000]

The first part runs tasks of about a second on one worker and on two, and prints the ratio of their times: 1.8 is the
goal on two idle processors. The second part runs tasks that answer at once, each of its own batch, and prints the
processor time of a task beyond its run (the goal is 15 ms), with the largest memory of the coordinator (1 GB).
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from flashwatt.sweeps.cluster import coordinator
from flashwatt.sweeps.cluster.dask import Dask
from flashwatt.sweeps.journal import Journal
from flashwatt.sweeps.study import Study
from flashwatt.sweeps.work import Work

if TYPE_CHECKING:
    from flashwatt.sweeps.task import Task

BASE = {"device": {"channels": 2, "ways": 1, "logical_bytes": 200_000_000}}
REQUESTS_A_SECOND = 600_000
"""A guess, corrected by a first run."""
RATIO, OVERHEAD_MS, RSS_MB = 1.8, 15.0, 1000.0
ANSWER_BYTES = 7_500
"""Of a line, as small reports have it."""


def tasks_of(requests: int, number: int) -> list[Task]:
    """Give tasks of this many requests."""
    study = Study.of({"workload.uniform.requests": [requests]}, base=BASE, seeds=number)
    return study.tasks()


def run(tasks: list[Task], executor: Dask, path: Path | None = None) -> float:
    """Run tasks; give the seconds."""
    with closing(Journal(path)) as journal:
        work = Work(tasks, journal, lambda _task: None)
        begin = time.perf_counter()
        executor.run(work)
        work.check()
        return time.perf_counter() - begin


def empty(requests: list[bytes], _terms: Any) -> list[tuple[bytes, float]]:
    """Stand for a batch on a worker: it answers at once."""
    import json

    heads = (json.loads(one)["head"] for one in requests)
    filler = "x" * ANSWER_BYTES
    return [(json.dumps({**head, "report": {"status": filler}}).encode() + b"\n", 0.0) for head in heads]


def gain(number: int, seconds: float) -> None:
    """Compare two workers with one."""
    with closing(Dask(local_workers=1)) as one:
        first = run(tasks_of(REQUESTS_A_SECOND, 3)[1:], one) / 2
        requests = round(REQUESTS_A_SECOND * seconds / first)
        tasks = tasks_of(requests, number)
        alone = run(tasks, one)
    with closing(Dask(local_workers=2)) as two:
        together = run(tasks, two)
    print(
        f"{number} tasks of {alone / number:.2f} s: one worker {alone:.1f} s, two {together:.1f} s, "
        f"ratio {alone / together:.2f} (goal {RATIO})"
    )


def cost(number: int) -> None:
    """Print what tasks cost beside their runs."""
    (like,) = tasks_of(10, 1)
    tasks = [replace(like, id=f"{place:064x}", seed=place) for place in range(number)]
    coordinator.run_batch = empty
    coordinator._BATCH_TASKS = 1
    with TemporaryDirectory() as directory, closing(Dask(local_workers=2)) as executor:
        client = executor._opened()
        before = client.run(os.times)
        mine = os.times()
        seconds = run(tasks, executor, Path(directory) / "results.jsonl")
        after, now = client.run(os.times), os.times()
    own = now.user + now.system - mine.user - mine.system
    theirs = sum(after[one].user + after[one].system - before[one].user - before[one].system for one in before)
    rss_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(
        f"{number:,} empty tasks: {seconds:.1f} s; processor {1e3 * (own + theirs) / number:.2f} ms a task "
        f"({1e3 * own / number:.2f} of coordinator and scheduler, {1e3 * theirs / number:.2f} of workers; "
        f"goal {OVERHEAD_MS:g}); "
        f"coordinator with scheduler {rss_mb:,.0f} MB at most (goal {RSS_MB:,.0f})"
    )


def main() -> None:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--empty", type=int, default=100_000)
    options = parser.parse_args()
    if options.tasks:
        gain(options.tasks, options.seconds)
    if options.empty:
        cost(options.empty)


if __name__ == "__main__":
    sys.exit(main())
