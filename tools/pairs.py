"""Compares builds of the engine: the CPU time of a request, in alternating runs.

    python tools/pairs.py before.so after.so --read-fraction 0 --set run.precondition=steady

Each argument is a library of the engine: `python/flashwatt/_core.abi3.so`, or `lib_core.so` as cargo leaves it. All are
compared with the first.

Each run takes a fresh copy of its library, in a process of its own. Where the system puts a library's pages in memory
decides up to a fifth of the time of a read, and a file keeps its pages from run to run: with seven copies of one
library a read took 147 to 186 ns. The ratio of two files alone would say as much about their places as about their
code. A first run warms the process up; then a short and a long run are timed. Their difference leaves out what a
run costs once.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "python" / "flashwatt"
REQUESTS_MIN = 1_000
TIMED = """
import sys, flashwatt
preset, requests, *sets = sys.argv[1:]
text = f'[device]\\npreset = "{preset}"\\n[workload.uniform]\\nrequest_bytes = 4096\\n'
def cpu_s(requests):
    config = flashwatt.Config(text, sets=(f"workload.uniform.requests={requests}", *sets))
    return flashwatt.run(config, latency=False).engine.cpu_s
long = int(requests)
short = long // 10
cpu_s(short)
first, second = cpu_s(short), cpu_s(long)
print((second - first) / (long - short) * 1e9)
"""


def main() -> None:
    """Print a line for each library."""
    asked = _asked()
    workload = [f"workload.uniform.read_fraction={asked.read_fraction}", *asked.sets]
    times: dict[Path, list[float]] = {library: [] for library in asked.libraries}
    for number in range(asked.runs):
        for library in asked.libraries if number % 2 == 0 else asked.libraries[::-1]:
            times[library].append(_request_ns(library, asked.preset, asked.requests, workload))
    first = statistics.median(times[asked.libraries[0]])
    for library, found in times.items():
        median = statistics.median(found)
        times_ns = f"median {median:.1f} ns a request ({min(found):.1f} to {max(found):.1f})"
        sys.stdout.write(f"{library}: {times_ns}, {median / first:.3f} x the first\n")


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else None,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("libraries", nargs="+", type=Path, metavar="LIBRARY", help="builds; the first is compared with")
    parser.add_argument("--runs", type=int, default=11, help="runs of each library")
    parser.add_argument("--preset", default="limit", help="the drive")
    parser.add_argument("--requests", type=int, default=1_000_000, help="4 KiB requests of a long run, 1,000 or more")
    parser.add_argument("--read-fraction", type=float, default=1.0, help="share of reads among them")
    parser.add_argument("--set", action="append", default=[], dest="sets", metavar="KEY=VALUE", help="as in flashwatt")
    asked = parser.parse_args()
    missing = [str(library) for library in asked.libraries if not library.is_file()]
    if missing:
        parser.error(f"no such file: {', '.join(missing)}")
    if asked.runs < 1 or asked.requests < REQUESTS_MIN:
        parser.error(f"at least 1 run and {REQUESTS_MIN:,} requests")
    return asked


def _request_ns(library: Path, preset: str, requests: int, sets: list[str]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "flashwatt")
        shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        shutil.copyfile(library, package / "_core.abi3.so")
        command = [sys.executable, "-c", TIMED, preset, str(requests), *sets]
        run = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{library}: {run.stderr.strip().splitlines()[-1]}")
    return float(run.stdout)


if __name__ == "__main__":
    main()
