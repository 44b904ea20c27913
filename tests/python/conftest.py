"""Fixtures that the tests share: small configurations, a saved report, and the command line as a user starts it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

DATA = Path(__file__).parent / "data"
CONFIG = """\
[device]
preset = "x25m"

[workload.uniform]
requests = 2_000
request_bytes = 4096
read_fraction = 0.5
"""

Cli: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Write a small run's configuration file."""
    path = tmp_path / "small.toml"
    path.write_text(CONFIG)
    return path


@pytest.fixture
def report() -> dict[str, Any]:
    """Load a complete report with a power series, made by hand to the contract."""
    loaded: dict[str, Any] = json.loads((DATA / "report.json").read_text())
    return loaded


@pytest.fixture
def flashwatt(tmp_path: Path) -> Cli:
    """Start the command line in an empty directory, with nothing on standard input."""

    def start(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "flashwatt", *map(str, arguments)]
        return subprocess.run(
            command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120
        )

    return start


def spelled_out(preset: str) -> tuple[str, int]:
    """Uncomment every value of a preset in its template; also count the values."""
    from flashwatt.config import reference
    from flashwatt.config.template import template

    _, settings = reference.preset(preset)
    lines, table, uncommented = [], "", 0
    for line in template(preset).splitlines():
        table = line.strip("[]") if line.startswith("[") else table
        name = re.match(r"#(\w+) = ", line)
        given = name is not None and f"{table}.{name[1]}" in settings
        lines.append(line[1:] if given else line)
        uncommented += given
    return "\n".join(lines), uncommented
