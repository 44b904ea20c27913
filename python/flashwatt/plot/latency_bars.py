"""Latencies of several runs side by side: boxes of their distributions, bars of their means and quantiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from flashwatt.plot import hollow
from flashwatt.plot.style import INK, short
from flashwatt.report.axes import figure
from flashwatt.report.doubts import mark

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flashwatt.base.files import Json
    from flashwatt.plot.style import Canvas

_QUANTILES = {"p1": 0.01, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p99": 0.99, "p99.9": 0.999}
_STATISTICS = {"mean": "mean", "p50": "p50", "p99": "p99", "p99.9": "p99_9"}
"""Of bars: their names, and their keys in a report."""


def bar_marks(contents: Mapping[str, Json], kinds: Sequence[str]) -> list[str]:
    """Give the marks of the bars' figures, of requests of the host: tables mark no others."""
    keys = [f"latency_ns.{kind}.{key}" for kind in kinds for key in _STATISTICS.values()]
    return [mark(one, key) for one in contents.values() for key in keys]


def bars(
    figures: Mapping[str, Mapping[str, Json | None]], words: Mapping[str, str], contents: Mapping[str, Json]
) -> Callable[[Canvas], Any]:
    """Draw bars of the mean and the quantiles of each kind of request, side by side for the runs."""
    found: list[dict[str, Any]] = [
        {
            "group": f"{words[kind]}, {name}",
            "run": label,
            "ns": of[key],
            **hollow.noted(mark(contents[label], f"latency_ns.{kind}.{key}")),
        }
        for label, by_kind in figures.items()
        for kind, of in by_kind.items()
        for name, key in _STATISTICS.items()
        if of and of["count"]
    ]
    axis = figure("latency_ns", [row["ns"] for row in found])
    rows = [{**row, "value": short(row["ns"] / axis.size)} for row in found]
    groups = [f"{words[kind]}, {name}" for kind in next(iter(figures.values())) for name in _STATISTICS]
    groups = [group for group in groups if any(row["group"] == group for row in rows)]
    labels = list(figures)

    def draw(on: Canvas) -> Any:
        base = alt.Chart(alt.InlineData(values=rows))
        y = alt.Y("value:Q", title=axis.title, axis=alt.Axis(tickCount=on.rows()))
        tooltip = [alt.Tooltip("run:N"), alt.Tooltip("group:N"), alt.Tooltip("value:Q", title=axis.title)]
        places = _places(groups, labels, on)
        drawn = [
            chart.mark_bar(**style).encode(y=y, tooltip=tooltip, **places)
            for chart, style in hollow.parts(base, rows, 1.6 * on.font / 12)
        ]
        return on.sized(alt.layer(*drawn, *hollow.keys(rows, on)))

    return draw


def boxes(
    latencies: Mapping[str, pl.DataFrame], kinds: Sequence[str], words: Mapping[str, str]
) -> Callable[[Canvas], Any]:
    """Draw a box for each run and kind, from histograms of the columns `kind`, `upper_ns` and `count`."""
    found: list[dict[str, Any]] = [
        {"group": words[kind], "run": label, **quantiles}
        for label, frame in latencies.items()
        for kind in kinds
        for quantiles in _quantiles(frame.filter(pl.col("kind").cast(pl.String) == kind))
    ]
    axis = figure("latency_ns", [row["p50"] for row in found])
    field = {name: name.replace(".", "_") for name in _QUANTILES}
    rows = [{**row, **{field[name]: max(short(row[name] / axis.size), 1e-3) for name in _QUANTILES}} for row in found]
    groups, labels = (
        [words[kind] for kind in kinds if any(row["group"] == words[kind] for row in rows)],
        list(latencies),
    )

    def draw(on: Canvas) -> Any:
        return _boxes(rows, axis.title, _places(groups, labels, on), field, on)

    return draw


def _boxes(
    rows: list[dict[str, Any]], title: str, places: dict[str, Any], field: dict[str, str], on: Canvas
) -> alt.LayerChart:
    part, scale = on.font / 12, alt.Scale(type="log", nice=True)
    tooltip = [alt.Tooltip("run:N"), alt.Tooltip("group:N")]
    tooltip += [alt.Tooltip(f"{field[name]}:Q", title=name, format=".4~g") for name in _QUANTILES]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        **{key: value for key, value in places.items() if key != "color"}, tooltip=tooltip
    )
    axis = alt.Axis(tickCount=on.rows(), format="~g", labelOverlap=True)

    def at(name: str) -> alt.Y:
        return alt.Y(f"{field[name]}:Q", title=title, scale=scale, axis=axis)

    whiskers = base.mark_rule(color=INK).encode(y=at("p1"), y2="p99:Q")
    middle = base.mark_bar(stroke=INK, fillOpacity=0.6, strokeWidth=0.8 * part)
    middle = middle.encode(y=at("p25"), y2="p75:Q", color=places["color"])
    median = base.mark_tick(color=INK, thickness=2 * part, orient="horizontal").encode(y=at("p50"))
    tail = base.mark_point(color=INK, size=30 * part * part, filled=True).encode(y=at("p99.9"))
    drawn: alt.LayerChart = on.sized(alt.layer(whiskers, middle, median, tail))
    return drawn


def _quantiles(bins: pl.DataFrame) -> list[dict[str, float]]:
    """The quantiles of one histogram: the upper ends of the bins that they lie in; none of an empty one."""
    total = int(bins["count"].sum())
    if not total:
        return []
    ends, seen = bins["upper_ns"].to_list(), bins["count"].cum_sum().to_list()
    return [
        {
            name: float(next(end for end, below in zip(ends, seen, strict=True) if below >= share * total))
            for name, share in _QUANTILES.items()
        }
    ]


def _places(groups: list[str], labels: list[str], on: Canvas) -> dict[str, Any]:
    """Groups along the axis, the runs side by side in each, in their colours."""
    colours = alt.Scale(domain=labels, range=on.colours)
    return {
        "x": alt.X("group:N", sort=groups, title=None, axis=on.named(groups)),
        "xOffset": alt.XOffset("run:N", sort=labels),
        "color": alt.Color("run:N", scale=colours, legend=on.legend(labels)),
    }
