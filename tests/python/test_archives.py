"""The packages of the crates and the source archive hold all that a build reads. `tools/archives.sh` builds them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
from fnmatch import filter as matching
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING

import pytest

from building import ROOT, build_id

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")

INCLUDED = re.compile(
    r'\binclude(?:_str|_bytes)?!\s*\(\s*(?P<argument>"[^"]*"|concat!\s*\([^()]*\)|[^"\s].*?)\s*\)'
    r'|#\[path\s*=\s*(?P<path>"[^"]*")\s*\]',
    re.DOTALL,
)
"""What a source file takes from another one when it is compiled."""


PUBLISHED = sorted(
    {one.parent.name for one in ROOT.glob("crates/*/Cargo.toml")} - {"flashwatt-live", "flashwatt-python"}
)


def packaged(crate: str) -> set[str]:
    """Name the files of a crate's package, by their paths in the repository."""
    command = ["cargo", "package", "--list", "-p", crate, "--allow-dirty", "--offline", "--locked"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert listed.returncode == 0, listed.stderr
    assert listed.stderr == ""
    return {f"crates/{crate}/{line}" for line in listed.stdout.splitlines()}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the source archive, unpack it, and give its root."""
    directory = tmp_path_factory.mktemp("archive")
    command = [sys.executable, "-m", "maturin", "sdist", "--out", directory]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    (packed,) = directory.glob("*.tar.gz")
    assert packed.stat().st_size < 3e6
    with tarfile.open(packed) as file:
        file.extractall(directory, filter="data")
    (root,) = (one for one in directory.iterdir() if one.is_dir())
    return root


def missing(root: Path, files: set[str]) -> list[str]:
    """Name what Rust sources of these take from files that are not among them."""
    found = []
    for source in sorted(one for one in files if one.endswith(".rs")):
        for taken in INCLUDED.finditer((root / source).read_text()):
            patterns = pattern(taken["argument"] or taken["path"])
            wanted = normpath(join(dirname(source), patterns)) if patterns else None
            if wanted is None or not matching(files, wanted):
                found.append(f"{source}: {taken[0]}")
            else:
                there = {one.relative_to(ROOT).as_posix() for one in ROOT.glob(wanted)}
                found += [f"{source}: {one}" for one in sorted(there - files)]
    return found


def pattern(argument: str) -> str | None:
    """Give the path of an argument, with `*` for what a macro puts in; None if this does not understand it."""
    if argument.startswith("concat!"):
        parts = [part.strip() for part in argument.partition("(")[2].rstrip(")").split(",") if part.strip()]
        return "".join(part[1:-1] if part.startswith('"') else "*" for part in parts)
    return argument[1:-1] if argument.startswith('"') else None


def test_what_is_included_is_seen() -> None:
    """The test of the tests below: every form that the sources have, and one that they must not have."""
    text = """
        include_str!("a.toml") include_bytes!( "b" ) include!("c.rs")
        include_str!(concat!("d/", $name, ".f"))
        #[path = "../e.rs"]
        include_str!($other)
    """
    found = [pattern(one["argument"] or one["path"]) for one in INCLUDED.finditer(text)]
    assert found == ["a.toml", "b", "c.rs", "d/*.f", "../e.rs", None]


@pytest.mark.parametrize("crate", PUBLISHED)
def test_a_crate_holds_what_its_sources_include(crate: str) -> None:
    files = packaged(crate)
    readme = ("README.md",) if crate == "flashwatt" else ()
    assert {f"crates/{crate}/{name}" for name in ("Cargo.lock", "LICENSE", "src/lib.rs", *readme)} <= files
    own = {one for one in files if (ROOT / one).is_file()}
    assert missing(ROOT, own) == []
    assert not {one for one in files if "/tests/" in one and "/src/" not in one}


def test_the_source_archive_holds_what_a_build_reads(archive: Path) -> None:
    files = {one.relative_to(archive).as_posix() for one in archive.rglob("*") if one.is_file()}
    assert {one.split("/")[0] for one in files} == {
        *("Cargo.lock", "Cargo.toml", "LICENSE", "PKG-INFO", "pyproject.toml"),
        *("crates", "packaging", "python"),
    }
    assert missing(archive, files) == []
    package = {one.relative_to(ROOT).as_posix() for one in (ROOT / "python").rglob("*") if one.is_file()}
    assert {one for one in package if "__pycache__" not in one and not one.endswith(".so")} == {
        one for one in files if one.startswith("python/")
    }


def test_a_build_from_the_archive_has_the_id_of_the_clone(archive: Path) -> None:
    assert build_id(archive) == build_id(ROOT)


@pytest.mark.parametrize("crate", PUBLISHED)
def test_a_crate_has_the_license_of_the_project(crate: str) -> None:
    assert (ROOT / "crates" / crate / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
