"""The wall and CPU time of a run. The engine reads no clock, so that equal runs have equal reports."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashwatt.base.files import Json


class Stopwatch:
    """Wall and CPU time of a run's two halves: until its start state is there, and the simulation.

    Power cuts after that (`[run.power_cuts]`) are in neither.
    """

    def __init__(self) -> None:
        """Start it."""
        self._times = [_now()]

    def lap(self) -> None:
        """Take the time at which the simulation begins, or power cuts follow it; the engine calls this."""
        self._times.append(_now())

    def engine(self, report: Json) -> dict[str, float | None]:
        """Stop it, and give the section `engine` of a report."""
        (wall_0, _), (wall_1, cpu_1), (wall_2, cpu_2) = [*self._times, _now()][:3]
        cpu_s = cpu_2 - cpu_1
        window = report["window"]
        requests = window["warmup"] + window["measured"] + window["drained"]  # all that the time was spent on
        return {
            "prepare_wall_s": wall_1 - wall_0,
            "wall_s": wall_2 - wall_1,
            "cpu_s": cpu_s,
            "requests_per_cpu_s": requests / cpu_s if cpu_s > 0 else None,
            "flash_ops_per_cpu_s": window["flash_ops"] / cpu_s if cpu_s > 0 else None,
        }


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()
