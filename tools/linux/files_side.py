"""Runs the job of the file systems in FlashWatt, for compare_files.py.

    python files_side.py DIR

Writes for each captured form SYSTEM of a file system that both sides have: SYSTEM.requests.csv, SYSTEM.report.json,
SYSTEM.inspect.json.
"""

import subprocess
import sys
from pathlib import Path

from compare_files import SYSTEMS
from plan import DRIVE, HERE

JOB = HERE / "jobs" / "files.fio"
DISK_BYTES = 512 << 20
SETS = (
    "device.host_link.command_ns=1_000_000",  # 1 ms a request, one after another
    f"device.logical_bytes={DISK_BYTES}",
    "host.scheduler=mq_deadline",
    "host.max_request_bytes=1_310_720",
    "host.queue_depth=128",
    "device.host_link.queue_depth=128",
    "workload.files.cache.max_request_bytes=1_310_720",
    # The guest has one processor. With a disk that takes no time, the 12,800 writes of the layout take 1.9 s: at most
    # 146 µs each, the trips to the disk included.
    "workload.files.processor.cores=1",
    "workload.files.processor.call_ns=100_000",
    f'workload.files.fio="{JOB}"',
)
_TICK = "system.ext3.time_step_ms=10"  # user-mode Linux has 100 ticks a second
_RELATIME = 'atime="relatime"'
OF_SYSTEM = {
    "ext2": ('system="ext2"',),
    "ext3": (_TICK, _RELATIME),
    "ext3_noatime": (_TICK,),
    "ext3_seconds": ("system.ext3.time_step_ms=1000", _RELATIME),
    "ext3_nobarrier": (_TICK, _RELATIME, "system.ext3.barrier=0"),
    # mkfs.nilfs2 -B 512, and mounted without its cleaner.
    "nilfs2": (
        "system.nilfs2.segment_bytes=2_097_152",
        "system.nilfs2.clean_low=0",
        "system.nilfs2.clean_high=0",
    ),
}
"""Keys of `[workload.files]` for each captured form."""


def main() -> None:
    """Runs every file system."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in SYSTEMS:
        sets = [*SETS, *(f"workload.files.{one}" for one in OF_SYSTEM[name])]
        arguments = [part for one in sets for part in ("--set", one)]
        run = ["run", str(DRIVE), "--json", "--quiet", "--request-log", str(folder / f"{name}.requests.csv"), "--force"]
        (folder / f"{name}.report.json").write_text(_flashwatt(*run, *arguments))
        inspected = _flashwatt("fs", "inspect", str(DRIVE), "--run", "--json", *arguments)
        (folder / f"{name}.inspect.json").write_text(inspected)


def _flashwatt(*arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", "flashwatt", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"flashwatt failed: {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
