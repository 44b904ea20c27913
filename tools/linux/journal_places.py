"""Writes where mkfs.ext3 puts the journal, and how large it is, by the size of the file system.

    python journal_places.py FILE [--work DIR]

FILE is CSV, a line a size: MiB; blocks of the file system, of 4 KiB; blocks of the journal; its first block; blocks of
its map (the indirect ones of inode 8); runs of neighbouring blocks, journal and map together, each as first-last.
0 blocks: there is no journal. mkfs.ext3 works on a sparse file in DIR, and debugfs says what it has made.
"""

import argparse
import csv
import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from plan import HERE

BLOCK_BYTES = 4096
# Each power of two, and the last size below those at which another journal begins.
SIZES_MIB = sorted({1 << power for power in range(2, 17)} | {7, 127, 1023, 2047, 16383, 32767, 65535})
RANGE = re.compile(r"\((IND|DIND|TIND|\d+)(?:-\d+)?\):(\d+)(?:-(\d+))?")


class Place(NamedTuple):
    """A line of the table."""

    mib: int
    blocks: int
    journal_blocks: int
    first_block: int | None
    map_blocks: int
    runs: list[tuple[int, int]]


def place_of(mib: int, listing: str) -> Place:
    """What debugfs says about inode 8: ranges of blocks, with the blocks of its map between them."""
    ranges = [(kind, int(first), int(last or first)) for kind, first, last in RANGE.findall(listing)]
    content = [last - first + 1 for kind, first, last in ranges if kind.isdigit()]
    runs: list[tuple[int, int]] = []
    for _, first, last in sorted(ranges, key=lambda one: one[1]):
        if runs and runs[-1][1] + 1 == first:
            runs[-1] = (runs[-1][0], last)
        else:
            runs.append((first, last))
    whole = sum(last - first + 1 for _, first, last in ranges)
    first_block = next((first for kind, first, _ in ranges if kind == "0"), None)
    return Place(mib, (mib << 20) // BLOCK_BYTES, sum(content), first_block, whole - sum(content), runs)


def made(mib: int, image: Path) -> Place:
    """Makes a file system of a size."""
    with image.open("wb") as file:
        file.truncate(mib << 20)
    subprocess.run(["mkfs.ext3", "-q", "-F", "-b", str(BLOCK_BYTES), str(image)], check=True, stderr=subprocess.DEVNULL)
    command = ["debugfs", "-R", "stat <8>", str(image)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return place_of(mib, said.partition("BLOCKS:")[2])


def main() -> None:
    """Writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path)
    parser.add_argument("--work", type=Path, default=HERE.parents[1] / "target")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    with options.file.open("w", newline="") as file, tempfile.TemporaryDirectory(dir=options.work) as work:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Place._fields)
        for mib in SIZES_MIB:
            image = Path(work) / "image"
            place = made(mib, image)
            image.unlink()
            runs = " ".join(f"{first}-{last}" for first, last in place.runs)
            table.writerow([*place[:-1], runs])


if __name__ == "__main__":
    main()
