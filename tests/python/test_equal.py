"""`tools/equal.py`: a seed draws the same cases each time, no registered name is left out, a difference is printed."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt
from flashwatt import _core

if TYPE_CHECKING:
    from types import ModuleType

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture(name="cases")
def _cases(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import what draws the cases."""
    monkeypatch.syspath_prepend(TOOLS)
    from equality import cases

    return cases


def test_a_seed_draws_the_same_cases(cases: Any) -> None:
    once, again, other = ([case.to_dict() for case in cases.cases(seed)] for seed in (20, 20, 21))
    assert once == again != other
    assert len(once) == 200


def test_no_registered_name_is_left_out(cases: Any) -> None:
    assert set(cases.KINDS) == set(_core.kinds()), "a kind of names that the tool does not know"
    for seed in (20, 21):
        counted = cases.coverage(cases.cases(seed))
        assert [(kind, name) for kind, names in counted.items() for name, number in names.items() if not number] == []
    assert counted["ftls"].keys() == flashwatt.names("ftls").keys()


def test_a_difference_is_told(cases: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import equal

    chosen = [str(case.number) for case in cases.cases() if case.sort == "run"][:3]
    before, after = tmp_path / "before.jsonl", tmp_path / "after.jsonl"
    for file in (before, after):
        monkeypatch.setattr(sys, "argv", ["equal.py", "record", str(file), "--only", ",".join(chosen), "--keep"])
        assert equal.main() == 0
    assert before.read_bytes() == after.read_bytes()
    lines = [json.loads(line) for line in after.read_text().splitlines()]
    (name, _), *_ = lines[1]["parts"].items()
    lines[1]["parts"][name] = lines[1]["sha256"] = "0"
    after.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    part = tmp_path / f"after.jsonl.parts/{lines[1]['number']:03}/{name}.gz"
    part.write_bytes(gzip.compress(b"changed\n"))
    done = subprocess.run(
        [sys.executable, TOOLS / "equal.py", "compare", before, after], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"case {chosen[1]} (run) differs: {name}\n  {name}: line 1: " in done.stdout
    assert done.stdout.endswith("2 cases are equal, 1 differ, 0 are in one file only\n")
