"""The last steps of a command with a report: print it, save it, draw it, set the exit status."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.files import printable
from flashwatt.base.outputs import check, clear, directory, locked, save, save_together
from flashwatt.base.reads import is_read
from flashwatt.cli.room import FRAMES_BYTES, left_over
from flashwatt.cli.terminal import FAILED, INTERRUPTED, complain, fail, note, printed, quiet_is_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from flashwatt.plot import Chart
    from flashwatt.report.report import Report

SERIES = {
    "series.parquet": marks.TABLE,
    "power.svg": marks.SVG,
    "power.html": marks.PAGE,
    "activity.html": marks.PAGE,
}
EDGES = {"edges.parquet": marks.TABLE, "current.svg": marks.SVG, "current.html": marks.PAGE}
KNEE = {"knee.svg": marks.SVG, "knee.html": marks.PAGE}
HOST = {"queue.svg": marks.SVG, "queue.html": marks.PAGE, "waits.svg": marks.SVG, "waits.html": marks.PAGE}
FILES = {"operations.svg": marks.SVG, "operations.html": marks.PAGE}
OF_A_RUN = {"report.json": marks.REPORT, "config.toml": marks.CONFIG, **SERIES, **KNEE, **EDGES, **HOST, **FILES}
"""Every file that a run may leave in its directory."""


@dataclass(frozen=True)
class Folder:
    """The directory of a run."""

    path: Path
    config: bytes | None
    """The content of config.toml, if one is written."""
    force: bool

    @property
    def keeps_config(self) -> bool:
        """Whether an equal config.toml is there already: a run of it writes into its own directory."""
        path = self.path / "config.toml"
        if self.config is None or not path.is_file() or path.stat().st_size != len(self.config):
            return False
        return path.read_bytes() == self.config


@contextmanager
def folder(path: Path, names: Iterable[str], *, force: bool, config: str | None = None) -> Iterator[Folder]:
    """Make the directory of a run, and keep other commands out of it during the block.

    Raises `FlashwattError` if one of these files must not be written: before the run, not after hours of it.
    """
    with locked(directory(path)):
        opened = Folder(path, None if config is None else marks.config(config).encode(), force)
        for name in names:
            if name != "config.toml" or not opened.keeps_config:
                _check_not_input(path, name)
                check(path / name, OF_A_RUN[name], force=force)
        yield opened


def _check_not_input(path: Path, name: str) -> None:
    if is_read(path / name):
        found = f"{printable(path)}: not for the results of this run; found {name}, which it reads"
        raise _core.FlashwattError(f"{found}; expected another directory")


def deliver(report: Report, out: Folder | None, as_json: bool, finish_log: Callable[[], None] = lambda: None) -> None:
    """Print the report, then save it, so that a full disk hides no result. Pictures, which take seconds, come last.

    `finish_log` keeps the operation log: also where the result cannot be printed, and before anything is drawn.
    """
    with printed() as faults:
        if as_json:
            click.echo(report.json)
        elif not quiet_is_on():
            from flashwatt.report.report import content_of
            from flashwatt.report.table import show

            show(content_of(report))
    try:
        files = _kept(report, out) if out else []
    finally:
        finish_log()
    try:
        files += _draw(report, out) if out else []
    except KeyboardInterrupt:
        fail(f"interrupted while pictures were drawn; kept: {', '.join(map(str, files))}", INTERRUPTED)
    if files:
        note(f"wrote {', '.join(map(str, files))}")
    if faults:
        raise faults[0]


def _kept(report: Report, out: Folder) -> list[Path]:
    """Write the report and the configuration of its run; remove the files of an earlier run."""
    files = [(out.path / "report.json", report.encoded(), marks.REPORT)]
    names = ["report.json"]
    if out.config is not None:
        names.append("config.toml")
        if not out.keeps_config:
            files.append((out.path / "config.toml", out.config, marks.CONFIG))
    before = marks.REPORT.is_ours(out.path / "report.json") if (out.path / "report.json").is_file() else False
    save_together(files, force=out.force)
    if before:
        stale = clear((out.path / name, kind) for name, kind in OF_A_RUN.items() if name not in names)
        if stale:
            note(f"removed files of an earlier run: {', '.join(map(str, stale))}")
    return [out.path / name for name in names]


_OF_HOST = ("queue", "waits")
"""Pictures of the block layer."""
_SAID = {
    "power": "power over time",
    "current": "current over time",
    "queue": "requests over time",
    "waits": "the parts of the latency",
    "operations": "the times of file operations",
}


def _draw(report: Report, out: Folder) -> list[Path]:
    """Write the recordings over time as tables and as pictures, and the picture of file operations."""
    from flashwatt.report.report import content_of

    recorded = content_of(report)
    if any(recorded.get(key) for key in ("series", "edges", "files")) and not left_over(FRAMES_BYTES):
        complain(f"nothing is drawn: less than {FRAMES_BYTES // 10**6} MB of address space is left (`ulimit -v`)")
        return []
    wanted = {"series": ("series", "power"), "edges": ("edges", "current")}
    paths = [path for key, names in wanted.items() if recorded.get(key) for path in _drawn(report, out, *names)]
    if (recorded.get("series") or {}).get("activity"):
        paths += _pages(report, out)
        paths += _knee(report, out) if recorded["config"].get("slc_cache") else []
    names = [*(_OF_HOST if (recorded.get("host") or {}).get("series") else ())]
    names += ["operations"] if recorded.get("files") else []
    return [*paths, *_pictures(report, out, names)]


def _drawn(report: Report, out: Folder, frame: str, picture: str) -> Iterator[Path]:
    from flashwatt.base import frames

    note(f"drawing {picture} over time ...")
    table = out.path / f"{frame}.parquet"
    frames.write(getattr(report, frame)(), table, force=out.force)
    yield table
    yield from _pictures(report, out, [picture])


def _pictures(report: Report, out: Folder, pictures: Iterable[str]) -> Iterator[Path]:
    for picture in pictures:
        from flashwatt import plot  # with Altair: only if there is something to draw

        try:
            chart = getattr(plot, picture)(report)
        except _core.FlashwattError as error:
            complain(f"{_SAID[picture]} is not drawn: {error}")
            continue
        for suffix in ("svg", "html"):
            if save_drawn(chart, out.path / f"{picture}.{suffix}", force=out.force):
                yield out.path / f"{picture}.{suffix}"


def _knee(report: Report, out: Folder) -> Iterator[Path]:
    """Draw throughput over power of a drive with an SLC cache, as a picture and as a page."""
    from flashwatt import plot

    try:
        picture, page = plot.knee(report), out.path / "knee.html"
        if save_drawn(picture, out.path / "knee.svg", force=out.force):
            yield out.path / "knee.svg"
        yield plot.write_knee(report, page, force=out.force)
    except _core.FlashwattError as error:
        complain(f"the knee is not drawn: {error}")


def _pages(report: Report, out: Folder) -> Iterator[Path]:
    """Write the page of what the drive did over time."""
    from flashwatt import plot

    try:
        yield plot.write_activity(report, out.path / "activity.html", force=out.force)
    except _core.FlashwattError as error:
        complain(f"what the drive did over time is not drawn: {error}")


def save_drawn(chart: Chart, path: Path, *, force: bool) -> bool:
    """Draw and save a picture; return whether that succeeded. If it cannot be drawn, a message says so.

    Raises `FlashwattError` for a picture that is drawn and cannot be written.
    """
    try:
        content = chart.content(path)
    except _core.FlashwattError as error:
        complain(f"{path} is not drawn: {error}")
        return False
    save(path, content, marks.PICTURES[path.suffix], force=force)
    return True


def finish(report: Report, out: Path | None) -> None:
    """Print the end of a run that is not complete, and exit with its status."""
    from flashwatt.report.report import content_of

    status = content_of(report)["status"]  # without the classes of sections, which cost more than a short run
    if status == "complete":
        return
    kept = f"kept in {out / 'report.json'}" if out else "printed (--out DIR also keeps it)"
    requests, warmup = report.workload.requests, report.window.warmup
    if warmup and not requests and "nothing was measured" not in status:
        complain(f"{status} in the warm-up, after {warmup:,} requests: nothing was measured; the report is {kept}")
    elif not requests:
        complain(f"{status}; the report is {kept}")
    else:
        complain(f"{status} after {requests:,} requests; the report until then is {kept}")
    sys.exit(INTERRUPTED if status == "interrupted" else FAILED)
