"""What the blocks of a file system's image are, read from the image itself.

ext2 and ext3 overwrite in place, so that the last image tells what each block was. What a block of ext3's journal was
is in the disk's log (files_journal.py). Without a cleaner nilfs2 overwrites nothing but its superblocks. Formats:
fs/ext2/ext2.h (ext3 adds inode 8, the journal), include/uapi/linux/nilfs2_ondisk.h and include/linux/f2fs_fs.h of Linux
6.1.
"""

import mmap
import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

BLOCK_BYTES = 4096
SUPERBLOCK_AT = 1024
POINTERS = struct.Struct(f"<{BLOCK_BYTES // 4}I")


class Layout:
    """The kind of each block."""

    def __init__(self, image: mmap.mmap) -> None:
        """Know no block yet."""
        self.image = image
        self.kinds = ["other"] * (len(image) // BLOCK_BYTES)

    def mark(self, first: int, count: int, kind: str) -> None:
        """Says what some blocks are."""
        self.kinds[first : first + count] = [kind] * count

    def classify(self, offset: int, length: int) -> dict[str, int]:
        """Bytes by kind."""
        found: Counter[str] = Counter()
        end = offset + length
        while offset < end:
            step = min(BLOCK_BYTES - offset % BLOCK_BYTES, end - offset)
            found[self.kinds[offset // BLOCK_BYTES]] += step
            offset += step
        return found

    def unpack(self, form: str, at: int) -> tuple[int, ...]:
        """Fields of the image."""
        return struct.unpack_from("<" + form, self.image, at)

    def pointers(self, block: int) -> tuple[int, ...]:
        """A block as numbers of blocks."""
        return POINTERS.unpack_from(self.image, block * BLOCK_BYTES)


class Ext2(Layout):
    """Block groups, inodes and the blocks that these lead to."""

    RESIZE_INODE = 7
    MAGIC = 0xEF53
    OWN: Mapping[int, str] = {}
    """Files that the file system has for itself, and what is in them."""

    def __init__(self, image: mmap.mmap) -> None:
        """Read all of it."""
        super().__init__(image)
        at = SUPERBLOCK_AT
        (magic,) = self.unpack("H", at + 56)
        if magic != self.MAGIC:
            raise ValueError("the image has no ext2")
        (blocks,) = self.unpack("I", at + 4)
        self.blocks_per_group, _, self.inodes_per_group = self.unpack("3I", at + 32)
        (self.inode_bytes,) = self.unpack("H", at + 88)
        (reserved,) = self.unpack("H", at + 206)
        self.extents: dict[int, int] = {}
        """Extents of each regular file, by inode."""
        self.used: list[int] = []
        """Used blocks of each group."""
        for group in range(-(-blocks // self.blocks_per_group)):
            self.read_group(group, reserved, blocks)

    def read_group(self, group: int, reserved: int, blocks: int) -> None:
        """Marks the metadata of a group, and what its inodes lead to."""
        first = group * self.blocks_per_group
        if is_sparse_super(group):
            self.mark(first, 1, "superblock")
            self.mark(first + 1, 1 + reserved, "group descriptors")
        block_bitmap, inode_bitmap, table, free = self.unpack("3IH", BLOCK_BYTES + 32 * group)
        self.used.append(min(self.blocks_per_group, blocks - first) - free)
        self.mark(block_bitmap, 1, "block bitmap")
        self.mark(inode_bitmap, 1, "inode bitmap")
        self.mark(table, self.inodes_per_group * self.inode_bytes // BLOCK_BYTES, "inode table")
        for index in range(self.inodes_per_group):
            if self.image[inode_bitmap * BLOCK_BYTES + index // 8] >> (index % 8) & 1:
                inode = group * self.inodes_per_group + index + 1
                self.read_inode(inode, table * BLOCK_BYTES + index * self.inode_bytes)

    def read_inode(self, inode: int, at: int) -> None:
        """Marks the blocks of an inode."""
        (mode,) = self.unpack("H", at)
        kind = self.OWN.get(inode) or {0o4: "directory", 0o10: "data"}.get(mode >> 12)
        if kind is None:
            return
        top = self.unpack("15I", at + 40)
        if inode == self.RESIZE_INODE:
            self.mark(top[13], 1, "group descriptors")
            return
        blocks = [block for block in top[:12] if block]
        for depth, block in enumerate(top[12:], 1):
            blocks += self.below(block, depth)
        for block in blocks:
            self.mark(block, 1, kind)
        self.keep(inode, kind, blocks)

    def keep(self, inode: int, kind: str, blocks: list[int]) -> None:
        """Keeps the extents of a file."""
        if kind == "data" and blocks:
            self.extents[inode] = extents_of(blocks)

    def below(self, block: int, depth: int) -> Iterator[int]:
        """The blocks of content below an indirect block."""
        if not block:
            return
        if depth == 0:
            yield block
            return
        self.mark(block, 1, "indirect")
        for pointer in self.pointers(block):
            yield from self.below(pointer, depth - 1)


class Ext3(Ext2):
    """ext2 with a journal."""

    OWN: Mapping[int, str] = {8: "journal"}

    def __init__(self, image: mmap.mmap) -> None:
        """Read all of it."""
        self.journal: list[int] = []
        """The blocks of the journal, in their order."""
        super().__init__(image)

    def keep(self, inode: int, kind: str, blocks: list[int]) -> None:
        """Keeps the journal's blocks, too."""
        super().keep(inode, kind, blocks)
        if kind == "journal":
            self.journal = blocks


def extents_of(blocks: list[int]) -> int:
    """Runs of neighbouring blocks."""
    return 1 + sum(after != before + 1 for before, after in pairwise(blocks))


def is_sparse_super(group: int) -> bool:
    """Whether a group has a copy of the superblock: 0, 1, and powers of 3, 5 and 7."""
    if group < 2:  # noqa: PLR2004
        return True
    return any(group in {base**power for power in range(1, 20)} for base in (3, 5, 7))


class Log(NamedTuple):
    """The summary of a log of nilfs2, and where it is."""

    block: int
    magic: int
    header_bytes: int
    flags: int
    sequence: int
    """The number of the segment, which grows from segment to segment."""
    blocks: int
    files: int
    summary_bytes: int


class Nilfs2(Layout):
    """Logs, and the blocks whose order each log's summary gives."""

    SUMMARY = struct.Struct("<8xI2HQ16x3I")
    MAGIC = 0x1EAFFA11
    HAS_SUPER_ROOT = 4
    FILE_INFO = struct.Struct("<16x2I")  # after the inode and its checkpoint: blocks, those of data
    DAT = 3
    INODES = ("", "", "directory", "dat", "cpfile", "sufile", "ifile")
    """The inodes that nilfs2 has for itself; the second is the root."""

    def __init__(self, image: mmap.mmap) -> None:
        """Read all logs."""
        super().__init__(image)
        (segments,) = self.unpack("Q", SUPERBLOCK_AT + 24)
        first, per_segment = self.unpack("QI", SUPERBLOCK_AT + 40)
        self.logs: list[Log] = []
        self.mark(0, 1, "superblock")
        self.mark(len(self.kinds) - 1, 1, "superblock")
        for segment in range(segments):
            block, end = segment * per_segment or first, (segment + 1) * per_segment
            log = before = self.log_at(block)
            while block < end and log.magic == self.MAGIC and log.sequence == before.sequence:
                self.read_log(log)
                block += log.blocks
                before, log = log, self.log_at(min(block, end - 1))

    def log_at(self, block: int) -> Log:
        """The log that begins at a block, if its magic is right."""
        return Log(block, *self.SUMMARY.unpack_from(self.image, block * BLOCK_BYTES))

    def read_log(self, log: Log) -> None:
        """Marks the blocks of a log: its summary, the blocks of each file, and the super root."""
        self.logs.append(log)
        summary_blocks = -(-log.summary_bytes // BLOCK_BYTES)
        self.mark(log.block, summary_blocks, "summary")
        at, block = log.block * BLOCK_BYTES + log.header_bytes, log.block + summary_blocks
        for _ in range(log.files):
            at = entry(at, self.FILE_INFO.size)
            (inode,) = self.unpack("Q", at)
            blocks, data = self.FILE_INFO.unpack_from(self.image, at)
            at += self.FILE_INFO.size
            sizes = (8, 16) if inode == self.DAT else (16, 8)
            for size, entries in zip(sizes, (data, blocks - data), strict=True):
                for _ in range(entries):
                    at = entry(at, size) + size
            kind = self.INODES[inode] if inode < len(self.INODES) else "data"
            self.mark(block, data, kind)
            self.mark(block + data, blocks - data, "btree" if kind == "data" else kind)
            block += blocks
        if log.flags & self.HAS_SUPER_ROOT:
            self.mark(block, 1, "super root")
            block += 1
        if block != log.block + log.blocks:
            raise ValueError(f"the log at block {log.block} has {log.blocks} blocks, its summary {block - log.block}")


def entry(at: int, size: int) -> int:
    """Where the next entry of a summary is: none crosses the end of a block."""
    left = BLOCK_BYTES - at % BLOCK_BYTES
    return at if left >= size else at + left


class F2fs(Layout):
    """Areas, and in the main area nodes, which name themselves in their footer. Directories count as data."""

    MAGIC = 0xF2F52010
    FOOTER = struct.Struct("<3IQI")
    AREAS = ("checkpoint", "sit", "nat", "ssa")

    def __init__(self, image: mmap.mmap) -> None:
        """Read all blocks of the main area."""
        super().__init__(image)
        magic, *_ = self.unpack("I", SUPERBLOCK_AT)
        if magic != self.MAGIC:
            raise ValueError("the image has no f2fs")
        starts = self.unpack("5I", SUPERBLOCK_AT + 76)
        self.mark(0, starts[0], "superblock")
        for name, start, end in zip(self.AREAS, starts, starts[1:], strict=False):
            self.mark(start, end - start, name)
        for block in range(starts[-1], len(self.kinds)):
            self.kinds[block] = "node" if self.is_node(block) else "data"

    def is_node(self, block: int) -> bool:
        """Whether a block ends with the footer of a node: its number, its inode's, and the next node of its log."""
        node, inode, _, _, following = self.FOOTER.unpack_from(self.image, (block + 1) * BLOCK_BYTES - self.FOOTER.size)
        limit = len(self.kinds)
        return 0 < inode <= node < limit and (following < limit or following == 0xFFFFFFFF)  # noqa: PLR2004


LAYOUTS: dict[str, type[Layout]] = {
    "ext2": Ext2,
    "ext3": Ext3,
    "ext3_noatime": Ext3,
    "ext3_nobarrier": Ext3,
    "ext3_seconds": Ext3,
    "nilfs2": Nilfs2,
    "f2fs": F2fs,
}
"""By the names of guest_files.sh."""


def layout_of(system: str, image: Path) -> Layout:
    """The layout of an image in a file."""
    with image.open("rb") as file:
        return LAYOUTS[system](mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
