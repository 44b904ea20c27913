"""Units of text traces, warnings about them, the order of records, and paths that are no files, on the command line."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from flashwatt import traces
from flashwatt.cli.options import LENGTH_UNITS, TIME_UNITS

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

# SSDsim's columns with times in milliseconds; the fifth line goes back.
LINES = [f"{i if i != 4 else 1} 0 {i * 7919 % 5000 * 8} 8 {i % 2}" for i in range(200)]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Write a trace whose times are in milliseconds."""
    path = tmp_path / "ms.txt"
    path.write_text("\n".join(LINES))
    return path


def _run(flashwatt: Cli, config: Path, *arguments: str) -> dict[str, Any]:
    result = flashwatt("run", config, "--json", *arguments)
    assert result.returncode == 0, result.stderr
    report: dict[str, Any] = json.loads(result.stdout)
    return report


def test_a_wrong_unit_is_doubted_and_mended(flashwatt: Cli, config: Path, trace: Path) -> None:
    info = traces.info(trace)
    assert any("implausible times" in warning and "--time-unit ms" in warning for warning in info["warnings"])
    report = _run(flashwatt, config, "--trace", trace.name, "--requests", "50")
    assert any("implausible times" in warning for warning in report["warnings"])
    report = _run(flashwatt, config, "--trace", trace.name, "--time-unit", "ms", "--sort")
    assert report["config"]["workload"]["trace"]["time_unit"] == "ms"
    assert report["throughput"]["simulated_s"] > 0.19
    assert not any("implausible" in warning for warning in report["warnings"])
    assert "1 record put in the order of their times: 1 step back, the largest 2 ms" in report["warnings"]


def test_every_command_takes_units(flashwatt: Cli, trace: Path) -> None:
    units = ["--time-unit", "us", "--offset-unit", "4kib", "--size-unit", "bytes"]
    info = json.loads(flashwatt("trace", "info", trace.name, "--json", *units).stdout)
    assert (info["duration_ns"], info["mean_read_kib"]) == (199_000, 8 / 1024)
    result = flashwatt("trace", "convert", trace.name, "--out", "t.csv", *units)
    assert result.returncode == 0, result.stderr
    assert trace.with_name("t.csv").read_text().splitlines()[2] == "1.000,0,R,95649792,8,0"
    profile = traces.profile(trace, sets=['time_unit="ms"'])
    assert profile["info"]["duration_s"] == 0.199


def test_the_engine_knows_every_unit_of_the_options(trace: Path) -> None:
    for unit in TIME_UNITS:
        assert traces.info(trace, sets=[f'time_unit="{unit}"'])["requests"] == 200
    for unit in LENGTH_UNITS:
        assert traces.info(trace, sets=[f'offset_unit="{unit}"', f'size_unit="{unit}"'])["requests"] == 200


def test_a_unit_for_a_binary_format_is_refused(flashwatt: Cli, config: Path, trace: Path) -> None:
    assert flashwatt("trace", "convert", trace.name, "--out", "t.fwt").returncode == 0
    for command in (["trace", "info"], ["run", config.name, "--trace"]):
        result = flashwatt(*command, "t.fwt", "--size-unit", "bytes")
        assert result.returncode == 2
        assert "--size-unit: the format binary is binary: its units are fixed; found `bytes`" in result.stderr
    result = flashwatt("trace", "info", trace.name, "--time-unit", "min")
    assert result.returncode == 2
    assert "`100ns`" in result.stderr


def test_info_for_people_says_rates_and_order(flashwatt: Cli, trace: Path) -> None:
    text = " ".join(flashwatt("trace", "info", trace.name, "--time-unit", "ms").stdout.split())
    for words in (
        "requests/s on average, 200 in the busiest second",
        "1 steps back, the largest 2.00 ms; 1 requests before the latest time so far",
        "0.0 % continue one of the last 64 streams",
        "100.0 % aligned to 4 KiB, least offset 0 B",
        "1.00 bytes written per distinct byte",
    ):
        assert words in text, text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
@pytest.mark.parametrize(
    "command", [("trace", "info"), ("trace", "plot", "--out", "o"), ("run", "small.toml", "--trace")]
)
def test_a_fifo_is_refused_at_once(flashwatt: Cli, config: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    assert config.exists()
    os.mkfifo(tmp_path / "fifo")
    result = flashwatt(*command, "fifo")
    assert result.returncode == 2
    assert "fifo: not a regular file (a trace is read more than once: save it to a file first)" in result.stderr
