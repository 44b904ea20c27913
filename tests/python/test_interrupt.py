"""Ctrl-C ends a run early and keeps the figures until then."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import flashwatt
from conftest import CONFIG
from flashwatt.cli.terminal import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    Start: TypeAlias = Callable[[str], subprocess.Popen[str]]

FOR_DAYS = CONFIG.replace("requests = 2_000", "requests = 100_000_000_000")
# No theory gives the steady state for this policy: the drive is run into it, with four times its size in writes.
PREPARING = '[gc]\npolicy = "fifo"\n[run]\nprecondition = "steady"\n'
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start runs that would take days; those still running are killed at the end."""
    with ExitStack() as stack:

        def started(config: str) -> subprocess.Popen[str]:
            (tmp_path / "days.toml").write_text(config)
            command = [sys.executable, "-m", "flashwatt", "run", "days.toml", "--out", "out", "--json"]
            process = subprocess.Popen(
                command,
                cwd=tmp_path,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield started


def wait_until_it_simulates(process: subprocess.Popen[str]) -> None:
    """Wait for half a second of processor time: start-up takes a fifth of that."""
    ticks_per_s = 100
    for _ in range(1200):
        time.sleep(0.05)
        assert process.poll() is None, process.communicate()
        fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        if int(fields[11]) + int(fields[12]) >= ticks_per_s / 2:
            return
    pytest.fail("the run does not get going")


@needs_proc
def test_figures_until_the_interrupt_are_kept(start: Start, tmp_path: Path) -> None:
    run = start(FOR_DAYS)
    wait_until_it_simulates(run)
    run.send_signal(signal.SIGINT)
    stdout, stderr = run.communicate(timeout=60)
    assert run.returncode == INTERRUPTED == 130
    report = json.loads(stdout)
    assert report["status"] == "interrupted"
    assert report == json.loads((tmp_path / "out/report.json").read_text())
    assert "interrupted after" in stderr
    assert "report.json" in stderr
    assert "Traceback" not in stderr


@needs_proc
def test_a_start_state_can_be_interrupted(start: Start) -> None:
    run = start(FOR_DAYS + PREPARING)
    wait_until_it_simulates(run)
    run.send_signal(signal.SIGINT)
    stdout, stderr = run.communicate(timeout=60)
    assert run.returncode == INTERRUPTED
    assert stdout == ""
    assert stderr.startswith("flashwatt: error: interrupted while the drive's start state was laid down (")
    assert stderr.count("\n") == 1


@needs_proc
def test_a_second_ctrl_c_does_not_wait(start: Start, tmp_path: Path) -> None:
    # The engine checks for signals only between lines.
    nothing = gzip.compress(b"# no request " * 5_000_000)
    with (tmp_path / "long.csv.gz").open("wb") as trace:
        trace.writelines([nothing] * 400)
    run = start('[workload.trace]\npath = "long.csv.gz"\nformat = "csv"\n')
    wait_until_it_simulates(run)
    for _ in range(100):
        run.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            run.communicate(timeout=0.5)
            break
    assert run.returncode == -signal.SIGINT


def test_a_start_state_is_told_apart_and_can_be_stopped() -> None:
    def stop(_done: int, total: int | None, now_ns: int, preparing: str | None) -> bool:
        assert preparing == "laying down the start state"
        assert total
        assert now_ns == 0
        return False

    with pytest.raises(flashwatt.RunInterruptedError, match="start state"):
        flashwatt.run(flashwatt.Config(FOR_DAYS + PREPARING), progress=stop)
    assert issubclass(flashwatt.RunInterruptedError, flashwatt.FlashwattError)


def test_the_progress_callback_stops_a_run() -> None:
    seen: list[int] = []

    def stop(done: int, _total: int | None, _now_ns: int, preparing: str | None) -> bool:
        if preparing is None:
            seen.append(done)
        return preparing is not None

    report = flashwatt.run(flashwatt.Config(FOR_DAYS), progress=stop)
    assert report.status == "interrupted"
    assert seen
    assert report.workload.requests >= seen[0]


def test_an_exception_of_the_callback_goes_on() -> None:
    def fail(_done: int, _total: int | None, _now_ns: int, _preparing: str | None) -> bool:
        raise LookupError("from the callback")

    with pytest.raises(LookupError, match="from the callback"):
        flashwatt.run(flashwatt.Config(FOR_DAYS), progress=fail)
