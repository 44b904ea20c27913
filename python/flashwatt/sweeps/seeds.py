"""What the seeds of a sweep vary, in words: replicates are samples of that and of nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_WITHOUT_CHANCE = ("filled", "empty")
"""Start states in which nothing is drawn by chance."""


def varied_by_seeds(configs: Iterable[Mapping[str, Any]]) -> str:
    """Say what differs between the runs of a point, from the resolved configurations of a sweep's runs.

    A trace has the same requests with every seed: only the start state and policies that draw by chance differ.
    """
    runs = list(configs)
    recorded = ["trace" in config["workload"] for config in runs]
    if not all(recorded):
        return "seeds vary the requests and the start state" + ("" if not any(recorded) else "; of traces, only that")
    if any(_by_chance(config["run"]["precondition"]) for config in runs):
        return "seeds vary the start state only: the requests are the trace's"
    return "seeds vary nothing but policies that draw by chance: the requests are the trace's, the start state is fixed"


def _by_chance(precondition: Any) -> bool:
    """Whether a start state depends on the seed; one of a snapshot or a trace is what it is."""
    if isinstance(precondition, str):
        return precondition not in _WITHOUT_CHANCE
    return "snapshot" not in precondition and "trace" not in precondition.get("workload", {})
