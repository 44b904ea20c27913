"""Tables on narrow terminals: no value is cut, further columns follow in a second table below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.table import Column

_NAME_WIDTH = 12
"""The least width that names are folded to."""
_BETWEEN, _CLOSER = 3, 2
"""Cells from one column to the next, usually and where there is less room."""
_EDGES = 2
"""Cells beside a table."""


def fitted(table: Table, width: int, second: int | None = None) -> Iterator[Table]:
    """Give a table as it is if it has room in this width, else with columns closer together, else as several tables.

    Each of these begins with the first column. The second one begins with the column `second`, where there is one.
    """
    others = table.columns[1:]
    name = _width(table.columns[0])
    if _needed(name, others, _BETWEEN) <= width:
        yield table
        return
    if table.columns[0].overflow == "fold":
        name = min(name, _NAME_WIDTH)
    blocks = list(_blocks(name, others, width, second))
    for at, block in enumerate(blocks):
        part = _part(table, [table.columns[0], *block])
        part.title = table.title if at == 0 else None
        part.caption = table.caption if at == len(blocks) - 1 else None
        yield part


def _blocks(name: int, columns: Sequence[Column], width: int, second: int | None) -> Iterator[list[Column]]:
    """The columns of each table beside the first one: as many as there is room for, and one at least."""
    if _needed(name, columns, _CLOSER) <= width:
        yield list(columns)
        return
    block: list[Column] = []
    for at, column in enumerate(columns, 1):
        if block and (at == second or _needed(name, [*block, column], _CLOSER) > width):
            yield block
            block = []
        block.append(column)
    yield block


def _needed(name: int, columns: Sequence[Column], between: int) -> int:
    return _EDGES + name + sum(between + _width(column) for column in columns)


def _width(column: Column) -> int:
    cells = (cell.plain if isinstance(cell, Text) else str(cell) for cell in (column.header, *column.cells))
    return max(map(cell_len, cells))


def _part(table: Table, columns: Sequence[Column]) -> Table:
    """A table of some columns of another one, closer together."""
    part = Table(
        title_justify=table.title_justify,
        title_style=table.title_style,
        caption_justify=table.caption_justify,
        box=table.box,
        pad_edge=False,
        padding=(0, 0, 0, 1),
    )
    for one in columns:
        part.add_column(one.header, justify=one.justify, no_wrap=one.no_wrap, overflow=one.overflow)
    for row in zip(*(one.cells for one in columns), strict=True):
        part.add_row(*row)
    return part
