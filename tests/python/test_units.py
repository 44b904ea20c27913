"""Numbers with units, wherever a person writes one; and paths, relative to the file that names them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import tomli

import flashwatt
from flashwatt import Config, FlashwattError
from flashwatt.config import reference

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

SMALL = """\
[device]
blocks_per_plane = "64"
[workload.uniform]
requests = "2k"
request_bytes = "4KiB"
"""
TRACE = "time_us,device,op,offset,bytes\n1,0,W,0,4096\n9,0,R,0,4096\n"


def test_keywords_and_text_mean_the_number() -> None:
    quoted = Config(SMALL).override(device__timing__read_ns="55us", gc={"low_watermark_fraction": "5%"})
    plain = Config(SMALL.replace('"2k"', "2000").replace('"4KiB"', "4096").replace('"64"', "64"))
    plain = plain.override(device__timing__read_ns=55_000, gc={"low_watermark_fraction": 0.05})
    assert quoted.resolve() == plain.resolve()
    assert quoted.merged() == plain.merged()
    with pytest.raises(FlashwattError, match=r"read_ns: wrong unit; found \"55mA\"; expected a number in ns"):
        quoted.override(device__timing__read_ns="55mA").resolve()


def test_a_sweep_with_units_is_the_sweep_of_the_numbers() -> None:
    def results(values: list[Any]) -> list[tuple[Any, str]]:
        grid = {"workload.uniform.request_bytes": values}
        swept = flashwatt.sweep(grid, base=Config(SMALL).override(run__measure__requests=50), workers=1)
        return [(one.point, one.report.config_sha256) for one in swept]

    assert results(["4KiB", "64kib"]) == results([4096, 65536])
    with pytest.raises(FlashwattError, match="4096 twice"):
        results(["4KiB", 4096])


def test_options_of_the_command_line_take_units(flashwatt: Cli, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    done = flashwatt("run", "small.toml", "--requests", "0.5k", "--series-ms", "200us", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["workload"]["writes"], report["series"]["interval_ns"]) == (500, 200_000)
    wrong = flashwatt("run", "small.toml", "--requests", "10x")
    assert wrong.returncode == 2
    assert 'wrong unit; found "10x"' in wrong.stderr
    assert "expected a whole number" in flashwatt("run", "small.toml", "--requests", "0.5").stderr


def test_the_schema_takes_numbers_in_quotes() -> None:
    validator = jsonschema.Draft7Validator(reference.schema())
    good = SMALL + 'read_fraction = "70%"\n[controller]\npower_budget_w = "8.5 W"\n[energy.nand]\ntransfer_ma = "5mA"\n'
    assert validator.is_valid(tomli.loads(good))
    Config(good.replace("8.5 W", "80 W")).resolve()
    for bad in ('device.channels = "eight"', 'device.timing.read_ns = "5mA"', 'run.measure.requests = "7%"'):
        assert not validator.is_valid(tomli.loads(bad)), bad


def test_a_trace_lies_beside_the_configuration_that_names_it(flashwatt: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "t.csv").write_text(TRACE)
    (folder / "my.toml").write_text('workload.trace.path = "t.csv"\n')
    done = flashwatt("run", "study/my.toml", "--out", "out/one")
    assert done.returncode == 0, done.stderr
    record = tomli.loads((tmp_path / "out/one/config.toml").read_text())
    assert record["workload"]["trace"]["path"] == "../../study/t.csv"
    again = flashwatt("run", "out/one/config.toml", "--json")
    assert again.returncode == 0, again.stderr
    first = json.loads((tmp_path / "out/one/report.json").read_text())
    assert json.loads(again.stdout)["config_sha256"] == first["config_sha256"]


def test_a_trace_in_the_working_directory_alone_is_told(flashwatt: Cli, tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "t.csv").write_text(TRACE)
    (tmp_path / "study/my.toml").write_text('workload.trace.path = "t.csv"\n')
    told = flashwatt("run", "study/my.toml")
    assert told.returncode == 2
    assert "no such file; found `study/t.csv`" in told.stderr
    assert "relative to that file" in told.stderr
    assert flashwatt("run", "study/my.toml", "--trace", "t.csv").returncode == 0


def test_a_run_says_what_became_of_a_scaled_drive(flashwatt: Cli, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(
        SMALL.replace('blocks_per_plane = "64"', 'preset = "tlc-nvme-1t"\nscale = "1/64"')
    )
    done = flashwatt("run", "small.toml", "--requests", "100")
    assert done.returncode == 0, done.stderr
    assert "tlc-nvme-1t at 1/64: 8 channels × 2 ways, 256 blocks of 256 pages a die" in " ".join(done.stdout.split())
