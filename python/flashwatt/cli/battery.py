"""`flashwatt compare --battery`: what a battery moves through a drive. `flashwatt battery` is an earlier name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flashwatt.cli.options import Finite
from flashwatt.cli.terminal import REPORT, as_json

if TYPE_CHECKING:
    from pathlib import Path


@click.command(hidden=True)
@click.argument("reports", type=REPORT, nargs=-1, required=True, metavar="REPORT…")
@click.option("--wh", type=Finite(), default=50.0, metavar="WH", help="Energy of the battery in Wh; 50 unless given.")
@as_json
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, a row for each target and pattern.")
def battery(reports: tuple[Path, ...], wh: float, as_json: bool, as_csv: bool) -> None:
    """Compute how many gigabytes a battery moves through a drive: Wh × 3600 J over J/MB, and the efficiency.

    REPORT is a result of `flashwatt dio`, which has a row for each pattern and size, or a report of `flashwatt run`,
    whose energy counts for the bytes that it wrote; or a directory with one of them.
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv are two formats; expected one of them")
    show_battery(reports, wh, "json" if as_json else "csv" if as_csv else "table", option="--wh")


def show_battery(reports: tuple[Path, ...], wh: float, format_: str, *, option: str) -> None:
    """Print what a battery of `wh` moves through the drives of these reports; messages name the option of `wh`."""
    from flashwatt.cli.options import blamed
    from flashwatt.dio.battery import show, table_of

    with blamed({"--wh": option}):
        rows, warnings = table_of(reports, wh)
    if format_ == "json":
        import json

        click.echo(json.dumps({"rows": rows, "warnings": warnings}))
    elif format_ == "csv":
        from flashwatt.dio.result import csv_of

        click.echo(csv_of(rows), nl=False)
    else:
        show(rows, wh, warnings)
