"""`tools/slc_cliff.py`: the worked numbers of its laws, its limits, and a fluid that is poured step by step."""

from __future__ import annotations

import heapq
import importlib.util
import math
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from types import ModuleType


def tool() -> ModuleType:
    name = Path(__file__).parents[2] / "tools/slc_cliff.py"
    spec = importlib.util.spec_from_file_location("slc_cliff", name)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


cliff = tool()
STATIC = replace(cliff.EXAMPLE, static_bytes=40e9)
DYNAMIC = replace(cliff.EXAMPLE, dynamic=True)
BOTH = replace(DYNAMIC, static_bytes=60e9)
FLASH = cliff.Flash(ways=1)


def rates_of(drive: cliff.Drive) -> list[float]:
    return [phase.mb_s for phase in cliff.fill(drive)]


# What the laws give -------------------------------------------------------------------------------------------------


def test_a_static_cache() -> None:
    """MODERN L4."""
    assert cliff.knee_static(40e9, 5000, 300) == pytest.approx(42.55e9, rel=1e-3)
    assert rates_of(STATIC) == pytest.approx([5000, 1470])
    assert rates_of(replace(STATIC, after="through")) == pytest.approx([5000, 1010], rel=1e-3)


def test_a_dynamic_cache() -> None:
    """MODERN L5."""
    assert cliff.knee(DYNAMIC) == pytest.approx(1e12 / 3)
    assert rates_of(DYNAMIC) == pytest.approx([5000, 911], rel=1e-3)
    assert rates_of(replace(DYNAMIC, after="through")) == pytest.approx([5000, 711], rel=1e-3)
    assert cliff.mean_rate(DYNAMIC) == pytest.approx(1253, rel=1e-3)
    assert cliff.folded_when_filled(DYNAMIC) == pytest.approx(1e12 / 3), "full when the last SLC block is folded"
    four = replace(DYNAMIC, costs=cliff.Costs.of_rates(6400, 400, 6500), bits=4)
    assert cliff.knee(four) == pytest.approx(250e9)
    assert rates_of(four)[1] == pytest.approx(295, rel=2e-3)
    assert rates_of(replace(four, after="through"))[1] == pytest.approx(271, rel=2e-3)


@pytest.mark.parametrize("bits", [2, 3, 4])
def test_what_is_folded_with_room_to_spare(bits: int) -> None:
    """Cp/b − (Cp − C)/(b − 1) with native writes, C − (Cp − C)/(b − 1) through the cache."""
    room, data = 1.03e12, 1e12
    drive = replace(DYNAMIC, bits=bits, native_bytes=room, logical_bytes=data)
    assert cliff.knee(drive) == pytest.approx(room / bits)
    assert cliff.folded_when_filled(drive) == pytest.approx(room / bits - (room - data) / (bits - 1))
    through = replace(drive, after="through")
    assert cliff.folded_when_filled(through) == pytest.approx(data - (room - data) / (bits - 1))


def test_a_die() -> None:
    """MODERN L1, L3 and L15."""
    die = replace(FLASH, channels=1)
    assert cliff.native_rate(die) == pytest.approx(159.1, rel=1e-3)
    assert cliff.native_rate(die, cached=True) == pytest.approx(184.0, rel=1e-3)
    assert cliff.native_rate(replace(die, ways=8)) == pytest.approx(1174.2, rel=1e-3)
    assert cliff.native_rate(cliff.Flash()) == pytest.approx(2546, rel=1e-3)
    assert cliff.native_rate(cliff.Flash(), cached=True) == pytest.approx(2944, rel=1e-3)
    slow = replace(die, slc_read_us=50)
    assert cliff.read_rate(slow) == pytest.approx(619, rel=1e-3)
    assert cliff.read_rate(slow, cached=True) == pytest.approx(1174, rel=1e-3)
    for watts, time, planes, bits, joules in (
        (0.099, 1068.5, 4, 3, 0.538),
        (0.099, 1725, 2, 3, 1.737),
        (0.099, 8738, 4, 4, 3.300),
        (0.099, 80, 4, 1, 0.121),
    ):
        assert cliff.program_j_per_gb(watts, time, planes * bits * 16_384) == pytest.approx(joules, rel=2e-3)


def test_rates_of_a_die_are_rates_of_the_drive() -> None:
    """With one die a channel the dies alone bound it: both ways to give the costs agree."""
    r_s, r_t, r_r = cliff.slc_rate(FLASH), cliff.native_rate(FLASH), cliff.read_rate(FLASH)
    of_rates = cliff.Costs.of_rates(r_s, r_t, r_r, cliff.erase_rate(FLASH))
    of_flash = cliff.Costs.of_flash(FLASH)
    for name in ("slc", "native", "fold"):
        assert getattr(of_rates, name).die == pytest.approx(getattr(of_flash, name).die)
        assert getattr(of_flash, name).bus < getattr(of_flash, name).die


def test_a_fold_on_the_die_saves_two_transfers() -> None:
    over, on_die = cliff.Costs.of_flash(FLASH).fold, cliff.Costs.of_flash(FLASH, on_die=True).fold
    per_byte = 2 * (FLASH.page_us - FLASH.command_us) / FLASH.page_bytes
    assert over.die - on_die.die == pytest.approx(per_byte / FLASH.dies)
    assert over.bus - on_die.bus == pytest.approx(per_byte / FLASH.channels)


# Limits -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fold", ["idle", "full", "eager"])
def test_without_a_cache_there_is_no_knee(fold: str) -> None:
    none = replace(STATIC, static_bytes=0, fold=fold)
    assert cliff.knee(none) == 0
    assert rates_of(none) == pytest.approx([1470])


@pytest.mark.parametrize("drive", [DYNAMIC, BOTH])
def test_with_one_bit_there_is_no_knee(drive: cliff.Drive) -> None:
    for after in ("native", "through"):
        assert rates_of(replace(drive, bits=1, after=after)) == pytest.approx([5000])


@pytest.mark.parametrize("drive", [STATIC, DYNAMIC, BOTH])
@pytest.mark.parametrize("after", ["native", "through"])
def test_a_link_that_leaves_the_dies_no_rest_lets_nothing_be_folded(drive: cliff.Drive, after: str) -> None:
    """Below host writes, eager folds get what those leave. It is nothing, and the cliff is that of idle folds."""
    idle = replace(drive, link=1e6, after=after)
    assert cliff.fill(replace(idle, fold="eager")) == cliff.fill(idle)


def test_a_slow_link_has_no_knee() -> None:
    for drive in (STATIC, DYNAMIC, BOTH):
        assert rates_of(replace(drive, link=500, fold="eager", **SPARE)) == pytest.approx([500])


@pytest.mark.parametrize("fold", ["idle", "full", "eager"])
def test_both_lie_between_their_parts(fold: str) -> None:
    assert cliff.fill(replace(BOTH, static_bytes=0.0, fold=fold)) == cliff.fill(replace(DYNAMIC, fold=fold))
    alone = replace(STATIC, static_bytes=60e9, fold=fold)
    assert cliff.knee(replace(BOTH, dynamic_bytes=0.0, fold=fold)) == cliff.knee(alone)


def test_a_bound_on_the_dynamic_part() -> None:
    """Native writes at their full rate while there is room beside it, then folds; likewise through the cache."""
    drive = replace(DYNAMIC, native_bytes=1.02e12, dynamic_bytes=108e9)
    assert [phase.end for phase in cliff.fill(drive)] == pytest.approx([108e9, 804e9, 1e12])
    assert rates_of(drive) == pytest.approx([5000, 1470, 911.3], rel=1e-4)
    assert rates_of(replace(drive, after="through")) == pytest.approx([5000, 1009.7, 710.5], rel=1e-4)


def test_what_an_idle_time_gives_back() -> None:
    assert cliff.regained(40e9, 1000, 10e6, 3, dynamic=False) == 10e9
    assert cliff.regained(40e9, 1000, 1e9, 3, dynamic=False) == 40e9
    assert cliff.regained(300e9, 1000, 30e6, 3, dynamic=True) == 20e9


def test_shares_of_folds() -> None:
    assert cliff.share_alternating(100, 100) == cliff.share_equal()
    assert cliff.share_bounded(100, 1500, 1) == cliff.share_alternating(100, 1500)
    assert cliff.share_bounded(100, 1500, 10**9) < 1e-6


def test_a_small_buffer() -> None:
    whole = cliff.buffer_needed(5000, 1000)
    assert whole == 5e6
    assert cliff.before_small_buffer(5000, 6400, 1000, whole) == pytest.approx(5000)
    assert cliff.before_small_buffer(5000, 6400, 1000, 2 * whole) == pytest.approx(5000)
    assert cliff.before_small_buffer(5000, 6400, 1000, 0) == 0
    assert cliff.before_small_buffer(5000, 4000, 1000, 0) == 4000


@pytest.mark.parametrize(("mode", "folds"), [("native", 0.5), ("slc", 1.5), ("slc", 1.0)])
def test_dies_of_a_channel_in_each_others_way(mode: str, folds: float) -> None:
    alone = cliff.level_among(FLASH, 1e6, folds, mode)
    assert alone.least == pytest.approx(alone.likely) == pytest.approx(alone.most)
    for ways in (2, 4):
        among = cliff.level_among(replace(FLASH, ways=ways), 1e6, folds, mode)
        assert among.least < among.likely < among.most <= ways * alone.most * 1.000_001


# Energy -------------------------------------------------------------------------------------------------------------


def test_joules_of_a_gb_by_hand() -> None:
    """1.8 W of rest, 40 mW on the bus, 99 mW to program and erase, 80 mW to read; a page takes 13.953 us on the bus."""
    drive = replace(DYNAMIC, costs=cliff.Costs.of_flash(FLASH), fold="full", link=3000)
    before, after = cliff.fill(drive)
    page = 0.04 * 13.953 / 16_384 * 1e3
    programs = [0.099 * 80 / 65_536 * 1e3, 0.099 * 1068.5 / 196_608 * 1e3]
    found = cliff.joules(drive, FLASH, cliff.EXAMPLE_POWER, before)
    assert found == pytest.approx((1.8 / 3, 0.5 / 3, page + programs[0], 0), rel=1e-4)
    fold = 0.08 * 25 / 65_536 * 1e3 + 2 * page + programs[1] + 0.099 * 3500 / (384 * 65_536) * 1e3
    found = cliff.joules(drive, FLASH, cliff.EXAMPLE_POWER, after)
    assert found == pytest.approx((1.8e3 / after.mb_s, 0.5 / 3, page + programs[1], fold / 2), rel=1e-4)
    assert found.total == pytest.approx(sum(found))
    less = cliff.fold_j_per_gb(FLASH, cliff.EXAMPLE_POWER, on_die=True)
    assert fold - less == pytest.approx(2 * page * (1 - 0.3 / 13.953), rel=1e-4)


# Single dies --------------------------------------------------------------------------------------------------------


def steps_of(flash: cliff.Flash, kind: str) -> list[tuple[int, float, int]]:
    """Pages on the bus, time of the array after them, bytes of the host's."""
    row = flash.planes * flash.bits
    if kind == "native":
        return [(row, flash.program_us, flash.row_bytes)]
    if kind == "slc":
        return [(flash.planes, flash.slc_program_us, flash.slc_row_bytes)]
    erase = flash.erase_us * flash.bits / flash.rows_per_block
    reads = [(0, flash.slc_read_us, 0), (flash.planes, 0.0, 0)] * flash.bits
    return [*reads, (row, flash.program_us + erase, 0)]


def channel(flash: cliff.Flash, cycle: list[tuple[int, float, int]], seed: int, until_us: float = 2e6) -> float:
    """Give the drive's rate if the dies of a channel go through the cycle, each from another place.

    Pages wait for the bus in turn.
    """
    rng = random.Random(seed)
    at = [rng.randrange(len(cycle)) for _ in range(flash.ways)]
    pages = [0] * flash.ways
    waiting: list[int] = []
    events = [(rng.random() * 2000, die, False) for die in range(flash.ways)]
    heapq.heapify(events)
    host, on_bus, now = 0, False, 0.0
    while now < until_us:
        now, die, moved = heapq.heappop(events)
        if moved:
            on_bus = False
            pages[die] -= 1
        else:
            pages[die] = cycle[at[die]][0]
        if pages[die]:
            waiting.append(die)
        else:
            _, array_us, bytes_ = cycle[at[die]]
            host += bytes_
            at[die] = (at[die] + 1) % len(cycle)
            heapq.heappush(events, (now + array_us, die, False))
        if waiting and not on_bus:
            on_bus = True
            heapq.heappush(events, (now + flash.page_us, waiting.pop(0), True))
    return host / until_us * flash.channels


@pytest.mark.parametrize(("ways", "within"), [(1, 0.01), (2, 0.04), (4, 0.08)])
@pytest.mark.parametrize("after", ["native", "through"])
@pytest.mark.parametrize("rows", [1, 10])
def test_dies_of_a_channel_meet_on_the_bus(ways: int, within: float, after: str, rows: int) -> None:
    """A die folds as many bytes as the level needs, a row or ten at a time, and then writes the host's."""
    flash = replace(FLASH, ways=ways)
    mode, folds = ("native", 0.5) if after == "native" else ("slc", 1.5)
    host = 2 if after == "native" else 2 * flash.bits
    kinds = ["fold"] * int(2 * folds) * rows + [mode] * host * rows
    cycle = [step for kind in kinds for step in steps_of(flash, kind)]
    rate = sum(channel(flash, cycle, seed) for seed in range(4)) / 4
    among = cliff.level_among(flash, 1e6, folds, mode)
    assert among.least * (1 - 0.01) <= rate <= among.most * (1 + 0.01)
    assert among.likely == pytest.approx(rate, rel=within)


def dealt(r_0: float, r_s: float, step_us: float, buffer_bytes: float, until_us: float = 4e5) -> float:
    """Give the rate of rows that are dealt to 16 dies in turn. A die without a row does a step of a fold."""
    dies, row = 16, 65_536
    held, coming, done, is_blocked = [0] * dies, 0, 0, False
    events: list[tuple[float, int, bool]] = [(0.0, -1, False), *((0.0, die, False) for die in range(dies))]
    now = 0.0
    while now < until_us:
        now, die, written = heapq.heappop(events)
        if die >= 0:
            held[die] -= written
            done += written
            wait = row * dies / r_s if held[die] else step_us
            heapq.heappush(events, (now + wait, die, held[die] > 0))
            if not (written and is_blocked):
                continue
        is_blocked = (sum(held) + 1) * row > buffer_bytes
        if not is_blocked:
            held[coming] += 1
            coming = (coming + 1) % dies
            heapq.heappush(events, (now + row / r_0, -1, False))
    return done * row / now


@pytest.mark.parametrize("parts", [0.2, 0.4, 0.8, 1.0, 1.5, 3.0])
def test_a_buffer_hides_steps_of_folds(parts: float) -> None:
    """Rows in turn are no faster than the formula says, and hidden wholly by 1.5 times the least buffer."""
    buffer_bytes = parts * cliff.buffer_needed(5000, 1068.5)
    rate = dealt(5000, 6400, 1068.5, buffer_bytes)
    assert rate <= 1.005 * cliff.before_small_buffer(5000, 6400, 1068.5, buffer_bytes)
    assert (rate > 0.995 * 5000) == (parts >= 1.5)


# A fluid, poured step by step ---------------------------------------------------------------------------------------


class Step(NamedTuple):
    """A drop of the host's data."""

    host: float
    us: float
    folded: float


class Poured:
    """A drive whose rules are those of the docs; it knows none of the formulas. It takes the host's data in drops."""

    def __init__(self, drive: cliff.Drive, drops: int, *, static_first: bool = True) -> None:
        """Pour the whole fill."""
        self.drive, self.drop, self.static_first = drive, drive.logical_bytes / drops, static_first
        self.static = self.dynamic = self.native = 0.0
        self.is_full = False
        self.steps = [self.pour() for _ in range(drops)]

    def room(self) -> float:
        """Native bytes that are free."""
        return self.drive.native_bytes - self.drive.bits * self.dynamic - self.native

    def fold(self, data: float, *, static_first: bool) -> float:
        """Fold so many bytes, if the cache holds them and there is room; give what was folded."""
        before = self.static + self.dynamic
        for kind in ("static", "dynamic") if static_first else ("dynamic", "static"):
            part = min(data, getattr(self, kind))
            if kind == "static":
                part = max(0.0, min(part, self.room()))
            setattr(self, kind, getattr(self, kind) - part)
            self.native += part
            data -= part
        return before - self.static - self.dynamic

    def place(self) -> str:
        """Where the next drop goes."""
        drive = self.drive
        again = not self.is_full or drive.after == "through"
        if self.fits("static") and (again or self.active):
            return "static"
        if drive.dynamic and again and self.fits("dynamic"):
            return "dynamic"
        self.is_full = True
        if drive.after == "native":
            return "native"
        return "dynamic" if drive.dynamic else "static"

    @property
    def active(self) -> bool:
        """Whether there are folds that no write waits for."""
        return self.drive.fold == "eager" or (self.drive.fold == "full" and self.is_full)

    def fits(self, place: str) -> bool:
        """Whether the next drop fits there."""
        if place == "static":
            return self.static + self.drop <= self.drive.static_bytes
        if place == "native":
            return self.room() >= self.drop
        return min(self.room() / self.drive.bits, self.drive.dynamic_bytes - self.dynamic) >= self.drop

    def wait_for_room(self, place: str) -> float:
        """Fold until the drop fits."""
        folded = 0.0
        while not self.fits(place):
            more = self.fold(self.drop / 16, static_first=place == "static")
            assert more, "nothing is left to fold"
            folded += more
        return folded

    def pour(self) -> Step:
        """Place a drop."""
        drop, drive = self.drop, self.drive
        place = self.place()
        folded = self.wait_for_room(place)
        setattr(self, place, getattr(self, place) + drop)
        host, fold = drive.costs.native if place == "native" else drive.costs.slc, drive.costs.fold
        die, bus = drop * host.die + folded * fold.die, drop * host.bus + folded * fold.bus
        us = max(drop / drive.link, die, bus)
        if self.active:
            has_data = self.static + self.dynamic > drop
            if has_data:
                us = max(us, drop * host.die / (1 - drive.share))
            by_bus = (us - bus) / fold.bus if fold.bus else math.inf
            most = min((us - die) / fold.die, by_bus)
            folded += self.fold(most, static_first=self.static_first and not self.is_full)
        return Step(drop, us, folded)

    def mean(self, begin: float, end: float) -> float:
        """The mean rate between two numbers of bytes."""
        part = self.steps[round(begin / self.drop) : round(end / self.drop)]
        return sum(step.host for step in part) / sum(step.us for step in part)

    @property
    def folded(self) -> float:
        """All bytes that were folded."""
        return sum(step.folded for step in self.steps)


SPARE = {"native_bytes": 1.02e12}
FLASHES = {
    "rates": cliff.EXAMPLE.costs,
    "over the bus": cliff.Costs.of_flash(FLASH),
    "on the die": cliff.Costs.of_flash(FLASH, on_die=True),
    "bound by buses": cliff.Costs.of_flash(cliff.Flash(channels=2, ways=8)),
}


def check(drive: cliff.Drive, *, drops: int = 2000, static_first: bool = True) -> None:
    poured = Poured(drive, drops, static_first=static_first)
    phases = cliff.fill(drive)
    assert phases[-1].end == drive.logical_bytes
    for phase in phases:
        if phase.end - phase.begin > 20 * poured.drop:
            edge = 0.01 * (phase.end - phase.begin)
            rate = poured.mean(phase.begin + edge, phase.end - edge)
            assert phase.mb_s == pytest.approx(rate, rel=5e-3), phase
    mean = poured.mean(0, drive.logical_bytes)
    assert cliff.mean_rate(drive) == pytest.approx(mean, rel=5e-3)
    folded = cliff.folded_when_filled(drive)
    assert folded == pytest.approx(poured.folded, rel=5e-3, abs=5e-3 * drive.logical_bytes)
    if len(phases) > 1 and phases[0].mb_s > 1.05 * phases[1].mb_s:
        between = math.sqrt(phases[0].mb_s * phases[1].mb_s)
        slow = next(index for index, step in enumerate(poured.steps) if step.host / step.us < between)
        assert slow * poured.drop == pytest.approx(phases[0].end, rel=5e-3, abs=2 * poured.drop)


@pytest.mark.parametrize("flash", FLASHES)
@pytest.mark.parametrize("fold", ["idle", "full", "eager"])
@pytest.mark.parametrize("after", ["native", "through"])
@pytest.mark.parametrize("kind", ["static", "dynamic", "both"])
def test_a_poured_fill(kind: str, after: str, fold: str, flash: str) -> None:
    drive = {"static": STATIC, "dynamic": DYNAMIC, "both": BOTH}[kind]
    drive = replace(drive, costs=FLASHES[flash], after=after, fold=fold, **SPARE)
    check(drive)
    check(replace(drive, link=2000))


@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize("fold", ["full", "eager"])
@pytest.mark.parametrize("drive", [STATIC, DYNAMIC, BOTH])
def test_a_poured_fill_with_a_share_for_folds(drive: cliff.Drive, fold: str, share: float) -> None:
    check(replace(drive, fold=fold, share=share, **SPARE))


@pytest.mark.parametrize("bits", [2, 4])
@pytest.mark.parametrize("after", ["native", "through"])
def test_a_poured_fill_of_other_cells(bits: int, after: str) -> None:
    for drive in (DYNAMIC, BOTH):
        check(replace(drive, bits=bits, after=after, fold="eager", **SPARE))


@pytest.mark.parametrize("fold", ["idle", "eager"])
@pytest.mark.parametrize("after", ["native", "through"])
@pytest.mark.parametrize("drive", [DYNAMIC, BOTH])
def test_a_poured_fill_with_a_bound_on_the_dynamic_part(drive: cliff.Drive, after: str, fold: str) -> None:
    check(replace(drive, after=after, fold=fold, dynamic_bytes=108e9, **SPARE))


def test_the_order_of_folds_moves_no_knee() -> None:
    """Whichever blocks are folded first: a folded byte of a static block leaves its place to the host."""
    for static_first in (True, False):
        check(replace(BOTH, fold="eager", **SPARE), static_first=static_first)


def test_the_worked_examples_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    cliff._main()
    text = capsys.readouterr().out
    assert "to 333.33 GB 5000.0 MB/s (folds 0.0); to 1000.00 GB 911.3 MB/s" in text
