"""A run without a clock: its report, and the stream of another run as its trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import flashwatt
from flashwatt.base import frames
from flashwatt.base.files import parse_json
from flashwatt.report.html import card

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

DRIVE = {"preset": "pardispatcher-60g", "channels": 1, "ways": 1, "planes": 1, "logical_bytes": "64MiB"}
WRITES = {"uniform": {"requests": 400, "request_bytes": 4096, "align_bytes": 4096, "read_fraction": 0}}


def test_a_report_without_a_clock(tmp_path: Path) -> None:
    """2n + 1 pages for a request of n blocks behind a partition at sector 63."""
    rules = {"flashsim": {"offset_sectors": 63}}
    report = flashwatt.run({"device": DRIVE, "workload": WRITES, "run": {"replay": rules}})
    assert report.status == "complete"
    assert report.replay is not None
    assert (report.replay.rules, report.replay.pages_per_4_kib, report.replay.write_bytes_mean) == ("flashsim", 3, 4096)
    assert report.flash.programs.host == 1200
    assert any("has no clock" in warning for warning in report.warnings)
    with pytest.raises(flashwatt.FlashwattError, match="energy_j: a run without a clock has none"):
        _ = report.energy_j
    assert report.window.drain_s is None
    assert report.ftl.map_energy_j is None
    assert "without a clock" in repr(report)
    assert "pages per 4 KiB" in card(report.to_dict())
    report.write(tmp_path / "report.json")
    assert flashwatt.Report.read(tmp_path / "report.json").flash.programs.host == 1200
    assert report.to_config().resolve()["run"]["replay"] == report.config["run"]["replay"]


def test_an_edited_report_names_the_key() -> None:
    report = flashwatt.run({"device": DRIVE, "workload": WRITES, "run": {"replay": "flashsim"}})
    content = report.to_dict() | {"energy_integral_j": 1.0}
    with pytest.raises(flashwatt.FlashwattError, match="energy_integral_j: found a value; expected null"):
        flashwatt.Report.parse(flashwatt.Report(content).json)


def test_the_stream_of_a_host_is_replayed(tmp_path: Path) -> None:
    """What a block layer dispatches, after merging, is a trace with the addresses of the drive."""
    job = tmp_path / "job.fio"
    job.write_text("[writers]\nrw=randwrite:4\nbs=4k\nblockalign=16k\nsize=8m\nio_size=1m\nnumjobs=4\niodepth=4\n")
    stream = tmp_path / "stream.csv"
    timed = {
        "device": {"preset": "pardispatcher-60g", "logical_bytes": "960MiB"},
        "workload": {"fio": {"path": str(job)}},
    }
    host = {"scheduler": "noop", "queue_depth": 1, "partition_offset_sectors": 63}
    before = flashwatt.run({**timed, "host": host}, dispatch_log=stream)
    assert before.host is not None
    assert before.host.write.dispatched < before.host.write.submitted == 1024
    log = frames.dispatch_log(stream).collect()
    assert log.height == before.host.write.dispatched
    assert log["bytes"].sum() == 4 << 20
    assert (log["offset"] % 4096 == 63 * 512 % 4096).all()
    assert set(log["process"]) == {0, 1, 2, 3}
    replay = {"device": DRIVE, "run": {"replay": "flashsim"}, "workload": {"trace": {"path": str(stream)}}}
    after = flashwatt.run(replay)
    pages = ((log["offset"] + log["bytes"] - 1) // 2048 - log["offset"] // 2048 + 1).sum()
    assert after.flash.programs.host == pages
    assert after.workload.writes == log.height


def test_on_the_command_line(flashwatt: Cli, config: Path, tmp_path: Path) -> None:
    refused = flashwatt("run", config, "--dispatch-log", "stream.csv")
    assert refused.returncode != 0
    assert "nothing dispatches requests" in refused.stderr
    kept = flashwatt("run", config, "--set", "host.scheduler=noop", "--dispatch-log", "stream.csv", "--quiet")
    assert kept.returncode == 0, kept.stderr
    behind = flashwatt("run", config, "--trace", "stream.csv", "--scheduler", "noop")
    assert behind.returncode == 2, behind.stderr
    assert (
        "stream.csv: the trace was logged behind a scheduler, and [host] would give it to another one" in behind.stderr
    )
    accept = ("--set", "workload.trace.dispatched=accept")
    accepted = flashwatt("run", config, "--trace", "stream.csv", "--scheduler", "noop", *accept)
    assert accepted.returncode == 0, accepted.stderr
    said = flashwatt("run", config, "--trace", "stream.csv", "--set", "run.replay=flashsim")
    assert said.returncode == 0, said.stderr
    assert "without a clock" in said.stdout
    assert "pages per 4 KiB written" in said.stdout
    as_json = flashwatt("run", config, "--trace", "stream.csv", "--set", "run.replay=flashsim", "--json")
    content = parse_json(as_json.stdout, "report")
    assert (content["throughput"], content["energy_j"]) == (None, None)
