"""Types: scripts of users pass the strictest check, and mistakes in them are found."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import DATA

SCRIPT = DATA / "user_script.py"
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.fixture(scope="module")
def cache(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What mypy knows of the package and its libraries. It checks again what has changed since it wrote that."""
    kept = getattr(request.config, "cache", None)  # it is not there with `-p no:cacheprovider`
    return Path(kept.mkdir("mypy")) if kept else tmp_path_factory.mktemp("mypy")


def mypy(directory: Path, cache: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    """Check files as a user would, with no configuration of this project."""
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), *map(str, files)]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False, timeout=300)


def test_scripts_and_examples_pass(tmp_path: Path, cache: Path) -> None:
    copies = [Path(shutil.copy(example, tmp_path / f"example_{example.name}")) for example in EXAMPLES]
    result = mypy(tmp_path, cache, SCRIPT, *copies)
    assert result.returncode == 0, result.stdout
    assert f"{len(EXAMPLES) + 1} source files" in result.stdout


def test_mistakes_are_found(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "wrong.py").write_text(
        "import flashwatt\n"
        "report = flashwatt.run('drive.toml')\n"
        "report.energy_j.nand.programm\n"
        "report.power_w.peak + 1\n"
        "flashwatt.run(seed='one')\n"
    )
    wrong = mypy(tmp_path, cache, tmp_path / "wrong.py")
    for line, said in ((3, 'has no attribute "programm"'), (4, "Unsupported operand"), (5, "incompatible type")):
        assert f"wrong.py:{line}: error: " in wrong.stdout
        assert said in wrong.stdout


def test_the_script_runs(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "power.svg").exists()
