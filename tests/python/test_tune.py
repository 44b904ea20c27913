"""`flashwatt tune pardispatcher`: the micro-test's runs, the rule of the choice, and what the command prints."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import tomli

import flashwatt as fw
from conftest import DATA
from flashwatt import Config, FlashwattError, Report
from flashwatt.sweeps.sweep import sweep
from flashwatt.sweeps.tuning import MicroTest, Tuned

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Cli

MB = 2**20
DRIVE = """\
[device]
preset = "limit"
blocks_per_plane = 64

[device.host_link]
queue_depth = 8

[host.scheduler.pardispatcher]
region_bytes = 4096

[workload.zipf]
requests = 5

[run]
warmup.requests = 2
measure.requests = 1
"""


@pytest.fixture
def drive(tmp_path: Path) -> Path:
    """A small drive, with a block layer, a workload and windows that the micro-test leaves out."""
    path = tmp_path / "drive.toml"
    path.write_text(DRIVE)
    return path


@dataclass
class Made:
    """Results with figures of our own."""

    iops: dict[tuple[str, int, int], float]
    status: str = "complete"

    def __iter__(self) -> Iterator[tuple[dict[str, float], int, Report]]:
        for (kind, region, batch), iops in self.iops.items():
            fraction = {"read": 1.0, "write": 0.0}[kind]
            keys = ("read_fraction", "range_bytes", "queue_depth")
            point = dict(zip((f"workload.uniform.{key}" for key in keys), (fraction, region, batch), strict=True))
            yield point, 0, Report({**COMPLETE, "status": self.status, **figures(kind, iops)})


COMPLETE = json.loads((DATA / "report.json").read_text())


def figures(kind: str, iops: float) -> dict[str, Any]:
    """The sections of a report that the choice reads."""
    return {"throughput": {"iops": iops}, "latency_ns": {kind: {"mean": 1e9 / iops}}}


def choice(read: list[list[float]], write: list[list[float]], within: float = 0.05) -> tuple[int, int, int, bool]:
    """The choice from tables with a row for each region (1, 2, … MB) and a column for 1, 2, 4, … requests."""
    iops = {
        (kind, (row + 1) * MB, 2**column): value
        for kind, table in (("read", read), ("write", write))
        for row, values in enumerate(table)
        for column, value in enumerate(values)
    }
    tuned = Tuned.of(Made(iops), within)  # type: ignore[arg-type]
    return tuned.region_bytes // MB, tuned.batches["read"], tuned.batches["write"], tuned.matters


def test_the_smallest_region_with_almost_all_throughput_is_taken() -> None:
    """Reads reach 96 of 100 in the second region, writes 48 of 50 in the first: the second is the first for both."""
    assert choice([[40, 60, 70], [50, 90, 96], [50, 90, 100]], [[48] * 3, [47, 49, 50], [40, 50, 50]]) == (
        2,
        4,
        2,
        True,
    )


def test_a_batch_is_the_smallest_with_almost_all_throughput_of_its_region() -> None:
    """94.9 of 100 is less than 95 %, 95 is not."""
    assert choice([[94.9, 95, 100]], [[95, 95, 100]])[1:3] == (2, 1)
    assert choice([[94.9, 95, 100]], [[95, 95, 100]], within=0)[1:3] == (4, 4)


def test_a_drive_that_no_region_matters_to_gets_the_smallest_and_is_told() -> None:
    assert choice([[50, 100], [51, 101]], [[10, 20], [10, 20]]) == (1, 2, 2, False)


def test_reads_and_writes_that_want_different_regions_share_the_loss() -> None:
    """Of the regions, reads reach 50, 80, 100 % and writes 100, 80, 50 %: the second loses least."""
    assert choice([[50], [80], [100]], [[100], [80], [50]]) == (2, 1, 1, True)


def test_an_incomplete_run_is_no_figure() -> None:
    with pytest.raises(FlashwattError, match=r"reads at a region of 1048576 bytes, 1 at a time.*truncated"):
        Tuned.of(Made({("read", MB, 1): 5.0}, "truncated"), 0.05)  # type: ignore[arg-type]


def test_the_runs_are_those_of_the_drive_alone(drive: Path) -> None:
    test = MicroTest.of(Config.of(drive), regions=[MB, 8 * MB], batches=[1, 8], requests=300)
    study = test.study()
    results = sweep(study, workers=1)
    assert len(results) == 8
    for one in results:
        content = one.report.to_dict()
        assert "host" not in content
        assert content["workload"]["requests"] == content["window"]["measured"] == 300
        assert content["config"]["device"] == Config.of(drive).resolve()["device"]
    by_point = {
        (one.point["workload.uniform.read_fraction"], one.point["workload.uniform.range_bytes"]): one for one in results
    }
    assert by_point[1.0, MB].report.to_dict()["workload"]["writes"] == 0
    assert by_point[0.0, MB].report.to_dict()["workload"]["reads"] == 0


def test_a_queue_of_the_drive_bounds_the_batches_and_its_size_the_regions(drive: Path) -> None:
    whole = MicroTest.of(Config.of(drive))
    size = Config.of(drive).resolve()["device"]["logical_bytes"]
    assert whole.batches == (1, 2, 4, 8)
    assert whole.regions[-1] <= size < 2 * whole.regions[-1]
    assert [large // small for small, large in zip(whole.regions, whole.regions[1:], strict=False)] == [4, 4, 4, 4]


def test_the_command_prints_its_table_the_rule_and_lines_that_run(flashwatt: Cli, drive: Path, tmp_path: Path) -> None:
    arguments = ("tune", "pardispatcher", drive, "--regions", "1MiB,16MiB", "--batches", "1,4", "--requests", 400)
    done = flashwatt(*arguments, "--out", tmp_path / "runs", "--workers", 1)
    assert done.returncode == 0, done.stderr
    assert "8 runs of 400 requests" in done.stderr
    for words in ("1 MiB", "16 MiB", "reads/s", "writes/s", "◀: chosen", "95.0 % of the highest throughput"):
        assert words in done.stdout
    assert done.stdout.count("◀") == 3, "one of reads, one of writes, and the legend"
    again = flashwatt(*arguments, "--out", tmp_path / "runs", "--json")
    assert "8 of 8 runs found" in again.stderr
    found = json.loads(again.stdout)
    assert [(row["region_bytes"], row["requests_at_once"]) for row in found["rows"]] == [
        (MB, 1), (MB, 4), (16 * MB, 1), (16 * MB, 4)
    ]  # fmt: skip
    chosen = found["chosen"]
    assert tomli.loads(found["toml"]) == {"host": {"scheduler": {"pardispatcher": chosen}}}
    assert found["toml"] in done.stdout
    report = fw.run(Config(DRIVE.partition("[host")[0] + "[run]\n" + found["toml"]))
    assert report.to_dict()["host"]["scheduler"] == "pardispatcher"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("no drive; expected a configuration (CONFIG.toml) or --preset NAME",)),
        (("--preset", "x26m"), ("--preset: unknown preset", "x25m")),
        (("drive.toml", "--batches", "1,9"), ("--batches: found 9", "queue depth of 8")),
        (("drive.toml", "--regions", "1TiB"), ("--regions: found 1099511627776", "up to the drive's")),
        (("drive.toml", "--regions", "1MiB,lots"), ("--regions", "lots")),
        (("drive.toml", "--within", "60"), ("--within",)),
        (("drive.toml", "--set", "device.wasy=2"), ("device.wasy", "did you mean `ways`?")),
        (("drive.toml", "--set", "run.precondition=empty"), ("run.precondition: reads of an empty drive", "`filled`")),
        (("drive.toml", "--request-bytes", "1000"), ("--request-bytes", "multiple of 512")),
    ],
)
@pytest.mark.usefixtures("drive")
def test_mistakes_are_named(flashwatt: Cli, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    done = flashwatt("tune", "pardispatcher", *arguments)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    for one in words:
        assert one in done.stderr
