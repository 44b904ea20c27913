"""The benchmark of `make bench`: the speed of the command line and of the engine, each against its goal.

The engine's goals are half of what a bare prototype of its inner loop reached on one quiet core of the machines that
it is developed on. Whatever else runs there takes caches and clock away, and CPU time counts that as the engine's
own: up to twofold. So each workload is run several times, in turn with the others, and the best run counts; a machine
that is slow or busy throughout still shows less.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import flashwatt

HELP_RUNS, HELP_GOAL_S = 11, 0.3
SPEED_RUNS = 5
LIMIT = '[device]\npreset = "limit"\n[workload.uniform]\nrequest_bytes = 4096\nqueue_depth = 32\n'
STEADY = 'run.precondition="steady"'
COMMANDS_FIRST = 'controller.bus_order="command_first"'  # the preset has data first, as the prototype
SWEEP_TASKS, SWEEP_GOAL = 200, 1.7
WORKLOADS = {
    "4 KiB random writes, steady": (
        ["workload.uniform.requests=1_000_000", STEADY],
        ("flash_ops_per_cpu_s", 7e6),
    ),
    "4 KiB random reads": (
        ["workload.uniform.requests=4_000_000", "workload.uniform.read_fraction=1.0"],
        ("flash_ops_per_cpu_s", 6e6),
    ),
    "the same, commands first": (
        ["workload.uniform.requests=4_000_000", "workload.uniform.read_fraction=1.0", COMMANDS_FIRST],
        ("flash_ops_per_cpu_s", 6e6),
    ),
    "4 KiB random, 70 % reads, steady": (
        ["workload.uniform.requests=2_000_000", "workload.uniform.read_fraction=0.7", STEADY],
        ("requests_per_cpu_s", 1.6e6),
    ),
}


def main() -> None:
    """Measure everything and print one line for each."""
    help_s = statistics.median(_help() for _ in range(HELP_RUNS))
    _line("flashwatt --help, median", help_s, HELP_GOAL_S, "s", good=help_s <= HELP_GOAL_S)
    rounds = [[_speed(sets, figure) for sets, (figure, _) in WORKLOADS.values()] for _ in range(SPEED_RUNS)]
    for (name, (_, (figure, goal))), *speeds in zip(WORKLOADS.items(), *rounds, strict=True):
        speed = max(speeds)
        _line(name, speed, goal / 1e6, f"M {figure.removesuffix('_per_cpu_s')}/s", good=speed >= goal / 1e6)
    gain = _sweep_s(1) / _sweep_s(2)
    _line(f"sweep of {SWEEP_TASKS} tasks, 2 workers", gain, SWEEP_GOAL, "x 1 worker", good=gain >= SWEEP_GOAL)


def _speed(sets: list[str], figure: str) -> float:
    engine = flashwatt.run(flashwatt.Config(LIMIT, sets=tuple(sets)), latency=False).engine
    return float(getattr(engine, figure)) / 1e6


def _sweep_s(workers: int) -> float:
    base = {"device": {"preset": "x25m", "logical_bytes": 4_000_000_000}, "workload.uniform.requests": 100_000}
    start = time.perf_counter()
    flashwatt.sweep({"device.ways": [1, 2]}, base=base, seeds=SWEEP_TASKS // 2, workers=workers)
    return time.perf_counter() - start


def _help() -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "flashwatt", "--help"], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def _line(name: str, measured: float, goal: float, unit: str, *, good: bool) -> None:
    sys.stdout.write(f"{name:<34} {measured:7.2f} {unit:<13} goal {goal:4.1f}  {'met' if good else 'MISSED'}\n")


if __name__ == "__main__":
    main()
