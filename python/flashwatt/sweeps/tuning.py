"""The micro-test of ParDispatcher's authors: the size of a region and the batches that suit a drive.

The paper (section on the partition of the space) says: send requests into one region, vary its size and the number of
concurrent requests, and take the optimal point of the performance curve. It does not say what that point is, nor the
requests' size and pattern. `Tuned.rule` states the choices made here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from flashwatt import _core
from flashwatt.base.units import percent
from flashwatt.config.config import Config, parse_toml
from flashwatt.sweeps.study import Study

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashwatt.sweeps.results import Results

KINDS = ("read", "write")
READ_FRACTIONS = {"read": 1.0, "write": 0.0}
_TABLE = "workload.uniform"
_FRACTION, _REGION, _DEPTH = (f"{_TABLE}.{key}" for key in ("read_fraction", "range_bytes", "queue_depth"))
_DEEPEST = 64
_REGIONS = 5
_STEP = 4
"""Each region of the grid is this many times as large as the one before."""


class Cell(NamedTuple):
    """What was measured of one kind of request at one point."""

    iops: float
    latency_ns_mean: float


@dataclass(frozen=True, slots=True)
class MicroTest:
    """The runs of the micro-test of one drive."""

    drive: Config
    """The configuration without its workload, its windows and its block layer."""
    regions: tuple[int, ...]
    batches: tuple[int, ...]
    """Numbers of concurrent requests."""
    requests: int
    request_bytes: int

    @classmethod
    def of(
        cls,
        config: Config,
        *,
        regions: Sequence[int] = (),
        batches: Sequence[int] = (),
        requests: int = 20_000,
        request_bytes: int = 4096,
    ) -> MicroTest:
        """Choose the points that are not given, and check them. Raises `FlashwattError`."""
        resolved = config.resolve()
        size, depth = _room(_bare(config))
        if resolved["run"]["precondition"] == "empty":
            raise _core.FlashwattError(
                "run.precondition: reads of an empty drive touch no flash; found empty; "
                "expected `filled`, `steady`, a workload or a snapshot"
            )
        _check("regions", regions, request_bytes, size, f"bytes, up to the drive's {size}")
        _check("batches", batches, 1, depth, f"requests, up to the drive's queue depth of {depth}")
        return cls(
            _bare(config),
            tuple(sorted(set(regions))) or _regions_of(size, request_bytes),
            tuple(sorted(set(batches))) or _batches_of(depth),
            requests,
            request_bytes,
        )

    def study(self) -> Study:
        """The runs: random requests of one kind into the first region of the drive, a fixed number of them at a time.

        Raises `FlashwattError` for a number or a size of requests that no run takes.
        """
        workload = {"requests": self.requests, "request_bytes": self.request_bytes}
        windows = {"run.measure.requests": self.requests, "run.warmup.requests": 0}  # a preset may have others
        base = self.drive.override({f"{_TABLE}.{key}": value for key, value in workload.items()}, windows)
        base.resolve()  # its faults are those of one value, not of every point
        grid = {_FRACTION: list(READ_FRACTIONS.values()), _REGION: list(self.regions), _DEPTH: list(self.batches)}
        return Study.of(grid, base=base, name="the micro-test")


@dataclass(frozen=True, slots=True)
class Tuned:
    """The table of the micro-test, and what follows from it."""

    table: dict[tuple[int, int], dict[str, Cell]]
    """By the bytes of the region and the number of concurrent requests: of reads and of writes."""
    within: float
    """The share of the highest throughput that may be given up."""
    region_bytes: int
    batches: dict[str, int]
    matters: bool
    """Whether any region of the grid has less throughput than the rule asks for."""

    @classmethod
    def of(cls, results: Results, within: float) -> Tuned:
        """Choose from the results of `MicroTest.study`. Raises `FlashwattError` if a run is not complete."""
        table: dict[tuple[int, int], dict[str, Cell]] = {}
        kinds = {fraction: kind for kind, fraction in READ_FRACTIONS.items()}
        for point, _seed, report in results:
            kind, place = kinds[point[_FRACTION]], (point[_REGION], point[_DEPTH])
            if report.status != "complete":
                raise _core.FlashwattError(
                    f"{kind}s at a region of {place[0]} bytes, {place[1]} at a time: found a run that is "
                    f"{report.status}; expected a complete one"
                )
            content = report.to_dict()
            cell = Cell(content["throughput"]["iops"], content["latency_ns"][kind]["mean"])
            table.setdefault(place, {})[kind] = cell
        return cls(table, within, *_chosen(table, within))

    @property
    def rule(self) -> str:
        """How the choice follows from the table."""
        share = percent(1 - self.within)
        return (
            f"Region: the smallest one with {share} of the highest throughput of all regions, for reads and for "
            f"writes, each at its best number of requests. Batch: the smallest number of requests with {share} of the "
            "highest throughput in that region. The paper says `the optimal point on the performance curve`; this "
            "reading of it, random requests and their size are choices of FlashWatt."
        )

    @property
    def toml(self) -> str:
        """The choice as a part of a configuration."""
        return (
            "[host.scheduler.pardispatcher]\n"
            f"region_bytes = {self.region_bytes}\n"
            f"read_batch = {self.batches['read']}\n"
            f"write_batch = {self.batches['write']}\n"
        )

    def is_chosen(self, region: int, batch: int, kind: str) -> bool:
        """Whether this cell of the table is the one that was taken."""
        return (region, batch) == (self.region_bytes, self.batches[kind])

    def to_dict(self) -> dict[str, Any]:
        """Everything as in the command's JSON."""
        rows = [
            {
                "region_bytes": region,
                "requests_at_once": batch,
                **{
                    kind: {**cell._asdict(), "chosen": self.is_chosen(region, batch, kind)}
                    for kind, cell in row.items()
                },
            }
            for (region, batch), row in self.table.items()
        ]
        chosen = {"region_bytes": self.region_bytes, **{f"{kind}_batch": self.batches[kind] for kind in KINDS}}
        matters = {"region_matters": self.matters}
        return {"rows": rows, "chosen": chosen, **matters, "within": self.within, "rule": self.rule, "toml": self.toml}


def _chosen(table: dict[tuple[int, int], dict[str, Cell]], within: float) -> tuple[int, dict[str, int], bool]:
    """The region, the batches, and whether the region matters."""
    regions = sorted({region for region, _ in table})
    peaks = {
        region: {kind: max(row[kind].iops for (at, _), row in table.items() if at == region) for kind in KINDS}
        for region in regions
    }
    tops = {kind: max(peak[kind] for peak in peaks.values()) for kind in KINDS}
    worst = {region: min(peak[kind] / tops[kind] for kind in KINDS) for region, peak in peaks.items()}
    # Reads and writes may want different regions: then the one in which the worse of them loses least.
    asked = min(1 - within, max(worst.values()))
    region = next(region for region in regions if worst[region] >= asked)
    depths = sorted(batch for at, batch in table if at == region)
    batches = {
        kind: next(at for at in depths if table[region, at][kind].iops >= (1 - within) * peaks[region][kind])
        for kind in KINDS
    }
    return region, batches, any(share < asked for share in worst.values())


def _bare(config: Config) -> Config:
    """The drive of a configuration, in the state in which its run begins."""
    content = parse_toml(config.text, config.name)
    for table in ("host", "workload"):
        content.pop(table, None)
    for key in ("warmup", "measure"):
        content.get("run", {}).pop(key, None)
    sets = (one for one in config.sets if not re.match(r"\s*(host|workload|run\.(warmup|measure))\b", one))
    return Config(Config.of(content).text, config.name, tuple(sets))


def _room(drive: Config) -> tuple[int, int]:
    """The bytes of a drive, be it an SSD, a disk or an array, and the requests that it takes at once.

    They are the range and the depth of the default workload.
    """
    uniform = drive.resolve()["workload"]["uniform"]
    return uniform["range_bytes"], uniform["arrivals"]["closed"]["queue_depth"]


def _regions_of(drive_bytes: int, least: int) -> tuple[int, ...]:
    """Powers of two: the largest that the drive holds, and smaller ones."""
    largest = 1 << (drive_bytes.bit_length() - 1)
    found = (largest // _STEP**step for step in range(_REGIONS))
    return tuple(sorted(size for size in found if size >= least))


def _batches_of(depth: int) -> tuple[int, ...]:
    return tuple(2**power for power in range(min(depth, _DEEPEST).bit_length()))


def _check(name: str, values: Iterable[int], least: int, most: int, of: str) -> None:
    for value in values:
        if not least <= value <= most:
            raise _core.FlashwattError(f"{name}: found {value}; expected at least {least} {of}")
