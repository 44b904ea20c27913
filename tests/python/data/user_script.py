"""What a user writes who checks types: mypy --strict has nothing to say, and knows every attribute."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from typing_extensions import assert_type

import flashwatt
from flashwatt import Config, Report, Results


def nand_share(report: Report) -> float:
    return report.energy_j.nand.total / report.energy_j.total


def slowest_ms(report: Report) -> float:
    slowest = report.latency_ns.all.max
    return 0.0 if slowest is None else slowest / 1e6


config = Config.of({"device": {"preset": "x25m"}}).override(workload__uniform__requests=1_000)
report = flashwatt.run(config, seed=2, series=True, device__channels=4)
assert_type(report, Report)
assert_type(report.throughput.iops, float)
assert_type(report.seed, int)
assert_type(report.warnings, list[str])
assert_type(report.power_w.peak, float | None)
assert_type(report.write_buffer.read_hits if report.write_buffer else 0, int)
assert_type(report.series(), pl.DataFrame)
results = flashwatt.sweep({"device.channels": [2, 4]}, base=config, seeds=2, workers=1)
assert_type(results, Results)
for point, seed, one in results:
    assert_type(seed, int)
    print(point, f"{nand_share(one):.0%}", slowest_ms(one))
front = results.pareto(minimize=["energy_j.total"])
assert_type(flashwatt.pareto(front, minimize=["energy_j.total.mean"]), pl.DataFrame)
assert_type(flashwatt.plot.power(report).save("power.svg"), Path)
