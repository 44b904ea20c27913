"""Results of the direct I/O benchmark: a figure against the size of the requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt import _core
from flashwatt.base.misspelt import known
from flashwatt.base.scripts import blaming
from flashwatt.plot.chart import Chart
from flashwatt.plot.style import DASHES, SHAPES, short

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Unpack

    from flashwatt.plot.style import Canvas, Look

FIGURES = {
    "mb_s": "rate (MB/s)",
    "iops": "requests per second",
    "j_per_mb": "energy (J/MB)",
    "mb_per_j": "efficiency (MB/J)",
}
_KIB = 1024


@blaming
def dio(results: Mapping[str, Mapping[str, Any]], figure: str = "mb_s", **look: Unpack[Look]) -> Chart:
    """Draw a figure of one or several results, by their labels, against the size of the requests.

    `results` are contents of dio.json. `figure` is one of mb_s, iops, j_per_mb and mb_per_j. Both axes are logarithmic;
    points without the figure, and those at 0, are left out. Further options are those of `Chart.restyle`. Raises
    `FlashwattError` for an unknown figure and where there is nothing to draw.
    """
    known("figure", [figure], list(FIGURES))
    rows = [row for label, content in results.items() for row in _rows(label, content, figure, len(results) > 1)]
    if not rows:
        raise _core.FlashwattError(f"no point has a value of {figure}; expected at least one to draw")
    title = f"{FIGURES[figure].partition(' (')[0].capitalize()} by size of the requests"

    def draw(on: Canvas) -> alt.LayerChart:
        return _lines(rows, FIGURES[figure], on)

    return Chart(title, (", ".join(results),), draw, "Point at a dot to see its values.", look)


def _rows(label: str, content: Mapping[str, Any], figure: str, several: bool) -> list[dict[str, Any]]:
    return [
        {
            "size": one["request_bytes"] / _KIB,
            "value": short(one[figure]),
            "series": f"{label}, {one['pattern']}" if several else one["pattern"],
        }
        for one in content["points"]
        if one[figure]
    ]


def _lines(rows: list[dict[str, Any]], title: str, on: Canvas) -> alt.LayerChart:
    names = list(dict.fromkeys(row["series"] for row in rows))
    sizes = sorted({row["size"] for row in rows})
    axis = alt.Axis(grid=False, values=sizes, format="~g", labelOverlap=True)
    scale = alt.Scale(type="log", base=2, nice=False, padding=on.font)
    x = alt.X("size:Q", title="size of the requests (KiB)", axis=axis, scale=scale)
    y = alt.Y("value:Q", title=title, scale=alt.Scale(type="log"), axis=alt.Axis(tickCount=on.rows(), format="~g"))
    legend = on.legend(names, 4)
    colour = alt.Color("series:N", scale=alt.Scale(domain=names, range=on.colours), legend=legend)
    part, base = on.font / 12, alt.Chart(alt.InlineData(values=rows))
    told: dict[str, Any] = {"color": colour}
    if on.dashed:
        told["strokeDash"] = alt.StrokeDash("series:N", scale=alt.Scale(domain=names, range=DASHES), legend=legend)
    line = base.mark_line(strokeWidth=1.6 * part).encode(x=x, y=y, **told)
    shape = alt.Shape("series:N", scale=alt.Scale(domain=names, range=SHAPES), legend=legend)
    tooltip = [alt.Tooltip("series:N"), alt.Tooltip("size:Q", title="KiB"), alt.Tooltip("value:Q", title=title)]
    dots = base.mark_point(filled=True, size=56 * part * part, opacity=1)
    drawn: alt.LayerChart = on.sized(alt.layer(line, dots.encode(x=x, y=y, color=colour, shape=shape, tooltip=tooltip)))
    return drawn
