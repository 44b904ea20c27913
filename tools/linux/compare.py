"""Holds FlashWatt's block layer against runs of a real kernel.

    python compare.py FOLDER [--json] [--page FILE]

FOLDER is one that capture.py wrote. Prints a table of both sides, and names what is beyond its bar. `--page` puts the
table into a page of the documentation, between its two marks.
"""

import argparse
import csv
import json
import lzma
import statistics
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from figures import Dispatched, Figures, figures, tau
from flashwatt_side import registered, run
from plan import JOBS, PAGE_BYTES, RULES, SCHEDULERS, SERVICE_NS, Job, rule_of

BEGIN, END = "<!-- begin: compare.py -->", "<!-- end: compare.py -->"
SIZE_BAR, SHARE_BAR, MEDIAN_BAR = 0.10, 0.10, 0.15
OVERHEAD_BAR = 0.05
MIN_MS = 1e6


class Row(NamedTuple):
    """A figure on both sides."""

    scheduler: str
    job: str
    figure: str
    unit: str
    linux: list[float]
    """One value a run."""
    flashwatt: float
    bar: float | None
    """How far FlashWatt may be outside the range of Linux's runs, as a part of their mean; none: it is only shown."""

    @property
    def beyond(self) -> float:
        """How far FlashWatt is outside the range of Linux's runs, as a part of Linux's mean."""
        outside = max(min(self.linux) - self.flashwatt, self.flashwatt - max(self.linux), 0.0)
        return outside / abs(statistics.fmean(self.linux)) if outside else 0.0

    @property
    def is_within(self) -> bool:
        """Whether the figure keeps to its bar."""
        return self.bar is None or self.beyond <= self.bar

    @property
    def rule(self) -> str | None:
        """The rule of Linux that explains a difference of this figure."""
        return rule_of(self.scheduler, self.job, self.figure)


class Capture:
    """What capture.py wrote."""

    def __init__(self, folder: Path) -> None:
        """Read it."""
        self.logs: dict[str, list[Dispatched]] = defaultdict(list)
        with lzma.open(folder / "dispatched.csv.xz", "rt") as file:
            for row in csv.DictReader(file):
                log = self.logs[row["run"]]
                before = log[-1].time_ns if log else 0
                time_ns = before + int(row["after_100us"]) * 100_000
                log.append(Dispatched(time_ns, row["operation"], int(row["page"]), int(row["pages"])))
        described = json.loads((folder / "runs.json").read_text())
        self.runs: dict[str, Any] = described["runs"]
        self.host: dict[str, Any] = described["host"]

    def missing(self) -> list[str]:
        """What plan.py has and this capture has not: jobs without a run, and runs without a request."""
        planned = [f"{scheduler}.{name}" for name, job in JOBS.items() for scheduler in job.only]
        captured = {run.rsplit(".", 1)[0] for run in self.runs}
        return [name for name in planned if name not in captured] + [run for run in self.runs if run not in self.logs]

    def names(self, scheduler: str, job: str) -> list[str]:
        """The runs of a job under a scheduler."""
        return [name for name in self.runs if name.rsplit(".", 1)[0] == f"{scheduler}.{job}"]

    def overhead(self) -> list[float]:
        """What a request takes above the disk's time, as a part of that, alone under `none`: one value a run."""
        means = [self.runs[name]["fio"]["read"]["mean"] for name in self.names("none", "single")]
        return [mean / SERVICE_NS - 1 for mean in means]


def flashwatt_figures(scheduler: str, job: Job) -> tuple[Figures, dict[str, Any], float]:
    """The figures of FlashWatt's run, its latencies and the mean time of a request at the disk."""
    report, requests = run(scheduler, job, [])
    # The disk ends one request at a time: what ends in one instant was one request.
    ends: dict[int, list[Any]] = defaultdict(list)
    for request in requests:
        ends[request.end_ns].append(request)
    log = []
    for end_ns, pieces in sorted(ends.items()):
        first = min(piece.offset_bytes for piece in pieces)
        length = sum(piece.bytes for piece in pieces)
        log.append(Dispatched(end_ns, pieces[0].kind[0].upper(), first // PAGE_BYTES, length // PAGE_BYTES))
    busy_ns = (log[-1].time_ns - log[0].time_ns) / (len(log) - 1)
    seen = figures(log, job.window_ns, from_first_write=job.written_back)
    return seen, report["host"]["latency_ns"]["clat"], busy_ns


def rows_of(capture: Capture, scheduler: str, name: str) -> list[Row]:
    """All figures of a job under a scheduler."""
    job = JOBS[name]
    runs = capture.names(scheduler, name)
    linux = [figures(capture.logs[run], job.window_ns, from_first_write=job.written_back) for run in runs]
    ours, latencies, _ = flashwatt_figures(scheduler, job)
    rows = []

    def row(figure: str, unit: str, values: list[float], value: float, bar: float | None = None) -> None:
        rows.append(Row(scheduler, name, figure, unit, values, value, bar))

    row("requests after merging", "", [float(of.requests) for of in linux], ours.requests)
    for kind, word in (("R", "reads"), ("W", "writes")):
        sizes = [of.mean_kib[kind] for of in linux if kind in of.mean_kib]
        if sizes and kind in ours.mean_kib:
            row(f"mean size of {word}", "KiB", sizes, ours.mean_kib[kind], SIZE_BAR)
    if {"R", "W"} <= ours.mean_kib.keys():
        row("reads' share", "%", [100 * of.reads_share for of in linux], 100 * ours.reads_share, SHARE_BAR)
    for region, share in enumerate(ours.shares):
        if 0 < share < 1:
            row(f"share of process {region}", "%", [100 * of.shares[region] for of in linux], 100 * share)
    for kind in ("read", "write"):
        if (kind == "write" and job.written_back) or latencies[kind]["count"] == 0:
            continue
        for quantile in ("p50", "p95", "p99"):
            values = [capture.runs[run]["fio"][kind][quantile] / MIN_MS for run in runs]
            bar = MEDIAN_BAR if quantile == "p50" else None
            row(f"{kind} latency {quantile}", "ms", values, latencies[kind][quantile] / MIN_MS, bar)
        counts = [capture.runs[run]["kernel"][kind] for run in runs]
        # Where it does not count the same: merged requests, and what came before write-back began.
        bar = None if job.merged or job.written_back else MEDIAN_BAR
        means = [count["ms"] / count["requests"] for count in counts]
        row(f"{kind} latency by the kernel, mean", "ms", means, latencies[kind]["mean"] / MIN_MS, bar)
    own = [tau(linux[0].order, of.order) for of in linux[1:]]
    row("Kendall's tau with the first run", "", own or [1.0], tau(linux[0].order, ours.order))
    return rows


def compare(capture: Capture) -> list[Row]:
    """Every job under every scheduler that FlashWatt has."""
    ours = registered()
    return [
        row
        for scheduler, name in SCHEDULERS.items()
        if name in ours
        for job_name, job in JOBS.items()
        if scheduler in job.only
        for row in rows_of(capture, scheduler, job_name)
    ]


def table(capture: Capture, rows: list[Row]) -> str:
    """The page's tables."""
    overhead = capture.overhead()
    _, _, service_ns = flashwatt_figures("none", JOBS["single"])
    lines = [
        f"Linux {capture.host['kernel']}, {len(overhead)} runs of each job.",
        f"Overhead under `none`, one request at a time: {100 * statistics.fmean(overhead):.1f} % of the disk's "
        f"{SERVICE_NS / MIN_MS:g} ms ({100 * min(overhead):.1f} to {100 * max(overhead):.1f} %). "
        f"FlashWatt's disk takes {service_ns / MIN_MS:.6f} ms a request.",
    ]
    last = None
    for row in rows:
        if (row.scheduler, row.job) != last:
            last = (row.scheduler, row.job)
            lines += ["", f"### `{row.scheduler}`, job `{row.job}`", ""]
            lines += ["| figure | Linux, mean | least | most | FlashWatt | beyond the range | bar |"]
            lines += ["|---|--:|--:|--:|--:|--:|---|"]
        lines.append(line(row))
    used = [name for name in RULES if any(row.rule == name and not row.is_within for row in rows)]
    lines += ["", "Rules of Linux that explain differences:", ""]
    lines += [f"- **{name}**: {RULES[name]}" for name in used]
    return "\n".join(lines) + "\n"


def line(row: Row) -> str:
    """A line of a table."""
    values = [statistics.fmean(row.linux), min(row.linux), max(row.linux), row.flashwatt]
    digits = 0 if row.figure == "requests after merging" else 3 if row.unit == "" else 1
    cells = [f"{value:.{digits}f}" for value in values]
    verdict = "" if row.bar is None else f"{100 * row.bar:.0f} %"
    if not row.is_within:
        verdict += f", not kept: {row.rule}" if row.rule else ", **not kept**"
    unit = f", {row.unit}" if row.unit else ""
    beyond = "" if row.bar is None else f"{100 * row.beyond:.1f} %"
    return f"| {row.figure}{unit} | {' | '.join(cells)} | {beyond} | {verdict} |"


def write_page(page: Path, text: str) -> None:
    """Puts the tables between the marks of a page."""
    before, rest = page.read_text().split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n{text}{END}{after}")


def main() -> None:
    """Prints the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--page", type=Path, help="put the tables into this page")
    options = parser.parse_args()
    capture = Capture(options.folder)
    if missing := capture.missing():
        jobs = sorted({name.split(".")[1] for name in missing})
        sys.exit(
            f"compare: {options.folder} lacks runs that plan.py has: {', '.join(missing)}\n"
            f"Capture them: python tools/linux/capture.py {options.folder} --jobs {' '.join(jobs)}"
        )
    rows = compare(capture)
    if options.json:
        found = [{**row._asdict(), "beyond": row.beyond, "is_within": row.is_within, "rule": row.rule} for row in rows]
        print(json.dumps({"overhead": capture.overhead(), "rows": found, "page": table(capture, rows)}))
        return
    text = table(capture, rows)
    print(text)
    if options.page:
        write_page(options.page, text)
    if any(not row.is_within and row.rule is None for row in rows):
        sys.exit("Figures are beyond their bars, and no rule of Linux is named for them.")
    if statistics.fmean(capture.overhead()) >= OVERHEAD_BAR:
        sys.exit("The overhead is not below 5 %: the figures are not to be trusted.")


if __name__ == "__main__":
    main()
