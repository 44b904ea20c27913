"""What the seeds of a sweep vary, in words: replicates are samples of that and of nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_WITHOUT_CHANCE = ("filled", "empty")
"""Start states in which nothing is drawn by chance."""
_DRAWING = ("random", "d_choices", "window")
"""Victim policies that draw by chance."""


def varied_by_seeds(configs: Iterable[Mapping[str, Any]]) -> str:
    """Say what differs between the runs of a point, from the resolved configurations of a sweep's runs.

    A trace has the same requests with every seed: only the start state and policies that draw by chance differ.
    """
    runs = list(configs)
    recorded = ["trace" in config["workload"] for config in runs]
    varied_start = any(_by_chance(config["run"]["precondition"]) for config in runs)
    if not all(recorded):
        varied, of_traces = (
            ("the requests and the start state", "only that")
            if varied_start
            else ("the requests: the start state is fixed", "none")
        )
        return f"seeds vary {varied}" + (f"; of traces, {of_traces}" if any(recorded) else "")
    if varied_start:
        return "seeds vary the start state only: the requests are the trace's"
    return "seeds vary nothing but policies that draw by chance: the requests are the trace's, the start state is fixed"


def _by_chance(precondition: Any) -> bool:
    """Whether a start state depends on the seed; one of a snapshot or a trace is what it is."""
    if isinstance(precondition, str):
        return precondition not in _WITHOUT_CHANCE
    return "snapshot" not in precondition and "trace" not in precondition.get("workload", {})


def matters(config: Mapping[str, Any]) -> bool:
    """Whether a seed can change the run of this resolved configuration.

    Nothing is drawn by chance if the requests are a trace's, or those of one sequential stream of one kind and length,
    if the start state is fixed, and if the victim policy draws nothing. In doubt a seed matters.
    """
    ((name, workload),) = config["workload"].items()
    return (
        not (name == "trace" or (name == "sequential" and _one_stream(workload)))
        or _by_chance(config["run"]["precondition"])
        or any(one["gc"]["policy"]["name"] in _DRAWING for one in _ssds(config))
    )


def _ssds(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The SSDs of a configuration: one, none, or those of an array."""
    if "gc" in config:
        yield config
    for drive in config.get("array", {}).get("drives", ()):
        yield from _ssds(drive)


def _one_stream(workload: Mapping[str, Any]) -> bool:
    """Whether sequential requests are of one stream, one kind and one length, in a closed loop."""
    return (
        workload.get("streams", 1) == 1
        and workload["read_fraction"] in (0, 1)
        and workload["trim_fraction"] == 0
        and all(len(table) == 1 for table in workload["sizes"].values())
        and "closed" in workload["arrivals"]
    )
