"""Holds FlashWatt's file systems against what those of a real kernel send to the same disk.

    python compare_files.py FOLDER [--ours DIR] [--phase job] [--json] [--page FILE]

FOLDER is one that capture_files.py wrote. DIR has for each file system SYSTEM what FlashWatt wrote:
SYSTEM.requests.csv (`run --request-log`), SYSTEM.report.json (`run --json`) and, for the extents, SYSTEM.inspect.json
(`fs inspect --json`). Prints a table of both sides, and names what is beyond its bar. `--page` puts the tables into a
page of the documentation, between its two marks.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from compare import write_page
from files_figures import MIB, Sent, figures, read_request_log

PHASES = ("layout", "run", "job")
SYSTEMS = {
    "ext2": "ext2",
    "ext3": "ext3",
    "ext3_noatime": "ext3",
    "ext3_seconds": "ext3",
    "ext3_nobarrier": "ext3",
    "nilfs2": "nilfs2",
}
"""The captured form of each file system, and FlashWatt's name of it. f2fs was captured, and is not modelled."""
WINDOWS = "ext3"
"""FlashWatt's ext3 gives blocks out as ext3 did, in windows. The captured driver is ext4's, with its own allocator:
extents are not compared."""
SERVICE = "1000us"
"""The disk that FlashWatt has: with no time a request the guest's processor decides, which is not modelled."""


class Bar(NamedTuple):
    """How far a figure may be outside the range of the kernel's runs."""

    kind: str
    """`part`: of their mean; `points`: a difference; `factor`: a ratio."""
    most: float

    def beyond(self, real: Sequence[float], value: float) -> float:
        """How far a value is outside the range, in the kind of the bar. Within it: 0, or a factor of 1."""
        nearest = min(max(value, min(real)), max(real))
        if self.kind == "factor":
            if value == nearest:
                return 1.0
            ratio = value / nearest if nearest else float("inf")
            return max(ratio, 1 / ratio) if ratio else float("inf")
        outside = abs(value - nearest)
        return outside / statistics.fmean(real) if self.kind == "part" and outside else outside

    def __str__(self) -> str:
        """As the table has it."""
        if self.kind == "factor":
            return f"factor {self.most:g}"
        return f"{self.most:.0%}".replace("%", " %") if self.kind == "part" else f"{100 * self.most:.0f} points"


class Figure(NamedTuple):
    """A line of the table."""

    key: str
    label: str
    scale: float
    digits: int
    bar: Bar | None = None


FIGURES = (
    Figure("writes", "writes", 1, 0),
    Figure("written_mib", "written, MiB", 1, 1),
    Figure("mean_write_kib", "mean size of a write, KiB", 1, 1, Bar("part", 0.25)),
    Figure("sequential_share", "sequential writes, %", 100, 1, Bar("points", 0.10)),
    Figure("reads", "reads", 1, 0),
    Figure("mean_read_kib", "mean size of a read, KiB", 1, 1),
    Figure("flushes", "flushes", 1, 0),
    Figure("flushes_per_fsync", "flushes for each fsync", 1, 3, Bar("factor", 1.5)),
    Figure("flushes_per_mib", "flushes for each MiB written", 1, 2, Bar("factor", 1.5)),
    Figure("metadata_share", "metadata in what is written, %", 100, 1, Bar("points", 0.05)),
    Figure("extents", "extents of a file, mean", 1, 2, Bar("part", 0.10)),
)


class Row(NamedTuple):
    """A figure on both sides."""

    system: str
    service: str
    figure: Figure
    real: list[float]
    """One value a run."""
    flashwatt: float | None

    @property
    def beyond(self) -> float | None:
        """How far FlashWatt is outside the range of the kernel's runs."""
        if self.figure.bar is None or self.flashwatt is None:
            return None
        return self.figure.bar.beyond(self.real, self.flashwatt)

    @property
    def is_within(self) -> bool:
        """Whether the figure keeps to its bar."""
        bar, beyond = self.figure.bar, self.beyond
        return bar is None or beyond is None or beyond <= bar.most


def real_figures(run: dict[str, Any], phase: str) -> dict[str, float]:
    """The figures of a run of the kernel."""
    part = run["phases"][phase]
    return {**part, "written_mib": part["write_bytes"] / MIB, "extents": run["extents"]["mean"]}


def flashwatt_figures(
    requests: Sequence[Sent], report: dict[str, Any], inspection: dict[str, Any] | None
) -> dict[str, float]:
    """The same figures of a run of FlashWatt: from its requests, its report, and the places of its files."""
    found = figures(requests)
    files = report["files"]
    fsyncs = sum(flow["count"] for flow in files["flows"] if "fsync" in flow["name"])
    found["written_mib"] = found["write_bytes"] / MIB
    found["metadata_share"] = files["metadata_fraction"]
    if fsyncs:
        found["flushes_per_fsync"] = found["flushes"] / fsyncs
    if found["write_bytes"]:
        found["flushes_per_mib"] = found["flushes"] / found["written_mib"]
    if inspection:
        found["extents"] = inspection["extents_mean"]
    return found


def ours(folder: Path | None, system: str) -> dict[str, float]:
    """FlashWatt's figures of a file system; none where it did not run."""
    if folder is None or system not in SYSTEMS or not (folder / f"{system}.report.json").exists():
        return {}
    report = json.loads((folder / f"{system}.report.json").read_text())
    inspected = folder / f"{system}.inspect.json"
    is_compared = inspected.exists() and SYSTEMS[system] != WINDOWS
    inspection = json.loads(inspected.read_text()) if is_compared else None
    return flashwatt_figures(read_request_log(folder / f"{system}.requests.csv"), report, inspection)


def rows_of(runs: dict[str, Any], phase: str, folder: Path | None) -> list[Row]:
    """All figures of all captured file systems, by file system and time of a request."""
    groups: dict[tuple[str, str], list[dict[str, float]]] = {}
    for name, run in runs.items():
        system, service, _ = name.split(".")
        groups.setdefault((system, service), []).append(real_figures(run, phase))
    rows = []
    for system in dict.fromkeys(system for system, _ in groups):
        for (captured, service), real in groups.items():
            if captured == system:
                flashwatt = ours(folder, system) if service == SERVICE else {}
                values = [(figure, [of[figure.key] for of in real]) for figure in FIGURES]
                rows += [Row(system, service, figure, of, flashwatt.get(figure.key)) for figure, of in values]
    return rows


def table(host: dict[str, Any], phase: str, rows: Sequence[Row]) -> str:
    """The page's tables."""
    packages = ", ".join(f"{name} {version}" for name, version in host["packages"].items())
    lines = [f"Linux {host['kernel']}; {packages}. Phase: `{phase}`."]
    last = None
    for row in rows:
        if (row.system, row.service) != last:
            last = (row.system, row.service)
            lines += ["", f"### `{row.system}`, {row.service.removesuffix('us')} µs a request", ""]
            lines += ["| figure | Linux, mean | least | most | FlashWatt | beyond the range | bar |"]
            lines += ["|---|--:|--:|--:|--:|--:|---|"]
        lines.append(line(row))
    return "\n".join(lines) + "\n"


def journal_table(runs: dict[str, Any]) -> str:
    """Means of what the kernel's runs wrote to a journal, by file system and time of a request."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for name, run in sorted(runs.items()):
        if "journal" in run["phases"]["job"]:
            groups.setdefault(tuple(name.split(".")[:2]), []).append(run["phases"])
    cells = ["capture", "phase", "commits", "fsyncs for each commit", "copies for each commit", "most"]
    cells += ["requests for each commit", "journal, MiB", "in place, MiB", "writes of the journal's superblock"]
    lines = ["### Journals", "", f"| {' | '.join(cells)} |", "|---|---" + "|--:" * (len(cells) - 2) + "|"]
    for (system, service), group in groups.items():
        for phase in ("layout", "run"):
            values = [
                statistics.fmean(of) for of in zip(*(journal_values(parts[phase]) for parts in group), strict=True)
            ]
            found = [f"{value:.{digits}f}" for value, digits in zip(values, (0, 1, 1, 0, 2, 1, 1, 0), strict=True)]
            time = f"{service.removesuffix('us')} µs"
            lines.append(f"| `{system}`, {time} | `{phase}` | {' | '.join(found)} |")
    return "\n".join(lines) + "\n" if groups else ""


def journal_values(part: dict[str, Any]) -> tuple[float, ...]:
    """A phase of a run as a line of the table of journals."""
    journal, written = part["journal"], part["written"]
    blocks = journal["blocks"]
    commits, superblocks = blocks["commit"], blocks.get("superblock", 0)
    in_place = sum(size for kind, size in written.items() if kind not in ("data", "journal"))
    rates = (part["fsyncs"] / commits, blocks["copy"] / commits, journal["copies_most"])
    requests = (journal["writes"] - superblocks) / commits
    return (commits, *rates, requests, written["journal"] / MIB, in_place / MIB, superblocks)


def line(row: Row) -> str:
    """A line of a table."""
    figure, bar, beyond = row.figure, row.figure.bar, row.beyond
    values = [statistics.fmean(row.real), min(row.real), max(row.real), row.flashwatt]
    cells = ["" if value is None else f"{value * figure.scale:.{figure.digits}f}" for value in values]
    outside = ""
    if bar is not None and beyond is not None:
        outside = f"factor {beyond:.2f}" if bar.kind == "factor" else f"{100 * beyond:.1f}"
        outside += {"factor": "", "part": " %", "points": " points"}[bar.kind]
    verdict = "" if bar is None else str(bar)
    if not row.is_within:
        verdict += ", **not kept**"
    return f"| {figure.label} | {' | '.join(cells)} | {outside} | {verdict} |"


def main() -> None:
    """Prints the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ours", type=Path, help="what FlashWatt wrote")
    parser.add_argument("--phase", choices=PHASES, default="job", help="the part of the kernel's runs that is compared")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--page", type=Path, help="put the tables into this page")
    options = parser.parse_args()
    captured = json.loads((options.folder / "runs.json").read_text())
    rows = rows_of(captured["runs"], options.phase, options.ours)
    text = "\n".join(filter(None, (table(captured["host"], options.phase, rows), journal_table(captured["runs"]))))
    if options.json:
        found = [
            {**row._asdict(), "figure": row.figure.key, "beyond": row.beyond, "is_within": row.is_within}
            for row in rows
        ]
        print(json.dumps({"rows": found, "page": text}))
        return
    print(text)
    if options.page:
        write_page(options.page, text)
    if any(not row.is_within for row in rows):
        sys.exit("Figures are beyond their bars.")


if __name__ == "__main__":
    main()
