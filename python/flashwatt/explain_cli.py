"""`flashwatt explain`, `init` and `schema`: what a configuration can say, and what presets say."""

from __future__ import annotations

import json
from pathlib import Path

import click

from flashwatt import reference
from flashwatt.terminal import note

SCHEMA_FILE = "flashwatt.schema.json"
"""What `init` calls the schema that it writes beside a configuration."""


@click.command()
@click.argument("name", metavar="PRESET|KEY")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def explain(name: str, as_json: bool) -> None:
    """Say what a preset consists of, or what a key of a configuration or of a report means.

    Of a preset: every number with its unit, its meaning and its source. Of a KEY (device.timing.read_ns): its meaning,
    type, range and default, and its value in every preset. Of a table (device.timing): its keys. Of a figure of the
    report (flash.write_amplification): its meaning and formula.
    """
    found = reference.explain(name)
    click.echo(json.dumps(found, indent=2, ensure_ascii=False) if as_json else reference.as_text(found))


@click.command()
@click.argument("preset", default=reference.DEFAULT_PRESET)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write it there.")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
def init(preset: str, out: Path | None, force: bool) -> None:
    """Write a configuration to start from: every key with its meaning, and the values of PRESET as comments.

    With --out, the schema for editors is written beside it.
    """
    from flashwatt.template import template

    if out is None:
        click.echo(template(preset), nl=False)
        return
    text = f"#:schema ./{SCHEMA_FILE}\n{template(preset)}"
    if out.exists() and not force:
        raise click.UsageError(f"{out} is there already (--force overwrites it)")
    out.write_text(text, encoding="utf-8")
    beside = out.with_name(SCHEMA_FILE)
    beside.write_text(_schema(), encoding="utf-8")
    note(f"wrote {out} and {beside}")


@click.command()
def schema() -> None:
    """Print the JSON schema of configurations, for editors and checkers."""
    click.echo(_schema(), nl=False)


def _schema() -> str:
    return json.dumps(reference.schema(), indent=2, ensure_ascii=False) + "\n"
