"""What a target of the benchmark does. Simulated and real drives do it alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Mapping, Sequence

    from flashwatt.dio.load import Load

    GoOn = Callable[[int, int | None], bool]
    """Is called many times a second with the requests that have ended and their number in all; False stops the work."""

SAMPLE_NS = 1_000_000
"""Power is sampled every 1 ms (Park et al. 2011, 4.2)."""


@dataclass(frozen=True)
class Measured:
    """The requests of a load that have ended."""

    began_ns: int
    """By the target's clock: simulated time, or ns since 1970 (UTC)."""
    times_ns: array[int]
    """Start and end of each request after the beginning, one pair after the other, in the order of the ends."""
    stopped: bool
    """Whether it was stopped before its end."""

    @property
    def requests(self) -> int:
        """How many have ended."""
        return len(self.times_ns) // 2

    @property
    def took_ns(self) -> int:
        """From the beginning to the last end."""
        return self.times_ns[-1] if self.times_ns else 0

    def latencies_ns(self) -> list[int]:
        """Of each request, in the order of the ends."""
        return [end - start for start, end in zip(self.times_ns[::2], self.times_ns[1::2], strict=True)]


@dataclass(frozen=True)
class Power:
    """The power of a target in a window of its clock."""

    energy_j: float
    seconds: float
    rails: Mapping[str, Sequence[float]]
    """Mean watts of each interval, by rail: "5V", "12V"."""
    interval_ns: int
    """Length of the intervals; the last one may be shorter."""

    @property
    def mean_w(self) -> float:
        """Energy over time."""
        return self.energy_j / self.seconds if self.seconds else 0.0

    @property
    def watts(self) -> list[float]:
        """The sum of the rails in each interval."""
        return [sum(values) for values in zip(*self.rails.values(), strict=True)]

    def bins(self, per_bin: int) -> tuple[list[float], list[float]]:
        """Means and maxima of each `per_bin` intervals."""
        watts = self.watts
        groups = [watts[i : i + per_bin] for i in range(0, len(watts), per_bin)]
        return [sum(one) / len(one) for one in groups], [max(one) for one in groups]


class Source(Protocol):
    """Where the power of a target comes from."""

    name: str

    def over(self, begin_ns: int, end_ns: int) -> Power | None:
        """Give the power in a window of the target's clock; None if the source does not cover it."""


class Target(Protocol):
    """A drive, or a file on one."""

    name: str
    size_bytes: int
    sector_bytes: int
    is_real: bool

    def about(self) -> dict[str, Any]:
        """Describe it for the result."""

    def warnings(self) -> list[str]:
        """Say what makes the figures say less about the drive."""

    def run(self, load: Load, go_on: GoOn, *, watched: bool = True) -> Measured:
        """Send requests in a closed loop. If not `watched`, the power of this window is not wanted."""

    def flush(self) -> int:
        """Wait until everything that was written is on the medium; give the time in ns."""

    def idle(self, duration_ns: int, go_on: GoOn) -> tuple[int, int]:
        """Send nothing for a time; give the window of the target's clock."""

    def power(self) -> Source | None:
        """Give the power of the windows since the last `run` or `idle` began; None if it is not known yet."""
