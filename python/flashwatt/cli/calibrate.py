"""`flashwatt calibrate`: fit parameters of a preset to a table of measurements."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from flashwatt.cli import completion
from flashwatt.cli.executing import executor_of, executor_options
from flashwatt.cli.options import blamed, workers_option
from flashwatt.cli.terminal import DIRECTORY, FILE, INTERRUPTED, complain, fail, force, note, printed
from flashwatt.cli.terminal import as_json as _json

if TYPE_CHECKING:
    from pathlib import Path

    from flashwatt.calibration.result import Calibration

_FAILURES_SHOWN = 3


@click.command()
@click.argument("preset", metavar="PRESET", shell_complete=completion.presets)
@click.argument("table", type=FILE, metavar="TABLE.toml")
@click.option(
    "--out",
    type=DIRECTORY,
    metavar="DIR",
    help="Keep the calibrated preset, the report and the runs there; continue from runs already there.",
)
@click.option(
    "--hold-out",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Also hold out every choice of N rows in turn, and predict them by a fit to the others.",
)
@click.option(
    "--starts",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    metavar="N",
    help="Searches: one from the preset's values, the others from places spread over the ranges.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, metavar="N", help="Chooses these places."
)
@workers_option
@executor_options
@_json
@force
def calibrate(preset: str, table: Path, out: Path | None, as_json: bool, force: bool, **options: Any) -> None:
    """Fit parameters of PRESET to the measurements in TABLE.toml.

    TABLE.toml holds `[free]` with bounds for each parameter, and `[[rows]]`: a workload as overrides of the
    configuration, and figures of the report that were measured under it. Rows with `held_out = true` are predicted.

    Prints the fitted values, each row's residual, each parameter's effect on each row, and which parameters the table
    does not determine or cannot tell apart. DIR/calibrated.toml is the calibrated preset, which `flashwatt run` takes;
    each of its lines says where it is from. After Ctrl-C the best values are kept, and the same command continues.
    """
    from flashwatt.base.progress import counting_bar
    from flashwatt.calibration.calibration import FILES, CalibrationInterruptedError
    from flashwatt.calibration.calibration import calibrate as fit

    executor = executor_of(options, options["workers"])
    _check_preset(preset)
    named = {one: f"--{one.replace('_', '-')}" for one in ("hold_out", "starts", "seed", "workers")}
    try:
        with counting_bar("Calibrating") as show, blamed(named):
            found = fit(preset, table, out=out, progress=show, force=force, executor=executor, **options)
    except CalibrationInterruptedError as interrupted:
        if interrupted.calibration and not out:
            _complain_of_values(interrupted.calibration)
        fail(str(interrupted), INTERRUPTED)
    note(f"{found.runs:,} runs simulated, {found.found_runs:,} taken from earlier results")
    with printed() as faults:
        _show(found, as_json)
    for message, times in list(found.failures.items())[:_FAILURES_SHOWN]:
        note(f"the search met a configuration that cannot be run ({times} times): {message}")
    if out:
        note(f"wrote {', '.join(str(out / name) for name in (*FILES, 'results.jsonl'))}")
    if faults:
        raise faults[0]


def _check_preset(preset: str) -> None:
    """Refuse a name that is no preset; a file is called one."""
    from flashwatt.base.misspelt import hint
    from flashwatt.config.reference import presets

    if preset in presets():
        return
    if preset.endswith(".toml"):
        expected = "the name of a preset (flashwatt list presets); keys that differ go into `overrides` of TABLE.toml"
        raise click.UsageError(f"PRESET: found the file {preset}; expected {expected}")
    raise click.UsageError(f"PRESET: unknown preset; found `{preset}`; {hint(preset, presets())}")


def _complain_of_values(found: Calibration) -> None:
    complain("the best values so far:")
    for key, value in found.values.items():
        complain(f"  {key} = {value:.9g}")


def _show(found: Calibration, as_json: bool) -> None:
    """Print the result on standard output."""
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=2))
        return
    from flashwatt.cli.calibration_table import show

    show(found)
