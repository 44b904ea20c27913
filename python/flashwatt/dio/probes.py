"""Probes: power without requests, a burst and the time after it, the size of the write buffer."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import mean, median
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.dio.figures import latencies
from flashwatt.dio.load import KIB, MIB, PATTERNS
from flashwatt.dio.simulated import Simulated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashwatt.dio.measure import Bench
    from flashwatt.dio.target import Power, Source

BURST_WRITES, BURST_BYTES = 256, 4 * MIB
"""Random writes of 4 MB until 1 GB is written (Park et al. 2011, Fig. 9; Seo et al. 2008, Fig. 3)."""
IDLE_S = 600.0
"""Ten minutes without a request (Park et al. 2011, Table 4)."""
AFTER_BURST_S = 300.0
"""The papers watch for "a few minutes"; five is a choice."""
BUFFER_SIZES = tuple(4 * KIB << power for power in range(15))
"""4 KiB to 64 MiB: four times the largest buffer that the papers found."""
_BUFFER_TRIES = 3
_BUFFER_PAUSE_S = 2.0
"""Before each write of the buffer probe, for the drive to empty its buffer. Choice."""
_BIN_SAMPLES = 100
"""Samples of 1 ms in a bin of a series that is kept."""
_STEEPER = 1.5
"""A buffer takes data so much faster, at least, than the drive behind it: smaller steps are noise. Choice."""
_HEAD = 8
"""Writes at the beginning of a burst that its later ones are compared with. Choice."""
_FAR_NS = 2**62
_WAKES_BYTES = 4096
"""The read that wakes a drive. Choice."""


def idle(bench: Bench, seconds: float) -> dict[str, Any]:
    """Watch the target without a request."""
    began, ended = bench.target.idle(round(seconds * 1e9), bench.go_on)
    found = {"began_ns": began, "ended_ns": ended, "seconds": (ended - began) / 1e9, "power": None}
    return {**found, "power": _power_of(bench.target.power(), began, ended)}


def sleep(bench: Bench, seconds: float) -> dict[str, Any]:
    """Send a simulated drive to sleep, watch it, and wake it by a random read of 4 KiB.

    A drive without a state to sleep in ignores the command, as the papers' SSDs did, and needs not be woken.
    """
    target = bench.target
    assert isinstance(target, Simulated), "real drives are refused before"
    if not target.sleep():
        return {**idle(bench, seconds), "ignored": True}
    asleep = idle(bench, seconds)
    load = replace(bench.plan.load(PATTERNS["randread"], _WAKES_BYTES, bench.span_bytes), requests=1, queue_depth=1)
    measured, _ = bench.run(load)
    power = _power_of(target.power(), measured.began_ns, measured.began_ns + measured.took_ns)
    return {**asleep, "ignored": False, "wake": {"latency_ns": measured.took_ns, "power": power}}


def burst(bench: Bench, seconds: float) -> dict[str, Any]:
    """Write 256 × 4 MiB at random, then watch."""
    size = BURST_BYTES
    if size > bench.span_bytes:
        found = f"--burst: found {bench.span_bytes} bytes of the target"
        raise _core.FlashwattError(f"{found}; expected {size} or more, the size of its writes")
    load = bench.plan.load(PATTERNS["randwrite"], size, bench.span_bytes)
    load = replace(load, requests=BURST_WRITES, limit_ns=_FAR_NS, queue_depth=1)
    measured, flush_ns = bench.run(load)
    ends = list(measured.times_ns[1::2])
    began, ended = measured.began_ns, measured.began_ns + measured.took_ns + flush_ns
    during = _power_of(bench.target.power(), began, ended)
    bench.check(stopped=measured.stopped)
    return {
        "request_bytes": size,
        "began_ns": began,
        "ended_ns": ended,
        "ends_ns": ends,
        "levels": levels(ends, size),
        "power": during,
        "after": idle(bench, seconds),
    }


def levels(ends_ns: Sequence[int], size: int) -> dict[str, Any]:
    """Find the knee of a burst: the write from which on eight take, on average, twice the time of the first eight.

    Rates are in MB/s of 10^6 bytes. `knee_mb` is what was written before the knee; None if there is no knee.
    """
    times = [end - start for start, end in zip([0, *ends_ns], ends_ns, strict=False)]
    if len(times) < 2 * _HEAD:
        return {"knee_mb": None, "before_mb_s": None, "after_mb_s": None}
    first, knee = mean(times[:_HEAD]), None
    for i in range(_HEAD, len(times) - _HEAD + 1):
        if mean(times[i : i + _HEAD]) > 2 * first:
            knee = next((j for j in range(i, i + _HEAD) if times[j] > 2 * first), i)
            break
    megabytes = size / 1e6
    before, after = times[:knee], times[knee:] if knee else []
    return {
        "knee_mb": knee * megabytes if knee else None,
        "before_mb_s": megabytes * len(before) / (sum(before) / 1e9),
        "after_mb_s": megabytes * len(after) / (sum(after) / 1e9) if after else None,
    }


def buffer(bench: Bench) -> dict[str, Any]:
    """Measure the response time of single writes by their size, each after a pause."""
    rows: list[dict[str, Any]] = []
    medians: list[tuple[int, float]] = []
    for size in BUFFER_SIZES:
        if size > bench.span_bytes:
            break
        found = []
        for at in range(_BUFFER_TRIES):
            load = replace(
                bench.plan.load(PATTERNS["randwrite"], size, bench.span_bytes),
                requests=1,
                queue_depth=1,
                seed=bench.plan.seed * _BUFFER_TRIES + at,
            )
            measured, _ = bench.run(load, watched=False)
            found += measured.latencies_ns()
            bench.target.idle(round(_BUFFER_PAUSE_S * 1e9), bench.go_on)
            bench.check(stopped=measured.stopped or not bench.go_on(0, None))
        rows.append({"request_bytes": size, "latency_ns": latencies(found), "median_ns": median(found)})
        medians.append((size, median(found)))
    return {"rows": rows, "buffer_bytes": knee_of(medians), "until_bytes": medians[-1][0] if medians else 0}


def knee_of(points: Sequence[tuple[float, float]]) -> float | None:
    """Give the size from which on response times grow faster: where the lines before and behind it cross.

    A line goes through each two neighbours. Of the gaps between two lines, the one with the largest ratio of slopes
    counts, if the lines cross in it, and if the data before it went so much faster than it goes behind it: the response
    time of a drive without a buffer also bends where its dies are all busy, but below that nothing goes faster.
    """
    best, found = _STEEPER, None
    for i in range(1, len(points) - 2):
        (s0, t0), (s1, t1), (s2, t2), (s3, t3) = points[i - 1 : i + 3]
        before, behind = (t1 - t0) / (s1 - s0), (t3 - t2) / (s3 - s2)
        if behind <= 0 or before < 0 or behind <= before:
            continue
        crossing = (t1 - before * s1 - t2 + behind * s2) / (behind - before)
        faster = behind * s1 / t1 if t1 else math.inf
        if s1 <= crossing <= s2 and faster > best:
            best, found = faster, crossing
    return found


def _power_of(source: Source | None, began_ns: int, ended_ns: int) -> dict[str, Any] | None:
    """Give the power of a window for the result: means, and a series of bins with their means and maxima."""
    power = source.over(began_ns, ended_ns) if source else None
    return None if power is None else in_bins(power)


def in_bins(power: Power) -> dict[str, Any]:
    """Give mean, least and highest power of a window, and its series in bins of 100 intervals."""
    means, highest = power.bins(_BIN_SAMPLES)
    return {
        "mean_w": power.mean_w,
        "min_w": min(power.watts, default=None),
        "max_w": max(power.watts, default=None),
        "energy_j": power.energy_j,
        "bin_ns": _BIN_SAMPLES * power.interval_ns,
        "bin_mean_w": means,
        "bin_max_w": highest,
    }
