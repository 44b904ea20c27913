"""Warnings for a comparison of runs: different map units, and the runs' own warnings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flashwatt.base.units import count
from flashwatt.report.components import kind_of
from flashwatt.report.report import content_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from flashwatt.report.report import Report

_MOST = 10


def map_unit_bytes(report: Report) -> int | None:
    """Give the bytes of an entry of an SSD's map; None for the report of a disk or an array, which has no map."""
    return report.ftl.map_unit_bytes if kind_of(content_of(report)) == "SSD" else None


def unlike_map_units(units: Mapping[str, int | None]) -> list[str]:
    """Warn of runs, by their labels, whose maps have entries of different sizes: some figures count in those."""
    by_unit: dict[int, str] = {}
    for label, unit in units.items():
        if unit is not None:
            by_unit.setdefault(unit, label)
    if len(by_unit) < 2:  # noqa: PLR2004
        return []
    found = ", ".join(f"{unit} bytes ({label})" for unit, label in sorted(by_unit.items()))
    return [
        f"the runs map different units, ftl.map_unit_bytes: {found}; compare write_amplification, which is of the "
        "host's bytes, not rmw_factor, gc_factor or counts of map units"
    ]


_RULES = {
    "flush": "what a flush waits for",
    "max_request_bytes": "the longest request to the drive",
    "nr_requests": "the places of the queue",
    "plug_requests": "the requests that wait for others to join them",
}
"""Keys of `[host]` that decide no order of requests, and whose defaults follow the scheduler."""
_WITHOUT_QUEUE = "none"
"""The scheduler whose queue is the drive's: `nr_requests` is no rule of it."""


def unlike_host_rules(configs: Mapping[str, Any]) -> list[str]:
    """Warn of runs, by their labels, whose schedulers differ in a rule that is none of the order of requests.

    A rule that differs between runs of one scheduler is varied on purpose.
    """
    hosts = [host for config in configs.values() if (host := _host(config))]
    unlike = {key: values for key in _RULES if (values := _unlike(key, hosts))}
    if not unlike:
        return []
    found = "; ".join(
        f"{_RULES[key]} (host.{key}: {', '.join(f'{_written(value)} for {_all(names)}' for value, names in values)})"
        for key, values in unlike.items()
    )
    to_set = ", ".join(f"host.{key} = {_written(values[0][0])}" for key, values in unlike.items())
    return [
        f"the schedulers of these runs differ in more than the order of requests: {found}. "
        f"To compare the orders alone, set {to_set} in all runs"
    ]


def _unlike(key: str, hosts: list[Any]) -> list[tuple[Any, list[str]]]:
    """Give the values of a rule with the schedulers that have each; nothing if it does not differ."""
    by_scheduler: dict[str, set[Any]] = {}
    for host in hosts:
        name = host["scheduler"]["name"]
        if key != "nr_requests" or name != _WITHOUT_QUEUE:
            value = host["plug"]["requests"] if key == "plug_requests" else host.get(key)
            by_scheduler.setdefault(name, set()).add(value)
    values = dict.fromkeys(value for found in by_scheduler.values() for value in found)
    if len(values) < 2 or any(len(found) > 1 for found in by_scheduler.values()):  # noqa: PLR2004
        return []
    return [(value, [name for name, found in by_scheduler.items() if value in found]) for value in values]


def _all(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _written(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _host(config: Any) -> Any:
    host = config.get("host") if isinstance(config, dict) else None
    return host if isinstance(host, dict) and isinstance(host.get("scheduler"), dict) and "plug" in host else None


def distinct_warnings(runs: Iterable[list[str]]) -> list[str]:
    """Give each warning of many runs once, with how many have it; those that differ in numbers alone are one."""
    texts: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for warnings in runs:
        kinds = {re.sub(r"\d[\d.,]*", "#", text): text for text in warnings}
        for kind, text in kinds.items():
            texts.setdefault(kind, text)
            numbers[kind] = numbers.get(kind, 0) + 1
    lines = [f"{_runs(numbers[kind])}: {text}" for kind, text in texts.items()]
    left_out = len(lines) - _MOST
    return lines if left_out <= 0 else [*lines[:_MOST], f"{left_out} kinds of warning more; see results.jsonl"]


def _runs(number: int) -> str:
    return "1 run" if number == 1 else f"{count(number)} runs, for example"
