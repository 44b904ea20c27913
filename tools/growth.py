"""How the engine's time for a flash operation grows: with size, channels, ways, queue depth, page and length of a run.

Prints CPU time of a flash operation, for 4 KiB random writes in steady state and for reads, on variants of the preset
`limit`, with the exponent of a fit: t ~ n^exponent, 0 where the time does not grow. Against goals stand the bounds of
channels and ways, and what a delay between starts on any channel costs. Each point is the best of several runs,
because other work on the machine makes runs slower.
"""

from __future__ import annotations

import math
import sys

import flashwatt

RUNS = 3
REQUESTS = {"writes": 150_000, "reads": 600_000}
READ_FRACTION = {"writes": 0, "reads": 1}
WIDE = {"pages_per_block": 32, "op_ratio": 0.5, "host_link.queue_depth": 65_535}
"""Small blocks and much spare flash, so that a thousand dies have what collection needs; a queue for all of them."""

Point = dict[str, object]


def _channels(n: int) -> Point:
    return {"channels": n, "ways": 1, "depth": 2 * n, **WIDE}


def _ways(n: int) -> Point:
    return {"channels": 16, "ways": n, "depth": 32 * n, **WIDE}


SERIES: dict[str, dict[int, Point]] = {
    "size, GiB": {n: {"logical_bytes": f"{n}GiB"} for n in (1, 4, 16, 64)},
    "channels": {n: _channels(n) for n in (8, 64, 256, 1024)},
    "ways": {n: _ways(n) for n in (4, 16, 64)},
    "queue depth": {n: {"depth": n, "host_link.queue_depth": 65_535} for n in (1, 32, 1024, 32_768)},
    "page, bytes": {n: {"page_bytes": n, "request_bytes": n, "op_ratio": 0.3} for n in (4096, 16_384, 65_536)},
    "length, requests": {n: {"requests": n} for n in (100_000, 1_000_000, 5_000_000)},
}
GOALS = {"channels": 2.5, "ways": 1.5}
"""The last point of a series over its first, at the most."""
SWITCH_GOAL = 1.5


def main() -> None:
    """Print a line for each series and workload, and one for each preset with a delay between starts."""
    for name, points in SERIES.items():
        for workload in REQUESTS:
            times = {n: _ns("limit", workload, point) for n, point in points.items()}
            labelled = {str(n): ns for n, ns in times.items()}
            _line(f"{name}, {workload}", labelled, f", exponent {_exponent(times):+.2f}", GOALS.get(name))
    without: Point = {"timing.channel_switch_ns": 0}
    for preset in ("x25m", "energysim"):
        for workload in REQUESTS:
            delays = {"without delay": _ns(preset, workload, without), "with it": _ns(preset, workload, {})}
            _line(f"{preset}, {workload}", delays, "", SWITCH_GOAL)


def _ns(preset: str, workload: str, point: Point) -> float:
    """CPU time of a flash operation in ns, of the best run."""
    other = {"depth": 32, "request_bytes": 4096, "requests": REQUESTS[workload], **point}
    depth, request_bytes, requests = (other.pop(key) for key in ("depth", "request_bytes", "requests"))
    config = flashwatt.Config(
        f'[device]\npreset = "{preset}"\n',
        sets=(
            *(f"device.{key}={value}" for key, value in other.items()),
            f"workload.uniform.request_bytes={request_bytes}",
            f"workload.uniform.queue_depth={depth}",
            f"workload.uniform.requests={requests}",
            f"workload.uniform.read_fraction={READ_FRACTION[workload]}",
            'run.precondition="steady"',
        ),
    )
    engines = [flashwatt.run(config, latency=False).engine for _ in range(RUNS)]
    return min(1e9 / engine.flash_ops_per_cpu_s for engine in engines if engine and engine.flash_ops_per_cpu_s)


def _line(name: str, times: dict[str, float], fit: str, goal: float | None) -> None:
    first, *_, last = times.values()
    line = f"{name:<24} {', '.join(f'{n}: {ns:.0f}' for n, ns in times.items())} ns{fit}"
    if goal is not None:
        ratio = last / first
        line += f", {ratio:.2f} x, goal {goal}  {'met' if ratio <= goal else 'MISSED'}"
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _exponent(times: dict[int, float]) -> float:
    """The slope of the least squares line through the logarithms."""
    points = [(math.log(n), math.log(ns)) for n, ns in times.items()]
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return float(slope)


if __name__ == "__main__":
    main()
