"""What the runs of a sweep share: traces that a process reads once, and start states that are laid down once.

The reports have the same bytes as those of runs that share nothing.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt
from flashwatt import _core
from flashwatt.base.outputs import waiting
from flashwatt.sweeps import start_states
from flashwatt.sweeps.start_states import BYTES_MAX, Shared, file_of, shared
from flashwatt.sweeps.worker import TRACES_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Cli
    from flashwatt.config.config import Config
    from flashwatt.sweeps.task import Task

SMALL: dict[str, Any] = {
    "device.preset": "x25m",
    "device.channels": 2,
    "device.ways": 1,
    "device.logical_bytes": 40_000_000,
    "device.op_ratio": 0.3,
    "workload.uniform.requests": 200,
}
TRACE = "time_us,device,op,offset,bytes\n" + "".join(
    f"{at * 50},0,{'RWW'[at % 3]},{at * 7919 % 9000 * 4096},4096\n" for at in range(3000)
)


@pytest.fixture
def _kept() -> Iterator[None]:
    """Keep traces in this process, as a worker does, until the test ends."""
    _core.keep_traces(TRACES_BYTES)
    yield
    _core.keep_traces(0)


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let start states lie in a directory of this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(start_states, "_NOT_KEPT", set())
    return start_states.directory()


def report(config: Config, **options: Any) -> str:
    return _core.run(config.text, config.name, list(config.sets), **options)


def on(trace: Path, **keys: Any) -> Config:
    """Give a small drive with a trace."""
    drive = {key: value for key, value in SMALL.items() if not key.startswith("workload")}
    whole = {**drive, "workload.trace.path": str(trace), "run.precondition": "filled"}
    return flashwatt.Config.of(whole).override(**keys)


@pytest.mark.usefixtures("_kept")
def test_sixteen_drives_read_a_trace_once(tmp_path: Path) -> None:
    (trace := tmp_path / "a.csv").write_text(TRACE)
    drives = [
        on(trace, device__ways=ways, gc__policy=policy)
        for ways in (1, 2, 3, 4)
        for policy in ("greedy", "fifo", "random", "cost_benefit")
    ]
    before = _core.trace_readings()
    once = [report(drive) for drive in drives]
    assert _core.trace_readings() - before == 1
    _core.keep_traces(0)
    assert [report(drive) for drive in drives] == once
    assert _core.trace_readings() - before == 1 + len(drives)


@pytest.mark.usefixtures("_kept")
@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"run__measure__requests": 40},
        {"run__measure__requests": 2990},
        {"workload__trace__repeat": 2, "run__measure__requests": 3500},
        {"workload__trace__dense": True},
        {"workload__trace__closed_loop": True},
        {"workload__trace__sort": True, "run__warmup__requests": 10},
        {"host__scheduler": "mq_deadline"},
    ],
)
def test_a_run_that_ends_anywhere_says_the_same(tmp_path: Path, keys: dict[str, Any]) -> None:
    lines = TRACE.splitlines(keepends=True)
    lines[50:50] = ["nonsense\n", "100,0,W,0,4096\n"]
    (trace := tmp_path / "odd.csv").write_text("".join([*lines, "the end\n"]))
    drive = on(trace, workload__trace__skip_bad=True, **keys)
    before = _core.trace_readings()
    first, again = report(drive), report(drive)
    assert _core.trace_readings() - before == 1
    _core.keep_traces(0)
    assert first == again == report(drive)


@pytest.mark.usefixtures("_kept")
def test_a_trace_that_was_written_to_is_read_again(tmp_path: Path) -> None:
    (trace := tmp_path / "a.csv").write_text(TRACE)
    first = report(on(trace))
    found = trace.stat()
    trace.write_text(TRACE.replace(",W,", ",R,", 1))
    os.utime(trace, ns=(found.st_atime_ns, found.st_mtime_ns))  # of the same length and time
    second = report(on(trace))
    assert first != second
    _core.keep_traces(0)
    assert second == report(on(trace))
    trace.unlink()
    _core.keep_traces(TRACES_BYTES)
    with pytest.raises(flashwatt.FlashwattError, match=r"a\.csv: no such file"):
        report(on(trace))


def steady(**keys: Any) -> Config:
    return flashwatt.Config.of({**SMALL, "run.precondition": "steady"}).override(**keys)


def tasks(grid: dict[str, Any], base: Config, **options: Any) -> list[Task]:
    return flashwatt.Study.of(grid, base=base, **options).tasks()


def going(*_told: object) -> bool:
    return True


def test_a_sweep_has_the_same_bytes_with_and_without(cache: Path, tmp_path: Path) -> None:
    grid = {"workload.uniform.read_fraction": [0, 0.5, 1]}
    for name, bound in (("own", 0), ("shared", BYTES_MAX), ("again", BYTES_MAX)):
        flashwatt.sweep(grid, base=steady(ftl="dftl"), seeds=2, out=tmp_path / name, workers=2, start_states=bound)
        assert cache.exists() is bool(bound)
    lines = [(tmp_path / name / "results.jsonl").read_bytes() for name in ("own", "shared", "again")]
    assert lines[0] == lines[1] == lines[2]
    assert sorted(path.suffix for path in cache.iterdir()) == [".fw", ".fw"]  # of each seed one; no lock, no part stays
    assert b"precondition `steady` was reached by" in lines[0]


def test_the_command_has_the_bound(cache: Path, tmp_path: Path, flashwatt: Cli) -> None:
    study = "[base]\nrun.precondition = 'steady'\nftl = 'fast'\n[grid]\nworkload.uniform.read_fraction = [0, 1]\n"
    keys = "".join(f"{key} = {value!r}\n" for key, value in SMALL.items())
    (tmp_path / "study.toml").write_text(study.replace("[base]\n", f"[base]\n{keys}"))
    for bound, files in (("0", 0), ("1kB", 0), ("1GB", 1)):
        done = flashwatt("sweep", "study.toml", "--out", bound, "--start-states", bound, "--shard", "0/1")
        assert done.returncode == 0, done.stderr
        assert len(list(cache.glob("*.fw"))) == files, bound
    results = {(tmp_path / bound / "shard-0-of-1.jsonl").read_bytes() for bound in ("0", "1kB", "1GB")}
    assert len(results) == 1


@pytest.mark.parametrize("ftl", sorted(flashwatt.names("ftls")))
def test_every_layer_goes_on_from_a_shared_state_as_from_its_own(cache: Path, ftl: str) -> None:
    grid = {"workload.uniform.read_fraction": [0, 0.3]}
    found = shared(
        tasks(grid, steady(ftl=ftl, gc__policy="fifo") if ftl in _COLLECTING else steady(ftl=ftl)), BYTES_MAX
    )
    for task in found:
        assert task.start_state is not None
        file = file_of(task.config, task.start_state, going)
        assert file is not None
        assert report(task.config, start_state=file, check=True) == report(task.config, check=True)
    assert len(list(cache.glob("*.fw"))) == 1


_COLLECTING = ("page", "dftl", "tpftl", "rftl")


@pytest.mark.parametrize(
    ("grid", "keys", "groups"),
    [
        ({"workload.uniform.read_fraction": [0, 1]}, {"ftl": "dftl"}, [2]),
        ({"energy.nand.read_ma": [10, 20]}, {"ftl": "dftl"}, [2]),
        ({"workload.uniform.read_fraction": [0, 1]}, {}, []),  # theory gives it
        ({"workload.uniform.read_fraction": [0, 1]}, {"gc__policy": "fifo"}, [2]),
        ({"device.channels": [1, 2]}, {"ftl": "dftl"}, []),
        ({"gc.policy": ["greedy", "fifo"]}, {"ftl": "dftl"}, []),
        ({"workload.uniform.read_fraction": [0, 1]}, {"ftl": "dftl", "run__precondition": "filled"}, []),
        ({"workload.uniform.read_fraction": [0, 1]}, {"run__precondition": {"uniform": {"requests": 9}}}, [2]),
        ({"workload.uniform.read_fraction": [0, 1]}, {"run__precondition": {"trace": {"path": "a.csv"}}}, []),
    ],
)
def test_tasks_share_what_takes_long(
    *,
    cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    grid: dict[str, Any],
    keys: dict[str, Any],
    groups: list[int],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(TRACE)
    for seeds in (1, 2):
        marked = [task.start_state for task in shared(tasks(grid, steady(**keys), seeds=seeds), BYTES_MAX)]
        found = [one.key for one in marked if one]
        assert [found.count(key) for key in dict.fromkeys(found)] == groups * seeds
    assert not any(task.start_state for task in shared(tasks(grid, steady(**keys)), 0))
    assert not cache.exists()


def test_processes_wait_for_each_other(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    age, calls = _core.age, []

    def slow(*arguments: Any, **options: Any) -> str:
        calls.append(arguments[3])
        sleep(0.2)
        return age(*arguments, **options)

    monkeypatch.setattr(_core, "age", slow)
    wanted = Shared("a" * 64, BYTES_MAX)
    found: list[Path | None] = []
    threads = [threading.Thread(target=lambda: found.append(file_of(steady(ftl="fast"), wanted, going))) for _ in "123"]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [cache / f"{'a' * 64}.fw"] * 3
    assert len(calls) == 1
    assert [path.name for path in cache.iterdir()] == [f"{'a' * 64}.fw"]


def test_no_more_bytes_than_the_bound(cache: Path) -> None:
    first, second = (file_of(steady(ftl="fast"), Shared(key * 64, BYTES_MAX), going) for key in "ab")
    assert first is not None
    assert second is not None
    size = first.stat().st_size
    os.utime(second, ns=(0, 0))  # used longest ago
    third = file_of(steady(ftl="fast"), Shared("c" * 64, 2 * size), going)
    assert third is not None
    assert sorted(cache.iterdir()) == [first, third]
    assert file_of(steady(ftl="fast"), Shared("d" * 64, size - 1), going) is None
    start_states.trim(size)
    assert len(list(cache.iterdir())) == 1
    start_states.trim(0)
    assert list(cache.iterdir()) == []


def test_a_damaged_file_is_no_fault(cache: Path) -> None:
    config = steady(ftl="fast")
    file = file_of(config, Shared("a" * 64, BYTES_MAX), going)
    assert file is not None
    own, whole = report(config), file.read_bytes()
    assert report(config, start_state=file) == own
    for content in (whole[:-100], b"", whole[:5000] + b"\xff" + whole[5001:]):
        file.write_bytes(content)
        assert report(config, start_state=file) == own
    file.unlink()
    assert report(config, start_state=file) == own
    assert report(steady(ftl="dftl"), start_state=file_of(config, Shared("b" * 64, BYTES_MAX), going)) == report(
        steady(ftl="dftl")
    )
    assert cache.is_dir()


def test_a_directory_that_cannot_be_written_is_no_fault(cache: Path) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_text("a file")
    assert file_of(steady(ftl="fast"), Shared("a" * 64, BYTES_MAX), going) is None
    start_states.trim(0)
    assert cache.read_text() == "a file"


def test_a_preparation_that_is_stopped_ends_the_task(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_arguments: Any, progress: Any, **_options: Any) -> str:
        assert progress is going
        raise _core.RunInterruptedError("laying down the start state: interrupted")

    monkeypatch.setattr(_core, "age", stopped)
    wanted = Shared("a" * 64, BYTES_MAX)
    for _ in range(2):  # it is tried again
        with pytest.raises(_core.RunInterruptedError):
            file_of(steady(ftl="fast"), wanted, going)
    assert list(cache.iterdir()) == []


def test_a_bound_is_no_negative_number(cache: Path) -> None:
    with pytest.raises(flashwatt.FlashwattError, match="start_states: found -1; expected a number of bytes"):
        flashwatt.sweep({"workload.uniform.read_fraction": [0, 1]}, base=steady(), start_states=-1)
    assert not cache.exists()


def test_a_lock_goes_with_its_holder(tmp_path: Path) -> None:
    with waiting(tmp_path / "lock"):
        assert (tmp_path / "lock").exists()
    assert not (tmp_path / "lock").exists()
