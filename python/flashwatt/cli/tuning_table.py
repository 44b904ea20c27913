"""The table of `flashwatt tune`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from flashwatt.base.units import count, duration, si
from flashwatt.report.table import emit, new_table
from flashwatt.sweeps.columns import stdout
from flashwatt.sweeps.tuning import KINDS

if TYPE_CHECKING:
    from flashwatt.sweeps.tuning import MicroTest, Tuned

_SIZES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def show(test: MicroTest, tuned: Tuned) -> None:
    """Print what was measured with the choice marked, the rule, and the lines of a configuration."""
    console = stdout()
    title = (
        f"Random requests of {_size(test.request_bytes)} into one region, {test.requests:,} of each kind at each point"
    )
    heads = [cell for kind in KINDS for cell in (f"{kind}s/s", "mean latency", "")]
    table = new_table(title, "region", "at once", *heads)
    before = None
    for (region, batch), row in tuned.table.items():
        if before not in (None, region):
            table.add_section()
        before = region
        cells: list[str] = []
        for kind in KINDS:
            mark = "◀" if tuned.is_chosen(region, batch, kind) else ""
            cells += [count(row[kind].iops), duration(row[kind].latency_ns_mean), mark]
        table.add_row(_size(region), str(batch), *cells)
    emit(console, table)
    emit(console, Text(f"\n◀: chosen. {tuned.rule}"))
    if not tuned.matters:
        emit(
            console,
            Text("Every region of the table reaches that throughput: its size makes no difference to this drive."),
        )
    emit(console, Text("\nFor a configuration:\n", "bold"))
    emit(console, Text(tuned.toml))


def _size(size: int) -> str:
    """A size with the largest binary unit that it is a multiple of."""
    return next((f"{size // unit} {name}" for unit, name in _SIZES if size % unit == 0), si(size, "B"))
