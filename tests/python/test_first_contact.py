"""The first commands of a new user: runs without a configuration file, `try`, and the line that names the next step."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Cli

TRACE = Path(__file__).parents[2] / "examples/trace.csv"


def piped(*arguments: object, stdin: bytes, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "flashwatt", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, check=False, timeout=120)


def on_a_terminal(*arguments: object, cwd: Path) -> str:
    """Give what a command writes to a terminal, on both streams."""
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "flashwatt", *map(str, arguments)]
    with subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        read = b""
        while chunk := _read(ours):
            read += chunk
        assert process.wait(timeout=120) == 0, read
    os.close(ours)
    return read.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux: the other end is closed
        return b""


def test_a_preset_runs_without_a_file(flashwatt: Cli) -> None:
    result = flashwatt("run", "--preset", "park-1g", "--requests", 10, "--json")
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert (report["config"]["device"]["preset"], report["workload"]["requests"]) == ("park-1g", 10)
    assert "default preset" not in result.stderr


def test_a_trace_runs_without_a_configuration(flashwatt: Cli, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_bytes(TRACE.read_bytes())
    result = flashwatt("run", "own.csv", "--json")
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["workload"]["name"] == "own.csv"
    assert report["config"]["device"]["preset"] == "x25m"
    assert "the default preset, x25m" in result.stderr


def test_a_configuration_may_stand_beside_traces(flashwatt: Cli, config: Path) -> None:
    report = json.loads(flashwatt("run", TRACE, config, "--preset", "tlc-nvme-1t", "--json").stdout)
    assert report["config"]["device"]["preset"] == "tlc-nvme-1t"
    assert report["workload"]["kind"] == "trace"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run",), "nothing to run; expected a configuration"),
        (("run", "x25m"), "'x25m' is a preset: --preset x25m"),
        (("run", "--preset", "x26m"), "--preset: unknown preset; found `x26m`"),
        (("run", "small.toml", "small.toml"), "a second configuration after small.toml"),
        (("run", "-", "-"), "- is given twice"),
        (("run", "small.toml", "--quiet"), "nothing would be left of the run"),
    ],
)
def test_mistakes_name_the_remedy(flashwatt: Cli, config: Path, words: tuple[str, ...], said: str) -> None:
    result = flashwatt(*words)
    assert result.returncode == 2
    assert said in result.stderr


def test_a_trace_on_standard_input_is_a_trace(flashwatt: Cli, tmp_path: Path) -> None:
    whole = json.loads(flashwatt("run", "--preset", "x25m", TRACE, "--json").stdout)
    result = piped("run", "--preset", "x25m", "-", "--json", "--out", "out", stdin=TRACE.read_bytes(), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    read = json.loads(result.stdout)
    assert read["workload"] == {**whole["workload"], "name": "stdin"}
    assert read["energy_j"] == whole["energy_j"]
    with TRACE.open("rb") as file:  # a file on standard input is read in place, by the configuration that was kept, too
        command = [sys.executable, "-m", "flashwatt", "run", "out/config.toml", "--json"]
        again = subprocess.run(command, cwd=tmp_path, stdin=file, capture_output=True, check=True, timeout=120)
    assert json.loads(again.stdout)["config_sha256"] == read["config_sha256"]


def test_quiet_prints_errors_only(flashwatt: Cli, config: Path) -> None:
    result = flashwatt("run", TRACE, "--quiet", "--series", "--out", "out")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    wrong = flashwatt("run", config, "--quiet", "--out", "out", "--set", "device.chanels=1")
    assert "device.chanels" in wrong.stderr
    stopped = flashwatt("run", config, "--quiet", "--out", "out", "--set", "run.max_flash_ops=100")
    assert (stopped.returncode, stopped.stdout) == (1, "")
    assert "budget of 100 reached" in stopped.stderr


def test_try_leaves_a_picture_and_commands_that_work(flashwatt: Cli, tmp_path: Path) -> None:
    result = flashwatt("try", "bursts", "--out", "first")
    assert result.returncode == 0, result.stderr
    assert "Energy by component" in result.stdout
    named = [tmp_path / name for name in re.findall(r"^  (first/\S+) ", result.stdout, re.MULTILINE)]
    assert len(named) == 4
    assert all(path.stat().st_size > 0 for path in named)
    commands = re.findall(r"^  flashwatt ([^#\n]*)", result.stdout, re.MULTILINE)
    assert len(commands) == 5
    for command in commands:
        again = flashwatt(*shlex.split(command.replace("TRACE", str(TRACE))))
        assert again.returncode == 0, again.stderr


def test_try_alone_lists_the_names(flashwatt: Cli) -> None:
    result = flashwatt("try")
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert [line.split()[:3] for line in lines] == [["flashwatt", "try", name] for name in ("bursts", "modern")]
    wrong = flashwatt("try", "moden")
    assert wrong.returncode == 2
    assert "unknown example; found `moden`; expected one of `bursts`, `modern`; did you mean `modern`?" in wrong.stderr


@pytest.mark.parametrize(
    ("words", "step"),
    [
        (("run", "small.toml", "--out", "out"), "next: flashwatt compare out OTHER"),
        (("list", "presets"), "next: flashwatt run --preset NAME"),
        (("trace", "info", TRACE), f"next: flashwatt run {TRACE}"),
        (
            ("age", "small.toml", "--out", "a.fw"),
            """ --set 'run.precondition.snapshot="a""",
        ),
        (("init", "--out", "mine.toml"), "next: flashwatt run mine.toml"),
    ],
)
def test_a_command_names_the_next_step(config: Path, tmp_path: Path, words: tuple[object, ...], step: str) -> None:
    assert step in on_a_terminal(*words, cwd=tmp_path)


def test_programs_are_told_no_next_step(config: Path, tmp_path: Path, flashwatt: Cli) -> None:
    assert "next:" not in on_a_terminal("run", config, "--json", cwd=tmp_path)
    assert "next:" not in on_a_terminal("run", config, "--quiet", "--out", "out", cwd=tmp_path)
    piped_out = flashwatt("list", "presets")
    assert "next:" not in piped_out.stdout + piped_out.stderr


def test_every_command_has_a_next_step() -> None:
    import click

    from flashwatt.cli.main import cli
    from flashwatt.cli.next_step import _STEPS

    names = set()
    for name, command in cli.commands.items():
        inner = command.commands if isinstance(command, click.Group) else {}
        names |= {f"{name} {one}" for one in inner} or {name}
    assert names - set(_STEPS) == {"schema", "try", "version"}


def test_a_scheduler_needs_no_configuration(flashwatt: Cli, tmp_path: Path) -> None:
    """With a file that has parameters for that scheduler, these stay."""
    done = flashwatt("run", "--scheduler", "mq_deadline", "--requests", 100, "--json")
    assert json.loads(done.stdout)["host"]["scheduler"] == "mq_deadline"
    assert "the drive is the default preset, x25m" in done.stderr
    (tmp_path / "d.toml").write_text("device.preset = 'x25m'\nhost.scheduler.deadline.fifo_batch = 3\n")
    for name, kept in (("deadline", {"fifo_batch": 3}), ("noop", {})):
        done = flashwatt("run", "d.toml", "--scheduler", name, "--requests", 100, "--json")
        chosen = json.loads(done.stdout)["config"]["host"]["scheduler"]
        assert chosen["name"] == name
        assert {key: value for key, value in chosen["parameters"].items() if key in kept} == kept
