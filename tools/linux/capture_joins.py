"""Counts how many fsyncs join in a commit of ext3's journal, by the number of threads that call fsync.

    python capture_joins.py FOLDER [--threads 1 2 4 8 16] [--runs 5] [--work DIR]

Each number of threads has a guest of its own (capture_files.py) with the disk of 1 ms a request, and runs
jobs/joins.fio. The FOLDER gets `ext3_joins.json`, and the table is printed.
"""

import argparse
import json
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from capture import go_first
from capture_files import SERVICES_US, run_guest, work_folder
from files_figures import figures, phases, read_log
from files_journal import journal_figures
from files_layout import layout_of
from plan import HERE, RUNS

SYSTEM = "ext3"
JOB = HERE / "jobs/joins.fio"
WRITES = 256
"""Writes of a thread, with an fsync each; that after the last one is `end_fsync`."""


def joined(work: Path, threads: int) -> dict[str, Any]:
    """Runs the job with so many threads, and counts."""
    run_guest(work, SYSTEM, SERVICES_US[-1], f"{JOB.read_text()}numjobs={threads}\n")
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


def main() -> None:
    """Captures all numbers of threads."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2, 4, 8, 16])
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--work", type=Path, default=HERE.parents[1] / "target")
    options = parser.parse_args()
    base = work_folder(options.work)
    options.folder.mkdir(parents=True, exist_ok=True)
    go_first()
    found = []
    print(
        "| threads | fsyncs | fsyncs for each commit, mean | least | most | flushes for each commit |\n"
        + "|--:" * 6
        + "|"
    )
    for threads in options.threads:
        runs = []
        for _ in range(options.runs):
            work = Path(tempfile.mkdtemp(prefix=f"joins-{threads}-", dir=base))
            runs.append(joined(work, threads))
            shutil.rmtree(work)
        print(row(runs), flush=True)
        found += runs
    lines = ",\n".join(f" {json.dumps(run)}" for run in found)
    (options.folder / "ext3_joins.json").write_text(f"[\n{lines}\n]\n")


def row(runs: list[dict[str, Any]]) -> str:
    """A line of the table: all runs of a number of threads."""
    joins = [run["fsyncs"] / run["commits"] for run in runs]
    flushes = statistics.fmean(run["flushes"] / run["commits"] for run in runs)
    rates = f"{statistics.fmean(joins):.2f} | {min(joins):.2f} | {max(joins):.2f} | {flushes:.2f}"
    return f"| {runs[0]['threads']} | {runs[0]['fsyncs']} | {rates} |"


if __name__ == "__main__":
    main()
