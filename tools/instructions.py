"""Instructions that the engine executes for a request, beside those of the last release and of a bare prototype.

Times depend on the machine and on what else it does; the number of instructions does not. Callgrind counts them in two
runs of different length, and the difference divided by the requests leaves start and report out. `instructions.json`
beside this file keeps the figures of the last release; `--keep` writes today's there. Without valgrind nothing is
counted, and a line says so.

The prototype is the inner loop of the preset `limit` in the least code: counters of energy and a histogram, nothing
that can be chosen, no report. It was counted in the same way, as the difference of two runs of 750,000 and 1,500,000
reads, and of 450,000 and 900,000 writes or requests of the mix: its drives begin with collections under way, which
would count as work of the first 100,000 reads.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

KEPT = Path(__file__).with_suffix(".json")
LENGTHS = 5_000, 20_000
"""Requests of the two runs. A drive in steady state collects from the first write on."""

RUN = """
import sys, flashwatt
preset, requests, *sets = sys.argv[1:]
text = f'[device]\\npreset = "{preset}"\\n[workload.uniform]\\nrequest_bytes = 4096\\n'
flashwatt.run(flashwatt.Config(text, sets=(f"workload.uniform.requests={requests}", *sets)), latency=False)
"""

READS, WRITES, MIX = (f"workload.uniform.read_fraction={fraction}" for fraction in (1, 0, 0.7))
STEADY = "run.precondition=steady"
WIDE = ("device.pages_per_block=32", "device.op_ratio=0.5", "device.host_link.queue_depth=65_535")
CASES: dict[str, tuple[str, ...]] = {
    "reads": ("limit", READS),
    "steady writes": ("limit", WRITES, STEADY),
    "70 % reads, steady": ("limit", MIX, STEADY),
    "reads, 1,024 channels": (
        "limit", READS, "device.channels=1024", "device.ways=1", "workload.uniform.queue_depth=2048", *WIDE,
    ),
    "reads, 64 ways": (
        "limit", READS, "device.channels=16", "device.ways=64", "workload.uniform.queue_depth=2048", *WIDE,
    ),
    "reads, x25m": ("x25m", READS),
    "steady writes, 64 ways": (
        "limit", WRITES, STEADY, "device.channels=16", "device.ways=64", "workload.uniform.queue_depth=2048", *WIDE,
    ),
    "steady writes, x25m": ("x25m", WRITES, STEADY),
    "reads through none": ("limit", READS, "host.scheduler=none"),
    "reads through cfq": ("limit", READS, "host.scheduler=cfq"),
}  # fmt: skip
_AFTER_COLLECTIONS = (150_000, 165_000)
LATE = {
    **dict.fromkeys((name for name, case in CASES.items() if case[:2] == ("limit", READS)), _AFTER_COLLECTIONS),
    "steady writes": (100_000, 200_000),
    "70 % reads, steady": (200_000, 400_000),
    "steady writes, 64 ways": (100_000, 130_000),
}
"""Cases with other lengths: it takes that long until the collections that the start state of `limit` leaves under way
have ended, until write amplification is that of the prototype's runs, and until all 1,024 dies collect."""


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--keep", action="store_true", help="keep the counts as those of a release")
    keep = parser.parse_args().keep
    if shutil.which("valgrind") is None:
        sys.stdout.write("instructions a request: not counted, because valgrind is not installed\n")
        return
    kept = json.loads(KEPT.read_text("utf-8"))
    counted = {name: _instructions(case, LATE.get(name, LENGTHS)) for name, case in CASES.items()}
    for name, count in counted.items():
        beside = ", ".join(_ratio(count, table, name, words) for table, words in _columns(kept) if name in table)
        sys.stdout.write(f"instructions, {name:<22} {count:7,}   {beside}\n")
    if keep:
        _keep(kept, counted)


def _columns(kept: dict[str, dict[str, int]]) -> list[tuple[dict[str, int], str]]:
    return [(kept["release"], "the last release"), (kept["prototype"], "the prototype")]


def _ratio(count: int, table: dict[str, int], name: str, words: str) -> str:
    return f"{count / table[name]:.3f} x {words}"


def _instructions(case: tuple[str, ...], lengths: tuple[int, int]) -> int:
    short, long = (_executed(case, requests) for requests in lengths)
    return round((long - short) / (lengths[1] - lengths[0]))


def _executed(case: tuple[str, ...], requests: int) -> int:
    preset, *sets = case
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", sys.executable, "-c", RUN]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}  # else Python's own part differs from run to run
        subprocess.run(
            [*command, preset, str(requests), *sets], env=environment, check=True, capture_output=True, text=True
        )
        found = re.search(r"^(?:summary|totals): (\d+)", out.read_text("utf-8"), re.MULTILINE)
    if found is None:
        raise SystemExit("callgrind's output has no sum")
    return int(found[1])


def _keep(kept: dict[str, dict[str, int]], counted: dict[str, int]) -> None:
    KEPT.write_text(json.dumps({**kept, "release": counted}, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
