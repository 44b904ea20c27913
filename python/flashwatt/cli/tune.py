"""`flashwatt tune`: find the parameters of a scheduler that suit a drive."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from flashwatt.base import marks
from flashwatt.base.outputs import check
from flashwatt.cli.executing import Where, executor_of, executor_options
from flashwatt.cli.options import Finite, Quantity, blamed, drive_of, overriding, preset_option, workers_option
from flashwatt.cli.terminal import DIRECTORY, FILE, force, note, printed
from flashwatt.cli.terminal import as_json as _json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from flashwatt.sweeps.tuning import MicroTest, Tuned


def _listed(key: str) -> Callable[[click.Context, click.Parameter, str | None], list[int]]:
    """Give the callback of an option that takes whole numbers in the unit of `key`, with commas between them."""
    of_one = Quantity(key, 1)

    def numbers(context: click.Context, option: click.Parameter, value: str | None) -> list[int]:
        return [of_one.convert(one, option, context) for one in value.split(",")] if value else []

    return numbers


@click.group()
def tune() -> None:
    """Find the parameters of a scheduler that suit a drive, by a micro-test."""


@tune.command()
@click.argument("config", type=FILE, required=False, metavar="[CONFIG.toml]")
@preset_option
@click.option(
    "--regions",
    callback=_listed("region_bytes"),
    metavar="BYTES,…",
    help="Sizes of the region: 64MiB,1GiB. Five powers of two up to the drive's size unless given.",
)
@click.option(
    "--batches",
    callback=_listed("queue_depth"),
    metavar="N,…",
    help="Numbers of concurrent requests; 1, 2, 4, … up to the drive's queue depth, at most 64, unless given.",
)
@click.option(
    "--requests",
    type=Quantity("run.measure.requests", 1),
    default=20_000,
    show_default=True,
    metavar="N",
    help="Requests of each run.",
)
@click.option(
    "--request-bytes",
    type=Quantity("request_bytes", 1),
    default=4096,
    show_default=True,
    metavar="BYTES",
    help="Size of a request.",
)
@click.option(
    "--within",
    type=Finite(0, 50, max_open=True),
    default=5.0,
    show_default=True,
    metavar="PERCENT",
    help="Throughput that may be given up for a smaller region or batch.",
)
@overriding("Override any key of CONFIG.toml: device.channels=4.")
@workers_option
@executor_options
@click.option("--out", type=DIRECTORY, metavar="DIR", help="Keep the runs there; continue from those already there.")
@_json
@force
def pardispatcher(
    config: Path | None, preset: str | None, sets: tuple[str, ...], out: Path | None, as_json: bool, **options: Any
) -> None:
    """Find the region and the batches of ParDispatcher for the drive of CONFIG.toml, or of --preset.

    The micro-test of the paper: random requests go into one region of the drive; the region's size and the number of
    concurrent requests vary; reads and writes are tested one after the other. The drive begins in the configuration's
    start state (run.precondition). The workload, the windows and the block layer of CONFIG.toml are left out.

    Prints the table with the chosen values marked, the rule of the choice, and the lines for a configuration.
    """
    from flashwatt.cli.sweep import swept
    from flashwatt.sweeps.tuning import MicroTest, Tuned

    where = Where(options["workers"], executor_of(options, options["workers"]))
    if config is None and preset is None:
        raise click.UsageError("no drive; expected a configuration (CONFIG.toml) or --preset NAME")
    named = {"device.preset": "--preset"} if preset else {}
    own = {"regions": "--regions", "batches": "--batches", "workload.uniform.request_bytes": "--request-bytes"}
    with blamed({**named, **own}, sets):
        test = MicroTest.of(
            drive_of(config, preset, sets),
            **{name: options[name] for name in ("regions", "batches", "requests", "request_bytes")},
        )
        study = test.study()
    if out:
        check(out / "results.parquet", marks.TABLE, force=options["force"])
    note(f"{study.size} runs of {test.requests:,} requests")
    results, fault = swept(study, out, where, options["force"], "Testing")
    tuned = Tuned.of(results, options["within"] / 100)
    with printed() as faults:
        _show(test, tuned, as_json)
    if out and not fault:
        note(f"wrote {out / 'results.jsonl'}, {out / 'results.parquet'}")
    for one in (fault, *faults):
        if one:
            raise one


def _show(test: MicroTest, tuned: Tuned, as_json: bool) -> None:
    """Print the result on standard output."""
    if as_json:
        content = {"requests": test.requests, "request_bytes": test.request_bytes, **tuned.to_dict()}
        click.echo(json.dumps(content, indent=2))
        return
    from flashwatt.cli.tuning_table import show

    show(test, tuned)
