"""The host's block layer as a user sees it: the report's section, its tables on the terminal, its pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import flashwatt
from flashwatt import FlashwattError, plot

if TYPE_CHECKING:
    from conftest import Cli

JOB = Path(__file__).parents[2] / "examples" / "shared.fio"
CONFIG = {"device.preset": "x25m", "workload.fio.path": str(JOB), "host.queue_depth": 4, "run.measure.requests": 200}


def run(scheduler: str, *, series: bool = True) -> flashwatt.Report:
    return flashwatt.run(CONFIG, host__scheduler=scheduler, series=series)


def test_the_tables_fit_a_narrow_terminal(flashwatt: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    sets = [f"--set={key}={value}" for key, value in CONFIG.items()]
    said = flashwatt("run", "--scheduler", "mq_deadline", *sets).stdout
    table = said[said.index("Host: mq_deadline") :]
    for words in ("to the drive", "Where the time goes", "to get a place", "longest"):
        assert words in table
    assert "…" not in table


def test_a_run_with_a_series_draws_the_block_layer(flashwatt: Cli, tmp_path: Path) -> None:
    done = flashwatt(
        "run", "--preset", "x25m", "--fio", JOB, "--scheduler", "noop", "--requests", 50, "--series", "--out", "r"
    )
    assert done.returncode == 0, done.stderr
    for name in ("queue", "waits"):
        for suffix in ("svg", "html"):
            assert (tmp_path / "r" / f"{name}.{suffix}").stat().st_size > 1000


def test_parts_of_the_latency_add_up_to_it() -> None:
    """Of a whole run: at the end of a shorter window the block layer counts all that ends at that instant."""
    whole = {key: value for key, value in CONFIG.items() if key != "run.measure.requests"}
    content = flashwatt.run(whole, host__scheduler="mq_deadline").to_dict()
    parts = content["host"]["latency_ns"]
    for kind in ("read", "write"):
        means = {part: parts[part][kind]["mean"] for part in ("slat", "clat", "queue", "device")}
        assert means["clat"] == pytest.approx(means["queue"] + means["device"], rel=1e-9)
        assert content["latency_ns"][kind]["mean"] == pytest.approx(means["slat"] + means["clat"], rel=1e-9)


def test_pictures_hold_several_runs_side_by_side(tmp_path: Path) -> None:
    reports = {name: run(name) for name in ("none", "bfq")}
    for chart in (plot.queue(reports), plot.waits(reports)):
        drawn = chart.save(tmp_path / "chart.html").read_text()
        assert "none" in drawn
        assert "bfq" in drawn


def test_reports_without_the_figures_are_refused() -> None:
    with pytest.raises(FlashwattError, match=r"no block layer; expected `\[host\]`"):
        plot.waits(flashwatt.run({"device.preset": "x25m", "workload.uniform.requests": 10}))
    with pytest.raises(FlashwattError, match=r"no requests over time; ask for them"):
        plot.queue(run("noop", series=False))
