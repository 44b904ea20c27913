"""The lines of a table's keys, for messages: the library that reads TOML gives none."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.base.misspelt import hint

if TYPE_CHECKING:
    from collections.abc import Collection

_HEADER = re.compile(r"^[ \t]*\[\[?[ \t]*([\w.\-\"']+)[ \t]*\]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Places:
    """A file of TOML, in which messages look up the lines of keys."""

    name: str
    text: str = field(repr=False)

    def fault(self, key: str, what: str, row: int | None = None) -> _core.FlashwattError:
        """Make the error of a key. `row` counts the tables of `[[rows]]` from 0; its keys are given without `rows`."""
        of_row = "" if row is None else f"row {row + 1}: "
        return _core.FlashwattError(f"{self.at(key, row)}{of_row}{key}: {what}")

    def unknown(self, key: str, expected: Collection[str], row: int | None = None) -> _core.FlashwattError:
        """Make the error of a key whose last part is none of the expected ones."""
        last = key.rpartition(".")[2]
        return self.fault(key, f"unknown key; found `{last}`; {hint(last, expected)}", row)

    def at(self, key: str, row: int | None = None) -> str:
        """Give `table.toml:7: `; without a line if the key is not found."""
        whole = key if row is None else f"rows.{key}"
        begin, end = self._section(whole.partition(".")[0], row or 0)
        parts = whole.split(".")
        for length in range(len(parts), 0, -1):  # the key, else the nearest table around it
            for first in range(length):
                found = self._find(".".join(parts[first:length]), begin, end)
                if found is not None:
                    return f"{self.name}:{self.text.count(chr(10), 0, found) + 1}: "
        return f"{self.name}: "

    def _section(self, table: str, number: int) -> tuple[int, int]:
        """Find the text of a table with the tables below it, of `[[rows]]` the one with this number."""
        headers = [(one.start(), one[1], one[0].lstrip().startswith("[[")) for one in _HEADER.finditer(self.text)]
        several = [start for start, name, is_list in headers if name == table and is_list]
        mine = [start for start, name, _ in headers if re.match(rf"{re.escape(table)}\b", name)]
        begin = several[number] if number < len(several) else min(mine, default=0)
        after = [
            start
            for start, name, is_list in headers
            if start > begin and ((name == table and is_list) or not re.match(rf"{re.escape(table)}\b", name))
        ]
        return begin, (min(after, default=len(self.text)) if mine else len(self.text))

    def _find(self, words: str, begin: int, end: int) -> int | None:
        """Find where a key is given, as `key =` or as the header of a table."""
        parts = r"""["']?[ \t]*\.[ \t]*["']?""".join(map(re.escape, words.split(".")))
        assigned = re.compile(rf"""(?<![\w\-])["']?{parts}["']?[ \t]*=|^[ \t]*\[\[?[\w.\-]*\b{parts}[ \t]*\]""", re.M)
        found = assigned.search(self.text, begin, end)
        return found.start() + len(found[0]) - len(found[0].lstrip()) if found else None
