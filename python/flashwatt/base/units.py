"""Numbers for people: three significant digits and a prefix."""

from __future__ import annotations

import math

_PREFIXES = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P"}
_MINUTES_FROM = 120
_LONG_TIMES = ((60, "min"), (3600, "h"), (86_400, "d"))
_WHOLE_MAX = 1e15
NOTHING = "–"


def si(value: float | None, unit: str, digits: int = 3) -> str:
    """Format 0.00123, "J" as "1.23 mJ"; a missing value is a dash."""
    if value is None:
        return NOTHING
    if value == 0 or not math.isfinite(value):
        return f"{value or 0:g} {unit}".rstrip()
    mantissa, power = f"{value:.{digits - 1}e}".split("e")  # rounded first: 999.9 becomes 1.00 k, not 1000
    exponent = max(-12, min(15, 3 * (int(power) // 3)))
    shift = int(power) - exponent
    return f"{float(mantissa) * 10.0**shift:.{max(0, digits - 1 - shift)}f} {_PREFIXES[exponent]}{unit}".rstrip()


def prefix(value: float | None) -> tuple[float, str]:
    """Choose one prefix for a column of numbers by its largest; return the divisor and the prefix."""
    if not value or not math.isfinite(value):
        return 1.0, ""
    exponent = max(-12, min(15, 3 * math.floor(math.log10(abs(value)) / 3)))
    return 10.0**exponent, _PREFIXES[exponent]


def duration(nanoseconds: float | None, *, exact: bool = False) -> str:
    """Format a time, up to days; an exact one (a setting, not a measurement) without trailing zeros."""
    if nanoseconds is None:
        return NOTHING
    seconds = nanoseconds / 1e9
    if exact:
        size, unit = prefix(seconds)
        return f"{seconds / size:g} {unit}s"
    if seconds < _MINUTES_FROM:
        return si(seconds, "s")
    size, unit = next((entry for entry in _LONG_TIMES if seconds < 120 * entry[0]), _LONG_TIMES[-1])
    return f"{seconds / size:.1f} {unit}"


def about(seconds: float) -> str:
    """Write a time that is known roughly: whole seconds, and minutes from 100 s on."""
    return f"about {max(1, round(seconds))} s" if seconds < 100 else f"about {round(seconds / 60)} min"  # noqa: PLR2004


def count(value: float | None) -> str:
    """Format a whole number with separators; a fraction that is not 0 never reads as 0."""
    if value is None:
        return NOTHING
    text = f"{value:,.0f}"
    return f"{value or 0:.2g}" if text in ("0", "-0") else text


def counted(number: int, thing: str) -> str:
    """Write a number of things: 1 cut, 2 cuts."""
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"


def percent(share: float | None) -> str:
    """Format a share of one as per cent; a share that rounds to 0 has no sign."""
    return NOTHING if share is None else f"{100 * share:.1f} %".replace("-0.0 %", "0.0 %")


def number(value: float | None, digits: int = 3) -> str:
    """Format a pure number; one that is not 0 never reads as 0."""
    if value is None:
        return NOTHING
    text = f"{value:.{digits}f}"
    if float(text):
        return text
    return f"{value:.2g}" if value else f"{0:.{digits}f}"


def setting(value: object) -> str:
    """Write a value of a configuration: of a fraction six digits, and all of a whole number."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if abs(value) < _WHOLE_MAX and value == int(value) else f"{value:.6g}"
