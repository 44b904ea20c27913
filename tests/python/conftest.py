"""Fixtures that the tests share: small configurations, a saved report, and the command line as a user starts it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from altair.utils import schemapi

import forked

if TYPE_CHECKING:
    import subprocess

DATA = Path(__file__).parent / "data"
CONFIG = """\
[device]
preset = "x25m"

[workload.uniform]
requests = 2_000
request_bytes = 4096
read_fraction = 0.5
"""

schemapi.disable_debug_mode()
"""Altair checks a chart as a whole, and not each of its parts as well, which takes as long again. Programs that tests
start have both checks; `test_forked.py` compares their pictures."""

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
        return forked.run([*map(str, arguments)], tmp_path)

    return start


LONGEST = (
    "test_browser",
    "test_readme",
    "test_calibrate",
    "test_reproduce",
    "test_sweep",
    "test_outputs",
    "test_cli",
    "test_dio",
    "test_examples",
    "test_typing",
    "test_linux_capture",
    "test_crash",
    "test_pictures",
)
"""Files that take longest, the longest first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files: each goes to a worker whole, and a long one at the end leaves others idle."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(LONGEST)))


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
