"""What docs/compatibility.md promises: files of earlier versions are read, or refused as the page says."""

from __future__ import annotations

import json
import re
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import flashwatt
from conftest import DATA
from flashwatt import Report, Results, _core, traces
from flashwatt.dio import result as dio
from flashwatt.power_cuts import SCHEMA as CRASH_SCHEMA
from flashwatt.power_cuts import Crash
from flashwatt.report.report import content_of

COMPAT = DATA / "compat"
OLD = COMPAT / "0.1"
SCHEMAS = sorted(COMPAT.glob("schema-*.json"))
PAGE = (Path(__file__).parents[2] / "docs/compatibility.md").read_text()


def raw(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text())
    return content


# Configurations and studies.


def test_a_configuration_of_0_1_means_the_same() -> None:
    found = flashwatt.resolve(OLD / "config.toml")
    device, timing = found["device"], found["device"]["timing"]
    assert (device["preset"], device["channels"], device["logical_bytes"]) == ("x25m", 4, 64_000_000)
    assert (timing["read_ns"], timing["program_ns"], device["host_link"]["queue_depth"]) == (60_000, 800_000, 16)
    assert found["ftl"]["page"]["allocation"] == "dynamic"
    assert found["gc"]["low_watermark_blocks"] == 2
    assert found["gc"]["policy"] == {"name": "d_choices", "parameters": {"d": 3}}
    assert (found["write_buffer"]["bytes"], found["write_buffer"]["destage_fraction"]) == (1 << 20, 0.25)
    assert (found["energy"]["idle_accounting"], found["energy"]["nand"]["program_ua"]) == ("flash_off", 25_000)
    assert (found["host"]["scheduler"]["name"], found["wear"]["policy"]) == ("mq_deadline", "dynamic")
    load = found["workload"]["uniform"]
    assert (load["requests"], load["read_fraction"], load["sizes"]["read"][0]["bytes"]) == (1_000, 0.25, 8_192)
    assert load["arrivals"] == {"closed": {"queue_depth": 8}}
    assert (found["run"]["seed"], found["run"]["precondition"], found["run"]["warmup"]["requests"]) == (
        7,
        "filled",
        100,
    )


def test_a_configuration_that_0_1_wrote_is_that_of_its_report() -> None:
    written, config = flashwatt.resolve(OLD / "written.toml"), raw(OLD / "report.json")["config"]
    for key in ("channels", "ways", "pages_per_block", "logical_bytes", "timing"):
        assert written["device"][key] == config["device"][key]
    for key in ("controller", "dram", "nand", "mode"):
        assert written["energy"][key] == config["energy"][key]
    assert written["workload"] == config["workload"]


def test_a_study_of_0_1_has_the_same_points() -> None:
    tasks = flashwatt.Study.read(OLD / "study.toml").tasks()
    assert [(task.point, task.seed, task.requests) for task in tasks] == [
        ({"device.channels": 2}, 1, 500),
        ({"device.channels": 4}, 1, 500),
    ]


# Reports and results of 0.1.


def test_a_report_of_0_1() -> None:
    report = Report.read(OLD / "report.json")
    assert (report.schema, report.version, report.status, report.earlier) == (3, "0.1.0", "complete", None)
    assert report.energy_j.total == 0.19219800410370003
    assert report.energy_total_j.busy_only == 0.1730485560312
    assert (report.flash.write_amplification, report.flash.buffer_factor) == (1.9766763848396502, 0.9883381924198251)
    assert (report.latency_ns.read.p99, report.power_w.peak, report.ledger.map_accesses) == (3_063_807, 0.543, 992)
    assert report.series()["total_w"].to_list()[:2] == [0.38729381575500005, 0.37339322193]
    assert report.to_config().resolve()["device"]["channels"] == 2


def test_a_repriced_report_of_0_1() -> None:
    report, priced = Report.read(OLD / "report.json"), Report.read(OLD / "priced.json")
    assert priced.energy_j.nand.program == pytest.approx(report.energy_j.nand.program * 50 / 20)
    assert priced.energy_j.total == 0.2581118081037
    assert priced.power_w.peak is None
    assert priced.repriced
    assert "power_w.peak" in priced.repriced.null
    again = flashwatt.reprice(report, {"energy.nand.program_ma": 50})
    assert again.energy_j.nand.program == pytest.approx(priced.energy_j.nand.program)
    assert again.energy_j.total == pytest.approx(priced.energy_j.total)


def test_results_of_a_sweep_of_0_1() -> None:
    results = Results.read(OLD / "results.jsonl")
    assert [(one.point, one.seed, one.report.workload.requests) for one in results] == [
        ({"device.channels": 2}, 1, 500),
        ({"device.channels": 4}, 1, 500),
    ]
    frame = results.frame()
    assert frame["throughput.iops"].to_list() == pytest.approx([7456.009544, 14406.730825])
    assert frame["energy_j.total"].to_list() == pytest.approx([0.069912, 0.049023], rel=1e-4)
    assert results.pareto(minimize=["energy_j.total"])["device.channels"].to_list() == [4]


def test_a_capture_of_0_1_is_a_trace() -> None:
    found = traces.info(OLD / "capture.csv")
    assert (found["format"], found["requests"]) == ("csv", 20)
    assert found["writes"] == (OLD / "capture.csv").read_text().count(",W,") == 17
    assert found["mean_write_kib"] == 2


def test_results_of_crash_and_dio_of_0_1() -> None:
    crash = Crash.read(OLD / "crash.json")
    assert (crash.status, crash.ftl, crash.lost_units) == ("complete", "page", 0)
    assert crash.cuts["at_ns"].to_list() == [61_622_207, 200_426_766]
    points = dio.read(OLD / "dio.json")["points"]
    assert [(one["pattern"], one["request_bytes"], one["bytes"]) for one in points] == [
        ("random read", 4096, 65_536),
        ("sequential write", 4096, 65_536),
    ]


@pytest.mark.parametrize(("name", "key", "of"), [("crash.json", "crash", Crash.read), ("dio.json", "dio", dio.read)])
def test_results_of_a_later_schema_are_refused(tmp_path: Path, name: str, key: str, of: Any) -> None:
    (tmp_path / name).write_text(json.dumps(raw(OLD / name) | {key: 99}))
    with pytest.raises(_core.FlashwattError, match=rf"{name}: {key}: found schema 99; expected 1"):
        of(tmp_path / name)


# Snapshots.


def from_snapshot(snapshot: Path) -> Report:
    """Run ten requests on the drive of a snapshot."""
    load = {"requests": 10}
    return flashwatt.run(OLD / "aged.toml", run__precondition={"snapshot": str(snapshot)}, workload__uniform=load)


def test_a_snapshot_of_0_1_with_the_format_of_today() -> None:
    report = from_snapshot(OLD / "aged.fw")
    assert report.snapshot
    assert report.snapshot.engine == "0.1.0"
    assert report.snapshot.sha256 == "51600dff17a732235c23e9d872546c68d737a5e195956239247128acd90fb933"
    wear = report.wear.erase_count
    assert (wear.min, wear.max, round(wear.mean * 23)) == (6, 8, 173)


@pytest.mark.parametrize("version", [1, 3])
def test_a_snapshot_of_another_format_is_refused(tmp_path: Path, version: int) -> None:
    content = bytearray((OLD / "aged.fw").read_bytes())
    struct.pack_into("<I", content, 8, version)
    (tmp_path / "other.fw").write_bytes(content)
    expected = (
        rf"other\.fw: not a snapshot of this version; found version {version} of the format; expected version 2 "
        r"\(make one: flashwatt age"
    )
    with pytest.raises(_core.FlashwattError, match=expected):
        from_snapshot(tmp_path / "other.fw")


# Reports of earlier schemas. All `component` files are of one run.


def test_there_is_a_report_of_every_schema() -> None:
    assert {raw(path)["schema"] for path in SCHEMAS} == set(range(1, _core.REPORT_SCHEMA + 1))


@pytest.mark.parametrize("path", [one for one in SCHEMAS if "counted" not in one.name], ids=lambda path: path.stem)
def test_every_figure_of_an_earlier_report_is_its_own_or_absent(path: Path) -> None:
    content, report = raw(path), Report.read(path)
    assert report.schema == _core.REPORT_SCHEMA
    assert report.earlier is None if content["schema"] == 3 else report.earlier.schema == content["schema"]
    for key in ("total", "controller", "dram", "nand", "host_interface"):
        assert content_of(report)["energy_j"][key] == content["energy_j"][key]
    assert report.throughput.iops == content["throughput"]["iops"]
    assert report.latency_ns.write.p99 == content["latency_ns"]["write"]["p99"]
    assert report.flash.programs.total == content["flash"]["programs"]["total"]
    assert report.power_w.peak == content["power_w"]["peak"]
    for key in report.earlier.null if report.earlier else ():
        table, _, last = key.rpartition(".")
        assert content_of(report)[table][last] is None if table else content_of(report)[key] is None
    assert Report.parse(report.json).to_dict() == report.to_dict()


def test_schema_2() -> None:
    first, today = Report.read(COMPAT / "schema-2-component.json"), Report.read(COMPAT / "schema-3-component.json")
    assert first.earlier
    assert first.earlier.null == ["energy_total_j.busy_only", "ledger", "drain_ledger"]
    assert first.energy_total_j.busy_only is None
    assert first.energy_total_j.busy_or_loading == today.energy_total_j.busy_or_loading == 0.23827685195400003
    assert first.energy_total_j.always_on == today.energy_total_j.always_on
    # Its total is that of the accounting which is called otherwise today.
    assert first.config["energy"]["idle_accounting"] == "busy_or_loading"
    assert first.energy_j.total == first.energy_total_j.busy_or_loading
    assert today.energy_j.total == today.energy_total_j.busy_only == 0.22339399546410002
    assert first.drain_ledger is None
    with pytest.raises(_core.FlashwattError, match="ledger: missing in this report; expected one of schema 3"):
        _ = first.ledger
    assert first.current_ma == Report.parse((COMPAT / "schema-2-component.json").read_text()).current_ma
    assert first.flash.write_amplification == 2.0


def test_schema_1_counts_writes_in_map_units_and_adds_up_currents() -> None:
    first, second = Report.read(COMPAT / "schema-1-component.json"), Report.read(COMPAT / "schema-2-component.json")
    assert first.earlier
    assert first.earlier.null == [
        "flash.write_amplification",
        "flash.rmw_factor",
        "window.flash_ops",
        "current_ma.time_at_peak_ns",
        "energy_total_j.busy_only",
        "ledger",
    ]
    assert (first.flash.write_amplification, first.flash.gc_factor) == (None, second.flash.gc_factor)
    assert first.current_ma.supply_v == second.current_ma.supply_v == 3.3
    assert first.current_ma.mean == pytest.approx(second.current_ma.mean)
    assert first.current_ma.peak == pytest.approx(second.current_ma.peak)
    assert raw(COMPAT / "schema-1-component.json")["current_ma"]["peak"] == 309.0  # the sum that it stated
    assert first.ftl.map_unit_bytes == second.ftl.map_unit_bytes == 4096


def test_schema_1_at_one_voltage_and_with_a_write_buffer() -> None:
    steady, buffered = (Report.read(COMPAT / f"schema-1-{name}.json") for name in ("steady", "buffered"))
    assert steady.flash.gc_factor == 4.639941690962099  # what schema 2 gives this run
    assert (steady.current_ma.supply_v, steady.current_ma.time_at_peak_ns) == (5.0, 6_774_000)
    assert steady.current_ma.peak == pytest.approx(530.0)
    assert (buffered.flash.write_amplification, buffered.flash.buffer_factor, buffered.flash.gc_factor) == (None,) * 3
    assert buffered.earlier
    assert {"flash.buffer_factor", "flash.gc_factor"} <= set(buffered.earlier.null)


def test_schema_1_with_a_counted_drain_is_refused() -> None:
    expected = (
        r"counted\.json: window\.drain_counted: found a report of schema 1 with a counted drain: .* schema 2 to 3"
    )
    with pytest.raises(_core.FlashwattError, match=expected):
        Report.read(COMPAT / "schema-1-counted.json")


def test_earlier_reports_are_compared_and_drawn() -> None:
    reports = {f"schema {at}": COMPAT / f"schema-{at}-component.json" for at in (1, 2, 3)}
    comparison = flashwatt.compare(reports, only=["flash.write_amplification", "energy_j.total", "power_w.peak"])
    cells = comparison.frame()
    assert cells["flash.write_amplification"].to_list() == [None, 2.0, 2.0]
    assert cells["energy_j.total"].to_list() == [0.23827685195400003, 0.23827685195400003, 0.22339399546410002]
    assert any("read from a report of schema 1, which lacks these figures" in one for one in comparison.warnings())
    drawn = flashwatt.plot.energy({name: Report.read(path) for name, path in reports.items()}).spec()
    assert "schema 1" in json.dumps(drawn["datasets"])


def test_an_earlier_report_has_no_other_prices() -> None:
    path, table = COMPAT / "schema-2-component.json", {"energy.nand.program_ma": 50}
    saved = Report.read(path)
    for report in (path.read_text(), raw(path), saved, saved.json):
        with pytest.raises(
            _core.FlashwattError, match=r"schema: a report of another schema; found 2; expected 3 \(price"
        ):
            flashwatt.reprice(report, table)
    first = Report.read(COMPAT / "schema-3-component.json")
    priced = flashwatt.reprice(first, table)
    assert priced.energy_j.nand.program == pytest.approx(first.energy_j.nand.program * 50 / 20)


def test_results_with_earlier_and_later_reports(tmp_path: Path) -> None:
    lines = [
        {"id": f"{at}" * 64, "point": {"at": at}, "seed": 1, "report": raw(COMPAT / f"schema-{at}-component.json")}
        for at in (1, 2, 3)
    ]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    results = Results.read(path)
    frame = results.frame()
    assert frame["flash.write_amplification"].to_list() == [None, 2.0, 2.0]
    assert frame["energy_total_j.busy_only"].to_list() == [None, None, 0.22339399546410002]
    assert frame["energy_total_j.busy_or_loading"].to_list() == [0.23827685195400003] * 3
    assert [one.report.earlier is None for one in results] == [False, False, True]
    lines[1]["report"]["schema"] = 99
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with pytest.raises(
        _core.FlashwattError, match=r"results\.jsonl: task 2{12}: schema: .*; found 99; expected 1 to 3"
    ):
        Results.read(path)


@pytest.mark.parametrize("schema", [0, 4, 99, True, "3", 2.0])
def test_other_schemas_are_refused(tmp_path: Path, schema: object) -> None:
    path = tmp_path / "other.json"
    path.write_text(json.dumps(raw(OLD / "report.json") | {"schema": schema}))
    with pytest.raises(
        _core.FlashwattError, match=r"other\.json: schema: a report of another .*; expected 1 to 3 \(run"
    ):
        Report.read(path)


@pytest.mark.parametrize("path", [one for one in SCHEMAS if raw(one)["schema"] < 3], ids=lambda path: path.stem)
def test_a_broken_report_of_an_earlier_schema_is_an_error_and_no_traceback(path: Path) -> None:
    content = raw(path)
    for key in [one for one in content if one not in ("schema", "version", "status", "warnings", "seed")]:
        for value in (None, [], "x", {}):
            with suppress(_core.FlashwattError):  # no other error, where it cannot be read
                assert Report.parse(json.dumps(content | {key: value})).earlier


# The page.


def test_the_page_has_the_numbers_of_today(tmp_path: Path) -> None:
    assert f"`schema` ({_core.REPORT_SCHEMA}), `version`" in PAGE
    assert f"schemas 1 to {_core.REPORT_SCHEMA}" in PAGE
    assert f"`crash` ({CRASH_SCHEMA}), `version`" in PAGE
    assert f"`dio` ({dio.SCHEMA}), `version`" in PAGE
    _core.age((OLD / "aged.toml").read_text(), "aged.toml", [], str(tmp_path / "new.fw"))
    (snapshot,) = struct.unpack_from("<I", (tmp_path / "new.fw").read_bytes(), 8)
    assert f"bytes 8 to 11 ({snapshot}), `engine` in the header" in PAGE
    assert re.findall(r"^\| (\d) \|", PAGE, re.MULTILINE) == [f"{at}" for at in range(1, _core.REPORT_SCHEMA + 1)]
