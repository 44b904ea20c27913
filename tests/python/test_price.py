"""Another price table for a finished run."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

import flashwatt as package
from conftest import CONFIG
from flashwatt.cli.run import _said_once

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

SMALL = package.Config(CONFIG)
DOUBLE = """\
[energy]
controller = { active_ma = 60, idle_ma = 30 }
dram = { active_ma = 200, idle_ma = 40 }
nand = { read_ma = 40, program_ma = 40, erase_ma = 40, idle_ma = 6 }
"""


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Make a run and a price table; return the run's report."""
    (tmp_path / "double.toml").write_text(DOUBLE)
    (tmp_path / "run").mkdir()
    report = tmp_path / "run/report.json"
    package.run(SMALL, series=True).write(report)
    return report


def test_twice_the_currents_cost_twice(flashwatt: Cli, made: Path, tmp_path: Path) -> None:
    result = flashwatt("price", made, "--table", "double.toml", "--json", "--out", "priced")
    assert result.returncode == 0, result.stderr
    before, after = json.loads(made.read_text()), json.loads(result.stdout)
    assert after == json.loads((tmp_path / "priced/report.json").read_text())
    assert after["energy_j"]["total"] == pytest.approx(2 * before["energy_j"]["total"], rel=1e-12)
    assert after["repriced"]["table"] == "double.toml"
    assert after["power_w"]["peak"] is after["current_ma"]["peak"] is after["series"] is None
    assert list(after)[: len(before)] == list(before)
    assert after["latency_ns"] == before["latency_ns"]


def test_a_directory_stands_for_its_report(flashwatt: Cli, made: Path) -> None:
    by_file, by_directory = (flashwatt("price", one, "--table", "double.toml", "--json") for one in (made, made.parent))
    assert by_directory.returncode == 0, by_directory.stderr
    assert by_directory.stdout == by_file.stdout


def test_the_table_says_whose_prices_they_are(flashwatt: Cli, made: Path) -> None:
    result = flashwatt("price", made, "--table", "double.toml")
    assert result.returncode == 0, result.stderr
    for word in ("currents and voltages of double.toml: no peaks", "Energy by component", "–"):
        assert word in result.stdout


def test_a_run_with_a_drain_is_priced_and_shown(flashwatt: Cli, made: Path) -> None:
    wanted = {"write_buffer.bytes": 1 << 20, "run.measure.requests": 500}
    run = package.run(SMALL, **wanted)
    assert run.window.drain_s > 0
    run.write(made)
    result = flashwatt("price", made, "--table", "double.toml")
    assert result.returncode == 0, result.stderr
    assert "currents and voltages of double.toml" in result.stdout


def test_a_byte_order_mark_and_a_pipe(flashwatt: Cli, made: Path, tmp_path: Path) -> None:
    made.write_text("\ufeff" + made.read_text(), encoding="utf-8")
    assert flashwatt("price", made, "--table", "double.toml", "--json").returncode == 0
    os.mkfifo(tmp_path / "pipe")
    for arguments in (("pipe", "--table", "double.toml"), ("run", "--table", "pipe")):
        result = flashwatt("price", *arguments)
        assert result.returncode == 2
        assert "pipe: not a file with an end; found a pipe (FIFO)" in result.stderr


def test_another_accounting_is_that_of_a_fresh_run() -> None:
    priced = package.reprice(package.run(SMALL), 'energy.idle_accounting = "busy_only"')
    fresh = package.run(SMALL, energy__idle_accounting="busy_only")
    for key in ("config", "config_sha256", "energy_j", "energy_by_cause_j", "energy_total_j", "efficiency"):
        assert getattr(priced, key) == getattr(fresh, key), key
    assert priced.power_w.mean == fresh.power_w.mean
    assert priced.power_w.peak is None
    assert priced.repriced is not None
    assert "power_w.peak" in priced.repriced.null


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run/report.json",), "--table"),
        (("run/report.json", "--table", "absent.toml"), "absent.toml"),
        (("absent.json", "--table", "double.toml"), "absent.json"),
        (("run/report.json", "--table", "typo.toml"), "typo.toml:2:1: energy.nand.raed_ma: unknown key; found"),
        (("run/report.json", "--table", "typo.toml"), "did you mean `read_ma`?"),
        (("run/report.json", "--table", "time.toml"), "time.toml:1:15: device.timing.read_ns: fixed by the run"),
        (("double.toml", "--table", "double.toml"), "double.toml: a configuration; expected a report.json"),
        (("other.json", "--table", "double.toml"), "other.json: schema: a report of another schema; found 99"),
        (("run/report.json", "--table", "double.toml", "--out", "run"), "would overwrite"),
        (("run", "--table", "double.toml", "--out", "run"), "would overwrite"),
        (("run/report.json", "--table", "run/report.json"), "run/report.json:1:1: JSON, not TOML"),
    ],
)
def test_unusable_prices_are_a_message(
    flashwatt: Cli, made: Path, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "typo.toml").write_text("[energy.nand]\nraed_ma = 3\n")
    (tmp_path / "time.toml").write_text("device.timing.read_ns = 3\n")
    (tmp_path / "other.json").write_text(made.read_text().replace('"schema": 3', '"schema": 99'))
    result = flashwatt("price", *arguments, "--json")
    assert result.returncode == 2
    assert said in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_one_reason_is_said_once() -> None:
    faults = (
        "a.toml:1:1: device.ways: fixed by the run; a reason\na.toml:2:1: ftl: fixed by the run; a reason\nb: c; other"
    )
    with pytest.raises(package.FlashwattError) as told, _said_once():
        raise package.FlashwattError(faults)
    assert str(told.value).split("\n") == [
        "a.toml:1:1: device.ways: fixed by the run; a reason",
        "a.toml:2:1: ftl: fixed by the run",
        "b: c; other",
    ]


def test_what_the_energy_costs(flashwatt: Cli, tmp_path: Path) -> None:
    assert flashwatt("run", "--requests", 200, "--out", "r").returncode == 0
    found = json.loads(flashwatt("price", "r", "--kwh-price", "0.25", "--json").stdout)
    report = package.Report.read(tmp_path / "r").to_dict()
    assert found["costs"]["run"] == pytest.approx(0.25 * report["energy_j"]["total"] / 3.6e6)
    assert found["costs"]["month"] == pytest.approx(0.25 * report["efficiency"]["kwh_per_month"])
    assert found["costs"]["tb_written"] == pytest.approx(0.25 * report["efficiency"]["j_per_tb_written"] / 3.6e6)
    assert "energy costs, at 0.25 a kWh" in flashwatt("price", "r", "--kwh-price", "0.25").stdout
    assert "expected --table TABLE.toml, or --kwh-price PRICE" in flashwatt("price", "r").stderr
    assert flashwatt("price", "r", "--kwh-price", "-1").returncode == 2
