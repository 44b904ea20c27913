"""Results of the probes of the direct I/O benchmark: power over time, the rate of a burst, response times by size."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from flashwatt.base.scripts import blaming
from flashwatt.plot.figures import Point, lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flashwatt.plot.chart import Chart

_BINS = "Means over 0.1 s."


@blaming
def probes(content: Mapping[str, Any]) -> dict[str, Chart]:
    """Draw what the probes of a dio.json found, by the name of the picture: those that there is something for.

    `power`: of an idle drive, and of a burst and the time after it, in W over s. `burst_rate`: of each write of a burst
    in MB/s, over the MB (10^6 bytes) written up to its end. `response`: the median time in ms of single writes by their
    size in KiB.
    """
    found, name = content["probes"], content["target"]["name"]
    drawn: dict[str, Chart] = {}
    if rows := list(_power(found)):
        drawn["power"] = lines(f"{name}: power", _BINS, rows, ("time (s)", "power (W)"), stairs=True)
    if burst := found.get("burst"):
        rows = list(_rates(burst["ends_ns"], burst["request_bytes"] / 1e6))
        axes = ("written (MB)", "rate of a write (MB/s)")
        drawn["burst_rate"] = lines(f"{name}: rate of a burst", "Each point is a write.", rows, axes, log_y=True)
    if buffer := found.get("buffer"):
        rows = [Point(row["request_bytes"] / 1024, "median", row["median_ns"] / 1e6) for row in buffer["rows"]]
        axes = ("size of the write (KiB)", "time (ms)")
        said = "Single writes, each after a pause."
        drawn["response"] = lines(f"{name}: response time", said, rows, axes, log_x=True, log_y=True)
    return drawn


def _power(found: Mapping[str, Any]) -> Iterator[Point]:
    for label in ("idle", "sleep"):
        if watched := found.get(label):
            yield from _bins(watched["power"], label, 0)
    if burst := found.get("burst"):
        yield from _bins(burst["power"], "burst", 0)
        after = burst["after"]
        yield from _bins(after["power"], "after the burst", (after["began_ns"] - burst["began_ns"]) / 1e9)


def _bins(power: Mapping[str, Any] | None, label: str, start_s: float) -> Iterator[Point]:
    """Give the bins of a series as steps; none without power."""
    if power is None:
        return
    bin_s = power["bin_ns"] / 1e9
    for at, watts in enumerate(power["bin_mean_w"]):
        yield Point(start_s + at * bin_s, label, watts)


def _rates(ends_ns: list[int], megabytes: float) -> Iterator[Point]:
    for at, (before, end) in enumerate(pairwise([0, *ends_ns]), 1):
        if end > before:
            yield Point(at * megabytes, "write", megabytes / ((end - before) / 1e9))
