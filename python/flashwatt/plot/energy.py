"""Energy by component, one bar for each run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt.base.units import prefix, si
from flashwatt.plot.chart import Chart
from flashwatt.plot.choice import labelled
from flashwatt.plot.stack import COMPONENTS
from flashwatt.plot.style import INK, columns, short

if TYPE_CHECKING:
    from flashwatt.base.files import Json
    from flashwatt.plot.choice import Reports

_BAR = 46  # height of a run's bar and the gap below it
_HEADROOM = 1.16  # room for the longest bar's label


def energy(reports: Reports) -> Chart:
    """Energy by component, one bar for each report, its total beside it."""
    contents = labelled(reports)
    totals = {label: content["energy_j"]["total"] for label, content in contents.items()}
    low, high = min(totals.values()), max(totals.values())
    said = si(high, "J") if len(totals) == 1 else f"{si(low, 'J')} to {si(high, 'J')}"
    names = ", ".join(dict.fromkeys(content["workload"]["name"] for content in contents.values()))

    def draw(width: Any) -> alt.LayerChart:
        return _bars(contents, high, width)

    return Chart(f"Energy by component: {said}", (f"Workload: {names}.",), draw)


def _bars(contents: dict[str, Json], high: float, width: Any) -> alt.LayerChart:
    size, unit = prefix(high)
    names = [name for name, _ in COMPONENTS.values()]
    rows = [row for label, content in contents.items() for row in _rows(label, content, size)]
    totals = [
        {
            "run": label,
            "total": short(content["energy_j"]["total"] / size),
            "text": si(content["energy_j"]["total"], "J"),
        }
        for label, content in contents.items()
    ]
    scale = alt.Scale(domain=[0, _HEADROOM * high / size or 1], nice=False)
    axis = alt.Axis(
        labelLimit=alt.ExprRef("min(width / 3, 220)"), title=None, ticks=False, domain=False, labelPadding=8
    )
    y = alt.Y("run:N", sort=list(contents), axis=axis)
    legend = alt.Legend(orient="bottom", title=None, columns=columns(names, 4), symbolType="square", labelLimit=140)
    colours = alt.Scale(domain=names, range=[colour for _, colour in COMPONENTS.values()])
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .transform_calculate(order=f"indexof({json.dumps(names)}, datum.component)")
        .mark_bar(size=26)
        .encode(
            x=alt.X("energy:Q", stack="zero", title=f"energy ({unit}J)", scale=scale, axis=alt.Axis(tickCount=6)),
            y=y,
            color=alt.Color("component:N", scale=colours, legend=legend),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("run:N"),
                alt.Tooltip("component:N"),
                alt.Tooltip("energy:Q", title=f"{unit}J", format=".4~g"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    labels = alt.Chart(alt.InlineData(values=totals)).mark_text(align="left", dx=6, fontSize=12, color=INK)
    labels = labels.encode(x=alt.X("total:Q", scale=scale), y=y, text="text:N")
    height = _BAR * len(contents)
    chart: Any = alt.layer(bars, labels).properties(width=width, height=height)
    drawn: alt.LayerChart = chart.properties(autosize=alt.AutoSizeParams(type="fit-x"))
    return drawn


def _rows(label: str, content: Json, size: float) -> list[dict[str, Any]]:
    energy, total = content["energy_j"], content["energy_j"]["total"]
    joules = {f"nand_{name}": value for name, value in energy["nand"].items()}
    joules |= {name: energy[name]["active"] + energy[name]["idle"] for name in ("controller", "dram")}
    joules["host_interface"] = energy["host_interface"]
    return [
        {
            "run": label,
            "component": name,
            "energy": short(joules[key] / size),
            "share": short(joules[key] / total) if total else 0,
        }
        for key, (name, _) in COMPONENTS.items()
    ]
