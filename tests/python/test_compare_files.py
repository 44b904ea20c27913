"""Figures of files side by side: their units, their places in comparisons and sweeps, tables of lists by name."""

from __future__ import annotations

import pytest

import flashwatt as fw
from flashwatt.plot.axes import figure
from flashwatt.report.keys import figures
from flashwatt.report.metrics import metric_of

SMALL = {
    "device.preset": "x25m",
    "workload.files.operations": 600,
    "workload.files.set": {"nfiles": 60},
}


@pytest.fixture(scope="module")
def reports() -> dict[str, fw.Report]:
    return {name: fw.run({**SMALL, "workload.files.system": name}) for name in ("ext2", "lfs", "nilfs2")}


@pytest.mark.parametrize(
    ("key", "written", "axis"),
    [
        ("files.operations.per_s", "31,736/s", "operations (1/s)"),
        ("files.operations.seconds", "8.8 h", "seconds"),
        ("engine.requests_per_cpu_s", "31736.000", "requests per cpu s"),
        ("efficiency.mb_per_j", "31736.000", "MB per j"),
        ("replay.pages_per_4_kib", "31736.000", "pages per 4 kib"),
        ("host.seeks.bytes_mean", "31.7 kB", "bytes mean"),
        ("host.depth.withheld_s", "8.8 h", "withheld (s)"),
    ],
)
def test_only_a_unit_at_the_end_of_a_key_is_one(key: str, written: str, axis: str) -> None:
    assert metric_of(key).write(31736.0) == written
    assert figure(key, [31736.0]).title == axis


def test_a_rate_is_no_time(reports: dict[str, fw.Report]) -> None:
    compared = fw.compare(reports, only=["files.operations.per_s"])
    (row,) = compared.figures()
    assert row.cells[0].text == f"{reports['ext2'].files.operations.per_s:,.0f}/s"  # type: ignore[union-attr]
    assert "(1/s)" in compared.to_latex()
    times = [key for key in figures() if metric_of(key).unit in ("s", "ns")]
    assert [key for key in times if "_per_" in key or ".per_" in key] == []
