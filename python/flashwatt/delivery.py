"""What becomes of a report on the command line: it is kept, shown, drawn, and decides the exit status."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from flashwatt import _core
from flashwatt.outputs import clear
from flashwatt.terminal import FAILED, INTERRUPTED, fail, note

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flashwatt.config import Config
    from flashwatt.report import Report


def deliver(report: Report, out: Path | None, as_json: bool, config: Config | None = None) -> None:
    """Keep the report before it is shown, and show it before anything is drawn: drawing takes seconds."""
    files = _kept(report, out, config) if out else []
    if as_json:
        click.echo(report.json)
    else:
        from flashwatt.report import content_of
        from flashwatt.table import show

        show(content_of(report))
    try:
        files += _draw(report, out) if out else []
    except KeyboardInterrupt:
        fail(f"interrupted while pictures were drawn; kept: {', '.join(map(str, files))}", INTERRUPTED)
    if files:
        note(f"wrote {', '.join(map(str, files))}")


def _kept(report: Report, out: Path, config: Config | None) -> list[Path]:
    """Write the report, and what gives it again; what an earlier run left beside them would pass for this one's."""
    files = [out / "report.json", *([out / "config.toml"] if config else [])]
    if stale := clear(out, [file.name for file in files]):
        note(f"removed what an earlier run left: {', '.join(map(str, stale))}")
    report.write(files[0])
    if config:
        files[1].write_text(config.merged(), encoding="utf-8")
    return files


def _draw(report: Report, out: Path) -> list[Path]:
    """What was recorded over time, as tables and as pictures."""
    from flashwatt.report import content_of

    recorded = content_of(report)
    wanted = {"series": ("series", "power"), "edges": ("edges", "current")}
    return [path for key, names in wanted.items() if recorded.get(key) for path in _drawn(report, out, *names)]


def _drawn(report: Report, out: Path, frame: str, picture: str) -> Iterator[Path]:
    from flashwatt import plot

    note(f"drawing {picture} over time ...")
    table = out / f"{frame}.parquet"
    getattr(report, frame)().write_parquet(table)
    yield table
    try:
        chart = getattr(plot, picture)(report)
    except _core.FlashwattError as error:
        note(f"{picture} over time is not drawn: {error}")
        return
    yield from (chart.save(out / f"{picture}.{suffix}") for suffix in ("svg", "html"))


def finish(report: Report, out: Path | None) -> None:
    """Say how a run ended that was not completed, and exit with its status."""
    status = report.status
    if status == "complete":
        return
    kept = f"kept in {out / 'report.json'}" if out else "printed (--out DIR also keeps it)"
    requests, warmup = report.workload.requests, report.window.warmup
    if warmup and not requests:
        note(f"{status} in the warm-up, after {warmup:,} requests: nothing was measured; the report is {kept}")
    elif not requests:
        note(f"{status}; the report is {kept}")
    else:
        note(f"{status} after {requests:,} requests; what was measured until then is {kept}")
    sys.exit(INTERRUPTED if status == "interrupted" else FAILED)
