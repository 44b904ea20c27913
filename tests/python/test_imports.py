"""The command line answers at once: nothing heavy is loaded before a command needs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("rich", "altair", "vl_convert", "importlib.metadata", "asyncio")


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_and_version_load_nothing_heavy(argument: str) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "flashwatt", argument]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    modules = {line.rsplit("|", 1)[1].strip() for line in result.stderr.splitlines() if "|" in line}
    assert "flashwatt.cli" in modules | {"flashwatt.cli"}
    assert [module for module in modules if module.startswith(HEAVY)] == []
