"""Shards of a sweep: run apart and merged, they give the bytes of one machine, and nothing is lost on the way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt
from flashwatt import _core
from flashwatt.base.outputs import BusyError
from flashwatt.sweeps.shards import Shard, finished, shards_in

if TYPE_CHECKING:
    from conftest import Cli

EXAMPLES = Path(__file__).parents[2] / "examples" / "cluster"
STUDY = """\
seeds = 2
[base.device]
channels = 2
ways = 1
logical_bytes = 200_000_000
[base.workload.uniform]
requests = 300
[grid]
device.ways = [1, 2]
gc.policy = ["greedy", "fifo"]
"""
RUNS = 8


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a study of eight short runs, and run it on one machine."""
    path = tmp_path_factory.mktemp("shards") / "study.toml"
    path.write_text(STUDY)
    flashwatt.sweep(path, out=path.parent / "whole", workers=1)
    return path


def content(directory: Path) -> dict[str, bytes]:
    """Read the files of a directory, by their names."""
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def whole(study: Path) -> dict[str, bytes]:
    """Give what one machine wrote."""
    return content(study.parent / "whole")


def run(study: Path, out: Path, *numbers: int, of: int = 3) -> list[int]:
    """Run some shards; the number of runs of each."""
    return [len(flashwatt.sweep(study, out=out, shard=(number, of), workers=1)) for number in numbers]


@pytest.mark.parametrize("of", [1, 3, 11])
def test_shards_merged_are_the_bytes_of_one_machine(study: Path, tmp_path: Path, of: int) -> None:
    runs = run(study, tmp_path, *reversed(range(of)), of=of)
    assert sum(runs) == RUNS
    assert max(runs) - min(runs) <= 1
    assert len(flashwatt.sweep(study, out=tmp_path, merge=True)) == RUNS
    assert content(tmp_path) == whole(study), "no file of a shard is left"


def test_a_sweep_takes_what_shards_have_finished(study: Path, tmp_path: Path) -> None:
    run(study, tmp_path, 0, 2)
    steps: list[tuple[int, int]] = []
    flashwatt.sweep(study, out=tmp_path, progress=lambda *step: steps.append(step))
    assert steps[0] == (5, RUNS), "the runs of two shards"
    assert content(tmp_path) == whole(study)


def test_a_merge_runs_nothing_and_keeps_what_is_there(study: Path, tmp_path: Path) -> None:
    run(study, tmp_path, 1)
    with pytest.raises(flashwatt.FlashwattError, match=r"merge: 5 tasks have no result; 3 of 8 tasks are finished"):
        flashwatt.sweep(study, out=tmp_path, merge=True)
    assert (tmp_path / "results.jsonl").read_bytes().count(b"\n") == 3
    assert shards_in(tmp_path) == [Shard(1, 3)], "a process may be writing to it yet"
    run(study, tmp_path, 0, 2)
    flashwatt.sweep(study, out=tmp_path, merge=True)
    assert content(tmp_path) == whole(study)


def test_a_shard_goes_on_behind_a_torn_line(study: Path, tmp_path: Path) -> None:
    run(study, tmp_path, 0)
    path = tmp_path / "shard-0-of-3.jsonl"
    kept = path.read_bytes()
    path.write_bytes(kept[:-1000])
    assert len(finished(tmp_path)) == 2
    assert run(study, tmp_path, 0, 1, 2) == [3, 3, 2]
    assert path.read_bytes() == kept
    flashwatt.sweep(study, out=tmp_path, merge=True)
    assert content(tmp_path) == whole(study)


def test_another_number_of_shards_runs_only_the_rest(study: Path, tmp_path: Path) -> None:
    run(study, tmp_path, 0, 1)
    assert sum(run(study, tmp_path, 0, 1, of=2)) == 2, "six of eight have results in other files"
    flashwatt.sweep(study, out=tmp_path, merge=True)
    assert content(tmp_path) == whole(study)


def test_results_of_another_build_are_named(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as other:
        other.setattr(_core, "BUILD_ID", "another")
        run(study, tmp_path, 0)
    run(study, tmp_path, 1, 2)
    said = r"3 tasks have no result.*\n.*shard-0-of-3.jsonl: 3 results are of no task of this study; .*same build"
    with pytest.raises(flashwatt.FlashwattError, match=said):
        flashwatt.sweep(study, out=tmp_path, merge=True)
    with pytest.warns(UserWarning, match=r"shard-0-of-3.jsonl: 3 results are of no task of this study"):
        flashwatt.sweep(study, out=tmp_path)
    assert (tmp_path / "results.jsonl").read_bytes() == whole(study)["results.jsonl"]
    assert shards_in(tmp_path) == [Shard(0, 3)], "what is not merged is not removed"


def test_results_on_another_trace_are_named(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    grid: dict[str, Any] = {"device.ways": [1, 2]}
    base = {"device": {"channels": 2}, "workload": {"trace": {"path": str(trace)}}}
    shutil.copy(EXAMPLES.parent / "trace.csv", trace)
    flashwatt.sweep(grid, base=base, out=tmp_path / "out", shard=(0, 2), workers=1)
    trace.write_text("\n".join(trace.read_text().splitlines()[:-1]) + "\n")
    flashwatt.sweep(grid, base=base, out=tmp_path / "out", shard=(1, 2), workers=1)
    with pytest.raises(flashwatt.FlashwattError, match=r"shard-0-of-2.jsonl: 1 results .*traces with the same content"):
        flashwatt.sweep(grid, base=base, out=tmp_path / "out", merge=True)


def test_a_shard_is_run_once_at_a_time(study: Path, tmp_path: Path) -> None:
    with Shard(0, 3).locked(tmp_path):
        with pytest.raises(BusyError, match="another command runs shard 0/3 there"):
            run(study, tmp_path, 0)
        assert run(study, tmp_path, 1, 2) == [3, 2], "others are free"


def test_the_file_of_a_shard_that_runs_is_left(study: Path, tmp_path: Path) -> None:
    run(study, tmp_path, 0, 1, 2)
    with Shard(1, 3).locked(tmp_path):
        flashwatt.sweep(study, out=tmp_path, merge=True)
        assert shards_in(tmp_path) == [Shard(1, 3)]
    flashwatt.sweep(study, out=tmp_path)
    assert content(tmp_path) == whole(study)


def test_a_line_without_a_report_is_named(study: Path, tmp_path: Path) -> None:
    run(study, tmp_path, 0)
    path = tmp_path / "shard-0-of-3.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], json.dumps({"id": json.loads(lines[1])["id"]}), lines[2]]) + "\n")
    with pytest.raises(
        flashwatt.FlashwattError, match=r"shard-0-of-3.jsonl:2: task .*: no point, seed, report; expected a result"
    ):
        flashwatt.sweep(study, out=tmp_path, merge=True)


def test_a_merge_makes_no_directory(study: Path, tmp_path: Path) -> None:
    with pytest.raises(flashwatt.FlashwattError, match=r"merge: no such directory; found .*typo"):
        flashwatt.sweep(study, out=tmp_path / "typo", merge=True)
    assert not (tmp_path / "typo").exists()


def test_a_file_that_is_none_of_a_shard_is_named(study: Path, tmp_path: Path) -> None:
    (tmp_path / "shard-0-of-3.jsonl").write_text("notes\n")
    for options in ({"merge": True}, {"shard": (0, 3)}, {"shard": (1, 3)}):
        with pytest.raises(flashwatt.FlashwattError, match=r"shard-0-of-3.jsonl"):
            flashwatt.sweep(study, out=tmp_path, **options)
    assert (tmp_path / "shard-0-of-3.jsonl").read_text() == "notes\n"


@pytest.mark.parametrize("text", ["", "1", "3/3", "-1/3", "0/0", "a/b", "1/2/3", "1.0/3"])
def test_a_wrong_shard_is_named(text: str) -> None:
    with pytest.raises(flashwatt.FlashwattError, match=r"expected I/N, with I from 0 to N - 1"):
        Shard.of_text(text)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"shard": (0, 3)}, "shard: found no out"),
        ({"merge": True}, "merge: found no out"),
        ({"shard": (3, 3), "out": "out"}, r"shard: found \(3, 3\); expected"),
        ({"shard": (0, 3), "merge": True, "out": "out"}, "expected one of them"),
    ],
)
def test_options_of_a_script_are_checked(study: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(flashwatt.FlashwattError, match=said):
        flashwatt.sweep(study, **options)


def test_the_command_runs_lists_and_merges(study: Path, tmp_path: Path, flashwatt: Cli) -> None:
    def sweep(*options: str) -> subprocess.CompletedProcess[str]:
        return flashwatt("sweep", str(study), "--out", str(tmp_path / "out"), *options)

    listed = sweep("--missing")
    assert (listed.returncode, len(listed.stdout.splitlines())) == (1, RUNS)
    assert listed.stdout.splitlines()[0].split(" ", 1)[1] == 'device.ways=1 gc.policy="greedy" seed=1'
    for number in (0, 1):
        done = sweep("--shard", f"{number}/3", "--workers", "1")
        assert done.returncode == 0, done.stderr
        assert f"shard {number}/3: 3 runs are kept in " in done.stderr
    assert len(sweep("--missing").stdout.splitlines()) == 2
    assert sweep("--missing", "--shard", "0/3").returncode == 0
    unmerged = sweep("--merge")
    assert unmerged.returncode != 0
    assert "2 tasks have no result; 6 of 8 tasks are finished" in unmerged.stderr
    assert sweep("--shard", "2/3").returncode == 0
    assert "shard 9/10: it has no runs: the study has 8" in sweep("--shard", "9/10").stderr
    assert "out has the results of its 4 runs; " in sweep("--shard", "1/2").stderr
    merged = sweep("--merge")
    assert merged.returncode == 0, merged.stderr
    assert "greedy" in merged.stdout
    names = ("results.jsonl", "results.parquet")
    assert [content(tmp_path / "out")[name] for name in names] == [whole(study)[name] for name in names]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--shard", "3/3"), "--shard: found '3/3'; expected I/N"),
        (("--merge", "--shard", "0/3"), "--shard and --merge"),
        (("--missing", "--workers", "2"), "--workers: --missing runs nothing"),
        (("--shard", "0/3", "--format", "csv"), "--format is about all runs of the study"),
        (("--shard", "0/3", "--label", "greedy=G"), "--label is about all runs of the study"),
        (("--shard", "0/3", "--metrics", "throughput.iops"), "--metrics is about all runs of the study"),
    ],
)
def test_options_of_the_command_are_checked(study: Path, flashwatt: Cli, options: tuple[str, ...], said: str) -> None:
    done = flashwatt("sweep", str(study), "--out", "out", *options)
    assert done.returncode == 2
    assert said in done.stderr


def test_the_script_of_an_array_runs_a_shard(study: Path, tmp_path: Path) -> None:
    found = {**os.environ, "SLURM_ARRAY_TASK_ID": "2", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    script = [str(EXAMPLES / "slurm-array.sh"), str(study), str(tmp_path), "3"]
    subprocess.run(script, check=True, env=found, capture_output=True)
    lines = (tmp_path / "shard-2-of-3.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["seed"] for line in lines] == [1, 2]
