"""`flashwatt.crash` and `flashwatt crash`: figures by hand, every layer, files, pictures, mistakes, exit statuses."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

import flashwatt as fw
from flashwatt import Config, Crash, FlashwattError, plot, power_cuts
from flashwatt.cli.crash_table import show
from flashwatt.cli.main import main
from flashwatt.power_cuts import Loss, Spread
from test_interrupt import needs_proc, wait_until_it_simulates

if TYPE_CHECKING:
    from conftest import Cli

DOCS = Path(__file__).parents[2] / "docs/power-cuts.md"
PAGES_PER_DIE, DIES = 16 * 16, 2
TINY = """\
[device]
preset = "limit"
channels = 2
ways = 1
blocks_per_plane = 16
pages_per_block = 16
op_ratio = 0.5

[run]
precondition = "filled"
"""
"""A drive of two dies, each on a channel of its own; 341 units of 4 KiB."""


@pytest.fixture
def drive() -> Config:
    """The tiny drive, with a workload of some 200 operations."""
    return Config(TINY).override(workload__uniform__requests=200)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """The tiny drive as a file in the directory in which commands run."""
    path = tmp_path / "tiny.toml"
    path.write_text(f"{TINY}[workload.uniform]\nrequests = 200\n")
    return path


@pytest.fixture(scope="module")
def twice() -> Crash:
    """Cuts of a layer that merges, with second ones."""
    return fw.crash(Config(TINY), cuts=20, twice=True, ftl="fast", workload__uniform__requests=200)


def spoilt(result: Crash, change: Callable[[Any], None]) -> Crash:
    """The same result with other content."""
    content = result.to_dict()
    change(content)
    return Crash(content)


def _lose(content: Any) -> None:
    content["cuts"][3]["lost_units"] = 2
    content["cuts"][5]["again"]["lost_units"] = 1


Asked: TypeAlias = Callable[..., tuple[Any, str, str]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Asked:
    """Run the command on a result that stands; give its exit status, and what it prints on both streams."""

    def run(result: Crash, *arguments: object) -> tuple[Any, str, str]:
        monkeypatch.setattr(power_cuts, "campaign", lambda *_given, **_options: result)
        with pytest.raises(SystemExit) as ended:
            main(["crash", *map(str, arguments)])
        return ended.value.code, *capsys.readouterr()

    return run


# ------------------------------------------------------------------ figures


def test_a_scan_by_hand(drive: Config) -> None:
    """A drive at rest reads all spare areas, on both dies at once, and does nothing else."""
    result = fw.crash(drive, at_ns=0)
    (cut,) = result.cuts.to_dicts()
    read_ns, command_ns = 50_000, 400
    assert cut["recovery_ns"] == PAGES_PER_DIE * (read_ns + command_ns) == 12_902_400
    assert cut["spare_reads"] == DIES * PAGES_PER_DIE
    assert [cut[key] for key in ("reads", "programs", "erases", "torn_pages", "requests_lost")] == [0] * 5
    assert (cut["kept_units"], cut["rolled_back_units"], cut["lost_units"]) == (341, 0, 0)
    assert cut["scan_memory_bytes"] == 341 * 12
    # The controller is active (350 mA at 3.3 V), DRAM idle (15 mA at 1.1 V); a die draws 25 mA reading, 12 on the bus.
    recovery_s, array_s, bus_s = 12_902_400e-9, PAGES_PER_DIE * 50_000e-9, PAGES_PER_DIE * 400e-9
    always_w, die_j = 0.350 * 3.3 + 0.015 * 1.1, (array_s * 0.025 + bus_s * 0.012) * 3.3
    assert cut["energy_j"] == pytest.approx(recovery_s * always_w + DIES * die_j, rel=1e-9)


def test_a_program_under_way_is_torn_and_its_request_lost() -> None:
    """Of three writes, one at a time, the first is under way, then the second: the unit's old version comes back."""
    one_by_one = Config(TINY).override(workload__uniform__requests=3, workload__uniform__queue_depth=1)
    for place in ({"at_ns": 300_000}, {"at_operation": 1}):
        (cut,) = fw.crash(one_by_one, **place).cuts.to_dicts()
        assert [cut[key] for key in ("torn_pages", "requests_lost", "rolled_back_units", "kept_units")] == [
            1,
            1,
            1,
            340,
        ]
    assert cut["at_ns"] == 600_000 + 400 + 3_413  # the program, its command and its data


def test_operations_are_those_of_the_operation_log(drive: Config) -> None:
    ends = fw.run(drive, op_log=True).op_log()
    ends = ends.filter(ends["record"].cast(str).is_in(["read", "program", "erase"]))["end_ns"]
    result = fw.crash(drive, cuts=20)
    assert result.operations == len(ends)
    assert result.cuts["operations"].to_list() == [int((ends <= at).sum()) for at in result.cuts["at_ns"]]


@pytest.mark.parametrize("ftl", list(fw.names("ftls")))
def test_every_layer_comes_back(drive: Config, ftl: str) -> None:
    """Without a buffer, with one, and with one that is protected; and when the power goes again during the recovery."""
    room = {"device.blocks_per_plane": 32, "device.op_ratio": 0.8, "ftl": ftl}
    for buffer in ({}, {"write_buffer.bytes": 65_536}, CAPACITORS, JOURNAL):
        result = fw.crash(drive.override(room).override(buffer), cuts=15, twice=True)
        assert (result.status, result.ftl, result.has_volatile_buffer) == ("complete", ftl, len(buffer) == 1)
        assert (result.capacitors is None, result.has_journal) == (buffer != CAPACITORS, buffer == JOURNAL)
        frame = result.cuts
        assert (len(frame), result.lost_units, result.losses) == (15, 0, [])
        for reads in (frame["spare_reads"], frame["second_spare_reads"]):
            assert reads.min() == DIES * 32 * 16  # more where these layers write what a dump or a journal holds
            assert reads.max() == reads.min() or (ftl in {"nftl", "bast_star"} and buffer in (CAPACITORS, JOURNAL))
        assert frame["at_ns"].is_sorted()
        assert frame["torn_pages"].max() <= DIES
        whole = frame.select("kept_units", "rolled_back_units", "pair_lost_units", "lost_units").sum_horizontal()
        assert set(whole) == {result.logical_units}
        assert (frame["second_after_ns"] < frame["recovery_ns"]).all()
        assert (frame["recovery_ns"] >= 2 * PAGES_PER_DIE * 50_400).all()
        assert (frame["energy_j"] > 0).all()


def test_the_content_of_a_volatile_buffer_is_rolled_back(drive: Config) -> None:
    without, buffered = (fw.crash(drive, cuts=10, write_buffer__bytes=size) for size in (0, 131_072))
    assert buffered.cuts["rolled_back_units"].max() > without.cuts["rolled_back_units"].max()
    assert without.cuts["rolled_back_units"].max() <= 32  # the requests in the drive


def test_a_checkpoint_shortens_the_scan(drive: Config) -> None:
    interval = {"recovery__checkpoint_interval_bytes": 65_536}
    whole, short = (fw.crash(drive, cuts=11, ftl="page", **options) for options in ({}, interval))
    assert short.lost_units == whole.lost_units == 0
    assert short.spread("spare_reads").median < whole.spread("spare_reads").median / 4
    rows = short.cuts.select("recovery_ns", "erases").iter_rows()
    scans_ns = sorted(ns - 3_500_000 * (erases > 0) for ns, erases in rows)  # the dies erase at one time
    assert scans_ns[5] < PAGES_PER_DIE * 50_400 / 4
    with pytest.raises(FlashwattError, match="a torn page may spoil a page of the map"):
        fw.crash(drive, ftl="dftl", device__nand__paired_pages="backup", **interval)


def test_a_checkpoint_beside_a_map_on_flash_keeps_the_map(drive: Config) -> None:
    whole, short = (
        fw.crash(drive, cuts=11, ftl="dftl", device__op_ratio=2.0, **options)
        for options in ({}, {"recovery__checkpoint_interval_bytes": 65_536})
    )
    assert short.lost_units == whole.lost_units == 0
    assert short.spread("spare_reads").median < whole.spread("spare_reads").median / 4
    assert short.spread("reads").median > whole.spread("reads").max == 0
    assert short.spread("recovery_ns").median < whole.spread("recovery_ns").median / 2


def test_a_recorded_trim_does_not_come_back(drive: Config) -> None:
    """Every flush waits for its records; without them what was trimmed may come back, which counts as rolled back."""
    trims = {"workload__uniform__trim_fraction": 0.5, "workload__uniform__queue_depth": 1}
    plain, recorded = (fw.crash(drive, cuts=20, recovery__trim_records=kind, **trims) for kind in ("none", "page"))
    assert recorded.lost_units == plain.lost_units == 0
    assert recorded.cuts["reads"].max() >= plain.cuts["reads"].max() == 0


CAPACITORS = {"write_buffer.bytes": 65_536, "write_buffer.protection": "capacitors"}
JOURNAL = CAPACITORS | {"write_buffer.protection": "journal", "device.op_ratio": 0.6}


def test_a_journal_by_hand(drive: Config) -> None:
    """Three writes of pages, each acknowledged when its page of the journal is programmed, come back from there."""
    one_a_ms = {"workload__uniform__rate_per_s": 1000, "workload__uniform__gaps": "constant"}
    journal = drive.override(JOURNAL)
    (cut,) = fw.crash(journal, at_ns=2_900_000, **one_a_ms).cuts.to_dicts()
    assert [cut[key] for key in ("lost_units", "rolled_back_units", "torn_pages", "requests_lost")] == [0] * 4
    # Two dies hold a block with a page or two of the journal. What it held is programmed in its place.
    assert [cut[key] for key in ("reads", "programs", "erases")] == [3, 3, 2]
    report = fw.run(journal, **one_a_ms)
    assert report.latency_ns.write.min == 400 + 3_413 + 600_000
    requests = report.workload.requests
    assert report.flash.programs.journal == report.write_buffer.journal_records == requests
    assert 0 < report.energy_by_cause_j.journal < report.energy_j.total
    # Rows take turns, two of them. When one begins, what the other one still holds for the buffer leaves.
    assert 0 < report.write_buffer.journal_forced < report.write_buffer.destaged
    plain = fw.run(drive, **one_a_ms)
    assert plain.flash.programs.journal == 0
    assert "journal" not in plain.json


def test_a_dump_by_hand(drive: Config) -> None:
    """Three dirty pages go to two dies at once, and back into the buffer, and to their places."""
    one_a_ms = {"workload__uniform__rate_per_s": 1000, "workload__uniform__gaps": "constant"}
    result = fw.crash(drive.override(CAPACITORS), at_ns=2_500_000, **one_a_ms)
    (cut,) = result.cuts.to_dicts()
    bus_ns, program_ns = 400 + 3_413, 600_000
    assert (cut["dump_pages"], cut["dump_ns"]) == (3, 2 * (bus_ns + program_ns))
    # The controller is active (350 mA at 3.3 V), DRAM idle (15 mA at 1.1 V), but for the pages' data at 12,800 MB/s
    # (150 mA). A die draws 30 mA programming, 12 on the bus, 0.5 while it is idle.
    always_w, dram_w = 0.350 * 3.3 + 0.015 * 1.1, 0.135 * 1.1
    page_j = (program_ns * 0.030 + bus_ns * 0.012) * 3.3e-9 + 320e-9 * dram_w
    energy_j = cut["dump_ns"] * 1e-9 * always_w + 3 * page_j + (bus_ns + program_ns) * 1e-9 * 0.0005 * 3.3
    assert cut["dump_energy_j"] == pytest.approx(energy_j, rel=1e-9)
    assert cut["capacitance_f"] == pytest.approx(2 * energy_j / (3.3**2 - 2.7**2), rel=1e-9)
    assert [cut[key] for key in ("lost_units", "rolled_back_units", "torn_pages", "requests_lost")] == [0] * 4
    # Both dies read, then program what the buffer held; what the cut left there is erased.
    assert [cut[key] for key in ("reads", "programs", "erases")] == [3, 3, 2]


def test_capacitors_must_hold_a_full_buffer(drive: Config) -> None:
    """Of sixteen pages each die programs eight, behind an erase."""
    full = fw.crash(drive.override(CAPACITORS), cuts=30, twice=True)
    assert full.capacitors is not None
    assert (full.capacitors.max_v, full.capacitors.min_v, full.capacitors.dump_pages) == (3.3, 2.7, 16)
    assert full.capacitors.dump_ns == 400 + 3_500_000 + 8 * (400 + 3_413 + 600_000)
    for of_cuts, most in (("dump_ns", full.capacitors.dump_ns), ("capacitance_f", full.capacitors.capacitance_f)):
        assert 0 < full.spread(of_cuts).max <= most
    assert full.lost_units == full.cuts["rolled_back_units"].sum() == full.cuts["torn_pages"].sum() == 0
    assert full.cuts["second_torn_pages"].max() > 0  # they are not charged during a recovery
    wide = fw.crash(drive.override(CAPACITORS), cuts=1, write_buffer__capacitor_max_v=5)
    assert wide.capacitors.capacitance_f == pytest.approx(2 * full.capacitors.dump_energy_j / (5**2 - 2.7**2))


PAIRED = {"device.nand.paired_pages": "unprotected", "workload.uniform.queue_depth": 1}


def test_a_torn_upper_page_spoils_its_lower_page(drive: Config) -> None:
    """Writes go one by one to the pages of one die: every other one is the upper page of the one before it."""
    one_die = {**PAIRED, "device.channels": 1, "device.blocks_per_plane": 32}
    program_ns = 400 + 3_413 + 600_000
    lost = []
    for nth in range(4):
        (cut,) = fw.crash(drive.override(one_die), at_ns=nth * program_ns + 300_000).cuts.to_dicts()
        assert (cut["torn_pages"], cut["lost_units"]) == (1, 0)
        assert cut["spoilt_pages"] == cut["pair_lost_units"]
        lost.append(cut["spoilt_pages"])
    assert lost in ([0, 1, 0, 1], [1, 0, 1, 0])  # as the next page of the open block is a lower or an upper one


@pytest.mark.parametrize("ftl", ["page", "dftl", "fast"])
def test_losses_with_pairs_are_counted_apart(drive: Config, ftl: str) -> None:
    room = {"device.blocks_per_plane": 32, "device.op_ratio": 0.8, "ftl": ftl}
    result = fw.crash(drive.override(room).override(PAIRED), cuts=40, twice=True)
    assert result.has_paired_pages
    assert (result.lost_units, result.losses) == (0, [])
    frame = result.cuts
    assert 0 < frame["pair_lost_units"].sum() <= frame["spoilt_pages"].sum() <= frame["torn_pages"].sum()
    assert result.pair_lost_units == frame["pair_lost_units"].sum() + frame["second_pair_lost_units"].sum()
    held = fw.crash(drive.override(room).override(PAIRED).override(CAPACITORS), cuts=40)
    assert (held.pair_lost_units, held.cuts["spoilt_pages"].sum()) == (0, 0)


@pytest.mark.parametrize("protection", ["backup", "hold_ack"])
@pytest.mark.parametrize("ftl", ["page", "dftl", "fast"])
def test_protected_pairs_lose_nothing(drive: Config, ftl: str, protection: str) -> None:
    room = {"device.blocks_per_plane": 40, "device.op_ratio": 0.8, "ftl": ftl}
    protected = drive.override(room).override({**PAIRED, "device.nand.paired_pages": protection})
    result = fw.crash(protected, cuts=40, twice=True)
    assert (result.lost_units, result.pair_lost_units) == (0, 0)
    assert result.has_paired_pages
    if protection == "backup":
        assert result.cuts["spoilt_pages"].sum() > 0
    report = fw.run(protected)
    assert report.flash.programs.backup > 0
    assert 0 < report.energy_by_cause_j.backup < report.energy_j.total


MAPPED = {"device.blocks_per_plane": 32, "ftl.dftl": {"entry_bytes": 512, "cmt_fraction": 1}}
"""A map on flash, of 8 entries on a page, and a table with room for all of them."""


def test_a_portion_of_the_map_by_hand(drive: Config, capsys: pytest.CaptureFixture[str]) -> None:
    """The first pages of the map are read on two dies, each on a channel of its own, and nothing else changes."""
    mapped = drive.override(MAPPED)
    plain = fw.crash(mapped, cuts=3, twice=True)
    assert not any("map_load" in name for name in plain.cuts.columns)
    assert not plain.loads_map
    show(plain)
    assert "load of the map" not in capsys.readouterr().out
    for fraction in (0.1, 0.25, 1):
        result = fw.crash(mapped, cuts=3, twice=True, recovery__map_load_fraction=fraction)
        reads = -(-int(fraction * result.logical_units + 0.5) // 8)
        load_ns = -(-reads // DIES) * (400 + 50_000 + 3_413)
        for before, cut in zip(plain.cuts.to_dicts(), result.cuts.to_dicts(), strict=True):
            assert (cut["map_load_reads"], cut["map_load_ns"]) == (reads, load_ns)
            assert (cut["reads"], cut["recovery_ns"]) == (before["reads"] + reads, before["recovery_ns"] + load_ns)
            energy_j = cut["energy_j"] - before["energy_j"]
            assert cut["map_load_energy_j"] == pytest.approx(energy_j, rel=1e-6)
            assert cut["second_map_load_reads"] in (0, reads)
        show(result)
        assert capsys.readouterr().out.count("load of the map") == 2
        assert sum(row["n"] for row in drawn(plot.recovery(result, "map_load_ns"))) == 6
    with pytest.raises(FlashwattError, match="figure: unknown name; found `map_load_ns`"):
        plot.recovery(plain, "map_load_ns")


def test_registers_keep_pages_of_the_map(drive: Config) -> None:
    """Neither model loses what was durable; the runs that are cut are the same, and so is what comes back."""
    cached = {"device.channels": 4, "device.op_ratio": 1.2, "ftl.rftl": {"entry_bytes": 512, "cmt_entries": 8}}
    cached |= {"device.blocks_per_plane": 32, "recovery.checkpoint_interval_bytes": 1 << 20}
    lost, kept = (
        fw.crash(drive.override(cached), cuts=200, while_busy=True, recovery__die_registers=model).cuts
        for model in ("lost", "kept")
    )
    for name in ("at_ns", "torn_pages", "kept_units", "rolled_back_units", "lost_units"):
        assert lost[name].equals(kept[name]), name
    assert lost["lost_units"].sum() == 0
    assert (kept["programs"] < lost["programs"]).any()


def test_a_seed_gives_the_same_cuts_and_another_one_others(drive: Config) -> None:
    first, again, other = (fw.crash(drive, cuts=8, twice=True, seed=seed) for seed in (3, 3, 4))
    assert first.to_dict() == again.to_dict()
    assert first.seed == 3
    assert first.cuts["at_ns"].to_list() != other.cuts["at_ns"].to_list()


def test_a_random_cut_is_repeated_by_its_time(drive: Config) -> None:
    for cut in fw.crash(drive, cuts=5, ftl="fast").cuts.to_dicts():
        assert fw.crash(drive, at_ns=cut["at_ns"], ftl="fast").cuts.row(0, named=True) == cut


def test_without_a_place_there_are_a_hundred_cuts(drive: Config) -> None:
    result = fw.crash(drive, workload__uniform__requests=20)
    assert (result.when, len(result.cuts), result.twice) == ({"cuts": 100}, 100, False)


def test_quantiles_are_values_that_occurred(twice: Crash) -> None:
    assert Spread.of([7.0]) == (7, 7, 7, 7)
    assert Spread.of([4.0, 1.0, 3.0, 2.0]) == (1, 2, 4, 4)
    assert Spread.of([float(n) for n in range(1, 201)]) == (1, 100, 198, 200)
    ranked = sorted(twice.cuts["second_recovery_ns"])
    assert twice.spread("recovery_ns", second=True) == (ranked[0], ranked[9], ranked[19], ranked[19])
    with pytest.raises(FlashwattError, match="did you mean `recovery_ns`"):
        twice.spread("recovery")


# ------------------------------------------------------------------ idle time


def test_busy_times_are_those_of_the_operation_log(drive: Config) -> None:
    """By the operation log of the run: each busy cut has an operation under way; idle ones of others are counted."""
    quiet = drive.override(workload__uniform__rate_per_s=500, run__precondition="filled")
    log = fw.run(quiet, op_log=True).op_log()
    log = log.filter(log["record"].cast(str).is_in(["read", "program", "erase"]))
    spans = list(zip(log["start_ns"], log["end_ns"], strict=True))

    def at_work(at: int) -> int:
        return sum(start <= at < end for start, end in spans)

    busy, plain = fw.crash(quiet, cuts=60, while_busy=True), fw.crash(quiet, cuts=60)
    for result in (busy, plain):
        under_way = [at_work(at) for at in result.cuts["at_ns"]]
        assert result.cuts["operations_under_way"].to_list() == under_way
        assert result.idle_cuts == under_way.count(0)
    assert (busy.idle_cuts, busy.while_busy, plain.while_busy) == (0, True, False)
    assert plain.idle_cuts is not None
    assert plain.idle_cuts > 10


def test_idle_cuts_are_said(drive: Config, capsys: pytest.CaptureFixture[str]) -> None:
    quiet = drive.override(workload__uniform__rate_per_s=500)
    plain, busy = fw.crash(quiet, cuts=20), fw.crash(quiet, cuts=20, while_busy=True)
    show(plain)
    assert f"{plain.idle_cuts} of 20 cuts fell into idle time: no flash operation was" in capsys.readouterr().out
    show(busy)
    out = capsys.readouterr().out
    assert "20 cuts at random busy times" in out
    assert "idle time" not in out


# ------------------------------------------------------------------ arrays

MIRRORS = {"array.members": 2, "array.level": "raid1", "device.channels": 1, "device.blocks_per_plane": 32}


def test_copies_of_an_array_that_are_equal_by_hand(drive: Config, capsys: pytest.CaptureFixture[str]) -> None:
    """Both mirrors get the write at time 0 and end it together, 603,813 ns later: copies never differ."""
    one = drive.override(MIRRORS).override(workload__uniform__requests=1)
    for at_ns in (603_812, 603_813):
        result = fw.crash(one, at_ns=at_ns)
        (cut,) = result.cuts.to_dicts()
        assert [cut[key] for key in cut if key.startswith(("inconsistent_", "hole_"))] == [0] * 4
    assert result.array
    assert (result.array.level, result.array.members, result.array.failed_member) == ("raid1", 2, None)
    assert result.scrub
    assert result.scrub.read_bytes == 2 * result.array.member_bytes
    assert (result.scrub.repaired_rows, result.scrub.written_bytes) == (0, 0)
    show(result)
    out = " ".join(capsys.readouterr().out.split())
    assert "rows that do not match" in out
    assert "A scrub after the cut at 603813 ns takes" in out
    assert "finds nothing to write anew" in out
    assert Crash(json.loads(result.to_json())).cuts.equals(result.cuts)


def test_the_write_hole_of_an_array_without_a_member_is_a_loss(drive: Config, asked: Asked, tiny: Path) -> None:
    degraded = drive.override(array__members=4, array__level="raid5", array__failed_member=1, array__chunk_bytes=4096)
    result = fw.crash(degraded, cuts=40, while_busy=True)
    assert (result.hole_lost_bytes > 0, result.lost_units, result.scrub) == (True, 0, None)
    status, out, err = asked(result, tiny)
    assert status == 1
    assert f"LOST: {result.hole_lost_bytes:,} bytes of the failed member's data" in out
    assert "of the failed member's data, in rows that were being written (write hole)" in err


# ------------------------------------------------------------------ the host


HOSTED = {"host.scheduler": "noop", "host.queue_depth": 1, "host.plug_requests": 0}


def test_the_block_layer_loses_its_queue(drive: Config) -> None:
    """Of five writes at a time the drive has one, and the block layer four; after its program it has the next one."""
    five = drive.override(HOSTED).override(workload__uniform__requests=5, workload__uniform__queue_depth=5)
    program_ns = 400 + 3_413 + 600_000
    for at_ns, lost in ((300_000, 5), (program_ns + 300_000, 4), (4 * program_ns + 300_000, 1)):
        result = fw.crash(five, at_ns=at_ns, host__merges="none")
        (cut,) = result.cuts.to_dicts()
        assert (cut["requests_lost"], cut["host_requests_lost"], cut["rolled_back_units"]) == (lost, lost - 1, 1)
        assert (result.scheduler, result.host_lost_units, result.lost_units) == ("noop", 0, 0)


@pytest.mark.parametrize("scheduler", list(fw.names("schedulers")))
def test_the_run_that_is_cut_is_that_behind_the_scheduler(drive: Config, scheduler: str) -> None:
    """The same operations have ended at the time of each cut as in the operation log of the run."""
    hosted = drive.override(host__scheduler=scheduler, host__queue_depth=3)
    ends = fw.run(hosted, op_log=True).op_log()
    ends = ends.filter(ends["record"].cast(str).is_in(["read", "program", "erase"]))["end_ns"]
    result = fw.crash(hosted, cuts=10)
    assert result.operations == len(ends)
    assert result.cuts["operations"].to_list() == [int((ends <= at).sum()) for at in result.cuts["at_ns"]]
    assert result.cuts["host_requests_lost"].max() > 0


def test_what_is_before_the_drive_changes_no_other_columns(drive: Config, twice: Crash) -> None:
    assert not any(name.startswith(("host_", "files_")) for name in twice.cuts.columns)
    assert (twice.scheduler, twice.file_system, twice.files_lost) == (None, None, 0)
    buffered = fw.crash(drive.override(CAPACITORS), cuts=2)
    assert "dump_pages" in buffered.cuts.columns
    assert "host_lost_units" not in buffered.cuts.columns


FILES = {
    "device.channels": 2,
    "device.blocks_per_plane": 64,
    "device.pages_per_block": 64,
    "workload.files.personality": "varmail",
    "workload.files.operations": 1500,
    "workload.files.set.nfiles": 100,
    "write_buffer.bytes": 1_048_576,
}


@pytest.fixture(scope="module")
def mail() -> Crash:
    """Cuts under a mail server on ext2, behind a scheduler."""
    return fw.crash({"device.preset": "limit", "device.ways": 1, "device.op_ratio": 0.5, **FILES, **HOSTED}, cuts=20)


@pytest.mark.parametrize("system", ["ext2", "ext3", "lfs", "nilfs2"])
def test_fsynced_files_are_found(system: str) -> None:
    small = {} if system in ("ext2", "ext3") else {f"workload.files.system.{system}.segment_bytes": 262_144}
    on_system = {"device.preset": "limit", "device.ways": 1, "device.op_ratio": 0.5, **FILES}
    place = small or {"workload.files.system": system}
    result = fw.crash({**on_system, **place}, cuts=20)
    assert (result.file_system, result.files_lost, result.files_pair_lost) == (system, 0, 0)
    assert result.files_exposed_blocks == 0
    frame = result.cuts
    assert frame["files_fsynced"].max() > 50
    assert (frame["files_fsynced_bytes"] % 4096 == 0).all()
    assert (frame["files_fsynced_bytes"] >= 4096 * (frame["files_fsynced"] - 1)).all()
    assert 0 < frame["files_rolled_back"].max() <= 16 + 1  # a file of each thread that had not been fsynced yet
    assert frame["files_rolled_back_bytes"].max() > 0


def test_a_result_with_files_is_saved_and_read(mail: Crash, tmp_path: Path) -> None:
    path = tmp_path / "cuts.json"
    mail.save(path)
    found = Crash.read(path)
    assert found.cuts.equals(mail.cuts)
    assert (found.scheduler, found.file_system) == ("noop", "ext2")
    spoilt(mail, lambda one: one["cuts"][1].pop("files_lost")).save(path)
    with pytest.raises(FlashwattError, match=r"cuts.json: cuts\[1\].files_lost: found None"):
        Crash.read(path)


def test_lost_files_are_said_with_the_command_that_repeats_the_cut(
    mail: Crash, asked: Asked, tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def lose(content: Any) -> None:
        content["cuts"][3]["files_lost"] = 2
        content["cuts"][4]["host_lost_units"] = 1

    show(mail)
    printed = " ".join(capsys.readouterr().out.split())
    assert "Nor is fsynced data: a mount finds all of it" in printed
    assert "behind the host's block layer with the scheduler noop" in printed
    found = spoilt(mail, lose)
    assert (found.files_lost, found.host_lost_units) == (2, 1)
    status, out, err = asked(found, tiny)
    first, second = found.cuts["at_ns"][3], found.cuts["at_ns"][4]
    assert status == 1
    assert "LOST: durable data of 1 unit to processes, fsynced data of 2 files" in out
    assert f"LOST: 2 files with fsynced data, by the cut at {first} ns, seed 1; `flashwatt crash" in err
    assert f"LOST: 1 unit of data that was durable for its process, by the cut at {second} ns" in err


# ------------------------------------------------------------------ results


def test_a_result_is_saved_and_read(twice: Crash, tmp_path: Path) -> None:
    path = tmp_path / "cuts.json"
    twice.save(path)
    twice.save(path)
    assert path.read_text() == f"{twice.to_json()}\n"
    found = Crash.read(path)
    assert found.cuts.equals(twice.cuts)
    assert repr(found) == f"<Crash: complete; {twice.drive}; 20 cuts, 0 units lost>"
    assert fw.crash(found.to_config(), cuts=20, twice=True).to_dict()["cuts"] == found.to_dict()["cuts"]
    (tmp_path / "mine.json").write_text("{}")
    with pytest.raises(FlashwattError, match="not a result of crash written by flashwatt"):
        twice.save(tmp_path / "mine.json")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda one: one.pop("crash"), "not a result of `flashwatt crash`"),
        (lambda one: one.update(crash=2), "crash: found schema 2; expected 1"),
        (lambda one: one.pop("seed"), "seed: found None"),
        (lambda one: one["cuts"][1].pop("reads"), r"cuts\[1\].reads: found None"),
        (lambda one: one["cuts"][2]["again"].update(after_ns=-1), r"cuts\[2\].again.after_ns: found -1"),
        (lambda one: one.update(capacitors={"max_v": 3}), "capacitors.min_v: found None"),
        (lambda one: one.update(cuts=[3]), r"cuts\[0\].at_ns: found None"),
    ],
)
def test_an_edited_file_is_a_message(twice: Crash, tmp_path: Path, change: Callable[[Any], None], found: str) -> None:
    spoilt(twice, change).save(tmp_path / "edited.json")
    with pytest.raises(FlashwattError, match=f"edited.json: {found}"):
        Crash.read(tmp_path / "edited.json")


def test_the_run_that_is_cut_is_the_measured_one(drive: Config) -> None:
    whole, part = fw.crash(drive, cuts=1), fw.crash(drive, cuts=1, run__measure__requests=5)
    assert part.run_ns < whole.run_ns
    assert not part.warnings
    assert fw.crash(drive, cuts=1, run__max_flash_ops=7).warnings == [
        "run.max_flash_ops has no effect on the run that is cut"
    ]


def test_progress_counts_cuts_and_stops_them(drive: Config) -> None:
    seen: list[tuple[int, int | None]] = []

    def progress(done: int, total: int | None, _now_ns: int, preparing: str | None) -> bool:
        if preparing is None and total == 100_000:
            seen.append((done, total))
        return not seen

    result = fw.crash(drive, cuts=100_000, progress=progress)
    assert seen
    assert result.status == "interrupted"
    assert len(result.cuts) < 100_000
    assert result.lost_units == 0


def test_losses_are_found_and_counted(twice: Crash) -> None:
    lossy = spoilt(twice, _lose)
    rows = twice.cuts.rows(named=True)
    assert lossy.losses == [Loss(rows[3]["at_ns"], None, 2), Loss(rows[5]["at_ns"], rows[5]["second_after_ns"], 1)]
    assert lossy.lost_units == 3


# ------------------------------------------------------------------ mistakes


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"cuts": 0}, "cuts: found 0; expected a whole number, 1 to 4294967295"),
        ({"cuts": -3}, "cuts: found -3; "),
        ({"cuts": True}, "cuts: found True; "),
        ({"cuts": 2**32}, "cuts: found 4294967296; "),
        ({"cuts": 1.5}, r"cuts: found 1\.5; "),
        ({"at_ns": -1}, "at_ns: found -1; expected a whole number, 0 to "),
        ({"at_operation": 0}, "at_operation: found 0; expected a whole number, 1 to "),
        ({"cuts": 3, "at_ns": 4}, "at_ns: given beside cuts; expected one of cuts, at_ns and at_operation"),
        ({"at_ns": 10**15}, "at_ns: the run ends before the power is cut; found 1000000000000000 ns"),
        ({"at_operation": 10**9}, "at_operation: the run ends before the power is cut; found operation 1000000000"),
        ({"cut": 3}, "did you mean `cuts`"),
        (
            {"write_buffer__bytes": 2**20, "write_buffer__protection": "capacitors"},
            r"device: too little spare flash for power cuts; found 512 pages; .* and 8 blocks of each die for the",
        ),
        (
            {"write_buffer__bytes": 2**20, "write_buffer__protection": "journal"},
            r"too little spare flash for garbage collection.* and 9 of each die for the journal of the write buffer",
        ),
        ({"device__nand__spare_bytes": 19}, r"device.nand.spare_bytes: .*; found 19; expected 20 or more: 4 bytes"),
        (
            {"device__nand__spare_bytes": 55, "ftl__page__map_unit_bytes": 1024},
            r"device.nand.spare_bytes: .*; found 55; expected 56 or more: 4 times 4 bytes",
        ),
        ({"array__members": 2, "twice": True}, "twice: an array is not cut again during its recovery"),
        (
            {"recovery__map_load_fraction": 0.5},
            'recovery.map_load_fraction: .* no map on flash; found ftl = "page"; expected a layer with its map',
        ),
        (
            {"recovery__die_registers": "kept", "ftl": "fast"},
            'recovery.die_registers: .* no map on flash; found ftl = "fast"; .*as `dftl` or `rftl`, or "lost"',
        ),
        (
            {"recovery__die_registers": "kept", "ftl": "rftl"},
            "recovery.die_registers: has no effect: without .*; expected recovery.checkpoint_interval_bytes",
        ),
        (
            {"recovery__map_load_fraction": 0.5, "ftl__dftl__cmt_entries": 99, "device__blocks_per_plane": 32},
            r"map_load_fraction: .* no room .*; found 0\.5: 341 of 682 entries; expected at most 99 entries",
        ),
        ({"at_ns": 5, "while_busy": True}, "while_busy: found at_ns beside it, which says when; expected random cuts"),
        ({"run__replay": "flashsim"}, "run.replay: a power cut needs a clock"),
    ],
)
def test_wrong_arguments_name_themselves(drive: Config, asked: dict[str, Any], found: str) -> None:
    with pytest.raises(FlashwattError, match=found):
        fw.crash(drive, **asked)


def test_a_spare_area_that_is_large_enough_changes_nothing(drive: Config) -> None:
    """By hand: an owner of 4 bytes, a version of 8, and the number of the program, 8."""
    assert fw.crash(drive, cuts=2, device__nand__spare_bytes=20).cuts.equals(fw.crash(drive, cuts=2).cuts)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("--cuts 0", "--cuts: found 0; expected a whole number, 1 to"),
        ("--cuts -1", "--cuts: found -1"),
        ("--cuts many", '--cuts: not a number; found "many"'),
        ("--cuts 2 --at-operation 3", "--cuts and --at-operation: both say when the power is cut"),
        ("--at-ns 1h", "--at-ns: the run ends before the power is cut; found 3600000000000 ns"),
        ("--at-operation 1M", "--at-operation: the run ends before the power is cut; found operation 1000000"),
        ("--set host.scheduler=nop", "host.scheduler: unknown scheduler; found `nop`"),
        ("--while-busy --at-ns 5", "--while-busy and --at-ns: both say when the power is cut"),
        ("--preset raptor-x", "nothing to recover: a sector stays where it is written"),
        ("-o cuts.csv", "--out: cuts.csv: no format of a result; found .csv; expected .json"),
        ("--plot cuts.svg", "--plot: cuts.svg: no format of a page; found .svg; expected .html"),
        ("-o mine.json", "mine.json: cannot be written; found a file that is not a result of crash"),
        ("--quiet", "--quiet without --out, --plot or --json"),
        ("--preset nosuch", "--preset: unknown preset; found `nosuch`"),
    ],
)
def test_wrong_options_name_themselves(flashwatt: Cli, tiny: Path, options: str, found: str) -> None:
    (tiny.parent / "mine.json").write_text("{}")
    preset_alone = "raptor-x" in options
    result = flashwatt("crash", *([] if preset_alone else [tiny.name]), *options.split())
    assert (result.returncode, result.stdout) == (2, "")
    assert found in result.stderr
    assert "Traceback" not in result.stderr


def test_a_drive_is_needed(flashwatt: Cli) -> None:
    result = flashwatt("crash")
    assert (result.returncode, result.stdout) == (2, "")
    assert "no drive; expected a configuration (CONFIG.toml) or --preset NAME" in result.stderr


# ------------------------------------------------------------------ the command


def test_the_command_and_the_library_agree(flashwatt: Cli, tiny: Path) -> None:
    given = ("crash", "tiny.toml", "--cuts", 6, "--twice", "--set", "ftl=fast", "-o", "cuts.json", "--plot", "p.html")
    result = flashwatt(*given, "--json")
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    assert told == fw.crash(tiny, cuts=6, twice=True, ftl="fast").to_dict()
    assert told == json.loads((tiny.parent / "cuts.json").read_text())
    page = (tiny.parent / "p.html").read_text()
    assert page.count('class="chart"') == 3
    assert "Recovery energy after 6 power cuts" in page
    assert flashwatt(*given[:-2], "--quiet").stdout == ""  # its own file is replaced


def test_a_single_cut_has_a_table_and_a_page(flashwatt: Cli, tiny: Path) -> None:
    result = flashwatt("crash", "tiny.toml", "--at-ns", "1.5ms", "--plot", "one.html")
    assert result.returncode == 0, result.stderr
    assert "one cut, at 1500000 ns, after " in result.stdout
    assert "median" not in result.stdout
    assert re.search(r"reads of spare areas +512 *\n", result.stdout)
    assert "Nothing durable is lost" in result.stdout
    assert "nothing to distribute" in (tiny.parent / "one.html").read_text()


def test_lost_data_is_told_loudly_with_the_way_to_repeat_it(twice: Crash, tiny: Path, asked: Asked) -> None:
    """No layer loses data: the figures of a real campaign are changed before the command prints them."""
    lossy, path = spoilt(twice, _lose), tiny.parent / "lost.json"
    ended, out, err = asked(lossy, tiny, "--set", "ftl=fast", "--cuts", "20", "--twice", "-o", path)
    assert ended == 1
    assert "LOST: 3 units of durable data, by 2 cuts" in out
    first, second = lossy.losses
    command = f"flashwatt crash {tiny} --set ftl=fast"
    assert f"LOST: 2 units of durable data, by the cut at {first.at_ns} ns, seed 1; " in err
    assert f"`{command} --at-ns {first.at_ns}` repeats it" in err
    assert f"a second one {second.after_ns} ns after power on" in err
    assert f"`{command} --cuts 20 --twice` repeats it" in err
    assert Crash.read(path).lost_units == 3


def test_what_pairs_lose_is_told(flashwatt: Cli, tiny: Path) -> None:
    sets = [word for key, value in PAIRED.items() for word in ("--set", f"{key}={value}")]
    result = flashwatt("crash", "tiny.toml", "--cuts", "30", *sets)
    assert result.returncode == 1
    assert re.search(r"LOST: \d+ units of durable data with spoilt pages; nothing else is lost", result.stdout)
    assert re.search(r"pages spoilt by torn ones +0 +\d", result.stdout)
    assert "with pages spoilt by torn ones (device.nand.paired_pages)" in result.stderr


def test_capacitors_are_told(flashwatt: Cli, tiny: Path) -> None:
    sets = [word for key, value in CAPACITORS.items() for word in ("--set", f"{key}={value}")]
    result = flashwatt("crash", "tiny.toml", "--cuts", "30", "--twice", "--plot", "held.html", *sets)
    assert result.returncode == 0, result.stderr
    page = (tiny.parent / "held.html").read_text()
    assert page.count('class="chart"') == 5
    assert "Capacitance after 30 power cuts" in page
    assert "a full buffer takes 8.33 ms and 11.4 mJ: 6.34 mF from 3.3 to 2.7 V" in result.stdout
    assert len(re.findall("capacitance for it", result.stdout)) == 1  # not of second cuts
    assert "Nothing durable is lost" in result.stdout


def test_a_journal_is_named(flashwatt: Cli, tiny: Path) -> None:
    sets = [word for key, value in JOURNAL.items() for word in ("--set", f"{key}={value}")]
    result = flashwatt("crash", "tiny.toml", "--cuts", "5", *sets)
    assert result.returncode == 0, result.stderr
    assert "write buffer with a journal on flash: a write is durable when it has completed" in result.stdout
    assert re.search(r"units rolled back +0 +\d", result.stdout)
    run = flashwatt("run", "tiny.toml", *sets)
    assert re.search(r"journal +[\d.]+ .?J", run.stdout)
    error = flashwatt("crash", "tiny.toml", *sets, "--set", "device.nand.paired_pages=unprotected")
    assert error.returncode == 2
    assert "a journal holds parts of units, and a spoilt page may have held the rest" in error.stderr


@pytest.mark.parametrize(("lost", "status"), [(0, 130), (4, 1)])
def test_interrupted_cuts_are_kept(twice: Crash, tiny: Path, asked: Asked, lost: int, status: int) -> None:
    def interrupt(content: Any) -> None:
        content.update(status="interrupted", cuts=content["cuts"][:7])
        content["cuts"][0]["lost_units"] = lost

    path = tiny.parent / "some.json"
    ended, out, err = asked(spoilt(twice, interrupt), tiny, "--cuts", "20", "-o", path)
    assert ended == status
    assert "7 of 20 cuts at random times" in out
    assert f"interrupted after 7 of 20 cuts; those are kept in {path}" in err
    assert len(Crash.read(path).cuts) == 7


@needs_proc
def test_ctrl_c_keeps_the_cuts_until_then(tiny: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "flashwatt",
        "crash",
        "tiny.toml",
        "--cuts",
        "1000000",
        "-o",
        "days.json",
        "--quiet",
    ]
    with subprocess.Popen(command, cwd=tiny.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as days:
        wait_until_it_simulates(days)
        days.send_signal(signal.SIGINT)
        _out, err = days.communicate(timeout=60)
    assert days.returncode == 130, err
    kept = Crash.read(tiny.parent / "days.json")
    assert (kept.status, kept.when, kept.lost_units) == ("interrupted", {"cuts": 1_000_000}, 0)
    assert f"interrupted after {len(kept.cuts):,} of 1,000,000 cuts; those are kept in days.json" in err
    assert 0 < len(kept.cuts) < 1_000_000


def test_no_cut_at_all_is_printed_and_not_drawn(twice: Crash, tiny: Path, asked: Asked) -> None:
    none = spoilt(twice, lambda content: content.update(status="interrupted", cuts=[]))
    assert none.cuts.shape == (0, 18)
    assert none.spread("recovery_ns") is None
    with pytest.raises(FlashwattError, match="no cut to draw"):
        plot.recovery(none)
    ended, out, err = asked(none, tiny, "--plot", tiny.parent / "none.html")
    assert ended == 130
    assert "0 of 20 cuts" in out
    assert "none.html is not drawn: there is no cut" in err
    assert not (tiny.parent / "none.html").exists()


def test_the_guide_shows_what_the_command_prints(flashwatt: Cli) -> None:
    shown = re.findall(
        r"```sh\nflashwatt (crash [^\n]*)\n```\n\n```text\n(.*?)```",
        re.sub(r" *\\\n *", " ", DOCS.read_text()),
        re.DOTALL,
    )
    assert len(shown) == 3
    for command, output in shown:
        printed = flashwatt(*shlex.split(command)).stdout
        lines = [" ".join(line.split()) for line in output.splitlines() if line.strip()]
        found = [" ".join(line.split()) for line in printed.splitlines() if line.strip()]
        assert found == lines


# ------------------------------------------------------------------ pictures


def drawn(chart: plot.Chart) -> list[dict[str, Any]]:
    """The rows that a chart is drawn from."""
    spec = chart.spec()
    rows: list[dict[str, Any]] = spec["datasets"][spec["data"]["name"]]
    return rows


def test_bars_hold_every_cut_once(twice: Crash) -> None:
    for figure in ("recovery_ns", "energy_j", "reads", "programs", "erases"):
        rows = drawn(plot.recovery(twice, figure))
        for cut in ("first cut", "second cut"):
            bars = [row for row in rows if row["cut"] == cut]
            assert sum(row["n"] for row in bars) == 20
            assert all(row["from"] < row["to"] for row in bars)
    with pytest.raises(FlashwattError, match="figure: unknown name; found `watts`"):
        plot.recovery(twice, "watts")


def test_what_capacitors_do_is_drawn(drive: Config, twice: Crash) -> None:
    result = fw.crash(drive.override(CAPACITORS), cuts=20, twice=True)
    for figure, of_axis in (("dump_ns", "ms"), ("dump_energy_j", "mJ"), ("capacitance_f", "mF")):
        chart = plot.recovery(result, figure)
        rows = drawn(chart)
        assert (sum(row["n"] for row in rows), {row["cut"] for row in rows}) == (20, {"first cut"})
        size = {"ms": 1e6}.get(of_axis, 1e-3)
        assert max(row["most"] for row in rows) == pytest.approx(result.spread(figure).max / size, rel=1e-4)
        assert f" {of_axis}" in chart.description
        with pytest.raises(FlashwattError, match="figure: unknown name"):
            plot.recovery(twice, figure)


def test_a_bar_is_where_its_values_are(drive: Config) -> None:
    result = fw.crash(drive, cuts=30, ftl="fast")
    rows = drawn(plot.recovery(result))
    assert all(row["from"] - 1e-9 <= row["least"] <= row["most"] <= row["to"] + 1e-9 for row in rows)
    assert sorted(row["from"] for row in rows) == [row["from"] for row in rows]
    values = result.cuts["recovery_ns"] / 1e6
    assert min(row["least"] for row in rows) == pytest.approx(values.min(), rel=1e-5)
    assert max(row["most"] for row in rows) == pytest.approx(values.max(), rel=1e-5)


def test_dots_are_at_their_cuts_and_losses_are_crossed(twice: Crash) -> None:
    rows = drawn(plot.cuts(twice))
    assert len(rows) == 40
    assert [row["torn"] for row in rows[:20]] == twice.cuts["torn_pages"].to_list()
    assert [row["torn"] for row in rows[20:]] == twice.cuts["second_torn_pages"].to_list()
    assert len(plot.cuts(twice).spec()["layer"]) == 1
    lossy = spoilt(twice, lambda content: content["cuts"][3].update(lost_units=2))
    chart = plot.cuts(lossy)
    assert len(chart.spec()["layer"]) == 2
    assert "Crosses: 2 units of durable data lost." in chart.description
