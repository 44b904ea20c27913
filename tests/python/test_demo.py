"""The demo: its figures are typical of a drive in use, and the commands that it suggests work."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import forked
from flashwatt import demo

ROOT = Path(__file__).parents[2]
COMMANDS = re.findall(r"^  \.venv/bin/flashwatt (.*)$", demo._NEXT, re.MULTILINE)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the demo in a directory of its own; its output is in output.txt there."""
    directory = tmp_path_factory.mktemp("demo")
    shutil.copytree(ROOT / "examples", directory / "examples")
    if "FLASHWATT_SOAK" not in os.environ:
        study = directory / "examples/studies/spare-flash.toml"
        study.write_text(study.read_text().replace("seeds = 3", "seeds = 1"))
    command = [sys.executable, "-m", "flashwatt.demo"]
    result = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False, timeout=120)
    assert result.returncode == 0, result.stderr
    (directory / "output.txt").write_text(result.stdout)
    return directory


def test_the_run_shows_collection_and_bursts(place: Path) -> None:
    report = json.loads((place / "demo/report.json").read_text())
    assert report["flash"]["write_amplification"] > 1.5
    assert report["flash"]["erases"]["gc"] > 0
    assert report["energy_by_cause_j"]["gc"] > 0.1 * report["energy_j"]["total"]
    assert report["power_w"]["mean"] < 0.6 * report["power_w"]["peak"]
    assert report["latency_ns"]["read"]["p99"] < 50e6
    watts = [sum(bins) for bins in zip(*report["series"]["power_w"].values(), strict=True)]
    idle = sum(watt < 0.25 * max(watts) for watt in watts) / len(watts)
    assert 0.3 < idle < 0.9  # bursts, and pauses between them


def test_the_page_holds_what_it_promises(place: Path) -> None:
    text = (place / "output.txt").read_text()
    for words in ("Energy by component", "Latency", "write amplification", "erases per block", "demo/power.html"):
        assert words in text
    line = text[text.index("power over time to 2.") :].splitlines()[1]
    assert "█" in line
    assert {"▁", "▂"} & set(line), "short bursts, and idle time between them"
    assert (place / "demo/power.svg").stat().st_size > 10_000


def test_suggested_commands_work(place: Path) -> None:
    """In their order: one may take what another has written."""
    for command in COMMANDS:
        result = forked.run(command.split(), place)
        assert result.returncode == 0, f"{command}: {result.stderr}"
        assert result.stdout, command


def test_commands_are_suggested() -> None:
    assert len(COMMANDS) >= 4
