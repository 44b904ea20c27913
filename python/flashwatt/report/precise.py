"""How well the figures of a run are known, as some lines for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from flashwatt.base.units import count, counted
from flashwatt.report.metrics import metric_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashwatt.base.files import Json

_HEAD = "precision    "
_ENDS = {
    "precision": "ended when the figures were known",
    "bound": "ended by its bound, before the figures were known",
    "other": "ended before the figures were known",
}


def of_precision(precision: Json) -> Table:
    """Say why the run ended, and give the interval of each figure and each difference."""
    table = Table.grid()
    table.add_row(Text(_HEAD, "dim"), Text("\n".join(_lines(precision))))
    return table


def _lines(precision: Json) -> Iterator[str]:
    error, confidence = _share(precision["relative_error"]), _share(precision["confidence"])
    asked = f"{error} asked for, {confidence} confidence"
    yield f"{_ENDS[precision['ended_by']]} ({asked})"
    for one in precision.get("figures") or ():
        yield f"{_named(one)} {_value(one, 'value')}, {_interval(one)}"
    if against := precision.get("against"):
        yield f"against the run {against['config_sha256'][:12]}"
        for one in against.get("differences") or ():
            yield f"{_named(one)} {_value(one, 'value')} from {_value(one, 'baseline')}, {_interval(one)}"
    found = precision["found_warmup"]
    if found["requests"]:
        yield f"warm-up found: {counted(found['requests'], 'request')}, {_reasons(found)}"


def _named(one: Json) -> str:
    return metric_of(one["key"]).name


def _value(one: Json, key: str) -> str:
    return metric_of(one["key"]).write(one[key])


def _interval(one: dict[str, Any]) -> str:
    if one["relative_error"] is None:
        return "no interval"
    return f"{_value(one, 'lower')} to {_value(one, 'upper')} (± {_share(one['relative_error'])})"


def _reasons(found: Json) -> str:
    reasons = []
    if found["turnover_requests"]:
        reasons.append(f"{count(found['turnover_requests'])} of them to wear the start state off")
    if found["drifts"]:
        reasons.append(f"begun anew {counted(found['drifts'], 'time')} because a figure drifted")
    return ", ".join(reasons)


def _share(share: float) -> str:
    return f"{100 * share:.3g} %"
