"""Archives of sweeps: unpacked elsewhere and run again they give equal bytes, and a bad archive harms nothing."""

from __future__ import annotations

import json
import os
import resource
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

import flashwatt
from flashwatt import _core
from flashwatt.base.marks import ARCHIVE_COMMENT
from flashwatt.sweeps.relocated import relocated, rewritten
from flashwatt.sweeps.unpack import difference

if TYPE_CHECKING:
    from conftest import Cli

SMALL = """\
# the study of a paper
seeds = 2   # two
[base.device]
channels = 2
ways = 1
logical_bytes = 200_000_000
[base.workload.uniform]
requests = 100
[grid]
gc.policy = ["greedy", "fifo"]
"""
DRIVE = """\
# a drive of the laboratory
[device]
channels = 2
ways = 1
logical_bytes = 200_000_000
[run]
precondition = {{ snapshot = '{snapshot}' }}
[workload.trace]
path = "../traces/a.csv"  # the first one
"""
TRACE = "".join(f"{at}.0,0,{'RW'[at % 2]},{at % 7 * 4096},4096\n" for at in range(50))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a study that names no file, and pack it; the archive lies beside the study."""
    path = tmp_path_factory.mktemp("small") / "study.toml"
    path.write_text(SMALL)
    flashwatt.sweep(path, out=path.parent / "out", workers=1)
    flashwatt.pack(path, out=path.parent / "out", archive=path.parent / "small.zip")
    return path


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a study whose files lie everywhere: above it, by absolute paths, and below the working directory."""
    root = tmp_path_factory.mktemp("lab")
    for name in ("studies", "conf", "traces", "here/below"):
        (root / name).mkdir(parents=True)
    for name in ("traces/a.csv", "far.csv", "here/below/near.csv"):
        (root / name).write_text(TRACE.replace("4096\n", f"{4096 * (len(name) % 3 + 1)}\n"))
    drive = {"device.channels": 2, "device.ways": 1, "device.logical_bytes": 200_000_000}
    flashwatt.age(drive, to=root / "aged.fw")
    (root / "conf/drive.toml").write_text(DRIVE.format(snapshot=root / "aged.fw"))
    grids = f"""\
base = "../conf/drive.toml"
[[grid]]
workload.trace.path = ["{root / "far.csv"}", "below/near.csv"]
gc.policy = ["greedy"]
[[grid]]
gc.policy = ["fifo"]
"""
    (root / "studies/study.toml").write_text(grids)
    before = Path.cwd()
    os.chdir(root / "here")
    try:
        flashwatt.sweep("../studies/study.toml", out=root / "out", workers=1)
        flashwatt.pack("../studies/study.toml", out=root / "out", archive=root / "lab.zip")
    finally:
        os.chdir(before)
    return root


def content(archive: Path) -> dict[str, bytes]:
    """Read all members of an archive."""
    with zipfile.ZipFile(archive) as source:
        return {name: source.read(name) for name in source.namelist()}


def write(archive: Path, members: dict[str, bytes], **of_manifest: Any) -> Path:
    """Write an archive whose manifest agrees with its members, but for what is given."""
    import hashlib

    manifest = json.loads(members["MANIFEST.json"])
    files = {name: text for name, text in members.items() if name != "MANIFEST.json"}
    manifest["files"] = {
        name: {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()} for name, text in files.items()
    }
    members = {**members, "MANIFEST.json": json.dumps({**manifest, **of_manifest}).encode()}
    with zipfile.ZipFile(archive, "w") as target:
        target.comment = ARCHIVE_COMMENT
        for name, text in members.items():
            target.writestr(name, text)
    return archive


def test_a_study_that_names_files_everywhere_runs_again_elsewhere(lab: Path, tmp_path: Path) -> None:
    archive = Path(shutil.copy(lab / "lab.zip", tmp_path))
    away = lab.with_name("away")
    lab.rename(away)  # nothing of the first place is left
    try:
        done = flashwatt.unpack(archive, tmp_path / "there", rerun=True, workers=1)
    finally:
        away.rename(lab)
    assert (done.difference, done.other_build, done.manifest["runs"]) == ("", "", 3)
    there = tmp_path / "there"
    assert (there / "rerun/results.jsonl").read_bytes() == (there / "results/results.jsonl").read_bytes()
    assert (there / "rerun/results.parquet").read_bytes() == (there / "results/results.parquet").read_bytes()
    for name in ("study.toml", "inputs/drive.toml", "results/results.jsonl"):
        assert str(lab) not in (there / name).read_text()
    study, drive = ((there / name).read_text() for name in ("study.toml", "inputs/drive.toml"))
    assert 'workload.trace.path = ["inputs/far.csv", "below/near.csv"]' in study
    assert 'path = "../traces/a.csv"  # the first one' in drive  # below the directory, as before
    assert 'precondition = { snapshot = "aged.fw" }' in drive


def test_the_runs_of_an_archive_are_those_of_the_sweep(lab: Path) -> None:
    before = [json.loads(line) for line in (lab / "out/results.jsonl").read_text().splitlines()]
    packed = [json.loads(line) for line in content(lab / "lab.zip")["results/results.jsonl"].splitlines()]
    assert [(one["id"], one["report"]) for one in packed] == [(one["id"], one["report"]) for one in before]
    paths = [one["point"].get("workload.trace.path") for one in packed]
    assert paths == ["inputs/far.csv", "below/near.csv", None]


def test_an_archive_has_the_same_bytes_each_time(small: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(small.parent / "out", tmp_path / "elsewhere"))
    (out / "results.jsonl").touch()
    with (out / "results.jsonl").open("a") as file:
        file.write(f'{{"id": "{"0" * 64}", "point": {{}}, "seed": 1, "report": {{}}}}\n')  # of another study
    for one in (small, Path(shutil.copy(small, tmp_path / "other.toml"))):
        manifest = flashwatt.pack(one, out=out, archive=tmp_path / "again.zip")
        assert (tmp_path / "again.zip").read_bytes() == (small.parent / "small.zip").read_bytes()
    assert manifest["build_id"] == _core.BUILD_ID
    members = content(tmp_path / "again.zip")
    assert list(members) == [*sorted(manifest["files"]), "MANIFEST.json"]
    assert members["study.toml"].decode() == SMALL
    assert members["results/results.jsonl"] == (small.parent / "out/results.jsonl").read_bytes()
    assert members["results/results.parquet"] == (small.parent / "out/results.parquet").read_bytes()
    assert f"pip install flashwatt=={_core.__version__}" in members["README.md"].decode()


def test_the_commands(small: Path, flashwatt: Cli, tmp_path: Path) -> None:
    out = shutil.copytree(small.parent / "out", tmp_path / "out")
    (out / "tradeoff.html").write_text("a picture")
    done = flashwatt("pack", small, "--out", "out", "-o", "a.zip")
    assert done.returncode == 0, done.stderr
    assert "4 runs, 5 files" in done.stdout
    assert content(tmp_path / "a.zip")["results/tradeoff.html"] == b"a picture"
    done = flashwatt("unpack", "a.zip", "--check", "--rerun", "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert "4 runs again: equal bytes" in done.stdout
    assert {one.name for one in tmp_path.iterdir()} == {"out", "a.zip"}
    done = flashwatt("pack", small, "--out", "out", "-o", "none/a.zip")
    assert (done.returncode, "none/a.zip: cannot be written" in done.stderr) == (2, True), done.stderr
    for words, said in (
        (["a.zip"], "found neither of DIR and --check"),
        (["a.zip", "dir", "--check"], "found both of DIR and --check"),
        (["a.zip", "dir", "--workers", "1"], "--workers: nothing is run"),
    ):
        done = flashwatt("unpack", *words)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_a_result_that_differs_is_named(small: Path, flashwatt: Cli, tmp_path: Path) -> None:
    members = content(small.parent / "small.zip")
    lines = members["results/results.jsonl"].splitlines(keepends=True)
    second = json.loads(lines[1])
    joules = second["report"]["energy_j"]["total"]
    changed = lines[1].replace(f'"total":{joules}'.encode(), b'"total":1.5', 1)
    assert changed != lines[1]
    members["results/results.jsonl"] = lines[0] + changed + b"".join(lines[2:])
    write(tmp_path / "a.zip", members)
    done = flashwatt("unpack", "a.zip", "there", "--rerun", "--workers", "1")
    assert done.returncode == 1
    assert f"task {second['id'][:12]} (seed 2, {{'gc.policy': 'greedy'}}): report.energy_j.total" in done.stderr
    assert f"the rerun has {joules}, the archive 1.5" in done.stderr


def test_another_build_is_named_and_its_reports_are_compared(small: Path, tmp_path: Path) -> None:
    members = content(small.parent / "small.zip")
    lines = [json.loads(line) for line in members["results/results.jsonl"].splitlines()]
    for line in lines:
        members["results/results.jsonl"] = members["results/results.jsonl"].replace(line["id"].encode(), b"f" * 64)
    archive = write(tmp_path / "a.zip", members, build_id="0123456789abcdef", version="0.0.9")
    done = flashwatt.unpack(archive, rerun=True, workers=1)
    assert "the archive is of FlashWatt 0.0.9, build 0123456789ab; this is" in done.other_build
    assert done.difference == ""
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(members["results/results.jsonl"])
    other.write_bytes((small.parent / "out/results.jsonl").read_bytes())
    assert ": id: the rerun has" in difference(one, other)
    other.write_bytes(b"\n".join(other.read_bytes().split(b"\n")[:2]) + b"\n")
    assert difference(one, other, ignoring_ids=True) == "the rerun has fewer runs than the archive"


def test_a_large_input_is_named_and_checked(lab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(lab / "here")
    archive = tmp_path / "a.zip"
    limit = (lab / "aged.fw").stat().st_size - 1
    manifest = flashwatt.pack("../studies/study.toml", out=lab / "out", archive=archive, input_bytes_max=limit)
    assert list(manifest["not_included"]) == ["inputs/aged.fw"]
    assert "inputs/aged.fw" not in content(archive)
    assert manifest["not_included"]["inputs/aged.fw"]["sha256"] in content(archive)["README.md"].decode()
    there = tmp_path / "there"
    with pytest.raises(flashwatt.FlashwattError, match=r"inputs/aged\.fw: not in the archive.* expected one of"):
        flashwatt.unpack(archive, there, rerun=True)
    (there / "inputs/aged.fw").write_bytes(b"another one")
    with pytest.raises(flashwatt.FlashwattError, match=r"aged\.fw: found 11 bytes with SHA-256"):
        flashwatt.unpack(archive, there, rerun=True)
    shutil.copy(lab / "aged.fw", there / "inputs")
    assert flashwatt.unpack(archive, there, rerun=True, workers=1).difference == ""


def test_results_that_are_not_there(small: Path, tmp_path: Path) -> None:
    def said(out: Path) -> str:
        with pytest.raises(flashwatt.FlashwattError) as error:
            flashwatt.pack(small, out=out, archive=tmp_path / "a.zip")
        assert not (tmp_path / "a.zip").exists()
        return str(error.value)

    command = f"`flashwatt sweep {small} --out {tmp_path / 'none'}"
    assert said(tmp_path / "none").startswith(f"{tmp_path / 'none'}: no such directory; expected the results")
    assert f"{command}` makes them" in said(tmp_path / "none")
    (tmp_path / "none").mkdir()
    assert "no results.jsonl" in said(tmp_path / "none")
    shutil.copy(small.parent / "out/results.jsonl", tmp_path / "none/shard-0-of-2.jsonl")
    assert f"{command} --merge`" in said(tmp_path / "none")
    lines = (small.parent / "out/results.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "none/results.jsonl").write_text(lines[0] + lines[1].replace(json.loads(lines[1])["id"], "f" * 64))
    assert "3 of 4 runs have no result; found 1 results of another study" in said(tmp_path / "none")
    assert f"another build of FlashWatt (this one is {_core.BUILD_ID[:12]})" in said(tmp_path / "none")


def test_a_file_that_is_no_archive_is_kept(small: Path, tmp_path: Path) -> None:
    def packed(archive: Path, *, force: bool = False) -> None:
        flashwatt.pack(small, out=small.parent / "out", archive=archive, force=force)

    mine = tmp_path / "mine.zip"
    with zipfile.ZipFile(mine, "w") as target:
        target.writestr("thesis.txt", "three years")
    with pytest.raises(flashwatt.FlashwattError, match="a file that is not an archive of a sweep written by flashwatt"):
        packed(mine)
    assert "thesis.txt" in content(mine)
    packed(mine, force=True)
    packed(mine)  # an archive is replaced by one
    assert "study.toml" in content(mine)
    for name in ("results.jsonl", "../study.toml"):
        with pytest.raises(flashwatt.FlashwattError, match="a file that is read"):
            packed(small.parent / "out" / name, force=True)


def test_a_full_disk_leaves_nothing(small: Path, tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(flashwatt.FlashwattError, match=r"a\.zip: cannot be written; .*expected room for it"):
            flashwatt.pack(small, out=small.parent / "out", archive=tmp_path / "a.zip")
        with pytest.raises(flashwatt.FlashwattError, match=r"cannot be written; .*expected room for it"):
            flashwatt.unpack(small.parent / "small.zip", tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {one.name for one in tmp_path.rglob("*") if one.is_file()} == {"README.md"}


Change: TypeAlias = Callable[[dict[str, bytes]], dict[str, bytes]]
BAD: dict[str, tuple[Change, str]] = {
    "a name above": (lambda all_: {**all_, "../out.txt": b"x"}, "found the member '../out.txt'; expected plain files"),
    "a name inside": (lambda all_: {**all_, "a/../../b": b"x"}, "found the member 'a/../../b'; expected plain files"),
    "the root": (lambda all_: {**all_, "/tmp/x": b"x"}, "found the member '/tmp/x'; expected plain files"),
    "windows": (lambda all_: {**all_, "c:\\x": b"x"}, "expected plain files"),
    "a directory": (lambda all_: {**all_, "results/": b""}, "found the member 'results/'; expected plain files"),
    "no manifest of ours": (lambda all_: {**all_, "MANIFEST.json": b"{}"}, "found pack = None; expected 1"),
    "no json": (lambda all_: {**all_, "MANIFEST.json": b"pack: 1"}, "MANIFEST.json:1:1: not JSON"),
    "a changed member": (lambda all_: {**all_, "study.toml": b"x = 1\n"}, "study.toml: the content is not that of"),
    "one letter": (
        lambda all_: {**all_, "study.toml": all_["study.toml"].replace(b"fifo", b"fife")},
        "study.toml: the content is not that of MANIFEST.json; found 182 bytes with SHA-256",
    ),
    "a member more": (lambda all_: {**all_, "more.txt": b"x"}, "found a member 'more.txt'; expected the members that"),
    "a member less": (
        lambda all_: {name: text for name, text in all_.items() if name != "study.toml"},
        "found no member 'study.toml'; expected the members that",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_archive_is_refused_before_anything_is_written(small: Path, tmp_path: Path, kind: str) -> None:
    change, said = BAD[kind]
    archive = tmp_path / "bad.zip"
    with zipfile.ZipFile(archive, "w") as target:
        for name, text in change(content(small.parent / "small.zip")).items():
            target.writestr(name, text)
    with pytest.raises(flashwatt.FlashwattError) as error:
        flashwatt.unpack(archive, tmp_path / "there")
    assert str(error.value).startswith(f"{archive}: ")
    assert said in str(error.value)
    assert not (tmp_path / "there").exists()


def test_archives_that_are_torn_or_have_links(small: Path, tmp_path: Path) -> None:
    whole = (small.parent / "small.zip").read_bytes()
    bad = tmp_path / "bad.zip"
    for text, said in (
        (whole[:-1000], "not a zip file, or a torn one"),
        (b"", "not a zip file, or a torn one"),
        (whole[:200] + b"\xff" * 50 + whole[250:], "a broken archive; found"),
    ):
        bad.write_bytes(text)
        with pytest.raises(flashwatt.FlashwattError, match=said):
            flashwatt.unpack(bad, tmp_path / "there")
    link = zipfile.ZipInfo("study.toml")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(bad, "w") as target:
        target.writestr(link, "/etc/passwd")
    with pytest.raises(flashwatt.FlashwattError, match=r"found the member 'study\.toml'; expected plain"):
        flashwatt.unpack(bad, tmp_path / "there")
    assert not (tmp_path / "there").exists()


def test_what_is_in_the_directory_is_kept(small: Path, tmp_path: Path) -> None:
    archive = Path(shutil.copy(small.parent / "small.zip", tmp_path / "study.toml"))
    with pytest.raises(flashwatt.FlashwattError, match="a file that is read"):
        flashwatt.unpack(archive, tmp_path, force=True)
    archive = archive.rename(tmp_path / "a.zip")
    (tmp_path / "study.toml").write_text("mine")
    with pytest.raises(flashwatt.FlashwattError, match=r"study\.toml: cannot be written; found a file that is not"):
        flashwatt.unpack(archive, tmp_path)
    assert (tmp_path / "study.toml").read_text() == "mine"
    flashwatt.unpack(archive, tmp_path, force=True)
    flashwatt.unpack(archive, tmp_path)  # all is there
    assert (tmp_path / "study.toml").read_text() == SMALL
    (tmp_path / "outside").mkdir()
    (tmp_path / "there").mkdir()
    (tmp_path / "there/results").symlink_to(tmp_path / "outside")
    with pytest.raises(flashwatt.FlashwattError, match="found a symbolic link to"):
        flashwatt.unpack(archive, tmp_path / "there")
    assert not list((tmp_path / "outside").iterdir())


def test_names_that_clash_get_other_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ("here/a.csv", "a.csv", "results/a.csv", "here/below/study.toml/a.csv")
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(TRACE)
    Path("here/study.toml").write_text(
        f'base = {{ device.preset = "x25m", workload.trace.path = "a.csv" }}\n[grid]\n'
        f"workload.trace.path = {json.dumps(names[1:])}\n"
    )
    moved = relocated(flashwatt.Study.read("here/study.toml"))
    assert set(moved.files.values()) == {tmp_path / name for name in names[1:]}  # no run reads the base's
    assert sorted(moved.files) == ["a.csv", "here/below/study.toml/a.csv", "inputs/a.csv"]
    with pytest.raises(flashwatt.FlashwattError, match=r"expected the path of a STUDY\.toml"):
        relocated(flashwatt.Study.of({"device.channels": [1]}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a = "x"  # kept\nb = "y"\n', 'a = "new"  # kept\nb = "y"\n'),
        ("a = 'x'  # kept\nb = \"y\"\n", 'a = "new"  # kept\nb = "y"\n'),
        ('a = "\\u0078"\nb = "y"\n', '"a" = "new"\n"b" = "y"\n'),
        ('a = "x"\nb = "y"\n"x" = 1\n', '"a" = "new"\n"b" = "y"\n"x" = 1\n'),
    ],
)
def test_a_text_is_changed_where_the_value_stands(text: str, expected: str) -> None:
    from flashwatt.config.config import parse_toml

    tree = parse_toml(text, "text")
    assert rewritten(text, tree, {**tree, "a": "new"}) == expected
