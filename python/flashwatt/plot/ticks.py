"""The text of an axis's ticks: it must tell the tick's value, whatever the other ticks are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_EXACT = "format(datum.value, '.12~g')"
"""Twelve digits: more than the data of a picture has, and less than would show that 0.3 is no sum of powers of two."""


def tell_values(spec: dict[str, Any]) -> None:
    """Give the axes of a Vega-Lite chart labels that tell the values of their ticks.

    Vega chooses the digits of a linear axis by the distance of ticks that it would have chosen itself. Values that a
    chart gives are rounded to that: 0.15 reads 0.1, and 16 reads 2e+1.
    """
    for axis, is_log in _axes(spec):
        is_plain = axis.get("format") in (None, "~g") and "labelExpr" not in axis
        if is_plain and (axis.get("values") or ("format" in axis and not is_log)):
            axis["labelExpr"] = _EXACT


def _axes(part: Any) -> Iterator[tuple[dict[str, Any], bool]]:
    """Give the axes of numbers in a chart and in those that it consists of, and whether they are logarithmic."""
    if not isinstance(part, dict):
        return
    for channel in ("x", "y"):
        place = part.get("encoding", {}).get(channel, {})
        axis = place.get("axis")
        if place.get("type") == "quantitative" and isinstance(axis, dict):
            yield axis, (place.get("scale") or {}).get("type") == "log"
    for several in ("layer", "vconcat", "hconcat", "concat"):
        for inner in part.get(several, ()):
            yield from _axes(inner)
    yield from _axes(part.get("spec"))
