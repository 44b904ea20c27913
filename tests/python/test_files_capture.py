"""What file systems of a real Linux kernel send to a disk, and the tools that capture and compare (`tools/linux`)."""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import shutil
import struct
import subprocess
import sys
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from capture import guest_environment
from capture_files import WHOLE, counted_by_jbd2
from compare_files import FIGURES, SYSTEMS, WINDOWS, Bar, journal_table, rows_of
from files_figures import Sent, figures, phases, read_log, read_request_log
from files_journal import Block, blocks_of, journal_figures, parse
from files_layout import BLOCK_BYTES, LAYOUTS, Ext2, Ext3, Nilfs2, is_sparse_super, layout_of
from journal_places import BLOCK_BYTES as PLACED_BLOCK_BYTES
from journal_places import SIZES_MIB, made, place_of
from vhost_disk import Disk, Region

ROOT = Path(__file__).parents[2]
CAPTURE = ROOT / "tests/python/data/files"
RUNS: dict[str, Any] = json.loads((CAPTURE / "runs.json").read_text())["runs"]
SBIN = "/usr/sbin:/sbin:/usr/bin"
KINDS = {"R": "read", "W": "write", "F": "flush", "T": "trim"}


def slow(system: str) -> dict[str, Any]:
    """The run of which the log is kept."""
    run: dict[str, Any] = RUNS[f"{system}.1000us.0"]
    return run


@pytest.mark.parametrize("system", LAYOUTS)
def test_the_kept_log_has_the_figures_of_its_run(system: str) -> None:
    parts = phases(read_log(CAPTURE / f"{system}.csv.xz"))
    for name in ("mkfs", "mount", *WHOLE, "umount"):
        of_log, of_run = figures(parts[name]), slow(system)["phases"][name]
        numbers = {key: value for key, value in of_log.items() if not isinstance(value, list)}
        assert numbers == {key: pytest.approx(of_run[key], abs=2e-6) for key in numbers}
        assert of_log["common_writes_kib"] == of_run["common_writes_kib"]
    assert sum(len(parts[name]) for name in WHOLE) > 5000


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_capture_in_flashwatts_form_compares_equal(system: str, tmp_path: Path) -> None:
    """The side that reads FlashWatt's files gives the same figures for the same requests."""
    parts = phases(read_log(CAPTURE / f"{system}.csv.xz"))
    run = slow(system)
    with (tmp_path / f"{system}.requests.csv").open("w") as file:
        file.write("kind,arrival_ns,start_ns,end_ns,offset_bytes,bytes,origin\n")
        for sent in (sent for phase in WHOLE for sent in parts[phase]):
            end_ns = sent.time_ns + 1_000_000
            file.write(
                f"{KINDS[sent.kind]},{sent.time_ns},{sent.time_ns},{end_ns},{sent.offset_bytes},{sent.bytes},0\n"
            )
    flows = [{"name": "fsync", "count": run["fio"]["fsyncs"]}, {"name": "write", "count": run["fio"]["writes"]}]
    report = {"files": {"flows": flows, "metadata_fraction": run["phases"]["job"]["metadata_share"]}}
    (tmp_path / f"{system}.report.json").write_text(json.dumps(report))
    (tmp_path / f"{system}.inspect.json").write_text(json.dumps({"extents_mean": run["extents"]["mean"]}))
    rows = rows_of({f"{system}.1000us.0": run}, "job", tmp_path)
    assert [row.figure for row in rows] == list(FIGURES)
    for row in rows:
        if row.figure.key == "extents" and SYSTEMS[system] == WINDOWS:
            assert row.flashwatt is None, "two allocators"
            continue
        assert row.flashwatt == pytest.approx(row.real[0], abs=1e-6), row.figure.label
        assert row.is_within


def test_a_request_log_is_read_in_the_order_of_coming(tmp_path: Path) -> None:
    log = tmp_path / "requests.csv"
    log.write_text(
        "kind,arrival_ns,start_ns,end_ns,offset_bytes,bytes,origin\n"
        "flush,20,20,21,0,0,0\nwrite,10,10,30,8192,4096,0\nwrite,5,5,40,4096,4096,0\n"
    )
    assert read_request_log(log) == [Sent(5, "W", 4096, 4096), Sent(10, "W", 8192, 4096), Sent(20, "F", 0, 0)]


def test_figures_by_hand() -> None:
    """Of three writes one begins where the last write ended; a read between them does not matter."""
    log = [Sent(0, "W", 0, 8192), Sent(1, "R", 0, 4096), Sent(2, "W", 8192, 4096), Sent(3, "F", 0, 0)]
    log.append(Sent(1_000_000_000, "W", 0, 12288))
    found = figures(log, lambda offset, length: {"data" if offset else "superblock": length})
    assert (found["writes"], found["reads"], found["flushes"]) == (3, 1, 1)
    assert found["mean_write_kib"] == pytest.approx(8)
    assert found["sequential_share"] == pytest.approx(1 / 3)
    assert found["metadata_share"] == pytest.approx(20480 / 24576)
    assert found["duration_s"] == 1


def test_marks_divide_the_log() -> None:
    log = [Sent(at, "R", sector * 512, 512) for at, sector in ((1, 1), (3, 2), (5, 3), (8, 4), (9, 5))]
    log += [Sent(2, "W", 0, 4096), Sent(6, "R", 512, 4096), Sent(7, "F", 0, 0), Sent(10, "F", 0, 0)]
    parts = phases(sorted(log))
    assert parts["mkfs"] == [Sent(2, "W", 0, 4096)]
    assert parts["layout"] == [Sent(6, "R", 512, 4096), Sent(7, "F", 0, 0)]
    assert not parts["start"] + parts["mount"] + parts["run"] + parts["umount"]


@pytest.mark.parametrize(
    ("bar", "value", "beyond"),
    [
        (Bar("part", 0.25), 15, 0),
        (Bar("part", 0.25), 5, 5 / 15),
        (Bar("part", 0.25), 23, 3 / 15),
        (Bar("points", 0.1), 7, 3),
        (Bar("points", 0.1), 21, 1),
        (Bar("factor", 1.5), 12, 1),
        (Bar("factor", 1.5), 30, 1.5),
        (Bar("factor", 1.5), 5, 2),
    ],
)
def test_bars_count_from_the_range(bar: Bar, value: float, beyond: float) -> None:
    assert bar.beyond([10, 20, 15], value) == pytest.approx(beyond)


def test_bars_decide() -> None:
    run = json.loads(json.dumps(slow("ext2")))
    (row,) = [row for row in rows_of({"ext2.0us.0": run}, "run", None) if row.figure.key == "mean_write_kib"]
    assert row.beyond is None
    assert row.is_within
    assert row._replace(flashwatt=row.real[0] * 1.24).is_within
    assert not row._replace(flashwatt=row.real[0] * 1.26).is_within


def test_the_job_reads_and_writes_the_same_in_every_run() -> None:
    """Fio draws the same places each time: 12,800 operations, each on a piece of its own, and 400 files of 512 KiB."""
    for name, run in RUNS.items():
        assert run["fio"]["reads"] + run["fio"]["writes"] == 12_800
        written = run["phases"]["job"]["written"]["data"]
        assert written == pytest.approx(400 * (512 << 10) + run["fio"]["written_bytes"], rel=1e-3), name


def test_the_image_and_filefrag_agree_on_the_extents_of_ext2() -> None:
    means = [(run["image"]["extents_mean"], run["extents"]["mean"]) for name, run in RUNS.items() if "ext2" in name]
    assert len(means) >= 10
    assert all(image == filefrag for image, filefrag in means)


def test_the_page_has_the_captured_figures() -> None:
    command = [sys.executable, str(ROOT / "tools/linux/compare_files.py"), str(CAPTURE), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    page = (ROOT / "docs/validation-files.md").read_text()
    lines = [line for line in json.loads(done.stdout)["page"].splitlines() if line.startswith("| ")]
    assert len(lines) > 60
    for line in lines:
        assert line.rsplit("|", 4)[0] in page


def test_the_table_of_journals_by_hand() -> None:
    part = {
        "fsyncs": 30,
        "written": {"data": 9 << 20, "journal": 3 << 20, "bitmap": 1 << 20, "inode table": 1 << 20},
        "journal": {"writes": 25, "blocks": {"commit": 10, "copy": 120, "superblock": 4}, "copies_most": 17},
    }
    more = {**part, "fsyncs": 60}
    runs = {
        f"ext3.0us.{number}": {"phases": dict.fromkeys(WHOLE, of) | {"job": of}}
        for number, of in enumerate((part, more))
    }
    text = journal_table({**runs, "ext2.0us.0": slow("ext2")})
    assert "| `ext3`, 0 µs | `run` | 10 | 4.5 | 12.0 | 17 | 2.10 | 3.0 | 2.0 | 4 |" in text.splitlines()
    assert "ext2" not in text
    assert not journal_table({"ext2.0us.0": slow("ext2")})


def test_the_captured_files_are_small() -> None:
    assert max(file.stat().st_size for file in CAPTURE.iterdir()) < 350 * 1024


NEEDS_E2FSPROGS = pytest.mark.skipif(
    any(shutil.which(command, path=SBIN) is None for command in ("mkfs.ext2", "mkfs.ext3", "debugfs")),
    reason="e2fsprogs is not there",
)


@NEEDS_E2FSPROGS
def test_blocks_of_ext2_are_those_of_mkfs(tmp_path: Path) -> None:
    """A file of 20 blocks and a directory in an image of 64 MiB with two groups."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root/file").write_bytes(b"x" * 20 * BLOCK_BYTES)
    image = tmp_path / "image"
    mkfs = shutil.which("mkfs.ext2", path=SBIN)
    command = [str(mkfs), "-q", "-b", "4096", "-g", "8192", "-d", str(tmp_path / "root"), str(image), "64M"]
    subprocess.run(command, check=True)
    layout = layout_of("ext2", image)
    assert isinstance(layout, Ext2)
    assert layout.kinds.count("data") == 20
    assert layout.kinds.count("indirect") == 1
    assert layout.kinds.count("superblock") == layout.kinds.count("block bitmap") == 2
    assert layout.kinds[:2] == ["superblock", "group descriptors"]
    assert list(layout.extents.values()) == [2]
    assert layout.kinds.count("other") == 2 * 8192 - sum(layout.used)


@NEEDS_E2FSPROGS
def test_the_journal_of_ext3_is_where_debugfs_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An image of 128 MiB: 4,096 blocks, and five of its map between them."""
    monkeypatch.setenv("PATH", SBIN)
    image = tmp_path / "image"
    place = made(128, image)
    layout = layout_of("ext3", image)
    assert isinstance(layout, Ext3)
    assert len(layout.journal) == place.journal_blocks == layout.kinds.count("journal") == 4096
    assert layout.kinds.count("indirect") == place.map_blocks == 5
    for kind in ("journal", "indirect"):
        blocks = {block for block, at in enumerate(layout.kinds) if at == kind}
        assert blocks <= {block for first, last in place.runs for block in range(first, last + 1)}
    assert layout.journal[0] == place.first_block
    assert not layout.extents
    listing = subprocess.run(["debugfs", "-R", "blocks <8>", image], check=True, capture_output=True, text=True).stdout
    listed = [int(word) for word in listing.split()]
    assert set(layout.journal) <= set(listed)
    assert len(listed) == 4096 + 5
    assert [block for block in listed if layout.kinds[block] == "journal"] == layout.journal


@NEEDS_E2FSPROGS
@pytest.mark.parametrize("mib", [4, 8, 127, 256])
def test_the_table_of_journals_is_what_mkfs_makes(mib: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", SBIN)
    made_now = made(mib, tmp_path / "image")
    first = "" if made_now.first_block is None else made_now.first_block
    runs = " ".join(f"{first}-{last}" for first, last in made_now.runs)
    line = f"{mib},{made_now.blocks},{made_now.journal_blocks},{first},{made_now.map_blocks},{runs}"
    assert line in (CAPTURE / "ext3_journal_places.csv").read_text().splitlines()


def test_the_table_of_journals_is_whole() -> None:
    """Each size once; the runs are as long as the journal and its map."""
    lines = (CAPTURE / "ext3_journal_places.csv").read_text().splitlines()[1:]
    assert [int(line.partition(",")[0]) for line in lines] == SIZES_MIB
    for line in lines:
        mib, blocks, journal, _, mapped, runs = line.split(",")
        assert int(blocks) * PLACED_BLOCK_BYTES == int(mib) << 20
        ends = [run.split("-") for run in runs.split()]
        assert sum(int(last) - int(first) + 1 for first, last in ends) == int(journal) + int(mapped)


def test_the_listing_of_debugfs_is_read() -> None:
    place = place_of(64, "\n(0-11):10-21, (IND):22, (12-13):23-24, (DIND):30, (IND):31, (14):32\nTOTAL: 18\n")
    assert (place.journal_blocks, place.first_block, place.map_blocks) == (15, 10, 3)
    assert place.runs == [(10, 24), (30, 32)]


def test_blocks_of_a_journal_by_hand() -> None:
    """A descriptor of three copies, the first one's tag with a UUID after it; the last one is a commit block."""
    header = struct.pack(">3I", 0xC03B3998, 1, 7)
    tags = struct.pack(">IHH", 33, 0, 0) + bytes(16) + struct.pack(">IHHIHH", 35, 0, 2, 9000, 0, 2 | 8)
    descriptor = (header + tags + b"\xff" * 8).ljust(BLOCK_BYTES, b"\0")
    commit = struct.pack(">3I", 0xC03B3998, 2, 7).ljust(BLOCK_BYTES, b"\0")
    found = blocks_of(memoryview(descriptor + bytes(3 * BLOCK_BYTES) + commit))
    assert found == [Block(0, "D", (33, 35, 9000)), Block(4, "C")]
    assert " ".join(map(str, found)) == "0D:33+35+9000 4C"
    assert parse("0D:33+35+9000 4C") == found
    assert not parse("")


def test_figures_of_a_journal_by_hand() -> None:
    """A commit of two copies in two requests, one of three in one; a file's data is no part of it."""
    layout = Ext3.__new__(Ext3)
    layout.kinds = ["bitmap", "inode table", *["journal"] * 20, "data"]
    log = [Sent(0, "W", 22 * BLOCK_BYTES, BLOCK_BYTES), Sent(1, "W", 2 * BLOCK_BYTES, 3 * BLOCK_BYTES, "0D:0+1")]
    log += [Sent(2, "F", 0, 0), Sent(3, "W", 5 * BLOCK_BYTES, BLOCK_BYTES, "0C")]
    log.append(Sent(4, "W", 6 * BLOCK_BYTES, 5 * BLOCK_BYTES, "0D:1+1+1 4C"))
    found = journal_figures(log, layout)
    assert found == {
        "writes": 3,
        "blocks": {"copy": 5, "descriptor": 2, "commit": 2},
        "copies_of": {"inode table": 4, "bitmap": 1},
        "copies_most": 3,
    }


def test_what_the_kernel_says_of_its_transactions_is_read(tmp_path: Path) -> None:
    info = tmp_path / "info"
    info.write_text(
        "644 transactions (640 requested), each up to 1024 blocks\naverage: \n  0ms waiting for transaction\n"
        "  631us average transaction commit time\n  136 handles per transaction\n  11 blocks per transaction\n"
        "  13 logged blocks per transaction\n"
    )
    found = {"transactions": 644, "requested": 640, "commit_us": 631, "handles": 136, "blocks": 11, "logged_blocks": 13}
    assert counted_by_jbd2(info) == found


def test_the_kept_logs_have_whole_transactions() -> None:
    """Each descriptor names as many blocks as there are copies, and a commit follows."""
    for system in (name for name, layout in LAYOUTS.items() if issubclass(layout, Ext3)):
        parts = phases(read_log(CAPTURE / f"{system}.csv.xz"))
        for name in WHOLE:
            blocks = [block for sent in parts[name] for block in parse(sent.journal)]
            kept = slow(system)["phases"][name]["journal"]
            assert max((len(block.homes) for block in blocks), default=0) == kept["copies_most"]
            for letter, kind in (("D", "descriptor"), ("C", "commit"), ("S", "superblock")):
                assert sum(block.letter == letter for block in blocks) == kept["blocks"].get(kind, 0)
            copies = sum(len(block.homes) for block in blocks)
            assert copies == kept["blocks"].get("copy", 0) == sum(kept["copies_of"].values())


def test_captures_of_ext3_differ_where_they_should() -> None:
    """Barriers are flushes, two a commit. With times of whole seconds fewer writes change an inode."""
    runs = {name: run["phases"]["run"] for name, run in RUNS.items() if name.startswith("ext3")}
    for service in ("0us", "1000us"):
        for number in range(5):
            plain, bare, seconds = (
                runs[f"{system}.{service}.{number}"] for system in ("ext3", "ext3_nobarrier", "ext3_seconds")
            )
            assert bare["flushes"] == 0
            assert plain["flushes"] > 2 * plain["journal"]["blocks"]["commit"]
            assert seconds["journal"]["blocks"]["copy"] < 0.7 * plain["journal"]["blocks"]["copy"]


def test_a_journal_that_nobody_hurries_commits_every_five_seconds() -> None:
    """Data, descriptor and copies, flush, commit block, flush; blocks go to their places half a minute later."""
    run = phases(read_log(CAPTURE / "ext3_lazy.csv.xz"))["run"]
    written = [sent for sent in run if sent.kind != "R"]
    commits = [at for at, sent in enumerate(written) if sent.journal.endswith("C")]
    starts = [at for at, sent in enumerate(written) if "D" in sent.journal]
    assert len(commits) == len(starts) == 8
    times = [written[at].time_ns / 1e9 for at in commits]
    assert [after - before for before, after in pairwise(times)] == pytest.approx([5] * 7, abs=0.1)
    for at in commits:
        assert [sent.kind for sent in written[at - 1 : at + 2]] == ["F", "W", "F"]
    homes = {home for sent in written for block in parse(sent.journal) for home in block.homes}
    in_place = [sent for sent in written if sent.kind == "W" and sent.offset_bytes // BLOCK_BYTES in homes]
    assert min(sent.time_ns for sent in in_place) / 1e9 - times[0] > 30
    data = [sent for sent in written[: starts[0]] if sent.kind == "W" and not sent.journal]
    assert sum(sent.bytes for sent in data) > 5 * 900_000


def test_few_threads_join_in_a_commit() -> None:
    """Two flushes a commit; a thread alone needs one commit for each fsync, sixteen need an eighth of that."""
    runs = json.loads((CAPTURE / "ext3_joins.json").read_text())
    assert [run["threads"] for run in runs] == [threads for threads in (1, 2, 4, 8, 16) for _ in range(5)]
    for run in runs:
        assert run["fsyncs"] == 256 * run["threads"]
        assert run["flushes"] == pytest.approx(2 * run["commits"], rel=0.02)
        assert run["journal"]["blocks"]["commit"] == run["commits"]
        joined = run["fsyncs"] / run["commits"]
        assert joined == 1 if run["threads"] == 1 else 1 < joined <= run["threads"] + 0.1


def test_the_page_has_the_table_of_journals() -> None:
    page = (ROOT / "docs/validation-files.md").read_text()
    for line in (CAPTURE / "ext3_journal_places.csv").read_text().splitlines()[1:]:
        mib, _, journal, first, mapped, runs = line.split(",")
        size = f"{int(mib) // 1024} GiB" if int(mib) >= 1024 else f"{mib} MiB"
        row = (
            f"| {size} | {int(journal):,} | {int(journal) // 256:,} | {first} | {mapped} | {runs.replace(' ', ', ')} |"
        )
        if int(mib) >= 64 and int(mib).bit_count() == 1:
            assert row in page.splitlines()


def test_copies_of_the_superblock() -> None:
    assert [group for group in range(50) if is_sparse_super(group)] == [0, 1, 3, 5, 7, 9, 25, 27, 49]


def test_a_log_of_nilfs2_by_hand() -> None:
    """Entries of 300 blocks of a file do not fit into one block of the summary; the super root is the last block."""
    image = mmap.mmap(-1, 1024 * BLOCK_BYTES)
    struct.pack_into("<Q", image, 1024 + 24, 2)
    struct.pack_into("<QI", image, 1024 + 40, 1, 512)
    files = [(12, 300, 300), (12 + 1, 3, 2), (3, 2, 1)]  # inode, blocks, and those of data
    at, summary = BLOCK_BYTES + 64, 0
    for inode, blocks, data in files:
        struct.pack_into("<2Q2I", image, at, inode, 1, blocks, data)
        at += 24
        sizes = [16] * data + [8] * (blocks - data) if inode != 3 else [8] * data + [16] * (blocks - data)
        for size in sizes:
            at += BLOCK_BYTES - at % BLOCK_BYTES if BLOCK_BYTES - at % BLOCK_BYTES < size else 0
            at += size
    summary = at - BLOCK_BYTES
    blocks = -(-summary // BLOCK_BYTES) + 305 + 1
    struct.pack_into("<8xI2HQ16x3I", image, BLOCK_BYTES, 0x1EAFFA11, 64, 7, 1, blocks, len(files), summary)
    layout = Nilfs2(image)
    assert [(log.block, log.blocks) for log in layout.logs] == [(1, 2 + 305 + 1)]
    assert layout.kinds[1:3] == ["summary", "summary"]
    assert layout.kinds[3 : 3 + 302] == ["data"] * 302
    assert layout.kinds[305:309] == ["btree", "dat", "dat", "super root"]
    assert layout.classify(BLOCK_BYTES * 2, BLOCK_BYTES * 2) == {"summary": BLOCK_BYTES, "data": BLOCK_BYTES}


def test_the_disk_keeps_data_in_its_image() -> None:
    image, memory, log = mmap.mmap(-1, 1 << 20), mmap.mmap(-1, 1 << 16), StringIO()
    disk = Disk(1 << 20, 0, log, image)
    disk.memory.regions.append(Region(0x1000, 1 << 16, 0x9000, 0, memory))
    memory[:8] = b"abcdefgh"
    disk.move(1, 4096, [(0x1000, 4), (0x1004, 4)])
    disk.move(0, 4098, [(0x2000, 3)])
    assert memory[0x1000:0x1003] == b"cde"
    memory[0x3000:0x3010] = struct.pack("<QII", 8, 1, 0)
    assert disk.ranges([(0x4000, 16)]) == [(4096, 512)]
    disk.zero([(4096, 6)])
    assert image[4096:4104] == bytes(6) + b"gh"


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("flags", ["fpu avx512f amx_tile", "fpu avx512f"])
def test_wide_registers_are_loaded_where_the_processor_has_them(
    flags: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library is built for a processor with AMX, and exports its own ptrace."""
    monkeypatch.setattr(Path, "read_text", lambda _: f"flags\t\t: {flags}\n")
    found = guest_environment(tmp_path).get("LD_PRELOAD")
    if "amx" not in flags:
        assert found == os.environ.get("LD_PRELOAD")
        return
    assert found == str(tmp_path / "wide_registers.so")
    assert ctypes.CDLL(found).ptrace


def test_without_the_packages_the_target_says_that_it_skips(tmp_path: Path) -> None:
    (tmp_path / "dirname").symlink_to("/usr/bin/dirname")
    command = ["/bin/bash", "tools/validate_linux.sh", sys.executable, "files"]
    environment = {"PATH": str(tmp_path)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "SKIPPED: no real kernel was run. linux.uml fio" in done.stderr
    assert "tests/python/data/files" in done.stderr
    assert "mean size of a write" in done.stdout
