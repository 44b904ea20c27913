"""Differences between points of a sweep, paired by seed, and bootstrap intervals of quantiles."""

from __future__ import annotations

import csv
import io
import json
import math
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING, Any

import click
import pytest
from rich.console import Console

import flashwatt as package
from flashwatt.cli.sweep import _baseline
from flashwatt.sweeps.changes import show_differences
from flashwatt.sweeps.quantiles import Pooled, name_of
from flashwatt.sweeps.statistics import mean_and_ci

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

BASE: dict[str, Any] = {
    "device": {"channels": 2, "logical_bytes": 400_000_000},
    "workload": {"uniform": {"requests": 300, "read_fraction": 0.5}},
}
ENERGY = "energy_j.total"


@pytest.fixture(scope="module")
def results() -> package.Results:
    """Sweep over six drives, three seeds each, with histograms."""
    grid = {"device.ways": [1, 2, 4], "ftl.page.map_unit_bytes": [2048, 4096]}
    return package.sweep(grid, base=BASE, seeds=3, latency=True, workers=1)


def joules(results: package.Results, ways: int, unit: int) -> list[float]:
    point = {"device.ways": ways, "ftl.page.map_unit_bytes": unit}
    return [one.report.energy_j.total for one in results if one.point == point]


def test_points_are_paired_by_seed(results: package.Results) -> None:
    frame = results.differences({"device.ways": 1}, [ENERGY], confidence=0.9)
    assert frame.select(results.keys).rows() == [(2, 2048), (2, 4096), (4, 2048), (4, 4096)]
    assert frame["pairs"].to_list() == [3] * 4
    for row in frame.iter_rows(named=True):
        unit = row["ftl.page.map_unit_bytes"]
        pairs = list(zip(joules(results, row["device.ways"], unit), joules(results, 1, unit), strict=True))
        mean, half = mean_and_ci([a - b for a, b in pairs], 0.9)
        assert half is not None
        assert row[f"{ENERGY}.difference"] == pytest.approx(mean)
        assert row[f"{ENERGY}.difference.ci90"] == pytest.approx(half)
        middle, around = mean_and_ci([math.log(a / b) for a, b in pairs], 0.9)
        assert around is not None
        assert row[f"{ENERGY}.ratio"] == pytest.approx(math.exp(middle))
        assert row[f"{ENERGY}.ratio.low90"] == pytest.approx(math.exp(middle - around))
        assert row[f"{ENERGY}.ratio.high90"] == pytest.approx(math.exp(middle + around))


def test_a_baseline_may_fix_every_key(results: package.Results) -> None:
    frame = results.differences({"device.ways": 1, "ftl.page.map_unit_bytes": 4096}, [ENERGY])
    assert len(frame) == 5
    (first, *_) = frame.iter_rows(named=True)
    expected = fmean(joules(results, 1, 2048)) - fmean(joules(results, 1, 4096))
    assert first[f"{ENERGY}.difference"] == pytest.approx(expected)


def test_pairing_narrows_the_interval() -> None:
    """What a seed adds to both runs of a pair cancels in their difference."""
    grid = {"energy.controller.active_ma": [30, 31]}
    results = package.sweep(grid, base=BASE, seeds=4, workers=1)
    halves = results.summary([ENERGY])[f"{ENERGY}.ci95"].to_list()
    paired = results.differences({"energy.controller.active_ma": 30}, [ENERGY])[f"{ENERGY}.difference.ci95"][0]
    assert 0 < paired < min(halves) / 10


def test_runs_without_a_partner_are_left_out(results: package.Results) -> None:
    lines = [(one.point, one.seed, one.report.to_dict()) for one in results]

    def without(*left_out: int) -> package.Results:
        kept = [one for at, one in enumerate(lines) if at not in left_out]
        return package.Results(
            (point, json.dumps({"id": str(at), "point": point, "seed": seed, "report": report}).encode())
            for at, (point, seed, report) in enumerate(kept)
        )

    assert without(0).differences({"device.ways": 1}, [ENERGY])["pairs"].to_list() == [2, 3, 2, 3]
    row = without(0, 1).differences({"device.ways": 1}, [ENERGY]).row(0, named=True)
    assert (row["pairs"], row[f"{ENERGY}.difference.ci95"], row[f"{ENERGY}.ratio.low95"]) == (1, None, None)
    assert row[f"{ENERGY}.ratio"] > 0
    row = without(0, 1, 2).differences({"device.ways": 1}, [ENERGY]).row(0, named=True)
    assert (row["pairs"], row[f"{ENERGY}.difference"], row[f"{ENERGY}.ratio"]) == (0, None, None)


def test_a_figure_that_may_be_0_has_no_ratio(results: package.Results) -> None:
    row = results.differences({"device.ways": 1}, ["flash.erases.merge"]).row(0, named=True)
    assert row["flash.erases.merge.difference"] == 0
    assert row["flash.erases.merge.ratio"] is None


@pytest.mark.parametrize(
    ("baseline", "said"),
    [
        ({}, "baseline: found no key; expected one of the grid"),
        ({"device.way": 1}, "baseline: unknown name; found `device.way`; .*did you mean `device.ways`"),
        ({"device.ways": 8}, "baseline: device.ways: found 8; expected a value of the grid: 1, 2, 4"),
    ],
)
def test_a_wrong_baseline_is_named(results: package.Results, baseline: dict[str, Any], said: str) -> None:
    with pytest.raises(package.FlashwattError, match=said):
        results.differences(baseline, [ENERGY])
    only = package.sweep({"device.ways": [1]}, base=BASE, workers=1)
    with pytest.raises(package.FlashwattError, match="every point has"):
        only.differences({"device.ways": 1}, [ENERGY])


def test_differences_as_text(results: package.Results) -> None:
    stream = io.StringIO()
    show_differences(results, {"device.ways": 1}, [ENERGY, "flash.erases.merge"], Console(file=stream, width=100))
    text = stream.getvalue()
    row = results.differences({"device.ways": 1}, [ENERGY]).row(0, named=True)
    mean, low, high = (100 * (row[f"{ENERGY}.ratio{part}"] - 1) for part in ("", ".low95", ".high95"))
    assert f"{mean:+.1f} % [{low:+.1f}, {high:+.1f}] *" in text
    assert "change from device.ways = 1: mean change over 3 pairs of runs with the same seed" in " ".join(text.split())
    latex = results.differences_to_latex({"device.ways": 1}, [ENERGY, "flash.erases.merge"])
    assert rf"${mean:+.1f}$ $[{low:+.1f}, {high:+.1f}]$ & $0 \pm 0$ \\" in latex
    assert r"ways & map unit size (KiB) & energy (\%) & erases, merge \\" in latex


def test_differences_from_the_command(flashwatt: Cli, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        'seeds = 2\n[grid]\ngc.policy = ["greedy", "fifo"]\ndevice.ways = [1]\n'
        "[base]\ndevice.logical_bytes = 200_000_000\ndevice.channels = 2\nworkload.uniform.requests = 100\n"
    )

    study = package.Study.read(tmp_path / "study.toml")
    for wrong, said in (
        ("gc.policy=fido", "--baseline gc.policy: unknown name; found `fido`; expected one of `greedy`, `fifo`"),
        ("gc.polic=fifo", "--baseline: unknown name; found `gc.polic`"),
    ):
        with pytest.raises(package.FlashwattError, match=said):
            _baseline(study, {"baseline": [wrong], "per_run": False})
    with pytest.raises(click.UsageError, match="the grid has no other value"):
        _baseline(study, {"baseline": ["device.ways=1"], "per_run": False})
    metrics = ("--metrics", ENERGY, "--baseline", 'gc.policy="greedy"', "--format", "csv")
    done = flashwatt("sweep", "study.toml", "--out", "out", *metrics)
    assert done.returncode == 0, done.stderr
    (row,) = csv.DictReader(io.StringIO(done.stdout))
    assert (row["gc.policy"], row["pairs"]) == ("fifo", "2")


def test_quantiles_are_of_all_requests(results: package.Results) -> None:
    frame = results.quantiles("read", [0.5, 0.999])
    assert frame.columns == [
        "device.ways", "ftl.page.map_unit_bytes", "runs", "requests",
        "p50_ns", "p50_ns.low95", "p50_ns.high95", "p99_9_ns", "p99_9_ns.low95", "p99_9_ns.high95",
    ]  # fmt: skip
    for row in frame.iter_rows(named=True):
        runs = [one.report for one in results if list(one.point.values()) == list(row.values())[:2]]
        assert row["requests"] == sum(report.latency_ns.read.count for report in runs)
        latencies = sorted(
            upper for report in runs for kind, upper, count, _ in report.latency().iter_rows() if kind == "read"
            for _ in range(count)
        )  # fmt: skip
        assert row["p50_ns"] == latencies[math.ceil(0.5 * len(latencies)) - 1]
        assert row["p99_9_ns"] == latencies[-1]
        assert row["p50_ns.low95"] <= row["p50_ns"] <= row["p50_ns.high95"]
    assert frame.equals(results.quantiles("read", [0.5, 0.999])), "the drawing has a seed"


def test_the_bootstrap_interval_holds_the_quantile_as_often_as_it_says() -> None:
    draw = Random(3)
    held = 0
    for _ in range(100):
        runs = []
        for _ in range(20):
            of_run = draw.gauss(1000, 50)  # what the requests of one run have in common
            latencies = sorted(round(of_run + draw.gauss(0, 20)) for _ in range(40))
            runs.append({"upper_ns": latencies, "count": [1] * len(latencies)})
        runs = [_binned(one["upper_ns"]) for one in runs]
        low, high = Pooled(runs).interval(0.5, 0.9, resamples=100, seed=1)
        assert low is not None
        assert high is not None
        held += low <= 1000 <= high
    assert 0.8 <= held / 100 <= 0.96


def _binned(latencies: list[int]) -> dict[str, list[int]]:
    bins = sorted(set(latencies))
    return {"upper_ns": bins, "count": [latencies.count(one) for one in bins]}


def test_a_single_run_has_no_interval() -> None:
    one = Pooled([{"upper_ns": [10, 20], "count": [1, 1]}])
    assert (one.quantile(0.5), one.quantile(0.51), one.interval(0.5, 0.95, 10, 1)) == (10, 20, (None, None))
    assert Pooled([{"upper_ns": [], "count": []}]).quantile(0.5) is None
    assert [name_of(share) for share in (0.5, 0.99, 0.999, 0.9999)] == ["p50_ns", "p99_ns", "p99_9_ns", "p99_99_ns"]


def test_what_is_no_quantile_is_named(results: package.Results) -> None:
    for arguments, said in (
        ({"quantiles": [99]}, "quantiles: found 99; expected more than 0 and less than 1"),
        ({"confidence": 1}, "confidence: found 1"),
        ({"resamples": 0}, "resamples: found 0"),
        ({"kind": "reed"}, "kind: unknown name; found `reed`; .*did you mean `read`"),
    ):
        with pytest.raises(package.FlashwattError, match=said):
            results.quantiles(**arguments)
    plain = package.sweep({"device.ways": [1]}, base=BASE, workers=1)
    with pytest.raises(
        package.FlashwattError, match=r"no histograms of latencies; ask for them: sweep\(..., latency=True"
    ):
        plain.quantiles()


def test_a_study_keeps_histograms_if_it_says_so(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text("latency = true\n")
    assert all(task.kept.latency_histogram for task in package.Study.read(path).tasks())
    path.write_text("latency = 3\n")
    with pytest.raises(package.FlashwattError, match=r"latency: found 3; expected true or false"):
        package.Study.read(path)
