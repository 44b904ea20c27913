"""File systems as a user sees them: short forms, the report's section, tables and picture, and what is refused."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import flashwatt as fw
from flashwatt import FlashwattError, plot
from flashwatt.base import frames
from flashwatt.report.keys import report_keys

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Cli

SHORT = ("--preset", "x25m", "--fs", "ext2", "--personality", "varmail", "--set", "workload.files.operations=2000")
PROGRAM = """
set $files=40
define fileset name=s,path=/s,entries=$files,size=16k,dirwidth=100,prealloc=100
define process name=p,instances=1 {
  thread name=t,instances=2 {
    flowop readwholefile name=read,filesetname=s,iosize=1m
  }
}
run 1
"""


def report(**keys: Any) -> fw.Report:
    return fw.run({"device.preset": "x25m", "workload.files.operations": 2000, **keys})


def _keys(value: Any, key: str) -> Iterator[str]:
    yield key
    match value:
        case dict():
            for name, inner in value.items():
                yield from _keys(inner, f"{key}.{name}")
        case [dict() as first, *_]:
            for name, inner in first.items():
                yield from _keys(inner, f"{key}.{name}")


def test_the_short_form_gives_tables_and_a_picture(flashwatt: Cli, tmp_path: Path) -> None:
    done = flashwatt("run", *SHORT, "--out", "mail")
    assert done.returncode == 0, done.stderr
    for words in ("Files on ext2", "operations/s", "deliver_fsync", "From the page cache to the drive", "unmount"):
        assert words in " ".join(done.stdout.split()), words
    for suffix in ("svg", "html"):
        assert (tmp_path / "mail" / f"operations.{suffix}").stat().st_size > 1000
    again = flashwatt("run", "mail/config.toml", "--json")
    assert again.returncode == 0, again.stderr
    first = json.loads((tmp_path / "mail" / "report.json").read_text())
    assert json.loads(again.stdout)["files"] == first["files"], "config.toml is the same run"


def test_every_key_of_the_section_is_described() -> None:
    described = report_keys()
    content = report(**{"workload.files.system": "ext2"}).to_dict()
    keys = list(_keys(content["files"], "files"))
    assert len(keys) > 40
    assert [key for key in keys if not described.get(key)] == []


def test_figures_add_up() -> None:
    """Joules per operation times operations is all energy; what is written is what the drive was sent."""
    content = report(**{"workload.files.system": "ext2"}).to_dict()
    files = content["files"]
    operations = files["operations"]
    assert operations["count"] == sum(flow["count"] for flow in files["flows"]) == 2000
    assert operations["per_operation_j"] * operations["count"] == pytest.approx(content["energy_j"]["total"], rel=1e-9)
    assert operations["per_s"] == pytest.approx(operations["count"] / operations["seconds"], rel=1e-9)
    written = sum(one["data_bytes"] + one["metadata_bytes"] for one in files["written"])
    assert written == content["workload"]["write_bytes"]
    assert files["flushes"] == content["workload"]["flushes"]


@pytest.mark.parametrize("system", ["ext2", "ext3", "lfs", "nilfs2"])
def test_the_second_account_finds_nothing(system: str) -> None:
    done = fw.run(
        {"device.preset": "x25m", "workload.files.operations": 2000, "workload.files.system": system}, check=True
    )
    assert done.status == "complete"


def test_a_program_and_fio_jobs_of_ones_own(flashwatt: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.f").write_text(PROGRAM)
    done = flashwatt("run", "--preset", "x25m", "--fs", "ext2", "--program", "mine.f", "--json")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert [flow["name"] for flow in content["files"]["flows"]] == ["read"]
    assert content["files"]["cache"]["hit_ratio"] > 0.9, "forty files fit into memory"
    (tmp_path / "job.fio").write_text("[w]\nrw=randwrite\nbs=4k\nsize=1m\nnrfiles=4\nfsync=8\n")
    done = flashwatt("run", "--preset", "x25m", "--fs", "ext2", "--fio", "job.fio", "--json")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    flows = {flow["name"]: flow for flow in content["files"]["flows"]}
    assert (flows["w write"]["count"], flows["w write"]["bytes"]) == (256, 1 << 20)
    assert content["workload"]["kind"] == "filesystem"


@pytest.mark.parametrize("scheduler", [None, "none", "cfq"])
def test_a_replay_of_a_capture_gives_the_same_figures(flashwatt: Cli, scheduler: str | None) -> None:
    """The requests of a run as a trace on the same drive, behind the same scheduler or without one."""
    host = () if scheduler is None else ("--scheduler", scheduler)
    done = flashwatt("run", *SHORT, *host, "--json", "--capture", "blocks.csv")
    assert done.returncode == 0, done.stderr
    first = json.loads(done.stdout)
    again = flashwatt("run", "--preset", "x25m", "blocks.csv", *host, "--json")
    assert again.returncode == 0, again.stderr
    second = json.loads(again.stdout)
    for key in ("requests", "reads", "writes", "flushes", "read_bytes", "write_bytes"):
        assert second["workload"][key] == first["workload"][key], key
    assert second["flash"] == first["flash"]
    assert second["throughput"]["simulated_s"] == pytest.approx(first["throughput"]["simulated_s"], rel=1e-3)


def test_a_capture_says_who_waits(flashwatt: Cli, tmp_path: Path) -> None:
    """Writes at the unmount are of the page cache; those of fsync are waited for."""
    done = flashwatt("run", *SHORT, "--capture", "blocks.csv", "--json")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "blocks.csv").read_text().startswith("# logged at submission\ntime_us,")
    log = frames.capture(tmp_path / "blocks.csv").collect()
    written = {
        one["cause"]: one["data_bytes"] + one["metadata_bytes"] for one in json.loads(done.stdout)["files"]["written"]
    }
    writes = log.filter(pl.col("op") == "W").group_by("sync").agg(pl.col("bytes").sum()).sort("sync")
    assert writes.rows() == [(0, sum(written.values()) - written["sync"]), (1, written["sync"])]


def test_files_of_an_image_are_read_from_flash(flashwatt: Cli, tmp_path: Path) -> None:
    """Two threads read forty files again and again: a cold cache gets every page from the drive once."""
    (tmp_path / "mine.f").write_text(PROGRAM)
    words = ("run", "--preset", "x25m", "--fs", "ext2", "--program", "mine.f", "--json")
    start = {name: ("--set", f"run.precondition={name}") for name in ("empty", "image", "filled")}
    runs = {name: json.loads(flashwatt(*words, *of).stdout) for name, of in start.items()}
    reads = {name: run["flash"]["reads"]["host"] for name, run in runs.items()}
    pages = runs["image"]["workload"]["read_bytes"] // 4096
    assert (reads["empty"], reads["image"], reads["filled"]) == (0, pages, pages)
    behind = ("--set", "host.partition_offset_sectors=2048", "--scheduler", "none")
    moved = json.loads(flashwatt(*words, *start["image"], *behind).stdout)
    assert moved["flash"]["reads"]["host"] == pages, "the image lies in the partition"
    refused = flashwatt("run", "--preset", "x25m", *start["image"])
    assert refused.returncode == 2
    assert (
        'run.precondition: this workload has no file system; found "image" with workload = "uniform"' in refused.stderr
    )


def test_an_aged_disk_has_less_room_in_more_pieces() -> None:
    """The same files on a disk that others have filled to 70 %."""
    small = {"device.preset": "x25m", "device.scale": "1/256", "workload.files.set.nfiles": 500}
    aged = {"workload.files.aged": {"fill_fraction": 0.7}}
    new, old = (fw.run({**small, "workload.files.operations": 500, **more}).to_dict()["files"] for more in ({}, aged))
    assert old["space"]["free_blocks"] < 0.35 * new["space"]["free_blocks"]
    with pytest.raises(FlashwattError, match=r"the files do not fit on what is left of the drive"):
        report(**{**small, "workload.files.aged": {"fill_fraction": 0.9}, "workload.files.set.nfiles": 5000})


@pytest.mark.parametrize("system", ["ext2", "ext3", "lfs", "nilfs2"])
def test_the_unmount_does_not_wait_for_a_timer(system: str) -> None:
    """Nothing is synchronous in a file server: most of it is written at the end, at once."""
    keys = {"workload.files.system": system, "workload.files.personality": "fileserver"}
    content = report(**{**keys, "workload.files.operations": 1000}).to_dict()
    assert content["throughput"]["simulated_s"] < 2
    assert content["files"]["operations"]["seconds"] < content["throughput"]["simulated_s"]


JOURNALED = {"workload.files.system": "ext3", "workload.files.operations": 3000}
KEYS: tuple[dict[str, Any], ...] = (
    {"journal_bytes": 4_194_304},
    {"commit_interval_s": 0.001},
    {"barrier": 0},
    {"order_overwrites": 1, "commit_interval_s": 0.01},
    {"time_step_ms": 1000},
)


DATABASE: dict[str, Any] = {
    "workload.files.personality": "oltp",
    "workload.files.operations": 4000,
    "workload.files.set": {"nfiles": 2, "filesize": "8m", "nshadows": 8, "ndbwriters": 2, "logfilesize": "1m"},
}


def test_every_key_of_the_journal_has_an_effect() -> None:
    def written(**keys: Any) -> Any:
        table = {f"workload.files.system.ext3.{key}": value for key, value in keys.items()}
        content = report(**DATABASE, **(table or {"workload.files.system": "ext3"})).to_dict()["files"]
        return content["written"], content["flushes"], content["space"]

    base = written()
    for keys in KEYS:
        assert written(**keys) != base, keys
    flushes = written(barrier=0)[1]
    assert flushes < base[1] / 5, "those of the unmount are left"


def test_a_journal_writes_commits_and_flushes_twice_for_each() -> None:
    content = report(**JOURNALED).to_dict()["files"]
    written = {one["cause"]: one for one in content["written"]}
    assert written["commit"]["metadata_bytes"] > written["unmount"]["metadata_bytes"] > 0
    assert written["sync"]["metadata_bytes"] == 0, "an fsync leaves metadata to the commit"
    assert (
        content["metadata_fraction"] > report(**{**JOURNALED, "workload.files.system": "ext2"}).files.metadata_fraction
    )


@pytest.mark.parametrize("system", ["ext2", "ext3"])
def test_access_times_are_metadata(system: str) -> None:
    keys = {"workload.files.system": system, "workload.files.personality": "webserver"}

    def metadata(**more: Any) -> int:
        slow = {"workload.files.operations": 3000, "workload.files.processor.call_ns": 20_000_000}
        content = report(**{**keys, **more, **slow}).to_dict()["files"]
        return sum(one["metadata_bytes"] for one in content["written"])

    none, relative, strict = (
        metadata(**{"workload.files.atime": atime}) for atime in ("noatime", "relatime", "strictatime")
    )
    assert none == metadata() < relative <= strict


@pytest.mark.parametrize("system", ["ext2", "ext3"])
def test_an_fsync_of_linux_2_6_does_not_flush(system: str) -> None:
    """A database writes over its pages with O_DSYNC: no metadata is committed, and nothing else flushes."""
    flushes = [
        report(**{**DATABASE, "workload.files.system": system, "workload.files.fsync_flush": flush}).files.flushes
        for flush in (True, False)
    ]
    assert flushes[1] < flushes[0] / 2
    assert (system == "ext3") == (flushes[1] > 2), "the commits of ext3 flush"


def test_a_program_has_its_sha256_in_the_report(flashwatt: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.f").write_text(PROGRAM)
    done = flashwatt("run", "--preset", "x25m", "--fs", "ext2", "--program", "mine.f", "--json")
    assert json.loads(done.stdout)["workload"]["input_sha256"] == hashlib.sha256(PROGRAM.encode()).hexdigest()


def test_inspect_shows_where_files_lie(flashwatt: Cli, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text('[device]\npreset = "x25m"\n[workload.files]\noperations = 500\n')
    done = flashwatt("fs", "inspect", "c.toml")
    assert done.returncode == 0, done.stderr
    assert "extents each" in done.stdout
    assert "free space in " in done.stdout
    found = json.loads(flashwatt("fs", "inspect", "c.toml", "--run", "--json").stdout)
    assert found["system"] == "ext2"
    places = sorted(tuple(extent) for file in found["files"] for extent in file["extents"])
    ends = [first + blocks for first, blocks in places]
    assert all(end <= begin for end, (begin, _) in zip(ends, places[1:], strict=False)), "no block has two files"
    assert sum(blocks for _, blocks in places) <= found["space"]["blocks"] - found["space"]["free_blocks"]
    done = flashwatt("fs", "inspect", "c.toml", "--set", "workload=uniform")
    assert done.returncode == 2
    assert "it has no files" in done.stderr


def test_the_picture_has_runs_side_by_side(tmp_path: Path) -> None:
    reports = {system: report(**{"workload.files.system": system}) for system in ("ext2", "lfs")}
    drawn = plot.operations(reports).save(tmp_path / "chart.html").read_text()
    assert "ext2" in drawn
    assert "lfs" in drawn
    with pytest.raises(FlashwattError, match="no file system"):
        plot.operations(fw.run({"device.preset": "x25m", "workload.uniform.requests": 10}))


SMALL = {"device.preset": "x25m", "device.scale": "1/256"}
WRONG: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "no such personality": ({"personality": "varmial"}, ("unknown personality", "varmail")),
    "no such file system": ({"system": "ext5"}, ("unknown file system", "ext2")),
    "no such parameter": ({"system.ext2.reserved": 3}, ("unknown parameter", "reserved_percent")),
    "two programs": ({"personality": "varmail", "path": "a.f"}, ("a second program", "one of")),
    "a program that is not there": ({"path": "none.f"}, ("none.f",)),
    "a variable that is not there": ({"set.nfile": 3}, ("no such variable", "nfiles")),
    "a value that is none": ({"set.nfiles": "many"}, ("nfiles",)),
    "no threads": ({"set.nthreads": 0}, ("varmail.f:19", "instances", "expected 1 to")),
    "too many threads": ({"set.nthreads": 10_000_000}, ("1 to 65536",)),
    "files beyond the drive": ({"set.meanfilesize": "1g"}, ("outgrow the drive",)),
    "variables of fio jobs": ({"fio": "a.fio", "set.n": 1}, ("has no effect", "fio jobs")),
    "no operations": ({"operations": 0}, ("workload.files.operations", "expected 1 to")),
    "a cleaner that ends before it begins": (
        {"system.lfs": {"clean_low": 30, "clean_high": 10}},
        ("workload.files.system.lfs.clean_low", "clean_low = 30, clean_high = 10"),
    ),
    "a part of a file": (
        {"system.ext2": {"reservation_blocks": 9.5}},
        ("workload.files.system.ext2.reservation_blocks", "a whole number"),
    ),
    "an option of ext2 and ext3": (
        {"system": "lfs", "atime": "relatime"},
        ("workload.files.atime", "the file system lfs", "ext2, ext3"),
    ),
    "another option of them": ({"system": "nilfs2", "fsync_flush": False}, ("workload.files.fsync_flush", "nilfs2")),
    "no time of access": ({"atime": "lazytime"}, ("workload.files.atime", "lazytime", "strictatime")),
    "a journal that is too short": (
        {"system.ext3": {"journal_bytes": 4096}},
        ("workload.files.system.ext3.journal_bytes", "from 4194304 on"),
    ),
    "no inode": ({"system.ext2": {"bytes_per_inode": -1}}, ("expected 0 to 67108864",)),
    "more than all is full": ({"aged.fill_fraction": 2}, ("workload.files.aged.fill_fraction", "0.01 to 0.9")),
    "no seconds": ({"seconds": -1}, ("workload.files.seconds",)),
    "too little memory": ({"cache.memory_bytes": 4096}, ("workload.files.cache.memory_bytes",)),
    "memory that is no pages": ({"cache.memory_bytes": 10_000_001}, ("a multiple of 4096",)),
    "limits that cross": ({"cache.dirty_ratio": 5}, ("dirty_background_ratio < dirty_ratio",)),
    "a ratio beyond 100": ({"cache.dirty_ratio": 120}, ("workload.files.cache.dirty_ratio",)),
    "a timer of 0": ({"cache.dirty_expire_centisecs": 0}, ("dirty_expire_centisecs",)),
    "no processor": ({"processor.cores": 0}, ("processor.cores", "expected 1 to")),
    "a call without time": ({"processor.call_ns": 0}, ("call_ns",)),
    "an unknown key": ({"memory": 3}, ("unknown", "personality")),
    "requests that are no blocks": ({"cache.max_request_bytes": 5000}, ("a multiple of 4096",)),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name: str) -> None:
    keys, parts = WRONG[name]
    with pytest.raises(FlashwattError) as error:
        fw.run({**SMALL, **{f"workload.files.{key}": value for key, value in keys.items()}})
    for part in parts:
        assert part in str(error.value), error.value


def test_two_workloads_are_refused(flashwatt: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.fio").write_text("[a]\nsize=1m\n")
    (tmp_path / "t.csv").write_text("0,0,4096,W\n")
    for options in (("--personality", "varmail", "--fio", "a.fio"), ("--fs", "ext2", "--trace", "t.csv")):
        done = flashwatt("run", "--preset", "x25m", *options)
        assert done.returncode == 2
        assert "are two workloads" in done.stderr, done.stderr


def test_parameters_of_the_chosen_system_are_taken(flashwatt: Cli) -> None:
    """The option and the table of `--set` may name one and the same file system."""
    done = flashwatt("run", *SHORT, "--set", "workload.files.system.ext2.reserved_percent=3", "--json")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["config"]["workload"]["files"]["system"]["ext2"]["reserved_percent"] == 3


@pytest.mark.parametrize("name", ["varmail", "pardispatcher-webserver"])
def test_the_text_of_a_personality_is_a_program(flashwatt: Cli, tmp_path: Path, name: str) -> None:
    """What `list personalities` prints runs as the personality does, its own values included."""
    printed = flashwatt("list", "personalities", name)
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout.startswith(f"# {name}: ")
    (tmp_path / "mine.f").write_text(printed.stdout)
    runs = []
    for choice in (("--personality", name), ("--program", "mine.f")):
        done = flashwatt("run", "--preset", "x25m", *choice, "--set", "workload.files.operations=3000", "--json")
        assert done.returncode == 0, done.stderr
        runs.append(json.loads(done.stdout)["files"])
    assert runs[0] == runs[1]


def test_a_personality_in_json_has_its_files(flashwatt: Cli) -> None:
    found = json.loads(flashwatt("list", "personalities", "pardispatcher-varmail", "--json").stdout)
    assert [file["name"] for file in found["files"]] == ["varmail.f", "pardispatcher-varmail.f"]
    assert json.loads(flashwatt("list", "filesystems", "ext2", "--json").stdout)["files"] == []


def test_explain_names_the_command_for_a_personality(flashwatt: Cli) -> None:
    done = flashwatt("explain", "varmail")
    assert done.returncode == 2
    assert "`flashwatt list personalities varmail` describes it" in done.stderr
