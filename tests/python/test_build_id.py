"""`_core.BUILD_ID` names the sources that the library is compiled from: the same in every clone and source archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from building import ROOT, build_id, sources
from flashwatt import _core
from flashwatt.config.config import Config
from flashwatt.sweeps.task import Hashes, defined

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


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


def test_a_task_with_another_environment_of_its_fio_job_has_another_id(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    job = tmp_path / "job.fio"
    job.write_text("[a]\nsize=1m\nbs=${FIO_BS}\n")
    ids = set()
    for size in ("4k", "8k", "4k"):
        monkeypatch.setenv("FIO_BS", size)
        ids.add(Hashes().of(job))
    assert len(ids) == 2
