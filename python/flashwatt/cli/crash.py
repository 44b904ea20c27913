"""`flashwatt crash`: cut the power of a drive, and see what is lost and what coming back costs."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.outputs import check, save
from flashwatt.base.units import count, counted
from flashwatt.cli.options import Quantity, blamed, drive_of, overriding, preset_option
from flashwatt.cli.signals import interruptible
from flashwatt.cli.terminal import (
    FAILED,
    FILE,
    INTERRUPTED,
    OUTPUT_FILE,
    check_stdout,
    complain,
    force,
    note,
    printed,
    quiet,
    quiet_is_on,
)
from flashwatt.cli.terminal import as_json as _json

if TYPE_CHECKING:
    from pathlib import Path

    from flashwatt.config.config import Config
    from flashwatt.power_cuts import Crash

_PLACES = {"cuts": "--cuts", "at_ns": "--at-ns", "at_operation": "--at-operation"}
_LOSSES_SHOWN = 5
_BEFORE_DRIVE = {
    "host_lost_units": ("unit", "of data that was durable for its process"),
    "files_lost": ("file", "with fsynced data"),
    "files_pair_lost": ("file", "with fsynced data, at a cut that spoilt pages"),
    "files_exposed_blocks": ("block", "that committed metadata gives to a file whose data it does not hold"),
    "hole_lost_bytes": ("byte", "of the failed member's data, in rows that were being written (write hole)"),
}
"""Losses of processes, files and arrays: what is counted, and of what."""


@click.command()
@click.argument("config", type=FILE, required=False, metavar="[CONFIG.toml]")
@preset_option
@click.option(
    "--cuts",
    type=Quantity("cuts"),
    metavar="N",
    help="Cut at N random times, uniform over the run; 100 unless another place is given, here or in [run.power_cuts].",
)
@click.option("--at-ns", type=Quantity("at_ns"), metavar="NS", help="Cut once, at this simulated time: 1500000, 1.5ms.")
@click.option(
    "--at-operation", type=Quantity("at_operation"), metavar="K", help="Cut once, when K flash operations have ended."
)
@click.option("--twice", is_flag=True, help="Cut the power again during each recovery, at a time uniform over it.")
@click.option(
    "--while-busy",
    is_flag=True,
    help="Draw the random times from those alone at which a flash operation is under way; no cut falls into idle time.",
)
@overriding("Override any key: ftl=fast.")
@click.option("-o", "--out", type=OUTPUT_FILE, metavar="FILE.json", help="Keep every cut there.")
@click.option("--plot", type=OUTPUT_FILE, metavar="FILE.html", help="Draw the recoveries in a page.")
@_json
@force
@quiet
def crash(config: Path | None, preset: str | None, sets: tuple[str, ...], **options: Any) -> None:
    """Cut the power of a drive at any instant, let it come back, and say what is lost and what that costs.

    The drive of CONFIG.toml, or of --preset, serves its workload. At each cut all memory is gone, programs and erases
    under way are broken off, and a copy of the drive comes back from what is on flash: it scans all spare areas and
    rebuilds its tables. Then every page is compared with what the host was promised. The run goes on to the next cut.
    The members of an array come back in the same way, and rows whose parity or copies do not match are counted.

    What CONFIG.toml says under [run.power_cuts] holds, unless an option says otherwise. The run is that of
    `flashwatt run`, but run.max_flash_ops has no effect. The same seed (run.seed) cuts at the same
    times.

    The exit status is 0 if nothing is lost, 1 if durable data is lost after any cut, be it with a page that shares
    cells with a torn one (device.nand.paired_pages), 130 if Ctrl-C ended the campaign early; the cuts until then are
    kept.
    """
    _check_options(config, preset, options)
    whole = drive_of(config, preset, sets)
    with blamed({**({"device.preset": "--preset"} if preset else {}), **_PLACES}, sets):
        _check_outputs(whole, options)
        found = _campaign(whole, options)
    with printed() as faults:
        _show(found, as_json=options["as_json"])
    _complain_of_losses(found, _command(config, preset, sets))
    _keep(found, options)
    if found.status == "interrupted":
        kept = f"kept in {options['out']}" if options["out"] else "printed (-o FILE.json also keeps them)"
        made, of = (count(number) for number in (len(found.values("lost_units")), found.asked))
        complain(f"interrupted after {made} of {of} cuts; those are {kept}")
    if faults:
        raise faults[0]
    if found.losses or found.pair_lost_units or any(getattr(found, figure) for figure in _BEFORE_DRIVE):
        sys.exit(FAILED)
    if found.status == "interrupted":
        sys.exit(INTERRUPTED)


def _check_options(config: Path | None, preset: str | None, options: dict[str, Any]) -> None:
    """Refuse options that contradict each other or lead nowhere, before any file is read."""
    if config is None and preset is None:
        raise click.UsageError("no drive; expected a configuration (CONFIG.toml) or --preset NAME")
    given = [option for name, option in _PLACES.items() if options[name] is not None]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)}: both say when the power is cut; expected one of them")
    if options["while_busy"] and given and given != ["--cuts"]:
        raise click.UsageError(
            f"--while-busy and {given[0]}: both say when the power is cut; expected --while-busy --cuts"
        )
    for name, suffix, what in (("out", ".json", "result"), ("plot", ".html", "page")):
        path = options[name]
        if path and path.suffix.lower() != suffix:
            found = f"--{name}: {path}: no format of a {what}; found {path.suffix or 'no ending'}"
            raise click.UsageError(f"{found}; expected {suffix}")
    if quiet_is_on() and not (options["out"] or options["plot"] or options["as_json"]):
        raise click.UsageError("--quiet without --out, --plot or --json: nothing would be left of the cuts")


def _check_outputs(whole: Config, options: dict[str, Any]) -> None:
    """Refuse files that must not be replaced: before the cuts, not after minutes of them."""
    whole.inputs()
    for name, kind in (("out", marks.CRASH), ("plot", marks.PAGE)):
        if options[name]:
            check(options[name], kind, force=options["force"])
    if not options["out"]:
        check_stdout()


def _campaign(whole: Config, options: dict[str, Any]) -> Crash:
    from flashwatt.base.progress import bar
    from flashwatt.power_cuts import campaign

    with interruptible() as interrupted, bar("Cutting", "cuts", hidden=quiet_is_on()) as show:

        def progress(done: int, total: int | None, now_ns: int, preparing: str | None) -> bool:
            show(done, total, now_ns, preparing)
            return not interrupted

        places = {name: options[name] for name in _PLACES}
        flags = {name: options[name] or None for name in ("twice", "while_busy")}
        return campaign(whole, **places, **flags, progress=progress)


def _show(found: Crash, *, as_json: bool) -> None:
    """Print the result on standard output."""
    if as_json:
        click.echo(found.to_json())
    elif not quiet_is_on():
        from flashwatt.cli.crash_table import show

        show(found)


def _keep(found: Crash, options: dict[str, Any]) -> None:
    """Write the result and the page. A picture that cannot be drawn leaves the result as it is."""
    out, plot = options["out"], options["plot"]
    if out:
        save(out, found.encoded(), marks.CRASH, force=options["force"])
        note(f"wrote {out}")
    if plot and not found.values("lost_units"):
        complain(f"{plot} is not drawn: there is no cut")
    elif plot:
        try:
            content = _page(found)
        except _core.FlashwattError as error:
            complain(f"{plot} is not drawn: {error}")
            return
        save(plot, content, marks.PAGE, force=options["force"])
        note(f"wrote {plot}")


def _page(found: Crash) -> bytes:
    from flashwatt import plot
    from flashwatt.plot.chart import page

    note("drawing the recoveries ...")
    figures = ["recovery_ns", "energy_j", *(("dump_energy_j", "capacitance_f") if found.capacitors else ())]
    charts = [*(plot.recovery(found, figure) for figure in figures), plot.cuts(found)]
    return page(f"Power cuts: {found.drive}", charts)


def _complain_of_losses(found: Crash, command: str) -> None:
    """Say which durable data is lost, with the command that repeats the cut."""
    for loss in found.losses[:_LOSSES_SHOWN]:
        at = f"by the cut at {loss.at_ns} ns, seed {found.seed}"
        again = f"{command} --at-ns {loss.at_ns}"
        if loss.after_ns is not None:  # its time is drawn after those of all first cuts
            ((place, value),) = found.when.items()
            at = f"by the cut at {loss.at_ns} ns and a second one {loss.after_ns} ns after power on, seed {found.seed}"
            again = command if isinstance(value, list) else f"{command} {_PLACES[place]} {value} --twice"
        complain(f"LOST: {counted(loss.lost_units, 'unit')} of durable data, {at}; `{again}` repeats it")
    if (more := len(found.losses) - _LOSSES_SHOWN) > 0:
        complain(f"LOST: durable data by {counted(more, 'cut')} more; -o FILE.json keeps them all")
    _complain_before_drive(found, command)
    if found.pair_lost_units:
        units = counted(found.pair_lost_units, "unit")
        complain(f"LOST: {units} of durable data with pages spoilt by torn ones (device.nand.paired_pages)")


def _complain_before_drive(found: Crash, command: str) -> None:
    """Say which data of processes and files is lost."""
    for figure, (what, of) in _BEFORE_DRIVE.items():
        if not getattr(found, figure):
            continue
        lost = [(at, most) for at, most in zip(found.values("at_ns"), found.values(figure), strict=True) if most]
        for at_ns, number in lost[:_LOSSES_SHOWN]:
            at = f"by the cut at {at_ns:.0f} ns, seed {found.seed}"
            complain(f"LOST: {counted(int(number), what)} {of}, {at}; `{command} --at-ns {at_ns:.0f}` repeats it")
        if (more := len(lost) - _LOSSES_SHOWN) > 0:
            complain(f"LOST: the same by {counted(more, 'cut')} more; -o FILE.json keeps them all")


def _command(config: Path | None, preset: str | None, sets: tuple[str, ...]) -> str:
    """The command without the place of the cut."""
    words = ["flashwatt", "crash", *([str(config)] if config else [])]
    words += ["--preset", preset] if preset else []
    return shlex.join([*words, *(word for one in sets for word in ("--set", one))])
