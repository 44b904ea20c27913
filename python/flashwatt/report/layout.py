"""Where the files of a file system lie, as tables on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from flashwatt.base.units import count, number, si
from flashwatt.report.table import emit, foldable, new_table

if TYPE_CHECKING:
    from flashwatt.base.files import Json

_PARTS = 6
"""Of a file, the parts that are shown."""


def show_layout(found: Json, files: int) -> None:
    """Print how full a file system is, how fragmented its files are, and `files` of them, the most fragmented first."""
    console = Console(highlight=False)
    space, mean = found["space"], found["extents_mean"]
    block = space["block_bytes"]
    used = space["blocks"] - space["free_blocks"]
    table = new_table(
        f"{found['system']}: {si(space['blocks'] * block, 'B')} in blocks of {block}", "", "blocks", "inodes"
    )
    inodes = [space["inodes"], space["free_inodes"]]
    table.add_row("all", count(space["blocks"]), count(inodes[0]) if inodes[0] else "as blocks allow")
    table.add_row("free", count(space["free_blocks"]), count(inodes[1]) if inodes[0] else "")
    table.add_row("used", count(used))
    table.add_row("used without files", count(space["overhead_blocks"]))
    emit(console, table)
    emit(console, Text(_free(found)))
    if mean is None:
        emit(console, Text("no file has blocks"))
        return
    share, with_blocks = 100 * found["fragmented_fraction"], count(found["files_with_blocks"])
    emit(console, Text(f"{with_blocks} files with blocks: {number(mean)} extents each, {share:.1f} % in several"))
    most = sorted(found["files"], key=lambda file: (-len(file["extents"]), file["file"]))[:files]
    if most:
        listed = new_table("The most fragmented", "file", "directory", "bytes", "extents", "first block + blocks")
        foldable(listed, -1)
        for file in most:
            parts = [f"{first}+{blocks}" for first, blocks in file["extents"][:_PARTS]]
            more = len(file["extents"]) - len(parts)
            places = ", ".join(parts) + (f" and {more} more" if more > 0 else "")
            cells = (str(file["file"]), str(file["directory"]), count(file["bytes"]), count(len(file["extents"])))
            listed.add_row(*cells, places)
        emit(console, listed)


def _free(found: Json) -> str:
    pieces, mean = found["free_extents"], found["free_extent_blocks_mean"]
    return f"free space in {count(pieces)} pieces, {number(mean)} blocks each" if pieces else "no block is free"
