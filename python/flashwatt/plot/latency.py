"""How latencies are spread, down to the rarest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt import frames
from flashwatt.plot.chart import Chart
from flashwatt.plot.choice import labelled
from flashwatt.plot.style import COLOURS, HEIGHT, short
from flashwatt.units import duration

if TYPE_CHECKING:
    from flashwatt.plot.choice import Reports
    from flashwatt.sections import Json

_US = 1e3
_POINTS = 300  # on a line: more would only make the files large
_TIME = (
    "datum.value >= 1e6 ? datum.value / 1e6 + ' s' : "
    "datum.value >= 1e3 ? datum.value / 1e3 + ' ms' : datum.value + ' µs'"
)
_LEAST_US = 0.5  # what is left of 0 on a logarithmic axis


def latency(reports: Reports) -> Chart:
    """The share of requests that took longer than a time, both on logarithmic axes: tails show as they are.

    Raises `FlashwattError` for a report without the histogram: `run(..., latency=True)` keeps it.
    """
    contents = labelled(reports)
    rows = [row for label, content in contents.items() for row in _rows(label, content)]
    subtitle = "Share of the requests that took longer than a time. Left and below is better."

    def draw(width: Any) -> alt.Chart:
        return _lines(rows, list(contents), width)

    return Chart(_title(contents), (subtitle,), draw)


def _title(contents: dict[str, Json]) -> str:
    if len(contents) > 1:
        return "Latency"
    figures = next(iter(contents.values()))["latency_ns"]
    parts = [f"{kind}s p99 {duration(figures[kind]['p99'])}" for kind in ("read", "write") if figures[kind]["count"]]
    return f"Latency: {', '.join(parts)}"


def _rows(label: str, content: Json) -> list[dict[str, Any]]:
    """Corners of a falling stair for each kind of request, thinned out evenly along the logarithm of the share."""
    rows = []
    for (kind,), bins in frames.latency(content).group_by("kind", maintain_order=True):
        total = bins["count"].sum()
        left, last = total, None
        for upper_ns, count in bins.select("upper_ns", "count").iter_rows():
            left -= count
            step = round(_POINTS * (1 - left / total)), round(_POINTS / 20 * len(str(left)))
            if step != last or not left:
                share = max(left, 0.5) / total  # the slowest request ends the line at half of its share
                rows.append(
                    {"run": label, "kind": kind, "us": max(short(upper_ns / _US), _LEAST_US), "share": short(share)}
                )
            last = step
    return rows


def _lines(rows: list[dict[str, Any]], labels: list[str], width: Any) -> alt.Chart:
    several = len(labels) > 1
    legend = alt.Legend(orient="bottom", title=None, labelLimit=200, columns=alt.ExprRef("width < 400 ? 2 : 4"))
    kinds = alt.Scale(domain=["read", "write"], range=COLOURS[:2])
    dashes = alt.Legend(orient="top", title=None)
    kind = alt.StrokeDash("kind:N", legend=dashes) if several else alt.Color("kind:N", scale=kinds, legend=legend)
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
