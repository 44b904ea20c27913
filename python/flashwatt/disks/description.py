"""A disk as a description in JSON: times in ms, counts in sectors, zones with slips and spares."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.files import printable
from flashwatt.base.misspelt import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

TOP = frozenset(
    [
        "disk",
        "rpm",
        "cylinders",
        "heads",
        "sectors",
        "order_of_tracks",
        "sparing",
        "sparing_range_cylinders",
        "head_switch_ms",
        "write_settle_ms",
        "seek_points_cylinders_ms",
        "seek_first_ten_ms",
        "seek_a_sqrt",
        "bus_read_us_per_sector",
        "bus_write_us_per_sector",
        "overheads_ms",
        "read_completion_ms",
        "write_completion_ms",
        "read_start_delay_ms",
        "write_start_delay_ms",
        "write_data_delay_ms",
        "buffer",
        "zones",
        "queue_depth",
    ]
)
"""Keys of a description that count."""

ABOUT = frozenset(
    ["source", "requests", "measured_mean_ms", "disksim_demerit_ms", "disksim_published_demerit_ms_percent"]
)
"""Keys that say where a description comes from and what was measured: nothing of a configuration follows from them."""

BUFFER = frozenset(
    [
        "segments",
        "write_segments",
        "separate_write_segment",
        "segment_sectors",
        "read_fill_ratio",
        "write_fill_ratio",
        "read_ahead",
        "read_ahead_min_sectors",
        "read_ahead_max_sectors",
        "returned_data_may_be_overwritten",
        "read_ahead_after_hits",
        "keeps_sectors_before_the_request",
        "reads_on_arrival",
        "writes_on_arrival",
        "write_cache",
        "reads_hit_written_data",
        "write_stops_read_ahead",
    ]
)

ZONE = frozenset(
    [
        "first_lbn",
        "sectors",
        "first_cylinder",
        "last_cylinder",
        "sectors_per_track",
        "first_sector_offset",
        "unused_front_sectors",
        "track_skew_sectors",
        "cylinder_skew_sectors",
        "spares",
        "slips",
        "defects",
    ]
)

OVERHEADS = tuple(
    f"{kind}_{hit}_after_{last}" for kind in ("read", "write") for hit in ("hit", "miss") for last in ("read", "write")
)
"""Command times: what the command is, what becomes of it, and what the one before was."""


@dataclass(slots=True)
class Description:
    """A description, its file's name for messages, and what was left out on the way here."""

    file: str
    tree: Mapping[str, Any]
    left_out: dict[str, str] = field(default_factory=dict)
    """Names without a counterpart, each with why."""

    def fault(self, key: str, found: object, expected: str) -> _core.FlashwattError:
        """Make the error of a key."""
        return _core.FlashwattError(f"{self.file}: {key}: found {_shown(found)}; expected {expected}")

    def number(self, key: str, value: Any, *, least: float = 0.0) -> float:
        """Give a number of at least `least`."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < float("inf"):
            raise self.fault(key, value, f"a number of at least {least:g}")
        return float(value)

    def count(self, key: str, value: Any, *, least: int = 0) -> int:
        """Give a whole number of at least `least`."""
        number = self.number(key, value, least=least)
        if number != int(number):
            raise self.fault(key, value, "a whole number")
        return int(number)

    def flag(self, key: str, value: Any) -> bool:
        """Give true or false."""
        if value not in (True, False):
            raise self.fault(key, value, "true or false")
        return bool(value)

    def get(self, key: str, default: Any = None) -> Any:
        """Give the value of a dotted key, `default` if it is missing or null."""
        node: Any = self.tree
        for part in key.split("."):
            node = node.get(part) if isinstance(node, dict) else None
        return default if node is None else node

    def need(self, key: str, expected: str) -> Any:
        """Give the value of a dotted key that must be there."""
        value = self.get(key)
        if value is None:
            raise self.fault(key, None, expected)
        return value


def read(path: Path) -> Description:
    """Read a description. Raises `FlashwattError` for what is none."""
    file = printable(path)
    try:
        tree = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise _core.FlashwattError(f"{file}: no JSON: {error}") from None
    except OSError as error:
        raise _core.FlashwattError(f"{file}: {error.strerror}") from None
    found = Description(file, tree if isinstance(tree, dict) else {})
    if not isinstance(tree, dict) or "zones" not in tree:
        raise found.fault("zones", None, "the description of a disk, an object with zones")
    check(found)
    return found


def check(found: Description) -> None:
    """Look for keys that a description does not have."""
    for name, inner, known in _tables(found):
        if not isinstance(inner, dict):
            raise found.fault(name or "the file", inner, "an object")
        for key in inner:
            if key in known or (not name and key in ABOUT):
                continue
            path = f"{name}.{key}" if name else key
            near = [one for one in nearest(key, sorted(known)) if one not in inner]
            if near:
                raise _core.FlashwattError(f"{found.file}: unknown key; found `{path}`; did you mean `{near[0]}`?")
            found.left_out[path] = "no key of a disk"


def _tables(found: Description) -> Iterator[tuple[str, Any, frozenset[str]]]:
    yield "", found.tree, TOP
    yield "buffer", found.get("buffer", {}), BUFFER
    yield "overheads_ms", found.get("overheads_ms", {}), frozenset(OVERHEADS)
    zones = found.need("zones", "a list of zones")
    if not isinstance(zones, list) or not zones:
        raise found.fault("zones", zones, "a list of zones")
    for number, zone in enumerate(zones):
        yield f"zones[{number}]", zone, ZONE


def _shown(found: object) -> str:
    if found is None:
        return "nothing"
    text = found if isinstance(found, str) else json.dumps(found)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004
