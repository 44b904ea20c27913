"""A sweep as one archive: the study, what it names, its results, its pictures, and the hash of every file.

A reviewer unpacks it and runs it again (`flashwatt.sweeps.unpack`). The archive is a zip file, which every system opens
without further programs. The same study and results give the same bytes: members are in the order of their names, and
have neither times nor owners.
"""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import zipfile
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.files import check_regular
from flashwatt.base.frames import write
from flashwatt.base.missing import printable, unread
from flashwatt.base.outputs import check, replacing, scratch, writing
from flashwatt.base.reads import reading, reads
from flashwatt.base.scripts import blaming
from flashwatt.sweeps.journal import Journal
from flashwatt.sweeps.relocated import STUDY, placed, relocated
from flashwatt.sweeps.results import Results
from flashwatt.sweeps.shards import RESULTS, shards_in
from flashwatt.sweeps.study import Study

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from flashwatt.base.files import Json
    from flashwatt.sweeps.relocated import Relocated
    from flashwatt.sweeps.task import Task

FORMAT = 1
"""The number of the archive's form, in its manifest."""
MANIFEST, README = "MANIFEST.json", "README.md"
TABLE = "results/results.parquet"
LINES = f"results/{RESULTS}"
INPUT_BYTES_MAX = 100_000_000
"""Larger inputs are not in an archive unless that is asked for."""
_PIECE_BYTES = 1 << 20
_GIT_SECONDS = 10


@blaming
@reading()
def pack(
    study: str | PathLike[str] | Study,
    *,
    out: str | PathLike[str],
    archive: str | PathLike[str],
    input_bytes_max: int = INPUT_BYTES_MAX,
    force: bool = False,
) -> Json:
    """Write the study of a STUDY.toml, and the results that a sweep has left in the directory `out`, to one archive.

    The archive holds the study, the configurations, traces and snapshots that it names, `results.jsonl`,
    `results.parquet`, the pictures in `out`, and a manifest with the SHA-256 of each file, which is returned. An input
    of more than `input_bytes_max` bytes is not in the archive: the manifest has its hash and the place that it belongs
    to. Paths that lead out of the study's directory are changed, in the study and in the points of the results.

    Raises `FlashwattError` if runs have no result, or if `archive` is a file that is no archive of a sweep, unless
    `force` is given.
    """
    whole = study if isinstance(study, Study) else Study.read(study)
    tasks = list({task.id: task for task in whole.tasks()}.values())
    check(archive, marks.ARCHIVE, force=force)
    results = Path(out) / RESULTS
    _check_results(tasks, results, whole.name)
    moved = relocated(whole)
    with scratch(Path(archive)) as directory:
        with writing(archive):
            _check_moved(moved, tasks, directory)
            members = _results(tasks, moved, results, directory)
            members |= {f"results/{one.name}": one for one in _pictures(Path(out))}
            left = {name: path for name, path in moved.files.items() if _size(path) > input_bytes_max}
            members |= {name: path for name, path in moved.files.items() if name not in left}
            members |= {name: directory / name for name in moved.texts}
            manifest = _manifest(len(tasks), {name: entry(path) for name, path in left.items()})
            (directory / README).write_text(_readme(manifest), encoding="utf-8")
            members[README] = directory / README
        with replacing(archive, marks.ARCHIVE, force=force) as part:
            _write(part, members, manifest)
    return manifest


def _check_results(tasks: list[Task], results: Path, study: str) -> None:
    """Raise a `FlashwattError` if tasks have no result: how many, why that may be, and the command that helps."""
    place = printable(results.parent)
    command = f"flashwatt sweep {study} --out {place}"
    if not results.is_file():
        merge = " --merge" if results.parent.is_dir() and shards_in(results.parent) else ""
        found = f"{place}: no {RESULTS}" if results.parent.is_dir() else f"{place}: no such directory"
        raise _core.FlashwattError(f"{found}; expected the results of the study (`{command}{merge}` makes them)")
    reads(results)
    with closing(Journal(results, only_read=True)) as journal:
        missing = [task for task in tasks if task.id not in journal]
        if not missing:
            return
        there = set(journal.ids) - {task.id for task in tasks}
    found = f"{printable(results)}: {len(missing)} of {len(tasks)} runs have no result"
    if there:
        found += f"; found {len(there)} results of another study, of a trace that has changed, or of another build"
        found += f" of FlashWatt (this one is {_core.BUILD_ID[:12]})"
    merge = " --merge" if shards_in(results.parent) else ""
    raise _core.FlashwattError(f"{found}; expected all of them (`{command}{merge}`)")


def _check_moved(moved: Relocated, tasks: list[Task], directory: Path) -> None:
    """Lay the study out in a directory, and check that its runs there have the same ids."""
    for name, text in moved.texts.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text, encoding="utf-8")
    for name, path in moved.files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).symlink_to(path)
    there = placed(Study.read(directory / STUDY), directory, moved.files)
    if {task.id for task in there.tasks()} != {task.id for task in tasks}:
        expected = "expected the same runs; a path that leads out of its directory may have been misunderstood"
        raise _core.FlashwattError(f"the study would have other runs after unpacking; {expected}")


def _results(tasks: list[Task], moved: Relocated, results: Path, directory: Path) -> dict[str, Path]:
    """Write the results of these tasks alone, in their order, and their frame."""
    lines = []
    with closing(Journal(results, only_read=True)) as journal:
        for task in tasks:
            point = moved.value(task.point)
            lines.append((point, _moved_line(journal.line(task.id), task, point)))
    (directory / "results").mkdir()
    with (directory / LINES).open("wb") as file:
        file.writelines(line for _, line in lines)
    write(Results(lines).frame(), directory / TABLE)
    return {name: directory / name for name in (LINES, TABLE)}


def _moved_line(line: bytes, task: Task, point: dict[str, Any]) -> bytes:
    """Give the line that the moved study would have: the report stays as the engine wrote it."""
    if point == task.point:
        return line
    _, mark, report = line.partition(b', "report": ')
    head = json.dumps({"id": task.id, "point": point, "seed": task.seed}, ensure_ascii=False)
    return head[:-1].encode() + mark + report


def _pictures(out: Path) -> list[Path]:
    found = [one for one in out.iterdir() if one.suffix in marks.PICTURES and one.is_file() and one.name[0] != "."]
    reads(*found)
    return found


def _size(path: Path) -> int:
    try:
        check_regular(path)
        return path.stat().st_size
    except OSError as error:
        raise _core.FlashwattError(unread(path, error)) from None


def copied(file: IO[bytes], into: IO[bytes] | None = None) -> Json:
    """Read a file to its end, and copy it if there is a place for it; give its length and hash."""
    digest, length = hashlib.sha256(), 0
    while piece := file.read(_PIECE_BYTES):
        digest.update(piece)
        length += len(piece)
        if into:
            into.write(piece)
    return {"bytes": length, "sha256": digest.hexdigest()}


def entry(path: Path) -> Json:
    """Give the length and the hash of a file, as the manifest has them."""
    with path.open("rb") as file:
        return copied(file)


def _manifest(runs: int, left: Mapping[str, Json]) -> Json:
    """Begin the manifest, without the members' hashes."""
    import polars as pl

    return {
        "pack": FORMAT,
        "version": _core.__version__,
        "build_id": _core.BUILD_ID,
        "git_commit": _commit(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "polars": pl.__version__,
        "runs": runs,
        "not_included": dict(sorted(left.items())),
        "files": {},
    }


def _commit() -> str | None:
    """Give the commit of the clone that this package lies in, with `-dirty` if files differ from it; None elsewhere."""
    root = Path(__file__).resolve().parents[3]
    if not (root / "crates" / "flashwatt").is_dir():
        return None
    words = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--dirty", "--match="]
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=_GIT_SECONDS)
        return done.stdout.strip() or None
    return None


_TEXT = """\
# Archive of a FlashWatt sweep

{runs} runs of FlashWatt {version}{commit}.
`{study}` is the study, `results/` has what it gave.
`{manifest}` has the SHA-256 of every file, and the build that made the results.

## Run it again

```sh
pip install flashwatt=={version}
flashwatt unpack ARCHIVE.zip DIR --rerun
```

The second command checks every hash, unpacks to DIR, runs the study again in `DIR/rerun`, and compares
`results.jsonl` byte for byte. By hand, after any program has unpacked the archive to DIR:

```sh
cd DIR
flashwatt sweep {study} --out rerun
cmp rerun/results.jsonl {lines}
```

The id of each run depends on the build of FlashWatt, which is {build_id} here.
`python -c "from flashwatt import _core; print(_core.BUILD_ID)"` prints that of an installed one.
Another build gives other ids; `--rerun` then compares the reports without them.
"""
_LARGE = """
## Files to put there first

These are too large for the archive. Put each below DIR under its name; `--rerun` checks the hash.

| file | bytes | SHA-256 |
|---|---|---|
"""


def _readme(manifest: Json) -> str:
    """Say to the reader of the archive what to do with it."""
    commit = f", commit {manifest['git_commit']}" if manifest["git_commit"] else ""
    text = _TEXT.format(**{**manifest, "commit": commit, "study": STUDY, "lines": LINES, "manifest": MANIFEST})
    left = manifest["not_included"].items()
    rows = "".join(f"| `{name}` | {one['bytes']:,} | `{one['sha256']}` |\n" for name, one in left)
    return text + _LARGE + rows if rows else text


def _write(part: Path, members: Mapping[str, Path], manifest: Json) -> None:
    """Write the archive, and the members' hashes into the manifest, which comes last."""
    with zipfile.ZipFile(part, "w") as target:
        target.comment = marks.ARCHIVE_COMMENT
        for name in sorted(members):
            manifest["files"][name] = _add(target, name, members[name])
        with target.open(_member(MANIFEST), "w") as into:
            into.write(json.dumps(manifest, indent=1, ensure_ascii=False).encode() + b"\n")


def _add(target: zipfile.ZipFile, name: str, path: Path) -> Json:
    member = _member(name)
    member.file_size = _size(path)  # a large one has other headers
    with path.open("rb") as file, target.open(member, "w") as into:
        return copied(file, into)


def _member(name: str) -> zipfile.ZipInfo:
    """Give the head of a member, the same on every system."""
    member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    member.compress_type = zipfile.ZIP_DEFLATED
    member.create_system = 3
    member.external_attr = 0o100644 << 16
    return member
