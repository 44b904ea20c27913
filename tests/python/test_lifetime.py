"""What a drive costs over months and years: kWh a month, joules per TB, lifetime; in the report, table and card."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

import flashwatt
from flashwatt.report import table

SMALL = {
    "device": {"preset": "x25m", "channels": 1, "ways": 1, "logical_bytes": 16 << 20, "op_ratio": 0.5},
    "workload": {"uniform": {"requests": 60_000, "request_bytes": 4096, "read_fraction": 0.25}},
}


@pytest.fixture(scope="module")
def run() -> flashwatt.Report:
    """Wear a small drive with some erases per block."""
    return flashwatt.run(SMALL)


def page(report: flashwatt.Report) -> str:
    stream = io.StringIO()
    table.show(report.to_dict(), Console(file=stream, width=100))
    return stream.getvalue()


def test_endurance_follows_from_the_window(run: flashwatt.Report) -> None:
    """The formulas of the report page, from other figures of the report."""
    life, device = run.lifetime, run.config["device"]
    assert life is not None
    assert life.mean_wear is not None
    assert life.worst_block is not None
    blocks = device["planes"] * device["blocks_per_plane"]
    filled = run.flash.programs.total / device["pages_per_block"]
    assert life.rated_cycles == 10_000
    assert life.cycles_per_block == pytest.approx(max(filled, run.flash.erases.total) / blocks)
    windows = 10_000 / life.cycles_per_block
    assert life.mean_wear.years == pytest.approx(windows * run.throughput.simulated_s / 86_400 / 365.25)
    assert life.mean_wear.tbw == pytest.approx(windows * run.workload.write_bytes / 1e12)
    assert run.flash.write_amplification is not None
    physical = blocks * device["pages_per_block"] * device["page_bytes"]
    assert filled > run.flash.erases.total
    assert life.mean_wear.tbw == pytest.approx(10_000 * physical / run.flash.write_amplification / 1e12)
    uneven = run.wear.erase_count.max / run.wear.erase_count.mean
    assert life.worst_block.years == pytest.approx(life.mean_wear.years / uneven)
    days = run.throughput.simulated_s / 86_400
    assert life.drive_writes_per_day == pytest.approx(run.workload.write_bytes / device["logical_bytes"] / days)
    assert life.reason is None


def test_energy_costs(run: flashwatt.Report) -> None:
    joules, load = run.energy_j.total, run.workload
    cost = run.efficiency
    assert cost.j_per_tb_written == pytest.approx(joules / load.write_bytes * 1e12)
    assert cost.j_per_tb == pytest.approx(joules / (load.write_bytes + load.read_bytes) * 1e12)
    assert cost.kwh_per_month == pytest.approx(run.power_w.mean * 365.25 * 24 / 12 / 1000)


def test_table_and_card_show_them(run: flashwatt.Report) -> None:
    text, card = page(run), run._repr_html_()
    assert run.lifetime is not None
    assert run.lifetime.mean_wear is not None
    for words in (
        "lifetime",
        "by mean wear;",
        "by the worst block",
        "10,000 cycles,",
        "per TB written",
        "a month of this",
    ):
        assert words in text
    assert table.years(run.lifetime.mean_wear.years) in text
    assert table.years(run.lifetime.mean_wear.years) in card
    assert "per TB written" in card


def test_unknown_cycles_have_a_reason() -> None:
    report = flashwatt.run(SMALL, device__preset="energysim", workload__uniform__requests=1000)
    assert report.lifetime is not None
    assert (report.lifetime.rated_cycles, report.lifetime.mean_wear, report.lifetime.worst_block) == (None, None, None)
    assert report.lifetime.reason is not None
    assert report.lifetime.reason.startswith("device.nand.rated_cycles is not known")
    assert "rated_cycles is not known" in page(report)
    given = flashwatt.run(SMALL, device__preset="energysim", device__nand__rated_cycles=500)
    assert given.lifetime is not None
    assert given.lifetime.mean_wear is not None
    with pytest.raises(flashwatt.FlashwattError, match=r"device\.nand\.rated_cycles: out of range; found 0"):
        flashwatt.run(device__nand__rated_cycles=0)


def test_rated_cycles_change_nothing_else(run: flashwatt.Report) -> None:
    other = flashwatt.run(SMALL, device__nand__rated_cycles=5_000)
    differ = {key for key, value in other.to_dict().items() if value != run.to_dict()[key]}
    assert differ == {"config", "config_sha256", "lifetime", "engine"}


def test_prices_change_the_costs_and_not_the_life(run: flashwatt.Report) -> None:
    dear = flashwatt.reprice(run, "[energy.nand]\nprogram_ma = 90\n")
    assert dear.lifetime == run.lifetime
    assert dear.efficiency.kwh_per_month == pytest.approx(dear.power_w.mean * 0.7305)
    assert dear.efficiency.j_per_tb_written is not None
    assert run.efficiency.j_per_tb_written is not None
    assert dear.efficiency.j_per_tb_written > run.efficiency.j_per_tb_written


def test_a_report_of_an_older_version_has_none(run: flashwatt.Report) -> None:
    import json

    old = run.to_dict()
    del old["lifetime"]
    for key in ("j_per_tb", "j_per_tb_written", "kwh_per_month"):
        del old["efficiency"][key]
    report = flashwatt.Report.parse(json.dumps(old))
    assert (report.lifetime, report.efficiency.kwh_per_month) == (None, None)
    assert "lifetime" not in page(report)
    assert "lifetime" not in report._repr_html_()
