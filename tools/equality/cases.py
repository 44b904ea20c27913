"""The cases of a seed, and how often each registered name occurs in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import flashwatt
from equality import drives, loads
from equality.draw import Draw

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED = 20
KINDS = (
    *("presets", "ftls", "gc", "wear", "dispatch", "schedulers"),
    *("workloads", "personalities", "filesystems", "standins", "formats"),
)
"""The kinds of registered names."""
PARTS = {
    "run": 82,
    "files": 14,
    "clockless": 6,
    "fault": 10,
    "crash": 28,
    "age": 14,
    "reprice": 8,
    "drive": 12,
    "trace": 16,
    "command": 10,
}
"""How many cases there are of each sort."""
STATES = ("filled", "empty", "mapped", "steady", "zipf", "sequential", "hot_cold", "fio", "trace", "uniform")
"""Start states of an SSD; `image` goes with a file system, and a snapshot with `age`."""
_MACHINES = ("ssd",) * 13 + ("disk",) * 2 + ("array",) * 5
_COMMANDS = (
    ("run", "drive.toml", "--json"),
    ("run", "drive.toml", "--json", "--op-log", "ops.csv", "--check"),
    ("crash", "drive.toml", "--cuts", "3", "--json"),
    ("age", "drive.toml", "--out", "aged.fw", "--json"),
    ("explain", "ftl"),
    ("schema",),
    ("list", "ftls"),
)
_FAULTS: tuple[dict[str, Any], ...] = (
    {"gc.polizy": "greedy"},
    {"ftl": "pge"},
    {"device.channels": "many"},
    {"device.blocks_per_plane": 2},
    {"workload.trace.path": "nowhere.csv"},
    {"workload.uniform.read_fraction": 1.5},
    {"run.precondition.snapshot": "drive.toml"},
    {"host.scheduler": "cqf"},
    {"array.level": "raid6", "array.members": 3},
    {"write_buffer.protection": "battery"},
)
"""What no run can use: a refusal is a result, too."""

SMALL = {
    "device.preset": "limit",
    "device.channels": 2,
    "device.ways": 1,
    "device.blocks_per_plane": 48,
    "device.pages_per_block": 16,
    "device.op_ratio": 0.6,
}
"""A drive of a known shape."""


@dataclass
class Case:
    """Something to run, and all that it needs."""

    number: int
    sort: str
    settings: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Give what a record says of it; files by their hashes."""
        hashes = {name: sha256(content).hexdigest()[:16] for name, content in self.files.items()}
        return {"sort": self.sort, "settings": self.settings, "options": self.options, "files": hashes}


class Deal(Draw):
    """Draws of cases."""

    def __init__(self, seed: int) -> None:
        """Ask for the registered names and for what each preset is."""
        super().__init__(f"equal {seed}", {kind: list(flashwatt.names(kind)) for kind in KINDS})
        self.names |= {"levels": list(drives.LEVELS), "states": list(STATES), "machines": list(_MACHINES)}
        is_disk = {name: "hdd" in flashwatt.resolve({"device.preset": name}) for name in self.names["presets"]}
        self.disks = [name for name, disk in is_disk.items() if disk]
        self.ssds = [name for name, disk in is_disk.items() if not disk]

    def machine(self, which: str, size: str = "small", *, spares: bool = True) -> dict[str, Any]:
        """Draw a drive or an array."""
        if which == "disk":
            return drives.disk(self, self.disks)
        settings = drives.ssd(self, self.ssds, size=size)
        return {**settings, **drives.array(self, spares=spares)} if which == "array" else settings

    def state(self, which: str, workload: str, layer: str) -> tuple[dict[str, Any], loads.Files]:
        """Draw a start state that the drive can have."""
        if which == "disk":
            return {}, {}
        if workload in ("standin", "files") or which == "array":
            # The drive of a stand-in is large: the steady state of some layers takes long.
            more = ["steady"] if workload != "standin" else []
            more = ["image", "image"] if workload == "files" and which == "ssd" else more
            return {"run.precondition": self.one("filled", "empty", *more)}, {}
        name = self.name("states")
        if name not in self.names["workloads"]:
            usable = name != "mapped" or layer not in drives.COLLECTING
            return {"run.precondition": name if usable else "filled"}, {}
        if name == workload:
            return {"run.precondition": "steady"}, {}
        found, files = loads.load(self, name)
        return {f"run.precondition.{name}.{key}": value for key, value in found.items()}, files

    def run(self) -> dict[str, Any]:
        """Draw what a run measures."""
        return self.some(
            {
                "run.warmup.requests": (20, 100),
                "run.measure.requests": (50, 150),
                "run.measure.seconds": (0.05,),
                "run.count_drain": (True,),
                "run.max_flash_ops": (300, 5000),
                "run.power_cuts.cuts": (2, 4),
            },
            0.12,
        )

    def whole_case(self, number: int, sort: str, which: str, workload: str = "", *, plain: bool = False) -> Case:
        """Draw drive, block layer, workload and start state; a `plain` one has no block layer and no spare."""
        name = workload or self.name("workloads")
        settings = self.machine(which, {"files": "big", "standin": "huge"}.get(name, "small"), spares=not plain)
        found, files = loads.load(self, name)
        settings |= {f"workload.{name}.{key}": value for key, value in found.items()}
        layer = next((key[4:] for key in settings if key.startswith("ftl.")), "")
        state, more = self.state(which, name, layer)
        settings |= state
        if not plain and self.chance(0.4):
            settings |= drives.host(self, settings)
            if name == "trace":
                settings["workload.trace.dispatched"] = "accept"
        settings["run.seed"] = self.whole(1, 1_000_000)
        return Case(number, sort, settings, {}, {**files, **more})


def cases(seed: int = SEED) -> list[Case]:
    """Draw the cases of a seed."""
    deal = Deal(seed)
    sorts = [sort for sort, number in PARTS.items() for _ in range(number)]
    deal.rng.shuffle(sorts)
    return [_DRAWN[sort](deal, number) for number, sort in enumerate(sorts)]


def _run(deal: Deal, number: int, workload: str = "") -> Case:
    which = deal.name("machines")
    case = deal.whole_case(number, "run", which, workload)
    case.settings |= deal.run()
    if which != "ssd" or "run.max_flash_ops" in case.settings:
        case.settings.pop("run.power_cuts.cuts", None)
    case.options = _watched(deal, which, case)
    return case


def _files(deal: Deal, number: int) -> Case:
    return _run(deal, number, "files")


def _clockless(deal: Deal, number: int) -> Case:
    """Draw a run without a clock, in which some parts of a drive have no meaning."""
    case = deal.whole_case(number, "run", "ssd", deal.one("zipf", "uniform", "hot_cold"), plain=True)
    left_out = ("controller.", "device.host_link.", "write_buffer.", "energy.", "run.")
    case.settings = {key: value for key, value in case.settings.items() if not key.startswith(left_out)}
    case.settings["write_buffer.bytes"] = 0
    replay = {"partial_pages": ("read_modify_write",), "merge_requests": (True,), "offset_sectors": (63,)}
    case.settings["run.replay.flashsim"] = deal.some(replay)
    return case


def _fault(deal: Deal, number: int) -> Case:
    fault = _FAULTS[int(deal.name("faults", [str(at) for at in range(len(_FAULTS))]))]
    return Case(number, "run", {**SMALL, **fault})


def _watched(deal: Deal, which: str, case: Case) -> dict[str, Any]:
    """Draw what a run records. Some of it is of one SSD, or of a block layer."""
    options = deal.some({"series": (True, 1_000_000), "latency": (False,), "request_log": ("requests.csv",)}, 0.3)
    options |= deal.some({"capture": ("capture.csv",)}, 0.15)
    if which == "ssd":
        options |= deal.some({"op_log": ("ops.csv", "ops.csv", "ops.parquet"), "check": (True,)}, 0.3)
        options |= deal.some({"edges": (True, (0, 5_000_000), (1_000_000, 90_000_000))}, 0.2)
    if any(key.startswith("host.") for key in case.settings):
        options |= deal.some({"dispatch_log": ("dispatched.csv",)}, 0.4)
    return options


def _crash(deal: Deal, number: int) -> Case:
    which = deal.one("ssd", "ssd", "array")
    if which == "ssd":
        case = deal.whole_case(number, "crash", which)
        case.settings |= drives.recovery(deal, case.settings)
    else:
        case = deal.whole_case(number, "crash", which, deal.one("uniform", "zipf", "sequential", "trace"), plain=True)
    case.options = deal.one({"cuts": 6}, {"cuts": 12}, {"at_operation": 60}, {"at_ns": 3_000_000}, {})
    if not case.options:
        case.settings["run.power_cuts.at_operation"] = [20, 50]
    if which == "ssd":
        case.options |= deal.some({"twice": (True,)}, 0.3)
    if "cuts" in case.options:
        case.options |= deal.some({"while_busy": (True,)}, 0.4)
    return case


def _age(deal: Deal, number: int) -> Case:
    case = deal.whole_case(number, "age", "ssd")
    case.options = {"run_workload": deal.chance(0.5), "then_seed": deal.one(None, 5)}
    return case


def _reprice(deal: Deal, number: int) -> Case:
    case = deal.whole_case(number, "reprice", "ssd")
    case.settings = {key: value for key, value in case.settings.items() if "power_budget" not in key}
    case.options = {
        "table": {
            "energy.nand.program_ma": deal.one(11.5, 25, 60),
            **deal.some({"energy.nand.volts": (1.8, 3.0), "energy.controller.active_ma": (90, 400)}, 0.6),
        }
    }
    return case


def _drive(deal: Deal, number: int) -> Case:
    which = deal.name("machines")
    settings = deal.machine(which)
    if which == "ssd":
        settings |= drives.recovery(deal, settings)
    if which != "disk":
        settings["run.precondition"] = deal.one("filled", "empty")
    options = {"cuttable": which == "ssd" and deal.chance(0.6), "script_seed": deal.whole(1, 1_000_000)}
    return Case(number, "drive", settings, options)


def _trace(deal: Deal, number: int) -> Case:
    settings, files = loads.trace(deal)
    return Case(number, "trace", {"workload.trace.path": settings["path"]}, {"to": deal.one("csv", "fwt")}, files)


def _command(deal: Deal, number: int) -> Case:
    words = deal.name("commands", [" ".join(words) for words in _COMMANDS])
    case = deal.whole_case(number, "command", "ssd", deal.one("zipf", "uniform"))
    case.options = {"words": words}
    return case


_DRAWN = {
    "run": _run,
    "files": _files,
    "clockless": _clockless,
    "fault": _fault,
    "crash": _crash,
    "age": _age,
    "reprice": _reprice,
    "drive": _drive,
    "trace": _trace,
    "command": _command,
}


def sweeps() -> list[Case]:
    """Give the three sweeps: policies on layers, schedulers at two depths, layouts of arrays with a failed member."""
    load = {"workload.zipf.requests": 1000, "workload.zipf.read_fraction": 0.4}
    grids: list[Any] = [
        [
            {"ftl": list(drives.COLLECTING), "gc.policy": list(flashwatt.names("gc"))},
            {"ftl": [name for name in flashwatt.names("ftls") if name not in drives.COLLECTING]},
        ],
        {"host.scheduler": list(flashwatt.names("schedulers")), "workload.zipf.queue_depth": [2, 32]},
        {"array.level": ["raid1", "raid5"], "array.members": [3, 4], "array.chunk_bytes": [4096, 65_536]},
    ]
    more: list[dict[str, Any]] = [{}, {}, {"array.failed_member": 1, "array.spare": "limit"}]
    return [
        Case(sum(PARTS.values()) + at, "sweep", {**SMALL, **load, **more[at]}, {"grid": grid, "seeds": 2})
        for at, grid in enumerate(grids)
    ]


def _words(value: Any) -> Iterator[str]:
    """Give all words of keys and values, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from key.split(".")
            yield from _words(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _words(inner)
    elif isinstance(value, str):
        yield value


_PLACES = {
    "presets": ("device.preset", "array.spare"),
    "ftls": ("ftl",),
    "gc": ("gc.policy",),
    "wear": ("wear.policy",),
    "dispatch": ("controller.policy",),
    "schedulers": ("host.scheduler",),
    "workloads": ("workload", "run.precondition"),
    "personalities": ("workload.files.personality",),
    "filesystems": ("workload.files.system",),
    "standins": ("workload.standin.name", "run.precondition.standin.name"),
    "levels": ("array.level",),
    "states": ("run.precondition",),
}
"""The keys at which the names of a kind stand, as a value or as the next part of the key."""
_KEYS = (
    *("write_buffer.destage_fraction", "device.host_link.bandwidth_mb_s", "controller.bus_order"),
    *("controller.power_budget_ma", "controller.power_budget_w", "energy.mode", "energy.idle_accounting"),
    *("array.failed_member", "array.spare", "array.rebuild_mb_s", "run.power_cuts.cuts", "run.replay.flashsim"),
    *("device.nand.paired_pages", "recovery.trim_records", "recovery.checkpoint_interval_bytes"),
    *("recovery.die_registers", "recovery.map_load_fraction"),
    *("workload.files.path", "workload.files.fio", "workload.files.aged.fill_fraction"),
)
_OPTIONS = (
    *("series", "edges", "check", "op_log", "request_log", "capture", "dispatch_log"),
    *("cuts", "at_ns", "at_operation", "twice", "while_busy", "run_workload", "table", "cuttable"),
)


def names_at(settings: dict[str, Any], places: tuple[str, ...]) -> set[str]:
    """Give the names that settings have at these keys."""
    found = set()
    for key, value in settings.items():
        for place in places:
            if key == place:
                found |= set(_words(value))
            elif key.startswith(f"{place}."):
                found.add(key[len(place) + 1 :].split(".")[0])
    return found


def coverage(drawn: list[Case]) -> dict[str, dict[str, int]]:
    """Count the cases of each sort, and those in which each name of each kind, and some keys and options, occur."""
    counted: dict[str, dict[str, int]] = {}
    for kind in KINDS:
        counted[kind] = dict.fromkeys(flashwatt.names(kind), 0)
    counted |= {"levels": dict.fromkeys(drives.LEVELS, 0), "states": dict.fromkeys((*STATES, "image"), 0)}
    counted |= {"sorts": {}, "keys": dict.fromkeys(_KEYS, 0), "options": dict.fromkeys(_OPTIONS, 0)}
    for case in drawn:
        counted["sorts"][case.sort] = counted["sorts"].get(case.sort, 0) + 1
        for kind, there in (("keys", case.settings), ("options", {k: v for k, v in case.options.items() if v})):
            for name in there.keys() & counted[kind].keys():
                counted[kind][name] += 1
        for kind, places in _PLACES.items():
            for name in names_at(case.settings, places) & counted[kind].keys():
                counted[kind][name] += 1
        for name in {file.split(".")[0] for file in case.files} & counted["formats"].keys():
            counted["formats"][name] += 1
    return counted
