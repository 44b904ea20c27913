"""The package as a library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import flashwatt
from conftest import CONFIG


def test_the_same_configuration_gives_the_same_report() -> None:
    first, second = (flashwatt.run_text(CONFIG) for _ in range(2))
    for report in (first, second):
        del report["engine"]
    assert json.dumps(first) == json.dumps(second)


def test_errors_are_value_errors_with_the_place() -> None:
    with pytest.raises(flashwatt.FlashwattError, match=r"drive\.toml:3.*did you mean `channels`"):
        flashwatt.run_text('[device]\npreset = "x25m"\nchanels = 4\n', name="drive.toml")
    assert issubclass(flashwatt.FlashwattError, ValueError)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(flashwatt.FlashwattError, match=r"no/such\.toml: No such file"):
        flashwatt.run_file(Path("no/such.toml"))


def test_resolve_shows_what_a_run_would_use() -> None:
    config = flashwatt.resolve(CONFIG, sets=["run.measure.requests=500"])
    assert "workload" in config


def test_series_only_when_asked_for() -> None:
    assert "series" not in flashwatt.run_text(CONFIG)
    series = flashwatt.run_text(CONFIG, series_interval_ns=0)["series"]
    lengths = {len(watts) for watts in series["power_w"].values()}
    assert len(lengths) == 1
    assert lengths.pop() > 1


@pytest.mark.parametrize("sets", [[], ["run.measure.requests=900"], ["run.warmup.requests=300"]])
def test_the_series_holds_all_the_energy(sets: list[str]) -> None:
    report = flashwatt.run_text(CONFIG, sets=sets, series_interval_ns=0)
    interval_s = report["series"]["interval_ns"] / 1e9
    watts = [sum(bins) for bins in zip(*report["series"]["power_w"].values(), strict=True)]
    last_s = report["throughput"]["simulated_s"] - (len(watts) - 1) * interval_s
    joules = sum(watts[:-1]) * interval_s + watts[-1] * last_s
    assert joules == pytest.approx(report["energy_j"]["total"], rel=1e-9)


def test_names_of_an_unknown_kind_are_none() -> None:
    assert flashwatt.names("no such kind") == {}
    assert "x25m" in flashwatt.names("presets")


def test_the_check_and_the_buffer() -> None:
    sets = ["write_buffer.bytes=65536"]
    checked, plain = flashwatt.run_text(CONFIG, sets=sets, check=True), flashwatt.run_text(CONFIG, sets=sets)
    assert checked["energy_j"] == plain["energy_j"]
    buffer = plain["write_buffer"]
    assert buffer["capacity_bytes"] == 65536
    assert buffer["writes"] > 0
    assert flashwatt.run_text(CONFIG)["write_buffer"] is None
