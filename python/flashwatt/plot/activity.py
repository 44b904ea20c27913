"""What a drive does over time: throughput, write amplification, free blocks, queue, and energy by cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.misspelt import nearest
from flashwatt.base.scripts import blaming
from flashwatt.base.units import duration
from flashwatt.plot.chart import Chart, write_page
from flashwatt.plot.choice import labelled
from flashwatt.plot.stack import ZOOM, lines, time_unit
from flashwatt.plot.style import short
from flashwatt.report.report import content_of
from flashwatt.report.table import describe_device, describe_workload

if TYPE_CHECKING:
    from pathlib import Path

    import altair as alt
    from typing_extensions import Unpack

    from flashwatt.base.files import Json
    from flashwatt.plot.choice import Reports
    from flashwatt.plot.style import Canvas, Look
    from flashwatt.report.report import Report

_PICTURE_BINS, _PAGE_BINS = 430, 3000
_LEAST_POINTS = 20  # of write amplification in a run that writes little


@dataclass(frozen=True)
class _Figure:
    title: str
    axis: str
    keys: dict[str, str]
    """Columns of `series.activity` by the names of their lines."""


_FIGURES = {
    "throughput": _Figure("Throughput over time", "MB/s", {"reads": "read_mb_s", "writes": "write_mb_s"}),
    "iops": _Figure("Requests over time", "requests per second", {"": "iops"}),
    "write_amplification": _Figure("Write amplification over time", "write amplification", {"": "write_amplification"}),
    "free_blocks": _Figure("Erased blocks over time", "erased blocks", {"": "free_blocks"}),
    "queue_depth": _Figure("Requests inside the drive over time", "requests inside the drive", {"": "queue_depth"}),
    "energy_by_cause": _Figure("Power of flash operations by cause", "power of flash operations (W)", {}),
}


@blaming
def activity(reports: Reports, figure: str = "write_amplification", **look: Unpack[Look]) -> Chart:
    """Draw what one or several SSDs do over time.

    `figure` is `throughput`, `iops`, `write_amplification`, `free_blocks`, `queue_depth` or `energy_by_cause`. Further
    options are those of `Chart.restyle`. Raises `FlashwattError` for another figure, and for a report without this
    recording: one of a disk or an array, or of a run without `series=True`.

    A bin of write amplification in which the host wrote next to nothing would say what collection happened to do in it.
    So neighbouring bins are joined until the host has written a block for each die in them, or a twentieth of all that
    it wrote, if that is less; the value is that of all their pages and bytes. The report keeps every bin as it is.
    """
    if figure not in _FIGURES:
        near = nearest(figure, _FIGURES)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise _core.FlashwattError(f"figure: found {figure!r}; expected one of {', '.join(_FIGURES)}{hint}")
    contents = labelled(reports)
    for label, content in contents.items():
        _check(label, content)
    chosen, first = _FIGURES[figure], next(iter(contents.values()))
    intervals = dict.fromkeys(duration(one["series"]["interval_ns"], exact=True) for one in contents.values())
    described = f"{describe_device(first)}. {describe_workload(first)}." if len(contents) == 1 else ""
    joined = ", joined where the host wrote little" if figure == "write_amplification" else ""
    subtitle = f"{described} Bins of {', '.join(intervals)}{joined}.".strip()
    return Chart(chosen.title, (subtitle,), lambda on: _lines(contents, figure, on), ZOOM, look)


def write_activity(report: Report, path: Path, *, force: bool = False) -> Path:
    """Draw all figures of a report into one page.

    Raises `FlashwattError` as `activity` and `write_page` do.
    """
    title = f"What the drive does over time: {describe_device(content_of(report))}"
    return write_page(path, title, [activity(report, figure) for figure in _FIGURES], force=force)


def _check(label: str, content: Json) -> None:
    series = content.get("series")
    if not series:
        raise _core.FlashwattError(f"{label}: nothing is recorded over time; ask for it: run(..., series=True)")
    if not series.get("activity"):
        raise _core.FlashwattError(f"{label}: its series holds power alone; expected a run of one SSD")
    if not series["activity"]["iops"]:
        raise _core.FlashwattError(f"{label}: the series is empty, since the run took no time")


def _lines(contents: dict[str, Json], figure: str, on: Canvas) -> alt.LayerChart:
    series = {label: content["series"] for label, content in contents.items()}
    scale, unit = time_unit(max(len(one["activity"]["iops"]) * one["interval_ns"] for one in series.values()))
    bins = _PAGE_BINS if on.page else _PICTURE_BINS
    rows: list[dict[str, Any]] = []
    for label, content in contents.items():
        for name, line in points(content, figure, bins).items():
            said = ", ".join(filter(None, (label if len(contents) > 1 else "", name))) or label
            rows += [{"time": short(ns / scale), "line": said, "value": short(value)} for ns, value in line]
    names = list(dict.fromkeys(row["line"] for row in rows))
    axis = _FIGURES[figure].axis
    return lines(rows, ("line", names), (unit, axis), on, title=axis, key=len(names) > 1)


def points(content: Json, figure: str, bins: int) -> dict[str, list[tuple[float, float]]]:
    """Give beginnings of bins in ns and values by the name of the line; bins are joined to `bins` at most."""
    series, done = content["series"], content["series"]["activity"]
    start, interval = series["start_ns"], series["interval_ns"]
    end = start + content["throughput"]["simulated_s"] * 1e9
    count = len(done["iops"])
    lengths = [max(min(interval, end - (start + at * interval)), 1) for at in range(count)]
    group = max(1, -(-count // bins))
    page_bytes = content["config"]["device"]["page_bytes"]

    def joined(values: list[Any], at: slice) -> float | None:
        if figure == "write_amplification":
            accepted = sum(done["accepted_bytes"][at])
            return sum(done["programmed_pages"][at]) * page_bytes / accepted if accepted else None
        if figure == "free_blocks":
            return float(values[at][-1])
        if figure == "energy_by_cause":
            return float(sum(values[at]) / sum(lengths[at]) * 1e9)
        weighted = sum(value * ns for value, ns in zip(values[at], lengths[at], strict=True))
        return float(weighted / sum(lengths[at]))

    columns = {name: done[key] for name, key in _FIGURES[figure].keys.items()}
    columns = columns or done["energy_by_cause_j"]
    parts = [slice(first, min(first + group, count)) for first in range(0, count, group)]
    if figure == "write_amplification":
        parts = _with_enough(parts, done["accepted_bytes"], content["config"]["device"])
    return {
        name: [(start + at.start * interval, value) for at in parts if (value := joined(values, at)) is not None]
        for name, values in columns.items()
    }


def _with_enough(parts: list[slice], accepted: list[int], device: Json) -> list[slice]:
    """Join neighbouring bins until each holds enough writes of the host for a quotient; a rest joins the last one."""
    block_bytes = device["channels"] * device["ways"] * device["pages_per_block"] * device["page_bytes"]
    least = max(1, min(block_bytes, sum(accepted) / _LEAST_POINTS))
    joined: list[slice] = []
    first, held = 0, 0
    for part in parts:
        held += sum(accepted[part])
        if held >= least:
            joined.append(slice(first, part.stop))
            first, held = part.stop, 0
    if joined:
        joined[-1] = slice(joined[-1].start, parts[-1].stop)
    return joined
