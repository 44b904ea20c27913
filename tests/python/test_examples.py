"""The examples run as they are written: as scripts, and cell by cell as a notebook runs them."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import flashwatt

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("[0-9][0-9]_*.py"))
PAGES = sorted((Path(__file__).parents[2] / "docs").glob("*.md"))
STUDIES = sorted((Path(__file__).parents[2] / "examples/studies").glob("*.toml"))
numbered = pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)


def test_examples_are_numbered_by_concept() -> None:
    assert [int(path.name[:2]) for path in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))
    assert len(EXAMPLES) >= 6


@pytest.mark.parametrize("study", STUDIES, ids=lambda path: path.stem)
def test_every_study_can_be_run(study: Path) -> None:
    tasks = flashwatt.Study.read(study).tasks()
    assert len(tasks) >= 4
    assert len({task.id for task in tasks}) == len(tasks)


@numbered
def test_as_a_script(example: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", example]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    for page in PAGES:
        shown = page.read_text().partition(f"$ python examples/{example.name}\n")[2]
        assert shown.split("```")[0] in ("", result.stdout), page


@numbered
def test_as_a_notebook(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    first, *cells = example.read_text().split("# %%")
    assert first == ""
    assert cells[0].startswith(" [markdown]\n# # ")
    shown = [show(run(cell, names)) for cell in cells if not cell.startswith(" [markdown]")]
    assert any("<svg" in picture or "<div" in picture for picture in shown)


def run(cell: str, names: dict[str, Any]) -> Any:
    """Run a cell; give the value of its last line, as a notebook does."""
    body = ast.parse(cell).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if isinstance(last, ast.Expr) else None


def show(value: Any) -> str:
    """Give the richest form that a value has."""
    for way in ("_repr_svg_", "_repr_html_"):
        if hasattr(value, way):
            return str(getattr(value, way)())
    return repr(value)
