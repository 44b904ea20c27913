r"""Tables in LaTeX, with the rules of the package booktabs: `\usepackage{booktabs}` in the document is all they need.

The text is ASCII, so that any engine and encoding takes it. No package of Python that writes such tables does so
without pandas, which this one does not need otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.base.digits import rounded
from flashwatt.base.plain import plain
from flashwatt.report.metrics import scale

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
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "–": "--",
    "…": r"\dots{}",
}


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
    replaced = (
        text.replace("±", "+-")
        .replace("µ", "u")
        .replace("–", "-")
        .replace("×", "x")
        .replace("†", r"\dag")
        .replace("‡", r"\ddag")
    )
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

    Each cell has the digits of its own interval, as `flashwatt.base.digits` rounds it.
    """
    halves = halves or [None] * len(values)
    divisor, unit = scale(metric.unit, values)
    return escape(unit), [_number(value, half, divisor) for value, half in zip(values, halves, strict=True)]


def _number(value: float | None, half: float | None, divisor: float) -> str:
    if value is None:
        return NOTHING
    scaled = int(value) if divisor == 1 and value == round(value, 0) else value / divisor  # numbers of things
    text, around = rounded(scaled, None if half is None else half / divisor)
    if around is None:
        return f"${text}$" if text.startswith("-") else text
    return rf"${text} \pm {around}$"
