"""The configuration of a report in the keys and units of a configuration file.

A report's `config` is the engine's form of a file: currents in µA, voltages in mV, defaults filled in. This module
gives the user's form: `energy.nand.read_ma`, `workload.uniform.rate_per_s`. Without `device.op_ratio`, which follows
from the other sizes, these keys give the same configuration again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashwatt.base.literals import leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flashwatt.base.files import Json

_THOUSANDTHS = {"_ua": "_ma", "millivolts": "volts"}
_DERIVED = {"spare_fraction", "entries_per_page", "timed"}
"""Entries of a report's `config` that follow from other keys, or that are no keys."""

_KEPT = {"recovery_blocks", "dump_blocks", "log_blocks", "backup_blocks", "journal_blocks"}
"""Blocks of each die that the drive keeps for itself: they follow from other tables."""

MERGING = {"block", "nftl", "bast", "bast_star", "fast", "last", "superblock"}
"""Translation layers that merge blocks as they must: no key of `gc` has an effect."""


def as_written(config: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys and values of a report's `config`; keys that say nothing (None, {}) are left out."""
    written: dict[str, Any] = {}
    for table, content in config.items():
        spell = _TABLES.get(table)
        try:
            tree = spell(content, config) if spell else {table: content}
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError):
            tree = {table: content}  # no engine wrote this: it is shown as it is
        written |= dict(leaves(tree))
    return {key: value for key, value in written.items() if value is not None and value != {}}


def _array(content: Any, _config: Mapping[str, Any]) -> Json:
    """The array and its drives; of different drives only their presets, as the keys laid over them are not known."""
    drives, failed, spare = content["drives"], content["failed"], content["spare"]
    members = len(drives) if are_alike(drives) else [drive["device"]["preset"] for drive in drives]
    array = {"level": content["level"], "members": members, "chunk_bytes": content["chunk_bytes"]}
    if failed:
        array["failed_member"] = failed["member"]
        if rebuild := failed["rebuild"]:
            array |= {"spare": spare["device"]["preset"], "rebuild_mb_s": rebuild["rate_mb_s"]}
            array |= {"rebuild_depth": rebuild["depth"], "finish_rebuild": rebuild["finish"]}
    return {"array": array, **(as_written(drives[0]) if are_alike(drives) else {})}


def are_alike(drives: list[Json]) -> bool:
    """Whether the drives of an array have equal settings."""
    return all(drive == drives[0] for drive in drives)


def _device(content: Any, config: Mapping[str, Any]) -> Json:
    """The drive; the size of a disk follows from its geometry. Times of cells take the place of those of pages."""
    derived = _DERIVED | _KEPT
    device = _without(content, derived | {"logical_bytes"} if "hdd" in config else derived)
    if device.get("cells"):
        device["timing"] = _without(device["timing"], {"read_ns", "program_ns"})
    return {"device": device}


def _slc_cache(content: Any, config: Mapping[str, Any]) -> Json:
    """The cache: blocks of each die as bytes of the drive, in SLC mode."""
    device = config["device"]
    dies = device["channels"] * device["ways"]
    planes = device["planes"] if device.get("plane_blocks") else 1
    pages = device["pages_per_block"] * planes // device["cells"]["bits"]
    cache = _without(content, {"static_blocks", "dynamic_blocks"})
    for part in ("static", "dynamic"):
        if (blocks := content[f"{part}_blocks"]) is not None:
            cache[f"{part}_bytes"] = blocks * dies * pages * device["page_bytes"]
    if content["fold"] != "idle":
        cache = _without(cache, {"idle_start_ns", "idle_gap_ns"})
    return {"slc_cache": cache}


def _hdd(content: Any, _config: Mapping[str, Any]) -> Json:
    taken = {*_GEOMETRY, "zones", "layout", "seek", "interface", "buffer", "write_cache"}
    cached = content["write_cache"]["bytes"] > 0
    return {
        "hdd": _without(content, taken),
        "hdd.geometry": {key: content[key] for key in _GEOMETRY} | _zones(content),
        "hdd.seek": _seek(content["seek"]),
        "hdd.interface": _interface(content["interface"]),
        "hdd.buffer": content["buffer"] if content["buffer"]["segments"] else _only(content["buffer"], _UNBUFFERED),
        "hdd.write_cache": content["write_cache"] if cached else {"bytes": 0},
    }


_GEOMETRY = ("bytes", "rpm", "heads", "track_skew_ns", "cylinder_skew_ns")
_UNBUFFERED = ("segments", "reads_on_arrival", "writes_on_arrival")
_OVERLAPPED = ("write_fill_fraction", "write_start_delay_ns", "write_data_delay_ns")
"""Keys that have an effect without a buffer, and those that have one with overlap alone."""


def _only(settings: Json, keys: tuple[str, ...]) -> Json:
    return {key: settings[key] for key in keys}


def _zones(disk: Json) -> Json:
    if not any(zone["layout"] for zone in disk["zones"]):
        return {"zones": [[zone["cylinders"], zone["sectors_per_track"]] for zone in disk["zones"]]}
    layout = [{**_without(zone, {"layout"}), **zone["layout"]} for zone in disk["zones"]]
    shared = disk["layout"]
    dropped = set() if shared["spare_range"] == "cylinders" else {"sparing_cylinders"}
    return {"layout": layout, **_without(shared, dropped)}


def _seek(seek: Json) -> Json:
    settle = seek["read_less_ns"] or seek["write_settle_ns"]
    written = {"write_settle_ns": settle, "head_switch_ns": seek["head_switch_ns"]}
    if seek["points"]:
        return {**written, "points": seek["points"], "points_of": "writes" if seek["read_less_ns"] else "reads"}
    return {**written, **_only(seek, ("single_cylinder_ns", "mean_ns", "full_stroke_ns"))}


def _interface(interface: Json) -> Json:
    commands = {
        f"{kind.removesuffix('_ns')}_after_{last}_ns": ns
        for kind, pair in (interface["commands"] or {}).items()
        for last, ns in zip(("read", "write"), pair, strict=True)
    }
    dropped = {"commands"} if interface["write_start"] == "overlapped" else {"commands", *_OVERLAPPED}
    if interface["read_fill_fraction"] is None:
        dropped |= {"read_start_delay_ns"}
    return {**_without(interface, dropped), "commands": commands}


def _ftl(content: Any, _config: Mapping[str, Any]) -> Json:
    ((name, settings),) = content.items()
    settings = _without(settings, _DERIVED)
    if (separate := settings.pop("separate_frontiers", None)) is not None:
        settings["frontiers"] = "separate" if separate else "shared"
    if settings.get("cache") == "lru":
        del settings["protected_fraction"]
    if name == "tpftl":
        settings["batch_update"] = settings.pop("evict_page")
    return {"ftl": name, f"ftl.{name}": settings}


def _gc(content: Any, config: Mapping[str, Any]) -> Json:
    if MERGING & set(config["ftl"]):
        return {}
    policy = content["policy"]
    rest = _without(content, {"policy"})
    return {"gc.policy": policy["name"], f"gc.policy.{policy['name']}": policy["parameters"], "gc": rest}


def _write_buffer(content: Any, _config: Mapping[str, Any]) -> Json:
    buffer = _without(content, {"capacitors", "journal"})
    if capacitors := content.get("capacitors"):
        volts = {f"capacitor_{key}": one for key, one in capacitors.items()}
        buffer |= {"protection": "capacitors", **volts}
    if journal := content.get("journal"):
        buffer |= {"protection": "journal", "journal_max_ns": journal["max_ns"]}
    return {"write_buffer": buffer}


def _controller(content: Any, _config: Mapping[str, Any]) -> Json:
    budget = content["power_budget"]
    settings = _without(content, {"power_budget"})
    return {"controller": settings | ({"power_budget_w": budget["budget_nw"] / 1e9} if budget else {})}


def _energy(content: Any, config: Mapping[str, Any]) -> Json:
    device, dram, nand = config["device"], content["dram"], content["nand"]
    data_ns, transfer = dram["page_data_ns"], nand["transfer"]
    energy = dict(content)
    if isinstance(content["mode"], dict):
        energy |= {"mode": "terminal", "terminal_v": _milli(content["mode"]["terminal"])}
    energy["controller"] = _milli_keys(content["controller"])
    energy["host_interface"] = _milli_keys(content["host_interface"])
    data_mb_s = device["page_bytes"] * 1000 / data_ns if data_ns else 0  # one byte in 1000 ns is 10^6 bytes/s
    energy["dram"] = {
        **_milli_keys(dram["part"]),
        "map_access_ns": dram["map_access_ns"],
        "data_mb_s": _whole(data_mb_s),
    }
    energy["nand"] = _milli_keys(_without(nand, {"transfer"}))
    if nand["transfer_ua"] is None:
        energy["nand"]["transfer_ma"] = "operation"
    if transfer:
        energy["nand"]["transfer_ns"] = transfer["charged_ns"] - device["timing"]["command_ns"]
    if (pj_per_bit := energy.pop("host_memory_pj_per_bit", None)) is not None:
        energy["host_memory"] = {"pj_per_bit": pj_per_bit}
    return {"energy": energy}


def _workload(content: Any, _config: Mapping[str, Any]) -> Json:
    return _tagged("workload", content)


def _run(content: Any, _config: Mapping[str, Any]) -> Json:
    run = _without(content, {"precondition", "warmup", "measure"})
    spans = {
        f"run.{name}": {"requests": content[name]["requests"], "seconds": _seconds(content[name]["ns"])}
        for name in ("warmup", "measure")
    }
    start = content["precondition"]
    return {"run": run, **_start(start), **spans}


def _start(content: Any) -> Json:
    """The start state: a name, a snapshot or a workload."""
    if isinstance(content, str):
        return {"run.precondition": content}
    if "snapshot" in content:
        return {"run.precondition.snapshot": content["snapshot"]}
    return _tagged("run.precondition", content["workload"])


def _tagged(table: str, content: Any) -> Json:
    """A workload under its name."""
    ((name, settings),) = content.items()
    return {table: name, f"{table}.{name}": _model(settings) if "arrivals" in settings else _recorded(settings)}


def _model(settings: Json) -> Json:
    """The keys of a synthetic workload."""
    sizes = {kind: _size(list_) for kind, list_ in settings["sizes"].items()}
    same = len({repr(size) for size in sizes.values()}) == 1
    written = {"request_bytes": sizes["read"]} if same else {f"{kind}_bytes": size for kind, size in sizes.items()}
    return _without(settings, {"sizes", "arrivals"}) | written | _arrivals(settings["arrivals"])


def _size(sizes: list[Json]) -> Any:
    return sizes[0]["bytes"] if len(sizes) == 1 else [[one["bytes"], one["share"]] for one in sizes]


def _arrivals(arrivals: Json) -> Json:
    if "closed" in arrivals:
        return {"queue_depth": arrivals["closed"]["queue_depth"]}
    shape = arrivals["open"]
    gap, group, phases = shape["gap"], shape["group"], shape["phases"]
    if group.get("fixed", 1) != 1:
        return {"burst_requests": group["fixed"], "burst_gap_ns": _whole(gap["mean_ns"])}
    mean = group["geometric"]["mean"] if "geometric" in group else None
    written = {"rate_per_s": _whole((mean or 1) * 1e9 / gap["mean_ns"]), "gaps": gap["law"], "burst_mean": mean}
    times = {f"{name}_ns": _whole(phases[name]["mean_ns"]) for name in ("on", "off")} if phases else {}
    return {**written, **times, "tick_ns": shape["tick_ns"]}


def _recorded(settings: Json) -> Json:
    """Give the keys of a trace, or of another workload that is no model."""
    written = _without(settings, _DERIVED)
    for key in ("from", "until"):
        if f"{key}_ns" in written:
            written[f"{key}_s"] = _seconds(written.pop(f"{key}_ns"))
    if (beyond := written.pop("beyond", None)) in ("fold", "clip"):
        written[beyond] = True
    return written


_TABLES: dict[str, Callable[[Any, Mapping[str, Any]], Json]] = {
    "array": _array,
    "device": _device,
    "hdd": _hdd,
    "ftl": _ftl,
    "gc": _gc,
    "write_buffer": _write_buffer,
    "slc_cache": _slc_cache,
    "controller": _controller,
    "energy": _energy,
    "workload": _workload,
    "run": _run,
}


def _without(content: Mapping[str, Any], keys: set[str]) -> Json:
    return {key: value for key, value in content.items() if key not in keys}


def _milli_keys(content: Mapping[str, Any]) -> Json:
    """Currents in mA and voltages in V."""
    written = {}
    for key, value in content.items():
        ending = next((one for one in _THOUSANDTHS if key.endswith(one)), "")
        named = f"{key.removesuffix(ending)}{_THOUSANDTHS[ending]}" if ending else key
        written[named] = _milli(value) if ending and value is not None else value
    return written


def _milli(thousandths: float) -> float:
    return _whole(thousandths / 1000)


def _seconds(ns: float | None) -> float | None:
    return None if ns is None else _whole(ns / 1e9)


def _whole(value: float) -> float:
    """A whole number without its `.0`."""
    return int(value) if value == int(value) else value
