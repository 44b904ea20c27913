"""Section 3.2.4: time and energy after a reboot, for the rebuild of the map and for the load of a portion of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.plot.figures import Bar, bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.plot import Chart
    from flashwatt.reproduce.criterion import Value
    from flashwatt.reproduce.evidence import Evidence

SCAN, CHECKPOINT = "scan of all pages", "checkpoint"
NOTHING, WHOLE = "0", "100"
_RECOVERY = {"ns": "power_cuts.recovery_ns.median", "j": "power_cuts.energy_j.median"}
_LOAD = {"ns": "power_cuts.map_load_ns.median", "j": "power_cuts.map_load_energy_j.median"}


def quantities(evidence: Evidence) -> dict[str, Callable[[], Value]]:
    """Name what the criteria ask about."""

    def rebuild(start: str, unit: str, scale: float) -> Callable[[], float]:
        return lambda: scale * _rebuild(evidence, start, NOTHING, unit)

    def load(portion: str, unit: str, scale: float) -> Callable[[], float]:
        return lambda: scale * _load(evidence, SCAN, portion, unit)

    def is_short(start: str) -> Callable[[], bool]:
        return lambda: all(
            _load(evidence, start, WHOLE, unit) < _rebuild(evidence, start, NOTHING, unit) for unit in _LOAD
        )

    return {
        "load_is_short": is_short(SCAN),
        "load_is_short_kept": is_short(CHECKPOINT),
        "load_by_portion": lambda: _load(evidence, SCAN, WHOLE, "ns") / _load(evidence, SCAN, "25", "ns"),
        "rebuild_off": lambda: max(_off(evidence, start, unit) for start in (SCAN, CHECKPOINT) for unit in _LOAD),
        "rebuild_ms": rebuild(SCAN, "ns", 1e-6),
        "rebuild_kept_ms": rebuild(CHECKPOINT, "ns", 1e-6),
        "rebuild_mj": rebuild(SCAN, "j", 1e3),
        "rebuild_kept_mj": rebuild(CHECKPOINT, "j", 1e3),
        **{f"load_{portion}_ms": load(portion, "ns", 1e-6) for portion in ("10", "25", "50", WHOLE)},
        **{f"load_{portion}_mj": load(portion, "j", 1e3) for portion in ("25", WHOLE)},
    }


def figures(evidence: Evidence) -> Iterator[Chart]:
    """Draw time and energy of both rebuilds, and of the loads."""
    for unit, scale, title, axis in (("ns", 1e-6, "time", "ms"), ("j", 1e3, "energy", "mJ")):
        rows = [Bar("rebuild", start, scale * _rebuild(evidence, start, NOTHING, unit)) for start in (SCAN, CHECKPOINT)]
        rows += [
            Bar(f"load of {portion} %", start, scale * _load(evidence, start, portion, unit))
            for portion in evidence["study"].labels("portion")
            if portion != NOTHING
            for start in (SCAN, CHECKPOINT)
        ]
        yield bars(
            f"{title.capitalize()} after a reboot",
            "Medians of five cuts, one replica.",
            rows,
            f"{title} ({axis})",
            log=True,
        )


def _load(evidence: Evidence, start: str, portion: str, unit: str) -> float:
    return evidence["study"].value(_LOAD[unit], start, portion)


def _rebuild(evidence: Evidence, start: str, portion: str, unit: str) -> float:
    """What the recovery took without the load."""
    whole = evidence["study"].value(_RECOVERY[unit], start, portion)
    return whole - (0 if portion == NOTHING else _load(evidence, start, portion, unit))


def _off(evidence: Evidence, start: str, unit: str) -> float:
    """How much the rebuild differs at most from that without a load, as a share of it."""
    portions = evidence["study"].labels("portion")
    return max(
        abs(_rebuild(evidence, start, portion, unit) / _rebuild(evidence, start, NOTHING, unit) - 1)
        for portion in portions
    )
