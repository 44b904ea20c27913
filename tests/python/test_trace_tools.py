"""Conversion, pictures, merging and changes of traces, as a user starts them."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt as package
from flashwatt import traces

if TYPE_CHECKING:
    from conftest import Cli

# device, first sector, bytes, operation, seconds
SPC = "0,16,4096,w,0.000\n0,24,4096,w,0.001\n0,80,8192,r,0.002\n1,8,512,R,0.500\n"
OTHER = "0,0,512,w,10.25\n1,4096,512,r,10.75\n"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Write a trace of four requests to two devices, and another of two beside it."""
    (tmp_path / "other.spc").write_text(OTHER)
    path = tmp_path / "four.spc"
    path.write_text(SPC)
    return path


def figures(path: Path, **options: Any) -> dict[str, Any]:
    """Everything about a trace but where it comes from."""
    info = traces.info(path, **options)
    besides = {"file", "sha256", "format", "units", "other_records", "warnings"}
    return {key: info[key] for key in info if key not in besides}


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.csv.zst", "t.fwt", "t.fwt.gz", "t.fwt.zst"])
def test_a_converted_trace_is_the_same_trace(flashwatt: Cli, trace: Path, tmp_path: Path, name: str) -> None:
    result = flashwatt("trace", "convert", trace.name, "--out", name)
    assert result.returncode == 0, result.stderr
    assert "4 requests" in result.stdout
    assert figures(tmp_path / name) == figures(trace)
    assert [path.name for path in tmp_path.glob("*.part")] == []


def test_conversion_is_told_as_json(flashwatt: Cli, trace: Path, tmp_path: Path) -> None:
    result = flashwatt("trace", "convert", trace.name, "--out", "bytes", "--to", "binary", "--json")
    assert result.returncode == 0, result.stderr
    done = json.loads(result.stdout)
    assert (done["file"], done["from"], done["format"], done["packing"]) == ("bytes", "four.spc", "binary", "plain")
    assert done["bytes"] == (tmp_path / "bytes").stat().st_size
    assert traces.info(tmp_path / "bytes")["sha256"] == done["sha256"]


def test_several_traces_are_merged_by_time(flashwatt: Cli, trace: Path) -> None:
    result = flashwatt("trace", "convert", trace.name, "other.spc", "--align-starts", "--out", "both.csv")
    assert result.returncode == 0, result.stderr
    lines = trace.with_name("both.csv").read_text().splitlines()
    assert [line.split(",")[:3] for line in lines[1:]] == [
        ["0.000", "0", "W"],
        ["0.000", "1", "W"],
        ["1000.000", "0", "W"],
        ["2000.000", "0", "R"],
        ["500000.000", "2", "R"],
        ["500000.000", "3", "R"],
    ]
    assert "device 1: device 0 of other.spc" in result.stdout
    assert "numbered anew" in result.stderr
    shared = traces.info([trace, trace.with_name("other.spc")], sets=["share_devices=true"])
    assert [device["requests"] for device in shared["devices"]] == [4, 2]
    assert shared["duration_s"] == 10.75


def test_a_run_of_several_traces(flashwatt: Cli, config: Path, trace: Path) -> None:
    paths = 'workload.trace.path=["four.spc", "other.spc"]'
    result = flashwatt("run", config, "--set", paths, "--json")
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["workload"]["name"] == "four.spc + other.spc"
    assert report["workload"]["requests"] == 6
    assert report["config"]["workload"]["trace"]["path"] == ["four.spc", "other.spc"]
    assert any("4 devices laid out one after another: 0 of file 1" in warning for warning in report["warnings"])
    assert trace.exists()


def test_the_size_for_dense_addresses_is_the_least_that_holds_them(flashwatt: Cli, trace: Path) -> None:
    assert traces.info(trace)["dense_bytes"] == 3 * 16384  # units 0 and 2 of device 0, unit 0 of device 1
    told = flashwatt("trace", "info", trace.name).stdout
    assert "49.2 kB: the size of a drive that holds it with dense = true" in told


def test_windows_devices_and_scales(trace: Path) -> None:
    def requests(*sets: str) -> int:
        return int(traces.info(trace, sets=sets)["requests"])

    assert requests("from_s=0.001", "until_s=0.5") == 2
    assert requests("devices=[1]") == 1
    assert requests("max_requests=3") == 3
    assert traces.info(trace, sets=["speed=2"])["duration_s"] == 0.25
    warnings = traces.info(trace, sets=["from_s=0.001"])["warnings"]
    assert warnings == ["1 request outside the window of time left out"]


def test_on_a_drive_it_is_what_a_replay_issues(flashwatt: Cli, trace: Path) -> None:
    result = flashwatt("trace", "convert", trace.name, "--drive", "32KiB", "--fold", "--out", "small.csv")
    assert result.returncode == 0, result.stderr
    assert "folded: address modulo 32768 bytes" in result.stderr
    assert traces.info(trace.with_name("small.csv"))["span_bytes"] <= 32768
    result = flashwatt("trace", "convert", trace.name, "--drive", "32KiB", "--out", "small.csv")
    assert result.returncode == 2
    assert "beyond the drive" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["four.spc", "--out", "t.foo"], "the name does not say what to convert to"),
        (["four.spc", "--out", "t.csv", "--fold"], "fold and clip need a drive"),
        (["four.spc", "--out", "four.spc", "--to", "csv"], "found a file that is read"),
        (["four.spc", "--out", "t", "--to", "binry"], "did you mean `binary`?"),
        (["four.spc", "--out", "t.csv", "--speed", "0"], "error: --speed: out of range"),
        (["four.spc", "--out", "t.csv", "--from", "3", "--until", "2"], "the window of time is empty"),
        (
            ["four.spc", "--out", "t.csv", "--drive", "big"],
            'expected a number in bytes, or in quotes with a unit: "4KiB"',
        ),
        (["four.spc", "--out", "t.csv", "--devices", "7"], "no request to a chosen device"),
    ],
)
def test_a_failed_conversion_is_a_message(
    flashwatt: Cli, trace: Path, tmp_path: Path, arguments: list[str], words: str
) -> None:
    before = trace.read_bytes()
    result = flashwatt("trace", "convert", *arguments)
    assert result.returncode == 2, result.stderr
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert trace.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["four.spc", "other.spc"]


def test_pictures_need_no_network(flashwatt: Cli, trace: Path, tmp_path: Path) -> None:
    trace.write_text(SPC + "0,16,4096,r,0.600\n")  # what was written is read again: a hit
    result = flashwatt("trace", "plot", trace.name, "--out", "out", "--json")
    assert result.returncode == 0, result.stderr
    profile = json.loads(result.stdout)
    assert sum(profile["time"]["reads"]) == 3
    assert sum(cell[3] for cell in profile["places"]["cells"]) == 2
    svg, page = (tmp_path / "out/trace.svg").read_text(), (tmp_path / "out/trace.html").read_text()
    assert svg.startswith("<svg")
    for words in ("four.spc: 3 reads, 2 writes", "requests per second", "size of a request", "LRU cache"):
        assert words in svg
    assert "vegaEmbed" in page
    assert "<script src" not in page
    assert "<link" not in page


def test_a_trace_of_flushes_alone_can_be_drawn(flashwatt: Cli, tmp_path: Path) -> None:
    (tmp_path / "flushes.csv").write_text("0,0,F,0,0\n5,0,F,0,0\n")
    result = flashwatt("trace", "plot", "flushes.csv", "--format", "csv", "--out", "out")
    assert result.returncode == 0, result.stderr


def test_formats_that_were_not_tried_say_so(flashwatt: Cli) -> None:
    listed = json.loads(flashwatt("list", "formats", "--json").stdout)
    assert len(listed) == 24
    untried = {name for name, line in listed.items() if line.endswith("(not tried on a real file)")}
    assert untried == {"fiu-iodedup", "tencent", "systor17", "vscsi-csv", "biotracer"}


def test_reading_tells_how_far_it_is(tmp_path: Path) -> None:
    path = tmp_path / "long.spc.gz"
    path.write_bytes(gzip.compress(b"0,16,4096,w,0.0\n" * 20_000) * 1000)
    told: list[tuple[int, int | None, str | None]] = []

    def progress(done: int, total: int | None, _now_ns: int, preparing: str | None) -> bool:
        told.append((done, total, preparing))
        return len(told) < 2

    with pytest.raises(package.RunInterruptedError, match="interrupted while a trace was read"):
        traces.info(path, progress=progress)
    assert all(preparing == "reading the trace" for _, _, preparing in told)
    assert all(total is None or total >= done for done, total, _ in told)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    "command",
    [["trace", "info"], ["trace", "convert", "--out", "t.csv"], ["run", "small.toml", "--trace"]],
    ids=["info", "convert", "run"],
)
def test_the_first_ctrl_c_is_heard_while_a_trace_is_read(config: Path, tmp_path: Path, command: list[str]) -> None:
    with (tmp_path / "long.csv.gz").open("wb") as long:
        long.writelines([gzip.compress(b"# no request\n" * 1_000_000 + b"0,0,R,0,512\n")] * 2000)
    process = subprocess.Popen(
        [sys.executable, "-m", "flashwatt", *command, "long.csv.gz", "--trace-format", "csv"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert config.exists()
    with process:
        wait_until_it_reads(process)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT, stderr
    assert stdout == ""
    assert "flashwatt: error: interrupted while a trace was read (" in stderr
    assert not (tmp_path / "t.csv").exists()
    assert not (tmp_path / "t.csv.part").exists()


def wait_until_it_reads(process: subprocess.Popen[str]) -> None:
    """Wait for a second of processor time: start-up takes a tenth of that."""
    for _ in range(600):
        time.sleep(0.1)
        assert process.poll() is None, process.communicate()
        fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        if int(fields[11]) + int(fields[12]) >= 100:
            return
    pytest.fail("it does not get going")


def test_info_says_in_which_units_a_file_was_read(flashwatt: Cli, tmp_path: Path) -> None:
    (tmp_path / "named.csv").write_text("time_ms,device,op,offset_sectors,bytes\n0,0,W,8,4096\n2,0,R,8,4096\n")
    told = flashwatt("trace", "info", "named.csv").stdout
    assert "times in ms, offsets in sectors of 512 B, sizes in bytes" in told
    assert told.startswith("named.csv: csv, 2.00 ms")
    assert traces.info(tmp_path / "named.csv")["units"] in told
