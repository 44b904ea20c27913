"""A file system: how long the operations of a program take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt import _core
from flashwatt.base.scripts import blaming
from flashwatt.base.units import count, si
from flashwatt.plot.chart import Chart
from flashwatt.plot.choice import labelled
from flashwatt.plot.style import short

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from flashwatt.base.files import Json
    from flashwatt.plot.choice import Reports
    from flashwatt.plot.style import Canvas, Look


@blaming
def operations(reports: Reports, **look: Unpack[Look]) -> Chart:
    """Draw the times of each operation of a program: a point at the mean, a line from p50 to p99.

    The axis is logarithmic: an operation in memory takes microseconds, one that waits for the drive milliseconds.

    Options are those of `Chart.restyle`. Raises `FlashwattError` for a report without a file system.
    """
    contents = labelled(reports)
    rows = [
        {"operation": flow["name"], "run": label, "order": at, **_times(flow["latency_ns"])}
        for label, content in contents.items()
        for at, flow in enumerate(_files(label, content)["flows"])
        if flow["latency_ns"]["count"]
    ]
    if not rows:
        raise _core.FlashwattError("no operation ended; expected at least one")
    said = "; ".join(
        f"{label}: {count(files['operations']['per_s'] or 0)} operations/s on {files['system']}, "
        f"{si(files['operations']['per_operation_j'], 'J')} each"
        for label, content in contents.items()
        for files in [_files(label, content)]
    )
    return Chart("Times of file operations", (f"{said}.",), lambda on: _drawn(rows, list(contents), on), look=look)


def _files(label: str, content: Json) -> Json:
    files: Json | None = content.get("files")
    if not files:
        raise _core.FlashwattError(f"{label}: the run had no file system; expected the workload `files`")
    return files


def _times(latency: Json) -> dict[str, float]:
    return {name: max(short(latency[name] / 1e3), 1e-3) for name in ("p50", "mean", "p99")}


def _drawn(rows: list[dict[str, Any]], runs: list[str], on: Canvas) -> Any:
    names = list(dict.fromkeys(row["operation"] for row in rows))
    colours = alt.Scale(domain=runs, range=on.colours)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("operation:N", sort=names, title=None, axis=on.named(names)),
        xOffset=alt.XOffset("run:N", sort=runs),
        color=alt.Color("run:N", scale=colours, legend=on.legend(runs)),
        tooltip=[
            alt.Tooltip("operation:N"),
            alt.Tooltip("run:N"),
            *(alt.Tooltip(f"{one}:Q", title=f"{one} (µs)", format=".4~g") for one in ("p50", "mean", "p99")),
        ],
    )
    scale = alt.Scale(type="log", nice=True)
    y = alt.Y("p50:Q", scale=scale, title="time (µs): p50 to p99, mean", axis=alt.Axis(tickCount=on.rows()))
    lines = base.mark_rule(strokeWidth=3 * on.font / 12, opacity=0.5).encode(y=y, y2="p99:Q")
    points = base.mark_point(filled=True, size=60 * on.font / 12, opacity=1).encode(y=alt.Y("mean:Q", scale=scale))
    return on.sized(alt.layer(lines, points))
