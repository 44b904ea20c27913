"""The README is a new user's first hour: its files, commands, figures and lines of Python are tried as they stand."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import flashwatt

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
SLOW = ("reproduce", "sweep")  # of which one is tried by tests of its own, the other below
WIDTH = "120"


def blocks(language: str) -> list[str]:
    """Give the blocks of a language, or of none."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [text for name, text in found if name == language]


def commands() -> list[str]:
    """Give every call of the command line, in order."""
    lines = (line.split("#")[0].strip() for block in blocks("sh") for line in block.splitlines())
    return [line for line in lines if line.startswith("flashwatt ")]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a directory with the README's files, beside the examples."""
    directory = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "examples", directory / "examples")
    for text in blocks("toml"):
        name = re.match(r"# (\w+\.toml)\n", text)
        assert name, f"a file without its name: {text}"
        (directory / name[1]).write_text(text)
    return directory


def start(command: str, place: Path) -> subprocess.CompletedProcess[str]:
    """Start the command line as a shell would, in a terminal of that width."""
    said, _, kept = command.partition(" > ")
    arguments = [sys.executable, "-m", "flashwatt", *shlex.split(said)[1:]]
    environment = {"COLUMNS": WIDTH, "PATH": "", "PYTHONUTF8": "1"}
    result = subprocess.run(
        arguments, cwd=place, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    if kept:
        (place / kept.strip()).write_text(result.stdout)
    return result


def test_it_says_first_what_it_is_and_how_to_see_it() -> None:
    top = README.splitlines()[:20]
    assert top[2].startswith("FlashWatt simulates a flash SSD under your workload")
    assert "make demo" in blocks("sh")[0]
    assert "make test" in blocks("sh")[0]
    picture = next(line for line in top if line.startswith("!["))
    assert (ROOT / picture.rsplit("(", 1)[1].rstrip(")")).is_file()


def test_every_command_does_what_it_should(place: Path) -> None:
    tried = [command for command in commands() if command.split()[1] not in SLOW]
    assert len(tried) >= 15
    for command in tried:
        result = start(command, place)
        assert result.returncode == 0, f"{command}\n{result.stderr}"
        assert "Traceback" not in result.stderr
    assert flashwatt.Report.read(place / "report.json").status == "complete"


def test_the_table_of_the_sweep_is_what_the_command_prints(place: Path) -> None:
    (command,) = (command for command in commands() if command.startswith("flashwatt sweep"))
    result = start(command, place)
    assert result.returncode == 0, result.stderr
    printed = [line.rstrip() for line in result.stdout.splitlines()]
    (table,) = (block for block in blocks("") if "write ampl." in block)
    rows = table.splitlines()
    assert len(rows) == 2 + 4
    assert [row for row in rows if row not in printed] == []


def test_the_lines_of_python_run(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    (text,) = blocks("python")
    names: dict[str, object] = {}
    exec(compile(text, "README.md", "exec"), names)
    assert (place / "power.html").is_file()


def test_every_link_leads_somewhere() -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if not link.startswith("http")]
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists()] == []
