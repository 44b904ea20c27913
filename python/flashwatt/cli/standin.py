"""`flashwatt standin`: make a stand-in of a trace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from flashwatt.base import marks
from flashwatt.base.outputs import check, save
from flashwatt.cli.options import blamed
from flashwatt.cli.terminal import OUTPUT_FILE, force, note
from flashwatt.cli.trace import OPTION_KEYS, arguments_of, json_option, trace_options

if TYPE_CHECKING:
    from pathlib import Path

_REQUESTS = 200_000
"""Number of requests that a fit takes unless told otherwise: some 600 stand-ins of that length are drawn."""


@click.group()
def standin() -> None:
    """Make a stand-in of a trace: a model with its statistics, to share where the trace cannot be."""


@standin.command()
@trace_options
@click.option("--out", type=OUTPUT_FILE, required=True, metavar="FILE", help="The stand-in's file, in TOML.")
@json_option
@force
def fit(out: Path, as_json: bool, force: bool, **options: Any) -> None:
    """Fit a stand-in to a trace, write it to FILE, and print the figures of both side by side.

    The file holds mix, sizes, rate and bursts, runs, the spread of addresses, and how often pages are used again; no
    request and no address of the trace. The first 200,000 requests are taken, or --requests N. A run takes the stand-in
    with `--set workload.standin.path=FILE`.
    """
    from flashwatt import traces
    from flashwatt.base.progress import bar

    check(out, marks.STANDIN, force=force)
    options["max_requests"] = options["max_requests"] or _REQUESTS
    with bar("Fitting") as progress, blamed(OPTION_KEYS):
        fitted = traces.fit_standin(**arguments_of(options), progress=progress)
    save(out, marks.standin(fitted["toml"]).encode(), marks.STANDIN, force=force)
    if as_json:
        click.echo(json.dumps({key: value for key, value in fitted.items() if key != "toml"}, indent=2))
    else:
        from flashwatt.report.likeness import show_likeness

        show_likeness(fitted)
    note(f"wrote {out}")
