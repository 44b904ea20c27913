"""What a benchmark asks of a target: patterns, sizes, and how long each point lasts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.base.misspelt import known

if TYPE_CHECKING:
    from collections.abc import Sequence

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SIZES = tuple(4 * KIB << power for power in range(13))
"""4 KiB to 16 MiB in powers of two: the range of Park et al. 2011 (4.2) and Seo et al. 2008 (3.2)."""
REQUESTS_MAX = 20_000_000
"""Of a point: the times of each are kept."""
DEPTH_MAX = 1024
IN_FLIGHT_BYTES_MAX = GIB
"""Buffers of the requests that are under way at once."""


@dataclass(frozen=True)
class Pattern:
    """The kind and the order of requests."""

    write: bool
    random: bool

    @property
    def name(self) -> str:
        """In results and tables: "random write"."""
        return f"{'random' if self.random else 'sequential'} {'write' if self.write else 'read'}"


PATTERNS = {
    "seqread": Pattern(write=False, random=False),
    "randread": Pattern(write=False, random=True),
    "seqwrite": Pattern(write=True, random=False),
    "randwrite": Pattern(write=True, random=True),
}
"""By the names of `--patterns`. All points of one pattern are measured one after the other, in this order: sequential
writes come before the random ones, whose merges they would pay for on a drive with log blocks."""


@dataclass(frozen=True)
class Load:
    """Requests in a closed loop on a target."""

    pattern: Pattern
    request_bytes: int
    requests: int
    """At most."""
    limit_ns: int
    """No request is sent later than this after the first one."""
    span_bytes: int
    align_bytes: int
    """Random offsets are multiples of this."""
    queue_depth: int = 1
    seed: int = 1

    def offsets(self) -> _core.Offsets:
        """Where the requests lie: on a real target the same as on a simulated one."""
        seed = self.seed if self.pattern.random else None
        return _core.Offsets(seed, self.span_bytes, self.align_bytes, self.request_bytes)


@dataclass(frozen=True)
class Plan:
    """The points of a benchmark."""

    sizes: Sequence[int] = SIZES
    patterns: Sequence[Pattern] = field(default_factory=lambda: tuple(PATTERNS.values()))
    bytes: int = 256 * MIB
    """Of a point, at most."""
    seconds: float = 30.0
    """Of a point, at most."""
    prepare_bytes: int = 0
    """Random writes of 4 MiB, or of the point's size if that is larger, before each point of random writes."""
    queue_depth: int = 1
    """One request at a time is a choice: the papers do not state theirs."""
    seed: int = 1
    span_bytes: int | None = None
    """The first bytes of the target that are used; all of it unless given."""
    align_bytes: int = 4 * KIB
    """Random offsets are multiples of this. Choice: the block of a file system."""

    def load(self, pattern: Pattern, request_bytes: int, span_bytes: int) -> Load:
        """Give the load of a point."""
        requests, limit_ns = max(1, self.bytes // request_bytes), round(self.seconds * 1e9)
        seed = self.seed * 64 + request_bytes.bit_length()  # every size has a stream of its own
        return Load(pattern, request_bytes, requests, limit_ns, span_bytes, self.align_bytes, self.queue_depth, seed)

    @property
    def writes(self) -> bool:
        """Whether a point of it writes."""
        return any(one.write for one in self.patterns)


def patterns_of(text: str) -> tuple[Pattern, ...]:
    """Read a list of patterns, "seqread,randwrite". Raises `FlashwattError` for an unknown or a doubled one."""
    names = [one.strip() for one in text.split(",")]
    known("--patterns", names, list(PATTERNS))
    _check_once("--patterns", names)
    return tuple(pattern for name, pattern in PATTERNS.items() if name in names)


def sizes_of(text: str) -> tuple[int, ...]:
    """Read sizes: a list "4KiB,1MiB", or a range "4KiB..16MiB" in powers of two. Raises `FlashwattError`."""
    first, dots, last = text.partition("..")
    if dots:
        low, high = bytes_of("--sizes", first), bytes_of("--sizes", last)
        if low > high:
            raise _core.FlashwattError(f"--sizes: found {text}; expected the smaller size first")
        return tuple(low << power for power in range(64) if low << power <= high)
    sizes = [bytes_of("--sizes", one) for one in text.split(",")]
    _check_once("--sizes", sizes)
    return tuple(sizes)


def bytes_of(option: str, text: str, least: int = 1) -> int:
    """Read a number of bytes with a unit: "4KiB", "1GB". Raises `FlashwattError` that names the option."""
    try:
        number = float(_core.number("size_bytes", text.strip()))
    except _core.FlashwattError as error:
        reason = str(error).removeprefix("size_bytes: ")
        raise _core.FlashwattError(f"{option}: {reason}") from None
    if number != int(number) or number < least:
        raise _core.FlashwattError(f"{option}: found {text.strip()}; expected whole bytes, ≥ {least}")
    return int(number)


def _check_once(option: str, values: Sequence[object]) -> None:
    for value in values:
        if values.count(value) > 1:
            raise _core.FlashwattError(f"{option}: found {value} twice; expected it once")


def check(plan: Plan, size_bytes: int, sector_bytes: int, name: str) -> int:
    """Give the span of a plan on a target; raises `FlashwattError` for a plan that does not fit it."""
    span = size_bytes if plan.span_bytes is None else plan.span_bytes
    if span > size_bytes:
        raise _core.FlashwattError(f"--span: found {span} bytes; expected {size_bytes} at most, the size of {name}")
    for size in plan.sizes:
        if size % sector_bytes:
            expected = f"a multiple of {sector_bytes}, the sector of {name}"
            raise _core.FlashwattError(f"--sizes: found {size} bytes; expected {expected}")
        if size > span:
            raise _core.FlashwattError(f"--sizes: found {size} bytes; expected {span} at most, the size of {name}")
        if size * plan.queue_depth > IN_FLIGHT_BYTES_MAX:
            found = f"{plan.queue_depth} requests of {size} bytes at once"
            raise _core.FlashwattError(f"--queue-depth: found {found}; expected {IN_FLIGHT_BYTES_MAX} bytes at most")
        if plan.bytes // size > REQUESTS_MAX:
            found = f"{plan.bytes // size} requests of {size} bytes"
            raise _core.FlashwattError(f"--bytes: found {found} in a point; expected {REQUESTS_MAX} at most")
    if plan.align_bytes % sector_bytes:
        expected = f"a multiple of {sector_bytes}, the sector of {name}"
        raise _core.FlashwattError(f"--align: found {plan.align_bytes} bytes; expected {expected}")
    return span
