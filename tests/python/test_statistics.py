"""Means with confidence, and Pareto fronts."""

from __future__ import annotations

import math
import random
from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl
import pytest

import flashwatt
from flashwatt.sweeps.statistics import mean_and_ci, student_t

if TYPE_CHECKING:
    from flashwatt import Results

# Two-sided critical values as any printed table has them.
CRITICAL = [
    (0.95, 1, 12.706),
    (0.95, 2, 4.303),
    (0.95, 3, 3.182),
    (0.95, 4, 2.776),
    (0.95, 9, 2.262),
    (0.95, 10, 2.228),
    (0.95, 30, 2.042),
    (0.95, 120, 1.980),
    (0.90, 5, 2.015),
    (0.99, 7, 3.499),
    (0.99, 1, 63.657),
    (0.999, 20, 3.850),
]


@pytest.mark.parametrize(("confidence", "freedom", "critical"), CRITICAL)
def test_critical_values_are_those_of_the_tables(confidence: float, freedom: int, critical: float) -> None:
    assert student_t(confidence, freedom) == pytest.approx(critical, abs=6e-4)


def test_a_mean_and_its_interval() -> None:
    mean, half = mean_and_ci([9.0, 10.0, 11.0])
    assert (mean, half) == (10.0, pytest.approx(4.303 / 3**0.5, abs=1e-3))
    assert mean_and_ci([5.0]) == (5.0, None)
    assert mean_and_ci([5.0, math.inf]) == (math.inf, None)
    nan, none = mean_and_ci([5.0, math.nan])
    assert math.isnan(nan)
    assert none is None
    assert mean_and_ci([4.0, 4.0]) == (4.0, 0.0)


def test_the_interval_holds_the_mean_as_often_as_it_says() -> None:
    draw = random.Random(1)
    samples = [mean_and_ci([draw.gauss(3, 2) for _ in range(4)], 0.9) for _ in range(4000)]
    held = fmean(abs(mean - 3) <= (half or 0) for mean, half in samples)
    assert held == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95])
def test_a_confidence_that_is_none_is_named(confidence: float) -> None:
    with pytest.raises(flashwatt.FlashwattError, match="expected more than 0 and less than 1"):
        student_t(confidence, 3)


def test_the_front_is_what_no_row_beats() -> None:
    draw = random.Random(7)
    frame = pl.DataFrame({name: [draw.randrange(12) for _ in range(200)] for name in ("energy", "latency", "iops")})
    front = flashwatt.pareto(frame, minimize=["energy", "latency"], maximize=["iops"])

    def beats(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
        return a != b and a[0] <= b[0] and a[1] <= b[1] and a[2] >= b[2]

    rows = frame.rows()
    expected = sorted(row for row in rows if not any(beats(other, row) for other in rows))
    assert sorted(front.rows()) == expected
    assert front["energy"].is_sorted()
    assert 1 < len(expected) < 100


def test_the_front_of_rows_without_values() -> None:
    frame = pl.DataFrame({"a": [1.0, None, float("nan"), 2.0], "b": [2, 0, 0, 3], "name": ["x", "y", "z", "w"]})
    assert flashwatt.pareto(frame, minimize=["a", "b"])["name"].to_list() == ["x"]
    with pytest.raises(flashwatt.FlashwattError, match="unknown name; found `c`; expected one of `a`, `b`, `name`"):
        flashwatt.pareto(frame, minimize=["c"])
    with pytest.raises(flashwatt.FlashwattError, match="no objective"):
        flashwatt.pareto(frame)


@pytest.fixture(scope="module")
def results() -> Results:
    """Sweep over two drives, three seeds each."""
    base = {"device": {"channels": 2, "logical_bytes": 200_000_000}, "workload": {"uniform": {"requests": 800}}}
    return flashwatt.sweep({"device.ways": [1, 2]}, base={**base, "workload.uniform.read_fraction": 0.5}, seeds=3)


def test_a_summary_is_of_the_seeds(results: Results) -> None:
    summary = results.summary(["energy_j.total", "latency_ns.read.p99"], confidence=0.9)
    assert summary.columns == [
        "device.ways", "runs", "warned",
        "energy_j.total.mean", "energy_j.total.ci90", "latency_ns.read.p99.mean", "latency_ns.read.p99.ci90",
    ]  # fmt: skip
    for row in summary.iter_rows(named=True):
        joules = [one.report.energy_j.total for one in results if one.point["device.ways"] == row["device.ways"]]
        mean, half = mean_and_ci(joules, 0.9)
        assert row["runs"] == 3
        assert (row["energy_j.total.mean"], row["energy_j.total.ci90"]) == pytest.approx((mean, half))
    with pytest.raises(flashwatt.FlashwattError, match=r"did you mean `energy_j\.total`"):
        results.summary(["energy_j.totl"])


def test_the_front_of_a_sweep_is_of_the_means(results: Results) -> None:
    front = results.pareto(minimize=["energy_j.total"], maximize=["throughput.iops"])
    assert front["device.ways"].to_list() == [2]
    assert "throughput.iops" in results.metrics
    assert "status" not in results.metrics
