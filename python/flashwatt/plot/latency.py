"""Distribution of latencies, up to the highest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from flashwatt import _core
from flashwatt.base import frames
from flashwatt.base.units import duration
from flashwatt.plot.chart import Chart
from flashwatt.plot.choice import labelled
from flashwatt.plot.style import COLOURS, HEIGHT, columns, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashwatt.base.files import Json
    from flashwatt.plot.choice import Reports

_KINDS = {
    "read": "reads",
    "write": "writes",
    "map_read": "map reads",
    "map_write_first": "map writes (first copy)",
    "map_write_last": "map writes (last copy)",
}
"""As titles call them."""
_US = 1e3
_POINTS = 300  # of a share from 1 to 0: more would only make the files large
_POINTS_PER_DECADE = 60  # of a share: a corner that is left out is lower than its neighbour by less than 4 %
_TIME = (
    "datum.value >= 1e6 ? datum.value / 1e6 + ' s' : "
    "datum.value >= 1e3 ? datum.value / 1e3 + ' ms' : datum.value + ' µs'"
)
_LEAST_US = 0.5  # stands for 0 on a logarithmic axis


def latency(reports: Reports, kinds: Sequence[str] = ("read", "write")) -> Chart:
    """The share of requests that took longer than a time, both on logarithmic axes: tails show as they are.

    `kinds` says which of `Report.latency()` are drawn: of the host `read` and `write`; of the map `map_read`,
    `map_write_first`, `map_write_last`. A kind that did not occur has no line.

    Raises `FlashwattError` for another kind, and for a report without the histogram: `run(..., latency=True)` keeps it.
    """
    _check(kinds)
    contents = labelled(reports)
    rows = [row for label, content in contents.items() for row in _rows(label, content, kinds)]
    what = "requests" if set(kinds) <= {"read", "write"} else "operations"
    subtitle = f"Share of the {what} that took longer than a time. Left and below is better."

    def draw(width: Any) -> alt.Chart:
        return _lines(rows, list(contents), kinds, width)

    return Chart(_title(contents, kinds), (subtitle,), draw)


def _check(kinds: Sequence[str]) -> None:
    unknown = [kinds] if isinstance(kinds, str) else [kind for kind in kinds if kind not in _KINDS]
    if unknown or not kinds:
        found = ", ".join(map(repr, unknown)) or "none"
        raise _core.FlashwattError(f"kinds: found {found}; expected a list of some of {', '.join(_KINDS)}")


def _title(contents: dict[str, Json], kinds: Sequence[str]) -> str:
    if len(contents) > 1:
        return "Latency"
    figures = {kind: _figures(next(iter(contents.values())), kind) for kind in kinds}
    parts = [f"{_KINDS[kind]} p99 {duration(of['p99'])}" for kind, of in figures.items() if of and of["count"]]
    return f"Latency: {', '.join(parts)}"


def _figures(content: Json, kind: str) -> Json | None:
    if not kind.startswith("map_"):
        figures: Json = content["latency_ns"][kind]
        return figures
    of_map: Json | None = content["ftl"]["map_latency_ns"]
    return of_map and of_map[kind.removeprefix("map_")]


def _rows(label: str, content: Json, kinds: Sequence[str]) -> list[dict[str, Any]]:
    """Corners of a falling stair for each kind, thinned out evenly along the logarithm of the share."""
    rows = []
    wanted = frames.latency(content).filter(pl.col("kind").cast(pl.String).is_in(list(kinds)))
    for (kind,), bins in wanted.group_by("kind", maintain_order=True):
        total = int(bins["count"].sum())
        left, last = total, None
        for upper_ns, count in bins.select("upper_ns", "count").iter_rows():
            left -= int(count)
            step = _step(left, total)
            if step != last or not left:
                share = max(left, 0.5) / total  # the slowest request ends the line at half of its share
                rows.append(
                    {"run": label, "kind": kind, "us": max(short(upper_ns / _US), _LEAST_US), "share": short(share)}
                )
            last = step
    return rows


def _step(left: int, total: int) -> tuple[int, int]:
    """The part of a line that a share lies in; the first corner of each part is drawn.

    Parts end at 1 %, 0.1 %, … and not beyond: there the line falls where the quantiles of the report are.
    """
    linear = math.ceil(_POINTS * left / total)
    return linear, math.ceil(_POINTS_PER_DECADE * math.log10(left / total)) if left else linear


def _lines(rows: list[dict[str, Any]], labels: list[str], kinds: Sequence[str], width: Any) -> alt.Chart:
    several = len(labels) > 1
    fitting = columns(labels if several else kinds, 4)
    legend = alt.Legend(orient="bottom", title=None, labelLimit=200, columns=fitting)
    colours = alt.Scale(domain=list(kinds), range=COLOURS[: len(kinds)])
    dashes = alt.Legend(orient="top", title=None)
    kind = alt.StrokeDash("kind:N", legend=dashes) if several else alt.Color("kind:N", scale=colours, legend=legend)
    run = [alt.Color("run:N", sort=labels, scale=alt.Scale(range=COLOURS), legend=legend)] if several else []
    times, shares = [row["us"] for row in rows], [1.0, *(row["share"] for row in rows)]
    x = alt.X("us:Q", title="latency", scale=_scale(times), axis=_axis(times, (1, 2, 5), grid=False, labelExpr=_TIME))
    y = alt.Y("share:Q", title="share that took longer", scale=_scale(shares), axis=_axis(shares, (1,), format="~%"))
    chart: Any = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=1.8)
        .encode(
            x,
            y,
            kind,
            *run,
            detail="run:N",
            tooltip=[
                alt.Tooltip("run:N"),
                alt.Tooltip("kind:N"),
                alt.Tooltip("us:Q", title="µs", format=".4~g"),
                alt.Tooltip("share:Q", title="took longer", format=".3~%"),
            ],
        )
        .properties(width=width, height=HEIGHT, autosize=alt.AutoSizeParams(type="fit-x"))
    )
    drawn: alt.Chart = chart
    return drawn


def _scale(values: list[float]) -> alt.Scale:
    return alt.Scale(type="log", domain=[min(values, default=0.1), max(values, default=1)], nice=False)


def _axis(values: list[float], digits: tuple[int, ...], **options: Any) -> alt.Axis:
    """Ticks at these digits of every decade: Vega's own choice would crowd its labels."""
    low, high = (math.floor(math.log10(end)) for end in (min(values, default=1), max(values, default=1)))
    ticks = [short(digit * 10.0**power) for power in range(low, high + 1) for digit in digits]
    return alt.Axis(values=ticks, labelOverlap=True, labelFlush=True, **options)
