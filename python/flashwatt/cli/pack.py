"""`flashwatt pack` and `flashwatt unpack`: a sweep as one archive, and the check of such an archive."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from flashwatt.cli.options import Quantity, workers_option
from flashwatt.cli.terminal import DIRECTORY, FAILED, FILE, INTERRUPTED, OUTPUT_FILE, fail, force, note, say

if TYPE_CHECKING:
    from pathlib import Path

_DEFAULT_LIMIT = "100MB"


@click.command()
@click.argument("study", type=FILE, metavar="STUDY.toml")
@click.option("--out", type=DIRECTORY, metavar="DIR", required=True, help="The directory of the sweep's results.")
@click.option("-o", "--archive", type=OUTPUT_FILE, metavar="FILE.zip", required=True, help="The archive to write.")
@click.option(
    "--input-limit",
    type=Quantity("limit_bytes", 0),
    default=_DEFAULT_LIMIT,
    show_default=True,
    metavar="BYTES",
    help="Leave out traces and snapshots that are larger; the archive has their hashes, and says where to put them.",
)
@force
def pack(study: Path, out: Path, archive: Path, input_limit: int, *, force: bool) -> None:
    """Write a study, what it names, and its results to one archive, for somebody who runs it again.

    DIR is the directory of `flashwatt sweep STUDY.toml --out DIR`. FILE.zip gets the study, the configurations, traces
    and snapshots that it names, results.jsonl, results.parquet, the pictures in DIR, a README.md for the reader, and
    MANIFEST.json with the SHA-256 of each file and the build of FlashWatt. The same results give the same bytes.

    `flashwatt unpack` checks the archive and runs the study again.
    """
    from flashwatt.sweeps.pack import pack as packed

    manifest = packed(study, out=out, archive=archive, input_bytes_max=input_limit, force=force)
    left = manifest["not_included"]
    for name, file in left.items():
        note(f"{name} is not in the archive: {file['bytes']:,} bytes; README.md in it says where to put the file")
    size = archive.stat().st_size
    say(f"{archive}: {size:,} bytes; {manifest['runs']} runs, {len(manifest['files'])} files")


@click.command()
@click.argument("archive", type=FILE, metavar="FILE.zip")
@click.argument("to", type=DIRECTORY, required=False, metavar="[DIR]")
@click.option("--check", is_flag=True, help="Check all hashes, and leave no file behind.")
@click.option("--rerun", is_flag=True, help="Run the study again, and compare its results byte for byte.")
@workers_option
@click.option("--force", is_flag=True, help="Replace files in DIR that differ from those of the archive.")
def unpack(archive: Path, to: Path | None, workers: int | None, *, check: bool, rerun: bool, **options: Any) -> None:
    """Check the archive FILE.zip that `flashwatt pack` wrote, and unpack it to DIR.

    Each file must have the SHA-256 that MANIFEST.json gives. With --rerun the study runs again, in DIR/rerun, or with
    --check in a directory that is removed afterwards. If a result differs, the first run and key that differ are
    printed, and the exit status is 1.
    """
    if check == (to is not None):
        found = "both" if check else "neither"
        raise click.UsageError(f"found {found} of DIR and --check; expected one of them")
    if workers and not rerun:
        raise click.UsageError("--workers: nothing is run; expected it with --rerun")
    from flashwatt.sweeps.unpack import unpack as unpacked

    shown = rerun and sys.stderr.isatty()
    try:
        done = unpacked(archive, to, rerun=rerun, workers=workers, progress=shown, force=options["force"])
    except KeyboardInterrupt:
        if to is None:
            raise
        fail(f"interrupted; the same command continues, with what is in {to}", INTERRUPTED)
    manifest, other_build, difference = done
    if other_build:
        note(other_build)
    for name in () if rerun else manifest["not_included"]:
        note(f"{name} is not in the archive; README.md says where to put it before the study runs again")
    say(f"{archive}: {len(manifest['files'])} files, all with the hashes of its manifest")
    if difference:
        fail(f"the rerun differs from the archive: {difference}", FAILED)
    if rerun:
        equal = "the reports are equal byte for byte" if other_build else "equal bytes"
        say(f"{manifest['runs']} runs again: {equal}")
