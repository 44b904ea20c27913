"""Captures what ext3's journal does by itself, and how many fsyncs join in a commit.

    python capture_journal.py FOLDER [--threads 1 2 4 8 16] [--runs 5] [--work DIR]

Each run has a guest of its own (capture_files.py) with the disk of 1 ms a request. The FOLDER gets two files:
`ext3_lazy.csv.xz` is the log of jobs/lazy.fio, which never calls fsync; `ext3_joins.json` counts what jobs/joins.fio
makes, with each number of threads. The table of joins is printed.
"""

import argparse
import json
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from capture import go_first
from capture_files import SERVICES_US, run_guest, work_folder, write_log
from files_figures import figures, phases, read_log
from files_journal import journal_figures
from files_layout import layout_of
from plan import HERE, RUNS

SYSTEM = "ext3"
JOINS, LAZY = HERE / "jobs/joins.fio", HERE / "jobs/lazy.fio"
WRITES = 256
"""Writes of a thread of JOINS, with an fsync each; that after the last one is `end_fsync`."""
HEAD = "| threads | fsyncs | fsyncs for each commit, mean | least | most | flushes for each commit |"


@contextmanager
def ran(job: str, base: Path) -> Iterator[Path]:
    """Runs a job; the folder has what the guest and the disk left."""
    work = Path(tempfile.mkdtemp(prefix="journal-", dir=base))
    run_guest(work, SYSTEM, SERVICES_US[-1], job)
    yield work
    shutil.rmtree(work)


def joined(threads: int, base: Path) -> dict[str, Any]:
    """Run the job with this number of threads, and count its commits."""
    with ran(f"{JOINS.read_text()}numjobs={threads}\n", base) as work:
        run = phases(read_log(work / "requests.csv"))["run"]
        layout = layout_of(SYSTEM, work / "image")
    journal = journal_figures(run, layout)
    of_run = figures(run, layout.classify)
    return {
        "threads": threads,
        "fsyncs": WRITES * threads,
        "commits": journal["blocks"]["commit"],
        "flushes": of_run["flushes"],
        "writes": of_run["writes"],
        "written": of_run["written"],
        "duration_s": round(of_run["duration_s"], 6),
        "journal": journal,
    }


def row(runs: list[dict[str, Any]]) -> str:
    """A line of the table: all runs of a number of threads."""
    joins = [run["fsyncs"] / run["commits"] for run in runs]
    flushes = statistics.fmean(run["flushes"] / run["commits"] for run in runs)
    rates = f"{statistics.fmean(joins):.2f} | {min(joins):.2f} | {max(joins):.2f} | {flushes:.2f}"
    return f"| {runs[0]['threads']} | {runs[0]['fsyncs']} | {rates} |"


def main() -> None:
    """Captures everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2, 4, 8, 16])
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--work", type=Path, default=HERE.parents[1] / "target")
    options = parser.parse_args()
    base = work_folder(options.work)
    options.folder.mkdir(parents=True, exist_ok=True)
    go_first()
    with ran(LAZY.read_text(), base) as work:
        write_log(read_log(work / "requests.csv"), options.folder / f"{SYSTEM}_lazy.csv.xz")
    print(HEAD + "\n" + "|--:" * HEAD.count(" | ") + "|--:|")
    found = []
    for threads in options.threads:
        runs = [joined(threads, base) for _ in range(options.runs)]
        print(row(runs), flush=True)
        found += runs
    lines = ",\n".join(f" {json.dumps(run)}" for run in found)
    (options.folder / f"{SYSTEM}_joins.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
