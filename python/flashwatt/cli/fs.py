"""`flashwatt fs`: look into the file system of a workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from flashwatt.cli.options import blamed, overriding
from flashwatt.cli.signals import interruptible
from flashwatt.cli.terminal import FILE
from flashwatt.cli.terminal import as_json as _json

if TYPE_CHECKING:
    from pathlib import Path


@click.group()
def fs() -> None:
    """Look into the file system of a workload."""


@fs.command()
@click.argument("config", type=FILE, metavar="CONFIG.toml")
@click.option(
    "--run", "after_run", is_flag=True, help="Run the workload first, and look at the files as they are then."
)
@click.option(
    "--files", "shown", type=click.IntRange(0), default=20, metavar="N", help="Show N files; 20 unless given."
)
@overriding("Override any key: workload.files.system=lfs.")
@_json
def inspect(config: Path, sets: tuple[str, ...], **options: Any) -> None:
    """Print where the files of CONFIG.toml's workload lie: parts on the disk (extents) and fragmentation by file.

    The files are those that are laid down before the run. With the most parts first; --json has all of them.
    """
    from flashwatt.base.progress import bar
    from flashwatt.config.config import Config
    from flashwatt.runs import inspected

    base = Config.of(config)
    with blamed({}, sets), interruptible() as interrupted, bar() as show:

        def progress(done: int, total: int | None, now_ns: int, preparing: str | None) -> bool:
            show(done, total, now_ns, preparing)
            return not interrupted

        whole = Config(base.text, base.name, sets)
        found = inspected(whole, after_run=options["after_run"], progress=progress)
    if options["as_json"]:
        import json

        click.echo(json.dumps(found))
        return
    from flashwatt.report.layout import show_layout

    show_layout(found, options["shown"])
