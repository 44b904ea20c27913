"""The style that all charts share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

INK, FAINT, FONT = "#2b3340", "#69758a", "Helvetica, Arial, sans-serif"
HEIGHT = 300
COLOURS = ["#3b7dbd", "#f0932b", "#d1495b", "#4f9d8f", "#8e6bb0", "#7f8b9d", "#b38b3f", "#2b3340"]
"""Colours for choices side by side, distinguishable by colour-blind people, and in print."""

SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"]
"""For choices of a second kind."""


_LETTER_PX, _SYMBOL_PX = 7, 46  # of 12 px Helvetica, and with a symbol and the space to the next


def styled(chart: Any) -> Any:
    """Lay the house's fonts and greys over a chart."""
    return (
        chart.configure(font=FONT, background="white", padding=12)
        .configure_view(stroke=None)
        .configure_title(anchor="start", color=INK, fontSize=17, subtitleColor=FAINT, subtitleFontSize=13, offset=14)
        .configure_axis(
            labelColor=FAINT,
            titleColor=INK,
            titleFontWeight="normal",
            titleFontSize=13,
            labelFontSize=12,
            gridColor="#e8ebef",
            domainColor="#b8c0cc",
            tickColor="#b8c0cc",
            titlePadding=10,
        )
        .configure_legend(
            labelColor=INK, labelFontSize=12, titleColor=FAINT, symbolSize=130, rowPadding=5, columnPadding=18
        )
    )


def columns(names: Iterable[object], most: int) -> alt.ExprRef:
    """Number of columns of a legend that fit below a chart, by its longest name."""
    needed = _SYMBOL_PX + _LETTER_PX * max((len(str(name)) for name in names), default=1)
    return alt.ExprRef(f"clamp(floor(width / {needed}), 1, {most})")


def named(names: Sequence[object]) -> alt.Axis:
    """Make the axis of some names: upright where there is too little room for them side by side."""
    needed = _LETTER_PX * (max((len(str(name)) for name in names), default=1) + 1)
    narrow = f"width / {max(1, len(names))} < {needed}"
    return alt.Axis(
        labelAngle=alt.ExprRef(f"{narrow} ? -90 : 0"),
        labelAlign=alt.ExprRef(f"{narrow} ? 'right' : 'center'"),
        labelBaseline=alt.ExprRef(f"{narrow} ? 'middle' : 'top'"),
        labelOverlap=False,
    )


def short(value: float) -> float:
    """Enough digits for a picture: files stay small."""
    return float(f"{value:.6g}")
