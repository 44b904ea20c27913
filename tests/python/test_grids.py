"""`flashwatt reproduce --sensitivity`: grids are run by themselves, kept, and refused where they do not fit."""

from __future__ import annotations

import json
import shutil
from math import prod
from typing import TYPE_CHECKING, cast

import pytest

from flashwatt.reproduce import catalogue
from flashwatt.reproduce.grid import definition, grid_path, over_seeds

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli
    from flashwatt.reproduce.evidence import Runs

PAPER = """\
title = "A paper"
citation = "Somebody."

[overrides]
device = { preset = "limit", blocks_per_plane = 64 }
workload.uniform = { requests = 200 }

[axes.depth]
1 = { workload.uniform.queue_depth = 1 }
8 = { workload.uniform.queue_depth = 8 }

[axes.seed]
1 = { run.seed = 1 }
2 = { run.seed = 2 }
"""
EXPERIMENT = """\
title = "Throughput"
source = "Fig. 1"
reason = "Nothing is put in."

[runs.grid]
axes = ["depth", "seed"]
grid = ["throughput.iops"]

[[criteria]]
quantity = "gain"
says = "more outstanding requests give more throughput"
published = "more"
class = "predictive"
above = 1
"""
MEASURE = """\
from statistics import fmean


def quantities(evidence):
    grid = evidence["grid"]

    def mean(depth):
        return fmean(grid.value("throughput.iops", depth, seed) for seed in grid.labels("seed"))

    return {"gain": lambda: mean("8") / mean("1")}


def figures(evidence):
    return iter(())
"""


@pytest.fixture
def experiments(tmp_path: Path) -> Path:
    """Lay out an experiment with a grid of two depths and two seeds."""
    place = tmp_path / "own" / "p" / "x1"
    place.mkdir(parents=True)
    (place.parent / "paper.toml").write_text(PAPER)
    (place / "experiment.toml").write_text(EXPERIMENT)
    (place / "measure.py").write_text(MEASURE)
    (place / "README.md").write_text("# X1\n\n**Claim.** More.\n")
    return tmp_path / "own"


def verdict(flashwatt: Cli, experiments: Path) -> dict[str, str]:
    done = flashwatt("reproduce", "X1", "--experiments", experiments, "--out", experiments.parent / "out", "--json")
    (row,) = json.loads(done.stdout)
    return {"verdict": row["verdict"], "remark": row["remark"]}


def test_a_grid_is_run_by_itself_and_kept(flashwatt: Cli, experiments: Path, tmp_path: Path) -> None:
    assert verdict(flashwatt, experiments)["verdict"] == "no evidence"
    assert "flashwatt reproduce --sensitivity X1" in verdict(flashwatt, experiments)["remark"]
    done = flashwatt("reproduce", "--sensitivity", "X1", "--experiments", experiments, "--out", tmp_path / "grids")
    assert done.returncode == 0, done.stderr
    file = tmp_path / "grids" / "x1-grid.json"
    kept = json.loads(file.read_text())
    assert kept["command"] == "flashwatt reproduce --sensitivity X1"
    assert kept["axes"] == {"depth": ["1", "8"], "seed": ["1", "2"]}
    assert len(kept["values"]["throughput.iops"]) == len((tmp_path / "grids" / "grids.jsonl").read_text().splitlines())
    shutil.copy(file, experiments / "p" / "x1" / "grid.json")
    assert verdict(flashwatt, experiments)["verdict"] == "met"
    runs = (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    assert len(runs) == 1, "only the first point is run again"


def test_a_grid_of_another_engine_or_definition_is_refused(flashwatt: Cli, experiments: Path, tmp_path: Path) -> None:
    flashwatt("reproduce", "--sensitivity", "X1", "--experiments", experiments, "--out", tmp_path / "grids")
    kept = json.loads((tmp_path / "grids" / "x1-grid.json").read_text())
    place = experiments / "p" / "x1" / "grid.json"
    other = json.loads(json.dumps(kept))
    other["values"]["throughput.iops"][0] *= 1 + 1e-12
    place.write_text(json.dumps(other))
    found = verdict(flashwatt, experiments)
    assert found["verdict"] == "no evidence"
    assert "another engine" in found["remark"]
    place.write_text(json.dumps(kept))
    assert verdict(flashwatt, experiments)["verdict"] == "met"
    (experiments / "p" / "paper.toml").write_text(PAPER.replace("requests = 200", "requests = 300"))
    found = verdict(flashwatt, experiments)
    assert found["verdict"] == "no evidence"
    assert "another definition" in found["remark"]


def test_a_first_look_leaves_the_grid_as_it_is(flashwatt: Cli, experiments: Path, tmp_path: Path) -> None:
    flashwatt("reproduce", "--sensitivity", "X1", "--experiments", experiments, "--out", tmp_path / "grids")
    shutil.copy(tmp_path / "grids" / "x1-grid.json", experiments / "p" / "x1" / "grid.json")
    changes = ("--requests", "10", "--set", "device.channels=2")
    done = flashwatt("reproduce", "X1", *changes, "--experiments", experiments, "--out", tmp_path / "little", "--json")
    (row,) = json.loads(done.stdout)
    assert row["simulated"] > 1


@pytest.mark.parametrize("name", [name for name, one in catalogue().items() if any(runs.grid for runs in one.sets)])
def test_every_grid_is_shipped_as_it_is_defined(name: str) -> None:
    experiment = catalogue()[name]
    (runs,) = [runs for runs in experiment.sets if runs.grid]
    kept = json.loads(grid_path(experiment, experiment.directory).read_text())
    assert kept["definition"] == definition(experiment, runs), "run `flashwatt reproduce --sensitivity` anew"
    assert kept["command"] == f"flashwatt reproduce --sensitivity {name}"
    assert len(runs.axes["seed"]) == 5
    points = prod(map(len, runs.axes.values()))
    assert {key: len(values) for key, values in kept["values"].items()} == dict.fromkeys(runs.grid, points)


def test_a_mean_over_the_seeds_of_a_grid() -> None:
    class Two:
        """A grid of two seeds."""

        def labels(self, axis: str) -> list[str]:
            """Those of the seeds."""
            assert axis == "seed"
            return ["1", "2"]

    mean, half_width = over_seeds(cast("Runs", Two()), float)
    assert (mean, half_width) == (1.5, pytest.approx(12.7062 * 0.5))  # t(1) · s / √2, with s = 1 / √2


def test_what_a_grid_cannot_be_combined_with_is_named(flashwatt: Cli, tmp_path: Path) -> None:
    done = flashwatt("reproduce", "--sensitivity", "X31", "--requests", "10", "--out", tmp_path / "o")
    assert done.returncode != 0
    assert "--sensitivity takes no" in done.stderr
    done = flashwatt("reproduce", "--sensitivity", "X3", "--out", tmp_path / "o")
    assert done.returncode != 0
    assert "none of these experiments has a grid" in done.stderr
