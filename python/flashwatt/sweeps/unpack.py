"""An archive of a sweep on the reader's side: every hash is checked, the files are unpacked, the study runs again.

The archive comes from somebody else. No member is written outside the directory, and none that the manifest does not
name with its length and hash.
"""

from __future__ import annotations

import os
import posixpath
import stat
import subprocess
import sys
import zipfile
import zlib
from collections import Counter
from contextlib import ExitStack, contextmanager
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from flashwatt import _core
from flashwatt.base.files import TEXT_BYTES_MAX, check_regular, parse_json
from flashwatt.base.literals import shown
from flashwatt.base.marks import Kind
from flashwatt.base.missing import check_name, printable, unread
from flashwatt.base.outputs import directory, replacing
from flashwatt.base.reads import reading, reads
from flashwatt.base.scripts import blaming
from flashwatt.sweeps.again import DIRECTORY as RERUN
from flashwatt.sweeps.pack import FORMAT, LINES, MANIFEST, copied, entry
from flashwatt.sweeps.shards import RESULTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

    from flashwatt.base.files import Json

_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)
"""What Python raises for a zip file that is damaged, encrypted, or packed in an unknown way."""
_EXPECTED = "expected an archive that `flashwatt pack` wrote"
_BUILD_LETTERS = 12


class Unpacked(NamedTuple):
    """What is in an archive, and what a rerun gave."""

    manifest: dict[str, Any]
    """The content of MANIFEST.json."""
    other_build: str
    """In words, that this build of FlashWatt is another one than that of the archive; empty if it is the same."""
    difference: str
    """The first task and key in which a rerun differs from the archive, in words; empty if nothing does."""


@blaming
@reading()
def unpack(
    archive: str | PathLike[str],
    to: str | PathLike[str] | None = None,
    *,
    rerun: bool = False,
    workers: int | None = None,
    progress: bool = False,
    force: bool = False,
) -> Unpacked:
    """Check the hash of every file in an archive that `pack` wrote, and unpack it to the directory `to`, if any.

    With `rerun` the study runs again, in `to/rerun` or in a directory that is removed afterwards, and its results are
    compared with those of the archive byte for byte. Results of another build have other ids: then the reports are
    compared. A rerun that was interrupted continues if `to` is given. `workers` and `progress` are those of `sweep`.

    A file in `to` that differs from the archive's is replaced with `force` only. Raises `FlashwattError` for an archive
    that is broken or was changed, and if a rerun needs a file that was too large for the archive and is not in `to`.
    """
    check_name(archive)
    reads(archive)
    name = printable(archive)
    with ExitStack() as stack:
        with _told(name):
            source = stack.enter_context(_opened(archive))
            manifest = _checked(source, name)
        other_build = _other_build(manifest)
        if to is None and not rerun:
            return Unpacked(manifest, other_build, "")
        place = directory(to) if to is not None else Path(stack.enter_context(TemporaryDirectory(prefix="flashwatt-")))
        with _told(name):
            _extract(source, manifest, place, force=force)
        if not rerun:
            return Unpacked(manifest, other_build, "")
        _check_added(manifest, place, is_kept=to is not None)
        _run(place, workers or 0, progress=progress)
        ignoring_ids = bool(other_build)
        return Unpacked(manifest, other_build, difference(place / LINES, place / RERUN / RESULTS, ignoring_ids))


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Turn what Python raises for a broken zip file into a `FlashwattError` that names it."""
    try:
        yield
    except _core.FlashwattError:
        raise
    except _BROKEN as error:
        raise _core.FlashwattError(f"{name}: a broken archive; found: {error}; {_EXPECTED}") from None
    except OSError as error:
        raise _core.FlashwattError(unread(name, error)) from None


def _opened(archive: str | PathLike[str]) -> zipfile.ZipFile:
    check_regular(archive)
    if not zipfile.is_zipfile(archive):
        raise _core.FlashwattError(f"{printable(archive)}: not a zip file, or a torn one; {_EXPECTED}")
    return zipfile.ZipFile(archive)


def _checked(source: zipfile.ZipFile, name: str) -> Json:
    """Check every member against the manifest, which is returned, before any of them is written."""
    members = [one.filename for one in source.infolist()]
    for one in source.infolist():
        _check_name(one, name)
    if twice := [one for one, count in Counter(members).items() if count > 1]:
        raise _core.FlashwattError(f"{name}: found the member {shown(twice[0])} twice; {_EXPECTED}")
    manifest = _manifest(source, name)
    files = manifest["files"]
    for kind, names in (("no member", set(files) - set(members)), ("a member", set(members) - {*files, MANIFEST})):
        if names:
            found = f"found {kind} {shown(min(names))}"
            raise _core.FlashwattError(f"{name}: {found}; expected the members that {MANIFEST} names")
    for member, expected in files.items():
        content = _entry_of(source, member, expected)
        if content != expected:
            place = f"{name}: {member}: the content is not that of {MANIFEST}"
            raise _core.FlashwattError(f"{place}; found {_said(content)}; expected {_said(expected)}")
    return manifest


def _entry_of(source: zipfile.ZipFile, member: str, expected: Json) -> Json:
    """Give the length and the hash of a member. One of another length than expected is not read: it may be endless."""
    size = source.getinfo(member).file_size
    if size != expected["bytes"]:
        return {"bytes": size, "sha256": "that was not computed"}
    with source.open(member) as file:
        return copied(file)


def _check_name(member: zipfile.ZipInfo, archive: str) -> None:
    """Refuse a member that would be written outside the directory, or that is no plain file."""
    path = member.filename
    kind = stat.S_IFMT(member.external_attr >> 16)
    if not _is_below(path) or member.is_dir() or kind not in (0, stat.S_IFREG):
        found = f"found the member {shown(path)}"
        raise _core.FlashwattError(f"{archive}: {found}; expected plain files, by names below the directory")


def _is_below(path: str) -> bool:
    """Whether a name leads to a place below the directory that it is unpacked to, on every system."""
    parts = path.split("/")
    return posixpath.normpath(path) == path and ".." not in parts and parts[0] != "" and not set("\\:\0") & set(path)


def _manifest(source: zipfile.ZipFile, name: str) -> Json:
    """Read the manifest, and check its form."""
    if MANIFEST not in source.namelist():
        raise _core.FlashwattError(f"{name}: no {MANIFEST}; {_EXPECTED}")
    with source.open(MANIFEST) as file:
        text = file.read(TEXT_BYTES_MAX + 1)
    if len(text) > TEXT_BYTES_MAX:
        raise _core.FlashwattError(f"{name}: {MANIFEST}: found more than {TEXT_BYTES_MAX:,} bytes; {_EXPECTED}")
    read = parse_json(text, f"{name}: {MANIFEST}")
    content: Json = read if isinstance(read, dict) else {}
    form = content.get("pack")
    if form != FORMAT:
        found = f"{name}: {MANIFEST}: found pack = {shown(form)}"
        raise _core.FlashwattError(f"{found}; expected {FORMAT}, as FlashWatt {_core.__version__} writes it")
    wrong = [key for key in ("version", "build_id") if not isinstance(content.get(key), str)]
    wrong += [key for key in ("files", "not_included") if not _is_list_of_files(content.get(key))]
    if wrong:
        raise _core.FlashwattError(f"{name}: {MANIFEST}: no {', '.join(wrong)}, or another kind of value; {_EXPECTED}")
    return content


def _is_list_of_files(value: Any) -> bool:
    return isinstance(value, dict) and all(
        _is_below(name) and isinstance(one, dict) and {key: type(part) for key, part in one.items()} == _ENTRY
        for name, one in value.items()
    )


_ENTRY = {"bytes": int, "sha256": str}


def _said(file: Json) -> str:
    return f"{file['bytes']:,} bytes with SHA-256 {file['sha256']}"


def _other_build(manifest: Json) -> str:
    there, here = manifest["build_id"], _core.BUILD_ID
    if there == here:
        return ""
    of_archive = f"the archive is of FlashWatt {manifest['version']}, build {there[:_BUILD_LETTERS]}"
    return f"{of_archive}; this is {_core.__version__}, build {here[:_BUILD_LETTERS]}: ids of runs differ"


def _extract(source: zipfile.ZipFile, manifest: Json, to: Path, *, force: bool) -> None:
    """Write every file that is not there yet."""
    with source.open(MANIFEST) as file:
        files = {**manifest["files"], MANIFEST: copied(file)}
    for name, expected in files.items():
        path = to / name
        _check_inside(path, to)
        if path.is_file() and not path.is_symlink() and entry(path) == expected:
            continue
        directory(path.parent)
        kind = Kind(f"the {name} of this archive", lambda _path: False)
        with replacing(path, kind, force=force) as part, part.open("wb") as into, source.open(name) as file:
            copied(file, into)


def _check_inside(path: Path, to: Path) -> None:
    """Refuse a directory in `to` that is a link to elsewhere."""
    if not path.parent.resolve().is_relative_to(to.resolve()):
        found = f"{printable(path)}: found a symbolic link to {printable(path.parent.resolve())}"
        raise _core.FlashwattError(f"{found}; expected a directory in {printable(to)}")


def _check_added(manifest: Json, to: Path, *, is_kept: bool) -> None:
    """Check the files that were too large for the archive, and that the reader has put into the directory."""
    for name, expected in manifest["not_included"].items():
        path = to / name
        place = f"{name}: not in the archive, because it is large"
        if not path.is_file():
            where = f"in {printable(to)}" if is_kept else "in a directory that the archive is unpacked to, for --rerun"
            raise _core.FlashwattError(f"{place}; found no such file; expected one of {_said(expected)}, {where}")
        if (found := entry(path)) != expected:
            raise _core.FlashwattError(f"{printable(path)}: found {_said(found)}; expected {_said(expected)}")


def _run(place: Path, workers: int, *, progress: bool) -> None:
    """Run the study again, in a process whose working directory is that of the study."""
    package = str(Path(__file__).parents[2])
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    words = [sys.executable, "-m", "flashwatt.sweeps.again", str(workers), "bar" if progress else "quiet"]
    said = None if progress else subprocess.PIPE
    done = subprocess.run(words, cwd=place, env={**os.environ, "PYTHONPATH": path}, stderr=said, text=True, check=False)
    if done.returncode == 130:  # noqa: PLR2004 (Ctrl-C in a shell)
        raise KeyboardInterrupt
    if done.returncode:
        why = f": {done.stderr.strip()}" if done.stderr else ""
        raise _core.FlashwattError(f"the study could not be run again{why}")


def difference(archived: Path, again: Path, ignoring_ids: bool = False) -> str:
    """Compare two files of results byte for byte; name the first task and key that differ. Empty if nothing does."""
    with archived.open("rb") as one, again.open("rb") as other:
        for line in one:
            made = next(other, b"")  # results of other builds may follow
            if not made:
                return "the rerun has fewer runs than the archive"
            if line != made and (said := _of_lines(line, made, ignoring_ids=ignoring_ids)):
                return said
    return ""


def _of_lines(line: bytes, made: bytes, *, ignoring_ids: bool) -> str:
    """Say how two lines of results differ."""
    one, other = (parse_json(text, name) for text, name in ((line, LINES), (made, f"{RERUN}/{RESULTS}")))
    name = f"task {one['id'][:_BUILD_LETTERS]} (seed {one['seed']}, {shown(one['point'])})"
    if ignoring_ids:
        one, other = ({**content, "id": ""} for content in (one, other))
        mark = b', "report": '
        if one == other and line.partition(mark)[2] == made.partition(mark)[2]:
            return ""
    key, found, expected = _first(other, one)
    if not key:
        return f"{name}: the values are equal, and their bytes are not"
    return f"{name}: {key}: the rerun has {shown(found)}, the archive {shown(expected)}"


_NOTHING = "nothing"


def _first(one: Any, other: Any, key: str = "") -> tuple[str, Any, Any]:
    """Find the first value in which two contents differ; no key if none does."""
    pairs: Iterable[tuple[Any, Any, Any]] = ()
    if isinstance(one, dict) and isinstance(other, dict):
        pairs = ((name, one.get(name, _NOTHING), other.get(name, _NOTHING)) for name in {**one, **other})
    elif isinstance(one, list) and isinstance(other, list):
        pairs = ((place, *both) for place, both in enumerate(zip_longest(one, other, fillvalue=_NOTHING)))
    elif one != other:
        return key.removeprefix("."), one, other
    inner = (_first(mine, theirs, f"{key}.{name}") for name, mine, theirs in pairs)
    return next((found for found in inner if found[0]), ("", one, other))
