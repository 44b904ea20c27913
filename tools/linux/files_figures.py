"""Figures of what a file system sends to its disk; the same code for every side."""

import csv
import lzma
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

KIB = 1024
MIB = 1 << 20
SIZES = 6
"""As many of the most common sizes are kept."""
MARK_BYTES = 512
"""A read of 512 bytes is a mark of guest_files.sh: its sector is the number of the phase that ends there. mkfs and the
kernel read more at a time, or the first sector only."""
PHASES = {1: "start", 2: "mkfs", 3: "mount", 4: "layout", 5: "run", 6: "sync", 7: "look", 8: "umount"}
"""What comes before each mark."""


class Sent(NamedTuple):
    """A request to the disk."""

    time_ns: int
    kind: str
    """R, W, F (flush), T (discard), Z (zeroes)."""
    offset_bytes: int
    bytes: int
    journal: str = ""
    """Blocks that begin with the magic of ext3's journal, as files_journal.py writes them."""


Classify = Callable[[int, int], dict[str, int]]
"""What is at an offset and a length on the disk: bytes by kind. `data` is the content of files."""


def read_log(path: Path) -> list[Sent]:
    """A log of vhost_disk.py; plain or compressed."""
    with lzma.open(path, "rt") if path.suffix == ".xz" else path.open() as file:
        return [Sent(int(row[0]), row[1], int(row[2]), int(row[3]), *row[4:]) for row in csv.reader(file)]


def read_request_log(path: Path) -> list[Sent]:
    """A log that `flashwatt run --request-log` wrote, in the order of coming."""
    letters = {"read": "R", "write": "W", "flush": "F", "trim": "T"}
    with path.open() as file:
        rows = [
            Sent(int(row["arrival_ns"]), letters[row["kind"]], int(row["offset_bytes"]), int(row["bytes"]))
            for row in csv.DictReader(file)
        ]
    return sorted(rows, key=lambda sent: sent.time_ns)


def mark_of(sent: Sent) -> int | None:
    """The number of a mark; none for a request of the file system."""
    sector = sent.offset_bytes // MARK_BYTES
    return sector if sent.kind == "R" and sent.bytes == MARK_BYTES and sector in PHASES else None


def phases(log: Iterable[Sent]) -> dict[str, list[Sent]]:
    """The requests of each phase."""
    found: dict[str, list[Sent]] = {name: [] for name in PHASES.values()}
    waiting: list[Sent] = []
    for sent in log:
        mark = mark_of(sent)
        if mark is None:
            waiting.append(sent)
            continue
        found[PHASES[mark]] += waiting
        waiting = []
    return found


def figures(log: Sequence[Sent], classify: Classify | None = None) -> dict[str, Any]:
    """Counts, sizes and shares. A write is sequential if it begins where the last one ended."""
    by_kind = {kind: [sent for sent in log if sent.kind == kind] for kind in "RWFTZ"}
    writes, reads = by_kind["W"], by_kind["R"]
    following = sum(after.offset_bytes == before.offset_bytes + before.bytes for before, after in pairwise(writes))
    found = {
        "writes": len(writes),
        "write_bytes": sum(sent.bytes for sent in writes),
        "mean_write_kib": mean_kib(writes),
        "common_writes_kib": common_kib(writes),
        "sequential_share": following / len(writes) if writes else 0.0,
        "reads": len(reads),
        "read_bytes": sum(sent.bytes for sent in reads),
        "mean_read_kib": mean_kib(reads),
        "common_reads_kib": common_kib(reads),
        "flushes": len(by_kind["F"]),
        "discards": len(by_kind["T"]),
        "duration_s": (log[-1].time_ns - log[0].time_ns) / 1e9 if log else 0.0,
    }
    if classify and writes:
        found |= of_classes(writes, classify)
    return found


def of_classes(writes: Iterable[Sent], classify: Classify) -> dict[str, Any]:
    """Written bytes by kind, and the share of all but the content of files."""
    classes: Counter[str] = Counter()
    for sent in writes:
        classes.update(classify(sent.offset_bytes, sent.bytes))
    total = sum(classes.values())
    return {"written": dict(classes.most_common()), "metadata_share": 1 - classes["data"] / total}


def common_kib(requests: Sequence[Sent]) -> list[list[int]]:
    """The most common sizes, and how often each comes."""
    sizes = Counter(sent.bytes // KIB for sent in requests)
    return [[size, count] for size, count in sizes.most_common(SIZES)]


def mean_kib(requests: Sequence[Sent]) -> float:
    """Mean size."""
    return sum(sent.bytes for sent in requests) / len(requests) / KIB if requests else 0.0
