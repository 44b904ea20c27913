"""A simulated drive as a target: everything happens in simulated time."""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from flashwatt.config.spelling import MERGING
from flashwatt.dio.target import SAMPLE_NS, Measured, Power
from flashwatt.drive import Drive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashwatt.config.config import Config
    from flashwatt.dio.load import Load
    from flashwatt.dio.target import GoOn, Source
    from flashwatt.drive import Done, Kind

SECTOR_BYTES = 512
_UNWATCHED_NS = 10_000_000_000
"""Between two samples where the power is not wanted."""
_ASK_EVERY = 64
"""Steps between two questions whether to go on."""
RAILS = ("5V", "12V")
"""The rails of a drive, in the order of `Supplies`. An SSD has the first one only, and so has a disk that draws nothing
from +12 V. The drive's converters lose nothing."""


class Recorder:
    """Energy since time 0 every 1 ms of a window, and at its end."""

    name = "simulated"

    def __init__(self, rails: Sequence[str]) -> None:
        """Begin without a window."""
        self.rails = rails
        self._times = array("Q")
        self._energies: list[array[float]] = []
        """Of each rail, at these times."""
        self._step_ns = self.due_ns = SAMPLE_NS
        """When the next sample is to be taken."""

    def begin(self, now_ns: int, energies_j: Sequence[float], *, sampled: bool) -> None:
        """Begin a window, with samples in it or without. The energies are those of the rails since time 0."""
        self._times, self._energies = array("Q", [now_ns]), [array("d", [joules]) for joules in energies_j]
        self._step_ns = SAMPLE_NS if sampled else _UNWATCHED_NS
        self.due_ns = now_ns + self._step_ns

    def take(self, now_ns: int, energies_j: Sequence[float]) -> None:
        """Take the sample that is due, or that of the window's end."""
        if now_ns > self._times[-1]:
            self._times.append(now_ns)
            for samples, joules in zip(self._energies, energies_j, strict=True):
                samples.append(joules)
        if now_ns == self.due_ns:
            self.due_ns += self._step_ns

    def over(self, begin_ns: int, end_ns: int) -> Power | None:
        """Give the power of the window; None for another one."""
        times = self._times
        if not times or (begin_ns, end_ns) != (times[0], times[-1]):
            return None
        seconds = [(after - before) / 1e9 for before, after in pairwise(times)]
        watts = {
            rail: [(after - before) / each for (before, after), each in zip(pairwise(joules), seconds, strict=True)]
            for rail, joules in zip(self.rails, self._energies, strict=True)
        }
        spent = sum(joules[-1] - joules[0] for joules in self._energies)
        return Power(spent, (end_ns - begin_ns) / 1e9, watts, self._step_ns)


class Simulated:
    """A drive of a configuration, in its start state, at time 0."""

    is_real = False

    def __init__(self, config: Config, name: str) -> None:
        """Make the drive. Raises `FlashwattError` for a configuration that no drive has."""
        self.name = name
        self._config, self._resolved = config, config.resolve()
        self._drive = Drive(config)
        self.size_bytes = self._drive.logical_bytes
        self.sector_bytes = SECTOR_BYTES
        self._recorder = Recorder(RAILS if draws_from_12v(self._resolved) else RAILS[:1])

    @property
    def rails(self) -> list[str]:
        """The rails that it draws power from."""
        return list(self._recorder.rails)

    def _energies_j(self) -> tuple[float, ...]:
        """The energy since time 0 from each of them."""
        if len(self._recorder.rails) == 1:
            return (self._drive.energy_j(),)
        energies = self._drive.energy_by_supply_j()
        return energies.v5, energies.v12

    @property
    def has_log_blocks(self) -> bool:
        """Whether random writes go to log blocks first: the rate falls once those are used up."""
        return any(name in MERGING for name in self._layers())

    def _layers(self) -> list[str]:
        """The translation layers of the drive, or of an array's members; none of a disk."""
        return [_name(member["ftl"]) for member in self._members() if "ftl" in member]

    def _members(self) -> list[dict[str, Any]]:
        """The settings of an array's members, or its own as of the only one."""
        members: list[dict[str, Any]] = self._resolved.get("array", {}).get("drives", [self._resolved])
        return members

    def about(self) -> dict[str, Any]:
        """Describe it for the result."""
        return {
            "kind": "simulated",
            "name": self.name,
            "size_bytes": self.size_bytes,
            "sector_bytes": self.sector_bytes,
            "clock": "simulated",
            "requests_by": "simulation",
            "direct": True,
            "translation_layers": list(dict.fromkeys(self._layers())),
            "config": self._config.merged(),
        }

    def run(self, load: Load, go_on: GoOn, *, watched: bool = True) -> Measured:
        """Send requests in a closed loop; see `Target.run`."""
        drive, offsets = self._drive, load.offsets()
        kind: Kind = "write" if load.pattern.write else "read"
        began, times, left = drive.now_ns, array("Q"), load.requests
        self._recorder.begin(began, self._energies_j(), sampled=watched)
        steps, stopped = 0, False
        outstanding = min(load.queue_depth, left)
        for _ in range(outstanding):
            drive.submit(kind, next(offsets), load.request_bytes)
        left -= outstanding
        while outstanding:
            for one in self._to_done():
                times.append(one.submitted_ns - began)
                times.append(one.end_ns - began)
                if left and not stopped and one.end_ns - began <= load.limit_ns:
                    drive.submit(kind, next(offsets), load.request_bytes)
                    left -= 1
                else:
                    outstanding -= 1
            steps += 1
            if steps % _ASK_EVERY == 0 and not stopped:
                stopped = not go_on(len(times) // 2, load.requests)
        return Measured(began, times, stopped)

    def flush(self) -> int:
        """Flush the drive's write buffer, in the window of the requests before."""
        began = self._drive.now_ns
        self._drive.submit("flush")
        while not self._to_done():
            pass
        return self._drive.now_ns - began

    def _to_done(self) -> list[Done]:
        """Go on to the next sample or to the end of requests, whichever is first."""
        done = self._drive.advance_to_done(self._recorder.due_ns)
        if self._drive.now_ns == self._recorder.due_ns:
            self._recorder.take(self._drive.now_ns, self._energies_j())
        return done

    def idle(self, duration_ns: int, go_on: GoOn) -> tuple[int, int]:
        """Let time pass without a request."""
        drive, recorder = self._drive, self._recorder
        began, end = drive.now_ns, drive.now_ns + duration_ns
        recorder.begin(began, self._energies_j(), sampled=True)
        steps = 0
        while drive.now_ns < end:
            drive.advance(min(end, recorder.due_ns))
            recorder.take(drive.now_ns, self._energies_j())
            steps += 1
            if steps % _ASK_EVERY == 0 and not go_on(0, None):
                break
        return began, drive.now_ns

    def sleep(self) -> bool:
        """Send the command to sleep; give whether it has a state to sleep in."""
        return self._drive.sleep()

    def warnings(self) -> list[str]:
        """Nothing: see `Target.warnings`."""
        return []

    def power(self) -> Source | None:
        """Give the power of the last window, which ends now."""
        self._recorder.take(self._drive.now_ns, self._energies_j())
        return self._recorder


def draws_from_12v(settings: Any) -> bool:
    """Whether a part of a drive, or of a member of an array, draws power from +12 V (`v12_w` of a disk's parts)."""
    if isinstance(settings, dict):
        return bool(settings.get("v12_w")) or any(map(draws_from_12v, settings.values()))
    return isinstance(settings, list) and any(map(draws_from_12v, settings))


def _name(tagged: Any) -> str:
    """The name of a choice: `page`, or the only key of `{page: {…}}`."""
    return tagged if isinstance(tagged, str) else str(next(iter(tagged)))
