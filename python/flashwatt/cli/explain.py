"""`flashwatt explain`, `init` and `schema`: the reference of configurations and presets."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.outputs import check, save_together
from flashwatt.cli import completion
from flashwatt.cli.terminal import OUTPUT_FILE, Input, note

if TYPE_CHECKING:
    from flashwatt.disks.convert import Converted as Disk
    from flashwatt.mqsim.convert import Converted

SCHEMA_FILE = "flashwatt.schema.json"
"""The name of the schema that `init` writes beside a configuration."""


@click.command()
@click.argument("name", metavar="PRESET|KEY|WORD", shell_complete=completion.explained)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def explain(name: str, as_json: bool) -> None:
    """Explain a preset, a key of a configuration or of a report, or a word of the field.

    For a preset: every number with its unit, its meaning and its source. For a KEY (device.timing.read_ns): its
    meaning, type, range and default, and its value in every preset. For a table (device.timing): its keys. For a figure
    of the report (flash.write_amplification): its meaning and formula. For a WORD (WA, "SLC cache", suspend): what the
    glossary says, or that it is not modelled and what follows from that.
    """
    from flashwatt.cli import explanation

    found = explanation.explain(name)
    click.echo(json.dumps(found, indent=2, ensure_ascii=False) if as_json else explanation.as_text(found))


XML = Input(dir_okay=False, path_type=Path)


@click.command()
@click.argument("preset", required=False, shell_complete=completion.presets)
@click.option("--mqsim", "drive", type=XML, metavar="XML", help="Convert this drive of MQSim (ssdconfig.xml) instead.")
@click.option(
    "--mqsim-workload", "workload", type=XML, metavar="XML", help="With a scenario of this file (workload.xml)."
)
@click.option("--scenario", type=click.IntRange(min=1), metavar="N", help="Which scenario, if the file has several.")
@click.option("--flow", type=click.IntRange(min=1), metavar="N", help="Only this flow of the scenario.")
@click.option("--disk", "described", type=XML, metavar="JSON", help="Convert this description of a hard disk instead.")
@click.option("--disksim", type=XML, metavar="PARV", help="Convert a disk of this parameter file of DiskSim 4 instead.")
@click.option("--disksim-disk", metavar="NAME", help="Which disk, if the file has several.")
@click.option("--out", type=OUTPUT_FILE, metavar="FILE", help="Write it there.")
@click.option("--force", is_flag=True, help="Replace FILE, and a schema beside it that flashwatt did not write.")
def init(
    preset: str | None,
    *,
    drive: Path | None,
    workload: Path | None,
    scenario: int | None,
    flow: int | None,
    described: Path | None,
    disksim: Path | None,
    disksim_disk: str | None,
    out: Path | None,
    force: bool,
) -> None:
    """Write a configuration to start from: every key with its meaning, and the values of PRESET as comments.

    With --out, the schema for editors is written beside it.

    With --mqsim, a drive of MQSim is converted: each value with the key that it came from, and a list of the keys that
    were approximated or have no counterpart. PRESET (`limit` unless given) holds for what MQSim's files leave open.
    Several flows become a fio job file beside FILE.

    With --disk, the description of a hard disk in JSON is converted: its layout with spares and slips, its measured
    seek times, its buffer. With --disksim, a disk of DiskSim 4: its .diskspecs, or the .parv that has its bus as well.
    PRESET (`caviar-80g` unless given) is the disk whose powers it gets.
    """
    if out is not None:
        _check_out(out, force)
    sources = {"--mqsim": drive, "--disk": described, "--disksim": disksim}
    _check_one(sources)
    if disksim is None and disksim_disk is not None:
        raise click.UsageError("--disksim-disk: no file of DiskSim; expected --disksim PARV as well")
    if described is not None or disksim is not None:
        disk = _disk(preset, described, disksim, disksim_disk)
        text, jobs, said = disk.config, None, f"; {disk.said}"
    elif drive is not None:
        converted = _converted(preset, drive, workload, (scenario, flow), out)
        text, jobs, said = converted.config, converted.jobs, f"; {converted.said}: see the end of {out}"
    else:
        _check_no_mqsim(preset, {"--mqsim-workload": workload, "--scenario": scenario, "--flow": flow})
        text, jobs, said = _template(preset), None, ""
    if out is None:
        click.echo(text, nl=False)
        return
    beside = out.with_name(SCHEMA_FILE)
    check(beside, marks.SCHEMA, force=force)
    config = f"#:schema ./{SCHEMA_FILE}\n{text}"
    files = [(out, config.encode(), marks.CONFIG), (beside, _schema().encode(), marks.SCHEMA)]
    if jobs is not None:
        from flashwatt.mqsim.convert import job_file

        _check_new(job_file(out), force)
        files.append((job_file(out), jobs.encode(), marks.CONFIG))
    save_together(files, force=force)
    note(f"wrote {' and '.join(str(path) for path, _, _ in files)}{said}")


def _template(preset: str | None) -> str:
    from flashwatt.config.reference import DEFAULT_PRESET
    from flashwatt.config.template import template

    return template(DEFAULT_PRESET if preset is None else preset)


def _converted(
    preset: str | None, drive: Path, workload: Path | None, chosen: tuple[int | None, int | None], out: Path | None
) -> Converted:
    """Convert MQSim's files."""
    from flashwatt.mqsim.convert import PRESET, Asked, convert

    if workload is None:
        for option, value in zip(("--scenario", "--flow"), chosen, strict=True):
            if value is not None:
                raise click.UsageError(f"{option}: nothing to choose from; expected --mqsim-workload XML as well")
    return convert(Asked(drive, workload, *chosen, PRESET if preset is None else preset, out))


def _disk(preset: str | None, described: Path | None, disksim: Path | None, name: str | None) -> Disk:
    """Convert a hard disk."""
    from flashwatt.disks.convert import from_disksim, from_json

    if described is not None:
        return from_json(described, preset)
    assert disksim is not None
    return from_disksim(disksim, name, preset)


def _check_one(sources: dict[str, Path | None]) -> None:
    """Refuse two drives to convert."""
    given = [option for option, path in sources.items() if path is not None]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)}: two drives to convert; expected one of them")


def _check_no_mqsim(preset: str | None, options: dict[str, object]) -> None:
    for option, value in options.items():
        if value is not None:
            raise click.UsageError(f"{option}: no drive of MQSim; expected --mqsim XML as well")
    if preset is not None and preset.lower().endswith(".xml"):
        raise click.UsageError(
            f"{preset}: a file, not a preset; `flashwatt init --mqsim {preset}` converts a drive of MQSim"
        )


def _check_out(out: Path, force: bool) -> None:
    if out.is_dir():
        raise click.UsageError(f"--out: {out}: a directory; expected the name of a file")
    _check_new(out, force)
    if out.name == SCHEMA_FILE:
        raise click.UsageError(f"{out}: that is where the schema goes; expected another name")


def _check_new(path: Path, force: bool) -> None:
    if os.path.lexists(path) and not force:
        raise click.UsageError(f"{path} is there already (--force overwrites it)")


@click.command()
def schema() -> None:
    """Print the JSON schema of configurations, for editors and checkers."""
    click.echo(_schema(), nl=False)


def _schema() -> str:
    """The mark comes first, by which `init` knows a schema that it may replace."""
    from flashwatt.config import reference

    marked = {"$comment": f"FlashWatt {_core.__version__}", **reference.schema()}
    return json.dumps(marked, indent=2, ensure_ascii=False) + "\n"
