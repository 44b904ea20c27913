"""`_core.BUILD_ID` names the sources that the library is compiled from: the same in every clone and source archive."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.config.config import Config
from flashwatt.sweeps.task import Hashes, defined

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]


def sources() -> list[str]:
    """Read from the build script what it hashes: files, and folders with everything in them."""
    script = (ROOT / "crates/flashwatt-python/build.rs").read_text()
    listed = re.search(r"const SOURCES.*?\[(.*?)\];", script, re.DOTALL)
    assert listed
    return re.findall(r'"(.*?)"', listed[1])


def build_id(root: Path) -> str:
    """Make the id of a folder with sources anew."""
    listed = [root / source for source in sources()]
    files = [file for one in listed for file in ([one] if one.is_file() else one.rglob("*")) if file.is_file()]
    lines = []
    for path in sorted(file.relative_to(root).as_posix() for file in files):
        if "/." in path:
            continue
        content = (root / path).read_bytes().replace(b"\r", b"")
        if path.endswith("/Cargo.toml"):
            content = content.partition(b"\n[[")[0].rstrip()
        lines.append(f"{hashlib.sha256(content).hexdigest()}  {path}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def test_the_id_is_that_of_the_sources() -> None:
    assert build_id(ROOT) == _core.BUILD_ID, "another build than these sources give: build the package anew"


def test_every_crate_that_the_library_is_compiled_from_is_in_it() -> None:
    listed = sources()
    for manifest in ROOT.glob("crates/*/Cargo.toml"):
        folder = manifest.parent.relative_to(ROOT).as_posix()
        assert {f"{folder}/Cargo.toml", f"{folder}/src"} <= set(listed)


def test_a_task_of_another_build_has_another_id(monkeypatch: pytest.MonkeyPatch) -> None:
    def task() -> str:
        return defined(Config.of({"device": {"preset": "x25m"}}), {}, Hashes())[0].id

    own = task()
    assert own == task()
    monkeypatch.setattr(_core, "BUILD_ID", "0" * 64)
    assert own != task()
