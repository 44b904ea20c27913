"""The probes of a result as tables on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from flashwatt.base.units import NOTHING, duration, number, si
from flashwatt.dio.table import size
from flashwatt.report.table import new_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from flashwatt.base.files import Json

_PULSE = 1.25
"""Power of at least this multiple of the idle power is a pulse of work. Choice."""


def tables(probes: Json) -> Iterator[RenderableType]:
    """Give what there is to print of the probes."""
    if any(one in probes for one in ("idle", "sleep")):
        yield _idle(probes)
    if "burst" in probes:
        yield from _burst(probes["burst"])
    if "buffer" in probes:
        yield from _buffer(probes["buffer"])


def _idle(probes: Json) -> RenderableType:
    table = new_table("\nWithout requests", "", "time", "mean", "least", "highest", "energy")
    for name in ("idle", "sleep"):
        if one := probes.get(name):
            label = f"{name} (ignored: no such state)" if one.get("ignored") else name
            table.add_row(label, duration(one["seconds"] * 1e9), *_watts(one["power"]))
            if wake := one.get("wake"):
                table.add_row("woken by a read", duration(wake["latency_ns"]), *_watts(wake["power"]))
    return table


def _watts(power: Json | None) -> list[str]:
    if power is None:
        return [NOTHING] * 4
    return [si(power[key], unit) for key, unit in (("mean_w", "W"), ("min_w", "W"), ("max_w", "W"), ("energy_j", "J"))]


def _burst(burst: Json) -> Iterator[RenderableType]:
    writes, levels = len(burst["ends_ns"]), burst["levels"]
    table = new_table(
        f"\nBurst of {writes} random writes of {size(burst['request_bytes'])}, and the time after it",
        "",
        "time",
        "mean",
        "least",
        "highest",
        "energy",
    )
    took = burst["ends_ns"][-1] if burst["ends_ns"] else 0
    table.add_row("burst", duration(took), *_watts(burst["power"]))
    table.add_row("after", duration(burst["after"]["seconds"] * 1e9), *_watts(burst["after"]["power"]))
    yield table
    if levels["knee_mb"] is None:
        yield Text(f"no knee: {_rate(levels['before_mb_s'])} from the first write to the last")
    else:
        yield Text(
            f"knee after {number(levels['knee_mb'], 0)} MB: {_rate(levels['before_mb_s'])} before, "
            f"{_rate(levels['after_mb_s'])} behind it"
        )
    if found := pulses(burst["after"]):
        ratio, until = found
        yield Text(f"pulses of {number(ratio, 2)} times the idle power, until {duration(until * 1e9)} after the burst")


def pulses(after: Json) -> tuple[float, float] | None:
    """Give how many times the least mean power of a bin the highest one is, and the seconds until the last pulse ends.

    None without power, and if no bin is a pulse: its mean is 1.25 times the least mean, or more.
    """
    power = after["power"]
    if power is None or not power["bin_mean_w"]:
        return None
    means, least = power["bin_mean_w"], min(power["bin_mean_w"])
    high = [at for at, watts in enumerate(means) if watts >= _PULSE * least]
    if not high or not least:
        return None
    return max(means) / least, (high[-1] + 1) * power["bin_ns"] / 1e9


def _buffer(probe: Json) -> Iterator[RenderableType]:
    table = new_table("\nResponse time of single writes, each after a pause", "size", "median", "least", "highest")
    for row in probe["rows"]:
        latency: dict[str, Any] = row["latency_ns"]
        times = (row["median_ns"], latency["min"], latency["max"])
        table.add_row(size(row["request_bytes"]), *map(duration, times))
    yield table
    knee, until = probe["buffer_bytes"], size(probe["until_bytes"])
    yield Text(
        f"buffer: {si(knee, 'B')}" if knee else f"no buffer seen up to {until}: no write goes faster than long ones"
    )


def _rate(value: float | None) -> str:
    return NOTHING if value is None else f"{number(value, 1)} MB/s"
