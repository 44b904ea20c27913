"""Completion in bash, as the shell asks for it: words, the number of the current one, and lines of candidates."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete, get_completion_class

from flashwatt.cli import completion
from flashwatt.cli.commands import COMMANDS
from flashwatt.cli.main import cli


def completer() -> ShellComplete:
    kind = get_completion_class("bash")
    assert kind is completion.Bash
    return kind(cli, {}, "flashwatt", "_FLASHWATT_COMPLETE")


def completed(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    monkeypatch.setenv("COMP_WORDS", "\n".join(("flashwatt", *words)))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    return [line.partition(",")[2] for line in completer().complete().splitlines() if line.startswith("plain,")]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("run", "--preset", "tlc-nv"), ["tlc-nvme-1t"]),
        (("try", "mod"), ["modern"]),
        (("run", "--scheduler", "mq_"), ["mq_deadline"]),
        (("list", "schedulers", "pard"), ["pardispatcher"]),
        (("init", "x25m-"), ["x25m-calibrated"]),
        (("run", "d.toml", "--set", "device.timing.re"), ["device.timing.read_ns="]),
        (("run", "d.toml", "--set", "gc.policy", "=", "co"), ["cost_benefit", "cost_age_times"]),
        (("age", "d.toml", "--set", "device.nand.copyback", "="), ["true", "false"]),
        (("run", "--set", "no.such.key", "="), []),
        (("explain", "efficiency.kwh"), ["efficiency.kwh_per_month"]),
        (("explain", "device.timing.read"), ["device.timing.read_ns"]),
        (("list", "w"), ["wear", "workloads"]),
        (("list", "ftls", "df"), ["dftl"]),
        (("list", "experiments", "X22"), ["X22"]),
        (("reproduce", "X2"), ["X2", *(f"X2{number}" for number in range(10))]),
        (("reproduce", "--paper", "ener"), ["energysim"]),
        (("run", "t.csv", "--format", "sp"), ["spc"]),
        (("run", "--quie"), ["--quiet"]),
        (("sweep", "--metrics", "energy_j.total,power_w.p"), ["energy_j.total,power_w.peak"]),
        (("sweep", "--x", "latency_ns.read.p99_"), ["latency_ns.read.p99_9"]),
    ],
)
def test_names_are_completed(monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], found: list[str]) -> None:
    assert completed(monkeypatch, *words) == found


def test_every_key_and_its_values_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is completed as a value is a value: the engine accepts each, one at a time."""
    from flashwatt import Config

    for key in ("device.preset", "ftl", "energy.mode", "device.nand.program_order", "run.seed", "gc.preemptible"):
        values = completed(monkeypatch, "run", "--set", key, "=")
        assert values
        for value in values:
            assert Config(sets=(f"{key}={value}",)).resolve()


def test_a_process_that_the_shell_starts_completes_behind_an_equals_sign() -> None:
    """Bash gives `gc.policy=co` as three words; click alone would replace the key as well."""
    words = "flashwatt run --set gc.policy = co"
    asked = {"_FLASHWATT_COMPLETE": "bash_complete", "COMP_WORDS": words.replace(" ", "\n"), "COMP_CWORD": "5"}
    command = [
        sys.executable,
        "-c",
        "import sys; sys.argv[0] = 'flashwatt'; from flashwatt.__main__ import main; main()",
    ]
    done = subprocess.run(command, env={**os.environ, **asked}, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["plain,cost_benefit", "plain,cost_age_times"]


def test_commands_and_options_of_the_program_are_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert completed(monkeypatch, "ca") == ["calibrate"]
    assert completed(monkeypatch, "--ver") == ["--version"]
    assert set(completed(monkeypatch, "")) == {name for name in COMMANDS if not cli.commands[name].hidden}


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash: NOT TESTED HERE")
def test_the_script_is_bash() -> None:
    script = completer().source()
    assert "compopt -o nospace" in script
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False, timeout=60).returncode == 0
