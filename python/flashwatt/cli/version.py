"""`flashwatt version`."""

from __future__ import annotations

import click

from flashwatt import _core


@click.command(hidden=True)
def version() -> None:
    """Print the version."""
    click.echo(f"flashwatt {_core.__version__}")
