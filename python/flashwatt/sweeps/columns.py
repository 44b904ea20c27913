"""The columns of a sweep's tables on the terminal: as many figures as there is room for, each with a short name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.text import Text

from flashwatt.base.labels import Labels
from flashwatt.base.units import NOTHING, setting
from flashwatt.report.axes import figure, heads, word
from flashwatt.report.table import emit, new_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.table import Table

_ANY_WIDTH = 10_000
_FILE_WIDTH = 160
"""Characters of a line where the output is no terminal, and nothing says how wide it is."""


def stdout() -> Console:
    """Give the standard output; wide enough for a table of figures if it is a file or a pipe."""
    console = Console(highlight=False)
    is_free = not console.is_terminal and "COLUMNS" not in os.environ
    return Console(highlight=False, width=_FILE_WIDTH) if is_free else console


class Column(NamedTuple):
    """A column of the table."""

    key: str
    """Of the grid, of a figure, or one of `runs`, `seed`, `warn`."""
    name: str
    cells: list[str]

    @property
    def varies(self) -> bool:
        """Whether its rows differ as they are printed; those of a single row count as different."""
        return len(self.cells) < 2 or len(set(self.cells)) > 1  # noqa: PLR2004


def emit_columns(left: list[Column], figures: list[Column], console: Console, *, whole: bool) -> list[Column]:
    """Print the figures beside the columns at the left, and give those that there was no room for.

    With `whole` there are none: further tables follow below.
    """
    blocks = list(_blocks(left, figures, console))
    for block in blocks if whole else blocks[:1]:
        emit(console, _table([*left, *block]))
    return [] if whole else [one for block in blocks[1:] for one in block]


def key_columns(keys: Sequence[str], rows: list[dict[str, Any]], labels: Labels | None = None) -> list[Column]:
    """The columns of the grid's keys, called by the last parts of these where that tells them apart.

    One whose numbers have a unit is called by words and the unit, which the numbers are in.
    """
    labels = labels or Labels()
    return [
        _key_column(key, name, [row[key] for row in rows], labels) for key, name in zip(keys, _short(keys), strict=True)
    ]


def _key_column(key: str, name: str, values: list[Any], labels: Labels) -> Column:
    head, texts = in_words(key, values, labels)
    if head == word(key):  # no unit
        head = name
    return Column(key, labels.name(key, head), texts)


def in_words(key: str, values: Sequence[Any], labels: Labels, called: str = "") -> tuple[str, list[str]]:
    """Give a key of the grid in words with the unit of its values, and the values in this unit, or their labels."""
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) < len([value for value in values if value is not None]):
        numbers = []  # a text among them has no unit
    axis = figure(key, numbers, called or None)
    head, size = (axis.title, axis.size) if numbers else (called or word(key), 1)
    return head, [_in_words(key, value, size, labels) for value in values]


def _in_words(key: str, value: Any, size: float, labels: Labels) -> str:
    if value is None:
        return NOTHING
    return labels.value(key, setting(value), setting(value if size == 1 else value / size))


def _blocks(left: list[Column], figures: list[Column], console: Console) -> Iterator[list[Column]]:
    """The figures of each table: as many as there is room for beside the first columns, and one at least."""
    block: list[Column] = []
    for one in figures:
        if block and _width([*left, *block, one], console) > console.width:
            yield block
            block = []
        block.append(one)
    yield block


def _width(columns: list[Column], console: Console) -> int:
    return console.measure(_table(columns), options=console.options.update(width=_ANY_WIDTH)).maximum


def _table(columns: list[Column]) -> Table:
    table = new_table("", *(one.name for one in columns))
    for row in zip(*(one.cells for one in columns), strict=True):
        table.add_row(*(Text(cell) for cell in row))
    return table


def _short(keys: Sequence[str]) -> Sequence[str]:
    """The last parts of dotted keys, where these tell them apart; keys of `run` keep their table: `warmup.requests`."""
    last = [key.removeprefix("run.") if key.startswith("run.") else key.rpartition(".")[2] for key in keys]
    return last if len(set(last)) == len(last) else keys


def short_names(keys: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """Give the names of figures as the heads of columns have room for them; two are never the same.

    One whose name is among `taken`, the heads of other columns, has its key as a name.
    """
    named = zip(keys, map(_short_name, heads(keys)), strict=True)
    return [key if name in taken else name for key, name in named]


def _short_name(name: str) -> str:
    return name.replace(" latency, ", " ").replace("amplification", "ampl.")
