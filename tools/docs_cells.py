"""Run a script with percent cells and lay it out as a page: prose, code, output and pictures of each cell."""

from __future__ import annotations

import ast
import contextlib
import html
import io
import json
import re
import tempfile
from typing import TYPE_CHECKING, Any

from rich.console import Console

import flashwatt
from flashwatt.plot.chart import Chart, both_schemes
from flashwatt.report.table import show

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NARROW = 350
"""Pixels of a picture for a phone."""
WIDTH = 80
"""Columns of the tables of reports."""


def tutorial(path: Path) -> tuple[str, dict[str, str]]:
    """Turn a script into a page, without its title. Returns the page and its pictures, SVG by file name."""
    parts: list[str] = []
    pictures: dict[str, str] = {}
    names: dict[str, Any] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory):
        for cell in path.read_text(encoding="utf-8").split("# %%")[1:]:
            if cell.startswith(" [markdown]\n"):
                parts.append(re.sub(r"^# ?", "", cell.removeprefix(" [markdown]\n"), flags=re.MULTILINE).strip())
                continue
            parts.append(f"```python\n{cell.strip()}\n```")
            printed, value = run(cell, names)
            if printed.strip():
                parts.append(output(printed))
            parts += shown(value, path.stem, pictures)
    note = (
        f"This page is `examples/{path.name}`: a script that also opens as a notebook. Output and pictures are its own."
    )
    _title, _, rest = "\n\n".join(parts).partition("\n")
    return f"*{note}*\n{rest}\n", pictures


def run(cell: str, names: dict[str, Any]) -> tuple[str, Any]:
    """Run a cell. Returns what it printed, and the value of its last line as a notebook shows it."""
    body = ast.parse(cell).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
    return printed.getvalue(), value


def shown(value: Any, stem: str, pictures: dict[str, str]) -> Iterator[str]:
    """Lay out the value of a cell: a plot as a picture, a report as its table, everything else as text."""
    if isinstance(value, Chart):
        name = f"{stem}_{len(pictures) // 2 + 1}.svg"
        small = name.replace(".svg", "-narrow.svg")
        pictures[name], pictures[small] = both_schemes(value.svg()), both_schemes(narrow(value).svg())
        source = f'<source media="(max-width: 600px)" srcset="{small}">'
        picture = f'<picture>{source}<img class="figure" src="{name}" alt="{html.escape(value.title)}"></picture>'
        yield f'<a href="{name}">{picture}</a>'
    elif isinstance(value, flashwatt.Report):
        console = Console(file=io.StringIO(), width=WIDTH, color_system=None)
        show(json.loads(value.json), console)
        yield output(console.file.getvalue())
    elif value is not None:
        yield output(str(value))


def narrow(chart: Chart) -> Chart:
    """Give a picture for a phone."""
    return chart.restyle(width=NARROW, font_size=11)


def output(text: str) -> str:
    """Lay out what a cell printed."""
    return f'<div class="output" markdown>\n\n```text\n{text.rstrip()}\n```\n\n</div>'
