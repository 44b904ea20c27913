"""Where the speed of a drive with an SLC cache falls during a fill, to which level, at how many joules: closed forms.

    python tools/slc_cliff.py

prints the worked examples of docs/slc-cache.md. The formulas were written before any drive with such a cache had been
simulated, and this file knows nothing of FlashWatt. Bytes, microseconds, bytes per microsecond (MB/s), watts, joules.

A fill writes an empty drive from its first byte to its last, sequentially and without a pause. A cell holds b bits. An
SLC block holds 1/b of what it holds as a native block. To fold is to move data from SLC blocks to native ones and to
erase the SLC blocks.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

# --------------------------------------------------------------------------------------------------------------------
# From a die to rates
# --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Flash:
    """Dies, and the buses that they share."""

    planes: int = 4
    bits: int = 3
    page_bytes: int = 16_384
    rows_per_block: int = 384
    """Word lines of a block: rows of planes × bits pages, or of planes pages in SLC mode."""
    bus_mb_s: float = 1200
    command_us: float = 0.3
    """Of each page that goes over the bus, and of each page of a fold on the die."""
    slc_read_us: float = 25
    slc_program_us: float = 80
    program_us: float = 1068.5
    """Of a whole word line of all planes, all bits at once."""
    erase_us: float = 3500
    """Of one block on all planes."""
    cache_busy_us: float = 0
    """What a cache program adds to the array's time."""
    channels: int = 8
    ways: int = 2

    @property
    def dies(self) -> int:
        """Dies of all channels."""
        return self.channels * self.ways

    @property
    def page_us(self) -> float:
        """Time of a page on the bus, with its command."""
        return self.command_us + self.page_bytes / self.bus_mb_s

    @property
    def slc_row_bytes(self) -> int:
        """Bytes of a row in SLC mode: a page of each plane."""
        return self.planes * self.page_bytes

    @property
    def row_bytes(self) -> int:
        """Bytes of a native row."""
        return self.bits * self.slc_row_bytes


ROUNDING = 1e-12


class Work(NamedTuple):
    """What a byte costs: microseconds of the whole array of dies, and of all buses together.

    A die works for one operation at a time and holds it while its pages are on the bus: the time of the dies has the
    transfers in it. Dies of one channel transfer one after the other: that is the time of the buses.
    """

    die: float
    bus: float = 0.0

    def plus(self, other: "Work") -> "Work":
        """Add what two kinds of bytes cost."""
        return Work(self.die + other.die, self.bus + other.bus)

    def times(self, count: float) -> "Work":
        """Give the cost of `count` such bytes; none of them cost nothing."""
        return Work(self.die * count, self.bus * count) if count else Work(0)

    @property
    def mb_s(self) -> float:
        """The rate at which the flash does nothing else: of what it has less of, dies or buses."""
        return 1 / max(self.die, self.bus) if max(self.die, self.bus) else math.inf


def array_bound(flash: Flash, row_bytes: int, array_us: float, *, cached: bool = False) -> float:
    """Rate of all dies where no die waits for its bus.

    A die loads a row's pages one after the other, and then its array works. With cache program (or read) the load of
    the next row goes on meanwhile: the longer of the two counts.
    """
    load = row_bytes / flash.page_bytes * flash.page_us
    cycle = max(load, array_us + flash.cache_busy_us) if cached else load + array_us
    return flash.dies * row_bytes / cycle


def bus_bound(flash: Flash) -> float:
    """Rate of all buses where no bus waits for a die."""
    return flash.channels * flash.page_bytes / flash.page_us


def _rate(flash: Flash, row_bytes: int, array_us: float, *, cached: bool) -> float:
    return min(array_bound(flash, row_bytes, array_us, cached=cached), bus_bound(flash))


def slc_rate(flash: Flash, *, cached: bool = False) -> float:
    """Give r_s, the drive's rate of programs in SLC mode (MODERN L1 with B = 1)."""
    return _rate(flash, flash.slc_row_bytes, flash.slc_program_us, cached=cached)


def native_rate(flash: Flash, *, cached: bool = False) -> float:
    """Give r_t, the drive's rate of native programs (MODERN L1)."""
    return _rate(flash, flash.row_bytes, flash.program_us, cached=cached)


def read_rate(flash: Flash, *, cached: bool = False) -> float:
    """Give r_r, the drive's rate of joint reads of SLC rows over the bus (MODERN L3)."""
    return _rate(flash, flash.slc_row_bytes, flash.slc_read_us, cached=cached)


def erase_rate(flash: Flash) -> float:
    """Give r_e, the bytes of SLC blocks that are erased in a microsecond if all dies erase."""
    return flash.dies * flash.rows_per_block * flash.slc_row_bytes / flash.erase_us


@dataclass(frozen=True)
class Costs:
    """What a byte costs by what is done with it."""

    slc: Work
    """A byte of the host's to an SLC block."""
    native: Work
    """A byte of the host's to a native block."""
    fold: Work
    """A byte from an SLC block to a native one, with its share of the erase."""

    @classmethod
    def of_rates(cls, r_s: float, r_t: float, r_r: float, r_e: float = math.inf) -> "Costs":
        """Take drive-wide rates, as if all of them were of one resource: MODERN L4 and L5.

        Times of a byte then add: 1/r_s, 1/r_t, 1/r_r, 1/r_e. That is exact where the dies bound all the rates or the
        buses bound all of them, and too slow where they bound different ones.
        """
        fold = Work(1 / r_r + 1 / r_t + 1 / r_e)
        return cls(Work(1 / r_s), Work(1 / r_t), fold)

    @classmethod
    def of_flash(cls, flash: Flash, *, on_die: bool = False, wait: float = 0.0) -> "Costs":
        """Take the times of a die, without cache program and cache read, and keep dies and buses apart.

        A die that waits for its bus makes its transfers longer by the share `wait`; see `level_among`.
        """
        bus, waits = 1 / bus_bound(flash), wait * flash.page_us / flash.page_bytes / flash.dies
        programs = [
            1 / array_bound(flash, size, time) + waits
            for size, time in ((flash.slc_row_bytes, flash.slc_program_us), (flash.row_bytes, flash.program_us))
        ]
        erase = Work(1 / erase_rate(flash))
        if on_die:  # of a page only the commands are left: one to read it and one to program it
            commands = 2 * flash.command_us / flash.page_bytes
            array = (flash.bits * flash.slc_read_us + flash.program_us) / flash.row_bytes
            fold = Work((array + commands) / flash.dies, commands / flash.channels).plus(erase)
        else:
            read = 1 / array_bound(flash, flash.slc_row_bytes, flash.slc_read_us) + waits
            fold = Work(read + programs[1], 2 * bus).plus(erase)
        return cls(Work(programs[0], bus), Work(programs[1], bus), fold)


def level(link: float, host: Work, fold: Work, folds: float) -> float:
    """Give the host's rate if each of its bytes needs so many folded ones: the least of link, dies and buses."""
    if math.isinf(folds):
        return 0.0
    return min(link, host.plus(fold.times(folds)).mb_s)


class Among(NamedTuple):
    """A level where the dies of a channel are in each other's way."""

    least: float
    """Each page waits for one of every other die of its channel."""
    likely: float
    """A page waits for another die's as often as that die is on the bus."""
    most: float
    """No page waits: exact with one die a channel."""


def level_among(flash: Flash, link: float, folds: float, mode: str, *, on_die: bool = False) -> Among:
    """Give the level of a drive whose host writes (`slc` or `native`) and folds share channels of several dies.

    While all dies do the same they fall into step, and none waits (MODERN L1). Where each is at another operation
    they meet on the bus, page by page. The `likely` level is a fixed point: pages take 1 + (ways − 1)·u times as
    long, where u is the share of the time in which one die is on the bus.
    """

    def at(wait: float) -> float:
        costs = Costs.of_flash(flash, on_die=on_die, wait=wait)
        return level(link, costs.slc if mode == "slc" else costs.native, costs.fold, folds)

    costs = Costs.of_flash(flash, on_die=on_die)
    bus = (costs.slc if mode == "slc" else costs.native).bus + folds * costs.fold.bus
    others = (flash.ways - 1) / flash.ways
    likely = at(0)
    for _ in range(100):
        likely = (likely + at(others * likely * bus)) / 2
    return Among(at(flash.ways - 1), likely, at(0))


# --------------------------------------------------------------------------------------------------------------------
# Who gets the dies while folds and host writes compete
# --------------------------------------------------------------------------------------------------------------------


def share_equal() -> float:
    """Give the folds' share of the dies' time if folds and host writes get equal time."""
    return 0.5


def share_alternating(host_step_us: float, fold_step_us: float) -> float:
    """Give that share if a die does a step of each in turn: a long step gets a large share."""
    return fold_step_us / (host_step_us + fold_step_us)


def share_bounded(host_step_us: float, fold_step_us: float, steps: int) -> float:
    """Give that share if a fold's step goes ahead of the host's after it was passed over `steps` times."""
    return fold_step_us / (steps * host_step_us + fold_step_us)


def buffer_needed(r_0: float, step_us: float) -> float:
    """Give the least write buffer in bytes with which folds of lower priority can cost the host nothing.

    A step of a fold that has begun is not broken off. Meanwhile the host's data waits in the buffer. Dies that get
    their rows in turn need half as much again, because the buffer is full of rows of one die when others have none.
    """
    return r_0 * step_us


def before_small_buffer(r_0: float, r_s: float, step_us: float, buffer_bytes: float) -> float:
    """Give the most that the rate before the knee can be if the buffer is less than `buffer_needed`.

    Each die has its part of the buffer. A die does a step of a fold, in which its part fills. Then it empties that, in
    buffer / (r_s − r_0), while more arrives. Then the next step begins. If r_s ≤ r_0 the dies never wait, and no fold
    begins.
    """
    if r_s <= r_0:
        return r_s
    serving_us = min(buffer_bytes, buffer_needed(r_0, step_us)) / (r_s - r_0)
    return r_s * serving_us / (step_us + serving_us)


def beside(link: float, host: Work, fold: Work, share: float) -> tuple[float, float]:
    """Give the rates of the host and of folds that run beside it.

    The folds have the dies' time that the host does not need, and at least `share` of it: 0 is a priority below that of
    host writes. Buses serve the host first.
    """
    rate = min(link, (1 - share) / host.die, 1 / host.bus if host.bus else math.inf)
    free_die, free_bus = (0.0 if left < ROUNDING else left for left in (1 - rate * host.die, 1 - rate * host.bus))
    by_die = free_die / fold.die if fold.die else math.inf
    return rate, min(by_die, free_bus / fold.bus if fold.bus else math.inf)


# --------------------------------------------------------------------------------------------------------------------
# The knee and the levels
# --------------------------------------------------------------------------------------------------------------------


def knee_static(static_bytes: float, rate: float, folds: float) -> float:
    """Give the bytes of the host's after which a static cache is full: S·r/(r − f) (MODERN L4)."""
    return static_bytes * rate / (rate - folds) if rate > folds else math.inf


def knee_dynamic(native_bytes: float, bits: int, rate: float, folds: float, static_bytes: float = 0.0) -> float:
    """Give the bytes after which no free block is left for SLC mode: r·(Cp + b·S)/(b·r − (b − 1)·f).

    A byte of the host's takes b bytes of native room, and a folded one gives b − 1 back. A static part counts as b·S
    more bytes of native room, whatever is folded first: a folded byte of a static block leaves its place to the host.
    Without folds: Cp/b + S.
    """
    return rate * (native_bytes + bits * static_bytes) / (bits * rate - (bits - 1) * folds)


def folds_native(bits: int) -> float:
    """Give the bytes to fold for a byte of a native write to a drive of SLC blocks: 1/(b − 1)."""
    return 1 / (bits - 1) if bits > 1 else math.inf


def folds_through(bits: int) -> float:
    """Give the bytes to fold for a byte that is written to a dynamic cache without free blocks: b/(b − 1)."""
    return bits / (bits - 1) if bits > 1 else math.inf


def regained(slc_bytes: float, fold_mb_s: float, idle_us: float, bits: int, *, dynamic: bool) -> float:
    """Give the bytes of the cache that an idle time gives back: min(S, f·t), of a dynamic one (b − 1)/b of that."""
    folded = min(slc_bytes, fold_mb_s * idle_us)
    return folded * (bits - 1) / bits if dynamic else folded


@dataclass(frozen=True)
class Drive:
    """A drive with an SLC cache, as it is before the fill."""

    costs: Costs
    link: float
    bits: int
    native_bytes: float
    """Cp: native bytes of all blocks that may be native, less reserves and watermarks, without static ones."""
    logical_bytes: float
    """C: what the fill writes; at most Cp."""
    static_bytes: float = 0.0
    """S: SLC bytes of the blocks that are always SLC; 0: none."""
    dynamic: bool = False
    """Whether free blocks are used in SLC mode."""
    fold: str = "idle"
    """`eager`: as soon as an SLC block is full; `full`: from when the cache is full; `idle`: while the drive is idle,
    so not during a fill. Whichever it is, a write that finds no block waits for folds that give it one."""
    after: str = "native"
    """Where the host's data goes once the cache is full: `native`, or `through` the cache."""
    share: float = 0.0
    """The share of the dies' time that folds get at least, if they do not only serve a write that waits for them."""
    dynamic_bytes: float = math.inf
    """The most SLC bytes of the dynamic part."""


class Phase(NamedTuple):
    """A part of the fill in which all rates are constant."""

    begin: float
    """Bytes of the host's before it."""
    end: float
    mb_s: float
    """The host's rate."""
    fold_mb_s: float
    mode: str
    """Where the host's data goes: to `slc` or `native` blocks; `mixed`: as much to SLC blocks as is folded."""

    @property
    def us(self) -> float:
        """How long it takes."""
        return (self.end - self.begin) / self.mb_s if self.end > self.begin else 0.0

    @property
    def folded(self) -> float:
        """Bytes that are folded in it."""
        return self.us * self.fold_mb_s


def knee(drive: Drive) -> float:
    """Give the bytes of the host's at which the cache is full; the logical bytes if it never is."""
    rate, folds = _before(drive)
    bounded = drive.static_bytes + (drive.dynamic_bytes if drive.dynamic else 0.0)
    found = knee_static(bounded, rate, folds)
    if drive.dynamic:
        found = min(found, knee_dynamic(drive.native_bytes, drive.bits, rate, folds, drive.static_bytes))
    return min(found, drive.logical_bytes)


def fill(drive: Drive) -> list[Phase]:
    """Give the phases of the fill. Phases without bytes are left out."""
    first = Phase(0.0, knee(drive), *_before(drive), "slc")
    if first.end == drive.logical_bytes:
        return [first]
    later = _through(drive, first) if drive.after == "through" else _native(drive, first)
    return [phase for phase in (first, *later) if phase.end - phase.begin > ROUNDING * drive.logical_bytes]


def folded_when_filled(drive: Drive) -> float:
    """Give the bytes that have been folded when the last byte is written."""
    return sum(phase.folded for phase in fill(drive))


def mean_rate(drive: Drive) -> float:
    """Give the mean rate of the whole fill."""
    return drive.logical_bytes / sum(phase.us for phase in fill(drive))


def _before(drive: Drive) -> tuple[float, float]:
    """Rates of host and folds before the knee. Nothing is folded faster than it is written."""
    costs = drive.costs
    if drive.fold != "eager":
        return min(drive.link, costs.slc.mb_s), 0.0
    rate, folds = beside(drive.link, costs.slc, costs.fold, drive.share)
    return rate, min(rate, folds)


def _room(drive: Drive, first: Phase) -> tuple[float, float]:
    """SLC bytes of the dynamic part at the knee, and the native room beside them."""
    cached = first.end - first.folded - drive.static_bytes
    return cached, max(0.0, drive.native_bytes - drive.bits * cached - first.folded)


def _through(drive: Drive, first: Phase) -> list[Phase]:
    """All data through the cache. Its place is free when as much is folded, as long as there is room for that.

    Without room a folded byte must come from a dynamic block, as that gives room for b bytes and takes one.
    """
    costs, end = drive.costs, drive.logical_bytes
    if not drive.dynamic:
        rate = level(drive.link, costs.slc, costs.fold, 1.0)
        return [Phase(first.end, end, rate, rate, "slc")]
    begin = min(end, first.end + _room(drive, first)[1])
    phases = []
    for start, stop, folds in ((first.end, begin, 1.0), (begin, end, folds_through(drive.bits))):
        rate = level(drive.link, costs.slc, costs.fold, folds)
        phases.append(Phase(start, stop, rate, rate * folds if rate else 0.0, "slc"))
    return phases


def _native(drive: Drive, first: Phase) -> list[Phase]:
    """Native writes: beside a dynamic cache first to the room that it left, then to room that folds make.

    Folds that no write waits for may empty the cache before; native writes go on until the drive is idle.
    """
    if not drive.dynamic:
        return [_after_folds(drive, first.end)]
    rate, folds = _unasked(drive)
    cached, room = _room(drive, first)
    loss = rate - (drive.bits - 1) * folds  # of room, in a microsecond
    until_full = rate * room / loss if loss > 0 else math.inf
    until_empty = rate * cached / folds if folds else math.inf
    begin = min(drive.logical_bytes, first.end + min(until_full, until_empty))
    phase = Phase(first.end, begin, rate, folds, "native")
    if until_empty < until_full:
        return [phase, _after_folds(drive, begin)]
    needed = folds_native(drive.bits)
    rate = level(drive.link, drive.costs.native, drive.costs.fold, needed)
    return [phase, Phase(begin, drive.logical_bytes, rate, rate * needed if rate else 0.0, "native")]


def _unasked(drive: Drive) -> tuple[float, float]:
    """Rates of native writes, and of folds that no write waits for."""
    if drive.fold == "idle":
        return min(drive.link, drive.costs.native.mb_s), 0.0
    return beside(drive.link, drive.costs.native, drive.costs.fold, drive.share)


def _after_folds(drive: Drive, begin: float) -> Phase:
    """Native writes that need no folds, beside what static cache there is.

    Its blocks that folds free take the host's data again, as they have no other use: f bytes a microsecond cost what
    SLC bytes cost, and the rest of the host's time goes to native ones: f + (h·native − f·slc)/native.
    """
    if not drive.static_bytes:
        return Phase(begin, drive.logical_bytes, min(drive.link, drive.costs.native.mb_s), 0.0, "native")
    rate, folds = _unasked(drive)
    if not folds:
        return Phase(begin, drive.logical_bytes, rate, 0.0, "native")
    slc, native = drive.costs.slc, drive.costs.native
    folds = min(rate, folds)
    mixed = folds + (rate * native.die - folds * slc.die) / native.die
    return Phase(begin, drive.logical_bytes, min(drive.link, mixed), folds, "mixed")


# --------------------------------------------------------------------------------------------------------------------
# Energy
# --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Power:
    """Watts while something is at work, above what it draws in rest. Of a die they are for all its planes."""

    base_w: float
    """Of the whole drive as long as the fill lasts, whatever it does: controller, DRAM, dies in rest."""
    link_w: float = 0.0
    """While the link carries data."""
    transfer_w: float = 0.0
    """Of the die, while a page or its commands are on its bus."""
    slc_read_w: float = 0.0
    slc_program_w: float = 0.0
    program_w: float = 0.0
    erase_w: float = 0.0
    host_j_per_gb: float = 0.0
    """What else a byte of the host's costs: memory, map, firmware."""
    fold_j_per_gb: float = 0.0
    """What else a folded byte costs."""


class Joules(NamedTuple):
    """Joules of a GB (1e9 bytes) of the host's."""

    base: float
    link: float
    host: float
    """Its programs and transfers."""
    fold: float
    """Reads, programs, erases and transfers of what is folded for it."""

    @property
    def total(self) -> float:
        """All of it."""
        return sum(self)


def program_j_per_gb(watts: float, array_us: float, row_bytes: float) -> float:
    """Give the joules of programming a GB: P·tWL/(planes·bits·page) (MODERN L15)."""
    return watts * array_us / row_bytes * 1e3


def host_j_per_gb(flash: Flash, power: Power, mode: str) -> float:
    """Give the joules of the flash for a GB of the host's: a transfer and a program, `slc` or `native`."""
    moved = power.transfer_w * flash.page_us / flash.page_bytes * 1e3 + power.host_j_per_gb
    if mode == "slc":
        return moved + program_j_per_gb(power.slc_program_w, flash.slc_program_us, flash.slc_row_bytes)
    return moved + program_j_per_gb(power.program_w, flash.program_us, flash.row_bytes)


def fold_j_per_gb(flash: Flash, power: Power, *, on_die: bool = False) -> float:
    """Give the joules of a folded GB: joint reads, two transfers (on the die: two commands), a program, an erase."""
    bus_us = 2 * (flash.command_us if on_die else flash.page_us)
    moved = power.transfer_w * bus_us / flash.page_bytes * 1e3 + power.fold_j_per_gb
    read = program_j_per_gb(power.slc_read_w, flash.slc_read_us, flash.slc_row_bytes)
    erase = program_j_per_gb(power.erase_w, flash.erase_us, flash.rows_per_block * flash.slc_row_bytes)
    return moved + read + program_j_per_gb(power.program_w, flash.program_us, flash.row_bytes) + erase


def joules(drive: Drive, flash: Flash, power: Power, phase: Phase, *, on_die: bool = False) -> Joules:
    """Give the joules of a GB that the host writes in a phase."""
    folds = phase.fold_mb_s / phase.mb_s
    host = host_j_per_gb(flash, power, "slc" if phase.mode == "slc" else "native")
    if phase.mode == "mixed":
        host += folds * (host_j_per_gb(flash, power, "slc") - host)
    return Joules(
        1e3 * power.base_w / phase.mb_s,
        1e3 * power.link_w / drive.link,
        host,
        folds * fold_j_per_gb(flash, power, on_die=on_die),
    )


# --------------------------------------------------------------------------------------------------------------------
# Worked examples
# --------------------------------------------------------------------------------------------------------------------

EXAMPLE = Drive(Costs.of_rates(6400, 1470, 6500), 5000, 3, 1e12, 1e12)
"""MODERN L4 and L5: a link of 5,000 MB/s, dies in one SLC mode at 6,400, native at 1,470, read at 6,500 MB/s."""
EXAMPLE_POWER = Power(1.8, 0.5, 0.04, 0.08, 0.099, 0.099, 0.099)


def _say(title: str, drive: Drive) -> None:
    parts = [f"to {one.end / 1e9:.2f} GB {one.mb_s:.1f} MB/s (folds {one.fold_mb_s:.1f})" for one in fill(drive)]
    folded = folded_when_filled(drive) / 1e9
    print(f"{title}: {'; '.join(parts)}. Mean {mean_rate(drive):.1f} MB/s, folded {folded:.2f} GB")


def _combinations(title: str, drive: Drive) -> None:
    print(f"\n{title}")
    kinds = {"static": (40e9, False), "dynamic": (0.0, True), "both": (6e9, True)}
    for kind, (static_bytes, dynamic) in kinds.items():
        for after in ("native", "through"):
            for fold in ("idle", "full", "eager"):
                one = replace(drive, static_bytes=static_bytes, dynamic=dynamic, after=after, fold=fold)
                _say(f"  {kind:7} {after:7} {fold:5}", one)


def _main() -> None:
    _combinations("Rates of MODERN L4 and L5; folds below host writes", EXAMPLE)
    _combinations("The same; equal shares", replace(EXAMPLE, share=share_equal()))
    spare = replace(EXAMPLE, native_bytes=1.02e12, dynamic=True)
    print("\nCp 1,020 GB, C 1,000 GB")
    _say("  dynamic native ", spare)
    _say("  dynamic through", replace(spare, after="through"))
    _say("  dynamic native, at most 108 GB", replace(spare, dynamic_bytes=108e9))
    _say("  dynamic through, at most 108 GB", replace(spare, after="through", dynamic_bytes=108e9))
    flash = Flash()
    print("\n8 channels of 2 dies: r_s, r_t, r_r, r_e, buses, and each with caches (MB/s)")
    rates = (slc_rate, native_rate, read_rate)
    plain = [rate(flash) for rate in rates]
    print("  " + ", ".join(f"{rate:.1f}" for rate in (*plain, erase_rate(flash), bus_bound(flash))))
    print("  " + ", ".join(f"{rate(flash, cached=True):.1f}" for rate in rates))
    for on_die in (False, True):
        drive = Drive(Costs.of_flash(flash, on_die=on_die), 6800, 3, 1.02e12, 1e12)
        where = "on the die" if on_die else "over the bus"
        _combinations(f"The same flash, a link of 6,800 MB/s, folds {where}", drive)
        for after in ("native", "through"):
            one = replace(drive, dynamic=True, after=after)
            for phase in fill(one):
                found = joules(one, flash, EXAMPLE_POWER, phase, on_die=on_die)
                parts = " + ".join(f"{part:.4f}" for part in found)
                print(f"  J/GB to {phase.end / 1e9:.0f} GB: {parts} = {found.total:.4f}")
    for on_die in (False, True):
        for after, mode, folds in (("native", "native", 0.5), ("through", "slc", 1.5)):
            among = level_among(flash, 6800, folds, mode, on_die=on_die)
            print(f"  two dies a channel, {after}, on_die={on_die}:", " … ".join(f"{one:.1f}" for one in among), "MB/s")
    print("\nFolds below host writes, in steps of 1,068.5 us, r_0 5,000 and r_s 6,400 MB/s")
    print(f"  buffer that hides a step: {buffer_needed(5000, 1068.5) / 1e6:.2f} MB")
    print(f"  rate with a buffer of 1 MB: {before_small_buffer(5000, 6400, 1068.5, 1e6):.0f} MB/s")
    costs = Costs.of_flash(flash)
    steps = costs.slc.die * flash.dies * flash.slc_row_bytes, costs.fold.die * flash.dies * flash.row_bytes
    print(
        f"  steps of a row: {steps[0]:.1f} us of the host's, {steps[1]:.1f} us of a fold, its part of an erase included"
    )
    print(
        f"  folds' share: alternating {share_alternating(*steps):.3f}, after 64 passes {share_bounded(*steps, 64):.3f}"
    )


if __name__ == "__main__":
    _main()
