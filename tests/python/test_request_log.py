"""The log of the host's requests: by hand, beside the report, and as a file that is kept or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import flashwatt
from flashwatt.base import frames
from test_origins import ONE_DIE, ROWS, WRITE_NS, trace

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

COLUMNS = ["kind", "arrival_ns", "start_ns", "end_ns", "offset_bytes", "bytes", "origin"]


def test_requests_by_hand(tmp_path: Path) -> None:
    """One place in the drive: the second request waits outside until the first has ended."""
    log = tmp_path / "requests.csv"
    flashwatt.run(
        ONE_DIE,
        workload__trace__path=trace(tmp_path / "two.csv", *ROWS),
        device__host_link__queue_depth=1,
        request_log=log,
    )
    header, *rows = log.read_text().splitlines()
    assert header.split(",") == COLUMNS
    first, second, third = WRITE_NS, 3 * WRITE_NS, 10_000_000
    assert rows == [
        f"write,0,0,{first},0,4096,0",
        f"write,0,{first},{second},{1 << 20},8192,1",  # device 7 follows device 0 at the next MiB
        f"write,{third},{third},{third + WRITE_NS},4096,4096,0",
    ]


@pytest.mark.parametrize("name", ["requests.csv", "requests.parquet"])
def test_it_agrees_with_the_report(tmp_path: Path, name: str) -> None:
    setting = {
        "workload": {"uniform": {"requests": 500, "request_bytes": 4096, "read_fraction": 0.5, "queue_depth": 8}},
        "run": {"warmup": {"requests": 100}, "measure": {"requests": 300}},
    }
    plain = flashwatt.run(setting)
    report = flashwatt.run(setting, request_log=tmp_path / name)
    assert {**report.to_dict(), "engine": 0} == {**plain.to_dict(), "engine": 0}
    log = frames.request_log(tmp_path / name).collect()
    assert log.columns == COLUMNS
    window = report.window
    assert log.height == window.warmup + window.measured + window.drained
    measured = log.slice(window.warmup, window.measured).with_columns(ns=pl.col("end_ns") - pl.col("arrival_ns"))
    for kind, latency in (("read", report.latency_ns.read), ("write", report.latency_ns.write)):
        own = measured.filter(pl.col("kind") == kind)
        assert (own.height, own["ns"].max(), own["ns"].mean()) == (
            latency.count,
            latency.max,
            pytest.approx(latency.mean),
        )
    assert (log["arrival_ns"] <= log["start_ns"]).all()
    assert log["end_ns"].is_sorted()


def test_a_file_of_another_kind_stays(flashwatt: Cli, config: Path, tmp_path: Path) -> None:
    mine = tmp_path / "notes.csv"
    mine.write_text("my notes\n")
    refused = flashwatt("run", config, "--request-log", mine)
    assert refused.returncode == 2
    assert "not a request log written by flashwatt" in refused.stderr
    assert mine.read_text() == "my notes\n"
    for _ in range(2):
        assert flashwatt("run", config, "--requests", 50, "--request-log", "log.csv").returncode == 0
    both = flashwatt("run", config, "--request-log", "a.csv", "--op-log", "a.csv")
    assert "each needs a file of its own" in both.stderr


def test_both_logs_of_one_run(flashwatt: Cli, config: Path, tmp_path: Path) -> None:
    said = flashwatt("run", config, "--request-log", "r.csv", "--op-log", "o.csv", "--json")
    assert said.returncode == 0, said.stderr
    requests = (tmp_path / "r.csv").read_text().splitlines()
    operations = (tmp_path / "o.csv").read_text().splitlines()
    assert len(requests) - 1 == sum(line.startswith("request,") for line in operations) == 2_000
