"""`flashwatt trace`: statistics of traces, pictures of them, and conversion."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from flashwatt.base import marks
from flashwatt.base.outputs import check, directory, locked
from flashwatt.cli.options import UNIT_OPTIONS, Finite, Quantity, blamed, numbers
from flashwatt.cli.terminal import DIRECTORY, OUTPUT_FILE, TRACE, force, note, printed, say

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import TypeAlias

    Decorator: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]

_OPTIONS: tuple[Any, ...] = (
    click.argument("files", type=TRACE, nargs=-1, required=True),
    click.option("--format", "--trace-format", "trace_format", metavar="FORMAT", help="Recognised unless given."),
    click.option("--skip-bad", is_flag=True, help="Leave out (and count) records that cannot be read."),
    *UNIT_OPTIONS,
    click.option("--devices", metavar="N,N,…", callback=numbers, help="Keep only the requests to these devices."),
    click.option("--from", "from_s", type=Quantity("from_s"), metavar="SECONDS", help="Leave out earlier requests."),
    click.option("--until", "until_s", type=Quantity("until_s"), metavar="SECONDS", help="Leave out later requests."),
    click.option(
        "--max-gap",
        "max_gap_s",
        type=Quantity("max_gap_s"),
        metavar="SECONDS",
        help="Cut longer gaps, and steps back of the clock.",
    ),
    click.option("--requests", "max_requests", type=Quantity("requests", 1), metavar="N", help="Stop after N."),
    click.option("--speed", type=Finite(), metavar="X", help="Divide times by X."),
    click.option("--space-scale", type=Finite(), metavar="X", help="Multiply addresses by X, in steps of 1 MiB."),
    click.option("--align-starts", is_flag=True, help="Let each file begin at time 0."),
    click.option("--share-devices", is_flag=True, help="Equal device numbers in several files are one device."),
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
OPTION_KEYS = {
    f"workload.trace.{key}": f"--{name}"
    for key, name in {
        "format": "format",
        "time_unit": "time-unit",
        "offset_unit": "offset-unit",
        "size_unit": "size-unit",
        "sort": "sort",
        "skip_bad": "skip-bad",
        "devices": "devices",
        "from_s": "from",
        "until_s": "until",
        "max_gap_s": "max-gap",
        "max_requests": "requests",
        "speed": "speed",
        "space_scale": "space-scale",
        "align_starts": "align-starts",
        "share_devices": "share-devices",
        "fold": "fold",
        "clip": "clip",
    }.items()
}
"""The configuration keys that the options stand for."""


def trace_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the arguments of all commands: the files, and the options that select records."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.group()
def trace() -> None:
    """Look at recorded traces, and convert them.

    Several FILES are merged by the times of their records; each has devices of its own unless --share-devices is given.
    """


@trace.command("info")
@trace_options
@json_option
def info_(as_json: bool, **options: Any) -> None:
    """Print statistics of traces: requests, rates, order, sizes, sequentiality, footprint, devices.

    Statistics that no drive could reach get a warning, with the unit that would explain them.
    """
    from flashwatt import traces
    from flashwatt.base.progress import bar

    with bar() as progress, blamed(OPTION_KEYS):
        found = traces.info(**arguments_of(options), progress=progress)
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        from flashwatt.report.table import show_trace

        show_trace(_named_devices(found))


@trace.command()
@trace_options
@click.option("--out", type=OUTPUT_FILE, required=True, metavar="FILE", help=".csv, .fwt")
@click.option("--to", "to_format", metavar="FORMAT", help="csv or binary; by the ending of FILE unless given.")
@click.option(
    "--drive",
    "drive_bytes",
    type=Quantity("drive_bytes", 0),
    metavar="SIZE",
    help="Lay devices out on a drive of this size.",
)
@click.option("--fold", is_flag=True, help="With --drive: take addresses beyond it modulo its size.")
@click.option("--clip", is_flag=True, help="With --drive: cut requests at its end; leave out those beyond.")
@json_option
@force
def convert(
    out: Path, to_format: str | None, drive_bytes: int | None, as_json: bool, force: bool, **options: Any
) -> None:
    """Convert traces to CSV (.csv) or to FlashWatt's compact binary form (.fwt), packed with .gz or .zst behind it.

    Times and devices stay as they are unless options say otherwise. With --drive the file holds what a replay on
    such a drive issues: one device, beginning at time 0.
    """
    from flashwatt import traces
    from flashwatt.base.progress import bar

    arguments = arguments_of(options)
    arguments["sets"] += [f"{key}=true" for key in ("fold", "clip") if options[key]]
    with bar("Writing") as progress, blamed(OPTION_KEYS):
        arguments |= {"to_format": to_format, "drive_bytes": drive_bytes, "force": force}
        done = traces.convert(**arguments, to=out, progress=progress)
    if as_json:
        click.echo(json.dumps(done, indent=2))
        return
    each = done["bytes"] / done["requests"]
    say(f"{out}: {done['requests']:,} requests, {done['bytes']:,} bytes ({each:.1f} each), {done['packing']}")
    for device in done["devices"]:
        file = options["files"][device["trace"]].name
        say(f"  device {device['written']}: device {device['device']} of {file}")
    for warning in done["warnings"]:
        note(warning)


@trace.command()
@trace_options
@click.option("--out", type=DIRECTORY, required=True, metavar="DIR")
@json_option
@force
def plot(out: Path, as_json: bool, force: bool, **options: Any) -> None:
    """Draw traces into DIR/trace.svg and DIR/trace.html (which needs no network).

    Arrivals and bytes over time, places over time, sizes, and the hit ratio of LRU caches over their size. --json
    prints the figures that they are drawn from.
    """
    from flashwatt import traces
    from flashwatt.base.progress import bar
    from flashwatt.plot.trace import write_trace

    pictures = {"trace.svg": marks.SVG, "trace.html": marks.PAGE}
    for name, kind in pictures.items():
        check(out / name, kind, force=force)
    with locked(directory(out)):
        with bar() as progress, blamed(OPTION_KEYS):
            profile = traces.profile(**arguments_of(options), progress=progress)
        with printed() as faults:
            if as_json:
                click.echo(json.dumps(profile))
        for warning in profile["info"]["warnings"]:
            note(warning)
        written = write_trace(profile, out, force=force)
    note(f"wrote {', '.join(map(str, written))}")
    if faults:
        raise faults[0]


def _named_devices(info: dict[str, Any]) -> dict[str, Any]:
    """Of several files: say which file each device belongs to."""
    if all(device["trace"] == 0 for device in info["devices"]):
        return info
    devices = [{**device, "device": f"{device['device']} of file {device['trace'] + 1}"} for device in info["devices"]]
    return {**info, "devices": devices}


def arguments_of(options: dict[str, Any]) -> dict[str, Any]:
    """The options as the library takes them."""
    sets = [f"devices=[{options['devices']}]"] if options["devices"] else []
    for key in ("from_s", "until_s", "max_gap_s", "max_requests", "speed", "space_scale"):
        if options[key] is not None:
            sets.append(f"{key}={options[key]}")
    sets += [f'{key}="{options[key]}"' for key in ("time_unit", "offset_unit", "size_unit") if options[key]]
    sets += [f"{key}=true" for key in ("sort", "align_starts", "share_devices") if options[key]]
    files = list(options["files"])
    return {
        "files": files,
        "trace_format": options["trace_format"],
        "skip_bad": options["skip_bad"],
        "sets": sets,
    }
