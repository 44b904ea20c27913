"""The picture of the first page and of README: the power of the demo's drive, its collection and its idle time named.

`python tools/docs_front.py` writes the pictures in `docs` again; the site's first page has the interactive one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt
from docs_cells import narrow

import flashwatt
from flashwatt.plot.chart import both_schemes
from flashwatt.plot.style import INK, PAPER

if TYPE_CHECKING:
    from flashwatt.plot import Chart
    from flashwatt.plot.style import Canvas

ROOT = Path(__file__).parents[1]
CONFIG, MODERN = ROOT / "examples/bursts.toml", ROOT / "examples/modern.toml"
_LONG_S = 0.1
"""A burst of the host is over after some milliseconds: what lasts longer is collection."""


def front() -> dict[str, str]:
    """Run the demo's configuration; give the pictures and the interactive page by their names."""
    chart = named(flashwatt.run(CONFIG, series=True))
    svg = {"power.svg": chart.svg(), "power-narrow.svg": narrow(chart).svg()}
    svg["knee.svg"] = flashwatt.plot.knee(flashwatt.run(MODERN, series=True)).svg()
    page = chart.content(Path("power-live.html")).decode()
    return {**{name: both_schemes(one) for name, one in svg.items()}, "power-live.html": page}


def named(report: flashwatt.Report) -> Chart:
    """Draw power over time, with names at the longest work and at the longest pause."""
    chart = flashwatt.plot.power(report)
    words = [
        (*place, lines) for place, lines in zip(places(report), (["garbage", "collection"], ["idle"]), strict=True)
    ]
    rows = [
        {"time": time, "value": value + 0.09 * (len(lines) - 1 - 2 * at), "word": line}
        for time, value, lines in words
        for at, line in enumerate(lines)
    ]

    def draw(on: Canvas) -> alt.LayerChart:
        base = alt.Chart(alt.InlineData(values=rows)).encode(x="time:Q", y="value:Q", text="word:N")
        style: dict[str, Any] = {"fontSize": on.font, "align": "center", "clip": True}
        texts = base.mark_text(**style, stroke=PAPER, strokeWidth=4), base.mark_text(**style, color=INK)
        drawn = chart.draw(on).copy()
        drawn.layer = [*drawn.layer, *texts]
        return drawn

    return replace(chart, draw=draw)


def places(report: flashwatt.Report) -> tuple[tuple[float, float], tuple[float, float]]:
    """Find the middle of the longest work and of the longest pause: the second of each, and a power to stand at."""
    bins = report.series()
    busy = [watts > 2 * bins["total_w"].min() for watts in bins["total_w"]]
    spans: dict[bool, list[tuple[float, float, float]]] = {True: [], False: []}
    begin = 0
    for at in range(1, len(busy) + 1):
        if at == len(busy) or busy[at] != busy[begin]:
            start, end = bins["start_ns"][begin] / 1e9, bins["end_ns"][at - 1] / 1e9
            spans[busy[begin]].append((end - start, start, end))
            begin = at
    work, pause = (max(spans[kind]) for kind in (True, False))
    if work[0] < _LONG_S:
        raise SystemExit(f"{CONFIG}: found no collection of {_LONG_S} s to name in the picture")
    idle, top = float(bins["total_w"].min()), float(bins["total_w"].max())
    return ((work[1] + work[2]) / 2, 0.65 * top), ((pause[1] + pause[2]) / 2, idle + 0.06 * top)


if __name__ == "__main__":
    for name, text in front().items():
        if name.endswith(".svg"):
            (ROOT / "docs" / name).write_text(text, encoding="utf-8")
