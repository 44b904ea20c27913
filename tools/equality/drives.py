"""Drawn drives: SSDs of every layer and policy, disks, arrays, and the block layer before them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equality.draw import Draw

LEVELS = ("raid0", "raid1", "raid5", "raid10")
"""The layouts of an array."""
COLLECTING = ("page", "dftl", "rftl", "tpftl")
"""Layers that collect blocks, and so have a victim policy."""
STRIPED = ("bast", "bast_star", "nftl")
"""Layers whose blocks may have stripes of pages."""
_CACHED: dict[str, tuple[Any, ...]] = {
    "cmt_entries": (64, 200, 1000),
    "fetch_on_write": (False,),
    "gc_channels": (1, 2),
    "allocation": ("static",),
    "frontiers": ("shared",),
}
_LOG: dict[str, tuple[Any, ...]] = {"log_fraction": (0.08, 0.15)}
LAYERS: dict[str, dict[str, tuple[Any, ...]]] = {
    "page": {"allocation": ("static",), "frontiers": ("shared",), "map_unit_bytes": (1024, 2048)},
    "dftl": {**_CACHED, "cache": ("lru",), "protected_fraction": (0.3,), "evict_page": (False,)},
    "rftl": {**_CACHED, "replicas": (0, 2), "choose": ("shortest_queue", "idle_or_original"), "busy": ("channel",)},
    "tpftl": {
        **_CACHED,
        **dict.fromkeys(("request_prefetch", "selective_prefetch", "batch_update", "clean_first"), (False,)),
    },
    "nftl": {"replacement_fraction": (0.1, 0.2), "probe": ("one", "none")},
    "bast": {**_LOG, "log_limit": (0.6,), "partial_merges": (False,), "replacement": ("compact",)},
    "bast_star": {**_LOG, "log_limit": (0.5,), "partial_merges": (False,)},
    "fast": {**_LOG, "out_of_order": ("merge",)},
    "last": {**_LOG, "sequential_threshold_bytes": (4096, 32_768), "hot_window_pages": (0, 50)},
    "superblock": {**_LOG, "merges_at_once": (2,), "rows_in_memory": (4,), "idle_merge_start_ns": (5_000_000,)},
}
"""Options of the layers; a new one runs with its defaults until it has some here."""
POLICIES: dict[str, dict[str, tuple[Any, ...]]] = {"d_choices": {"d": (2, 5)}, "window": {"w": (0.2, 0.6)}}
SCHEDULERS: dict[str, dict[str, tuple[Any, ...]]] = {
    "mq_deadline": {"read_expire_ms": (1, 50), "writes_starved": (1, 4), "fifo_batch": (1, 4), "front_merges": (0,)},
    "kyber": {"read_lat_ms": (0.1, 1), "write_depth": (2, 8), "read_batch": (2,)},
    "bfq": {"slice_idle_ms": (0, 1), "low_latency": (0,), "max_budget": (64,), "strict_guarantees": (1,)},
    "deadline": {"write_expire_ms": (5, 100), "fifo_batch": (1, 4), "writes_starved": (1,)},
    "anticipatory": {"antic_expire_ms": (1, 3), "read_batch_expire_ms": (20,)},
    "cfq": {"quantum": (1, 8), "slice_idle_ms": (0, 2), "low_latency": (0,), "slice_sync_ms": (20,)},
    "cfq_el6": {"quantum": (2,), "slice_idle_ms": (0, 2), "low_latency": (0,), "slice_sync_ms": (20,)},
    "pardispatcher": {"region_bytes": (1 << 20, 8 << 20), "read_batch": (2,), "wrap": (1,)},
}
_NAND: dict[str, tuple[Any, ...]] = {
    "device.nand.copyback": (True,),
    "device.nand.program_order": ("any",),
    "device.nand.rated_cycles": (500, 3000),
    "device.block_stripe": ("page",),
    "device.timing.channel_switch_ns": (5000, 30_000),
    "device.timing.command_ns": (0, 400),
}
_LINK: dict[str, tuple[Any, ...]] = {
    "device.host_link.bandwidth_mb_s": (123.456, 500, 3000),
    "device.host_link.command_ns": (500, 12_000),
    "device.host_link.queue_depth": (1, 2, 8, 64),
}
_CONTROLLER: dict[str, tuple[Any, ...]] = {
    "controller.bus_order": ("command_first",),
    "energy.mode": ("terminal",),
    "energy.idle_accounting": ("flash_off", "busy_only", "busy_or_loading"),
    "energy.dram_rule": ("with_controller", "per_op"),
    "energy.nand.program_ma": (17.5, 42),
    "energy.nand.transfer_ma": ("operation", 9),
}
_DEPTH = "host.queue_depth"
_HOST: dict[str, tuple[Any, ...]] = {
    _DEPTH: (1, 4, 8),
    "host.nr_requests": (8, 64, 128),
    "host.max_request_bytes": (16_384, 131_072),
    "host.merges": ("none",),
    "host.plug_requests": (0, 4),
    "host.flush": ("drain", "pass"),
    "host.rotational": (True, False),
    "host.async_writes": (True,),
    "host.partition_offset_sectors": (63,),
}
_DISK: dict[str, tuple[Any, ...]] = {
    "hdd.scheduling.order": ("fifo",),
    "hdd.scheduling.age_max_ns": (20_000_000,),
    "hdd.interface.queue_depth": (1, 4),
    "hdd.buffer.segments": (0, 4, 16),
    "hdd.buffer.read_ahead_bytes": (0, 65_536),
    "hdd.write_cache.bytes": (0, 1 << 20, 4 << 20),
    "hdd.write_cache.age_max_ns": (50_000_000,),
    "hdd.standby.after_ns": (400_000_000, 2_000_000_000),
}


def ssd(draw: Draw, presets: list[str], *, size: str = "small") -> dict[str, Any]:
    """Draw an SSD of a few hundred blocks, or one with room for a file system ("big") or a stand-in ("huge")."""
    layer = draw.name("ftls")
    options = draw.some(LAYERS.get(layer, {}))
    blocks, pages = {"big": (160, 64), "huge": (512, 256)}.get(size, (draw.one(32, 48, 64), draw.one(16, 32)))
    settings: dict[str, Any] = {
        "device.preset": draw.name("presets", presets),
        "device.channels": draw.one(2, 4) if size == "small" else 4,
        "device.ways": draw.one(1, 2),
        "device.planes": draw.one(1, 1, 2),
        "device.blocks_per_plane": blocks,
        "device.pages_per_block": pages,
        "device.op_ratio": draw.one(0.4, 0.5, 0.8),
        "device.page_bytes": draw.one(2048, 4096, 4096, 8192) if size == "small" else 4096,
        f"ftl.{layer}": options,
        "wear.policy": draw.name("wear"),
        "controller.policy": draw.name("dispatch"),
        **draw.some(_NAND, 0.15),
        **draw.some(_LINK, 0.3),
        **draw.some(_CONTROLLER, 0.15),
        "write_buffer.bytes": 0,
    }
    _reconcile(settings, layer, options)
    if layer in COLLECTING:
        if layer != "page":
            options.setdefault("cmt_entries", draw.one(128, 512))
        policy = draw.name("gc")
        settings[f"gc.policy.{policy}"] = draw.some(POLICIES.get(policy, {}), 0.7)
        settings |= draw.some({"gc.preemptible": (False,), "gc.low_watermark_blocks": (4,)}, 0.15)
    if settings["wear.policy"] != "none":
        settings |= {"wear.min_gap": draw.one(1, 2, 8), "wear.ratio": draw.one(1.0, 1.05, 1.15)}
    if draw.chance(0.4):
        settings |= buffer(draw)
    return budgeted(draw, settings) if draw.chance(0.12) else settings


def _reconcile(settings: dict[str, Any], layer: str, options: dict[str, Any]) -> None:
    """Leave out what has no effect beside something else: a configuration that says it is refused."""
    if layer not in STRIPED:
        settings.pop("device.block_stripe", None)
    if options.get("map_unit_bytes", 0) >= settings["device.page_bytes"]:
        del options["map_unit_bytes"]
    if options.get("replicas") == 2:  # noqa: PLR2004
        settings["device.channels"] = 4
    if options.get("replicas") == 0 or options.get("choose") == "shortest_queue":
        options.pop("busy", None)
    if options.get("replicas") == 0:
        options.pop("choose", None)
    if options.get("cache") == "lru":
        options.pop("protected_fraction", None)


def budgeted(draw: Draw, settings: dict[str, Any]) -> dict[str, Any]:
    """Give the drive a power budget for a few dies of the preset `limit`, whose currents it then has."""
    kept = {key: value for key, value in settings.items() if not key.startswith("energy.")}
    budget = draw.one({"controller.power_budget_ma": draw.one(685, 760)}, {"controller.power_budget_w": 2.3})
    return {**kept, "device.preset": "limit", **budget}


def buffer(draw: Draw) -> dict[str, Any]:
    """Draw a write buffer of a few pages."""
    protection = draw.one("volatile", "volatile", "capacitors", "journal")
    return {
        "write_buffer.bytes": 8192 * draw.whole(2, 24),
        "write_buffer.destage_fraction": draw.one(0.0, 0.5, 1.0),
        "write_buffer.idle_ns": draw.one(1000, 1_000_000, 20_000_000),
        "write_buffer.protection": protection,
        **({"write_buffer.capacitor_max_v": 12} if protection == "capacitors" else {}),
    }


def recovery(draw: Draw, settings: dict[str, Any]) -> dict[str, Any]:
    """Draw what helps this drive after a power cut."""
    found: dict[str, Any] = {}
    if draw.chance(0.3):
        pairs = ("backup", "hold_ack")
        found["device.nand.paired_pages"] = (
            draw.one(*pairs)
            if settings.get("write_buffer.protection") == "journal"
            else draw.one(*pairs, "unprotected")
        )
        found["device.nand.program_order"] = "ascending"
        found["device.timing.program_upper_ns"] = 5_000_000
    if draw.chance(0.3):
        found["recovery.trim_records"] = "page"
    often = 0.8 if _has_map_on_flash(settings) else 0.4
    if "device.nand.paired_pages" not in found and draw.chance(often):
        found["recovery.checkpoint_interval_bytes"] = draw.one(1 << 18, 1 << 20)
    if _has_map_on_flash(settings):
        found["recovery.map_load_fraction"] = draw.one(0.0, 0.0, 0.001, 0.002)
        if "recovery.checkpoint_interval_bytes" in found:
            found["recovery.die_registers"] = draw.one("lost", "kept")
    return found


def _has_map_on_flash(settings: dict[str, Any]) -> bool:
    """Whether the layer of these settings has its map on flash."""
    return any(f"ftl.{name}" in settings for name in COLLECTING if name != "page")


def disk(draw: Draw, presets: list[str]) -> dict[str, Any]:
    """Draw a disk."""
    settings = {"device.preset": draw.name("presets", presets), **draw.some(_DISK, 0.3)}
    if "hdd.scheduling.order" in settings:
        settings.pop("hdd.scheduling.age_max_ns", None)
    if settings.get("hdd.buffer.segments") == 0:
        settings.pop("hdd.buffer.read_ahead_bytes", None)
    if settings.get("hdd.write_cache.bytes") == 0:
        settings.pop("hdd.write_cache.age_max_ns", None)
    return settings


def array(draw: Draw, *, spares: bool = True) -> dict[str, Any]:
    """Draw an array's layout, and whether a member has failed or, with `spares`, is being rebuilt."""
    level = draw.name("levels")
    settings: dict[str, Any] = {
        "array.level": level,
        "array.members": {"raid1": draw.one(2, 3), "raid5": draw.one(3, 4), "raid10": 4}.get(level, draw.one(2, 3)),
        "array.chunk_bytes": draw.one(4096, 16_384, 65_536),
    }
    if level != "raid0" and draw.chance(0.6):
        settings["array.failed_member"] = draw.whole(0, 1)
        if spares and draw.chance(0.6):
            settings["array.rebuild_mb_s"] = draw.one(5, 50, 400)
            settings["array.rebuild_depth"] = draw.one(1, 8)
            settings["array.finish_rebuild"] = draw.chance(0.5)
            settings["array.spare"] = "limit"
    return settings


def host(draw: Draw, settings: dict[str, Any]) -> dict[str, Any]:
    """Draw a block layer and its scheduler before this drive."""
    scheduler = draw.name("schedulers")
    found = {
        f"host.scheduler.{scheduler}": draw.some(SCHEDULERS.get(scheduler, {}), 0.5),
        **draw.some(_HOST, 0.2),
    }
    if scheduler == "none":
        found.pop("host.nr_requests", None)
    if scheduler not in ("bfq", "cfq", "cfq_el6"):
        found.pop("host.rotational", None)
    if "device.channels" not in settings or settings.get("device.host_link.queue_depth", 8) < found.get(_DEPTH, 0):
        found.pop(_DEPTH, None)
    return found
