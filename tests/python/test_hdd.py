"""Hard disks on the command line, in reports and pictures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt as fw
from flashwatt import plot

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

_DISKS = ("laptop-7200", "raptor-x", "caviar-80g")


def _run(preset: str = "laptop-7200", **keys: Any) -> fw.Report:
    return fw.run(**{"device__preset": preset, "workload__uniform__requests": 500, **keys})


@pytest.mark.parametrize("preset", _DISKS)
def test_a_report_has_the_disk(preset: str) -> None:
    report = _run(preset, workload__uniform__read_fraction=0.5, run__count_drain=True)
    disk = report.hdd
    assert disk is not None
    assert disk.read_hits + disk.partial_read_hits + disk.read_misses == report.workload.reads
    assert sum(zone.write_bytes for zone in disk.zones) == disk.media_write_bytes
    spindle = sum(seconds for state, seconds in disk.state_s.items() if state.startswith("spindle"))
    assert spindle == pytest.approx(report.throughput.simulated_s, rel=1e-9)
    supplies = disk.energy_by_supply_j
    assert supplies.v5 + supplies.v12 == pytest.approx(report.energy_j.total, rel=1e-9)
    assert (supplies.v12 > 0) == (preset != "laptop-7200")
    assert fw.Report.parse(report.json).hdd == disk


def test_sections_of_an_ssd_name_the_kind() -> None:
    with pytest.raises(fw.FlashwattError, match="flash: only of an SSD; found the report of a disk"):
        _ = _run().flash


def test_power_over_time_has_the_parts_of_the_disk() -> None:
    report = _run(series=True)
    columns = [name for name in report.series().columns if name.endswith("5v_w")]
    assert columns == ["spindle_5v_w", "arm_5v_w", "electronics_5v_w", "interface_5v_w"]
    assert "arm, +5 V" in json.dumps(plot.power(report).spec())
    second_half = (report.throughput.simulated_s * 5e8, report.throughput.simulated_s * 1e9)
    assert "arm, +5 V" in json.dumps(plot.power(report, window_ns=second_half).spec())


def test_an_array_may_be_of_disks() -> None:
    report = _run("raptor-x", array__members=2, array__level="raid1")
    assert report.members is not None
    assert all(member and member["hdd"]["accesses"] > 0 for member in report.members)


def test_a_drive_of_a_program_may_be_a_disk() -> None:
    drive = fw.Drive(device__preset="laptop-7200")
    drive.submit("read", 0, 4096, at_ns=0)
    (done,) = drive.advance(1_000_000_000)
    assert 200_000 < done.end_ns < 10_000_000
    assert drive.report().hdd is not None


def test_the_terminal_shows_the_disk(flashwatt: Cli, tmp_path: Path) -> None:
    shown = flashwatt("run", "--preset", "laptop-7200", "--out", str(tmp_path / "out"))
    assert "7,200 rpm, 2 heads, 160 GB" in shown.stdout
    assert "rotational waits" in shown.stdout
    assert "arm, +5 V" in shown.stdout


def test_presets_of_disks_are_listed(flashwatt: Cli) -> None:
    listed = flashwatt("list", "presets").stdout
    assert all(preset in listed for preset in _DISKS)


def test_keys_of_an_ssd_are_refused() -> None:
    with pytest.raises(fw.FlashwattError, match=r"gc\.policy: has no effect; found a hard disk"):
        _run(gc__policy="fifo")
