"""`flashwatt explain`, `init` and `schema`: the reference of configurations and presets."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import click

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.outputs import check, save_together
from flashwatt.cli import completion
from flashwatt.cli.terminal import OUTPUT_FILE, note

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA_FILE = "flashwatt.schema.json"
"""The name of the schema that `init` writes beside a configuration."""


@click.command()
@click.argument("name", metavar="PRESET|KEY|WORD", shell_complete=completion.explained)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def explain(name: str, as_json: bool) -> None:
    """Explain a preset, a key of a configuration or of a report, or a word of the field.

    For a preset: every number with its unit, its meaning and its source. For a KEY (device.timing.read_ns): its
    meaning, type, range and default, and its value in every preset. For a table (device.timing): its keys. For a figure
    of the report (flash.write_amplification): its meaning and formula. For a WORD (WA, "SLC cache", suspend): what the
    glossary says, or that it is not modelled and what follows from that.
    """
    from flashwatt.cli import explanation

    found = explanation.explain(name)
    click.echo(json.dumps(found, indent=2, ensure_ascii=False) if as_json else explanation.as_text(found))


@click.command()
@click.argument("preset", required=False, shell_complete=completion.presets)
@click.option("--out", type=OUTPUT_FILE, metavar="FILE", help="Write it there.")
@click.option("--force", is_flag=True, help="Replace FILE, and a schema beside it that flashwatt did not write.")
def init(preset: str | None, out: Path | None, force: bool) -> None:
    """Write a configuration to start from: every key with its meaning, and the values of PRESET as comments.

    With --out, the schema for editors is written beside it.
    """
    from flashwatt.config.reference import DEFAULT_PRESET
    from flashwatt.config.template import template

    preset = DEFAULT_PRESET if preset is None else preset
    if out is None:
        click.echo(template(preset), nl=False)
        return
    text = f"#:schema ./{SCHEMA_FILE}\n{template(preset)}"
    if out.is_dir():
        raise click.UsageError(f"--out: {out}: a directory; expected the name of a file")
    if os.path.lexists(out) and not force:
        raise click.UsageError(f"{out} is there already (--force overwrites it)")
    beside = out.with_name(SCHEMA_FILE)
    if out.name == SCHEMA_FILE:
        raise click.UsageError(f"{out}: that is where the schema goes; expected another name")
    check(beside, marks.SCHEMA, force=force)
    files = [(out, text.encode(), marks.CONFIG), (beside, _schema().encode(), marks.SCHEMA)]
    save_together(files, force=force)
    note(f"wrote {out} and {beside}")


@click.command()
def schema() -> None:
    """Print the JSON schema of configurations, for editors and checkers."""
    click.echo(_schema(), nl=False)


def _schema() -> str:
    """The mark comes first, by which `init` knows a schema that it may replace."""
    from flashwatt.config import reference

    marked = {"$comment": f"FlashWatt {_core.__version__}", **reference.schema()}
    return json.dumps(marked, indent=2, ensure_ascii=False) + "\n"
