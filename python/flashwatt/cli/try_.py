"""`flashwatt try`: an example from nothing to a table and a picture."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from flashwatt.cli.run import run
from flashwatt.cli.terminal import DIRECTORY, force, say

_EXAMPLE = Path(__file__).with_name("bursts.toml")

_NEXT = """
The results are in {out}:
  {out}/power.html    power over time, component by component: open it in a browser
  {out}/power.svg     the same picture for a document
  {out}/report.json   every number above, and more
  {out}/config.toml   the run's configuration

Next:
  flashwatt run {out}/config.toml --set device.op_ratio=0.0737    # as much spare flash as it is sold with
  flashwatt run TRACE                      # a recorded trace of your own
  flashwatt list presets                   # other drives, for --preset
  flashwatt init --out drive.toml          # a configuration to edit, every key explained
  flashwatt explain efficiency.j_per_gb    # the meaning of a figure or of a key"""


@click.command("try")
@click.option("--out", type=DIRECTORY, default="flashwatt-try", show_default=True, help="Keep the results there.")
@force
@click.pass_context
def try_(context: click.Context, out: Path, force: bool) -> None:
    """Simulate an example: a used drive under bursts of small requests. Print its figures, and draw its power."""
    context.invoke(run, files=(_EXAMPLE,), series=True, out=out, force=force)
    say(_NEXT.format(out=shlex.quote(str(out))))
