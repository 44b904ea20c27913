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


def noted(marks: str) -> dict[str, str]:
    """Give what a row of a chart says of the marks of its figure: `doubt`, unless there is none."""
    words = " or ".join(words for mark, words in _WORDS.items() if mark in marks)
    return {"doubt": f"{words} ({marks})"} if marks else {}


def said(marks: Iterable[str]) -> list[str]:
    """Explain hollow points and bars in a line of a subtitle; none without a mark."""
    there = "".join(marks)
    reasons = [f"{mark} {words}" for mark, words in _REASONS.items() if mark in there]
    return [f"Hollow: {'; '.join(reasons)}."] if reasons else []


def style(width: float) -> dict[str, Any]:
    """Give the options of a mark that is drawn hollow; its colour is that of its edge, `width` wide."""
    return {"filled": False, "fill": PAPER, "strokeWidth": width}


def _key(marks: Iterable[str], on: Canvas) -> alt.Chart:
    """Give a layer that draws nothing but an entry of the legend: subtitles may be off."""
    there = "".join(marks)
    words = f"hollow: {' or '.join(word for mark, word in _WORDS.items() if word in there or mark in there)}"
    channel = alt.Opacity("hollow:O", scale=alt.Scale(domain=[words], range=[1]), legend=on.legend([words]))
    base = alt.Chart(alt.InlineData(values=[{"hollow": words}])).transform_filter("false")
    drawn: alt.Chart = base.mark_point(shape="circle", color=INK, **style(1.4 * on.font / 12)).encode(opacity=channel)
    return drawn


def parts(base: alt.Chart, rows: list[dict[str, Any]], edge: float) -> list[tuple[alt.Chart, dict[str, Any]]]:
    """Give the charts of the rows without a doubt and of the doubted ones, with the options of their marks."""
    doubted = sum("doubt" in row for row in rows)
    solid: tuple[alt.Chart, dict[str, Any]] = (base.transform_filter(SOLID) if doubted else base, {})
    kept = [solid] if doubted < len(rows) else []
    return [*kept, *([(base.transform_filter(HOLLOW), style(edge))] if doubted else [])]


def keys(rows: list[dict[str, Any]], on: Canvas) -> list[alt.Chart]:
    """Give the entry of the legend for hollow marks, if there are any."""
    doubted = [row["doubt"] for row in rows if "doubt" in row]
    return [_key(doubted, on)] if doubted else []
