"""The points of a plan on a target."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.dio.figures import point, priced
from flashwatt.dio.load import MIB
from flashwatt.dio.result import SCHEMA
from flashwatt.dio.target import SAMPLE_NS

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashwatt.base.files import Json
    from flashwatt.dio.load import Load, Pattern, Plan
    from flashwatt.dio.target import GoOn, Measured, Target

_FOREVER_NS = 2**62
PREPARING_BYTES = 4 * MIB
"""Of a preparing write, unless the point's are larger: as in the burst of Park et al. 2011 (Fig. 9), which uses up the
log. Choice: a GiB of small ones would take some 10^8 copies on a drive that merges 4 MB for each."""
_PREPARING_SEED = 2**32
"""Preparing writes have other offsets than the point behind them."""


class StoppedError(Exception):
    """The user ended the benchmark; what was measured stands in the result."""


class Bench:
    """A benchmark under way: its target, and its result as it grows."""

    def __init__(self, target: Target, plan: Plan, span_bytes: int, keep: Callable[[Json], None], go_on: GoOn) -> None:
        """Begin a result. `keep` is called whenever there is more of it, and before anything is written."""
        self.target, self.plan, self.span_bytes = target, plan, span_bytes
        self._keep, self.go_on = keep, go_on
        self.content: Json = {
            "dio": SCHEMA,
            "version": _core.__version__,
            "status": "incomplete",
            "target": target.about(),
            "plan": described(plan, span_bytes),
            "power": None,
            "points": [],
            "probes": {},
            "written": {"bytes": 0, "until_byte": 0, "under_way": None},
            "warnings": [],
        }

    def keep(self) -> None:
        """Keep the result as it is now."""
        self._keep(self.content)

    def sweep(self) -> None:
        """Measure every point of the plan. Raises `StoppedError` when the user ends it."""
        for pattern in self.plan.patterns:
            for size in self.plan.sizes:
                self._prepare(pattern, size)
                load = self.plan.load(pattern, size, self.span_bytes)
                measured, flush_ns = self.run(load)
                one = point(load, measured, flush_ns)
                if measured.requests:
                    self.content["points"].append(self.priced(one))
                self.keep()
                self.check(stopped=measured.stopped)

    def priced(self, one: dict[str, Any]) -> dict[str, Any]:
        """Give a point its power, if the target knows it already."""
        source = self.target.power()
        return priced(one, source.over(one["began_ns"], one["ended_ns"])) if source else one

    def run(self, load: Load, *, watched: bool = True) -> tuple[Measured, int]:
        """Run a load, and flush behind writes; the result says before what is written, and afterwards how much."""
        written = self.content["written"]
        if load.pattern.write:
            reach = load.span_bytes if load.pattern.random else min(load.span_bytes, load.requests * load.request_bytes)
            written["until_byte"] = max(written["until_byte"], reach)
            written["under_way"] = f"{load.pattern.name}s of {load.request_bytes} bytes"
            self.keep()
        measured = self.target.run(load, self.go_on, watched=watched)
        flush_ns = 0
        if load.pattern.write:
            flush_ns = self.target.flush()
            written["bytes"] += measured.requests * load.request_bytes
            written["under_way"] = None
        return measured, flush_ns

    def _prepare(self, pattern: Pattern, size: int) -> None:
        """Write before a point of random writes, so that it finds no log area that is still free."""
        if not self.plan.prepare_bytes or not (pattern.write and pattern.random):
            return
        if size < PREPARING_BYTES <= min(self.span_bytes, self.plan.prepare_bytes):
            size = PREPARING_BYTES
        load = self.plan.load(pattern, size, self.span_bytes)
        requests = max(1, self.plan.prepare_bytes // size)
        seed = load.seed + _PREPARING_SEED
        measured, _ = self.run(replace(load, requests=requests, limit_ns=_FOREVER_NS, seed=seed), watched=False)
        self.check(stopped=measured.stopped)

    @staticmethod
    def check(*, stopped: bool) -> None:
        """Raise `StoppedError` if the work was stopped."""
        if stopped:
            raise StoppedError


def described(plan: Plan, span_bytes: int) -> dict[str, Any]:
    """Describe a plan for the result."""
    return {
        "sizes": list(plan.sizes),
        "patterns": [one.name for one in plan.patterns],
        "bytes": plan.bytes,
        "seconds": plan.seconds,
        "prepare_bytes": plan.prepare_bytes,
        "queue_depth": plan.queue_depth,
        "seed": plan.seed,
        "span_bytes": span_bytes,
        "align_bytes": plan.align_bytes,
        "sample_ns": SAMPLE_NS,
    }
