"""Print the table of figures that the tests of ext2's layout hold, as mke2fs makes it.

    python tools/ext2_figures.py > crates/flashwatt-files/src/systems/ext2/tests/figures.txt

makes each file system on a sparse file, and reads it with dumpe2fs and debugfs (package e2fsprogs). It takes a
minute, and a few hundred MB of the temporary folder for the largest disk.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MIB = 1 << 20
GIB = 1 << 30
# Disks, and bytes for each inode (0: as mke2fs chooses). Sizes at which something changes: types of mke2fs.conf at 3
# and 512 MiB, a last group that is too small, one that is just large enough, more than one block of descriptors.
DISKS = [
    (MIB, 0),
    (3 * MIB - 4096, 0),
    (3 * MIB, 0),
    (64 * MIB, 0),
    (200 * MIB, 0),
    (512 * MIB - 4096, 0),
    (512 * MIB, 0),
    (512 * MIB, 8192),
    (640 * MIB + 4096 * 522, 0),
    (640 * MIB + 4096 * 523, 0),
    (896 * MIB + 4096 * 400, 0),
    (GIB, 0),
    (GIB, 4096),
    (8 * GIB, 0),
    (8 * GIB, 1 << 20),
    (16 * GIB + 4096 * 700, 0),
    (32 * GIB, 0),
    (60_000_000_000, 0),
    (80_026_361_856, 0),
    (128 * GIB, 0),
    (160_041_885_696, 0),
    (1024 * GIB, 0),
]
FIELDS = {
    "blocks": "Block count",
    "free_blocks": "Free blocks",
    "reserved": "Reserved block count",
    "inodes": "Inode count",
    "free_inodes": "Free inodes",
    "per_group": "Inodes per group",
}
COLUMNS = ["disk_bytes", "bytes_per_inode", *FIELDS, "root", "overhead"]


def tool(name: str) -> str:
    """Where a tool is; those of e2fsprogs are not in every user's path."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if found is None:
        raise SystemExit(f"tools/ext2_figures.py: {name} is not installed (package e2fsprogs)")
    return found


def output(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def overheads(dump: str) -> str:
    """Blocks before the first block for files of each group, as runs of one length: count x blocks."""
    starts = [int(block) for block in re.findall(r"^Group \d+: \(Blocks (\d+)-", dump, re.M)]
    ends = [int(block) for block in re.findall(r"Inode table at \d+-(\d+)", dump)]
    runs: list[list[int]] = []
    for start, end in zip(starts, ends, strict=True):
        blocks = end + 1 - start
        if runs and runs[-1][1] == blocks:
            runs[-1][0] += 1
        else:
            runs.append([1, blocks])
    return ",".join(f"{count}x{blocks}" for count, blocks in runs)


def figures(disk_bytes: int, bytes_per_inode: int, image: Path) -> list[str]:
    """The line of a disk."""
    with image.open("wb") as file:
        file.truncate(disk_bytes)
    ratio = ["-i", str(bytes_per_inode)] if bytes_per_inode else []
    output(tool("mke2fs"), "-q", "-F", "-t", "ext2", "-b", "4096", *ratio, str(image))
    dump = output(tool("dumpe2fs"), str(image))
    values = []
    for title in FIELDS.values():
        found = re.search(rf"^{title}: +(\d+)$", dump, re.M)
        if found is None:
            raise SystemExit(f"tools/ext2_figures.py: dumpe2fs printed no '{title}'")
        values.append(found[1])
    root = output(tool("debugfs"), "-R", "blocks <2>", str(image)).split()[0]
    return [str(disk_bytes), str(bytes_per_inode), *values, root, overheads(dump)]


def main() -> int:
    """Print the table."""
    version = subprocess.run([tool("mke2fs"), "-V"], capture_output=True, text=True, check=True).stderr.split("\n")[0]
    lines = [[f"# Made by tools/ext2_figures.py: {version}"], COLUMNS]
    with tempfile.TemporaryDirectory() as folder:
        for disk_bytes, bytes_per_inode in DISKS:
            image = Path(folder) / "disk"
            lines.append(figures(disk_bytes, bytes_per_inode, image))
            image.unlink()
    sys.stdout.writelines("\t".join(line) + "\n" for line in lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
