"""Reports side by side."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

import flashwatt as package
from conftest import CONFIG
from flashwatt.compare import compared, labels, show

if TYPE_CHECKING:
    from conftest import Cli

BASE = package.Config(CONFIG)


@pytest.fixture
def made(tmp_path: Path) -> list[str]:
    """Write three reports of different drives; give their directories."""
    for name, channels in (("wide", 10), ("narrow", 4), ("slim", 2)):
        (tmp_path / name).mkdir()
        package.run(BASE, device__channels=channels).write(tmp_path / name / "report.json")
    return ["wide", "narrow", "slim"]


def test_the_table_says_what_differs_and_what_came_of_it(flashwatt: Cli, made: list[str]) -> None:
    result = flashwatt("compare", *made)
    assert result.returncode == 0, result.stderr
    for word in (*made, "device.channels", "throughput", "energy per GB", "write latency, p99", "×"):
        assert word in result.stdout
    assert "device.ways" not in result.stdout


def test_as_json(flashwatt: Cli, made: list[str], tmp_path: Path) -> None:
    told = json.loads(flashwatt("compare", *made, "--json").stdout)
    assert list(told) == made
    assert [one["config"]["device.channels"] for one in told.values()] == [10, 4, 2]
    report = json.loads((tmp_path / "narrow/report.json").read_text())
    assert told["narrow"]["metrics"]["energy_j.total"] == report["energy_j"]["total"]


def test_the_page(flashwatt: Cli, made: list[str], tmp_path: Path) -> None:
    result = flashwatt("compare", *made, "--html", "page.html")
    assert result.returncode == 0, result.stderr
    page = (tmp_path / "page.html").read_text()
    assert 'id="chart1"' in page
    assert "wrote page.html" in result.stderr
    package.run(BASE, latency=False).write(tmp_path / "slim/report.json")
    result = flashwatt("compare", *made, "--html", "page.html")
    assert "no latencies drawn: slim came without" in result.stderr
    assert 'id="chart1"' not in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("wide",), "one report alone"),
        (("wide", "absent"), "absent"),
        (("wide", "empty"), "empty/report.json: No such file"),
        (("wide", "other.json"), "other.json: schema: found None"),
        ((), "REPORT"),
    ],
)
def test_what_is_no_report_is_a_message(
    flashwatt: Cli, made: list[str], tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    assert made
    (tmp_path / "empty").mkdir()
    (tmp_path / "other.json").write_text("{}")
    result = flashwatt("compare", *arguments)
    assert result.returncode == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["a.json", "b.json"], ["a", "b"]),
        (["x/a/report.json", "x/b/report.json"], ["a", "b"]),
        (["x/a/report.json", "y/a/report.json"], ["x/a", "y/a"]),
        (["a/report.json", "b.json"], ["report", "b"]),
        (["a.json", "a.json"], ["1: a.json", "2: a.json"]),
    ],
)
def test_labels_are_as_short_as_they_can_be(paths: list[str], expected: list[str]) -> None:
    assert labels([Path(path) for path in paths]) == expected


def test_the_best_of_each_figure_is_marked() -> None:
    reports = {"fast": package.run(BASE), "slow": package.run(BASE, device__channels=2)}
    stream = io.StringIO()
    show(reports, Console(file=stream, width=100, force_terminal=True, color_system="standard"))
    (throughput,) = (line for line in stream.getvalue().splitlines() if "throughput" in line)
    assert throughput.index("\x1b[1;32m") < throughput.index("IOPS")
    assert "read latency, p99" in stream.getvalue()


def test_an_end_that_was_not_complete_is_told() -> None:
    report = package.run(BASE)
    ended = package.Report({**report.to_dict(), "status": "failed: [no] page left", "warnings": ["12 folded"]})
    stream = io.StringIO()
    show({"a": report, "b": ended}, Console(file=stream, width=100))
    assert "b: failed: [no] page left" in stream.getvalue()
    assert "b: 12 folded" in stream.getvalue()
    assert compared({"a": report, "b": ended})["b"]["status"] == "failed: [no] page left"
