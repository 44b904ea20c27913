"""Figures by who sent the requests: devices and files of traces, jobs, numbers of a drive's caller."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

import flashwatt
from flashwatt.base.units import duration
from flashwatt.report.table import marks_shown, show

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

ONE_DIE = {"device": {"preset": "x25m", "channels": 1, "ways": 1, "logical_bytes": 64 << 20, "op_ratio": 5 / 64}}
WRITE_NS = 982_000  # 82 µs over the bus, 900 µs of programming
ROWS = ("0,0,W,0,4096", "0,7,W,0,8192", "10000,0,W,4096,4096")


def trace(path: Path, *rows: str) -> Path:
    """Write a trace."""
    path.write_text("time_us,device,op,offset,bytes\n" + "".join(f"{row}\n" for row in rows))
    return path


def shown(report: flashwatt.Report) -> list[tuple[Any, ...]]:
    """Give the origins in short."""
    return [(one.name, one.kind, one.requests, one.latency_ns.all.mean) for one in report.origins or []]


def test_devices_by_hand(tmp_path: Path) -> None:
    """Both pages of device 7 wait until the page of device 0 is programmed, and are programmed one after the other."""
    report = flashwatt.run(ONE_DIE, workload__trace__path=trace(tmp_path / "two.csv", *ROWS))
    assert shown(report) == [("0", "device", 2, WRITE_NS), ("7", "device", 1, 3 * WRITE_NS)]
    assert report.origins is not None
    zero, seven = report.origins
    assert (zero.writes, zero.write_bytes, zero.bytes_share) == (2, 8192, 0.5)
    assert (seven.writes, seven.write_bytes, seven.bytes_share) == (1, 8192, 0.5)
    assert (zero.latency_ns.write, zero.latency_ns.read.mean) == (zero.latency_ns.all, None)
    assert zero.latency_ns.all.max == zero.latency_ns.all.p99 == WRITE_NS
    assert zero.requests + seven.requests == report.workload.requests
    assert zero.write_bytes + seven.write_bytes == report.workload.write_bytes
    assert report.latency_ns.all.mean == pytest.approx((2 * WRITE_NS + 3 * WRITE_NS) / 3)
    kept = tmp_path / "report.json"
    report.write(kept)
    assert flashwatt.Report.read(kept).origins == report.origins


def test_a_conversion_keeps_them(tmp_path: Path) -> None:
    whole = trace(tmp_path / "two.csv", *ROWS)
    flashwatt.traces.convert(whole, tmp_path / "two.fwt")
    reports = [flashwatt.run(ONE_DIE, workload__trace__path=path) for path in (whole, tmp_path / "two.fwt")]
    assert shown(reports[0]) == shown(reports[1]) != []


def test_files_of_one_device_each_and_of_several(tmp_path: Path) -> None:
    a, b = trace(tmp_path / "a.csv", *ROWS[::2]), trace(tmp_path / "b.csv", ROWS[1])
    report = flashwatt.run(ONE_DIE, workload__trace__path=[a, b])
    assert [one[:3] for one in shown(report)] == [("a.csv", "file", 2), ("b.csv", "file", 1)]
    two = trace(tmp_path / "two.csv", *ROWS)
    report = flashwatt.run(ONE_DIE, workload__trace__path=[two, b])
    assert [one[:3] for one in shown(report)] == [
        ("0 of two.csv", "device", 2),
        ("7 of two.csv", "device", 1),
        ("7 of b.csv", "device", 1),
    ]


def test_jobs(tmp_path: Path) -> None:
    jobs = tmp_path / "two.fio"
    jobs.write_text("[global]\nbs=4k\nsize=1m\n[log]\nrw=write\nio_size=40k\n[scan]\nrw=read\nnumjobs=2\nio_size=20k\n")
    report = flashwatt.run(ONE_DIE, workload__fio__path=jobs)
    assert [one[:3] for one in shown(report)] == [("log", "job", 10), ("scan", "job", 10)]


def test_jobs_have_their_times_and_marks(tmp_path: Path) -> None:
    jobs = tmp_path / "two.fio"
    jobs.write_text("[global]\nrw=write\nbs=4k\nsize=1m\n[log]\nio_size=40k\n[late]\nstartdelay=1\nio_size=8k\n")
    report = flashwatt.run(ONE_DIE, workload__fio__path=jobs, series=True)
    assert report.origins is not None
    log, late = report.origins
    assert (log.number, log.start_ns, log.end_ns) == (0, 0, 10 * WRITE_NS)
    assert (late.number, late.start_ns, late.end_ns) == (1, 10**9, 10**9 + 2 * WRITE_NS)
    picture = flashwatt.plot.power(report).svg()
    assert ">log<" in picture
    assert ">late<" in picture
    card = report._repr_html_()
    assert "By origin" in card
    assert "late" in card


def test_numbers_of_a_caller() -> None:
    drive = flashwatt.Drive(ONE_DIE)
    for origin in (0, 0, 9, 65_535):
        drive.submit("write", 0, 4096, 0, origin=origin)
    means = [1.5 * WRITE_NS, 3 * WRITE_NS, 4 * WRITE_NS]
    expected = list(zip(("0", "9", "65535"), ["number"] * 3, (2, 1, 1), means, strict=True))
    assert shown(drive.report()) == expected


def test_further_origins_are_reported_together() -> None:
    drive = flashwatt.Drive(ONE_DIE)
    for origin in range(1_030):
        drive.submit("read", 0, 512, origin, origin=origin)
    report = drive.report()
    assert report.origins is not None
    assert len(report.origins) == 1_025
    assert (report.origins[-1].kind, report.origins[-1].requests) == ("others", 6)
    assert report.warnings == ["origins: 6 requests came from others than the first 1024, and are reported together"]


def test_one_origin_is_none(tmp_path: Path) -> None:
    report = flashwatt.run(ONE_DIE, workload__trace__path=trace(tmp_path / "one.csv", ROWS[1]))
    assert report.origins is None
    assert "origins" not in report.to_dict()


def test_the_table_shows_them(flashwatt: Cli, tmp_path: Path) -> None:
    path = trace(tmp_path / "two.csv", *ROWS)
    (tmp_path / "one.toml").write_text(
        'device = { preset = "x25m", channels = 1, ways = 1, logical_bytes = 67108864 }\n'
    )
    said = flashwatt("run", "one.toml", "--trace", path)
    assert said.returncode == 0, said.stderr
    lines = [line.split() for line in said.stdout.splitlines()]
    at = next(at for at, line in enumerate(lines) if line[:2] == ["device", "requests"])
    (line,) = (line for line in lines[at:] if line[:2] == ["7", "1"])
    assert line[:4] == ["7", "1", "50.0", "%"]
    assert line[-6:] == ["2.95", "ms", "2.95", "ms", "2.95", "ms‡"], "one request has no p99"


def test_no_value_is_cut_at_80_columns(tmp_path: Path) -> None:
    """A long name is folded, times and shares are whole; where the files lie as well."""
    job = tmp_path / "two.fio"
    job.write_text("[a-rather-long-name-of-a-job]\nrw=randwrite\nsize=4m\n[b]\nrw=randread\nsize=4m\nstartdelay=2s\n")
    stream = io.StringIO()
    show(flashwatt.run(ONE_DIE, workload__fio__path=job).to_dict(), Console(file=stream, width=80))
    table = stream.getvalue().partition("By origin")[2].partition("\n\n\n")[0]
    assert "until" in table
    assert "…" not in table
    assert max(map(len, table.splitlines())) <= 80


def test_values_that_have_no_room_follow_in_a_second_table(tmp_path: Path) -> None:
    """Flushes add a column, marks make values longer: names and units are there at any width."""
    job = tmp_path / "three.fio"
    job.write_text(
        "[global]\nsize=1m\nfilename=/dev/sda\n[reader]\nrw=randread\nbs=4k\nio_size=3m\n"
        "[writer]\nrw=randwrite\nbs=64k\niodepth=16\nio_size=8m\n[logger]\nrw=write\nbs=4k\nfsync=1\nio_size=40k\n"
    )
    report = flashwatt.run(ONE_DIE, workload__fio__path=job).to_dict()
    report["not_steady"] = [{"why": "collection fell behind", "keys": ["latency_ns"]}]
    for width in (50, 60, 80, 100):
        stream = io.StringIO()
        show(report, Console(file=stream, width=width))
        page = "Latency" + stream.getvalue().partition("Latency")[2].partition(" throughput  ")[0]
        assert "…" not in page, width
        assert max(map(len, page.splitlines())) <= width
        for origin in report["origins"]:
            lines = [line for line in page.splitlines() if line.split()[:1] == [origin["name"]]]
            assert len(lines) > (width < 100), width
            assert duration(origin["latency_ns"]["all"]["p99"]) in " ".join(lines)
        assert "flush p99" in page


def test_marks_of_flushes_of_origins_are_explained() -> None:
    """A sender of many requests with few flushes has a mark at these alone."""
    drive = flashwatt.Drive(ONE_DIE)
    for at in range(600):
        drive.submit("read", 0, 4096, at, origin=0)
    drive.submit("flush", 0, 0, 600, origin=0)
    for at in range(600):
        drive.submit("read", 0, 4096, 600 + at, origin=1)
    report = drive.report().to_dict()
    assert list(marks_shown(report | {"latency_ns": {}})) != []


def test_places_of_files_are_folded_at_80_columns(flashwatt: Cli, tmp_path: Path) -> None:
    files = 'personality = "varmail"\nsystem = "lfs"\noperations = 20_000\nset = { nfiles = 300 }\n'
    (tmp_path / "mail.toml").write_text(f'[device]\npreset = "x25m"\n[workload.files]\n{files}')
    done = flashwatt("fs", "inspect", "mail.toml", "--run", "--files", "5")
    assert done.returncode == 0, done.stderr
    assert "directory" in done.stdout
    assert "…" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
