"""What a write would destroy: mounts, partition tables, file systems, any content of a target."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOOKED_AT_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 22
_SIGNATURES = (
    (1080, b"\x53\xef", "an ext2, ext3 or ext4 file system"),
    (0, b"XFSB", "an XFS file system"),
    (0x10040, b"_BHRfS_M", "a Btrfs file system"),
    (1024, b"\x10\x20\xf5\xf2", "an F2FS file system"),
    (3, b"NTFS    ", "an NTFS file system"),
    (3, b"EXFAT   ", "an exFAT file system"),
    (82, b"FAT32   ", "a FAT file system"),
    (54, b"FAT1", "a FAT file system"),
    (0x8001, b"CD001", "an ISO 9660 file system"),
    (0, b"hsqs", "a SquashFS file system"),
    (0, b"LUKS\xba\xbe", "an encrypted volume (LUKS)"),
    (536, b"LVM2 001", "a physical volume (LVM)"),
    (4096, b"\xfc\x4e\x2b\xa9", "a member of an array (md)"),
    (4086, b"SWAPSPACE2", "swap space"),
    (512, b"EFI PART", "a partition table (GPT)"),
    (4096, b"EFI PART", "a partition table (GPT)"),
    (510, b"\x55\xaa", "a partition table (MBR)"),
)
"""Offset, bytes there, and what they say; from the formats' specifications. The first that fits counts: a FAT ends its
first sector as a partition table does."""


def in_the_way(path: Path, *, system: Path = Path("/")) -> list[str]:
    """Give what a write to the target would destroy, in words; nothing for an empty target.

    A regular file is empty if all of its bytes are 0. A block device is empty if neither it nor a partition of it is in
    use, and its first and last MiB are 0. `system` is the root below which `proc` and `sys` are read.
    """
    mode = path.stat()
    if not stat.S_ISBLK(mode.st_mode):
        return _content_of_file(path)
    number = f"{os.major(mode.st_rdev)}:{os.minor(mode.st_rdev)}"
    return [*uses(number, system), *_content_of_device(path)]


def uses(number: str, system: Path) -> list[str]:
    """Give the uses of a block device (`major:minor`) and of its partitions: mounts, swap, devices on top of it."""
    device = system / "sys/dev/block" / number
    numbers = {
        number,
        *(one.read_text().strip() for one in device.glob("*/dev") if (one.parent / "partition").exists()),
    }
    found = [f"a file system that is mounted at {at}" for at in _mounts(numbers, system)]
    for one in sorted(numbers):
        found += [f"used by {holder.name}" for holder in sorted((system / "sys/dev/block" / one / "holders").glob("*"))]
    found += [f"swap space in use ({name})" for name in _swaps(numbers, system)]
    return found


def _mounts(numbers: set[str], system: Path) -> Iterator[str]:
    """The third word of each line is the device, the fifth the place (proc(5))."""
    table = system / "proc/self/mountinfo"
    for line in table.read_text(errors="replace").splitlines() if table.exists() else ():
        words = line.split()
        if words[2] in numbers:
            yield words[4]


def _swaps(numbers: set[str], system: Path) -> Iterator[str]:
    table = system / "proc/swaps"
    for line in table.read_text(errors="replace").splitlines()[1:] if table.exists() else ():
        name = line.split()[0]
        try:
            rdev = Path(name).stat().st_rdev
        except OSError:
            continue
        if f"{os.major(rdev)}:{os.minor(rdev)}" in numbers:
            yield name


def _content_of_device(path: Path) -> list[str]:
    with path.open("rb") as file:
        head = file.read(_LOOKED_AT_BYTES)
        file.seek(max(0, file.seek(0, os.SEEK_END) - _LOOKED_AT_BYTES))
        tail = file.read(_LOOKED_AT_BYTES)
    if signature := signature_of(head):
        return [signature]
    return ["data"] if any(head) or any(tail) else []


def signature_of(head: bytes) -> str | None:
    """Name what the first bytes of a device say about its content."""
    return next((name for at, magic, name in _SIGNATURES if head[at : at + len(magic)] == magic), None)


def _content_of_file(path: Path) -> list[str]:
    """Holes are skipped; the rest is read up to the first byte that is not 0."""
    with path.open("rb", buffering=0) as file:
        end, at = file.seek(0, os.SEEK_END), 0
        while at < end:
            try:
                at = file.seek(at, os.SEEK_DATA)
            except OSError:  # ENXIO: only a hole is left
                return []
            hole = file.seek(at, os.SEEK_HOLE)
            file.seek(at)
            while at < hole:
                chunk = file.read(min(_CHUNK_BYTES, hole - at))
                if not chunk:
                    return []
                if chunk.count(0) != len(chunk):
                    return [_named(path)]
                at += len(chunk)
    return []


def _named(path: Path) -> str:
    with path.open("rb") as file:
        return signature_of(file.read(_LOOKED_AT_BYTES)) or "data"
