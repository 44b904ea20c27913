"""Numbers for people: three significant digits and a prefix."""

from __future__ import annotations

import math

_PREFIXES = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P"}
NOTHING = "–"


def si(value: float | None, unit: str, digits: int = 3) -> str:
    """Format 0.00123, "J" as "1.23 mJ"; a missing value is a dash."""
    if value is None:
        return NOTHING
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {unit}".rstrip()
    value = float(f"{value:.{digits - 1}e}")  # rounded first: 999.9 becomes 1.00 k, not 1000
    exponent = max(-12, min(15, 3 * math.floor(math.log10(abs(value)) / 3 + 1e-12)))
    scaled = value / 10.0**exponent
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(scaled)) + 1e-12))
    return f"{scaled:.{decimals}f} {_PREFIXES[exponent]}{unit}".rstrip()


def duration(nanoseconds: float | None) -> str:
    """Format a time, up to days."""
    if nanoseconds is None:
        return NOTHING
    seconds = nanoseconds / 1e9
    for limit, size, unit in ((120, 1, "s"), (7200, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return si(seconds, "s") if size == 1 else f"{seconds / size:.1f} {unit}"
    return f"{seconds / 86_400:.1f} d"


def count(value: float | None) -> str:
    """Format a whole number with separators."""
    return NOTHING if value is None else f"{value:,.0f}"


def percent(share: float | None) -> str:
    """Format a share of one."""
    return NOTHING if share is None else f"{100 * share:.1f} %"


def number(value: float | None, digits: int = 3) -> str:
    """Format a pure number."""
    return NOTHING if value is None else f"{value:.{digits}f}"
