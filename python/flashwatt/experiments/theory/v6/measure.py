"""Reports of the same run, made differently."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import flashwatt
from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.base.files import Json
    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

KEPT = ("series", "latency_histogram", "engine")


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""
    once, watched = evidence["once"], evidence["watched"]
    ftls = once.labels("ftl")

    def differs_again(ftl: str) -> bool:
        """Is a run in this process another one? The report holds the whole configuration that it came from."""
        found = once.report(ftl).to_dict()
        again = flashwatt.run(once.config(ftl), latency=False).to_dict()
        return _bytes(found, "engine") != _bytes(again, "engine")

    def differs_watched(ftl: str) -> bool:
        return _bytes(once.report(ftl).to_dict(), *KEPT) != _bytes(watched.report(ftl).to_dict(), *KEPT)

    return {
        "again": lambda: sum(map(differs_again, ftls)),
        "watched": lambda: sum(map(differs_watched, ftls)),
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw what the runs were like."""
    runs = evidence["once"]
    rows = [Bar(ftl, "simulated", runs.value("flash.gc_factor", ftl)) for ftl in runs.labels("ftl")]
    yield bars(
        "What was run twice", "By translation layer.", rows, "bytes programmed / bytes given to the translation layer"
    )


def _bytes(report: Json, *without: str) -> str:
    return json.dumps({key: value for key, value in report.items() if key not in without})
