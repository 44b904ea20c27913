r"""Tables in LaTeX, with the rules of the package booktabs: `\usepackage{booktabs}` in the document is all they need.

The text is ASCII, so that any engine and encoding takes it. No package of Python that writes such tables does so
without pandas, which this one does not need otherwise.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashwatt.base.plain import plain
from flashwatt.base.units import prefix

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashwatt.report.metrics import Metric

NOTHING = "--"
_ESCAPED = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "µ": r"$\mu$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
    "–": "--",
    "…": r"\dots{}",
}
_BASES = {"ns": (1e9, "s"), "mA": (1e3, "A"), "bytes": (1.0, "B")}
"""Units of the report by units that take a prefix."""
_PREFIXED = ("s", "A", "B", "J", "W", "V")
_DIGITS, _DECIMALS_MAX = 3, 5


def escape(text: str) -> str:
    """Give text as LaTeX prints it; a character that ASCII does not have, and that is not known here, is `?`."""
    return "".join(_ESCAPED.get(one, one if one.isascii() else "?") for one in plain(text))


def table(head: Sequence[str], parts: Iterable[Sequence[Sequence[str]]], comment: str) -> str:
    """Give a `tabular`: the first column left, the others right; a rule between the parts, each a list of rows.

    Cells and heads are LaTeX already (see `escape`). `comment` goes before it, behind a per cent sign on each line.
    """
    lines = [f"% {one}" for one in (*escape_comment(comment), r"needs \usepackage{booktabs}")]
    lines += [rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\toprule", _row(head)]
    for rows in parts:
        lines += [r"\midrule", *map(_row, rows)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def escape_comment(text: str) -> list[str]:
    """Give the lines of a comment, in ASCII."""
    replaced = text.replace("±", "+-").replace("µ", "u").replace("–", "-").replace("×", "x")
    return plain(replaced, keep="\n").encode("ascii", "replace").decode().splitlines()


def _row(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def heading(name: str, unit: str) -> str:
    """Give a name with its unit in brackets, if it has one; both are LaTeX already."""
    return f"{name} ({unit})" if unit else name


def numbers(
    metric: Metric, values: Sequence[float | None], halves: Sequence[float | None] | None = None
) -> tuple[str, list[str]]:
    r"""Give a figure's unit, one for all values, and the values as LaTeX: `12.3`, with halves of intervals
    `$12.3 \pm 0.4$`.

    The smallest value has three significant digits and the smallest half one, as far as five decimals go.
    """
    halves = halves or [None] * len(values)
    divisor, unit = _unit(metric, values)
    scaled = [None if value is None else value / divisor for value in values]
    around = [None if half is None else half / divisor for half in halves]
    decimals = max(_decimals(scaled, _DIGITS), _decimals(around, 1))
    return unit, [_number(value, half, decimals) for value, half in zip(scaled, around, strict=True)]


def _unit(metric: Metric, values: Sequence[float | None]) -> tuple[float, str]:
    """What to divide values by, and the unit of the result."""
    per, base = _BASES.get(metric.unit, (1.0, metric.unit))
    if base not in _PREFIXED:
        return per, escape(base)
    size, sign = prefix(max((abs(value) / per for value in values if value is not None), default=0))
    if base == "s" and size > 1:
        size, sign = 1.0, ""  # no one counts in kiloseconds
    return per * size, escape(f"{sign}{base}")


def _decimals(values: Iterable[float | None], digits: int) -> int:
    """The decimals with which the smallest of the values that are not 0 has this number of significant digits."""
    there = [abs(value) for value in values if value and math.isfinite(value)]
    if not there or all(value == int(value) for value in there):
        return 0
    return max(0, min(_DECIMALS_MAX, digits - 1 - math.floor(math.log10(min(there)))))


def _number(value: float | None, half: float | None, decimals: int) -> str:
    if value is None:
        return NOTHING
    text = f"{value:.{decimals}f}"
    text = text.lstrip("-") if not float(text) else text
    if half is None:
        return f"${text}$" if text.startswith("-") else text
    return rf"${text} \pm {half:.{decimals}f}$"
