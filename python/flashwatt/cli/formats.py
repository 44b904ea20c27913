"""The option for the format of a result on standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

FORMATS = ("table", "json", "csv", "latex")


def formatted(command: Any) -> Any:
    """Add `--format`, and its short form `--json`, to a command, which gets the name of the format as `format_`."""
    options: list[Callable[[Any], Any]] = [
        click.option(
            "--format",
            "format_",
            type=click.Choice(FORMATS),
            callback=_chosen,
            help="Print a table for the terminal (unless given), JSON, CSV, or LaTeX for the package booktabs. "
            "JSON and CSV have all digits, in the units of report.json.",
        ),
        click.option(
            "--json",
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_keep,
            help="Print one JSON object: short for --format json.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


label_option = click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="NAME=TEXT",
    callback=lambda _context, _option, values: labels_of(values),
    help="Call a key, a figure or a value TEXT in tables, LaTeX and pictures: gc.policy=Collector, greedy=Greedy, "
    "device.channels.4='four channels'.",
)


def labels_of(values: tuple[str, ...]) -> dict[str, str]:
    """Take names and their labels apart."""
    found = {}
    for one in values:
        name, equals, text = one.partition("=")
        if not equals or not text.strip():
            raise click.BadParameter(f"found {one}; expected NAME=TEXT, as gc.policy=Collector")
        found[name.strip()] = text.strip()
    return found


_JSON = "flashwatt.json"
"""Where click's context keeps whether `--json` was given."""


def _keep(context: click.Context, _option: click.Parameter, value: bool) -> None:
    context.meta[_JSON] = value


def _chosen(context: click.Context, _option: click.Parameter, value: str | None) -> str:
    if context.meta.get(_JSON):
        if value not in (None, "json"):
            raise click.UsageError(f"--json and --format {value} are two formats; expected one of them")
        return "json"
    return value or "table"


def names(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> list[str]:
    """Split lists of names with commas between them, given once or several times."""
    return [name for value in values for one in value.split(",") if (name := one.strip())]
