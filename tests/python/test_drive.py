"""A drive that a Python program drives does what it does in a run, and says what it cannot do."""

from __future__ import annotations

import random
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt
from flashwatt import Drive, FlashwattError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from flashwatt.drive import Kind

DEVICE = {"preset": "x25m", "channels": 2, "ways": 2, "logical_bytes": 256 << 20}
SMALL = {"device": DEVICE, "run": {"precondition": "filled", "count_drain": True}}
OTHER = ("config", "config_sha256", "workload", "window", "drain_ledger", "warnings", "not_steady", "engine")
LATER = 10**12


def requests(count: int) -> list[tuple[int, Kind, int, int]]:
    """Requests at growing times from 0 on, fast enough to wait for each other."""
    rng = random.Random(7)
    at_ns, made = 0, []
    for _ in range(count):
        kind: Kind = rng.choice(("read", "write", "write", "trim"))
        made.append((at_ns, kind, rng.randrange(60_000) * 4096, rng.choice((512, 4096, 16_384))))
        at_ns += rng.randrange(1, 100) * 1_000
    return made


def figures(report: flashwatt.Report) -> dict[str, Any]:
    """What must be the same whoever feeds the drive."""
    return {key: value for key, value in report.to_dict().items() if key not in OTHER}


@pytest.mark.parametrize("steps", ["report at once", "event by event", "end by end"])
def test_a_script_gives_the_figures_of_its_trace(tmp_path: Path, steps: str) -> None:
    script = requests(400)
    trace = tmp_path / "script.csv"
    rows = "".join(f"{at // 1_000},0,{kind[0].upper()},{offset},{size}\n" for at, kind, offset, size in script)
    trace.write_text(f"time_us,device,op,offset,bytes\n{rows}")
    run = flashwatt.run(SMALL, workload__trace__path=trace)
    drive = Drive(SMALL)
    done: list[flashwatt.Done] = []
    for at, kind, offset, size in script:
        drive.submit(kind, offset, size, at)
    while steps == "event by event" and (next_ns := drive.next_event_ns()) is not None:
        done += drive.advance(next_ns)
    while steps == "end by end" and len(done) < len(script):
        done += drive.advance_to_done(LATER)
    if done:
        assert sorted(one.submitted_ns for one in done) == [at for at, *_ in script]
        assert [one.end_ns for one in done] == sorted(one.end_ns for one in done)
        mean = sum(one.latency_ns for one in done) / len(done)
        assert mean == pytest.approx(run.latency_ns.all.mean, rel=1e-12)
        assert drive.energy_j() == pytest.approx(run.energy_j.total, rel=1e-9)
    report = drive.report()
    assert figures(report) == figures(run)
    assert report.latency().equals(run.latency())
    assert report.engine is None
    assert (report.workload.name, report.workload.requests) == ("drive", len(script))


def test_requests_wait_for_each_other() -> None:
    """One die: 82 µs over the bus, 900 µs of programming; 30 µs between two operations of the controller."""
    drive = Drive(device={"preset": "x25m", "channels": 1, "ways": 1, "logical_bytes": 64 << 20})
    first, second = drive.submit("write", 0, 4096, 1_000), drive.submit("write", 4096, 4096, 1_000)
    assert drive.next_event_ns() == 1_000
    assert drive.advance(982_999) == []
    assert (drive.now_ns, drive.next_event_ns()) == (982_999, 983_000)
    assert drive.advance(983_000) == [(first, 1_000, 983_000)]
    assert drive.power_w() > 0
    (done,) = drive.advance_to_done(LATER)
    assert (done.tag, done.end_ns, done.latency_ns) == (second, 983_000 + 982_000, 2 * 982_000)
    assert drive.now_ns == done.end_ns
    assert drive.advance_to_done(done.end_ns + 5) == []
    assert drive.now_ns == done.end_ns + 5
    before_j = drive.energy_j()
    drive.advance(LATER)
    assert drive.energy_j() - before_j == pytest.approx(drive.power_w() * (LATER - done.end_ns - 5) / 1e9)


def test_now_is_the_time_of_a_request_without_one() -> None:
    drive = Drive(SMALL)
    drive.advance(77)
    drive.submit("write", 0, 512, fua=True, origin=3)
    drive.submit("flush")
    assert {one.submitted_ns for one in drive.advance(LATER)} == {77}


def test_a_drive_is_configured_as_a_run_is(tmp_path: Path) -> None:
    path = tmp_path / "drive.toml"
    path.write_text(f'device = {{ preset = "x25m", logical_bytes = {1 << 30} }}\n')
    device = {"preset": "x25m", "logical_bytes": 1 << 30}
    drives = [Drive(path, seed=3), Drive(flashwatt.Config.of(path), run={"seed": 3}), Drive(seed=3, device=device)]
    shas = set()
    for drive in drives:
        drive.submit("read", 0, 512)
        shas.add(drive.report().config_sha256)
    assert len(shas) == 1


REFUSED: list[tuple[Callable[[Drive], object], str]] = [
    (lambda drive: drive.submit("wirte", 0, 512), "kind: unknown name; found `wirte`; expected one of `read`"),  # type: ignore[arg-type]
    (lambda drive: drive.submit(3, 0, 512), "kind: unknown name; found `3`"),  # type: ignore[arg-type]
    (lambda drive: drive.submit("read", -1, 512), "offset_bytes: found -1; expected a whole number from 0 to"),
    (lambda drive: drive.submit("read", 0, 2**64), "bytes: found 18446744073709551616; expected a whole"),
    (lambda drive: drive.submit("read", 0, 512, 1e9), r"at_ns: found 1000000000\.0; expected a whole"),  # type: ignore[arg-type]
    (lambda drive: drive.submit("read", 0, 512, origin=65_536), "origin: found 65536; expected a whole .* to 65535"),
    (lambda drive: drive.submit("read", 0, 100), "request: it does not lie on the drive; found 100 bytes at byte 0"),
    (lambda drive: drive.submit("read", 256 << 20, 512), "it does not lie on the drive"),
    (
        lambda drive: drive.submit("read", 0, 512, 99),
        "at_ns: a time that is over; found 99 ns; expected 100 ns",
    ),
    (lambda drive: drive.advance("soon"), "until_ns: found 'soon'; expected a whole"),  # type: ignore[arg-type]
    (lambda drive: drive.advance_to_done(-1), "until_ns: found -1"),
]


@pytest.mark.parametrize(("call", "said"), REFUSED, ids=[said.split(";")[0] for _, said in REFUSED])
def test_what_cannot_be_is_refused_and_changes_nothing(call: Callable[[Drive], object], said: str) -> None:
    drive = Drive(SMALL)
    drive.advance(100)
    with pytest.raises(FlashwattError, match=said):
        call(drive)
    drive.submit("read", 0, 512)
    assert drive.report().status == "complete"


def test_what_a_drive_cannot_be_made_from_is_told() -> None:
    with pytest.raises(FlashwattError, match=r"override device\.chanels: unknown key.*did you mean `channels`"):
        Drive(device__chanels=2)
    with pytest.raises(FlashwattError, match=r"<dict>: device\.channels"):
        Drive({"device": {"channels": 0}})


def test_a_report_ends_the_drive() -> None:
    drive = Drive(SMALL)
    drive.submit("read", 0, 512)
    assert drive.report().workload.reads == 1
    for call in (drive.report, drive.energy_j, drive.power_w, drive.next_event_ns, lambda: drive.now_ns):
        with pytest.raises(FlashwattError, match="after `report`, which ends the drive; expected a new Drive"):
            call()
    with pytest.raises(FlashwattError, match="after `report`"):
        drive.submit("read", 0, 512)
    with pytest.raises(FlashwattError, match="after `report`"):
        drive.advance(1)


def test_a_time_beyond_the_last_one_is_refused_and_changes_nothing() -> None:
    drive = Drive(SMALL)
    drive.submit("read", 0, 512)
    with pytest.raises(FlashwattError, match="until_ns: a time beyond the end of simulated time"):
        drive.advance(2**64 - 1)
    assert len(drive.advance(10**9)) == 1
    assert drive.report().status == "complete"


def test_a_signal_stops_it_and_loses_nothing() -> None:
    """Ctrl-C is such a signal. This handler finds the drive busy, for it is called while the drive advances."""
    drive = Drive(SMALL)
    count = 60_000
    for at in range(count):
        drive.submit("write", at * 4096, 4096, at)
    before = signal.signal(signal.SIGALRM, lambda *_: [drive.power_w()].clear())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        with pytest.raises(FlashwattError, match="a call while another one is under way; expected one at a time"):
            drive.advance(LATER)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    stopped_ns = drive.now_ns
    done = drive.advance(LATER)
    assert (len(done), drive.now_ns) == (count, LATER)
    assert done[0].end_ns <= stopped_ns < done[-1].end_ns


def test_other_threads_run_while_it_advances() -> None:
    drive = Drive(SMALL)
    for at in range(60_000):
        drive.submit("write", at * 4096, 4096, at)
    thread = threading.Thread(target=drive.advance, args=(LATER,))
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += 1
    thread.join()
    assert turns > 100
    assert drive.now_ns == LATER


# ------------------------------------------------------------------ power cuts


TINY = {
    "device": {
        "preset": "limit",
        "channels": 2,
        "ways": 1,
        "blocks_per_plane": 16,
        "pages_per_block": 16,
        "op_ratio": 0.5,
    }
}


def test_a_drive_whose_power_is_cut_goes_on() -> None:
    """Two dies of 256 pages, 50.4 µs to read a spare area. Of three writes one is on flash at 1 ms.

    The torn pages stand behind whole ones in their blocks, so that none is erased.
    """
    recovery_ns = 256 * 50_400
    drive = Drive({**TINY, "run": {"precondition": "filled"}}, cuttable=True)
    first = drive.submit("write", 4096, 4096)
    assert [one.tag for one in drive.advance(1_000_000)] == [first]
    lost = [drive.submit("write", 4096 * page, 4096) for page in (2, 3)]
    later = drive.submit("read", 4096, 4096, at_ns=2_000_000)
    drive.advance(1_200_000)
    before_j = drive.energy_j()
    cut = drive.cut()
    assert [(one.tag, one.submitted_ns, one.end_ns) for one in cut.lost] == [
        (tag, 1_000_000, 1_200_000) for tag in lost
    ]
    assert cut.figures["recovery_ns"] == recovery_ns
    assert cut.recovered_ns == 1_200_000 + recovery_ns
    assert [cut.figures[key] for key in ("torn_pages", "rolled_back_units", "lost_units", "requests_lost")] == [
        2,
        2,
        0,
        2,
    ]
    assert drive.energy_j() == pytest.approx(before_j)
    assert drive.advance(cut.recovered_ns) == []
    (read,) = drive.advance(30_000_000)
    assert (read.tag, read.submitted_ns) == (later, 2_000_000)
    assert read.end_ns > cut.recovered_ns
    report = drive.report()
    assert (report.status, report.workload.requests) == ("complete", 2)
    assert report.power_cuts
    assert report.power_cuts.cuts == 1
    assert report.energy_integral_j == pytest.approx(report.energy_j.total, rel=1e-9)


def test_the_energy_of_a_recovery_is_the_drive_s() -> None:
    drive = Drive(TINY, cuttable=True)
    for page in range(40):
        drive.submit("write", 4096 * page, 4096)
    drive.advance(3_000_000)
    cut, before_j = drive.cut(), drive.energy_j()
    drive.advance(cut.recovered_ns)
    assert drive.energy_j() - before_j == pytest.approx(cut.figures["energy_j"], rel=1e-9)
    again = drive.cut()
    assert (again.lost, again.figures["rolled_back_units"], again.figures["lost_units"]) == ([], 0, 0)


@pytest.mark.parametrize("ftl", ["page", "fast"])
@pytest.mark.parametrize("protection", ["none", "volatile", "capacitors", "journal", "backup", "hold_ack"])
def test_a_cut_in_place_is_that_of_a_copy(tmp_path: Path, ftl: str, protection: str) -> None:
    """The requests of a run, sent by a program, and the power cut at the same time: the same figures."""
    of_buffer = {"write_buffer.bytes": 49_152, "write_buffer.protection": protection}
    of_pairs = {"device.nand.paired_pages": protection}
    of_buffers = dict.fromkeys(("volatile", "capacitors", "journal"), of_buffer)
    protected = {**of_buffers, "backup": of_pairs, "hold_ack": of_pairs}
    load = {"workload.uniform.requests": 400, "workload.uniform.rate_per_s": 50_000}
    config = flashwatt.Config.of(TINY).override(
        {"device.blocks_per_plane": 32, "device.op_ratio": 0.8, "ftl": ftl, **protected.get(protection, {}), **load}
    )
    flashwatt.run(config, capture=tmp_path / "sent.csv")
    drive = Drive(config, cuttable=True)
    _, _, *sent = (tmp_path / "sent.csv").read_text().splitlines()
    for time_us, _, _, offset, size, *_ in (line.split(",") for line in sent):
        drive.submit("write", int(offset), int(size), at_ns=round(float(time_us) * 1_000))
    drive.advance(6_543_210)
    cut = drive.cut()
    assert cut.figures == flashwatt.crash(config, at_ns=6_543_210).cuts.to_dicts()[0]
    assert len(cut.lost) > cut.figures["requests_lost"], "some waited for room in the drive"


def test_a_drive_that_cannot_be_cut_says_so() -> None:
    with pytest.raises(FlashwattError, match=r"cut: the power of this drive cannot be cut.*made cuttable"):
        Drive(TINY).cut()
    with pytest.raises(FlashwattError, match="nothing to recover: a sector stays where it is written"):
        Drive({"device.preset": "laptop-7200"}, cuttable=True)
    drive = Drive(TINY, cuttable=True)
    drive.report()
    with pytest.raises(FlashwattError, match="after `report`"):
        drive.cut()


def test_blocks_of_a_drive_that_fills() -> None:
    """An empty drive of 64 blocks, on which 40 pages are written and 8 of them again."""
    small = {"channels": 2, "ways": 1, "blocks_per_plane": 32, "pages_per_block": 16, "op_ratio": 0.8}
    device = {"preset": "limit", **small}
    drive = flashwatt.Drive({"device": device, "run": {"precondition": "empty"}})
    assert drive.blocks()["state"].unique().to_list() == ["free"]
    for page in (*range(40), *range(8)):
        drive.submit("write", page * 4096, 4096)
        drive.advance(drive.now_ns + 10_000_000)
    blocks = drive.blocks()
    assert blocks.height == 64
    assert (blocks["planned_pages"].sum(), blocks["valid_units"].sum()) == (48, 40)
    assert (blocks["erases"].sum(), set(blocks["die"])) == (0, {0, 1})
    states = dict(blocks["state"].value_counts().iter_rows())
    assert (states["closed"], states["open"], states["free"]) == (2, 2, 60), "24 pages for each die"
    disk = flashwatt.Drive(device__preset="laptop-7200")
    with pytest.raises(flashwatt.FlashwattError, match="blocks: only of an SSD"):
        disk.blocks()
