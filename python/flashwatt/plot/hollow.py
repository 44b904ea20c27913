"""Figures that are doubted, not steady or of too few requests, are drawn hollow; a legend and the subtitle say why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt.plot.style import INK, PAPER
from flashwatt.report.doubts import NOT_STEADY, TOO_SHORT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashwatt.plot.style import Canvas

_WORDS = {NOT_STEADY: "not steady", TOO_SHORT: "too short"}
_REASONS = {NOT_STEADY: "not steady", TOO_SHORT: "too few requests or runs to tell"}
SOLID, HOLLOW = "!datum.doubt", "!!datum.doubt"
"""Which rows are drawn how: `doubt` is the text of their marks, or empty."""
TOOLTIP = alt.Tooltip("doubt:N", title="doubt")


def doubt(marks: str) -> str:
    """Put the marks of a figure in words; empty without a mark."""
    return " or ".join(words for mark, words in _WORDS.items() if mark in marks)


def said(marks: Iterable[str]) -> list[str]:
    """Explain hollow points and bars in a line of a subtitle; none without a mark."""
    there = "".join(marks)
    reasons = [f"{mark} {words}" for mark, words in _REASONS.items() if mark in there]
    return [f"Hollow: {'; '.join(reasons)}."] if reasons else []


def style(width: float) -> dict[str, Any]:
    """Give the options of a mark that is drawn hollow; its colour is that of its edge, `width` wide."""
    return {"filled": False, "fill": PAPER, "strokeWidth": width}


def key(marks: Iterable[str], on: Canvas) -> alt.Chart:
    """Give a layer that draws nothing but an entry of the legend: subtitles may be off."""
    there = "".join(marks)
    words = f"hollow: {' or '.join(word for mark, word in _WORDS.items() if word in there or mark in there)}"
    channel = alt.Opacity("hollow:N", scale=alt.Scale(domain=[words], range=[1]), legend=on.legend([words]))
    base = alt.Chart(alt.InlineData(values=[{"hollow": words}])).transform_filter("false")
    drawn: alt.Chart = base.mark_point(shape="circle", color=INK, **style(1.4 * on.font / 12)).encode(opacity=channel)
    return drawn
