"""Energy by component, one bar for each run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt import _core
from flashwatt.base.misspelt import known
from flashwatt.base.scripts import blaming
from flashwatt.base.units import prefix, si
from flashwatt.plot.chart import Chart
from flashwatt.plot.choice import labelled
from flashwatt.plot.stack import component_colours, names_of
from flashwatt.plot.style import INK, short
from flashwatt.report.components import columns

if TYPE_CHECKING:
    from collections.abc import Collection

    from typing_extensions import Unpack

    from flashwatt.plot.choice import Reports
    from flashwatt.plot.style import Canvas, Look

_BAR = 46  # height of a run's bar and the gap below it


@blaming
def energy(reports: Reports, *, without: Collection[str] = (), **look: Unpack[Look]) -> Chart:
    """Energy by component, one bar for each report, its total beside it.

    `without` names components that are left out, of bars and totals: `nand_idle`, `controller`, `dram`,
    `host_interface`, `nand_transfer`, `nand_read`, `nand_program`, `nand_erase`; of other drives those of their
    reports. Further options are those of
    `Chart.restyle`. Raises `FlashwattError` for an unknown component, and if none is left.
    """
    left_out = [without] if isinstance(without, str) else list(without)
    contents = labelled(reports)
    all_joules = {label: columns(content) for label, content in contents.items()}
    names = names_of(key for one in all_joules.values() for key in one)
    known("without", left_out, list(names))
    kept = [key for key in names if key not in left_out]
    if not kept:
        raise _core.FlashwattError("without: found every component; expected at least one to be left")
    joules = {label: {names[key]: one[key] for key in kept if key in one} for label, one in all_joules.items()}
    totals = [sum(one.values()) for one in joules.values()]
    said = si(totals[0], "J") if len(totals) == 1 else f"{si(min(totals), 'J')} to {si(max(totals), 'J')}"
    loads = ", ".join(dict.fromkeys(content["workload"]["name"] for content in contents.values()))
    less = ", ".join(name for key, name in names.items() if key in left_out)
    subtitle = f"Workload: {loads}." + (f" Left out: {less}." if less else "")
    return Chart(f"Energy by component: {said}", (subtitle,), lambda on: _bars(joules, on), look=look)


def _bars(joules: dict[str, dict[str, float]], on: Canvas) -> alt.LayerChart:
    sums = {label: sum(one.values()) for label, one in joules.items()}
    high = max(sums.values())
    size, unit = prefix(high)
    names = list(dict.fromkeys(name for one in joules.values() for name in one))
    rows = [row for label, one in joules.items() for row in _rows(label, one, size)]
    totals = [{"run": label, "total": short(total / size), "text": si(total, "J")} for label, total in sums.items()]
    room = max(on.text_px(row["text"]) for row in totals) + on.font  # for the longest bar's label
    top = alt.ExprRef(f"{short(high / size) or 1} / (1 - min(0.6, {room:.0f} / max(1, width)))")
    scale = alt.Scale(domainMin=0, domainMax=top, nice=False)
    y = alt.Y("run:N", sort=list(joules), axis=_names(list(joules), on))
    # In a picture of a given height the bars are as high as there is room.
    size_of: dict[str, Any] = {} if on.height and not on.page else {"size": 26 * on.font / 12}
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .transform_calculate(order=f"indexof({json.dumps(names)}, datum.component)")
        .mark_bar(**size_of)
        .encode(
            x=alt.X(
                "energy:Q",
                stack="zero",
                title=f"energy ({unit}J)",
                scale=scale,
                axis=alt.Axis(tickCount=on.ticks(), labelBound=on.padding),
            ),
            y=y,
            color=component_colours(on, names, beside=_beside(list(joules), on)),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("run:N"),
                alt.Tooltip("component:N"),
                alt.Tooltip("energy:Q", title=f"{unit}J", format=".4~g"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    labels = alt.Chart(alt.InlineData(values=totals))
    labels = labels.mark_text(align="left", dx=on.font / 2, fontSize=on.font, color=INK)
    labels = labels.encode(x=alt.X("total:Q", scale=scale), y=y, text="text:N")
    drawn: alt.LayerChart = on.sized(alt.layer(bars, labels), _BAR * on.font / 12 * len(joules))
    return drawn


def _names(labels: list[str], on: Canvas) -> alt.Axis:
    """The axis of the runs' names, with room for a wider font than the one measured."""
    sizes: dict[str, Any] = {"labelLimit": _limit(on), "minExtent": _beside(labels, on)}
    if on.page:  # which measures the reader's font
        sizes = {"labelLimit": alt.ExprRef("min(width / 3, 220)")}
    return alt.Axis(title=None, ticks=False, domain=False, labelPadding=on.font / 2, **sizes)


def _limit(on: Canvas) -> float:
    """How long a run's name may be, in the font that is measured."""
    return min(220 * on.font / 12, 0.35 * (on.width or 0))


def _beside(labels: list[str], on: Canvas) -> float:
    """The room of the names beside the bars; a fallback font may be a fifth wider than the one measured."""
    return min(1.2 * _limit(on), max(map(on.text_px, labels))) + on.font / 2


def _rows(label: str, joules: dict[str, float], size: float) -> list[dict[str, Any]]:
    total = sum(joules.values())
    return [
        {
            "run": label,
            "component": name,
            "energy": short(value / size),
            "share": short(value / total) if total else 0,
        }
        for name, value in joules.items()
    ]
