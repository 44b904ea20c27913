"""A disk of DiskSim 4 as a description: `disksim_disk` with its `dm_disk`, from parameter files of any kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.files import printable
from flashwatt.disks.description import Description
from flashwatt.disks.disksim_keys import DISK, DISK_KEYS, LAYOUT, LAYOUT_KEYS, MECHANISM, MODEL, REMARKS, SPARING
from flashwatt.disks.grammar import Block, Reader

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path, name: str | None = None) -> Description:
    """Read a disk. Raises `FlashwattError` for files without one, or with several of which none is named."""
    reader = Reader(path)
    blocks = reader.read()
    disks = {block.name: block for block in blocks if block.kind == "disksim_disk"}
    if not disks:
        raise _core.FlashwattError(f"{printable(path)}: no block disksim_disk; expected a disk of DiskSim 4")
    if name is None and len(disks) > 1:
        raise _core.FlashwattError(
            f"{printable(path)}: several disks; expected --disksim-disk {' or '.join(sorted(disks))}"
        )
    if name is not None and name not in disks:
        raise _core.FlashwattError(f"{printable(path)}: no disk {name}; expected one of {', '.join(sorted(disks))}")
    return _Disk(disks[name] if name else next(iter(disks.values())), blocks, path).described()


class _Disk:
    def __init__(self, disk: Block, blocks: list[Block], path: Path) -> None:
        self.disk, self.blocks, self.path = disk, blocks, path
        self.model = self._inner(disk, "Model", "dm_disk")
        self.layout = self._inner(self.model, "Layout Model", "dm_layout_g1")
        self.mechanism = self._inner(self.model, "Mechanical Model", "dm_mech_g1")
        self.left_out: dict[str, str] = {}

    def described(self) -> Description:
        scale = self._of(self.disk, "Time scale for overheads", 1.0)
        zones = self._need(self.layout, "Zones")
        units = self.layout.values.get("Skew units", "sectors")
        tree: dict[str, Any] = {
            "disk": f"{self.disk.name}, of DiskSim",
            "rpm": self._need(self.mechanism, "Rotation speed (in rpms)"),
            "heads": self._need(self.model, "Number of data surfaces"),
            "order_of_tracks": self._choice(self.layout, "LBN-to-PBN mapping scheme", LAYOUT),
            "sparing": self._choice(self.layout, "Sparing scheme used", SPARING),
            "sparing_range_cylinders": self._of(self.layout, "Rangesize for sparing", 1),
            "head_switch_ms": self._of(self.mechanism, "Head switch time", 0.0),
            "write_settle_ms": self._of(self.mechanism, "Add. write settling delay", 0.0),
            "bus_read_us_per_sector": self._bus_ms("Read") * 1e3,
            "bus_write_us_per_sector": self._bus_ms("Write") * 1e3,
            "queue_depth": max(1, self._of(self.disk, "Max queue length", 1)),
            "overheads_ms": self._overheads(scale),
            "read_completion_ms": self._of(self.disk, "Read completion overhead", 0.0) * scale,
            "read_start_delay_ms": self._of(self.disk, "First reselect overhead", 0.0) * scale,
            **self._writes(scale),
            "buffer": self._buffer(),
            "zones": [self._zone(zone, units) for zone in zones],
            **self._seek(),
        }
        self._list_left_out()
        return Description(printable(self.path), tree, self.left_out)

    def _inner(self, block: Block, key: str, kind: str) -> Block:
        inner = block.values.get(key)
        if not isinstance(inner, Block):
            raise _core.FlashwattError(f"{block.place(key)}: {key}: {_found(inner)}; expected a block {kind}")
        if inner.kind != kind:
            raise _core.FlashwattError(f"{inner.file}:{inner.line}: {key}: found {inner.kind}; expected {kind}")
        return inner

    def _need(self, block: Block, key: str) -> Any:
        if key not in block.values:
            raise _core.FlashwattError(f"{block.file}:{block.line}: {block.kind}: no `{key}`; expected one")
        return block.values[key]

    def _of(self, block: Block, key: str, default: Any) -> Any:
        value = block.values.get(key, default)
        if isinstance(value, str | list | Block):
            raise _core.FlashwattError(f"{block.place(key)}: {key}: {_found(value)}; expected a number")
        return value

    def _choice(self, block: Block, key: str, names: tuple[str, ...]) -> str:
        value = self._of(block, key, 0)
        if not isinstance(value, int) or not 0 <= value < len(names):
            raise _core.FlashwattError(f"{block.place(key)}: {key}: {_found(value)}; expected 0 to {len(names) - 1}")
        return names[value]

    def _bus_ms(self, way: str) -> float:
        """Give the time of a sector: the longest of disk, buses and controllers."""
        times = [self._of(self.disk, "Bulk sector transfer time", 0.0)]
        for block in self.blocks:
            if block.kind == "disksim_bus":
                times.append(self._of(block, f"{way} block transfer time", 0.0))
            elif block.kind == "disksim_ctlr":
                times.append(
                    self._of(block, "Bulk sector transfer time", 0.0) * self._of(block, "Scale for delays", 1.0)
                )
        return float(max(times))

    def _sum(self, *keys: str) -> float:
        """Add times of the disk; those that it does not have are 0."""
        return float(sum(self._of(self.disk, key, 0.0) for key in keys))

    def _overheads(self, scale: float) -> dict[str, float]:
        """Give the times of commands. With an extra disconnect the arm of a write starts after others instead."""
        every = ("Per-request overhead time", "Data preparation overhead")
        names = {
            f"{kind}_{hit}_after_{last}": f"{kind.capitalize()} {hit} over. after {last}"
            for kind in ("read", "write")
            for hit in ("hit", "miss")
            for last in ("read", "write")
        }
        found = {name: self._sum(key, *every) * scale for name, key in names.items()}
        if self._of(self.disk, "Extra write disconnect", 0):
            extra = self._sum("Extradisc command overhead", "Extradisc seek delta") * scale
            found |= {name: extra for name in names if name.startswith("write")}
        return found

    def _writes(self, scale: float) -> dict[str, float]:
        """Give how a write gets hold of the bus again: at its end, and with an extra disconnect before its data."""
        ends = "Write completion overhead"
        if not self._of(self.disk, "Extra write disconnect", 0):
            return {"write_completion_ms": self._sum(ends, "First reselect overhead") * scale}
        names = ("Extradisc disconnect overhead", "Extradisc inter-disconnect delay", "First reselect overhead")
        waits = max(self._sum(*names) - self._sum("Extradisc seek delta"), 0.0)
        ends_ms = self._sum(ends, "Other reselect overhead") * scale
        return {"write_completion_ms": ends_ms, "write_data_delay_ms": waits * scale}

    def _buffer(self) -> dict[str, Any]:
        disk = self.disk
        caches = self._of(disk, "Enable caching in buffer", 1)
        size = self._of(disk, "Segment size (in blks)", 0)
        return {
            "segments": self._of(disk, "Number of buffer segments", 0) if caches else 0,
            "write_segments": self._of(disk, "Maximum number of write segments", 1),
            "separate_write_segment": bool(self._of(disk, "Use separate write segment", 0)),
            "segment_sectors": size,
            "read_fill_ratio": self._of(disk, "High (read) water mark", 0.0),
            "write_fill_ratio": self._of(disk, "Low (write) water mark", 0.0),
            "read_ahead": self._choice(disk, "Buffer continuous read", DISK["Buffer continuous read"]),
            "read_ahead_min_sectors": self._of(disk, "Minimum read-ahead (blks)", 0),
            "read_ahead_max_sectors": self._of(disk, "Maximum read-ahead (blks)", 0) or size,
            "returned_data_may_be_overwritten": self._of(disk, "Read-ahead over requested", 1),
            "read_ahead_after_hits": bool(self._of(disk, "Read-ahead on idle hit", 1)),
            "keeps_sectors_before_the_request": bool(self._of(disk, "Read any free blocks", 0)),
            "reads_on_arrival": bool(self._of(disk, "Immediate buffer read", 0)),
            "writes_on_arrival": bool(self._of(disk, "Immediate buffer write", 0)),
            "write_cache": self._choice(disk, "Fast write level", DISK["Fast write level"]),
            "reads_hit_written_data": bool(self._of(disk, "Allow read hits on write data", 0)),
            "write_stops_read_ahead": bool(self._of(disk, "Write hit stop prefetch", 1)),
        }

    def _zone(self, zone: Any, units: str) -> dict[str, Any]:
        if not isinstance(zone, Block) or zone.kind != "dm_layout_g1_zone":
            raise _core.FlashwattError(
                f"{self.layout.place('Zones')}: Zones: {_found(zone)}; expected dm_layout_g1_zone"
            )
        per_track = self._need(zone, "Blocks per track")
        units = zone.values.get("Skew units", units)

        def sectors(key: str) -> float:
            value = self._of(zone, key, 0)
            return float(value * per_track) if units == "revolutions" else int(value)

        defects = zone.values.get("defects", [])
        return {
            "first_cylinder": self._need(zone, "First cylinder number"),
            "last_cylinder": self._need(zone, "Last cylinder number"),
            "sectors_per_track": per_track,
            "first_sector_offset": sectors("Offset of first block"),
            "unused_front_sectors": self._of(zone, "Empty space at zone front", 0),
            "track_skew_sectors": sectors("Skew for track switch"),
            "cylinder_skew_sectors": sectors("Skew for cylinder switch"),
            "spares": self._of(zone, "Number of spares", 0),
            "slips": zone.values.get("slips", []),
            "defects": [list(pair) for pair in zip(defects[::2], defects[1::2], strict=False)],
        }

    def _seek(self) -> dict[str, Any]:
        """Give the seek curve in the form that its type says."""
        kind = self._need(self.mechanism, "Seek type")
        if kind == "extracted":
            return {"seek_points_cylinders_ms": self._points()}
        if kind in ("hpl", "hplplus10"):
            curve = self._need(self.mechanism, "HPL seek equation values")
            ten = self._need(self.mechanism, "First ten seek times") if kind == "hplplus10" else None
            return {"seek_first_ten_ms": ten, "seek_a_sqrt": curve if kind == "hpl" else curve[:5]}
        if kind == "constant":
            ms = self._of(self.mechanism, "Constant seek time", self._of(self.mechanism, "Average seek time", 0.0))
            return {"seek_points_cylinders_ms": [[1, ms], [2, ms]]}
        return {"seek_points_cylinders_ms": self._three(kind)}

    def _three(self, kind: str) -> list[list[float]]:
        """Give points of a curve through three times: straight, or a + b √(d - 1) + c (d - 1)."""
        if kind not in ("curve", "linear"):
            expected = "extracted, hpl, hplplus10, curve, linear or constant"
            raise _core.FlashwattError(
                f"{self.mechanism.place('Seek type')}: Seek type: found {kind}; expected {expected}"
            )
        names = ("Single cylinder seek time", "Average seek time", "Full strobe seek time")
        one, mean, full = (float(self._need(self.mechanism, name)) for name in names)
        cylinders = int(self._need(self.model, "Number of cylinders"))
        third = max(cylinders // 3, 2)
        if kind == "linear":
            return [[1, one], [third, mean], [max(cylinders - 1, third + 1), full]]
        root = (-10 * one + 15 * mean - 5 * full) / (3 * cylinders**0.5)
        rate = (7 * one - 15 * mean + 8 * full) / (3 * cylinders)
        step = max(1, cylinders // 1_000)
        distances = [*range(1, 200), *range(200, cylinders, step)]
        return [[at, max(0.0, one + root * (at - 1) ** 0.5 + rate * (at - 1))] for at in distances if at < cylinders]

    def _points(self) -> list[list[float]]:
        name = self._need(self.mechanism, "Full seek curve")
        path = self.path.parent / str(name)
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError as error:
            place = self.mechanism.place("Full seek curve")
            raise _core.FlashwattError(f"{place}: Full seek curve: {name}: {error.strerror}") from None
        found = []
        for number, line in enumerate(lines, 1):
            if not line.strip() or ":" in line:
                continue
            cylinders, _, ms = line.partition(",")
            try:
                found.append([int(cylinders), float(ms)])
            except ValueError:
                raise _core.FlashwattError(
                    f"{printable(path)}:{number}: found `{line.strip()}`; expected cylinders, ms"
                ) from None
        return list({point[0]: list(point) for point in found}.values())

    def _list_left_out(self) -> None:
        """List what has no counterpart, where it is not switched off, and what is no key of DiskSim 4."""
        blocks = ((self.disk, DISK_KEYS), (self.model, MODEL), (self.mechanism, MECHANISM), (self.layout, LAYOUT_KEYS))
        for block, known in blocks:
            for key, value in block.values.items():
                neutral, why = REMARKS.get(key, (value, ""))
                if value != neutral:
                    self.left_out[f"{key} = {_shown(value)}"] = why
                elif key not in known and key not in REMARKS:
                    self.left_out[key] = f"no key of {block.kind} that is known here"


def _shown(value: Any) -> str:
    return f"a block {value.kind}" if isinstance(value, Block) else str(value)


def _found(value: Any) -> str:
    return "nothing is there" if value is None else f"found {_shown(value)}"
