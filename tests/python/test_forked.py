"""Commands in forks (`forked.py`) do what the same commands do in processes that begin from nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import forked

if TYPE_CHECKING:
    from pathlib import Path

_TIMES = re.compile(r'"\w*(wall_s|cpu_s)": .*')
CONFIG = "[device]\npreset = 'park-1g'\n[workload.uniform]\nrequests = 20\n"


def from_nothing(arguments: list[str], cwd: Path, env: dict[str, str] | None = None) -> tuple[int, str, str]:
    words = [sys.executable, "-c", "import sys; sys.argv[0] = 'flashwatt'; import flashwatt.__main__ as m; m.main()"]
    done = subprocess.run(
        [*words, *arguments], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def in_a_fork(arguments: list[str], cwd: Path, env: dict[str, str] | None = None) -> tuple[int, str, str]:
    done = forked.run(arguments, cwd, env=env)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["run", "own.toml", "--quiet", "--json"],
        ["run", "own.toml", "--set", "device.chanels=1"],
        ["run", "missing.toml"],
        ["run", "own.toml", "--set", "run.max_flash_ops=3", "--quiet", "--json"],
        ["list", "presets"],
    ],
    ids=" ".join,
)
def test_status_and_output_are_those_of_a_process_from_nothing(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "own.toml").write_text(CONFIG)
    narrow = {**os.environ, "COLUMNS": "60"}
    found, expected = (way(arguments, tmp_path, narrow) for way in (in_a_fork, from_nothing))
    assert (found[0], found[2]) == (expected[0], expected[2])
    assert _TIMES.sub("", found[1]) == _TIMES.sub("", expected[1])


def test_pictures_are_those_of_a_process_from_nothing(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(CONFIG)
    for name, way in (("fork", in_a_fork), ("nothing", from_nothing)):
        assert way(["run", "own.toml", "--series", "--quiet", "--out", name], tmp_path) == (0, "", "")
    for name in ("power.svg", "power.html", "activity.html"):
        fork, nothing = (numbered((tmp_path / made / name).read_text("utf-8")) for made in ("fork", "nothing"))
        assert fork == nothing, name


def numbered(picture: str) -> str:
    """Number the clips of a picture from 1: a process that has drawn before goes on where it was."""
    names = list(dict.fromkeys(re.findall(r'id="(clip\d+)"', picture)))
    return re.sub(
        r"\bclip\d+\b", lambda found: f"clip-{names.index(found[0])}" if found[0] in names else found[0], picture
    )


def test_a_fork_shares_nothing_with_the_next_one(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(CONFIG)
    assert in_a_fork(["run", "own.toml", "--out", "o", "--quiet"], tmp_path) == (0, "", "")
    wrong = in_a_fork(["run", "nothing.toml"], tmp_path / "o", {"COLUMNS": "80"})
    assert wrong[0] == 2
    assert (tmp_path / "o/report.json").exists()
    assert not (tmp_path / "o/o").exists()


def test_a_command_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        forked.run(["run", "--preset", "x25m", "--set", "workload.uniform.requests=1000000000"], tmp_path, timeout=0.2)
