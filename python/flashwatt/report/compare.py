"""A comparison as a page for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from flashwatt.base.units import NOTHING
from flashwatt.report.table import emit, new_table, show_warnings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashwatt.report.comparison import Cell, Comparison

_BEST = "bold green"
_BETWEEN = 3  # cells from one column to the next
_EDGES = 2  # cells beside a table
_LEAST_WIDTH = 10  # of a column of values, which are folded if they are longer
_CHANGE_WIDTH = 8  # one more than the longest change


def show(comparison: Comparison, console: Console | None = None) -> None:
    """Print figures with a column for each report, the best of each in green, then how the configurations differ.

    Later columns show their difference from the first one. Columns that are too wide for the terminal follow below,
    again beside the first report.
    """
    console = console or Console(highlight=False)
    labels = list(comparison.reports)
    figures = [_Row(row.name, [_text(cell) for cell in row.cells]) for row in comparison.figures()]
    settings = [_Row(row.name, [Text(cell.text) for cell in row.cells]) for row in comparison.settings()]
    _print("", labels, figures, console, folded=False)
    _print(comparison.heading_of_settings, labels, settings, console, folded=True)
    for line in comparison.legend():
        emit(console, Text(line, "yellow"))
    show_warnings(comparison.warnings(), console)


def _text(cell: Cell) -> Text:
    text = Text(cell.text, _BEST if cell.best else "")
    return text.append(f"{cell.change:>{_CHANGE_WIDTH}}", "dim not bold") if cell.change else text


class _Row(NamedTuple):
    name: str
    cells: list[Text]


def _print(title: str, labels: list[str], rows: list[_Row], console: Console, *, folded: bool) -> None:
    """Print rows as one table, or as several that are as wide as the terminal."""
    if not rows:
        return
    widths = [max(min(cell_len(label), _LEAST_WIDTH), *_lengths(rows, at)) for at, label in enumerate(labels)]
    needed = [_foldable(rows, at, width) for at, width in enumerate(widths)] if folded else widths
    beside = sum(width + _BETWEEN for width in (needed[0], max(needed[1:], default=0)))
    room = console.width - _EDGES
    named = min(max(cell_len(row.name) for row in rows), max(_LEAST_WIDTH, room - beside))
    for at, columns in enumerate(_blocks(needed, room - named)):
        table = new_table(f"\n{title}" if title and not at else "", "")
        first = table.columns[0]
        first.no_wrap, first.overflow, first.width = False, "fold", named
        spare = room - named - sum(needed[column] + _BETWEEN for column in columns)
        for column in columns:
            width = needed[column] + max(0, min(widths[column] - needed[column], spare))
            spare -= width - needed[column]
            table.add_column(Text(labels[column]), justify="right", overflow="fold", width=width)
        there = [row for row in rows if any(row.cells[column].plain != NOTHING for column in columns)]
        for row in there or rows:  # rows of reports in the other tables are left out
            table.add_row(Text(row.name), *(row.cells[column] for column in columns))
        emit(console, table)


def _foldable(rows: list[_Row], at: int, width: int) -> int:
    """The width that a column may be folded to: words may be, numbers may not."""
    numbers = (cell_len(text) for row in rows if _is_number(text := row.cells[at].plain))
    return max(min(width, _LEAST_WIDTH), *numbers, 0)


def _is_number(text: str) -> bool:
    return text.strip("-.e+0123456789") == ""


def _lengths(rows: list[_Row], at: int) -> Iterator[int]:
    return (cell_len(row.cells[at].plain) for row in rows)


def _blocks(widths: list[int], room: int) -> Iterator[list[int]]:
    """The columns of each table: the first one, and as many of the others as there is room for."""
    block, left = [0], room - widths[0] - _BETWEEN
    for at, width in enumerate(widths[1:], 1):
        if len(block) > 1 and width + _BETWEEN > left:
            yield block
            block, left = [0], room - widths[0] - _BETWEEN
        block.append(at)
        left -= width + _BETWEEN
    yield block
