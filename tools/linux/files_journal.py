"""What is written to the journal of ext3: descriptors, copies of blocks, commit blocks.

A block of the journal that begins with jbd2's magic names its own kind; every other one is the copy of a block whose
place stands in the descriptor before it. Format: include/linux/jbd2.h of Linux 6.1, without checksums and with block
numbers of 32 bits.
"""

import struct
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from files_figures import Sent
from files_layout import BLOCK_BYTES, Layout

MAGIC = b"\xc0\x3b\x39\x98"
LETTERS = {1: "D", 2: "C", 3: "S", 4: "S", 5: "R"}
KINDS = {"D": "descriptor", "C": "commit", "S": "superblock", "R": "revoke"}
HEADER_BYTES = 12
TAG = struct.Struct(">IHH")  # place of the block, checksum, flags
UUID_BYTES = 16
SAME_UUID, LAST = 2, 8


class Block(NamedTuple):
    """A block that names its kind."""

    index: int
    """Its number in the request."""
    letter: str
    homes: tuple[int, ...] = ()
    """Of a descriptor: the places of the blocks of which copies follow."""

    def __str__(self) -> str:
        """As the disk's log has it: `0D:131+5`."""
        return f"{self.index}{self.letter}" + (":" + "+".join(map(str, self.homes)) if self.homes else "")


def blocks_of(data: memoryview) -> list[Block]:
    """The blocks with a magic in what a request writes."""
    found = []
    for index in range(len(data) // BLOCK_BYTES):
        block = data[index * BLOCK_BYTES : (index + 1) * BLOCK_BYTES]
        if block[:4] == MAGIC:
            letter = LETTERS[int.from_bytes(block[4:8], "big")]
            found.append(Block(index, letter, homes_of(block) if letter == "D" else ()))
    return found


def homes_of(block: memoryview) -> tuple[int, ...]:
    """The places in a descriptor."""
    at, homes, flags = HEADER_BYTES, [], 0
    while not flags & LAST and at + TAG.size <= BLOCK_BYTES:
        home, _, flags = TAG.unpack_from(block, at)
        homes.append(home)
        at += TAG.size if flags & SAME_UUID else TAG.size + UUID_BYTES
    return tuple(homes)


def parse(text: str) -> list[Block]:
    """The blocks of a request, from the disk's log."""
    found = []
    for word in text.split():
        head, _, homes = word.partition(":")
        found.append(Block(int(head[:-1]), head[-1], tuple(int(home) for home in homes.split("+") if home)))
    return found


def journal_figures(log: Iterable[Sent], layout: Layout) -> dict[str, Any]:
    """Requests and blocks to the journal by kind, what the copies are of, and the most that a commit has."""
    requests, copies, most = 0, 0, 0
    kinds, copied = Counter[str](), Counter[str]()
    for sent in log:
        in_journal = layout.classify(sent.offset_bytes, sent.bytes).get("journal", 0) if sent.kind == "W" else 0
        if not in_journal:
            continue
        requests += 1
        blocks = parse(sent.journal)
        kinds["copy"] += in_journal // BLOCK_BYTES - len(blocks)
        for block in blocks:
            kinds[KINDS[block.letter]] += 1
            copied.update(layout.kinds[home] for home in block.homes)
            copies += len(block.homes)
            if block.letter == "C":
                most, copies = max(most, copies), 0
    return {
        "writes": requests,
        "blocks": dict(kinds.most_common()),
        "copies_of": dict(copied.most_common()),
        "copies_most": most,
    }
