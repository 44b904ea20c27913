"""A report's configuration in the words of a configuration file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import flashwatt
from flashwatt.config import reference
from flashwatt.config.spelling import as_written
from flashwatt.disks.convert import from_json

CASES: list[str] = [
    *(f'device.preset = "{name}"' for name in flashwatt.names("presets")),
    *(f'ftl = "{name}"' for name in flashwatt.names("ftls")),
    *(f'gc.policy = "{name}"' for name in flashwatt.names("gc")),
    *(f'workload = "{name}"' for name in flashwatt.names("workloads") if name not in ("fio", "standin", "trace")),
    'workload.trace.path = ["a.csv", "b.csv"]\nworkload.trace.fold = true\nworkload.trace.until_s = 2.5',
    "controller.power_budget_w = 3.5",
    "controller.power_budget_ma = 1500",
    'controller.bus_order = "command_first"',
    'workload.fio.path = "a.fio"\nenergy.mode = "component"',
    'workload.standin.name = "financial1"\nworkload.standin.scale = 0.01',
    "[workload.uniform]\nrate_per_s = 10\nburst_mean = 3\non_ns = 1_000_000_000\noff_ns = 500_000_000\ntick_ns = 1000",
    "[workload.uniform]\nburst_requests = 8\nburst_gap_ns = 1000",
    "[workload.uniform]\nread_bytes = 512\nwrite_bytes = [[4096, 0.5], [512, 0.5]]",
    "[run]\nwarmup.requests = 10\nmeasure.seconds = 0.5\n[run.precondition.zipf]\nrequests = 7\ntheta = 0.5",
    '[energy]\nmode = "terminal"\nterminal_v = 4.5\n[energy.nand]\ntransfer_ma = 21.5\ntransfer_ns = 100_000',
    '[ftl.page]\nfrontiers = "shared"\n[energy.dram]\ndata_mb_s = 800\n[write_buffer]\nbytes = 65536',
    '[device.nand]\nprogram_order = "ascending"\npaired_pages = "backup"\n[recovery]\ntrim_records = "page"',
    'ftl = "rftl"\n[recovery]\ncheckpoint_interval_bytes = 65536\ndie_registers = "kept"\nmap_load_fraction = 0.01',
    '[write_buffer]\nbytes = 65536\nprotection = "capacitors"\ncapacitor_max_v = 5',
    '[write_buffer]\nbytes = 65536\nprotection = "journal"\njournal_max_ns = 7',
]
DISKS = sorted((Path(__file__).parent / "data/disks").glob("*.disk.json"))
KEYS = set(reference.keys())


@pytest.mark.parametrize("text", CASES)
def test_the_written_form_gives_the_same_configuration(text: str) -> None:
    resolved = flashwatt.Config(text).resolve()
    written = as_written(resolved)
    assert not set(written) - KEYS
    assert None not in written.values()
    written.pop("device.op_ratio", None)  # follows from the number of blocks and the drive's bytes
    again = flashwatt.Config().override(written).resolve()
    assert again == resolved


@pytest.mark.parametrize("path", DISKS, ids=lambda path: path.name)
def test_so_does_that_of_a_measured_disk(path: Path) -> None:
    test_the_written_form_gives_the_same_configuration(from_json(path).config)


def test_units_are_those_of_a_file() -> None:
    written = as_written(flashwatt.run(workload__uniform__requests=10).config)
    assert written["energy.controller.active_ma"] == 30
    assert written["energy.terminal_v"] == 5
    assert written["workload.uniform.queue_depth"] == 32
    assert written["gc.policy"] == "greedy"


@pytest.mark.parametrize("config", [{}, {"energy": 5, "gc": {"policy": []}, "run": None}, {"energy": {"dram": {}}}])
def test_a_foreign_configuration_is_left_unchanged(config: dict[str, Any]) -> None:
    assert set(as_written(config)) <= {"energy", "gc.policy", "run"}


def test_a_report_gives_its_configuration_back() -> None:
    first = flashwatt.run({"device.preset": "x25m", "energy.controller.active_ma": 33, "workload.zipf.requests": 50})
    config = first.to_config()
    again = flashwatt.run(config)
    assert again.config == first.config
    assert {**again.to_dict(), "engine": None} == {**first.to_dict(), "engine": None}
    assert config.override(device__ways=3).resolve()["device"]["ways"] == 3
    assert flashwatt.Config(config.merged()).resolve() == first.config
    assert "active_ma = 33" in config.merged()
