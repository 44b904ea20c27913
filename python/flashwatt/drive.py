"""A drive inside a simulation of something larger, which sends it requests and takes what has ended."""

from __future__ import annotations

import json
from operator import index
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, get_args

from flashwatt import _core
from flashwatt.base.literals import shown
from flashwatt.base.misspelt import known
from flashwatt.base.scripts import explained
from flashwatt.config.config import Config
from flashwatt.report.report import Report
from flashwatt.report.sections import Supplies
from flashwatt.runs import nearest, overrides_of

if TYPE_CHECKING:
    import polars as pl

    from flashwatt.config.config import Source

Kind = Literal["read", "write", "trim", "flush"]
"""What a request asks for."""

_LARGEST = 2**64 - 1
_ORIGIN_LARGEST = 2**16 - 1


class Done(NamedTuple):
    """A request that has ended."""

    tag: int
    """The name that `Drive.submit` gave it. It is free again: a later request may have the same."""
    submitted_ns: int
    """When it was sent."""
    end_ns: int
    """When it ended."""

    @property
    def latency_ns(self) -> int:
        """From its sending to its end."""
        return self.end_ns - self.submitted_ns


class PowerCut(NamedTuple):
    """A power cut of a `Drive`, and what came of it."""

    lost: list[Done]
    """The requests that had been sent by then and had not ended, in the order of their arrivals: in the drive, and
    waiting for room in it. They are lost, and end with the cut: `Drive.advance` does not give them."""
    figures: dict[str, int | float]
    """What the cut left, and what the recovery takes, by the names of the columns of `Crash.cuts`."""

    @property
    def recovered_ns(self) -> int:
        """When the drive serves requests again, if no other cut comes before, and no request is sent until then."""
        return int(self.figures["at_ns"] + self.figures["recovery_ns"])


class Drive:
    """A drive for a simulator of something larger: a database, a computer, a storage system. It starts at time 0.

    >>> drive = Drive(device__preset="x25m")
    >>> tag = drive.submit("write", 0, 4096, at_ns=1_000)
    >>> drive.advance(2_000_000)  # 82 µs over the bus, 900 µs of programming
    [Done(tag=0, submitted_ns=1000, end_ns=983000)]
    >>> drive.report().status
    'complete'

    The caller owns the clock: `advance` goes on to a time, and gives the requests that have ended by then. All times
    are whole nanoseconds of simulated time. The drive takes `device.host_link.queue_depth` requests at once; others
    wait outside, and their latency counts from `at_ns`. Of the configuration, `workload`, `run.warmup`, `run.measure`
    and `run.max_flash_ops` are not used.

    Every method raises `FlashwattError` for what it cannot do, and all of them do after `report`. One thread at a time
    may use a drive; other threads run while it advances.
    """

    def __init__(
        self,
        config: Source = MappingProxyType({}),
        /,
        *,
        seed: int | None = None,
        cuttable: bool = False,
        **overrides: Any,
    ) -> None:
        """Take a configuration as `flashwatt.run` does: a path, a dictionary or a `Config`, and keys laid over it.

        With `cuttable` it must be one SSD, whose power `cut` can cut.
        """
        config = Config.of(config).override(overrides_of(seed, overrides))
        with nearest(overrides, Drive), explained():
            self._core = _core.Drive(config.text, config.name, list(config.sets), bool(cuttable))

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        """Refuse to be copied or pickled: a copy would be the same drive."""
        expected = "expected a Drive of its own, made from the same configuration"
        raise _core.FlashwattError(f"a drive cannot be copied or pickled; {expected}")

    def submit(
        self,
        kind: Kind,
        offset_bytes: int = 0,
        bytes: int = 0,  # noqa: A002
        at_ns: int | None = None,
        *,
        fua: bool = False,
        origin: int = 0,
    ) -> int:
        """Send a request at a time that is not over (now, if none is given), and give its tag.

        `offset_bytes` and `bytes` are whole sectors of 512 bytes on the drive; a flush has neither. Requests may be
        sent in any order of their times. Those of one time go in the order in which they were sent. `fua` is forced
        unit access: the request ends only when its data is on flash. `origin` is the number of who sent it, from 0 to
        65,535. No two requests that have not ended have the same tag. A request that is refused leaves the drive as it
        was.
        """
        try:
            return self._core.submit(kind, offset_bytes, bytes, at_ns, fua, origin)
        except (OverflowError, TypeError, UnicodeEncodeError):
            known("kind", [f"{kind}"], get_args(Kind))
            _whole("offset_bytes", offset_bytes, _LARGEST)
            _whole("bytes", bytes, _LARGEST)
            _whole("at_ns", at_ns or 0, _LARGEST)
            _whole("origin", origin, _ORIGIN_LARGEST)
            raise

    def advance(self, until_ns: int) -> list[Done]:
        """Go on to a time; give the requests that have ended since the last call, in the order of their ends.

        Ctrl-C stops it on the way: `now_ns` says how far it came, and the next call goes on and gives all.
        """
        try:
            return list(map(Done._make, self._core.advance(until_ns)))
        except (OverflowError, TypeError):
            _whole("until_ns", until_ns, _LARGEST)
            raise

    def advance_to_done(self, until_ns: int) -> list[Done]:
        """Go on to the first instant at which requests end, but no further than to a time; give those requests.

        `now_ns` is that instant, or `until_ns` if no request ends until then. A closed loop sends its next requests
        there.
        """
        try:
            return list(map(Done._make, self._core.advance_to_done(until_ns)))
        except (OverflowError, TypeError):
            _whole("until_ns", until_ns, _LARGEST)
            raise

    def sleep(self) -> bool:
        """Send the command to sleep, behind the requests that were submitted for now or before.

        A disk writes its cache, parks its arm and stops its spindle. The next request that needs the medium brings it
        to speed again. Gives whether the drive, or a member of an array, has such a state: SSDs ignore the command.
        """
        return self._core.sleep()

    def cut(self) -> PowerCut:
        """Cut the power now, and let the drive come back: it recovers in simulated time, and then serves again.

        Requests that have been sent by now and have not ended are lost, and named; those that are to be sent later
        (`at_ns`) will be sent. Requests of the time until the recovery ends wait for that. The figures are known at
        once, from a copy of the drive. Time and energy of the recovery count as the drive's own, in `energy_j` and in
        the report, whose section `power_cuts` sums up all cuts. Capacitors (`write_buffer.protection`) do their work in
        no time of the drive, and with energy that is not among its own.

        Raises `FlashwattError` unless the drive was made with `cuttable=True`.
        """
        lost, text = self._core.cut()
        return PowerCut(list(map(Done._make, lost)), json.loads(text))

    def next_event_ns(self) -> int | None:
        """When something happens next on the drive, if anything does without another request.

        No request ends before it.
        """
        return self._core.next_event_ns()

    @property
    def now_ns(self) -> int:
        """The time that the drive has gone on to."""
        return self._core.now_ns

    @property
    def logical_bytes(self) -> int:
        """Bytes that the host sees."""
        return self._core.logical_bytes

    def energy_j(self) -> float:
        """Energy in J from time 0 up to now. Work that DRAM or the host link has begun counts as far as it is done."""
        return self._core.energy_j()

    def energy_by_supply_j(self) -> Supplies:
        """Give the same by the supply that it comes from: +5 V or +12 V, which some disks need.

        All energy of an SSD counts as drawn from +5 V.
        """
        return Supplies(*self._core.energy_by_supply_j())

    def power_w(self) -> float:
        """The drive's power in W now."""
        return self._core.power_w()

    def blocks(self) -> pl.DataFrame:
        """Give what each block of an SSD holds now, one row per block.

        Columns: `die`, `block` (its number in the drive), `state` (`free`: erased, `open`: data is written to it,
        `closed`: full, `victim`: being collected or erased), `planned_pages` (pages that are programmed, or will be by
        operations that are planned), `valid_units` (map units of current data; a unit is a page unless
        `ftl.page.map_unit_bytes` is smaller), and `erases`. Raises `FlashwattError` for a disk and for an array.
        """
        import polars as pl

        names = {"die": pl.UInt32, "block": pl.UInt32, "state": pl.Categorical}
        numbers = dict.fromkeys(("planned_pages", "valid_units", "erases"), pl.UInt32)
        return pl.DataFrame(self._core.blocks(), schema={**names, **numbers}, orient="row")

    def report(self) -> Report:
        """Let everything that is under way end, and report all since time 0. It ends the drive."""
        content = json.loads(self._core.report())
        return Report({**content, "engine": None})


def _whole(name: str, value: Any, largest: int) -> None:
    """Raise a `FlashwattError` for an argument that is no whole number of its range."""
    try:
        good = 0 <= index(value) <= largest
    except TypeError:
        good = False
    if not good:
        expected = f"a whole number from 0 to {largest}"
        raise _core.FlashwattError(f"{name}: found {shown(value)}; expected {expected}") from None
