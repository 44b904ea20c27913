"""Runs fio's job on real file systems of a real Linux kernel, and keeps what the disk saw, in figures.

    python capture_files.py FOLDER [--runs 5] [--systems ext2 ...] [--services 0 1000] [--work DIR]

The kernel is user-mode Linux, the disk is vhost_disk.py with an image. Each run boots a guest (guest_files.sh) that
makes the file system, mounts it, runs jobs/files.fio, and unmounts. The FOLDER gets `runs.json` with the figures of
each run by phase, and SYSTEM.csv.xz, the log of the first run on the slow disk. With `--systems` or `--services` the
FOLDER keeps the other runs. The working folder must not be in /tmp, which the guest has for itself.
"""

import argparse
import datetime
import json
import lzma
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from capture import boot, go_first, queue, running, wait_for
from files_figures import Sent, figures, phases, read_log
from files_journal import journal_figures
from files_layout import LAYOUTS, Ext2, Ext3, Layout, Nilfs2, extents_of, layout_of
from plan import HERE, RUNS

DISK_MB = 512
MEMORY = "1G"
SERVICES_US = (0, 1000)
"""Times of a request: none, so that the processor decides, and one that leaves the disk always busy."""
GUEST_SECONDS_MAX = 600
JOB = HERE / "jobs/files.fio"
GUEST = HERE / "guest_files.sh"
FILES = 400
PACKAGES = ("user-mode-linux", "fio", "e2fsprogs", "nilfs-tools", "f2fs-tools")
JBD2_MEANS = {
    "commit_us": "average transaction commit time",
    "handles": "handles per transaction",
    "blocks": "blocks per transaction",
    "logged_blocks": "logged blocks per transaction",
}
"""Of a transaction, as /proc/fs/jbd2 has them."""
WHOLE = ("layout", "run", "sync")
"""The phases that the job makes together. What stays dirty after fio is written by the sync."""


def run_guest(work: Path, system: str, service_us: int, job: str) -> None:
    """Boots the guest, and waits until it has gone through the job."""
    (work / "job.fio").write_text(f"{job}directory=/mnt/t\n")
    disk = work / "disk.sock"
    serve = [sys.executable, str(HERE / "vhost_disk.py"), str(disk), "--log", str(work / "requests.csv")]
    serve += ["--service-us", str(service_us), "--size-mb", str(DISK_MB), "--image", str(work / "image")]
    serve += ["--journal"] if issubclass(LAYOUTS[system], Ext3) else []
    guest = ["linux.uml", f"mem={MEMORY}", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "quiet"]
    guest += [f"init={GUEST}", f"virtio_uml.device={disk}:2", "con=null", "con0=null,fd:1"]
    guest += [f"lab={work}", f"fs={system}"]
    with running(serve, work / "disk.log"):
        wait_for(disk)
        boot(guest, work, GUEST_SECONDS_MAX)
    if not (work / "finished").exists():
        sys.exit(f"capture_files: the guest did not come to its end; see {work}/guest.log")


def counted_by_fio(path: Path) -> dict[str, int]:
    """What fio says it did. Its own count of fsync leaves out those of the layout and those at the end, one a file."""
    text = path.read_text()
    (job,) = json.loads(text[text.index("{\n") :])["jobs"]
    if job["error"]:
        sys.exit(f"capture_files: fio failed: {path}")
    run = job["sync"]["total_ios"] + FILES
    return {
        "reads": job["read"]["total_ios"],
        "writes": job["write"]["total_ios"],
        "written_bytes": job["write"]["io_bytes"],
        "fsyncs_layout": FILES,
        "fsyncs_run": run,
        "fsyncs": FILES + run,
    }


def counted_by_jbd2(path: Path) -> dict[str, int]:
    """What the kernel's journal says of its transactions before the file system is unmounted; the rest are means."""
    text = path.read_text()
    transactions, requested = re.findall(r"\d+", text)[:2]
    found = {"transactions": int(transactions), "requested": int(requested)}
    for key, words in JBD2_MEANS.items():
        found[key] = int(re.findall(rf"(\d+)(?:us)? {words}", text)[0])
    return found


def extents(path: Path) -> dict[str, Any]:
    """Extents of each file as filefrag counts them: the mean, and files by number of extents."""
    counts = [int(count) for count in re.findall(r": (\d+) extents? found", path.read_text())]
    if len(counts) != FILES:
        sys.exit(f"capture_files: filefrag knows {len(counts)} files, not {FILES}: {path}")
    return {"mean": sum(counts) / FILES, "files": dict(sorted(Counter(counts).items()))}


def described(layout: Layout) -> dict[str, Any]:
    """What the image itself tells beside the kinds of its blocks."""
    if isinstance(layout, Ext2):
        found = {"used_blocks_of_groups": layout.used, "extents_mean": sum(layout.extents.values()) / FILES}
        if isinstance(layout, Ext3):
            blocks = layout.journal
            found["journal"] = {"first_block": blocks[0], "blocks": len(blocks), "extents": extents_of(blocks)}
        return found
    if isinstance(layout, Nilfs2):
        return {"logs": len(layout.logs), "used_blocks": len(layout.kinds) - layout.kinds.count("other")}
    return {}


def captured(work: Path, system: str) -> dict[str, Any]:
    """The figures of a run."""
    log = read_log(work / "requests.csv")
    parts = phases(log)
    layout = layout_of(system, work / "image")
    fio = counted_by_fio(work / "fio.json")
    whole = [sent for name in WHOLE for sent in parts[name]]
    found = {"mkfs": figures(parts["mkfs"])}  # later writes have overwritten what mkfs wrote
    for name, part in {**{name: parts[name] for name in ("mount", *WHOLE, "umount")}, "job": whole}.items():
        found[name] = figures(part, layout.classify)
        if isinstance(layout, Ext3):
            found[name]["journal"] = journal_figures(part, layout)
    for name, fsyncs in (("layout", "fsyncs_layout"), ("run", "fsyncs_run"), ("job", "fsyncs")):
        add_rates(found[name], fio[fsyncs])
    return {
        "fio": fio,
        "extents": extents(work / "filefrag"),
        "image": described(layout),
        **({"jbd2": counted_by_jbd2(work / "jbd2")} if isinstance(layout, Ext3) else {}),
        "mount": (work / "mounts").read_text().split(maxsplit=2)[2].strip(),
        "queue": queue(work / "queue"),
        "vm": queue(work / "vm"),
        "phases": {name: rounded(part) for name, part in found.items()},
    }


def add_rates(part: dict[str, Any], fsyncs: int) -> None:
    """Flushes for each fsync and for each MiB written."""
    part["fsyncs"] = fsyncs
    part["flushes_per_fsync"] = part["flushes"] / fsyncs
    part["flushes_per_mib"] = part["flushes"] / (part["write_bytes"] / (1 << 20))


def rounded(part: dict[str, Any]) -> dict[str, Any]:
    """With six decimals."""
    return {key: round(value, 6) if isinstance(value, float) else value for key, value in part.items()}


def versions() -> dict[str, str]:
    """Versions of the packages, where dpkg knows them."""
    found = {}
    for package in PACKAGES:
        command = ["dpkg-query", "-W", "-f", "${Version}", package]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            break
        if done.returncode == 0:
            found[package] = done.stdout
    return found


def provenance(work: Path) -> dict[str, Any]:
    """Where the figures come from."""
    guest = GUEST.read_text()
    return {
        "kernel": (work / "kernel").read_text().strip(),
        "packages": versions(),
        "date": datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat(),
        "memory": MEMORY,
        "disk_mb": DISK_MB,
        "mkfs": dict(re.findall(r"^ +(\w+)\) (mkfs\.[^;]+?) ;;", guest, flags=re.MULTILINE)),
        "job": JOB.read_text(),
    }


def as_text(host: dict[str, Any], runs: dict[str, Any]) -> str:
    """Everything as JSON, a run a line."""
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(run)}" for name, run in sorted(runs.items()))
    return f'{{\n "host": {json.dumps(host)},\n "runs": {{\n{lines}\n }}\n}}\n'


def write_log(log: list[Sent], path: Path) -> None:
    """Keeps a log: times in us, offsets and lengths in bytes."""
    with lzma.open(path, "wt", preset=9) as file:
        for sent in log:
            journal = f",{sent.journal}" if sent.journal else ""
            file.write(f"{sent.time_ns // 1000 * 1000},{sent.kind},{sent.offset_bytes},{sent.bytes}{journal}\n")


def work_folder(path: Path) -> Path:
    """Makes the working folder."""
    for used in (path.resolve(), HERE.resolve()):
        if used.is_relative_to("/tmp"):
            sys.exit(f"{used} is in /tmp, which the guest has for itself")
    path.mkdir(parents=True, exist_ok=True)
    return path.resolve()


def main() -> None:
    """Captures everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--systems", nargs="+", choices=list(LAYOUTS), default=list(LAYOUTS), metavar="SYSTEM")
    parser.add_argument("--services", nargs="+", type=int, choices=SERVICES_US, default=list(SERVICES_US), metavar="US")
    parser.add_argument("--work", type=Path, default=HERE.parents[1] / "target")
    parser.add_argument("--keep", action="store_true", help="keep images and logs in the working folder")
    options = parser.parse_args()
    base = work_folder(options.work)
    options.folder.mkdir(parents=True, exist_ok=True)
    go_first()
    described_at = options.folder / "runs.json"
    kept = json.loads(described_at.read_text())["runs"] if described_at.exists() else {}
    # Threads that have laid out their files wait for one another, so that the phases are apart.
    job = f"{JOB.read_text()}exec_prerun=/tmp/laid_out\n"
    for run in range(options.runs):
        for service_us in options.services:
            for system in options.systems:
                name = f"{system}.{service_us}us.{run}"
                work = Path(tempfile.mkdtemp(prefix=f"files-{name}-", dir=base))
                run_guest(work, system, service_us, job)
                kept[name] = captured(work, system)
                print(name, json.dumps(kept[name]["phases"]["job"]))
                if run == 0 and service_us == SERVICES_US[-1]:
                    write_log(read_log(work / "requests.csv"), options.folder / f"{system}.csv.xz")
                described_at.write_text(as_text(provenance(work), kept))
                if not options.keep:
                    shutil.rmtree(work)


if __name__ == "__main__":
    main()
