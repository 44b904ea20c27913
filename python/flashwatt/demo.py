"""The program of `make demo`: one simulation by the command line, and commands to try next."""

from __future__ import annotations

from pathlib import Path

import click

from flashwatt.cli.main import main

_CONFIG, _OUT = Path("examples/bursts.toml"), Path("demo")

_NEXT = f"""
The results are in {_OUT}/:
  {_OUT}/power.html   power over time, component by component: open it in a browser
  {_OUT}/power.svg    the same picture for a document
  {_OUT}/report.json  every number above, and more

Try next:
  .venv/bin/flashwatt run {_CONFIG} --set device.op_ratio=0.0737 --series --out {_OUT}/as-sold
  .venv/bin/flashwatt compare {_OUT} {_OUT}/as-sold --html {_OUT}/compare.html
  .venv/bin/flashwatt sweep examples/studies/spare-flash.toml --out {_OUT}/sweep
  .venv/bin/flashwatt run {_CONFIG} --trace examples/trace.csv
  .venv/bin/flashwatt price {_OUT}/report.json --table examples/prices/frugal-nand.toml
  .venv/bin/flashwatt explain WA
  .venv/bin/flashwatt list presets
  .venv/bin/flashwatt run --help
"""


def demo() -> None:
    """Run the example as a user would, then print where the results are."""
    arguments = ["run", str(_CONFIG), "--series", "--out", str(_OUT), "--force"]  # the directory is the demo's own
    click.echo(f"$ flashwatt {' '.join(arguments)}\n")
    main(arguments)
    click.echo(_NEXT.rstrip())


if __name__ == "__main__":
    demo()
