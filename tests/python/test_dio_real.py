"""`flashwatt dio` on real files: without --write they are only read, and they always keep their size."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from flashwatt import _core
from flashwatt.dio import power
from flashwatt.dio.guard import in_the_way, signature_of, uses
from flashwatt.dio.power import Readings, read_csv, resampled, unwrapped
from flashwatt.dio.real import Real

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Cli

KIB, MIB = 1 << 10, 1 << 20


def mode(directory: Path) -> list[str]:
    """Nothing where O_DIRECT works; --buffered on a file system that refuses it."""
    probe = directory / "probe"
    probe.write_bytes(bytes(4 * KIB))
    try:
        Real(probe)
    except _core.FlashwattError as error:
        if "expected a file on another one (tmpfs refuses it), or --buffered" not in str(error):
            raise
        return ["--buffered"]
    return []


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A file of 1 MiB of data."""
    path = tmp_path / "full.bin"
    path.write_bytes(os.urandom(MIB))
    return path


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A file of 4 MiB of zeros."""
    path = tmp_path / "empty.bin"
    with path.open("wb") as file:
        file.truncate(4 * MIB)
    return path


def state(path: Path) -> tuple[str, int, int]:
    found = path.stat()
    return hashlib.sha256(path.read_bytes()).hexdigest(), found.st_mtime_ns, found.st_size


def test_a_real_target_is_not_written_without_the_flag(flashwatt: Cli, full: Path, tmp_path: Path) -> None:
    before = state(full)
    extra = mode(tmp_path)
    for arguments in ([], ["--threads", "--queue-depth", "4"], ["--idle", "0.1"]):
        done = flashwatt("dio", "full.bin", "--sizes", "4KiB,64KiB", "--bytes", "256KiB", *arguments, *extra, "--json")
        assert done.returncode == 0, done.stderr
        content = json.loads(done.stdout)
        assert content["written"] == {"bytes": 0, "until_byte": 0, "under_way": None}
        assert {one["pattern"] for one in content["points"]} == {"sequential read", "random read"}
    for wish in (["--patterns", "randwrite"], ["--burst", "1"], ["--buffer-probe"], ["--prepare", "1MiB"]):
        done = flashwatt("dio", "full.bin", *wish, *extra)
        assert done.returncode == 2
        assert "it writes; found no --write" in done.stderr
    assert state(full) == before


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_strace_sees_the_target_opened_for_reading_only(full: Path, tmp_path: Path) -> None:
    log = tmp_path / "strace.log"
    command = ["strace", "-f", "-o", str(log), "-e", "trace=open,openat,openat2,creat,truncate,ftruncate,unlink,rename"]
    command += [sys.executable, "-m", "flashwatt", "dio", str(full), "--sizes", "4KiB", "--bytes", "64KiB"]
    done = subprocess.run([*command, *mode(tmp_path)], capture_output=True, text=True, check=False, timeout=120)
    if done.returncode and "ptrace" in done.stderr:
        pytest.skip("this system does not allow strace")
    assert done.returncode == 0, done.stderr
    calls = [line for line in log.read_text().splitlines() if "full.bin" in line]
    assert calls, "it was opened"
    for line in calls:
        assert re.search(r"open(at)?\(.*O_RDONLY", line), line
        assert not re.search(r"O_(RDWR|WRONLY|CREAT|TRUNC)", line), line


def test_writes_reach_an_empty_file_that_keeps_its_size(flashwatt: Cli, empty: Path, tmp_path: Path) -> None:
    arguments = ("--write", "--sizes", "4KiB,64KiB", "--bytes", "512KiB", "--span", "1MiB", "--json")
    content = json.loads(flashwatt("dio", "empty.bin", *arguments, *mode(tmp_path)).stdout)
    assert content["written"] == {"bytes": 2 * MIB, "until_byte": MIB, "under_way": None}
    data = empty.read_bytes()
    assert len(data) == 4 * MIB
    assert any(data[:MIB])
    assert not any(data[MIB:])  # nothing beyond the span


@pytest.mark.parametrize("engine", [[], ["--threads"], ["--queue-depth", "3"]])
def test_sequential_writes_leave_no_block_out(flashwatt: Cli, empty: Path, tmp_path: Path, engine: list[str]) -> None:
    arguments = ("--write", "--patterns", "seqwrite", "--sizes", "4KiB", "--bytes", "4MiB", *engine)
    assert flashwatt("dio", "empty.bin", *arguments, *mode(tmp_path)).returncode == 0
    data = empty.read_bytes()
    assert all(any(data[at : at + 4 * KIB]) for at in range(0, 4 * MIB, 4 * KIB))


def started(tmp_path: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "flashwatt", "dio", "empty.bin", "--write", "--out", "o", *arguments]
    return subprocess.Popen(
        [*command, *mode(tmp_path)], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def await_result(path: Path, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if path.exists() and wanted(content := json.loads(path.read_text())):
            return content
        time.sleep(0.02)
    raise AssertionError("the result never came so far")


LONG = ("--sizes", "4KiB", "--bytes", "1GiB", "--seconds", "60")


def test_a_killed_run_leaves_the_size_and_says_what_it_was_writing(empty: Path, tmp_path: Path) -> None:
    process = started(tmp_path, *LONG, "--patterns", "randwrite")
    path = tmp_path / "o/dio.json"
    await_result(path, lambda content: content["written"]["under_way"] is not None)
    time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    content = json.loads(path.read_text())
    assert content["status"] == "incomplete"
    assert content["written"] == {"bytes": 0, "until_byte": 4 * MIB, "under_way": "random writes of 4096 bytes"}
    data = empty.read_bytes()
    assert len(data) == 4 * MIB
    assert any(data)


def test_ctrl_c_keeps_the_points_and_says_what_was_written(empty: Path, tmp_path: Path) -> None:
    process = started(tmp_path, "--sizes", "4KiB,8KiB", "--bytes", "1GiB", "--seconds", "0.2")
    path = tmp_path / "o/dio.json"
    await_result(path, lambda content: len(content["points"]) >= 5)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    content = json.loads(path.read_text())
    assert content["status"] == "interrupted"
    assert len(content["points"]) >= 5
    assert "seqread" in stdout
    points = r"\d+ points(?: and \d+ requests of the next)?"
    said = rf"interrupted after {points}, kept in o/dio.json; written: (.*) into the first 4 MiB"
    written = re.search(said, stderr)
    assert written, stderr
    assert content["written"]["bytes"] > 0
    assert empty.stat().st_size == 4 * MIB


def test_a_file_with_data_is_written_only_if_its_name_is_given_again(
    flashwatt: Cli, full: Path, tmp_path: Path
) -> None:
    before, extra = state(full), mode(tmp_path)
    arguments = ("dio", "full.bin", "--write", "--sizes", "4KiB", "--bytes", "16KiB", *extra)
    for more, said in (
        ([], "full.bin: not empty; found data; expected an empty target, or --overwrite full.bin, which loses that"),
        (["--overwrite", "fully.bin"], "another name than the target's; found fully.bin; expected full.bin"),
    ):
        done = flashwatt(*arguments, *more)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert state(full) == before
    assert flashwatt(*arguments, "--overwrite", "full.bin").returncode == 0
    assert state(full)[0] != before[0]
    assert state(full)[2] == before[2]


def test_the_name_is_asked_for_on_a_terminal(full: Path, tmp_path: Path) -> None:
    import pty

    command = [sys.executable, "-m", "flashwatt", "dio", "full.bin", "--write", "--sizes", "4KiB", "--bytes", "4KiB"]
    for typed, status in (("yes", 2), ("full.bin", 0)):
        before = state(full)
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [*command, *mode(tmp_path)], cwd=tmp_path, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        os.write(ours, f"{typed}\n".encode())
        _, stderr = process.communicate(timeout=60)
        os.close(ours)
        os.close(theirs)
        assert process.returncode == status, stderr
        assert (state(full) == before) is (status == 2)


def test_what_stands_on_a_target_is_named(tmp_path: Path) -> None:
    path = tmp_path / "image"
    for at, magic, said in (
        (1080, b"\x53\xef", "an ext2, ext3 or ext4 file system"),
        (512, b"EFI PART", "a partition table (GPT)"),
        (510, b"\x55\xaa", "a partition table (MBR)"),
        (4086, b"SWAPSPACE2", "swap space"),
        (70_000, b"x", "data"),
    ):
        head = bytearray(128 * KIB)
        head[at : at + len(magic)] = magic
        path.write_bytes(head)
        assert in_the_way(path) == [said]
    path.write_bytes(bytes(128 * KIB))
    assert in_the_way(path) == []
    fat = bytearray(1024)
    fat[82:90], fat[510:512] = b"FAT32   ", b"\x55\xaa"
    assert signature_of(bytes(fat)) == "a FAT file system"


def test_data_behind_a_hole_is_found(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(64 * MIB)
        file.seek(48 * MIB + 5)
        file.write(b"x")
    assert in_the_way(path) == ["data"]


def test_mounts_holders_and_partitions_of_a_device_are_found(tmp_path: Path) -> None:
    device = tmp_path / "sys/dev/block/8:16"
    (device / "sdb1/holders").mkdir(parents=True)
    (device / "sdb1/dev").write_text("8:17\n")
    (device / "sdb1/partition").write_text("1\n")
    (device / "queue").mkdir()
    (tmp_path / "sys/dev/block/8:17/holders/dm-0").mkdir(parents=True)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 1 8:17 / /data rw - ext4 /dev/sdb1 rw\n"
    )
    assert uses("8:16", tmp_path) == ["a file system that is mounted at /data", "used by dm-0"]
    assert uses("8:32", tmp_path) == []


def test_holes_are_warned_of(empty: Path) -> None:
    (warning,) = Real(empty, buffered=True).warnings()[1:]
    assert "100 % of" in warning
    assert "reads of them do not reach the drive" in warning


MS = 1_000_000


def test_a_reading_holds_until_the_next_one() -> None:
    """1, 2, 3 and 4 W from 0, 1, 2 and 3 ms: from 0.5 to 2.5 ms they are 0.5 + 2 + 1.5 mJ."""
    readings = Readings("meter", [0, MS, 2 * MS, 3 * MS], {"5V": [1, 2, 3, 4], "12V": [10, 10, 10, 10]})
    found = readings.over(MS // 2, 5 * MS // 2)
    assert found is not None
    assert found.energy_j == pytest.approx(4e-3 + 20e-3)
    assert found.mean_w == pytest.approx(12)
    assert found.rails["5V"] == pytest.approx([0.5 * 1 + 0.5 * 2, 0.5 * 2 + 0.5 * 3])
    assert found.watts == pytest.approx([11.5, 12.5])
    assert readings.over(-MS, MS) is None
    assert readings.over(MS, 9 * MS) is None


def test_a_gap_in_the_readings_covers_nothing() -> None:
    times = [n * MS for n in range(10)] + [1000 * MS, 1001 * MS]
    readings = Readings("meter", times, {"all": [1.0] * 12})
    assert readings.over(0, 8 * MS) is not None
    assert readings.over(500 * MS, 501 * MS) is None
    assert readings.over(5 * MS, 1001 * MS) is None


def test_readings_are_brought_to_one_millisecond() -> None:
    assert resampled([2.0], [0.0035]) == pytest.approx([2, 2, 2, 2])
    assert resampled([1.0, 3.0], [0.0005, 0.0005]) == pytest.approx([2])


def test_a_counter_that_wraps_goes_on() -> None:
    assert list(unwrapped([90, 99, 3, 10], 99)) == [90, 99, 103, 110]
    with pytest.raises(_core.FlashwattError, match="goes back; found 3 after 99"):
        list(unwrapped([99, 3], None))


def test_volts_and_amperes_by_rail_and_times_of_two_kinds(tmp_path: Path) -> None:
    path = tmp_path / "meter.csv"
    path.write_text("time_ms,volts_5v,amperes_5v,watts_12v\n0,5,0.2,3\n1,5,0.4,3\n")
    readings = read_csv(path, 1_700_000_000_000_000_000, 0.5)
    assert readings.window_ns == (1_700_000_000_500_000_000, 1_700_000_000_501_000_000)
    found = readings.over(*readings.window_ns)
    assert found is not None
    assert {rail: list(watts) for rail, watts in found.rails.items()} == {
        "5V": pytest.approx([1.0]),
        "12V": pytest.approx([3.0]),
    }
    path.write_text("time,watts\n1700000000.0,1\n1700000000.5,2\n")
    assert read_csv(path, 5, 0).window_ns == (1_700_000_000_000_000_000, 1_700_000_000_500_000_000)


def test_the_power_of_a_csv_fills_the_energy_columns(flashwatt: Cli, full: Path, tmp_path: Path) -> None:
    """A meter that says 2 W at 5 V all the time; the result has it whether it comes with the run or after it."""
    arguments = ("dio", "full.bin", "--sizes", "4KiB", "--bytes", "64KiB", *mode(tmp_path))
    lines = ["time_s,watts_5v"] + [f"{ms / 1000},2" for ms in range(-1000, 60_000)]
    (tmp_path / "meter.csv").write_text("\n".join(lines))
    content = json.loads(flashwatt(*arguments, "--power", "meter.csv", "--json").stdout)
    assert content["power"] == {"source": "meter.csv", "rails": ["5V"], "interval_ns": MS}
    for one in content["points"]:
        assert one["power_w"]["mean"] == pytest.approx(2)
        assert one["j_per_mb"] == pytest.approx(2 * one["seconds"] / 0.065536)
    assert flashwatt(*arguments, "--out", "o").returncode == 0
    empty = json.loads((tmp_path / "o/dio.json").read_text())
    assert {one["j_per_mb"] for one in empty["points"]} == {None}
    assert not (tmp_path / "o/energy.svg").exists()
    assert flashwatt("dio", "o", "--power", "meter.csv").returncode == 0
    assert (tmp_path / "o/energy.svg").exists()
    filled = json.loads((tmp_path / "o/dio.json").read_text())
    assert all(one["power_w"]["mean"] == pytest.approx(2) for one in filled["points"])
    assert "2.00 W" in flashwatt("compare", "o", "o", "--only", "w").stdout


def test_a_meter_of_the_kernel_is_read_while_the_run_goes_on(
    flashwatt: Cli, full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hwmon3").mkdir()
    (tmp_path / "hwmon3/power1_input").write_text("3500000\n")
    arguments = ("--sizes", "4KiB", "--bytes", "1MiB", "--idle", "0.3", *mode(tmp_path))
    done = flashwatt("dio", "full.bin", *arguments, "--power", "hwmon3/power1_input", "--json")
    content = json.loads(done.stdout)
    assert content["power"]["source"] == "hwmon3/power1_input"
    assert content["probes"]["idle"]["power"]["mean_w"] == pytest.approx(3.5)
    assert all(one["power_w"]["mean"] == pytest.approx(3.5) for one in content["points"])


def test_a_counter_of_the_kernel_becomes_power(tmp_path: Path) -> None:
    path = tmp_path / "energy_uj"
    path.write_text("1000")
    meter = power.Meter(path)
    time.sleep(0.05)
    with path.open("r+b", buffering=0) as counter:  # in one call: a file that is emptied first may be read in between
        counter.write(b"5001000")
    time.sleep(0.05)
    readings = meter.stop()
    since, until = readings.window_ns
    found = readings.over(since, until)
    assert found is not None
    assert found.energy_j == pytest.approx(5.0)
