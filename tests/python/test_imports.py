"""The command line starts fast: heavy libraries are loaded by the commands that need them."""

from __future__ import annotations

import doctest
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import flashwatt
from flashwatt import power_cuts
from flashwatt.cli.commands import COMMANDS
from flashwatt.config import config
from flashwatt.report import report

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = ("rich", "altair", "vl_convert", "polars", "importlib.metadata", "asyncio", "concurrent", "multiprocessing")


AT_THE_END = "import atexit, sys; atexit.register(lambda: sys.stderr.write('\\n'.join(['', *sys.modules]))); "


def modules(code: str, *arguments: str) -> set[str]:
    """Name the modules that a program has loaded at its end."""
    words = [sys.executable, "-c", AT_THE_END + code, *arguments]
    result = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    return set(result.stderr.splitlines())


def of_command(*arguments: str) -> set[str]:
    return modules("from flashwatt.__main__ import main; main()", *arguments)


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_and_version_load_no_command(argument: str) -> None:
    loaded = of_command(argument)
    assert "flashwatt.cli.terminal" in loaded
    assert [module for module in loaded if module.startswith(HEAVY)] == []
    assert [name for name in defining() if f"flashwatt.cli.{name}" in loaded] == []


@pytest.mark.parametrize("name", ["explain", "battery", "crash", "trace"])
def test_the_help_of_a_command_loads_no_other_one(name: str) -> None:
    loaded = of_command(name, "--help")
    assert [module for module in loaded if module.startswith(HEAVY)] == []
    assert [one for one in defining() if f"flashwatt.cli.{one}" in loaded] == [name]


def defining() -> list[str]:
    """Name the modules that define commands."""
    return sorted({one.module for one in COMMANDS.values()})


def test_a_run_loads_no_frames_and_no_plots() -> None:
    loaded = modules("import flashwatt; flashwatt.run(workload__uniform__requests=10).energy_j.total")
    assert "flashwatt.report.report" in loaded
    assert [module for module in loaded if module.startswith(HEAVY)] == []


def test_a_run_of_the_command_line_loads_neither_tables_nor_classes_of_sections() -> None:
    loaded = of_command("run", "--preset", "x25m", "--set", "workload.uniform.requests=1", "--json")
    assert "flashwatt.report.report" in loaded
    unused = (
        *HEAVY,
        "flashwatt.report.sections",
        "flashwatt.report.shape",
        "flashwatt.report.table",
        "hashlib",
        "shutil",
    )
    assert [module for module in loaded if module.startswith(unused)] == []
    assert [name for name in defining() if f"flashwatt.cli.{name}" in loaded] == ["run"]


def test_a_run_that_draws_nothing_loads_no_plots(tmp_path: Path) -> None:
    one = ("--preset", "x25m", "--set", "workload.uniform.requests=1")
    loaded = of_command("run", *one, "--quiet", "--out", str(tmp_path / "out"))
    assert [module for module in loaded if module.startswith(HEAVY)] == []


@pytest.mark.parametrize("module", [flashwatt, config, report, power_cuts], ids=lambda module: module.__name__)
def test_examples_in_docstrings_work(module: object) -> None:
    failed, attempted = doctest.testmod(module, extraglobs={"flashwatt": flashwatt})  # type: ignore[arg-type]
    assert (failed, attempted > 0) == (0, True)
