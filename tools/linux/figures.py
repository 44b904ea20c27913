"""Figures of a run, from what its disk saw; the same code for both sides."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plan import PAGE_BYTES, REGION_BYTES

REGIONS = 4
KIB = 1024


class Dispatched(NamedTuple):
    """A request to the disk."""

    time_ns: int
    kind: str
    """R or W."""
    page: int
    pages: int


class Figures(NamedTuple):
    """What is compared."""

    requests: int
    mean_kib: dict[str, float]
    """Mean size of reads and of writes, after merging."""
    reads_share: float
    """Reads' part of the bytes."""
    shares: tuple[float, ...]
    """Each process's part of the bytes."""
    order: dict[tuple[str, int], int]
    """The place of each page in the order of dispatch."""


def figures(log: Sequence[Dispatched], window_ns: int, *, from_first_write: bool = False) -> Figures:
    """Figures of what went to the disk in a window. It begins with the first request.

    `from_first_write`: requests before the first write are left out. How long a page cache fills before it writes back
    is not the block layer's matter.
    """
    seen = [request for request in log if request.time_ns - log[0].time_ns < window_ns]
    if from_first_write:
        seen = seen[next((at for at, request in enumerate(seen) if request.kind == "W"), 0) :]
    kinds = {kind: [request.pages for request in seen if request.kind == kind] for kind in "RW"}
    total = sum(map(sum, kinds.values()))
    regions = [0] * REGIONS
    order: dict[tuple[str, int], int] = {}
    for place, request in enumerate(seen):
        regions[request.page * PAGE_BYTES // REGION_BYTES] += request.pages
        for page in range(request.page, request.page + request.pages):
            order.setdefault((request.kind, page), place)
    means = {kind: sum(sizes) / len(sizes) * PAGE_BYTES / KIB for kind, sizes in kinds.items() if sizes}
    shares = tuple(pages / total for pages in regions)
    return Figures(len(seen), means, sum(kinds["R"]) / total, shares, order)


def tau(one: dict[tuple[str, int], int], other: dict[tuple[str, int], int]) -> float:
    """Kendall's tau-b of two orders over what both have: 1 for equal orders, 0 for unrelated ones, -1 for the reverse.

    Pages of one request are tied. Knight's way of counting: sort by the first order, and count the exchanges that
    sorting by the second takes (Journal of the American Statistical Association 61, 1966, pages 436-439).
    """
    pairs = sorted((one[key], other[key]) for key in one.keys() & other.keys())
    total = len(pairs) * (len(pairs) - 1) // 2
    tied_one = tied(first for first, _ in pairs)
    tied_other = tied(second for _, second in pairs)
    tied_both = tied(pairs)
    exchanges, _ = inversions([second for _, second in pairs])
    agreeing_less_opposed = total - tied_one - tied_other + tied_both - 2 * exchanges
    scale = ((total - tied_one) * (total - tied_other)) ** 0.5
    return agreeing_less_opposed / scale if scale else 1.0


def tied(values: Iterable[object]) -> int:
    """Pairs of equal values."""
    counts: dict[object, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return sum(count * (count - 1) // 2 for count in counts.values())


def inversions(values: list[int]) -> tuple[int, list[int]]:
    """Pairs of which the larger stands first, and the values sorted."""
    if len(values) < 2:  # noqa: PLR2004
        return 0, values
    middle = len(values) // 2
    left_count, left = inversions(values[:middle])
    right_count, right = inversions(values[middle:])
    count, merged, at = left_count + right_count, [], 0
    for value in left:
        while at < len(right) and right[at] < value:
            merged.append(right[at])
            at += 1
        count += at
        merged.append(value)
    return count, merged + right[at:]
