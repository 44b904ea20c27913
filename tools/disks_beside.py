"""Lay simulated disks beside measured ones: `python tools/disks_beside.py DIR [NAME …]`.

DIR holds, for each disk, NAME.disk.json (its description) and NAME.requests.csv (requests with their measured times).
"""

from __future__ import annotations

import csv
import math
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import flashwatt
from flashwatt.disks.convert import from_json
from flashwatt.disks.description import read

POINTS = 10_000
"""Points at which two distributions are compared."""

NEAR_MS = 0.5
SHARE = 0.05


class Asked(NamedTuple):
    """A request with its measured time."""

    gap_ns: int
    op: str
    lbn: int
    sectors: int
    service_ms: float


@dataclass(frozen=True, slots=True)
class Beside:
    """A simulated disk beside the measured one, request by request, in ms."""

    name: str
    asked: list[Asked]
    simulated: list[float]
    bound_ms: float

    @property
    def measured(self) -> list[float]:
        """The measured times."""
        return [one.service_ms for one in self.asked]

    @property
    def demerit_ms(self) -> float:
        """The demerit figure: the root mean square of the horizontal distance between the two distributions."""
        return demerit(self.measured, self.simulated)

    @property
    def near(self) -> float:
        """The share of requests that take within 0.5 ms of the measured time."""
        pairs = zip(self.measured, self.simulated, strict=True)
        return sum(abs(one - other) <= NEAR_MS for one, other in pairs) / len(self.asked)


def demerit(measured: list[float], simulated: list[float], points: int = POINTS) -> float:
    """Give the root mean square of the horizontal distance of two distributions (Ruemmler and Wilkes 1994)."""
    ours, theirs = sorted(simulated), sorted(measured)
    steps = [(point + 0.5) / points for point in range(points)]
    return math.sqrt(sum((_quantile(ours, at) - _quantile(theirs, at)) ** 2 for at in steps) / points)


def _quantile(ordered: list[float], share: float) -> float:
    at = share * len(ordered) - 0.5
    if at <= 0:
        return ordered[0]
    if at >= len(ordered) - 1:
        return ordered[-1]
    low = int(at)
    return ordered[low] + (at - low) * (ordered[low + 1] - ordered[low])


def requests(path: Path) -> list[Asked]:
    """Read requests with their measured times."""
    with path.open(newline="", encoding="utf-8") as rows:
        return [
            Asked(
                round(float(row["gap_us"]) * 1e3),
                row["op"],
                int(row["lbn"]),
                int(row["sectors"]),
                float(row["service_us"]) / 1e3,
            )
            for row in csv.DictReader(rows)
        ]


def simulate(config: str, asked: list[Asked], folder: Path) -> list[float]:
    """Replay requests, each its gap after the one before has ended; give the time of each in ms."""
    trace, log, file = folder / "gaps.csv", folder / "log.csv", folder / "disk.toml"
    at, lines = 0, ["time_ns,device,op,offset_sectors,size_sectors"]
    for one in asked:
        at += one.gap_ns
        lines.append(f"{at},0,{one.op[0].upper()},{one.lbn},{one.sectors}")
    trace.write_text("\n".join(lines) + "\n", encoding="utf-8")
    file.write_text(config, encoding="utf-8")
    replay = {"path": str(trace), "think_times": True}
    report = flashwatt.run(file, workload={"trace": replay}, request_log=log, run={"count_drain": True})
    if report.status != "complete":
        sys.exit(f"{report.status}: {report.warnings}")
    with log.open(newline="", encoding="utf-8") as rows:
        return [(int(row["end_ns"]) - int(row["arrival_ns"])) / 1e6 for row in csv.DictReader(rows)]


def beside(folder: Path, name: str, changes: dict[str, str] | None = None) -> Beside:
    """Simulate a disk from its description, and lay it beside the measured one."""
    path = folder / f"{name}.disk.json"
    config, asked = from_json(path).config, requests(folder / f"{name}.requests.csv")
    for old, new in (changes or {}).items():
        config = config.replace(old, new)
    with tempfile.TemporaryDirectory() as temporary:
        simulated = simulate(config, asked, Path(temporary))
    mean = sum(one.service_ms for one in asked) / len(asked)
    own = read(path).get("disksim_demerit_ms") or 0.0
    published = read(path).get("disksim_published_demerit_ms_percent") or [0.0]
    return Beside(name, asked, simulated, max(own, 0.0 if own else published[0], SHARE * mean))


def main() -> None:
    """Print a line for each disk of a directory, or for those that are named."""
    if len(sys.argv) < 2:  # noqa: PLR2004
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    names = sys.argv[2:] or sorted(path.name.removesuffix(".disk.json") for path in folder.glob("*.disk.json"))
    titles = f"{'disk':<12} {'requests':>8} {'measured':>9} {'simulated':>9}"
    print(f"{titles} {'demerit':>8} {'share':>6} {'bound':>6} {'within 0.5 ms':>13}")
    missed = 0
    for name in names:
        found = beside(folder, name)
        mean, own = (sum(times) / len(found.asked) for times in (found.measured, found.simulated))
        missed += found.demerit_ms > found.bound_ms
        print(
            f"{name:<12} {len(found.asked):>8,} {mean:>9.3f} {own:>9.3f} {found.demerit_ms:>8.3f}"
            f" {found.demerit_ms / mean:>6.1%} {found.bound_ms:>6.3f} {found.near:>13.1%}"
        )
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
