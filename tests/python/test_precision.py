"""Runs that end when their figures are known, from Python, on the command line and in sweeps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import flashwatt

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

DRIVE: dict[str, Any] = {
    "device": {"preset": "limit", "channels": 2, "ways": 2, "blocks_per_plane": 64, "pages_per_block": 64},
    "run": {"precondition": "steady"},
    "workload": {"uniform": {"requests": 10_000_000, "queue_depth": 8, "read_fraction": 0}},
}
ASKED = {"relative_error": "3%", "figures": ["throughput.iops", "flash.write_amplification"]}
FIGURES = ["throughput.iops", "flash.write_amplification"]
STUDY = """\
seeds = 2
[base.device]
preset = "limit"
channels = 2
ways = 2
blocks_per_plane = 64
pages_per_block = 64
[base.run]
precondition = "steady"
[base.run.measure.precision]
relative_error = "5%"
figures = ["throughput.iops", "flash.write_amplification"]
[base.workload.uniform]
requests = 10_000_000
queue_depth = 8
read_fraction = 0
[grid]
gc.policy = ["greedy", "fifo"]
"""


def precise(**overrides: Any) -> flashwatt.Report:
    """Run the drive until its figures are known."""
    return flashwatt.run(DRIVE, **{"run.measure.precision": ASKED}, **overrides)


def test_the_report_says_how_well_its_figures_are_known() -> None:
    report = precise()
    precision = report.precision
    assert precision is not None
    assert precision.ended_by == "precision"
    assert precision.figures is not None
    iops, amplification = precision.figures
    assert iops.value == pytest.approx(report.throughput.iops)
    assert amplification.value == pytest.approx(report.flash.write_amplification)
    assert [one.key for one in precision.figures] == FIGURES
    assert all(one.relative_error is not None and one.relative_error <= 0.03 for one in precision.figures)
    assert flashwatt.run(DRIVE, run__measure__requests=500).precision is None


def test_the_report_is_read_back(tmp_path: Path) -> None:
    report = precise(run__measure__requests=30_000)
    report.write(tmp_path / "report.json")
    again = flashwatt.Report.read(tmp_path / "report.json")
    assert again.precision == report.precision


def test_one_run_is_compared_with_another() -> None:
    report = precise(gc__policy="fifo", seed=3, against=flashwatt.Config.of(DRIVE).override({"run.seed": 3}))
    assert report.precision is not None
    assert report.precision.against is not None
    differences = report.precision.against.differences
    assert differences is not None
    assert [one.key for one in differences] == FIGURES
    iops, amplification = differences
    assert iops.value < 0 < amplification.value, "fifo collects blocks with more valid pages"
    assert iops.baseline + iops.value == pytest.approx(report.throughput.iops)


def test_the_command_line_says_why_a_run_ended(flashwatt: Cli) -> None:
    small = [f"--set=device.{key}={json.dumps(value)}" for key, value in DRIVE["device"].items()]
    load = [f"--set=workload.uniform.{key}={value}" for key, value in DRIVE["workload"]["uniform"].items()]
    sets = ['--set=run.precondition="steady"', *load]
    asked = '--set=run.measure.precision={relative_error="3%", figures=["throughput.iops"]}'
    ended = flashwatt("run", *small, *sets, asked)
    assert ended.returncode == 0, ended.stderr
    assert "ended when the figures were known (3 % asked for, 95 % confidence)" in ended.stdout
    bounded = flashwatt("run", *small, *sets, asked, "--requests", "1000")
    assert "ended by its bound, before the figures were known" in bounded.stdout
    assert "warning: the run ended before its figures were known to 3.00 %" in bounded.stdout


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        ({"figures": ["throughput.iop"]}, "did you mean `throughput.iops`"),
        ({"relative_error": 2}, "run.measure.precision.relative_error: out of range"),
        ({"figure": "throughput.iops"}, "unknown key"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(asked: dict[str, Any], fault: str) -> None:
    with pytest.raises(flashwatt.FlashwattError, match=fault.replace(".", r"\.")):
        flashwatt.run(DRIVE, **{"run.measure.precision": asked})


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, flashwatt.Results]:
    """Sweep two points with two seeds, each against the first point."""
    path = tmp_path_factory.mktemp("precision") / "study.toml"
    path.write_text(f'baseline = {{ gc.policy = "greedy" }}\n{STUDY}')
    return path, flashwatt.sweep(path, workers=1)


def test_points_of_a_sweep_are_compared_with_a_baseline(swept: tuple[Path, flashwatt.Results]) -> None:
    frame = swept[1].precision()
    assert frame["figure"].to_list() == FIGURES * 4
    assert set(frame["ended_by"]) == {"precision"}
    fifo, greedy = (frame.filter(pl.col("gc.policy") == name) for name in ("fifo", "greedy"))
    assert fifo["difference"].null_count() == 0
    assert greedy["difference"].null_count() == len(greedy), "the baseline runs alone"
    assert (fifo["value"] - fifo["baseline"]).to_list() == pytest.approx(fifo["difference"].to_list())
    assert max(fifo["difference.relative_error"]) <= 0.05


def test_the_number_of_workers_changes_nothing(swept: tuple[Path, flashwatt.Results], tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    flashwatt.sweep(swept[0], workers=2, out=tmp_path / "two", progress=lambda *step: calls.append(step))
    flashwatt.sweep(swept[0], workers=1, out=tmp_path / "one")
    assert len(calls) == 5
    for name in ("results.jsonl", "results.parquet"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize(
    ("baseline", "fault"),
    [
        ('{ gc.policy = "gredy" }', "baseline.gc.policy: found 'gredy'; expected a value of the grid"),
        ("{ gc.polcy = 1 }", "did you mean `gc.policy`"),
        ("{}", "baseline: found {}; expected keys of the grid"),
        ("3", "baseline: found 3; expected keys of the grid"),
    ],
)
def test_a_baseline_that_is_none_is_refused(tmp_path: Path, baseline: str, fault: str) -> None:
    path = tmp_path / "study.toml"
    path.write_text(f"baseline = {baseline}\n{STUDY}")
    with pytest.raises(flashwatt.FlashwattError) as error:
        flashwatt.sweep(path)
    assert fault in str(error.value)
    assert "study.toml:1: " in str(error.value)


def test_a_baseline_needs_a_precision() -> None:
    with pytest.raises(flashwatt.FlashwattError, match=r"found no run\.measure\.precision"):
        flashwatt.sweep({"gc.policy": ["greedy", "fifo"]}, base=DRIVE, baseline={"gc.policy": "greedy"})
