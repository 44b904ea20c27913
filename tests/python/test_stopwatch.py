"""The speed of the engine: rates count all requests and operations, over all CPU time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import flashwatt
from conftest import CONFIG
from flashwatt import stopwatch

if TYPE_CHECKING:
    from collections.abc import Iterator

SMALL = flashwatt.Config(CONFIG)


def test_rates_are_of_all_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    times: Iterator[tuple[float, float]] = iter([(10.0, 1.0), (13.0, 2.0), (19.0, 6.0)])
    monkeypatch.setattr(stopwatch, "_now", lambda: next(times))
    watch = stopwatch.Stopwatch()
    watch.lap()
    window = {"warmup": 900, "measured": 90, "drained": 10, "flash_ops": 2400}
    engine = watch.engine({"window": window, "workload": {"requests": 90}})
    assert engine == {
        "prepare_wall_s": 3.0,
        "wall_s": 6.0,
        "cpu_s": 4.0,
        "requests_per_cpu_s": 250.0,
        "flash_ops_per_cpu_s": 600.0,
    }


@pytest.mark.parametrize("drain", [False, True])
def test_every_request_and_operation_of_a_run_counts(drain: bool) -> None:
    stages = {"run.warmup.requests": 1500, "run.measure.requests": 300, "run.count_drain": drain}
    report = flashwatt.run(SMALL, op_log=True, **stages)
    assert report.engine is not None
    operations = report.op_log()["record"].cast(str).is_in(["read", "program", "erase"]).sum()
    window = report.window
    requests = window.warmup + window.measured + window.drained
    assert window.measured == 300
    assert window.drained > 0
    assert report.engine.requests_per_cpu_s == pytest.approx(requests / report.engine.cpu_s)
    assert window.flash_ops == operations
    assert report.engine.flash_ops_per_cpu_s == pytest.approx(operations / report.engine.cpu_s)
    assert report.workload.requests == 300 + (window.drained if drain else 0)
