"""Executors: wherever tasks run and whatever dies on the way, a sweep has the bytes of the local one.

One cluster of two processes, and the results of the local sweep, serve most tests. A worker that is killed comes back.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from importlib import util
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt
from flashwatt import _core
from flashwatt.base import progress
from flashwatt.cli.terminal import USER_ERROR
from flashwatt.reproduce.campaign import reproduce
from flashwatt.reproduce.catalogue import catalogue
from flashwatt.reproduce.plan import Terms
from flashwatt.sweeps import follow, work, workers
from flashwatt.sweeps.estimate import Pace, longest_first
from flashwatt.sweeps.executor import GROUP, executor_named
from flashwatt.sweeps.journal import Journal
from flashwatt.sweeps.study import Study
from flashwatt.sweeps.work import Timer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Cli
    from flashwatt.sweeps.work import Work

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("flashwatt.sweeps.cluster.dask")
coordinator = pytest.importorskip("flashwatt.sweeps.cluster.coordinator")

EXAMPLES = Path(__file__).parents[2] / "examples"
GOLDEN = Path(__file__).parent / "data" / "slurm-job.sh"
SEEDS = 64 if "FLASHWATT_SOAK" in os.environ else 16
RUNS = 4 * SEEDS
STUDY = f"""\
seeds = {SEEDS}
[base.device]
channels = 2
ways = 1
logical_bytes = 200_000_000
[base.workload.uniform]
requests = 2_000
[grid]
device.ways = [1, 2]
gc.policy = ["greedy", "fifo"]
"""
FEW: dict[str, Any] = {"workload": {"uniform": {"requests": 10}}}
FILES = ("results.jsonl", "results.parquet")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a study of 64 short runs, and run it in processes of this machine."""
    path = tmp_path_factory.mktemp("executors") / "study.toml"
    path.write_text(STUDY)
    flashwatt.sweep(path, out=path.parent / "local", workers=2)
    return path


@pytest.fixture(scope="module")
def cluster() -> Iterator[flashwatt.Dask]:
    """Begin a cluster of two processes."""
    with closing(flashwatt.Dask(local_workers=2)) as made:
        made._opened()
        yield made


def client_of(cluster: flashwatt.Dask) -> Any:
    """Give the connection to a cluster."""
    return cluster._opened()


def assert_same(study: Path, out: Path) -> None:
    """Compare the files of a sweep with those of the local one."""
    for name in FILES:
        assert (out / name).read_bytes() == (study.parent / "local" / name).read_bytes(), name
    assert {path.name for path in out.iterdir()} == set(FILES), "nothing else is left"


def processes(cluster: flashwatt.Dask) -> list[int]:
    """Give the ids of a cluster's processes that are there now."""
    return [one.pid for one in cluster._cluster.workers.values() if one.pid]


# ---------------------------------------------------------------- a cluster on this machine


def test_two_killed_workers_cost_no_run(study: Path, tmp_path: Path, cluster: flashwatt.Dask) -> None:
    killed: list[int] = []

    def kill(done: int, total: int) -> None:
        if done >= (1 + len(killed)) * total // 4 and len(killed) < 2:
            killed.append(next(one for one in processes(cluster) if one not in killed))
            os.kill(killed[-1], signal.SIGKILL)

    assert len(flashwatt.sweep(study, out=tmp_path, executor=cluster, progress=kill)) == RUNS
    assert len(set(killed)) == 2
    assert_same(study, tmp_path)


def test_an_error_of_a_worker_is_told(study: Path, cluster: flashwatt.Dask) -> None:
    def patched(broken: bool) -> None:
        from flashwatt.sweeps.cluster import worker

        worker.Timer = None if broken else Timer  # type: ignore[assignment, misc]

    client_of(cluster).run(patched, True)
    try:
        with pytest.raises(flashwatt.FlashwattError, match=r"a worker cannot run tasks; found TypeError: 'NoneType'"):
            flashwatt.sweep(study, executor=cluster)
    finally:
        client_of(cluster).run(patched, False)


def test_a_run_that_kills_its_workers_is_a_fault_and_the_sweep_goes_on(
    study: Path, tmp_path: Path, cluster: flashwatt.Dask
) -> None:
    tasks = Study.read(study).tasks()
    deadly = tasks[len(tasks) // 2]

    class Deadly(distributed.WorkerPlugin):  # type: ignore[misc, name-defined]
        """Kills a worker that runs one of the tasks, also after the worker has come back."""

        name = "deadly"
        id = deadly.id

        def setup(self, worker: object) -> None:
            from flashwatt.sweeps.cluster import worker as module

            whole, name = module.answer, self.id

            def answered(request: bytes, wanted: Any) -> bytes:
                if name in request.decode():
                    os.kill(os.getpid(), signal.SIGKILL)
                return whole(request, wanted)

            module.answer = answered

        def teardown(self, worker: object) -> None:
            """Leave no patch behind: the cluster serves other tests."""
            import importlib

            from flashwatt.sweeps import work
            from flashwatt.sweeps.cluster import worker as module

            module.answer = importlib.import_module(work.__name__).answer

    client = client_of(cluster)
    client.register_plugin(Deadly())
    try:
        with pytest.raises(flashwatt.FlashwattError) as found:
            flashwatt.sweep(study, out=tmp_path, executor=cluster)
    finally:
        client.unregister_worker_plugin("deadly")
    said = (
        rf"^task {deadly.id[:12]} \(device.ways = 2, .*\): 3 workers ended while they ran it alone, on .*lack of memory"
    )
    assert len(str(found.value).splitlines()) == 1
    found.match(said)
    found.match(rf"{RUNS - 1} of {RUNS} tasks are finished and kept")
    flashwatt.sweep(study, out=tmp_path, executor=cluster)
    assert_same(study, tmp_path)


def set_build(build: str) -> str:
    """Give a worker the package of another build; the former one."""
    from flashwatt import _core

    before, _core.BUILD_ID = _core.BUILD_ID, build
    return before


@contextmanager
def another_build(cluster: flashwatt.Dask) -> Iterator[None]:
    client = client_of(cluster)
    address = next(iter(client.scheduler_info(n_workers=-1)["workers"]))
    client.run(set_build, "0123456789abcdef0123", workers=[address])
    try:
        yield
    finally:
        client.run(set_build, _core.BUILD_ID, workers=[address])


def test_a_worker_with_another_build_is_refused(study: Path, tmp_path: Path, cluster: flashwatt.Dask) -> None:
    said = rf"^the worker on \S+: another build; found .*0123456789abcdef; expected .*{_core.BUILD_ID[:16]}"
    with another_build(cluster), pytest.raises(flashwatt.FlashwattError, match=said):
        flashwatt.sweep(study, out=tmp_path, executor=cluster, progress=lambda done, _: done and pytest.fail("it ran"))
    began: list[Any] = []

    def change(done: int, _total: int) -> None:
        if done and not began:  # as if a worker had come later
            began.append(another_build(cluster))
            began[0].__enter__()

    with pytest.raises(flashwatt.FlashwattError, match=said.replace("^", "")):
        flashwatt.sweep(study, out=tmp_path, executor=cluster, progress=change)
    began[0].__exit__(None, None, None)
    flashwatt.sweep(study, out=tmp_path, executor=cluster)
    assert_same(study, tmp_path)


def test_a_full_disk_is_told_and_the_sweep_goes_on_later(study: Path, tmp_path: Path, cluster: flashwatt.Dask) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(flashwatt.FlashwattError, match=r"results.jsonl: cannot be written; found: File too large"):
            flashwatt.sweep(study, out=tmp_path, executor=cluster)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert 1 <= (tmp_path / "results.jsonl").read_bytes().count(b"\n") < RUNS
    flashwatt.sweep(study, out=tmp_path, executor=cluster)
    assert_same(study, tmp_path)


# ---------------------------------------------------------------- files that tasks read


def hide_files(cache: str) -> None:
    """Let a worker see no file of the coordinator; an empty name lets it see all again."""
    from flashwatt.sweeps.cluster import inputs

    whole = getattr(inputs, "whole", inputs._has)
    inputs.whole = whole  # type: ignore[attr-defined]
    inputs._has = (lambda path, file: str(path).startswith(cache) and whole(path, file)) if cache else whole
    inputs.PIECE_BYTES = 1_000 if cache else 16 << 20


@contextmanager
def elsewhere(cluster: flashwatt.Dask, cache: Path, **limits: Any) -> Iterator[flashwatt.Dask]:
    """Let the workers be machines that do not see this one's files, with a cache of their own."""
    client = client_of(cluster)
    made = flashwatt.Dask(scheduler=client.scheduler.address, cache=cache, **limits)
    client.run(hide_files, str(cache))
    hide_files(str(cache))
    try:
        with closing(made):
            yield made
    finally:
        client.run(hide_files, "")
        hide_files("")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return Path(shutil.copy(EXAMPLES / "trace.csv", tmp_path / "a trace.csv"))


def replay(trace: Path, out: Path | None = None, **options: Any) -> flashwatt.Results:
    base = {"device": {"channels": 2}, "workload": {"trace": {"path": str(trace)}}}
    return flashwatt.sweep({"device.ways": [1, 2, 3, 4]}, base=base, out=out, **options)


def test_a_trace_is_sent_once_to_each_machine(trace: Path, tmp_path: Path, cluster: flashwatt.Dask) -> None:
    replay(trace, tmp_path / "local")
    with elsewhere(cluster, tmp_path / "cache") as away:
        replay(trace, tmp_path / "away", executor=away)
    for name in FILES:
        assert (tmp_path / "away" / name).read_bytes() == (tmp_path / "local" / name).read_bytes()
    (kept,) = (path for path in (tmp_path / "cache").rglob("*") if path.is_file() and path.name != ".lock")
    assert kept.name == "a trace.csv"
    assert kept.read_bytes() == trace.read_bytes()
    assert trace.stat().st_size > 1_000, "in several pieces"


def test_snapshots_and_jobs_with_variables_are_sent(
    tmp_path: Path, cluster: flashwatt.Dask, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = {"channels": 2, "ways": 1, "logical_bytes": 200_000_000}
    flashwatt.age({"device": device}, to=tmp_path / "aged.fw")
    job = tmp_path / "job.fio"
    job.write_text("[global]\nbs=${BLOCK}\nio_size=1m\nsize=100m\n[one]\nrw=randwrite\n")
    monkeypatch.setenv("BLOCK", "8k")
    base = {
        "device": device,
        "workload": {"fio": {"path": str(job)}},
        "run": {"precondition": {"snapshot": str(tmp_path / "aged.fw")}},
    }
    grid = {"gc.policy": ["greedy", "fifo"]}
    flashwatt.sweep(grid, base=base, out=tmp_path / "local")
    with elsewhere(cluster, tmp_path / "cache") as away:
        flashwatt.sweep(grid, base=base, out=tmp_path / "away", executor=away)
    for name in FILES:
        assert (tmp_path / "away" / name).read_bytes() == (tmp_path / "local" / name).read_bytes()
    assert {path.name for path in (tmp_path / "cache").rglob("*.f*")} == {"aged.fw", "job.fio"}


def test_a_trace_that_changes_is_told(trace: Path, tmp_path: Path, cluster: flashwatt.Dask) -> None:
    def change(done: int, _total: int) -> None:
        if not done:
            trace.write_text(trace.read_text().replace("4096", "8192"))

    with pytest.raises(flashwatt.FlashwattError, match=r"a trace.csv: the file has changed since the sweep began"):
        replay(trace, tmp_path / "out", executor=cluster, progress=change)


def test_a_trace_that_is_too_large_to_be_sent_is_told(trace: Path, tmp_path: Path, cluster: flashwatt.Dask) -> None:
    said = r"a trace.csv: not on .*, and too large to be sent; found .* expected .*shared storage"
    with (
        elsewhere(cluster, tmp_path / "cache", send_limit_bytes=100) as away,
        pytest.raises(flashwatt.FlashwattError, match=said) as found,
    ):
        replay(trace, executor=away)
    assert len(str(found.value).splitlines()) == 1


def test_a_cache_that_cannot_be_written_is_told(trace: Path, tmp_path: Path, cluster: flashwatt.Dask) -> None:
    (tmp_path / "file").touch()
    said = r"^the worker on \S+: .*trace.csv: cannot be written; found: .*FLASHWATT_CACHE names another directory"
    with (
        elsewhere(cluster, tmp_path / "file") as away,
        pytest.raises(flashwatt.FlashwattError, match=said) as found,
    ):
        replay(trace, executor=away)
    assert len(str(found.value).splitlines()) == 1


# ---------------------------------------------------------------- a cluster that is another's

SCHEDULER = """
import asyncio
from distributed import Scheduler
async def main():
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as made:
        print(made.address, flush=True)
        await made.finished()
asyncio.run(main())
"""
WORKER = """
import asyncio, sys
from distributed import Worker
async def main():
    async with Worker(sys.argv[1], nthreads=1, resources={"flashwatt_mb": 2000}, dashboard=False) as made:
        print(made.address, flush=True)
        await made.finished()
asyncio.run(main())
"""
COORDINATOR = """
import os, signal, sys
import flashwatt
def kill(done, total):
    if done >= total // 4:
        os.kill(os.getpid(), signal.SIGKILL)
flashwatt.sweep(sys.argv[1], out=sys.argv[2], executor=flashwatt.Dask(scheduler=sys.argv[3]), progress=kill)
"""


def started(code: str, *arguments: str) -> tuple[subprocess.Popen[str], str]:
    """Start a program; give it with the first line that it prints."""
    words = [sys.executable, "-c", code, *arguments]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout
    return process, process.stdout.readline().strip()


@pytest.fixture(scope="module")
def foreign() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a scheduler with a worker, as a site has them; give the scheduler and its address."""
    scheduler, address = started(SCHEDULER)
    worker, _ = started(WORKER, address)
    yield scheduler, address
    for process in (worker, scheduler):
        process.kill()
        process.communicate()


LONG = """
import os, signal, sys
import flashwatt
from flashwatt.sweeps import work
work.longest_first = list  # the short one ends while the long one runs
def end(done, total):
    if done and sys.argv[3] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if done:
        raise KeyboardInterrupt
grid = {"workload.uniform.requests": [10, 100_000_000_000]}
try:
    flashwatt.sweep(grid, base={"device": {"channels": 2}}, out=sys.argv[1],
                    executor=flashwatt.Dask(scheduler=sys.argv[2]), progress=end)
except flashwatt.SweepInterruptedError as error:
    print(error)
"""


@pytest.mark.parametrize("how", ["interrupted", "killed"])
def test_runs_that_nobody_waits_for_are_stopped(foreign: tuple[Any, str], tmp_path: Path, how: str) -> None:
    """The long run would take a day; the cluster of others goes on, and its worker is free for the next sweep."""
    process, said = started(LONG, str(tmp_path), foreign[1], how)
    process.communicate()
    assert said.startswith("interrupted: 1 of 2 tasks are finished and kept" if how == "interrupted" else "")
    assert (tmp_path / "results.jsonl").read_bytes().count(b"\n") == 1
    with closing(flashwatt.Dask(scheduler=foreign[1])) as executor:
        ends_s = time.monotonic() + 60
        while any(client_of(executor).run(lambda dask_worker: len(dask_worker.state.tasks)).values()):
            assert time.monotonic() < ends_s, "the run goes on"
            time.sleep(0.05)
        assert len(flashwatt.sweep({"device.ways": [2]}, base=FEW, executor=executor)) == 1


def test_a_killed_coordinator_and_a_killed_scheduler_lose_nothing(
    study: Path, tmp_path: Path, foreign: tuple[subprocess.Popen[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask, "CONNECT_S", 0.5)
    scheduler, address = foreign
    process, _ = started(COORDINATOR, str(study), str(tmp_path), address)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert RUNS // 4 <= (tmp_path / "results.jsonl").read_bytes().count(b"\n") < RUNS
    begun: list[int] = []

    def kill(done: int, total: int) -> None:
        begun.append(done)
        if done >= total // 2:
            scheduler.kill()

    with closing(flashwatt.Dask(scheduler=address)) as executor:
        said = rf"the scheduler at {address} is gone; .*\(\d+ of {RUNS} tasks are finished and kept"
        with pytest.raises(flashwatt.FlashwattError, match=said):
            flashwatt.sweep(study, out=tmp_path, executor=executor, progress=kill)
    assert begun[0] >= RUNS // 4
    with pytest.raises(flashwatt.FlashwattError, match=rf"scheduler: found none at {address}"):
        flashwatt.sweep(study, out=tmp_path, executor=flashwatt.Dask(scheduler=address))
    flashwatt.sweep(study, out=tmp_path)
    assert_same(study, tmp_path)


def test_only_the_task_that_ran_is_charged_with_a_death(study: Path) -> None:
    """A scheduler of others gives tasks up that only waited where a worker died: they are submitted again."""
    tasks = Study.read(study).tasks()[:2]
    whole = work.Work(tasks, Journal(), pytest.fail)
    one = coordinator.Coordinator(None, whole, coordinator.Limits(1, ""), coordinator.Expected())
    died = distributed.KilledWorker("key", SimpleNamespace(address="tcp://node:1"), 0)
    waiting = coordinator.Batch(tasks)
    one._failed(waiting, died)
    assert list(one._again) == [waiting]
    assert (waiting.deaths, waiting.alone) == ([], False)
    one._again.clear()
    waiting.began_at.append("node:1")
    one._failed(waiting, died)
    assert [(batch.tasks, batch.alone, batch.deaths) for batch in one._again] == [([task], True, []) for task in tasks]
    suspect = one._again[0]
    for number in range(coordinator.DEATHS_MAX):
        assert not whole.faults
        suspect.began_at = [f"node:{number}"]
        one._failed(suspect, died)
    (fault,) = whole.faults.values()
    assert "3 workers ended while they ran it alone, on node:0, node:1, node:2" in fault.why


# ---------------------------------------------------------------- SLURM, and what is not installed

JOB = """\
queue = "short"
account = "me"
walltime = "02:00:00"
cores = 4
memory = "16GB"
jobs = 2
python = "/shared/venv/bin/python"
job_extra_directives = ["--requeue"]
job_script_prologue = ["module load python"]
"""


def test_a_dry_run_prints_the_script_of_a_job(flashwatt: Cli, study: Path, tmp_path: Path) -> None:
    pytest.importorskip("dask_jobqueue")
    (tmp_path / "job.toml").write_text(JOB)
    found = flashwatt("sweep", study, "--out", "out", "--slurm", "job.toml", "--adapt", "0:8", "--dry-run")
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout == GOLDEN.read_text()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cores = 4", "job.toml: no memory; expected that of a job"),
        ('memory = "16GB"', "job.toml: no cores; expected that of a job"),
        (JOB.replace("cores = 4", "cores = 0"), "job.toml: cores: found 0; expected a whole number, ≥ 1"),
        (JOB.replace('"16GB"', '"much"'), "job.toml: memory: found 'much'; expected that of a job"),
        (JOB.replace("queue", "quue"), "job.toml: unknown name; found `quue`; expected one of `queue`, "),
        (
            JOB.replace('["--requeue"]', '"--requeue"'),
            "job_extra_directives: found '--requeue'; expected a list of texts",
        ),
    ],
)
def test_a_job_that_is_wrong_is_told(tmp_path: Path, text: str, said: str) -> None:
    pytest.importorskip("dask_jobqueue")
    (tmp_path / "job.toml").write_text(text)
    with pytest.raises(flashwatt.FlashwattError) as found:
        flashwatt.Dask(slurm=tmp_path / "job.toml")
    assert said in str(found.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--executor", "desk"], "executor: unknown name; found `desk`; expected one of `local`, `dask`"),
        (
            ["--executor", "local", "--local-cluster", "2"],
            "--local-cluster: is about a Dask cluster; found --executor local",
        ),
        (["--local-cluster", "2", "--workers", "2"], "--workers: is about processes without a cluster"),
        (["--local-cluster", "2", "--dry-run"], "--dry-run: prints the script of SLURM jobs"),
        (["--local-cluster", "2", "--scheduler", "tcp://a:1"], "--scheduler: names one cluster, "),
        (["--local-cluster", "2", "--adapt", "0:3"], "--adapt: found no jobs that could be more or fewer"),
        (["--adapt", "3:1"], "found '3:1'; expected the least and the largest number of jobs"),
        (["--local-cluster", "2", "--merge"], "--executor: --merge runs nothing"),
        (["--follow", "out"], "--follow: runs nothing, and shows the sweep that runs"),
    ],
)
def test_options_that_contradict_are_told(flashwatt: Cli, study: Path, options: list[str], said: str) -> None:
    found = flashwatt("sweep", study, "--out", "out", *options)
    assert found.returncode == USER_ERROR
    assert said in found.stderr


def test_without_dask_one_line_names_the_command(
    study: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from flashwatt.cli.main import main

    whole = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name: None if name == "distributed" else whole(name))
    with pytest.raises(SystemExit) as end:
        main(["sweep", str(study), "--out", "out", "--executor", "dask"])
    assert end.value.code == USER_ERROR
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("flashwatt: error: the executor `dask` needs Dask; found no module `distributed`")
    assert "pip install 'flashwatt[dask]'" in line


def test_dask_is_loaded_when_it_is_asked_for() -> None:
    code = "import sys, flashwatt.cli.sweep, flashwatt.sweeps.sweep; print([m for m in sys.modules if 'dask' in m])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


# ---------------------------------------------------------------- executors of other packages

PACKAGE = """
from flashwatt.sweeps.work import answer, request
class Simple:
    def run(self, work):
        for task in work.tasks:
            if task.seed == 2:
                work.fail(task, "not today")
            else:
                work.keep(task, answer(request(task)), "here")
    def close(self):
        pass
wrong = dict
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package with executors."""
    (tmp_path / "their_package.py").write_text(PACKAGE)
    info = tmp_path / "their_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    points = "simple = their_package:Simple\nwrong = their_package:wrong\nabsent = their_package_2:Simple\n"
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}")
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("package")
def test_a_package_brings_an_executor(study: Path, tmp_path: Path) -> None:
    grid = {"device.ways": [1, 2]}
    base = {"device": {"channels": 2}, "workload": {"uniform": {"requests": 50}}}
    flashwatt.sweep(grid, base=base, out=tmp_path / "theirs", executor="simple")
    flashwatt.sweep(grid, base=base, out=tmp_path / "ours", executor="local")
    for name in FILES:
        assert (tmp_path / "theirs" / name).read_bytes() == (tmp_path / "ours" / name).read_bytes()
    said = r"task \w+ \(device.ways = 1, seed 2\): not today\n.*: not today \(2 of 4 tasks are finished and kept"
    with pytest.raises(flashwatt.FlashwattError, match=said):
        flashwatt.sweep(grid, base=base, seeds=2, out=tmp_path / "two", executor="simple")
    with pytest.raises(flashwatt.FlashwattError, match=r"executor: wrong: no executor; found dict, which has no `run`"):
        executor_named("wrong", 1)
    with pytest.raises(flashwatt.FlashwattError, match=r"executor: absent: the entry point .* cannot be loaded"):
        executor_named("absent", 1)
    with pytest.raises(flashwatt.FlashwattError, match=r"executor: found int; expected a name, or an object with `run"):
        flashwatt.sweep(grid, base=base, executor=3)  # type: ignore[arg-type]


class Counting:
    """Runs on this machine, and counts the runs."""

    def __init__(self) -> None:
        """Begin."""
        self.ran = 0

    def run(self, work: Work) -> None:
        """Run all tasks."""
        self.ran += len(work.tasks)
        workers.Local(2).run(work)

    def close(self) -> None:
        """Fail: who made an executor closes it."""
        pytest.fail("closed by another one")


def test_experiments_run_by_an_executor(tmp_path: Path) -> None:
    chosen, terms = [catalogue()["X36"]], Terms(requests=500)
    counting = Counting()
    found = reproduce(chosen, tmp_path / "there", terms=terms, executor=counting)
    again = reproduce(chosen, tmp_path / "here", terms=terms, workers=2)
    assert counting.ran > 0
    assert found.rows == again.rows
    kept = [(tmp_path / name / "results.jsonl").read_bytes() for name in ("there", "here")]
    assert kept[0] == kept[1]
    assert kept[0].count(b"\n") == counting.ran


# ---------------------------------------------------------------- the order of tasks, and their memory


def test_the_longest_go_first() -> None:
    grid = {"workload.uniform.requests": [10, 1_000, 100]}
    tasks = Study.of(grid, base={}, seeds=2).tasks()
    assert [(task.requests, task.seed) for task in longest_first(tasks)] == [
        (requests, seed) for requests in (1_000, 100, 10) for seed in (1, 2)
    ]


def test_the_pace_follows_what_tasks_take() -> None:
    (task,) = Study.of({"workload.uniform.requests": [1_000]}, base={}).tasks()
    pace = Pace()
    assert pace.seconds(task) < 0.1
    for _ in range(30):
        pace.learn(task, 2.0)
    assert pace.seconds(task) == pytest.approx(2.0, rel=0.01)


def test_memory_holds_tasks_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four tasks of 40, 70, 30 and 200 bytes a machine of 100 runs the first and the third; then one by one."""
    sizes = dict(zip((10, 20, 30, 40), (40, 70, 30, 200), strict=True))
    tasks = Study.of({"workload.uniform.requests": list(sizes)}, base={}).tasks()
    monkeypatch.setattr(workers, "memory_bytes", lambda task: sizes[task.requests])
    ready = workers._Ready(tasks, 100)
    assert [ready.take(), ready.take()] == [tasks[0], tasks[2]]
    waiting = threading.Thread(target=lambda: taken.append(ready.take()))
    taken: list[Any] = []
    waiting.start()
    waiting.join(0.1)
    assert taken == [], "30 bytes are free"
    ready.give_back(tasks[0])
    waiting.join()
    assert taken == [tasks[1]]
    ready.give_back(tasks[1])
    ready.give_back(tasks[2])
    assert ready.take() is tasks[3], "too large for the machine, so alone"
    ready.give_back(tasks[3])
    assert ready.take() is None


def test_a_task_that_no_worker_has_memory_for_is_told(
    study: Path, cluster: flashwatt.Dask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coordinator, "memory_bytes", lambda task: 10**15 if task.point["device.ways"] == 2 else 1)
    said = r"task \w+ .*: needs 1,000,000,000 MB of memory; found [\d,]+ MB at most at a worker \(flashwatt_mb\)"
    with pytest.raises(flashwatt.FlashwattError, match=said) as found:
        flashwatt.sweep(study, executor=cluster)
    assert len(str(found.value).splitlines()) == RUNS // 2, "the others have run"


def test_short_tasks_go_together(study: Path, cluster: flashwatt.Dask, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    whole = coordinator.Coordinator._submit

    def submit(self: Any, batch: Any) -> None:
        sizes.append(len(batch.tasks))
        whole(self, batch)

    monkeypatch.setattr(coordinator.Coordinator, "_submit", submit)
    flashwatt.sweep(study, executor=cluster)
    assert sum(sizes) == RUNS
    assert max(sizes) > 4
    assert 4 <= len(sizes) <= RUNS // 2, "both workers have something to do, to the end"


# ---------------------------------------------------------------- progress


def test_a_sweep_is_followed_by_another_process(study: Path, tmp_path: Path) -> None:
    """The sweep waits until the follower has said something."""
    words = [sys.executable, "-m", "flashwatt", "sweep", "--follow", str(tmp_path)]
    said: list[str] = []
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as follower:
        assert follower.stderr

        def wait(done: int, _total: int) -> None:
            if done and not said:
                assert follower.stderr
                said.append(follower.stderr.readline())

        flashwatt.sweep(study, out=tmp_path, workers=2, progress=wait)
        said += follower.stderr.readlines()
    assert follower.returncode == 0
    assert re.match(rf"flashwatt: sweeping: \d+ of {RUNS} runs", said[0])
    assert said[-1] == f"flashwatt: the sweep has ended; {tmp_path} has {RUNS} results\n"
    assert_same(study, tmp_path)


def state(directory: Path, **values: Any) -> Path:
    """Write the file of a sweep that runs elsewhere."""
    path = directory / f".flashwatt-progress-{values['name'].replace('/', '-of-')}.json"
    path.write_text(json.dumps({"host": "far", "process": 1, "done": 1, "workers": ["a: 1 runs"], **values}))
    return path


def test_shards_are_followed_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "_LOOK_S", 0.0)
    paths = [state(tmp_path, name=f"{number}/2", total=5, now=1) for number in range(2)]
    (tmp_path / ".flashwatt-progress-torn.json").write_text('{"host": ')
    steps = follow.follow(tmp_path, pytest.fail)
    assert next(steps) == (2, 10, ["shard 0/2: 1 of 5", "shard 1/2: 1 of 5", "a: 1 runs", "a: 1 runs"])
    paths[0].unlink()
    assert next(steps)[:2] == (1, 5)
    paths[1].unlink()
    assert list(steps) == []


def test_a_sweep_that_was_killed_is_not_followed_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "_LOOK_S", 0.0)
    monkeypatch.setattr(follow, "SILENCE_S", 0.0)
    monkeypatch.setattr(follow, "WAIT_S", 0.0)
    lost: list[str] = []
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    state(tmp_path, name="", host=socket.gethostname(), process=gone.pid, total=5, now=1)
    assert list(follow.follow(tmp_path, lost.append)) == []
    assert lost == [
        f"the sweep was ended before its time: process {gone.pid} on {socket.gethostname()} is gone; "
        "1 of 5 runs are finished and kept"
    ]
    state(tmp_path, name="", total=5, now=1)
    list(follow.follow(tmp_path, lost.append))
    assert lost[1].startswith("the sweep gives no sign of life: process 1 on far")
    with pytest.raises(flashwatt.FlashwattError, match=r"no sweep is at work there; found no such directory"):
        list(follow.follow(tmp_path / "typo", lost.append))


def test_progress_names_workers(capsys: pytest.CaptureFixture[str], study: Path, cluster: flashwatt.Dask) -> None:
    with progress.runs_bar("Sweeping", counted=True, at_once=True) as show:
        flashwatt.sweep(study, executor=cluster, progress=show)
        show(RUNS, RUNS)
    rows = show._workers()
    assert len(rows) == 2
    assert sum(int(row.split()[1]) for row in rows) == RUNS
    assert capsys.readouterr().err.startswith(f"flashwatt: sweeping: 0 of {RUNS} runs")


def test_hands_are_written() -> None:
    hands = {f"node:{number}": work.Hand() for number in range(10)}
    hands["node:1"].ended, hands["node:1"].share = 1_200, 0.456
    rows = work.rows(hands)
    assert rows[:2] == ["node:0: 0 runs", "node:1: 1,200 runs and 46% of the next"]
    assert rows[-1] == "2 more workers"
    assert len(rows) == 9
