"""Drawn workloads: models, stand-ins, traces, fio jobs and programs on file systems, and the files that they need."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

from equality.traces import CONVERTED, WRITERS, records

if TYPE_CHECKING:
    from equality.draw import Draw

Files = dict[str, bytes]

MODELS: dict[str, dict[str, tuple[Any, ...]]] = {
    "sequential": {"streams": (1, 4), "run_requests": (1, 8)},
    "zipf": {"theta": (0.6, 1.3), "scattered": (0,)},
    "pareto": {"skew": (0.1, 0.3), "scattered": (0,)},
    "normal": {"deviation": (0.02, 0.2)},
    "hot_cold": {"hot_fraction": (0.05, 0.2), "hot_share": (0.6, 0.95)},
}
"""Options of the models that have some."""
_SIZES = (512, 4096, 4096, 4096, 8192, 32_768, [[4096, 0.7], [16_384, 0.3]], [[512, 1], [6144, 2]])
SYSTEMS: dict[str, dict[str, tuple[Any, ...]]] = {
    "ext2": {"reserved_percent": (0,), "reservation_blocks": (0, 32), "discard": (1,)},
    "ext3": {
        "discard": (1,),
        "barrier": (0,),
        "order_overwrites": (1,),
        "commit_interval_s": (0.01, 0.5),
        "journal_bytes": (4_194_304,),
        "time_step_ms": (1, 1000),
    },
    "lfs": {"cost_benefit": (0, 1), "trim": (0, 1), "checkpoint_s": (0.05, 1), "clean_whole": (0, 1)},
    "nilfs2": {"cost_benefit": (0, 1), "trim": (0, 1), "checkpoint_s": (0.05, 1), "clean_segments": (1, 2)},
}
"""Options of the file systems."""
_PROGRAM = """set $nfiles = {nfiles}
define fileset name=some, path=/d, size={size}k, entries=$nfiles, dirwidth={width}, prealloc={prealloc}
define process name=worker, instances=1
{{
  thread name=session, memsize=10m, instances={threads}
  {{
    flowop createfile name=make, filesetname=some, fd=1
    flowop writewholefile name=fill, iosize={iosize}k, fd=1
    {sync}
    flowop closefile name=shut, fd=1
    flowop openfile name=open, filesetname=some, fd=1
    flowop readwholefile name=look, iosize=64k, fd=1
    flowop appendfilerand name=grow, iosize=8k, fd=1
    flowop closefile name=done, fd=1
    flowop deletefile name=drop, filesetname=some
  }}
}}
run 60
"""


def model(draw: Draw, name: str) -> dict[str, Any]:
    """Draw a synthetic workload."""
    settings: dict[str, Any] = {
        "requests": draw.whole(1500, 9000),
        "read_fraction": draw.one(0.0, 0.0, 0.3, 0.5, 0.9),
        "trim_fraction": draw.one(0.0, 0.0, 0.05, 0.1),
        "request_bytes": draw.one(*_SIZES),
        **draw.some(MODELS.get(name, {})),
    }
    if draw.chance(0.35):
        settings["rate_per_s"] = draw.one(300, 2500.5, 20_000)
        settings |= draw.some({"gaps": ("constant",), "tick_ns": (100_000,)}, 0.2)
        settings |= draw.one({}, {"burst_mean": 6}, {"on_ns": 10_000_000, "off_ns": 30_000_000})
    elif draw.chance(0.7):
        settings["queue_depth"] = draw.one(1, 4, 16, 64)
        settings["processes"] = draw.one(1, 1, 3)
    return settings


def fio(draw: Draw) -> bytes:
    """Draw a file of one to three fio jobs."""
    text = f"[global]\nsize={draw.one(256, 512)}k\nbs={draw.one('4k', '4k', '2k', '16k')}\n"
    for at in range(draw.whole(1, 3)):
        rw = draw.one("read", "randread", "randwrite", "randrw", "write", "rw", "randtrim", "trimwrite")
        options = {
            "rwmixread": ("30", "80"),
            "iodepth": ("1", "8", "32"),
            "numjobs": ("2", "3"),
            "fsync": ("10",),
            "thinktime": ("100us", "3ms"),
            "rate_iops": ("800",),
            "random_distribution": ("zipf:1.1", "pareto:0.2", "normal:20"),
            "number_ios": ("60", "200"),
            "startdelay": ("5ms",),
            "bssplit": ("4k/60:16k/40",),
            "sync": ("1",),
            "prio": ("2", "6"),
            "stonewall": ("",),
            "norandommap": ("1",),
        }
        lines = [f"{key}={value}" if value else key for key, value in draw.some(options, 0.25).items()]
        text += "\n".join([f"[job{at}]", f"rw={rw}", f"offset={at * draw.one(0, 128)}k", *lines]) + "\n"
    return text.encode()


def trace(draw: Draw) -> tuple[dict[str, Any], Files]:
    """Draw a trace and how it is replayed."""
    name = draw.name("formats")
    content = WRITERS.get(name, WRITERS["csv"])(records(draw))
    file = f"{name}.txt"
    if draw.chance(0.15):
        content, file = gzip.compress(content, mtime=0), f"{name}.gz"
    settings: dict[str, Any] = {"path": f"{CONVERTED}.fwt" if name == CONVERTED else file, "fold": True}
    if name != CONVERTED and draw.chance(0.7):
        settings["format"] = name
    settings |= draw.some(
        {
            "speed": (0.5, 4),
            "space_scale": (0.25, 2),
            "closed_loop": (True, True, False),
            "max_requests": (50,),
            "dense": (True,),
            "repeat": (2,),
            "sort": (True,),
            "max_gap_s": (0.001,),
            "until_s": (0.05,),
            "align_starts": (True,),
        },
        0.15,
    )
    return settings, {file: content}


def program(draw: Draw) -> bytes:
    """Draw a program in filebench's language."""
    sync = draw.one("flowop fsync name=safe, fd=1", "flowop statfile name=look_up, filesetname=some")
    text = _PROGRAM.format(
        nfiles=draw.whole(20, 80),
        size=draw.one(8, 16, 64),
        width=draw.one(4, 20, 1000),
        prealloc=draw.one(50, 80),
        threads=draw.one(1, 4),
        iosize=draw.one(4, 64),
        sync=sync,
    )
    return text.encode()


def files(draw: Draw) -> tuple[dict[str, Any], Files]:
    """Draw a program on a file system: one that comes with FlashWatt, one of its own, or fio jobs."""
    system = draw.name("filesystems")
    settings: dict[str, Any] = {
        f"system.{system}": {
            **draw.some(SYSTEMS.get(system, {}), 0.3),
            **({"segment_bytes": draw.one(262_144, 524_288)} if system in ("lfs", "nilfs2") else {}),
        },
        "operations": draw.whole(100, 800),
        "cache.memory_bytes": draw.one(4 << 20, 16 << 20, 1 << 30),
        **draw.some(
            {"cache.dirty_expire_centisecs": (1, 50), "cache.read_ahead_bytes": (0, 32_768), "processor.cores": (1, 2)},
            0.3,
        ),
    }
    if system in ("ext2", "ext3"):
        settings |= draw.some({"atime": ("relatime", "strictatime"), "fsync_flush": (False,)}, 0.3)
    if draw.chance(0.3):  # ageing through a page cache of few MiB may take very long
        settings |= {"aged.fill_fraction": draw.one(0.2, 0.4), "aged.churn": 0.5, "cache.memory_bytes": 1 << 30}
    name = draw.name("programs", [*draw.names["personalities"], "path", "path", "fio"])
    if name == "path":
        return {**settings, "path": "program.f"}, {"program.f": program(draw)}
    if name == "fio":
        return {**settings, "fio": "files.fio"}, {"files.fio": b"[f]\nrw=randrw\nsize=256k\nfsync=8\nnumjobs=2\n"}
    settings["personality"] = name
    if "oltp" in name:
        settings["set"] = {"filesize": "512k", "logfilesize": "512k", "nfiles": 4, "nshadows": 4, "ndbwriters": 2}
    else:
        settings["set"] = {"nfiles": draw.whole(20, 60), "meanfilesize": "16k"}
        if "park" not in name.split("-"):
            settings["set"]["nthreads"] = draw.one(2, 8)
    return settings, {}


def standin(draw: Draw) -> dict[str, Any]:
    """Draw a stand-in of a known trace, on a space that fits a tiny drive."""
    return {"name": draw.name("standins"), "scale": draw.one(3e-6, 5e-6), "requests": draw.whole(300, 1500)}


def load(draw: Draw, name: str) -> tuple[dict[str, Any], Files]:
    """Draw a workload of this name: its settings without the prefix, and its files by name."""
    if name == "fio":
        return {"path": "jobs.fio"}, {"jobs.fio": fio(draw)}
    if name == "trace":
        return trace(draw)
    if name == "files":
        return files(draw)
    if name == "standin":
        return standin(draw), {}
    return model(draw, name), {}
