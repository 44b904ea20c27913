"""What a drive does over time: columns, pictures, and messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import flashwatt
from flashwatt import Report, plot

if TYPE_CHECKING:
    from pathlib import Path

_SMALL = {
    "device__channels": 2,
    "device__blocks_per_plane": 64,
    "run__precondition": "filled",
    "workload__uniform__read_fraction": 0.3,
}


@pytest.fixture(scope="module")
def report() -> Report:
    """A short run with reads, writes and collection."""
    return flashwatt.run(device__preset="limit", series=True, workload__uniform__requests=8000, **_SMALL)


def test_columns_add_up_to_the_report(report: Report) -> None:
    bins = report.series()
    seconds = (bins["end_ns"] - bins["start_ns"]) * 1e-9
    assert (bins["iops"] * seconds).sum() == pytest.approx(report.workload.requests)
    assert (bins["write_mb_s"] * seconds).sum() == pytest.approx(report.workload.write_bytes * 1e-6)
    assert bins["energy_gc_j"].sum() == pytest.approx(report.energy_by_cause_j.gc)
    programs = report.to_dict()["flash"]["programs"]
    assert bins["programmed_pages"].sum() == sum(programs[cause] for cause in programs if cause != "total")
    watts = [name for name in bins.columns if name.endswith("_w") and name != "total_w"]
    assert bins["total_w"][0] == pytest.approx(sum(bins[name][0] for name in watts)), "power alone"
    assert bins["free_blocks"].min() > 0


def test_pictures(report: Report, tmp_path: Path) -> None:
    for figure in ("throughput", "iops", "write_amplification", "free_blocks", "queue_depth", "energy_by_cause"):
        spec = json.dumps(plot.activity({"a": report, "b": report}, figure).spec())
        assert {'"a', '"b'} <= {spec[at : at + 2] for at in range(len(spec))}, figure
    assert "requests inside the drive" in plot.activity(report, "queue_depth").svg()
    page = plot.write_activity(report, tmp_path / "activity.html").read_text()
    assert page.count("over time") >= 5


def test_mistakes(report: Report) -> None:
    with pytest.raises(flashwatt.FlashwattError, match=r"found 'queue_dept'; .* \(did you mean queue_depth\?\)"):
        plot.activity(report, "queue_dept")
    short = flashwatt.run(device__preset="limit", workload__uniform__requests=10, **_SMALL)
    with pytest.raises(flashwatt.FlashwattError, match="nothing is recorded over time"):
        plot.activity(short)
    disk = flashwatt.run(device__preset="laptop-7200", series=True, workload__uniform__requests=10)
    with pytest.raises(flashwatt.FlashwattError, match="holds power alone"):
        plot.activity(disk)


def test_write_amplification_needs_enough_writes(report: Report) -> None:
    content = report.to_dict()
    content["config"]["device"] |= {"channels": 1, "ways": 1, "pages_per_block": 2, "page_bytes": 100}
    done = content["series"]["activity"]
    count = len(done["iops"])
    # By hand: 200 bytes are a block; a bin with 4 pages for 4 bytes of the host would be at 100.
    done["accepted_bytes"] = [100, 100, 4, 296, 100] + [200] * (count - 5)
    done["programmed_pages"] = [1, 1, 4, 2, 1] + [2] * (count - 5)
    rows = next(iter(plot.activity(Report(content)).spec(page=True)["datasets"].values()))
    values = [row["value"] for row in rows]
    assert values[:2] == [1, 2]  # 6 pages of 100 bytes for 300 bytes
    assert max(values) == 2
    assert "joined where the host wrote little" in plot.activity(report).subtitle[0]
