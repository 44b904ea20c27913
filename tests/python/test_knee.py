"""The knee of a run, on series made by hand."""

from __future__ import annotations

import random
from typing import Any

import pytest

from flashwatt.report.knee import Knee, first_fall, knee_of


def report(rates: list[float], watts: list[float], interval_ns: int = 10**6) -> dict[str, Any]:
    """A report with as much as the knee is found in."""
    series = {
        "start_ns": 5 * 10**9,
        "interval_ns": interval_ns,
        "power_w": {"controller": [1.0] * len(watts), "nand_program": [watt - 1.0 for watt in watts]},
        "activity": {"write_mb_s": rates},
    }
    simulated_s = len(rates) * interval_ns / 1e9
    return {
        "series": series,
        "throughput": {"simulated_s": simulated_s},
        "config": {"device": {"logical_bytes": 10**9}},
    }


def found(rates: list[float]) -> int | None:
    """The bins before the knee, of bins that are equally long."""
    return first_fall(rates, [1.0] * len(rates))


@pytest.mark.parametrize("at", [20, 117, 333, 750, 1200])
def test_a_step_is_found_where_it_is(at: int) -> None:
    assert found([5000.0] * at + [1600.0] * (1500 - at)) == at


def test_levels_are_those_of_the_step_by_hand() -> None:
    # 100 ms at 4,000 MB/s and 5 W are 0.4 GB and 0.5 J; 300 ms at 1,000 MB/s and 4 W are 0.3 GB and 1.2 J.
    knee = knee_of(report([4000.0] * 100 + [1000.0] * 300, [5.0] * 100 + [4.0] * 300))
    assert isinstance(knee, Knee)
    assert knee.at_ns == 5.1e9
    assert knee.written_bytes == pytest.approx(0.4e9)
    assert knee.share == pytest.approx(0.4)
    assert (knee.before.seconds, knee.after.seconds) == pytest.approx((0.1, 0.3))
    assert (knee.before.write_mb_s, knee.after.write_mb_s) == pytest.approx((4000, 1000))
    assert (knee.before.power_w, knee.after.power_w) == pytest.approx((5, 4))
    assert (knee.before.j_per_gb, knee.after.j_per_gb) == pytest.approx((1.25, 4))
    assert knee.levels == (knee.after,)


def test_of_two_falls_the_first_is_the_knee() -> None:
    # Time by level as in the fill of a drive whose cache has a bound: 6, 73 and 21 %.
    assert found([5000.0] * 60 + [2700.0] * 730 + [1650.0] * 210) == 60
    knee = knee_of(report([5000.0] * 60 + [2700.0] * 730 + [1650.0] * 210, [4.0] * 1000))
    assert knee is not None
    assert [level.write_mb_s for level in knee.levels] == pytest.approx([2700, 1650])
    assert [level.seconds for level in knee.levels] == pytest.approx([0.73, 0.21])
    assert found([5000.0] * 60 + [4700.0] * 200 + [1000.0] * 740) == 260, "a tenth less is no fall"


def test_work_that_comes_block_by_block_does_not_move_it() -> None:
    after = [2600.0 if at % 6 < 3 else 600.0 for at in range(1200)]
    assert abs(found([5000.0] * 300 + after) - 300) <= 3  # type: ignore[operator]


def test_noise_moves_it_by_a_bin_at_most() -> None:
    drawn = random.Random(1)
    rates = [drawn.gauss(5000, 500) for _ in range(400)] + [drawn.gauss(1500, 300) for _ in range(900)]
    assert abs(found(rates) - 400) <= 1  # type: ignore[operator]


@pytest.mark.parametrize(
    "rates",
    [
        [3000.0] * 1000,
        [1000.0] * 300 + [3000.0] * 700,
        [3000.0] * 500 + [2500.0] * 500,
        [3000.0 if at % 100 < 50 else 100.0 for at in range(1000)],
        [3000.0, 100.0, 100.0],
        [],
    ],
    ids=["level", "rise", "a sixth less", "bursts", "too short", "nothing"],
)
def test_without_a_fall_there_is_no_knee(rates: list[float]) -> None:
    assert found(rates) is None
    assert knee_of(report(rates, [2.0] * len(rates))) is None


def test_what_the_write_buffer_takes_is_left_out() -> None:
    # 20 ms at 7,000 MB/s are 140 MB, three times a buffer of 46 MB, then 180 ms at 4,000 MB/s: 1 ms fills no bin more.
    whole = report([7000.0] * 20 + [4000.0] * 180 + [1000.0] * 300, [3.0] * 500)
    whole["config"]["write_buffer"] = {"bytes": 46 * 10**6}
    knee = knee_of(whole)
    assert knee is not None
    assert knee.at_ns == 5.2e9
    # Four buffers are 184 MB: 20 bins at 7 MB and 11 at 4 MB.
    assert knee.before.seconds == pytest.approx(0.2 - 0.031)
    assert knee.before.write_mb_s == pytest.approx(4000)
    assert knee.written_bytes == pytest.approx(140e6 + 720e6)
    whole["config"]["write_buffer"]["bytes"] = 10**9
    assert knee_of(whole) is None


def test_noise_alone_has_no_knee() -> None:
    for seed in range(20):
        drawn = random.Random(seed)
        assert found([max(0.0, drawn.gauss(2000, 900)) for _ in range(1200)]) is None


def test_only_the_part_with_writes_counts() -> None:
    knee = knee_of(report([0.0] * 50 + [4000.0] * 100 + [1000.0] * 100 + [0.0] * 500, [3.0] * 750))
    assert knee is not None
    assert knee.at_ns == 5.15e9
    assert (knee.before.seconds, knee.after.seconds) == pytest.approx((0.1, 0.1))
    assert knee_of(report([0.0] * 50 + [4000.0] * 100 + [0.0] * 500, [3.0] * 650)) is None


def test_a_report_without_a_series_has_none() -> None:
    assert knee_of({}) is None
    assert knee_of({"series": None}) is None
