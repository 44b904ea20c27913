"""Short runs by which the compiler learns what the engine executes often; `tools/wheel.sh` calls it.

They stand for what users run: translation layers, presets with and without a delay between starts, a write buffer, a
disk, and the block layer. Each has its own code in the engine, and the profile of one says little of another.
"""

from __future__ import annotations

import sys

import flashwatt

REQUESTS = 100_000
"""Of each run: long enough that a steady drive collects, short enough that all take a minute with counters."""

UNIFORM = "[workload.uniform]\nrequest_bytes = 4096\nread_fraction = {reads}\nrequests = {requests}\n"
SMALL = ("device.logical_bytes=512MiB", "device.op_ratio=0.4", "run.precondition=filled")
LAYERS = {
    **dict.fromkeys(("dftl", "rftl", "tpftl"), REQUESTS // 10),
    **dict.fromkeys(("bast", "fast", "last", "nftl", "superblock"), REQUESTS // 100),  # thousands of copies a write
}


def main() -> None:
    """Run everything once."""
    for reads in (0, 0.7, 1):
        _run("limit", reads, ("run.precondition=steady",))
    for preset in ("x25m", "energysim", "tlc-nvme-1t", "laptop-7200"):
        _run(preset, 0.5)
    for layer, requests in LAYERS.items():
        _run("limit", 0.5, (f"ftl={layer}", *SMALL), requests)
    for scheduler in ("none", "mq_deadline", "cfq", "bfq"):
        _run("limit", 0.7, (f"host.scheduler={scheduler}",))


def _run(preset: str, reads: float, sets: tuple[str, ...] = (), requests: int = REQUESTS) -> None:
    text = f'[device]\npreset = "{preset}"\n' + UNIFORM.format(reads=reads, requests=requests)
    report = flashwatt.run(flashwatt.Config(text, sets=sets))
    sys.stdout.write(f"{preset} {' '.join(sets)}: {report.workload.requests:,} requests\n")


if __name__ == "__main__":
    main()
