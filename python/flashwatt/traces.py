"""Recorded traces as a Python library: statistics, the data of their pictures, conversion.

Every function takes one file or several, which are merged by the times of their records, and these options:

`trace_format`: the format (or "format:event"); recognised unless given. `skip_bad`: leave out (and count) records that
cannot be read. `sets`: overrides of any other key of `[workload.trace]`, as "devices=[0, 2]", "from_s=10",
'time_unit="us"' or "sort=true".
`progress`: called about ten times a second, see `flashwatt.runs.Progress`; the requests in all are an estimate.

A file that cannot be read raises `FlashwattError`. An end by `progress` or Ctrl-C raises `RunInterruptedError`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.scripts import explained

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from typing import TypeAlias

    from flashwatt.runs import Progress

    Files: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]


def info(
    files: Files,
    *,
    trace_format: str | None = None,
    skip_bad: bool = False,
    sets: Sequence[str] = (),
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Return the statistics of traces: requests, rates, order, sizes, sequentiality, footprint, devices."""
    with explained(options=False):  # the command line calls it
        found: dict[str, Any] = json.loads(_core.trace_info(files, trace_format, skip_bad, _keys(sets), progress))
    return found


def profile(
    files: Files,
    *,
    trace_format: str | None = None,
    skip_bad: bool = False,
    sets: Sequence[str] = (),
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Return the data of a trace's pictures: rates and places over time, sizes, the hit ratio of LRU caches."""
    with explained(options=False):  # the command line calls it
        found: dict[str, Any] = json.loads(_core.trace_profile(files, trace_format, skip_bad, _keys(sets), progress))
    return found


def fit_standin(
    files: Files,
    *,
    trace_format: str | None = None,
    skip_bad: bool = False,
    sets: Sequence[str] = (),
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Fit a stand-in to a trace: a model with its sizes, mix, arrivals and reuse of pages, but without its requests.

    Returns a dictionary. `toml` is the text of the stand-in's file, for `workload.standin.path`. `trace` and `standin`
    hold the figures of both (in percent, KiB, bytes and ns), `of_writes` says whether reuse was fitted to the writes
    or, where these are few, to the reads, and `distance` is the root mean square of the relative differences of reuse.
    """
    with explained(options=False):  # the command line calls it
        text = _core.standin_of_trace(files, trace_format, skip_bad, _keys(sets), progress)
    return dict(json.loads(text))


def convert(
    files: Files,
    to: str | PathLike[str],
    *,
    to_format: str | None = None,
    drive_bytes: int | None = None,
    trace_format: str | None = None,
    skip_bad: bool = False,
    sets: Sequence[str] = (),
    progress: Progress | None = None,
    force: bool = False,
) -> dict[str, Any]:
    """Convert traces to "csv" or "binary" (by the ending of `to` unless given) and describe the written file.

    A name that ends in .gz or .zst is packed. `drive_bytes` lays the devices out on a drive of that size, as a replay
    does, folded or clipped with "fold=true" or "clip=true" among the `sets`.

    A file that is there already is replaced when the new one is whole: one that was converted before, others with
    `force` only, and never one of the traces, a device or a FIFO.
    """
    with explained(options=False):  # the command line calls it
        text = _core.trace_convert(
            files, to, trace_format, skip_bad, _keys(sets), to_format, drive_bytes, progress, force
        )
    return dict(json.loads(text))


def _keys(sets: Sequence[str]) -> list[str]:
    return [f"workload.trace.{override}" for override in sets]
