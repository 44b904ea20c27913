"""`flashwatt compare` for results of `flashwatt dio`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flashwatt.base import marks
from flashwatt.base.missing import printable
from flashwatt.base.outputs import check, save
from flashwatt.cli.options import blamed
from flashwatt.cli.terminal import note, printed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from flashwatt.base.files import Json


def compare_results(
    paths: Sequence[Path], only: Sequence[str], html: Path | None, format_: str, *, force: bool
) -> None:
    """Lay results side by side: print them, and draw them with `html`."""
    from flashwatt.dio.beside import chosen
    from flashwatt.dio.result import file_of, is_result, read
    from flashwatt.report.comparison import labels

    other = next((path for path in paths if not is_result(path)), None)
    if other:
        raise click.UsageError(f"{printable(other)}: not a result of `flashwatt dio`, as the others; expected one kind")
    if format_ == "latex":
        raise click.UsageError("--format latex: not for results of `flashwatt dio`; expected table, json or csv")
    if len(paths) == 1 and format_ != "csv" and html is None:
        raise click.UsageError("one result alone has nothing to be compared with; name two or more, or --html FILE")
    files = [file_of(path) for path in paths]
    if html:
        check(html, marks.PAGE, force=force)
    with blamed({"only": "--only"}):
        names = chosen(only)
    results = {label: read(file) for label, file in zip(labels(files), files, strict=True)}
    with printed() as faults:
        _print(results, names, format_)
    if html:
        _draw(results, names, html, force=force)
    if faults:
        raise faults[0]


def _print(results: dict[str, Json], names: list[str], format_: str) -> None:
    from flashwatt.dio import beside
    from flashwatt.dio.result import csv_of

    if format_ == "json":
        import json

        warnings = list(beside.warnings(results))
        click.echo(json.dumps({"points": beside.points(results, names), "warnings": warnings}, indent=2))
    elif format_ == "csv":
        click.echo(csv_of(beside.rows(results)), nl=False)
    else:
        beside.show(results, names)


def _draw(results: dict[str, Json], names: list[str], path: Path, *, force: bool) -> None:
    """Draw the figures that there is a picture of, and that any point has."""
    from flashwatt import plot
    from flashwatt.plot.chart import page
    from flashwatt.plot.dio import FIGURES

    every = [one for content in results.values() for one in content["points"]]
    there = [name for name in names if name in FIGURES and any(one[name] for one in every)]
    charts = [plot.dio(results, name) for name in there]
    if not charts:
        found = f"no point with {' or '.join(names)}"
        raise click.UsageError(f"--html: nothing to draw; found {found}; expected points with {' or '.join(FIGURES)}")
    save(path, page(" / ".join(results), charts), marks.PAGE, force=force)
    note(f"wrote {path}")
