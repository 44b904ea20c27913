"""Drives that are saved once and begun from many times: `flashwatt age` and `run.precondition.snapshot`."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt
from flashwatt.sweeps.task import Hashes, defined

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

DRIVE = """
[device]
preset = "limit"
channels = 2
blocks_per_plane = 16
pages_per_block = 16
op_ratio = 0.6
[workload.uniform]
requests = 500
[run]
precondition = "steady"
"""


@pytest.fixture(name="cli")
def _cli(request: pytest.FixtureRequest) -> Cli:
    """Start the command line; the fixture that does it has the name of the module."""
    start: Cli = request.getfixturevalue("flashwatt")
    return start


@pytest.fixture
def drive(tmp_path: Path) -> Path:
    """A configuration of a small drive."""
    path = tmp_path / "drive.toml"
    path.write_text(DRIVE)
    return path


def _figures(report: flashwatt.Report) -> dict[str, Any]:
    return {
        key: value
        for key, value in report.to_dict().items()
        if key not in ("config", "config_sha256", "snapshot", "engine")
    }


def test_a_drive_is_aged_once_and_run_from(drive: Path, cli: Cli) -> None:
    """The command says what it saved, a run from it is the run in place, and the report names the file."""
    file = drive.with_name("aged.fw")
    done = cli("age", drive, "-o", file, "--json")
    assert done.returncode == 0, done.stderr
    saved = json.loads(done.stdout)
    content = file.read_bytes()
    assert (saved["bytes"], saved["sha256"]) == (len(content), sha256(content).hexdigest())
    report = flashwatt.run(str(drive), run__precondition={"snapshot": str(file)})
    assert _figures(report) == _figures(flashwatt.run(str(drive)))
    assert report.snapshot is not None
    assert (report.snapshot.file, report.snapshot.sha256) == ("aged.fw", saved["sha256"])
    assert report.config["run"]["precondition"] == {"snapshot": "aged.fw"}
    assert flashwatt.run(str(drive)).snapshot is None


def test_a_snapshot_replaces_snapshots_only(drive: Path, cli: Cli) -> None:
    """Another file stays unless --force is given; what is read stays in any case."""
    file = drive.with_name("aged.fw")
    flashwatt.age(str(drive), to=file)
    flashwatt.age(str(drive), to=file)
    file.write_text("a letter")
    with pytest.raises(flashwatt.FlashwattError, match="a file that is not a snapshot written by flashwatt"):
        flashwatt.age(str(drive), to=file)
    assert file.read_text() == "a letter"
    flashwatt.age(str(drive), to=file, force=True)
    with pytest.raises(flashwatt.FlashwattError, match="a file that is read"):
        flashwatt.age(str(drive), to=file, force=True, run__precondition__snapshot=str(file))
    done = cli("age", drive, "-o", drive, "--force")
    assert done.returncode != 0
    assert "a file that is read" in done.stderr
    assert drive.read_text() == DRIVE


def test_the_workload_can_run_first(drive: Path) -> None:
    """Its erases stay as wear."""
    file = drive.with_name("worn.fw")
    saved = flashwatt.age(str(drive), to=file, run_workload=True, workload__uniform__requests=3000)
    report = flashwatt.run(str(drive), run__precondition__snapshot=str(file))
    assert saved["erases"] > 0
    assert report.wear.erase_count.mean * 16 * 2 >= saved["erases"] / 8


def test_the_same_requests_after_a_run_of_them_are_warned_of(drive: Path) -> None:
    """The run overwrites what the preparation has written last; with another seed, or without that run, it does not."""
    worn, laid = drive.with_name("worn.fw"), drive.with_name("laid.fw")
    keys = {"workload__uniform__requests": 300}
    flashwatt.age(str(drive), to=worn, run_workload=True, **keys)
    flashwatt.age(str(drive), to=laid, **keys)

    def warned(file: Path, seed: int) -> bool:
        report = flashwatt.run(str(drive), seed=seed, run__precondition__snapshot=str(file), **keys)
        return any("the same requests come again" in warning for warning in report.warnings)

    assert [warned(worn, 1), warned(worn, 2), warned(laid, 1)] == [True, False, False]


def test_a_snapshot_of_another_drive_is_refused(drive: Path, cli: Cli) -> None:
    """The message names the key and both values."""
    file = drive.with_name("aged.fw")
    flashwatt.age(str(drive), to=file)
    done = cli("run", drive, "--set", f'run.precondition={{snapshot="{file}"}}', "--set", "device.channels=4")
    assert done.returncode != 0
    assert "aged.fw: device.channels: the snapshot is of another drive; found 2 in the snapshot" in done.stderr
    with pytest.raises(flashwatt.FlashwattError, match=r"aged\.fw\.not: no such file; did you mean"):
        flashwatt.run(str(drive), run__precondition__snapshot=str(file) + ".not")


def test_a_study_knows_a_snapshot_by_its_content(drive: Path) -> None:
    """Another file of the same name makes other tasks, as another trace does."""
    file = drive.with_name("aged.fw")
    config = flashwatt.Config.of(str(drive)).override(run__precondition__snapshot=str(file))
    ids = set()
    for seed in (1, 2):
        flashwatt.age(str(drive), to=file, seed=seed)
        ids.add(defined(config, {}, Hashes())[0].id)
    assert len(ids) == 2
