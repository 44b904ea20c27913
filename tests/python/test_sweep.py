"""Sweeps: the same results with any number of workers and interruptions, and no finished task is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import flashwatt
from flashwatt.cli.terminal import INTERRUPTED
from flashwatt.config.config import Config
from flashwatt.sweeps import worker
from flashwatt.sweeps.journal import Journal
from flashwatt.sweeps.task import Hashes, defined

if TYPE_CHECKING:
    from conftest import Cli

BASE: dict[str, Any] = {
    "device": {"preset": "x25m", "channels": 2, "ways": 1, "logical_bytes": 200_000_000},
    "workload": {"uniform": {"requests": 1_000, "read_fraction": 0.5}},
}
GRID = {"gc.policy": ["greedy", "fifo"], "device.ways": [1, 2]}
STUDY = """\
base = "base.toml"
seeds = 10
workers = 2
[grid]
device.ways = [1, 2]
gc.policy = ["greedy", "fifo"]
"""
BASE_TOML = """\
[device]
channels = 2
logical_bytes = 200_000_000
[workload.uniform]
requests = 60_000
read_fraction = 0.5
"""
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")


def small(**options: Any) -> flashwatt.Results:
    """Sweep over four quick points."""
    return flashwatt.sweep(GRID, base=BASE, **options)


def lines(directory: Path) -> list[bytes]:
    """Read the results that were kept."""
    return (directory / "results.jsonl").read_bytes().splitlines(keepends=True)


def children(process: int) -> list[int]:
    """Give the ids of a process's children."""
    threads = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for thread in threads for child in thread.read_text().split()]


def test_a_list_without_a_grid_is_told() -> None:
    with pytest.raises(flashwatt.FlashwattError, match=r"grid: found an empty list; expected one grid at least"):
        flashwatt.sweep([], base=BASE)


def test_every_point_with_every_seed() -> None:
    results = small(seeds=[1, 5])
    points = [("greedy", 1), ("greedy", 2), ("fifo", 1), ("fifo", 2)]
    frame = results.frame()
    assert frame.select("gc.policy", "device.ways", "seed").rows() == [(*p, s) for p in points for s in (1, 5)]
    assert frame.columns == [*GRID, *(name for name in frame.columns if name not in GRID)]
    for point, seed, report in results:
        alone = flashwatt.run(BASE, seed=seed, latency=False, **point).to_dict()
        assert report.to_dict() == {key: value for key, value in alone.items() if key != "engine"}
        assert report.engine is None


def test_any_number_of_workers_gives_the_same_bytes(tmp_path: Path) -> None:
    for workers in (1, 2, 3):
        small(workers=workers, out=tmp_path / str(workers))
    assert lines(tmp_path / "1") == lines(tmp_path / "2") == lines(tmp_path / "3")
    assert len(lines(tmp_path / "1")) == 4
    frames = [pl.read_parquet(tmp_path / name / "results.parquet") for name in "123"]
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])
    again = flashwatt.Results.read(tmp_path / "1")
    assert again.frame().equals(frames[0])
    assert repr(again) == "<Results: 4 runs at 2 keys: gc.policy, device.ways>"


def test_finished_tasks_are_not_run_again(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    small(out=tmp_path)
    first = lines(tmp_path)
    small(out=tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(4, 4)]
    assert lines(tmp_path) == first
    small(out=tmp_path, seeds=2, progress=lambda done, total: seen.append((done, total)))
    assert seen[1:] == [(4, 8), (5, 8), (6, 8), (7, 8), (8, 8)]
    assert lines(tmp_path)[::2] == first  # in the order of the larger study


def test_results_of_another_study_stay(tmp_path: Path) -> None:
    small(out=tmp_path)
    before = lines(tmp_path)
    results = flashwatt.sweep({"device.ways": [2]}, base=BASE, out=tmp_path, seeds=[9])
    assert len(results) == 1
    assert lines(tmp_path)[1:] == before


def test_a_torn_last_line_is_made_anew(tmp_path: Path) -> None:
    small(out=tmp_path)
    whole = lines(tmp_path)
    file = tmp_path / "results.jsonl"
    for kept in (0, 1, 3):
        file.write_bytes(b"".join(whole[:kept]) + whole[kept][:-20])
        assert len(small(out=tmp_path)) == 4
        assert lines(tmp_path) == whole


def stopped_line(line: bytes) -> bytes:
    """Give a finished line as it would be had the run been stopped."""
    stopped = line.replace(b'"status":"complete"', b'"status":"interrupted"')
    assert stopped != line
    return stopped


@pytest.mark.parametrize("stream", [False, True])
def test_a_run_that_is_stopped_has_no_line(stream: bool) -> None:
    """A worker stops its run when nobody waits for it."""
    device = {"device": BASE["device"]}
    long = Config.of({**device, "workload": {"uniform": {"requests": 100_000_000}}, "host": {"scheduler": "none"}})
    (task,) = defined(Config.of(device) if stream else long, {}, Hashes(), stream=long if stream else None)
    answer = json.loads(worker._answer(json.loads(worker._request(task)), lambda *_: False))
    assert list(answer) == ["error"]
    assert ("requests it replays: interrupted" if stream else "stopped before its end") in answer["error"]


def test_a_journal_refuses_a_run_that_was_stopped(tmp_path: Path) -> None:
    small(out=tmp_path)
    whole = lines(tmp_path)
    task = json.loads(whole[0])["id"]
    with closing(Journal(tmp_path / "new.jsonl")) as journal:
        with pytest.raises(flashwatt.FlashwattError, match=rf"^task {task[:12]}: the run was stopped.*'interrupted'"):
            journal.add(task, stopped_line(whole[0]))
        assert task not in journal
        failed = whole[0].replace(b"complete", b"failed: no room")
        journal.add(task, failed)
        assert journal.line(task) == failed
    assert lines(tmp_path) == whole
    assert (tmp_path / "new.jsonl").read_bytes() == failed


def test_a_line_of_a_stopped_run_does_not_count_as_done(tmp_path: Path) -> None:
    small(out=tmp_path)
    whole = lines(tmp_path)
    file = tmp_path / "results.jsonl"
    file.write_bytes(whole[0] + stopped_line(whole[0]) + stopped_line(whole[1]) + whole[2] + whole[3])
    assert len(flashwatt.Results.read(tmp_path)) == 3
    seen: list[tuple[int, int]] = []
    small(out=tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(3, 4), (4, 4)]
    assert lines(tmp_path) == whole


def test_a_line_that_is_no_result_is_named(tmp_path: Path) -> None:
    small(out=tmp_path)
    whole = lines(tmp_path)
    (tmp_path / "results.jsonl").write_bytes(whole[0] + b'{"idle": 3}\n' + whole[1])
    with pytest.raises(
        flashwatt.FlashwattError, match=r"results\.jsonl:2: not a result of a sweep; found `.\"idle\": 3"
    ):
        small(out=tmp_path)


def test_results_can_be_read_while_a_sweep_goes_on(tmp_path: Path) -> None:
    small(out=tmp_path)
    file = tmp_path / "results.jsonl"
    torn = file.read_bytes()[:-20]
    file.write_bytes(torn)
    assert len(flashwatt.Results.read(file)) == 3
    assert file.read_bytes() == torn
    with pytest.raises(flashwatt.FlashwattError, match=r"absent: [Nn]o such file"):
        flashwatt.Results.read(tmp_path / "absent")


def test_values_of_a_grid_may_be_tables(tmp_path: Path) -> None:
    grid = {"gc.policy": ["greedy", {"d_choices": {"d": 3}}]}
    results = flashwatt.sweep(grid, base=BASE, out=tmp_path)
    policies = [one.report.config["gc"]["policy"] for one in results]
    assert [policy["name"] for policy in policies] == ["greedy", "d_choices"]
    assert policies[1]["parameters"]["d"] == 3
    assert results.frame()["gc.policy"].to_list() == ["greedy", "d_choices (d 3)"]
    assert flashwatt.Results.read(tmp_path).frame().equals(results.frame())


def test_points_keep_their_values_where_a_report_has_a_key_of_that_name() -> None:
    grid = {"host.scheduler": [{"bfq": {"slice_idle_ms": 0}}, "bfq", "cfq"]}
    results = flashwatt.sweep(grid, base=BASE)
    labels = ["bfq (slice_idle_ms 0)", "bfq", "cfq"]
    assert results.frame()["host.scheduler"].to_list() == labels
    summary = results.summary(["latency_ns.read.mean"])
    assert summary["host.scheduler"].to_list() == labels
    assert summary["runs"].to_list() == [1, 1, 1]


def test_two_sweeps_do_not_share_a_directory(tmp_path: Path) -> None:
    def again(_done: int, _total: int) -> None:
        with pytest.raises(flashwatt.FlashwattError, match="another command is at work there"):
            small(out=tmp_path)

    small(out=tmp_path, progress=again)


def test_the_id_is_that_of_all_a_report_depends_on(tmp_path: Path) -> None:
    def ids(base: dict[str, Any], **options: Any) -> set[str]:
        return {task.id for task in flashwatt.Study.of({"device.channels": [2]}, base=base, **options).tasks()}

    trace = tmp_path / "a.csv"
    trace.write_text("0.0,0,W,0,4096\n")
    base = {**BASE, "workload": {"trace": {"path": trace}}}
    known = ids(base)
    assert known == ids({**base, "run.seed": 1})
    other_seed, other_series, other_key = (
        ids(base, seeds=[2]),
        ids(base, series=True),
        ids({**base, "gc.policy": "fifo"}),
    )
    trace.write_text("0.0,0,W,0,8192\n")
    assert len(known | other_seed | other_series | other_key | ids(base)) == 5


def test_series_only_when_asked_for() -> None:
    (one,) = flashwatt.sweep({}, base=BASE, series=1_000_000)
    assert len(one.report.series()) > 10
    assert one.point == {}
    (plain,) = flashwatt.sweep({}, base=BASE)
    assert "series" not in plain.report.to_dict()


def test_a_run_counts_once_however_often_its_line_is_there(tmp_path: Path) -> None:
    small(out=tmp_path, seeds=2)
    entries = [(json.loads(line)["point"], line) for line in lines(tmp_path)]
    once, twice = flashwatt.Results(entries), flashwatt.Results(entries * 2)
    assert len(twice.frame()) == 2 * len(once.frame())
    assert twice.summary().equals(once.summary())
    assert once.summary()["runs"].to_list() == [2, 2, 2, 2]


def test_results_give_copies() -> None:
    results = small()
    results.frame()[0, "seed"] = 99
    next(iter(results)).point["gc.policy"] = "none"
    assert results.frame()["seed"].to_list() == [1, 1, 1, 1]
    assert next(iter(results)).point["gc.policy"] == "greedy"


@pytest.mark.parametrize(
    ("grid", "options", "said"),
    [
        ({"device.chanels": [1, 2]}, {}, r"^grid\.device\.chanels: unknown key.*did you mean `channels`\?$"),
        ({"gc.policy": ["greedy", "gredy"]}, {}, r"^grid\.gc\.policy: .*found `gredy`.*did you mean `greedy`\?$"),
        ({"device.ways": 3}, {}, r"^grid\.device\.ways: found 3; expected a list"),
        ({"device.ways": []}, {}, r"^grid\.device\.ways: found \[\]; expected a list of at least one value"),
        ({"device.ways": "12"}, {}, r"^grid\.device\.ways: found '12'; expected a list"),
        ({"device": {"ways": [1, None]}}, {}, r"^device\.ways: not a value of a configuration; found None"),
        ({"run.seed": [1, 2]}, {"seeds": 2}, r"^grid\.run\.seed: the study has `seeds` as well"),
        ({}, {"seeds": 0}, r"^seeds: found 0; expected a whole number, ≥ 1"),
        ({}, {"seeds": [1, 1]}, r"^seeds: found \[1, 1\]; expected at least one seed, each once"),
        ({}, {"workers": 0}, r"^workers: found 0"),
        ({"device.op_ratio": [0.2, 0.2]}, {}, r"^grid\.device\.op_ratio: found 0\.2 twice; expected each value once"),
        ({"device.ways": [1, 2, 1.0]}, {}, r"^grid\.device\.ways: found 1 and 1\.0, which are equal; expected each"),
        (
            {"gc.policy": [{"d_choices": {"d": 3}}, {"d_choices": {"d": 3.0}}]},
            {},
            r"^grid\.gc\.policy: found .* which are equal",
        ),
        (
            {"gc.policy": ["greedy", {"greedy": {}}]},
            {},
            r"^grid: two points are the same run, which would count twice; found gc\.policy = 'greedy' and ",
        ),
        (
            {"device.op_ratio": [0.2], "device": {"op_ratio": [0.3]}},
            {},
            r"^grid\.device\.op_ratio: given twice, in two spellings; expected it once",
        ),
        (
            {"device": [{"ways": 1}, {"channels": 4}], "device.ways": [2, 4]},
            {},
            r"^grid\.device\.ways: found grid\.device = \{'ways': 1\}, which this key would change",
        ),
        (
            {"ftl": ["page", "dftl"], "ftl.dftl.cmt_entries": [8, 64]},
            {},
            r"^grid\.ftl\.dftl\.cmt_entries: found grid\.ftl = 'page', which this key would change",
        ),
        ({}, {"seeds": 10**12}, r"^too many runs; found 1,000,000,000,000 \(.* of seeds\); expected at most 100,000 "),
        ({}, {"seeds": range(10**12)}, r"^seeds: found 1,000,000,000,000 values; expected at most 100,000 runs"),
        ({"device.ways": range(10**30)}, {}, r"^grid\.device\.ways: found [0-9,]+ values; expected at most 100,000"),
        ({"workload.trace.devices": [range(10**12)]}, {}, r"^grid: found 1,000,000,000,000 values"),
        ({}, {"seeds": [1, -1]}, r"^seeds: found -1; expected whole numbers from 0 to 18446744073709551615"),
        ({}, {"seeds": 2, "base": {"run.seed": 2**64 - 1}}, r"^seeds: found 18446744073709551616"),
        ({"run.seed": range(10**12)}, {}, r"^grid\.run\.seed: found 1,000,000,000,000 values"),
        ({}, {"seeds": ["x"]}, r"^seeds: found \['x'\]; expected a whole number or a list of them"),
        (
            {"device.ways": range(1, 1001), "device.channels": range(1, 1001), "wear.min_gap": range(1000)},
            {"seeds": 1000},
            r"^too many runs; found 1,000,000,000,000 \(1,000 of grid\.device\.ways × 1,000 of grid",
        ),
        ({}, {"base": {"device": {"way": 1}}}, r"<dict>: device\.way: unknown key"),
        (
            {"device.op_ratio": [0.1, 1e-6], "device.ways": [1]},
            {},
            r"^grid\.device\.op_ratio: too little spare flash",
        ),
    ],
)
def test_a_wrong_grid_is_named_before_anything_is_run(
    tmp_path: Path, grid: dict[str, Any], options: dict[str, Any], said: str
) -> None:
    with pytest.raises(flashwatt.FlashwattError, match=said):
        flashwatt.sweep(grid, **{"base": BASE, "out": tmp_path / "out", **options})
    assert not (tmp_path / "out/results.jsonl").exists() or not lines(tmp_path / "out")


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file/below"):
        said = rf"^{tmp_path / 'file'}: a file; expected a directory, or a name for a new one"
        with pytest.raises(flashwatt.FlashwattError, match=said):
            small(out=out)


def test_a_run_that_fails_says_what_is_finished(tmp_path: Path) -> None:
    """The trace's request lies beyond the second drive, which shows when it is read."""
    trace = tmp_path / "far.csv"
    trace.write_text("time_us,device,op,offset,bytes\n0,0,R,200000000,4096\n")
    base = {"device": {"preset": "x25m", "op_ratio": 2}, "workload": {"trace": {"path": str(trace)}}}
    said = r"requests reach beyond the drive.*\(1 of 2 tasks are finished and kept in .*results\.jsonl; the same sweep"
    with pytest.raises(flashwatt.FlashwattError, match=said):
        flashwatt.sweep({"device.logical_bytes": ["1GB", "100MB"]}, base=base, workers=1, out=tmp_path / "out")


def test_all_faults_of_a_grid_are_told_at_once() -> None:
    grid = {"device.chanels": [1, 2], "gc.policy": ["gredy", "fifi"]}
    with pytest.raises(flashwatt.FlashwattError) as error:
        flashwatt.sweep(grid, base=BASE)
    told = [line.partition(";")[0] for line in str(error.value).splitlines()]
    unknown = "grid.gc.policy: unknown victim policy"
    assert told == ["grid.device.chanels: unknown key", unknown, unknown]


def test_a_task_that_cannot_be_run_is_named_and_the_others_stay(tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text("0.0,0,W,0,4096\n")
    (tmp_path / "bad.csv").write_text("0.0,0,W,here,4096\n")
    traces = [str(tmp_path / name) for name in ("good.csv", "bad.csv")]
    with pytest.raises(
        flashwatt.FlashwattError, match=r"^task \w{12} \(workload.trace.path = '(.*bad\.csv)', seed 1\): \1: "
    ):
        flashwatt.sweep({"workload.trace.path": traces}, base=BASE, out=tmp_path, workers=1)
    assert [json.loads(line)["point"] for line in lines(tmp_path)] == [{"workload.trace.path": traces[0]}]
    with pytest.raises(flashwatt.FlashwattError, match=r"absent\.csv: no such file"):
        flashwatt.sweep({"workload.trace.path": ["absent.csv"]}, base=BASE)


@needs_proc
def test_a_process_that_is_killed_is_told(tmp_path: Path) -> None:
    def kill(done: int, _total: int) -> None:
        if done == 1:
            for child in children(os.getpid()):
                if b"flashwatt.sweeps.worker" in cmdline(child):
                    os.kill(child, signal.SIGKILL)

    # Long enough that the second task is under way when the end of the first one is heard of.
    long = {**BASE, "workload": {"uniform": {"requests": 300_000, "read_fraction": 0.5}}}
    with pytest.raises(flashwatt.FlashwattError, match="the process that ran it was ended by signal 9"):
        flashwatt.sweep(GRID, base=long, out=tmp_path, workers=1, progress=kill)
    assert len(lines(tmp_path)) == 3, "the others are run all the same"
    assert len(flashwatt.sweep(GRID, base=long, out=tmp_path)) == 4


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Write a study of forty tasks that take a while."""
    (tmp_path / "base.toml").write_text(BASE_TOML)
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def start(study: Path, out: str) -> subprocess.Popen[str]:
    """Start a sweep as a user does, in a process group of its own, and wait for some results."""
    process = subprocess.Popen(
        [sys.executable, "-m", "flashwatt", "sweep", study.name, "--out", out],
        cwd=study.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    kept = study.parent / out / "results.jsonl"
    for _ in range(1200):
        if kept.exists() and kept.read_bytes().count(b"\n") >= 4:
            return process
        time.sleep(0.05)
    process.kill()
    pytest.fail(f"the sweep does not get going: {process.communicate()}")


@needs_proc
def test_kill_loses_only_what_is_in_flight(study: Path, flashwatt: Cli) -> None:
    process = start(study, "killed")
    workers = children(process.pid)
    process.kill()
    process.communicate()
    kept = lines(study.parent / "killed")
    assert 4 <= len(kept) < 40
    assert all(json.loads(line)["report"]["status"] == "complete" for line in kept if line.endswith(b"\n"))
    assert len(workers) == 2
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{worker}/cmdline").exists() and b"flashwatt" in cmdline(worker) for worker in workers):
        assert time.monotonic() < deadline, "a worker outlives the sweep that started it"
        time.sleep(0.1)
    for name in ("killed", "whole"):
        result = flashwatt("sweep", study, "--out", name)
        assert result.returncode == 0, result.stderr
        assert "not complete" not in result.stderr
    assert set(kept[:-1]) <= set(lines(study.parent / "killed"))
    assert lines(study.parent / "killed") == lines(study.parent / "whole")
    parquet = [(study.parent / name / "results.parquet").read_bytes() for name in ("killed", "whole")]
    assert parquet[0] == parquet[1]


def cmdline(process: int) -> bytes:
    """Give the command line of a process; empty if it has ended meanwhile."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


@needs_proc
def test_ctrl_c_keeps_what_is_finished_and_says_so(study: Path) -> None:
    process = start(study, "out")
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED
    assert stdout == ""
    kept = len(lines(study.parent / "out"))
    said = f"flashwatt: error: interrupted: {kept} of 40 tasks are finished and kept in out/results.jsonl; "
    assert stderr == f"{said}the same sweep continues from there\n"


def test_ctrl_c_in_a_script_gives_what_is_finished() -> None:
    def stop(done: int, _total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(flashwatt.SweepInterruptedError, match="interrupted: 2 of 4 tasks are finished") as stopped:
        small(progress=stop)
    assert len(stopped.value.results) == 2
    assert isinstance(stopped.value, KeyboardInterrupt)


def test_a_script_without_a_main_guard_can_sweep(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"import flashwatt\nprint(len(flashwatt.sweep({GRID!r}, base={BASE!r}, workers=2)))\n")
    result = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, timeout=120)
    assert result.stdout == "4\n"


def test_the_command_shows_and_writes(flashwatt: Cli, study: Path) -> None:
    study.write_text(STUDY.replace("seeds = 10", "seeds = 2"))
    (study.parent / "base.toml").write_text(BASE_TOML.replace("60_000", "500"))
    result = flashwatt("sweep", study, "--out", "out", "--workers", 1)
    assert result.returncode == 0, result.stderr
    for words in ("ways", "policy", "fifo", "throughput", "±", "95 % confidence"):
        assert words in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "tradeoff.html" in result.stderr
    assert "found in" not in result.stderr
    again = flashwatt("sweep", study, "--out", "out", "--json")
    assert "8 of 8 runs found in out/results.jsonl" in again.stderr
    as_json = json.loads(again.stdout)
    assert (as_json["runs"], len(as_json["points"])) == (8, 4)
    assert as_json["points"][0]["energy_j.total.ci95"] > 0


def test_an_incomplete_run_is_told(flashwatt: Cli, study: Path) -> None:
    (study.parent / "base.toml").write_text(BASE_TOML.replace("60_000", "500"))
    study.write_text('base = "base.toml"\n[grid]\nrun.warmup.seconds = [0, 1e6]\n')
    result = flashwatt("sweep", study, "--out", "out", "--json")
    assert result.returncode == 1
    assert "{'run.warmup.seconds': 1000000.0}, seed 1: failed: " in result.stderr
    assert "1 of 2 runs are not complete, and not in the means" in result.stderr
    points = json.loads(result.stdout)["points"]
    assert [point["runs"] for point in points] == [1, 0]
    assert points[1]["energy_j.total.mean"] is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[grid\n", "study.toml: not TOML"),
        ("gird = 1\n", "study.toml: unknown name; found `gird`; expected one of `base`, `grid`"),
        ("[device]\nways = 1\n", "study.toml: not a study but the configuration of one run; found `device`"),
        ("[device]\nways = 1\n", "`flashwatt run study.toml` runs it"),
        ("gird = 1\n", "did you mean `grid`?"),
        ("[base.device]\nways = 1\n\n[grid]\ndevice.wais = [2]\n", "study.toml:5: grid.device.wais: unknown key"),
        ("[base.device]\nwais = 1\n", "study.toml:2: base.device.wais: unknown key; found `wais`"),
        ('base = "absent.toml"\n', "study.toml:1: base: no such file; found 'absent.toml'"),
        ("base = 3\n", "study.toml: base: found 3; expected a table"),
        ("grid = 3\n", "study.toml: grid: found 3; expected a table"),
        ("workers = 1\nseeds = 1.5\n", "study.toml:2: seeds: found 1.5; expected a whole number or a list of them"),
        ("series = -1\n", "series: found -1"),
        ("[grid]\ndevice.ways = 2\n", "study.toml:2: grid.device.ways: found 2; expected a list"),
    ],
)
def test_a_wrong_study_is_a_message(flashwatt: Cli, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "study.toml").write_text(text)
    result = flashwatt("sweep", "study.toml", "--out", "out")
    assert result.returncode == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert not (tmp_path / "out").exists()


def test_parameters_stand_below_the_name_of_what_they_belong_to() -> None:
    grid = {"ftl": ["dftl"], "ftl.dftl.cmt_entries": [8, 64], "device": [{"ways": 1}, {"ways": 2}]}
    tasks = flashwatt.Study.of({**grid, "device.channels": [1, 2]}, base=BASE).tasks()
    assert len({task.id for task in tasks}) == 8


def test_the_size_of_a_study_is_told_with_its_file(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text("seeds = 1000000000000\n")
    with pytest.raises(flashwatt.FlashwattError, match=r"study\.toml: too many runs; found 1,000,000,000,000"):
        flashwatt.Study.read(study)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "a", "point": {}, "seed": 1}', "no report; expected a result of a sweep"),
        ('{"id": "a", "point": 5, "seed": "1", "report": {}}', "no point, seed"),
        ('{"id": "a", "point": ' + "[" * 100_000 + "]" * 100_000 + "}", "results.jsonl"),
    ],
)
def test_results_that_were_edited_by_hand_are_named(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "results.jsonl").write_text(line + "\n")
    with pytest.raises(flashwatt.FlashwattError, match=said):
        flashwatt.Results.read(tmp_path)


def test_a_file_that_is_no_journal_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "results.jsonl").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(flashwatt.FlashwattError, match=r"results\.jsonl:1: not a result of a sweep"):
        flashwatt.Results.read(tmp_path)


GRIDS = """
[base]
device = { preset = "x25m", channels = 2, ways = 1, logical_bytes = 200_000_000 }
workload.uniform.requests = 100

[[grid]]
ftl = ["page", "dftl"]
gc.policy = ["greedy", "fifo"]

[[grid]]
ftl = ["fast"]
"""


def test_several_grids_have_combinations_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(GRIDS)
    study = flashwatt.Study.read(tmp_path / "study.toml")
    assert study.size == 5
    assert study.grid == {"ftl": ["page", "dftl", "fast"], "gc.policy": ["greedy", "fifo"]}
    results = flashwatt.sweep(study, workers=1)
    points = [("page", "greedy"), ("page", "fifo"), ("dftl", "greedy"), ("dftl", "fifo"), ("fast", None)]
    assert results.summary().select("ftl", "gc.policy").rows() == points
    changes = results.differences({"gc.policy": "greedy"}, ["energy_j.total"])
    assert changes.select("ftl", "gc.policy").rows() == [("page", "fifo"), ("dftl", "fifo")]
    grids = [{"ftl": ["page", "dftl"], "gc.policy": ["greedy", "fifo"]}, {"ftl": ["fast"]}]
    same = flashwatt.Study.of(grids, base=study.base)
    assert [task.id for task in same.tasks()] == [task.id for task in study.tasks()]
    drawn = json.dumps(flashwatt.plot.versus(results, "ftl", "energy_j.total", by="gc.policy").spec())
    assert "None" not in drawn
    assert '"gc_policy": null' not in json.dumps(flashwatt.plot.tradeoff(results).spec())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('"fast"', '"fats"'), "study.toml:10: grid.ftl: unknown name; found `fats`"),
        (('ftl = ["fast"]', ""), "study.toml:9: grid: empty"),
        (('"fast"', '"page"'), "found ftl = 'page', gc.policy = 'greedy' and ftl = 'page'"),
        (('"dftl"', '"fast"'), "study.toml:7: grid.gc.policy: has no effect"),
        (('"dftl"', '"fast"'), "; put it into another [[grid]]: each has combinations of its own"),
    ],
)
def test_a_fault_of_one_grid_has_its_line(tmp_path: Path, change: tuple[str, ...], said: str) -> None:
    text = GRIDS.strip().replace(change[0], change[1])
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(flashwatt.FlashwattError) as caught:
        flashwatt.Study.read(tmp_path / "study.toml").tasks()
    assert said in str(caught.value).replace(str(tmp_path) + "/", "")


def test_a_grid_in_a_list_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text("grid = [3]")
    with pytest.raises(flashwatt.FlashwattError, match="grid: found 3; expected a table"):
        flashwatt.Study.read(tmp_path / "study.toml")
    with pytest.raises(flashwatt.FlashwattError, match="grid: found 3; expected a dictionary"):
        flashwatt.sweep([{}, 3])  # type: ignore[list-item]
