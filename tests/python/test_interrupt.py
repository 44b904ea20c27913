"""Ctrl-C ends a run early and keeps what was measured."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import flashwatt
from flashwatt.cli import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Iterator

FOR_EVER = "run.measure.requests=100000000000"


@pytest.fixture
def run(config: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a run that would take days."""
    command = [sys.executable, "-m", "flashwatt", "run", str(config), "--set", FOR_EVER, "--out", "out", "--json"]
    text = config.read_text().replace("requests = 2_000", "requests = 100_000_000_000")
    config.write_text(text)
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def wait_until_it_simulates(process: subprocess.Popen[str]) -> None:
    """Wait for a second of processor time: start-up takes a tenth of that."""
    ticks_per_s = 100
    for _ in range(600):
        time.sleep(0.1)
        assert process.poll() is None, process.communicate()
        fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        if int(fields[11]) + int(fields[12]) >= ticks_per_s:
            return
    pytest.fail("the run does not get going")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_what_was_measured_is_kept(run: subprocess.Popen[str], tmp_path: Path) -> None:
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


def test_the_progress_callback_stops_a_run(config: Path) -> None:
    seen: list[int] = []

    def stop(done: int, _total: int | None, _now_ns: int) -> bool:
        seen.append(done)
        return False

    text = config.read_text().replace("requests = 2_000", "requests = 100_000_000_000")
    report = flashwatt.run_text(text, sets=[FOR_EVER], progress=stop)
    assert report["status"] == "interrupted"
    assert len(seen) == 1
    assert report["workload"]["requests"] >= seen[0]


def test_an_exception_of_the_callback_goes_on(config: Path) -> None:
    def fail(_done: int, _total: int | None, _now_ns: int) -> bool:
        raise LookupError("from the callback")

    text = config.read_text().replace("requests = 2_000", "requests = 100_000_000_000")
    with pytest.raises(LookupError, match="from the callback"):
        flashwatt.run_text(text, sets=[FOR_EVER], progress=fail)
