"""`flashwatt age`: prepare a drive once, save it, and begin many runs from it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from flashwatt.cli.options import blamed, overriding
from flashwatt.cli.signals import interruptible
from flashwatt.cli.terminal import FILE, OUTPUT_FILE, force, note, say
from flashwatt.cli.terminal import as_json as _json

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("config", type=FILE, metavar="CONFIG.toml")
@click.option("-o", "--out", type=OUTPUT_FILE, required=True, metavar="FILE.fw", help="The file to save the drive to.")
@click.option("--run", "workload", is_flag=True, help="Run the workload, too, and save the drive after its drain.")
@overriding("Override any key: run.precondition=steady.")
@_json
@force
def age(config: Path, out: Path, sets: tuple[str, ...], **options: Any) -> None:
    """Prepare the drive of CONFIG.toml and save it; runs begin from it with precondition = { snapshot = "FILE.fw" }.

    The drive is saved in the configuration's start state (run.precondition). A run from it gives the figures of one
    that prepares in place. Timing, currents, dispatch, policies, seed and workload may then differ from run to run.
    """
    from flashwatt.base.progress import bar
    from flashwatt.config.config import Config
    from flashwatt.runs import save_aged

    base = Config.of(config)
    with blamed({}, sets), interruptible() as interrupted, bar() as show:

        def progress(done: int, total: int | None, now_ns: int, preparing: str | None) -> bool:
            show(done, total, now_ns, preparing)
            return not interrupted

        whole = Config(base.text, base.name, sets)
        saved = save_aged(whole, out, workload=options["workload"], progress=progress, force=options["force"])
    if options["as_json"]:
        click.echo(json.dumps(saved))
        return
    say(f"{out}: {saved['bytes']:,} bytes; {saved['erases']:,} erases of a block; SHA-256 {saved['sha256']}")
    for warning in saved["warnings"]:
        note(warning)
