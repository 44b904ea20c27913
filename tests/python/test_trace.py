"""Traces on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import flashwatt as package

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

# device, first sector, bytes, operation, seconds
SPC = "0,16,4096,w,0.000\n0,24,4096,w,0.001\n0,80,8192,r,0.002\n1,8,512,R,0.500\n"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Write a trace of four requests to two devices."""
    path = tmp_path / "four.spc"
    path.write_text(SPC)
    return path


def test_info_of_a_trace(flashwatt: Cli, trace: Path) -> None:
    result = flashwatt("trace", "info", trace.name, "--json")
    assert result.returncode == 0, result.stderr
    info = json.loads(result.stdout)
    assert (info["format"], info["requests"], info["reads"], info["writes"]) == ("spc", 4, 2, 2)
    assert info["duration_s"] == 0.5
    assert info == package.traces.info(trace)


def test_info_for_people(flashwatt: Cli, trace: Path) -> None:
    text = flashwatt("trace", "info", trace.name).stdout
    for words in ("four.spc: spc", "50.0 % by count", "Devices", "4.2 KiB read"):
        assert words in text


@pytest.mark.parametrize("devices", [20, 25])
def test_of_many_devices_those_with_the_most_requests_are_shown(flashwatt: Cli, config: Path, devices: int) -> None:
    """Device n has n requests: of 25 the first five, with 15 requests together, are left to --json."""
    numbers = [device for device in range(1, devices + 1) for _ in range(device)]
    lines = [f"{at},{device},R,{4096 * at},4096" for at, device in enumerate(numbers)]
    (config.parent / "many.csv").write_text("\n".join(["time_us,device,op,offset,bytes", *lines]) + "\n")
    text = flashwatt("trace", "info", "many.csv").stdout
    rows = [line.split() for line in text.partition("Devices")[2].splitlines()]
    shown = [(int(row[0]), int(row[1])) for row in rows if len(row) > 2 and row[0].isdigit() and row[1].isdigit()]
    assert sorted(shown) == [(device, device) for device in range(devices - 19, devices + 1)]
    assert ["5", "with", "fewer", "(--json", "lists", "them)", "15"] in rows if devices > 20 else "fewer" not in text


def test_a_trace_takes_the_place_of_the_workload(flashwatt: Cli, config: Path, trace: Path) -> None:
    result = flashwatt("run", config, "--trace", trace.name, "--trace-format", "spc", "--requests", 4, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["workload"]["requests"] == 4


@pytest.mark.parametrize("command", [("trace", "info"), ("run", "small.toml", "--trace")])
def test_a_file_that_is_no_trace_is_a_message(
    flashwatt: Cli, config: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    assert config.exists()
    (tmp_path / "prose.txt").write_text("It was a dark and stormy night.\n")
    result = flashwatt(*command, "prose.txt")
    assert result.returncode == 2
    assert "prose.txt" in result.stderr
    assert "Traceback" not in result.stderr
