"""What an application gets from a drive: MB/s, and J for an MB that it reads or writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from flashwatt.plot import Chart
    from flashwatt.reproduce.evidence import Runs

DISKS = ("HDD", "Raptor")

Figure: TypeAlias = "Callable[..., float]"
"""A figure of the run with these labels: a drive, what else is varied, and the file system."""


def mb_per_s(runs: Runs, *labels: str) -> float:
    """Megabytes that the application reads and writes in a second."""
    return _megabytes(runs, *labels) / runs.value("files.operations.seconds", *labels)


def joules_per_mb(runs: Runs, *labels: str) -> float:
    """Energy of the drive for each of these megabytes, the unmount included."""
    return runs.value("energy_j.total", *labels) / _megabytes(runs, *labels)


def written(runs: Runs, *labels: str) -> float:
    """Megabytes that the file system writes to the drive, for each of these megabytes."""
    return runs.value("workload.write_bytes", *labels) / 1e6 / _megabytes(runs, *labels)


def programmed(runs: Runs, *labels: str) -> float:
    """Megabytes that are programmed on the flash, copies included, for each of these megabytes."""
    pages = runs.value("flash.programs.total", *labels)
    page_bytes = runs.value("config.device.page_bytes", *labels)
    return pages * page_bytes / 1e6 / _megabytes(runs, *labels)


def read_kib(runs: Runs, *labels: str) -> float:
    """Mean length of a read that comes to the drive in KiB."""
    return runs.value("workload.read_bytes", *labels) / 1024 / runs.value("workload.reads", *labels)


def gain(figure: Figure, runs: Runs, *drive: str) -> float:
    """A figure with LFS over the same one with ext2."""
    return figure(runs, *drive, "lfs") / figure(runs, *drive, "ext2")


def farther(values: Iterable[float], middle: float) -> float:
    """The value that is the larger factor away from the middle of a bound."""
    return max(values, key=lambda one: max(one / middle, middle / one))


def charts(workload: str, runs: Runs) -> Iterator[Chart]:
    """Draw throughput and energy, a group of bars for each drive."""
    for title, figure, unit in (
        ("throughput", mb_per_s, "MB/s"),
        ("energy of 1 MB of the workload's data", joules_per_mb, "J/MB"),
    ):
        rows = [Bar(", ".join(drive), system, figure(runs, *drive, system)) for *drive, system in runs]
        yield bars(f"Fig. 6: {workload}, {title}", "Park et al.: Fig. 12.", rows, unit)


def table(more: Mapping[str, Figure], *sets: Runs) -> str:
    """Lay out every run of these sets in Markdown, with what LFS changes of other figures."""
    changed = {"MB/s": mb_per_s, "J/MB": joules_per_mb, **more}
    head = ["", "MB/s, ext2", "MB/s, LFS", *(f"{name}, LFS / ext2" for name in changed)]
    lines = [head, ["---"] * len(head)]
    for runs in sets:
        for drive in dict.fromkeys(tuple(drive) for *drive, _ in runs):
            cells = [mb_per_s(runs, *drive, "ext2"), mb_per_s(runs, *drive, "lfs")]
            cells += [gain(figure, runs, *drive) for figure in changed.values()]
            lines.append([f"{', '.join(drive)}{_cut(runs, *drive)}", *(f"{cell:.3g}" for cell in cells)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cut(runs: Runs, *drive: str) -> str:
    """Of a run for a given time that its operations ended, a remark on that: `--requests` had limited them."""
    files = runs.report(*drive, "ext2").config["workload"]["files"]
    if "seconds" not in files or runs.value("files.operations.count", *drive, "ext2") < files["operations"]:
        return ""
    return f" (`--requests` ended it after {files['operations']:,} operations)"


def _megabytes(runs: Runs, *labels: str) -> float:
    return runs.value("files.operations.bytes", *labels) / 1e6
