"""The figures of a point: rate, latency, power, energy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashwatt.dio.load import Load
    from flashwatt.dio.target import Measured, Power

POWER_KEYS = ("power_w", "energy_j", "j_per_mb", "mb_per_j", "iops_per_w")
"""Figures that a point without power has none of."""


def quantile(ordered: Sequence[int], share: float) -> int:
    """Give the smallest value that at least this share of the values does not exceed."""
    return ordered[max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1)]


def latencies(values: Sequence[int]) -> dict[str, float] | None:
    """Give mean, minimum, quantiles and maximum; None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    ends = {"min": ordered[0], "p50": quantile(ordered, 0.5), "p99": quantile(ordered, 0.99), "max": ordered[-1]}
    return {"mean": sum(ordered) / len(ordered), **ends}


def point(load: Load, measured: Measured, flush_ns: int) -> dict[str, Any]:
    """Give the figures of a point that need no power.

    The time goes from the first request to the last end, and for writes on to the end of the flush behind them: the
    completion of the data, which the papers measure. Rates are bytes (MB = 10^6) and requests over this time.
    """
    took_ns = measured.took_ns + flush_ns
    seconds, moved = took_ns / 1e9, measured.requests * load.request_bytes
    return {
        "pattern": load.pattern.name,
        "request_bytes": load.request_bytes,
        "requests": measured.requests,
        "bytes": moved,
        "began_ns": measured.began_ns,
        "ended_ns": measured.began_ns + took_ns,
        "seconds": seconds,
        "flush_s": flush_ns / 1e9 if load.pattern.write else None,
        "mb_s": moved / 1e6 / seconds if seconds else None,
        "iops": measured.requests / seconds if seconds else None,
        "latency_ns": latencies(measured.latencies_ns()),
        "interrupted": measured.stopped,
        **dict.fromkeys(POWER_KEYS),
    }


def priced(one: dict[str, Any], power: Power | None) -> dict[str, Any]:
    """Give a point with its figures of power: J/MB is all energy over the bytes moved, idle power included."""
    if power is None or not one["requests"]:
        return one
    joules, megabytes = power.energy_j, one["bytes"] / 1e6
    means = {rail: _mean(watts, power) for rail, watts in power.rails.items()}
    return {
        **one,
        "power_w": {"mean": power.mean_w, "max": max(power.watts, default=None), "rails": means},
        "energy_j": joules,
        "j_per_mb": joules / megabytes,
        "mb_per_j": megabytes / joules if joules else None,
        "iops_per_w": one["iops"] / power.mean_w if power.mean_w else None,
    }


def rails_of(points: Iterable[dict[str, Any]]) -> list[str]:
    """The rails whose power the points have."""
    return list(dict.fromkeys(rail for one in points for rail in (one["power_w"] or {}).get("rails", {})))


def _mean(watts: Sequence[float], power: Power) -> float:
    """The mean of a rail over the window, whose last interval may be shorter than the others."""
    if len(power.rails) == 1:
        return power.mean_w
    whole = power.interval_ns / 1e9
    last = power.seconds - (len(watts) - 1) * whole
    return (sum(watts[:-1]) * whole + watts[-1] * last) / power.seconds
