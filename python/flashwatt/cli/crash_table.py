"""The tables of `flashwatt crash`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from flashwatt.base.units import count, counted, duration, si
from flashwatt.dio.table import size
from flashwatt.report.table import emit, new_table, show_warnings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.table import Table

    from flashwatt.power_cuts import Capacitors, Crash, Scrub

    Write = Callable[[float], str]


def _bytes(value: float) -> str:
    return si(value, "B")


def _joules(value: float) -> str:
    return si(value, "J")


def _farads(value: float) -> str:
    return si(value, "F")


_LOST: dict[str, tuple[str, Write]] = {
    "lost_units": ("units lost", count),
    "rolled_back_units": ("units rolled back", count),
    "torn_pages": ("torn pages", count),
    "half_erased_blocks": ("half-erased blocks", count),
    "requests_lost": ("requests lost", count),
}
_PAIRS: dict[str, tuple[str, Write]] = {
    "pair_lost_units": ("units lost with spoilt pages", count),
    "spoilt_pages": ("pages spoilt by torn ones", count),
}
"""Of flash whose pages share cells."""
_HOST: dict[str, tuple[str, Write]] = {
    "host_requests_lost": ("  in the block layer", count),
    "host_lost_units": ("units lost to processes", count),
}
"""Of a block layer, if there is one."""
_FILES: dict[str, tuple[str, Write]] = {
    "files_lost": ("files lost", count),
    "files_lost_bytes": ("  fsynced data of them", _bytes),
    "files_fsynced": ("files with fsynced data", count),
    "files_fsynced_bytes": ("  fsynced data of them", _bytes),
    "files_rolled_back": ("files rolled back", count),
    "files_rolled_back_bytes": ("  data of them", _bytes),
}
"""Of a workload with files."""
_JOURNAL: dict[str, tuple[str, Write]] = {"files_exposed_blocks": ("blocks with others' data", count)}
"""Of a file system with a journal."""
_FILE_PAIRS: dict[str, tuple[str, Write]] = {"files_pair_lost": ("files lost with spoilt pages", count)}
_ARRAY: dict[str, tuple[str, Write]] = {
    "inconsistent_rows": ("rows that do not match", count),
    "inconsistent_bytes": ("  for a scrub to write anew", _bytes),
}
"""Of an array with redundancy."""
_AT_RISK: dict[str, tuple[str, Write]] = {"hole_bytes": ("data wrong if a member fails then", _bytes)}
_HOLE: dict[str, tuple[str, Write]] = {"hole_lost_bytes": ("data of the failed member lost", _bytes)}
"""Of RAID 5: with all members, and without the one that has failed."""
_LOSSES = (
    "lost_units",
    "pair_lost_units",
    "host_lost_units",
    "files_lost",
    "files_pair_lost",
    "files_exposed_blocks",
    "hole_lost_bytes",
)
"""What stands in red if it is not 0."""
_COST: dict[str, tuple[str, Write]] = {
    "recovery_ns": ("recovery time", duration),
    "energy_j": ("recovery energy", _joules),
    "spare_reads": ("  reads of spare areas", count),
    "reads": ("  page reads", count),
    "programs": ("  programs", count),
    "erases": ("  erases", count),
    "scan_memory_bytes": ("memory for the scan", _bytes),
}
_MAP_LOAD: dict[str, tuple[str, Write]] = {
    "map_load_ns": ("time of it for the load of the map", duration),
    "map_load_energy_j": ("energy of it for that", _joules),
    "map_load_reads": ("  page reads of it for that", count),
}
"""What of a recovery a portion of the map takes that is loaded, if one is."""
_DUMP: dict[str, tuple[str, Write]] = {
    "dump_pages": ("pages from the write buffer", count),
    "dump_ns": ("time by capacitors", duration),
    "dump_energy_j": ("energy by capacitors", _joules),
    "capacitance_f": ("capacitance for it", _farads),
}
"""What capacitors did at the cut, if there are any."""
_AGAIN: dict[str, tuple[str, Write]] = {
    "after_ns": ("second cut, after power on", duration),
    **{key: one for key, one in _LOST.items() if key != "requests_lost"},
}
"""Of a second cut; a drive that recovers serves no requests."""


def show(found: Crash, console: Console | None = None) -> None:
    """Print a result: what was run, the figures of the cuts, and those of second cuts."""
    console = console or Console(highlight=False)
    emit(console, Text("\n").join(Text(line, style) for line, style in _heading(found)))
    if found.spread("lost_units") is not None:
        _show_cuts(found, console)
    show_warnings(found.warnings, console)


def _show_cuts(found: Crash, console: Console) -> None:
    pairs, dumps = (_PAIRS,) if found.has_paired_pages else (), (_DUMP,) if found.capacitors else ()
    lost = {**_LOST, **(_HOST if found.scheduler else {})}
    journal = (_JOURNAL,) if found.file_system == "ext3" else ()
    files = (_FILES, *journal, *((_FILE_PAIRS,) if pairs else ())) if found.file_system else ()
    costs = (_COST, *((_MAP_LOAD,) if found.loads_map else ()))
    emit(console, _table(found, "", (lost, *pairs, *_array_rows(found), *files, *dumps, *costs), second=False))
    if found.scrub:
        emit(console, _scrub(found.scrub))
    if found.spread("lost_units", second=True) is not None:
        blocks = (_AGAIN, *pairs, *costs)
        emit(console, _table(found, "\nThe second cut, during that recovery", blocks, second=True))
    emit(console, Text("\n").join([_verdict(found), *_idle(found)]))


def _array_rows(found: Crash) -> tuple[dict[str, tuple[str, Write]], ...]:
    """The figures that an array of this level has."""
    array = found.array
    if array is None or array.level == "raid0":
        return ()
    if array.failed_member is None:
        return ({**_ARRAY, **(_AT_RISK if array.level == "raid5" else {})},)
    return (_HOLE,) if array.level == "raid5" else (_ARRAY,)


def _scrub(scrub: Scrub) -> Text:
    took = f"A scrub after the cut at {scrub.at_ns} ns takes {duration(scrub.scrub_ns)} and {_joules(scrub.energy_j)}:"
    anew = f"writes {_bytes(scrub.written_bytes)} in {counted(scrub.repaired_rows, 'row')} anew"
    does = f"it reads {_bytes(scrub.read_bytes)}, and {anew if scrub.repaired_rows else 'finds nothing to write anew'}"
    return Text(f"{took}\n{does}\n", "dim")


def _heading(found: Crash) -> Iterator[tuple[str, str]]:
    yield found.drive, "bold"
    entries = "entries of the members' maps" if found.array else "entries of the map"
    yield f"{count(found.logical_units)} units of {size(found.unit_bytes)} ({entries})", "dim"
    if found.has_volatile_buffer:
        yield "volatile write buffer: a write is durable by FUA or a later flush", "dim"
    elif found.capacitors:
        yield "write buffer with capacitors: a write is durable when it has completed", "dim"
        yield _sizing(found.capacitors), "dim"
    elif found.has_journal:
        yield "write buffer with a journal on flash: a write is durable when it has completed", "dim"
    else:
        yield "no volatile write buffer: a write is durable when it has completed", "dim"
    if found.scheduler:
        yield f"behind the host's block layer with the scheduler {found.scheduler}", "dim"
    if found.file_system:
        yield f"files on {found.file_system}: fsync makes data durable, and what leads to it", "dim"
    twice, operations = ", each twice" if found.twice else "", counted(found.operations, "flash operation")
    made, asked = len(found.values("lost_units")), found.asked
    cuts = counted(asked, "cut") if made == asked else f"{count(made)} of {counted(asked, 'cut')}"
    if "cuts" not in found.when and asked == 1:
        yield f"one cut{twice}, at {found.run_ns} ns, after {operations}; seed {found.seed}", "dim"
        return
    if "cuts" not in found.when:
        yield f"{cuts} at given places{twice}, the last one at {found.run_ns} ns; seed {found.seed}", "dim"
        return
    times = "busy times" if found.while_busy else "times"
    yield f"{cuts} at random {times}{twice}; run of {duration(found.run_ns)}, {operations}, seed {found.seed}", "dim"


def _sizing(capacitors: Capacitors) -> str:
    """What the capacitors must be able to do."""
    time, energy = duration(capacitors.dump_ns), _joules(capacitors.dump_energy_j)
    farads, volts = _farads(capacitors.capacitance_f), f"{capacitors.max_v:g} to {capacitors.min_v:g} V"
    return f"a full buffer takes {time} and {energy}: {farads} from {volts}"


def _table(found: Crash, title: str, blocks: tuple[dict[str, tuple[str, Write]], ...], *, second: bool) -> Table:
    """The figures of all cuts by their spread; of a single cut the figures alone."""
    is_one = len(found.values("lost_units", second=second)) == 1
    table = new_table(title, "", *(("",) if is_one else ("min", "median", "p99", "max")))
    for rows in blocks:
        for key, (name, write) in rows.items():
            spread = found.spread(key, second=second)
            assert spread is not None
            style = "bold red" if key in _LOSSES and spread.max else ""
            cells = [spread.max] if is_one else list(spread)
            table.add_row(Text(name, style), *(Text(write(cell), style) for cell in cells))
        table.add_section()
    return table


def _verdict(found: Crash) -> Text:
    """Whether all promises were kept."""
    if found.losses:
        cuts, units = counted(len(found.losses), "cut"), counted(found.lost_units, "unit")
        return Text(f"LOST: {units} of durable data, by {cuts}", "bold red")
    if found.host_lost_units or found.files_lost:
        units, files = counted(found.host_lost_units, "unit"), counted(found.files_lost, "file")
        return Text(f"LOST: durable data of {units} to processes, fsynced data of {files}", "bold red")
    if found.files_exposed_blocks:
        blocks = counted(found.files_exposed_blocks, "block")
        return Text(f"LOST: {blocks} that committed metadata gives to files hold other data", "bold red")
    if found.hole_lost_bytes:
        lost = counted(found.hole_lost_bytes, "byte")
        return Text(f"LOST: {lost} of the failed member's data, in rows that were being written", "bold red")
    if found.pair_lost_units or found.files_pair_lost:
        units = counted(found.pair_lost_units, "unit")
        return Text(f"LOST: {units} of durable data with spoilt pages; nothing else is lost", "bold red")
    files = "\nNor is fsynced data: a mount finds all of it, or newer data." if found.file_system else ""
    rolled = int(max((one for one in found.values("rolled_back_units") if one), default=0))
    older = f"\nUp to {counted(rolled, 'unit')} rolled back: their last write was not yet durable." if rolled else ""
    rows = int(max(found.values("inconsistent_rows"))) if found.array else 0
    older += (
        f"\nUp to {counted(rows, 'row')} of the array that do not match: no loss while all members work."
        if rows
        else ""
    )
    return Text(f"Nothing durable is lost: each unit came back as it was last durable, or newer.{older}{files}")


def _idle(found: Crash) -> Iterator[Text]:
    """Of random cuts those that had nothing to break off."""
    made = len(found.values("lost_units"))
    if found.idle_cuts and "cuts" in found.when:
        fell = (
            f"{count(found.idle_cuts)} of {counted(made, 'cut')} fell into idle time: no flash operation was under way"
        )
        yield Text(f"{fell} (--while-busy draws no such times)", "dim")
