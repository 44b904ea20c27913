"""Runs the jobs in a real Linux kernel on a disk with a fixed time a request, and keeps what the disk saw.

    python capture.py FOLDER [--runs 5] [--jobs JOB ...] [--work DIR]

The kernel is user-mode Linux (Debian's package `user-mode-linux`), its disk is vhost_disk.py.
The FOLDER gets two files: `dispatched.csv.xz` has every request in the order in which the kernel gave it to the disk,
`runs.json` what fio and the kernel said, and how the queue was set. With `--jobs` only these jobs run, and the FOLDER
keeps the runs of the others. The working folder must not be in /tmp, which the guest has for itself.
"""

import argparse
import csv
import json
import lzma
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flashwatt_side import request_log
from plan import DEPTH, DISK_BYTES, HERE, JOBS, PAGE_BYTES, REGION_BYTES, RUNS, SCHEDULERS, SERVICE_NS, Job

PERCENTILES = ("50.000000", "95.000000", "99.000000")
MARK_PAGE = DISK_BYTES // PAGE_BYTES - 1
GUEST_SECONDS_MAX = 3600
FAST_NS = 2_000_000
"""Time a request while FlashWatt draws places: short, so that it draws more of them than Linux can need."""


def go_first() -> None:
    """Puts this process and those that it starts before all others of the machine, where that is allowed."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    except PermissionError:
        print("Without real-time priority: the overhead is that of a machine which may do other things.")


def write_places(job: Job, name: str, folder: Path) -> str:
    """Writes the places that FlashWatt draws for a job as fio's logs; gives the job file that replays them."""
    text = job.text
    if not job.drawn:
        return text
    places: dict[int, list[str]] = defaultdict(list)
    for request in request_log("none", job, [f"device.host_link.command_ns={FAST_NS}"]):
        line = f"/dev/vda {request.kind} {request.offset_bytes} {request.bytes}\n"
        places[request.offset_bytes // REGION_BYTES].append(line)
    for section, regions in job.drawn:
        files = []
        for region in regions:
            file = folder / f"{name}.{region}.iolog"
            lines = ["fio version 2 iolog\n", "/dev/vda add\n", "/dev/vda open\n", *places[region], "/dev/vda close\n"]
            file.write_text("".join(lines))
            files.append(f"/mnt/{file.name}")
        text = text.replace(f"[{section}]\n", f"[{section}]\nread_iolog={':'.join(files)}\n")
    return text


def plan_lines(runs: int, jobs: dict[str, Job]) -> Iterator[str]:
    """Scheduler, job, requests of the queue (0: as Linux chooses), name of the run."""
    for run in range(runs):
        for scheduler in SCHEDULERS:
            for name, job in jobs.items():
                if scheduler in job.only:
                    yield f"{scheduler} {name} {job.nr_requests or 0} {scheduler}.{name}.{run}\n"


@contextmanager
def running(command: list[str], errors: Path) -> Iterator[None]:
    """A process that is stopped at the end."""
    with errors.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def wait_for(path: Path) -> None:
    """Waits until a socket is there."""
    for _ in range(100):
        if path.exists():
            return
        time.sleep(0.1)
    sys.exit(f"capture: {path.name} does not appear; see the .log files beside it")


def guest_environment(work: Path) -> dict[str, str]:
    """The environment of user-mode Linux: on a processor with AMX with the ptrace of wide_registers.c."""
    environment = dict(os.environ)
    if "amx_tile" not in Path("/proc/cpuinfo").read_text().split():
        return environment
    compiler = shutil.which("cc")
    if compiler is None:
        sys.exit("capture: user-mode Linux needs a C compiler (cc) on a processor with AMX; see wide_registers.c")
    library = work / "wide_registers.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, HERE / "wide_registers.c", "-ldl"], check=True)
    return environment | {"LD_PRELOAD": str(library)}


def boot(guest: list[str], work: Path, seconds_max: float) -> None:
    """Runs user-mode Linux to its end."""
    environment = guest_environment(work)
    with (work / "guest.log").open("w") as console:
        subprocess.run(
            guest,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=console,
            timeout=seconds_max,
            check=False,
        )


def run_guest(work: Path) -> None:
    """Boots the guest and waits until it has gone through the plan."""
    disk = work / "disk.sock"
    serve = [sys.executable, str(HERE / "vhost_disk.py"), str(disk), "--log", str(work / "requests.csv")]
    serve += ["--service-us", str(SERVICE_NS / 1e3), "--size-mb", str(DISK_BYTES >> 20)]
    guest = ["linux.uml", "mem=512M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "quiet"]
    guest += [f"init={HERE / 'guest_init.sh'}", f"virtio_uml.device={disk}:2", "con=null", "con0=null,fd:1"]
    guest += [f"lab={work}", f"depth={DEPTH}"]
    with running(serve, work / "disk.log"):
        wait_for(disk)
        boot(guest, work, GUEST_SECONDS_MAX)
        time.sleep(1)  # the disk writes the rest of its log when the guest has left
    if not (work / "finished").exists():
        sys.exit(f"capture: the guest did not come to its end; see {work}/guest.log")


def runs_of_log(path: Path) -> list[list[tuple[int, str, int, int]]]:
    """Requests of each run: time in ns, operation, first page, pages. Marks stand around each run."""
    runs: list[list[tuple[int, str, int, int]]] = []
    inside = False
    with path.open() as file:
        for time_ns, operation, offset, length in csv.reader(file):
            page, pages = int(offset) // PAGE_BYTES, int(length) // PAGE_BYTES
            if page == MARK_PAGE:
                inside = not inside
                if inside:
                    runs.append([])
            elif inside and operation in "RW":
                runs[-1].append((int(time_ns), operation, page, pages))
    return runs


def fio_figures(path: Path) -> dict[str, Any]:
    """What fio says of reads and of writes: requests and latencies, in ns, from entering the queue to the end."""
    figures: dict[str, Any] = {}
    for group in json.loads(path.read_text())["jobs"]:
        if group["error"]:
            sys.exit(f"capture: fio failed: {path}")
        for kind in ("read", "write"):
            of = group[kind]
            if of["total_ios"]:
                quantiles = {f"p{key[:2]}": of["clat_ns"]["percentile"][key] for key in PERCENTILES}
                figures[kind] = {"requests": of["total_ios"], "mean": round(of["clat_ns"]["mean"]), **quantiles}
    return figures


def main() -> None:
    """Captures everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--jobs", nargs="+", choices=list(JOBS), default=list(JOBS), metavar="JOB")
    parser.add_argument("--work", type=Path, default=HERE.parents[1] / "target")
    options = parser.parse_args()
    for path in (options.work.resolve(), HERE.resolve()):
        if path.is_relative_to("/tmp"):
            sys.exit(f"capture: {path} is in /tmp, which the guest has for itself")
    options.work.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="linux-", dir=options.work.resolve()))
    print(f"Working in {work}")
    jobs = {name: JOBS[name] for name in options.jobs}
    for name, job in jobs.items():
        (work / f"{name}.fio").write_text(write_places(job, name, work))
    go_first()
    plan = list(plan_lines(options.runs, jobs))
    (work / "plan").write_text("".join(plan))
    seconds = sum(JOBS[line.split()[1]].window_ns for line in plan) / 1e9
    print(f"{len(plan)} runs, at least {seconds:.0f} s ...")
    run_guest(work)
    write_capture(work, [line.split()[3] for line in plan], options.folder)


def kept(folder: Path, jobs: set[str]) -> tuple[list[str], dict[str, Any]]:
    """The runs of other jobs that a folder has: their lines of `dispatched.csv.xz`, and what `runs.json` says."""
    if jobs == set(JOBS) or not (folder / "runs.json").exists():
        return [], {}
    runs = json.loads((folder / "runs.json").read_text())["runs"]
    others = {name: run for name, run in runs.items() if name.split(".")[1] not in jobs}
    with lzma.open(folder / "dispatched.csv.xz", "rt") as file:
        return [line for line in file if line.split(",", 1)[0] in others], others


def write_capture(work: Path, names: list[str], folder: Path) -> None:
    """Puts what was captured into the folder."""
    logs = runs_of_log(work / "requests.csv")
    if len(logs) != len(names):
        sys.exit(f"capture: {len(logs)} runs in the log, {len(names)} in the plan")
    folder.mkdir(parents=True, exist_ok=True)
    lines, others = kept(folder, {name.split(".")[1] for name in names})
    with lzma.open(folder / "dispatched.csv.xz", "wt", preset=9) as out:
        out.write("run,after_100us,operation,page,pages\n")
        out.writelines(lines)
        for name, log in zip(names, logs, strict=True):
            before = log[0][0] if log else 0
            for time_ns, operation, page, pages in log:
                after = round((time_ns - before) / 1e5)
                before += after * 100_000
                out.write(f"{name},{after},{operation},{page},{pages}\n")
    runs = {name: {"fio": fio_figures(work / f"{name}.json"), **settled(work, name)} for name in names}
    host = {"kernel": (work / "kernel").read_text().strip(), "machine_cpus": os.cpu_count()}
    (folder / "runs.json").write_text(json.dumps({"host": host, "runs": {**others, **runs}}, indent=1) + "\n")
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{folder}: {len(names)} runs, {size / 1024:.0f} KiB")


def settled(work: Path, name: str) -> dict[str, Any]:
    """The queue of a run, and what the kernel says of the run's requests (Documentation/block/stat.rst)."""
    before, after = (list(map(int, (work / f"{name}.{when}").read_text().split())) for when in ("before", "after"))
    spent = [late - early for early, late in zip(before, after, strict=True)]
    kernel = {"read": {"requests": spent[0], "ms": spent[3]}, "write": {"requests": spent[4], "ms": spent[7]}}
    return {"queue": queue(work / f"{name}.queue"), "kernel": kernel}


def queue(path: Path) -> dict[str, str]:
    """The settings of the queue, by file name."""
    pairs = (line.split(":", 1) for line in path.read_text().splitlines() if not line.startswith("grep: "))
    return {name.rsplit("/", 1)[-1]: value.strip() for name, value in pairs}


if __name__ == "__main__":
    main()
