"""Marks beside figures that say less than they seem to: not steady, or of too few requests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flashwatt.report.metrics import LISTS, listed_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from flashwatt.base.files import Json

NOT_STEADY, TOO_SHORT = "†", "‡"
TOO_WIDE = 0.5
"""Half of an interval, as a share of its mean, from which on the runs are too short to tell the figure."""
_BEYOND_MIN = 5
"""Requests beyond a quantile with fewer of which it is that of a few single requests."""
_QUANTILE = re.compile(r"latency_ns\.(?:\w+\.)*p(\d+(?:_\d+)?)$")


def mark(report: Json, key: str) -> str:
    """Give the marks of a figure by its dotted key; empty for one without a doubt."""
    return _not_steady(report, key) + (TOO_SHORT if _is_too_short(report, key) else "")


def united(*marks: str) -> str:
    """Give each mark among these once, in one order."""
    found = "".join(marks)
    return "".join(one for one in (NOT_STEADY, TOO_SHORT) if one in found)


def mark_of_row(row: Mapping[str, Any], key: str) -> str:
    """Give the mark of a figure in a row of a frame, whose columns are dotted keys: it knows counts alone."""
    found = _QUANTILE.search(key)
    table, _, name = key.rpartition(".")
    return marks_of_quantile(row.get(f"{table}.count"), name) if found else ""


def marks_of_quantile(count: int | None, name: str) -> str:
    """Give the mark of a quantile, `p99`, of this many requests."""
    return TOO_SHORT if count and name.startswith("p") and count < least_requests(name) else ""


def least_requests(name: str) -> int:
    """Give the requests of which five are beyond a quantile: 500 for `p99`, 5,000 for `p99_9`."""
    percent = float(name[1:].replace("_", "."))
    return round(_BEYOND_MIN / (1 - percent / 100)) if percent < 100 else 0  # noqa: PLR2004


def legend(marks: Iterable[str], reports: Iterable[Json] = ()) -> list[str]:
    """Explain the marks among these, a line for each."""
    found = set("".join(marks))
    lines = []
    if NOT_STEADY in found:
        reasons = dict.fromkeys(doubt["why"] for one in reports for doubt in one.get("not_steady") or [])
        why = f": {'; '.join(reasons)}" if reasons else ""
        lines.append(f"{NOT_STEADY} not steady, a longer run gives another figure{why}")
    if TOO_SHORT in found:
        lines.append(f"{TOO_SHORT} too short: too few requests, or runs too far apart, to tell the figure")
    return lines


def is_wide(mean: float | None, half: float | None) -> bool:
    """Whether the interval of a mean says nearly nothing."""
    return bool(mean) and half is not None and half > TOO_WIDE * abs(mean or 0)


def doubted(report: Json) -> set[str]:
    """Give the keys and tables of a report that are not steady."""
    return {key for doubt in report.get("not_steady") or [] for key in doubt["keys"]}


def _not_steady(report: Json, key: str) -> str:
    tables = doubted(report)
    return NOT_STEADY if tables and any(part in tables for part in _tables(key)) else ""


def _tables(key: str) -> Iterator[str]:
    while key:
        yield key
        key = key.rpartition(".")[0]


def _is_too_short(report: Mapping[str, Any], key: str) -> bool:
    found = _QUANTILE.search(key)
    if not found:
        return False
    count = _table_of(report, key).get("count")
    return isinstance(count, int) and bool(marks_of_quantile(count, key.rpartition(".")[2]))


def _table_of(report: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Give the table that holds a figure, of a list of tables as well; an empty one where there is none."""
    part = listed_parts(key)
    table: Any = report
    for name in (part.list if part else key.rpartition(".")[0]).split("."):
        table = table.get(name) if isinstance(table, dict) else None
    if part:
        named = [one for one in table or [] if str(one[LISTS[part.list]]) == part.name]
        table = named[-1] if named else None
        for name in part.figure.split(".")[:-1]:
            table = table.get(name) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else {}
