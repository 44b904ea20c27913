"""Distributions of latencies with and without a replica."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl

from flashwatt.experiments.rftl.scheme import scheme
from flashwatt.plot.figures import Point

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashwatt.reproduce.evidence import Evidence, Runs

BIN = 1.008  # width of a bin of the histogram


def no_worse(evidence: Evidence, kind: str, labels: tuple[str, str, str], first: int) -> float:
    """Share of the quantiles from `first` % on at which one replica takes no longer than none, to a bin's width."""
    with_one, without = (_quantiles(evidence, kind, (*labels, replicas)) for replicas in ("1", "0"))
    return fmean(a <= BIN * b for a, b in zip(with_one[first:], without[first:], strict=True))


def share_below(runs: Runs, kind: str, labels: tuple[str, ...], level_ns: int) -> float:
    """Share of the operations that take no longer than a time, to a bin of the histogram."""
    rows = runs.report(*labels).latency().filter(pl.col("kind") == kind)
    return int(rows.filter(pl.col("upper_ns") <= level_ns)["count"].sum()) / int(rows["count"].sum())


def cdf(evidence: Evidence, kind: str, labels: tuple[str, str, str]) -> Iterator[Point]:
    """The share of operations by time, for every number of replicas."""
    runs = evidence["study"]
    for replicas in runs.labels("replicas"):
        rows = runs.report(*labels, replicas).latency().filter(pl.col("kind") == kind)
        for upper_ns, share in rows.select("upper_ns", "cumulative_fraction").iter_rows():
            yield Point(upper_ns / 1e3, scheme(replicas), share)


def _quantiles(evidence: Evidence, kind: str, labels: tuple[str, ...]) -> list[int]:
    """Percentiles of the time of the operations, 0 to 99 %."""
    rows = evidence["study"].report(*labels).latency().filter(pl.col("kind") == kind)
    upper, cumulative = rows["upper_ns"], rows["cumulative_fraction"]
    return [int(upper[int((cumulative >= percent / 100).arg_max() or 0)]) for percent in range(100)]
