"""What an SVG shows, and where."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from flashwatt.plot.style import text_px

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEXT = "{http://www.w3.org/2000/svg}text"


def beyond(svg: str) -> list[str]:
    """Give the texts that reach beyond the edges of a picture, in a font whose letters are narrow."""
    root = ElementTree.fromstring(svg)
    _, _, wide, high = map(float, root.attrib["viewBox"].split())
    return [
        text for text, (left, top, right, bottom) in _boxes(root, 0, 0)
        if left < -1 or top < -1 or right > wide + 1 or bottom > high + 1
    ]  # fmt: skip


def _boxes(part: ElementTree.Element, x: float, y: float) -> Iterator[tuple[str, tuple[float, float, float, float]]]:
    moved = part.attrib.get("transform", "")
    if found := re.search(r"translate\(([^,)]+),([^)]+)\)", moved):
        x, y = x + float(found[1]), y + float(found[2])
    if part.tag == _TEXT and part.text and part.attrib.get("opacity") != "0":
        font = float(part.attrib["font-size"].removesuffix("px"))
        length = 0.8 * text_px(part.text, font)
        before = {"middle": 0.5, "end": 1.0}.get(part.attrib.get("text-anchor", ""), 0) * length
        if "rotate(-90" in moved or "rotate(270" in moved:
            yield part.text, (x - 0.7 * font, y - (length - before), x + 0.2 * font, y + before)
        else:
            yield part.text, (x - before, y - 0.7 * font, x + length - before, y + 0.2 * font)
    for inner in part:
        yield from _boxes(inner, x, y)
