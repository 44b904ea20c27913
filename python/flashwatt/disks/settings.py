"""From the description of a disk to the keys of `[hdd]`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashwatt.disks import words
from flashwatt.disks.description import OVERHEADS
from flashwatt.disks.seek import points

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashwatt.disks.description import Description

SECTOR_BYTES = 512
_FASTEST_MB_S = 1e6


@dataclass(frozen=True, slots=True)
class Line:
    """A key under `[hdd]`, its value, and what stands behind it."""

    key: str
    value: Any
    said: str


def lines(disk: Description) -> list[Line]:
    """Give every key that follows from a description."""
    return [*_geometry(disk), *_seek(disk), *_interface(disk), *_buffer(disk), *_write_cache(disk)]


def _geometry(disk: Description) -> Iterator[Line]:
    order, order_said = words.track_order(disk)
    spare_range, spares_used, sparing_said = words.sparing(disk)
    yield Line("geometry.rpm", disk.count("rpm", disk.need("rpm", "revolutions per minute"), least=1), "rpm")
    yield Line("geometry.heads", disk.count("heads", disk.need("heads", "the number of heads"), least=1), "heads")
    yield Line("geometry.track_order", order, order_said)
    yield Line("geometry.spare_range", spare_range, sparing_said)
    if spare_range == "cylinders":
        cylinders = disk.count("sparing_range_cylinders", disk.get("sparing_range_cylinders", 1), least=1)
        yield Line("geometry.sparing_cylinders", cylinders, "sparing_range_cylinders")
    if not spares_used:
        yield Line("geometry.slips_use_spares", False, sparing_said)
    zones = [_zone(disk, f"zones[{number}]", zone) for number, zone in enumerate(disk.get("zones"))]
    yield Line("geometry.layout", zones, "zones")


def _zone(disk: Description, at: str, zone: dict[str, Any]) -> dict[str, Any]:
    def count(key: str, default: int | None = 0, *, least: int = 0) -> int:
        value = zone.get(key)
        return disk.count(f"{at}.{key}", default if value is None else value, least=least)

    first, last = count("first_cylinder", None), count("last_cylinder", None)
    if last < first:
        raise disk.fault(f"{at}.last_cylinder", last, f"at least first_cylinder, {first}")
    per_track = count("sectors_per_track", None, least=1)
    found: dict[str, Any] = {"first_cylinder": first, "cylinders": last - first + 1, "sectors_per_track": per_track}
    if zone.get("sectors") is not None:
        found["sectors"] = count("sectors", least=1)
    skews = ("first_sector_offset", "track_skew_sectors", "cylinder_skew_sectors")
    for key, name in zip(skews, ("offset_sectors", *skews[1:]), strict=True):
        sectors = disk.number(f"{at}.{key}", zone.get(key) or 0.0, least=-1e9) % per_track
        found[name] = int(sectors) if sectors == int(sectors) else sectors
    if reserved := count("unused_front_sectors"):
        found["reserved_sectors"] = reserved
    if spares := count("spares"):
        found["spares"] = spares
    for key in ("slips", "defects"):
        if zone.get(key):
            found[key] = _places(disk, f"{at}.{key}", zone[key])
    return found


def _places(disk: Description, key: str, places: Any) -> list[Any]:
    """Check a list of places, or of pairs of them."""
    if not isinstance(places, list):
        raise disk.fault(key, places, "a list of places")
    return [_places(disk, key, one) if isinstance(one, list) else disk.count(key, one) for one in places]


def _seek(disk: Description) -> Iterator[Line]:
    found, said = points(disk)
    yield Line("seek.points", found, said)
    settle = disk.number("write_settle_ms", disk.get("write_settle_ms", 0.0), least=-1e6)
    if settle < 0:
        said = "write_settle_ms is negative: the times are those of writes, and a read takes that much less"
        yield Line("seek.points_of", "writes", said)
    yield Line("seek.write_settle_ns", _ns(abs(settle)), "write_settle_ms")
    switch = disk.number("head_switch_ms", disk.get("head_switch_ms", 0.0))
    yield Line("seek.head_switch_ns", _ns(switch), "head_switch_ms")


def _interface(disk: Description) -> Iterator[Line]:
    for way in ("read", "write"):
        key = f"bus_{way}_us_per_sector"
        us = disk.number(key, disk.need(key, "the time of a sector on the bus in µs"))
        said = key if us else f"{key} is 0: as fast as an interface can be"
        yield Line(f"interface.{way}_rate_mb_s", min(SECTOR_BYTES / us, _FASTEST_MB_S) if us else _FASTEST_MB_S, said)
    yield Line("interface.queue_depth", disk.count("queue_depth", disk.get("queue_depth", 1), least=1), "queue_depth")
    for name in OVERHEADS:
        time = disk.number(f"overheads_ms.{name}", disk.get(f"overheads_ms.{name}", 0.0))
        yield Line(f"interface.commands.{name}_ns", _ns(time), f"overheads_ms.{name}")
    for way in ("read", "write"):
        key = f"{way}_completion_ms"
        yield Line(f"interface.{way}_completion_ns", _ns(disk.number(key, disk.get(key, 0.0))), key)
    for way in ("read", "write"):
        key = f"buffer.{way}_fill_ratio"
        share = disk.number(key, disk.get(key, 0.0))
        if share > 1:
            raise disk.fault(key, share, "a share of 0 to 1")
        yield Line(f"interface.{way}_fill_fraction", share, key)
    yield Line("interface.write_start", "overlapped", "data of a write moves while the arm does")
    for key in ("read_start_delay", "write_start_delay", "write_data_delay"):
        if delay := disk.number(f"{key}_ms", disk.get(f"{key}_ms", 0.0)):
            yield Line(f"interface.{key}_ns", _ns(delay), f"{key}_ms")


def _buffer(disk: Description) -> Iterator[Line]:
    segments = disk.count("buffer.segments", disk.get("buffer.segments", 0))
    separate = disk.flag("buffer.separate_write_segment", disk.get("buffer.separate_write_segment", False))
    for_reads = segments - 1 if separate and segments > 0 else segments
    said = "buffer.segments, one of them for writes alone" if separate else "buffer.segments"
    yield Line("buffer.segments", for_reads, said)
    if for_reads:
        yield from _segments(disk, holds_writes=not separate)
    for way in ("reads", "writes"):
        key = f"buffer.{way}_on_arrival"
        yield Line(f"buffer.{way}_on_arrival", disk.flag(key, disk.get(key, False)), key)


def _segments(disk: Description, *, holds_writes: bool) -> Iterator[Line]:
    size = _segment(disk)
    yield Line("buffer.segment_bytes", size * SECTOR_BYTES, "buffer.segment_sectors")
    kind, said = words.read_ahead(disk)
    most = disk.count("buffer.read_ahead_max_sectors", disk.get("buffer.read_ahead_max_sectors", 0)) or size
    least = disk.count("buffer.read_ahead_min_sectors", disk.get("buffer.read_ahead_min_sectors", 0))
    ahead = 0 if kind is None else min(most, size)
    if kind is None:
        yield Line("buffer.read_ahead_bytes", 0, said)
    else:
        yield Line("buffer.read_ahead_to", kind, said)
    if words.reads_ahead_in_streams(disk):
        yield Line("buffer.read_ahead_in_streams", True, said)
    if kind not in (None, "next_track"):
        yield Line("buffer.read_ahead_bytes", ahead * SECTOR_BYTES, "buffer.read_ahead_max_sectors")
    if least:
        yield Line("buffer.read_ahead_least_bytes", min(least, ahead) * SECTOR_BYTES, "buffer.read_ahead_min_sectors")
    key = "buffer.returned_data_may_be_overwritten"
    returned = disk.get(key, 1)
    names = {-1: "dropped", 0: "kept", 1: "overwritten"}
    if returned not in names:
        raise disk.fault(key, returned, "-1 (dropped), 0 (kept) or 1 (overwritten)")
    if kind == "next_track" and names[returned] == "kept":
        yield Line(
            "buffer.returned", "overwritten", f"{key} = {returned}: by the end of a track that is longer than a segment"
        )
    else:
        yield Line("buffer.returned", names[returned], key)
    flags = {
        "read_ahead_after_hits": ("buffer.read_ahead_after_hits", True),
        "keeps_passing_sectors": ("buffer.keeps_sectors_before_the_request", False),
        "holds_writes": ("buffer.reads_hit_written_data", False),
        "writes_stop_read_ahead": ("buffer.write_stops_read_ahead", True),
    }
    for name, (key, default) in flags.items():
        value = disk.flag(key, disk.get(key, default))
        if name == "holds_writes" and value and not holds_writes:
            yield Line("buffer.holds_writes", False, "buffer.separate_write_segment: reads do not find what is there")
        else:
            yield Line(f"buffer.{name}", value, key)


def _segment(disk: Description) -> int:
    key = "buffer.segment_sectors"
    return disk.count(key, disk.need(key, "the sectors of a segment"), least=1)


def _write_cache(disk: Description) -> Iterator[Line]:
    caches, said = words.write_cache(disk)
    if not caches:
        yield Line("write_cache.bytes", 0, said)
        return
    separate = disk.get("buffer.separate_write_segment", False)
    key = "buffer.write_segments"
    segments = 1 if separate else disk.count(key, disk.get(key, 1), least=1)
    yield Line("write_cache.bytes", segments * _segment(disk) * SECTOR_BYTES, f"{key} × buffer.segment_sectors")
    yield Line("write_cache.extents", segments, f"{key}: a run of sectors in each; buffer.write_cache = {said}")
    yield Line("write_cache.goes_first", True, "what is in the cache is written before anything else is served")


def _ns(ms: float) -> int:
    return round(ms * 1e6)
