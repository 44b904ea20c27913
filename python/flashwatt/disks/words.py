"""What a description says in words, as names of keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashwatt.disks.description import Description

_SPARE_RANGES = (
    (("tracks", "zone"), "zone_tracks"),
    (("front", "cylinder"), "cylinder_front"),
    (("range",), "cylinders"),
    (("each track",), "track"),
    (("each cylinder",), "cylinder"),
    (("each zone",), "zone"),
    (("disk",), "disk"),
    (("no",), "disk"),
)
"""Words of `sparing`, and the range that they mean: the first that all occur."""

_AHEAD = (
    (("next",), "next_track"),
    (("segment",), "segment"),
    (("cylinder",), "cylinder"),
    (("track",), "track"),
)


def track_order(disk: Description) -> tuple[str, str]:
    """Give the order of tracks, and what stands behind it."""
    key = "order_of_tracks"
    text = _text(disk, key, "ascending")
    if text.startswith(("ascending", "every cylinder from head 0", "each cylinder from head 0")):
        return "ascending", key
    turns = any(word in text for word in ("serpentine", "odd", "altern", "back", "other"))
    if not turns:
        expected = "`every cylinder from head 0 on`, `serpentine in each zone` or `serpentine`"
        raise disk.fault(key, disk.get(key), expected)
    by_zone = "zone" in text and not any(word in text for word in ("not reset", "no reset", "across", "whole disk"))
    return ("serpentine_by_zone" if by_zone else "serpentine"), key


def sparing(disk: Description) -> tuple[str, bool, str]:
    """Give the range of spares, whether slips use them, and what stands behind it."""
    key = "sparing"
    text = _text(disk, key, "none")
    where, _, moves = text.partition(";")
    for words, name in _SPARE_RANGES:
        if all(word in where for word in words):
            to_end = "that follows" in moves or "do not use" in moves or "of the disk" in moves
            uses = name in ("disk", "zone", "zone_tracks") or not to_end
            return name, uses, key
    expected = "where spares are: `at the end of each cylinder`, `zone`, `track`, `range of cylinders`, `of the disk`"
    raise disk.fault(
        key, disk.get(key), f"{expected}, `at the front of each cylinder`, `tracks at the end of each zone`"
    )


def read_ahead(disk: Description) -> tuple[str | None, str]:
    """Give how far a disk reads ahead, if it does, and what stands behind it."""
    key = "buffer.read_ahead"
    text = _text(disk, key, "none")
    for words, name in _AHEAD:
        if all(word in text for word in words):
            return name, key
    if text.startswith("no"):
        return None, key
    expected = "`none`, `to the end of the track`, `cylinder`, `next track`, or `until the segment is full`"
    raise disk.fault(key, disk.get(key), expected)


def reads_ahead_in_streams(disk: Description) -> bool:
    """Say whether a disk reads ahead in streams alone."""
    return "adaptive" in _text(disk, "buffer.read_ahead", "none")


def write_cache(disk: Description) -> tuple[bool, str]:
    """Say whether writes end in the cache, and what stands behind it."""
    key = "buffer.write_cache"
    text = _text(disk, key, "none")
    if text.startswith("no"):
        return False, key
    if "writes" in text:
        return True, text
    raise disk.fault(key, disk.get(key), "`none` or `contiguous writes`")


def _text(disk: Description, key: str, default: str) -> str:
    value = disk.get(key, default)
    if not isinstance(value, str):
        raise disk.fault(key, value, "words")
    return value.lower().strip()
