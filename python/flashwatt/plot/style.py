"""The style that all charts share: sizes, fonts, palettes, and the room that text takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import altair as alt

from flashwatt import _core
from flashwatt.base.misspelt import known

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Palette = Literal["default", "colorblind", "grey"]

INK, FAINT, FONT = "#2b3340", "#69758a", "Helvetica, Arial, sans-serif"
GRID, DOMAIN, PAPER = "#e8ebef", "#b8c0cc", "white"
HEIGHT = 300
COLOURS = ["#3b7dbd", "#f0932b", "#d1495b", "#4f9d8f", "#8e6bb0", "#7f8b9d", "#b38b3f", "#2b3340"]
"""Colours for choices side by side, distinguishable by colour-blind people, and in print."""
_OKABE_ITO = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#b5a800", "#000000"]
"""Okabe and Ito, Color Universal Design (2008); the yellow is darker, for lines on white."""
_GREYS = ["#111111", "#8c8c8c", "#555555", "#bdbdbd", "#333333", "#a3a3a3", "#6e6e6e", "#d6d6d6"]
PALETTES = {"default": COLOURS, "colorblind": _OKABE_ITO, "grey": _GREYS}
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 4, 1, 4], [1, 3], [10, 2, 2, 2, 2, 2]]
"""Strokes of lines for choices, where greys alone would not tell them apart."""
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"]
"""For choices of a second kind."""

WIDTH = 884  # of a picture, unless another is asked for
_BASE_PX = 12.0  # labels of a picture of that width
_SMALLEST_PX = 8.0
_PER_FONT = 30  # a narrower picture has labels of a thirtieth of its width
_NARROW = 360  # a narrower picture has no subtitle: the caption of a paper says it
_ASPECT = 0.6  # of the plot, at most: a narrow picture is less high
_ADVANCES = {"ijlI'": 0.29, " .,|:;-/": 0.34, "frt()[]!": 0.4, "csz": 0.54, "mwMW%@—": 0.98}
_EM = {letter: advance for letters, advance in _ADVANCES.items() for letter in letters}
_CAPITAL, _OTHER, _BOLD = 0.7, 0.63, 1.12
"""Widths of letters in sizes of the font: those of DejaVu Sans, rounded up; of its bold letters, a factor."""
_BESIDE_LETTERS = 6  # room that an axis and its title take beside a plot, in sizes of its labels
_SYMBOL_SIZE = 130  # of a legend: the square of its side
_STROKE_BEYOND = 4  # what a stroke of a legend is longer than a symbol, in halves of the symbol's side
_STROKE = f"M-1,0L{1 + _STROKE_BEYOND},0"
_SIDE_MIN, _SIDE_MAX, _FONT_MIN, _FONT_MAX = 120, 5000, 4, 60


class Look(TypedDict, total=False):
    """What every function of `flashwatt.plot` takes beside its data; see `Chart.restyle`."""

    width: float | None
    height: float | None
    font_size: float | None
    title: str | None
    palette: Palette


@dataclass(frozen=True)
class Canvas:
    """What a chart is drawn on."""

    width: float | None = WIDTH
    """Of the whole picture, in pixels of an SVG or points of a PDF; None on a page, whose window decides."""
    height: float | None = None
    """Of the whole picture; None leaves it to the chart."""
    font: float = _BASE_PX
    """Size of the labels."""
    palette: Palette = "default"

    @property
    def page(self) -> bool:
        """Whether the chart is drawn on an interactive page."""
        return self.width is None

    @property
    def padding(self) -> float:
        """The margin: none of it is wasted in a picture for a column of a paper."""
        return 12 if self.width in (None, WIDTH) else 4

    @property
    def colours(self) -> list[str]:
        """The palette's colours for choices side by side."""
        return PALETTES[self.palette]

    @property
    def dashed(self) -> bool:
        """Whether lines are told apart by their strokes, too."""
        return self.palette == "grey"

    def text_px(self, text: object) -> float:
        """The room that a label takes."""
        return text_px(text, self.font)

    def sized(self, chart: Any, height: float = HEIGHT) -> Any:
        """Lay a chart out for this canvas; `height` is that of the plot, where the canvas leaves it open."""
        if self.page:
            chart = chart.properties(width="container", height=self.height or height)
            return chart.properties(autosize=alt.AutoSizeParams(type="fit-x"))
        assert self.width is not None
        fit: Any = "fit" if self.height else "fit-x"
        high = self.height or min(height, _ASPECT * self.width)
        chart = chart.properties(width=self.width, height=high)
        return chart.properties(autosize=alt.AutoSizeParams(type=fit, contains="padding"))

    def legend(
        self,
        names: Iterable[object],
        most: int = 4,
        *,
        beside: float | None = None,
        strokes: bool = False,
        **options: Any,
    ) -> alt.Legend:
        """A legend below the chart, with as many columns as fit there; `beside` is the room of the vertical axis.

        Its symbols are `strokes` long enough to show how they are dashed, if asked for.
        """
        widest = max((self.text_px(name) for name in names), default=1)
        symbol = 2.6 * self.font
        if strokes:
            half = _SYMBOL_SIZE**0.5 / 2 * self.font / _BASE_PX
            options = {"symbolType": _STROKE, "labelOffset": 4 + _STROKE_BEYOND * half, **options}
            symbol += _STROKE_BEYOND * half
        fitting: Any = alt.ExprRef(f"clamp(floor(width / {widest + symbol:.0f}), 1, {most})")
        if self.width is not None:  # a file is laid out once, before the width of the plot is known
            room = self.width - 2 * self.padding - beside if beside else self._beside_axis
            fitting = max(1, min(most, int(room // (widest + symbol))))
        return alt.Legend(
            columns=fitting,
            columnPadding=self.font * 0.7 + 0.12 * widest,  # the reader's font may be wider than the one measured
            labelLimit=alt.ExprRef(f"max(40, width - {symbol:.0f})"),
            **{"title": None, "orient": "bottom", **options},
        )

    def named(self, names: Sequence[object]) -> alt.Axis:
        """The axis of some names: upright where there is too little room for them side by side."""
        needed = max((self.text_px(name) for name in names), default=1) + self.font / 2
        sides: dict[str, tuple[Any, Any]] = {
            "labelAngle": (-90, 0),
            "labelAlign": ("right", "center"),
            "labelBaseline": ("middle", "top"),
        }
        if self.width is None:
            narrow = f"width / {max(1, len(names))} < {needed:.0f}"
            turned: dict[str, Any] = {name: alt.ExprRef(f"{narrow} ? {a!r} : {b!r}") for name, (a, b) in sides.items()}
        else:  # Names that turned only once the plot has its width would push the legend out of the picture.
            upright = self._beside_axis / max(1, len(names)) < needed
            turned = {name: side[not upright] for name, side in sides.items()}
        return alt.Axis(labelOverlap=False, **turned)

    @property
    def _beside_axis(self) -> float:
        """The width of the plot of a file, about: what the margins and the vertical axis leave."""
        return (self.width or 0) - 2 * self.padding - _BESIDE_LETTERS * self.font

    def ticks(self, px: float = 70) -> alt.ExprRef:
        """As many ticks as fit below a chart, at `px` pixels for each at the usual size of labels."""
        return alt.ExprRef(f"max(2, width / {px * self.font / _BASE_PX:.0f})")

    def rows(self, px: float = 50) -> alt.ExprRef:
        """As many ticks as fit beside a chart."""
        return alt.ExprRef(f"max(2, height / {px * self.font / _BASE_PX:.0f})")


def canvas(look: Look, *, page: bool = False) -> Canvas:
    """Make the canvas that a user's options ask for."""
    width = look.get("width") or WIDTH
    font = look.get("font_size") or (_BASE_PX if page else min(_BASE_PX, max(_SMALLEST_PX, width / _PER_FONT)))
    palette = look.get("palette", "default")
    return Canvas(None if page else width, look.get("height"), font, palette)


def check(look: Look) -> None:
    """Raise a `FlashwattError` for options that no picture can have."""
    known("plot", look, list(Look.__annotations__))
    known("palette", [look.get("palette", "default")], list(PALETTES))
    limits = {
        "width": (_SIDE_MIN, _SIDE_MAX),
        "height": (_SIDE_MIN / 2, _SIDE_MAX),
        "font_size": (_FONT_MIN, _FONT_MAX),
    }
    for name, (low, high) in limits.items():
        value: Any = look.get(name)
        if value is not None and (not isinstance(value, int | float) or not low <= value <= high):
            raise _core.FlashwattError(f"{name}: found {value!r}; expected a number from {low:g} to {high:g}")
    title: Any = look.get("title")
    if title is not None and not isinstance(title, str):
        raise _core.FlashwattError(f"title: found {title!r}; expected text, or None for no title")


def text_px(text: object, font: float, *, bold: bool = False) -> float:
    """The room that text needs, in the widest font that stands in for the one asked for: DejaVu Sans."""
    letters = (_EM.get(one, _CAPITAL if one.isupper() else _OTHER) for one in str(text))
    return sum(letters) * font * (_BOLD if bold else 1)


def wrapped(text: str, width: float, font: float, *, bold: bool = False) -> list[str]:
    """Break text into lines that fit, at spaces."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_px(longer, font, bold=bold) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def title_of(look: Look, title: str, subtitle: Sequence[str], on: Canvas) -> alt.TitleParams | None:
    """The title above a picture, in as many lines as it needs; None if it is to have none."""
    if "title" in look:
        title, subtitle = look["title"] or "", ()
    elif on.width is not None and on.width < _NARROW:
        subtitle = ()
    if not title:
        return None
    room, big, small = (on.width or WIDTH) - 2 * on.padding, on.font * 17 / 12, on.font * 13 / 12
    lines = [line for one in subtitle for line in wrapped(one, room, small)]
    return alt.TitleParams(wrapped(title, room, big, bold=True), subtitle=lines)


def styled(chart: Any, on: Canvas) -> Any:
    """Lay the fonts and greys of all pictures over a chart."""
    font, part = on.font, on.font / _BASE_PX
    return (
        chart.configure(font=FONT, background=PAPER, padding=on.padding)
        .configure_view(stroke=None)
        .configure_title(
            anchor="start",
            frame="bounds",
            color=INK,
            fontSize=17 * part,
            subtitleColor=FAINT,
            subtitleFontSize=13 * part,
            offset=14 * part,
        )
        .configure_axis(
            labelColor=FAINT,
            titleColor=INK,
            titleFontWeight="normal",
            titleFontSize=13 * part,
            labelFontSize=font,
            gridColor=GRID,
            domainColor=DOMAIN,
            tickColor=DOMAIN,
            titlePadding=10 * part,
        )
        .configure_legend(
            labelColor=INK,
            labelFontSize=font,
            titleColor=FAINT,
            titleFontSize=font,
            symbolSize=_SYMBOL_SIZE * part * part,
            rowPadding=(5 if on.width is None or on.width >= _NARROW else 2) * part,
            columnPadding=18 * part,
        )
    )


def short(value: float) -> float:
    """Enough digits for a picture: files stay small."""
    return float(f"{value:.6g}")
