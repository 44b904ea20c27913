"""Arrays of drives on the command line, in reports and pictures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt as fw
from flashwatt import plot

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

_SMALL: dict[str, Any] = {
    "device__preset": "limit",
    "device__blocks_per_plane": 64,
    "workload__uniform__requests": 2000,
}


def _run(**keys: Any) -> fw.Report:
    return fw.run(**{**_SMALL, **keys})


def test_the_lifetime_is_that_of_the_member_whose_end_loses_data() -> None:
    wearing = {"device__nand__rated_cycles": 3000, "workload__uniform__read_fraction": 0}
    for level, number, nth in (("raid0", 2, 0), ("raid5", 3, 1), ("raid1", 2, 1)):
        report = _run(array__members=number, array__level=level, **wearing)
        years = [member["lifetime"]["mean_wear"]["years"] for member in report.members or () if member]
        assert report.array is not None
        found = report.array.lifetime
        assert found is not None
        assert found.member_years == years
        assert (found.first_years, found.first_member) == (min(years), years.index(min(years)))
        assert found.data_loss_years == sorted(years)[nth]
    table = fw.compare({"one": report, "two": report}, only=["lifetime"])
    assert "lifetime, until data is lost" in str(table)


def test_a_report_has_the_array_and_its_members() -> None:
    report = _run(array__members=4, array__level="raid5")
    assert report.array is not None
    assert report.array.member_reads + report.array.member_writes == 4 * 2000
    assert report.members is not None
    names = [member["name"] for member in report.members if member]
    assert names == [f"member_{place}" for place in range(4)]
    energies = [member["energy_j"]["total"] for member in report.members if member]
    assert report.energy_j.total == pytest.approx(sum(energies), rel=1e-9)
    assert [report.energy_j[name] for name in names] == energies  # type: ignore[index]
    assert fw.Report.parse(report.json).array == report.array


def test_sections_of_one_ssd_name_the_kind() -> None:
    with pytest.raises(fw.FlashwattError, match="flash: only of an SSD; found the report of an array"):
        _ = _run(array__members=2).flash
    with pytest.raises(AttributeError, match="nand: no component of this drive; expected one of total, member_0"):
        _ = _run(array__members=2).energy_j.nand


def test_the_configuration_of_a_report_gives_the_same_run() -> None:
    keys = {"array__members": 4, "array__level": "raid10", "array__failed_member": 1, "array__spare": "limit"}
    report = _run(**keys)
    again = fw.run(report.to_config())
    assert again.config_sha256 == report.config_sha256
    assert again.energy_j.total == report.energy_j.total


def test_different_drives_are_not_written_as_one() -> None:
    report = fw.run(array__members=["limit", "park-1g"], workload__uniform__requests=100)
    with pytest.raises(fw.FlashwattError, match="an array of different drives; expected drives that are alike"):
        report.to_config()


def test_pictures_have_a_part_for_each_member() -> None:
    report = fw.run(**_SMALL, array__members=3, series=True)
    assert [name for name in report.series().columns if name.startswith("member")] == [
        "member_0_w",
        "member_1_w",
        "member_2_w",
    ]
    assert "member 2" in json.dumps(plot.power(report).spec())
    second_half = (report.throughput.simulated_s * 5e8, report.throughput.simulated_s * 1e9)
    assert "member 2" in json.dumps(plot.power(report, window_ns=second_half).spec())
    both = json.dumps(plot.energy({"array": report, "one": fw.run(**_SMALL)}).spec())
    assert "member 0" in both
    assert "NAND program" in both


def test_a_drive_of_a_program_may_be_an_array() -> None:
    drive = fw.Drive(device__preset="limit", device__blocks_per_plane=64, array__members=2)
    drive.submit("write", 0, 4096, at_ns=0)
    (done,) = drive.advance(10_000_000)
    alone = fw.Drive(device__preset="limit", device__blocks_per_plane=64)
    alone.submit("write", 0, 4096, at_ns=0)
    assert done == alone.advance(10_000_000)[0]
    assert drive.report().array is not None


def test_the_terminal_shows_members(flashwatt: Cli, tmp_path: Path) -> None:
    sets = ["array.members=3", "array.level=raid5", "array.failed_member=1", "workload.uniform.requests=500"]
    shown = flashwatt("run", "--preset", "limit", *(f"--set={one}" for one in sets), "--out", str(tmp_path / "out"))
    assert "raid5 of 3 × limit: chunks of 65.5 kB" in shown.stdout
    assert "member 1" in shown.stdout
    assert "failed" in shown.stdout


def test_members_that_differ_are_named_by_their_presets(flashwatt: Cli, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text('array.members = ["limit", "laptop-7200", "limit"]\narray.level = "raid5"\n')
    sets = ["array.failed_member=0", "array.spare=x25m", "workload.uniform.requests=100"]
    done = flashwatt("run", "two.toml", *(f"--set={one}" for one in sets))
    shown = done.stdout
    assert "names no preset" not in done.stderr
    assert "raid5 of 2 × limit, 1 × laptop-7200: chunks of 65.5 kB, 8.59 GB, spare x25m" in shown
    for said in ("member 0: x25m, spare", "member 1: laptop-7200", "member 2: limit"):
        assert said in shown


_WRONG = [
    (["array.level=raid5"], "array.members: missing"),
    (["array.members=0"], "array.members: out of range; found 0; expected 1 to 32"),
    (["array.members=33"], "expected 1 to 32"),
    (["array.members=two"], "a whole number of drives, or a list of presets"),
    (["array.members=2", "array.level=raid5"], "found 2 with raid5; expected at least 3"),
    (["array.members=5", "array.level=raid10"], "found 5 with raid10; expected at least 4, in pairs"),
    (["array.members=2", "array.level=raid6"], "array.level"),
    (["array.members=2", "array.chunk_bytes=0"], "array.chunk_bytes: out of range"),
    (["array.members=2", "array.chunk_bytes=1000"], "a multiple of 512"),
    (['array.members=["x25m", "x25n"]'], "did you mean `x25m`?"),
    (["array.members=2", "array.failed_member=0"], "the array has no redundancy"),
    (["array.members=3", "array.level=raid5", "array.failed_member=3"], "no such member; found 3; expected 0 to 2"),
    (
        ["array.members=2", "array.level=raid1", "array.spare=x25m"],
        "array.spare: has no effect; found no failed member",
    ),
    (
        ["array.members=2", "array.level=raid1", "array.failed_member=0", "array.rebuild_mb_s=5"],
        "array.rebuild_mb_s: has no effect; found no spare",
    ),
    (
        ["array.members=2", "array.level=raid1", "array.failed_member=0", "array.spare=x25n"],
        "array.spare: unknown preset; found `x25n`",
    ),
    (["array.members=2", "array.mirrors=2"], "array.mirrors: unknown key"),
    (["array.members=2", "run.precondition=image", "workload=files"], "not for an array"),
    (["array.members=2", "run.precondition.snapshot=a.fw"], "not for an array; found a snapshot"),
    (["array.members=2", "run.replay=flashsim"], "an array has a clock"),
    (["array.members=2", "array.rebuild_depth=0"], "array.rebuild_depth: out of range"),
]


@pytest.mark.parametrize(("sets", "said"), _WRONG, ids=[said[:30] for _, said in _WRONG])
def test_what_is_wrong_is_named(sets: list[str], said: str) -> None:
    config = fw.Config("", "t.toml", tuple(sets))
    with pytest.raises(fw.FlashwattError) as raised:
        config.resolve()
    assert said in str(raised.value)


@pytest.mark.parametrize("flags", [["--op-log", "a.csv"], ["--check"], ["--edges-ms", "0", "1"]])
def test_recordings_of_one_ssd_are_refused(flashwatt: Cli, tmp_path: Path, flags: list[str]) -> None:
    flags = [str(tmp_path / one) if one.endswith(".csv") else one for one in flags]
    refused = flashwatt("run", "--set=array.members=2", "--set=workload.uniform.requests=10", *flags)
    assert refused.returncode == 2
    assert "only of an SSD; found an array of drives" in refused.stderr
