"""tools/venv.sh where Python lacks its venv module: a system package is installed only if that is allowed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools/venv.sh"
STUBS = {
    "python": """case "$*" in
  *"import ensurepip"*|*"import pip"*) exit 1 ;;
  "-m venv "*) shift 2; set -- -m venv --without-pip "$@" ;;  # to unpack pip takes three seconds
esac
exec "$REAL" "$@\"""",
    "apt-get": 'echo "$*" >> "$LOG"',
    "sudo": 'exec "$@"',
    "id": 'echo "$NUMBER"',
}

pytestmark = pytest.mark.skipif(
    not SCRIPT.exists() or not shutil.which("bash"), reason="needs the repository and bash: NOT TESTED HERE"
)


@pytest.mark.parametrize(
    ("user", "setting", "installs"),
    [("1000", {}, False), ("1000", {"FLASHWATT_APT": "yes"}, True), ("0", {}, True)],
)
def test_a_system_package_is_installed_only_if_allowed(
    tmp_path: Path, user: str, setting: dict[str, str], installs: bool
) -> None:
    for name, text in STUBS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    log = tmp_path / "apt.log"
    environment = {
        **{name: value for name, value in os.environ.items() if name != "FLASHWATT_APT"},
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHON": "python",
        "REAL": sys.executable,
        "LOG": str(log),
        "NUMBER": user,
        **setting,
    }
    said = subprocess.run(
        ["bash", SCRIPT, tmp_path / "venv"],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "apt-get install -y --no-install-recommends python3-venv" in said.stderr
    assert log.exists() == installs
    assert (said.returncode == 0) == installs, said.stderr
    assert (tmp_path / "venv/bin/python").exists() == installs
