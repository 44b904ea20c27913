"""The package as a library: configurations in all their forms, typed reports."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

import flashwatt
from conftest import CONFIG
from flashwatt import Config, Report
from flashwatt.report.metrics import metric_of
from flashwatt.report.table import show

if TYPE_CHECKING:
    from flashwatt.base.files import Json

SMALL = Config(CONFIG)
TREE: dict[str, Any] = {
    "device": {"preset": "x25m"},
    "workload": {"uniform": {"requests": 2_000, "request_bytes": 4096, "read_fraction": 0.5}},
}


class LikeNumpy:
    """A whole number as NumPy has them: no `int`."""

    def tolist(self) -> int:
        """Give the number."""
        return 4


def content(report: Report) -> Json:
    """Give the parts of a report that equal runs share."""
    return {key: value for key, value in report.to_dict().items() if key != "engine"}


def test_the_same_configuration_gives_the_same_report(config: Path) -> None:
    first = flashwatt.run(SMALL)
    for source in (SMALL, config, str(config), TREE, {"device.preset": "x25m", "workload": TREE["workload"]}):
        assert json.dumps(content(flashwatt.run(source))) == json.dumps(content(first))


@pytest.mark.parametrize(
    "overrides",
    [
        {"device__channels": 4, "gc__policy": "fifo"},
        {"device": {"channels": 4}, "gc": {"policy": "fifo"}},
        {"device.channels": 4, "gc.policy": "fifo"},
        {"device": {"channels": LikeNumpy()}, "gc.policy": "fifo"},
    ],
)
def test_overrides_in_all_their_forms(overrides: dict[str, Any]) -> None:
    report = flashwatt.run(SMALL, seed=7, **overrides)
    assert report.seed == 7
    assert report.config["device"]["channels"] == 4
    assert report.config["gc"]["policy"]["name"] == "fifo"


def test_values_arrive_as_they_are(tmp_path: Path) -> None:
    name = tmp_path / 'a "quoted" – name\x7f.csv'
    config = Config().override(workload={"trace": {"path": name, "devices": (0, 2), "speed": 1e-05, "fold": True}})
    trace = config.resolve()["workload"]["trace"]
    assert (trace["path"], trace["devices"], trace["speed"]) == (name.name, [0, 2], 1e-05)
    assert config.inputs() == [name]


@pytest.mark.parametrize(
    ("source", "overrides", "said"),
    [
        ({"device": {"chanels": 4}}, {}, r"^<dict>: device\.chanels: unknown key.*did you mean `channels`\?"),
        ({}, {"device__chanels": 4}, r"^override device\.chanels: unknown key.*did you mean `channels`\?"),
        ({}, {"serise": True}, r"^run: unknown name; found `serise`; expected one of `seed`, .*`series`, .*`device`"),
        ({}, {"serise": True}, r"did you mean `series`\?$"),
        ({}, {"devise__channels": 4}, r"^run: unknown name; found `devise`; .*did you mean `device`\?$"),
        ({}, {"op_log": "no/such/ops.csv"}, r"no/such/ops\.csv"),
        ({}, {"op_log": "no/such/ops.parquet"}, r"^no/such/ops\.parquet: cannot be written; found: No such file"),
        ({}, {"device__channels": None}, r"device\.channels: not a value of a configuration; found None"),
        ({}, {"device__description": "\ud800"}, r"device\.description: not UTF-8"),
        (Config("[device]\nchanels = 4\n", "drive.toml"), {}, r"^drive\.toml:2:1: device\.chanels"),
        (Path("no/such.toml"), {}, r"no/such\.toml: no such file"),
        ("device.channels = 4\n", {}, r"flashwatt\.Config\(text\)"),
        ({}, {"series": -1}, r"series: found -1"),
        ({}, {"edges": 3}, r"edges: found 3; expected True, False, or \(from, until\)"),
        ({}, {"edges": (5, 5)}, r"edges: found \(5, 5\)"),
        ({}, {"edges": (0.5, 2)}, r"edges: found \(0\.5, 2\)"),
    ],
)
def test_errors_name_the_place(source: Any, overrides: dict[str, Any], said: str) -> None:
    with pytest.raises(flashwatt.FlashwattError, match=said):
        flashwatt.run(source, **overrides)
    assert issubclass(flashwatt.FlashwattError, ValueError)


def test_resolve_shows_what_a_run_would_use() -> None:
    config = flashwatt.resolve(SMALL, run__measure__requests=500)
    assert config["run"]["measure"]["requests"] == 500
    assert config == flashwatt.run(SMALL, run__measure__requests=500).config


def test_attributes_are_the_whole_report() -> None:
    """A key that the engine adds must become an attribute."""
    report = flashwatt.run(SMALL, write_buffer__bytes=65536, series=True, edges=True)
    for key, value in report.to_dict().items():
        if key not in ("series", "edges", "latency_histogram"):  # these are frames
            same(getattr(report, key), value, key)


def same(attribute: Any, value: Any, path: str) -> None:
    """Compare a section with its JSON, key by key. A key whose attribute has a default may be absent."""
    if dataclasses.is_dataclass(attribute):
        fields = dataclasses.fields(attribute)
        expected = {one.name for one in fields if one.name in value or one.default is dataclasses.MISSING}
        assert expected == value.keys(), path
        for key in value:
            same(getattr(attribute, key), value[key], f"{path}.{key}")
    elif isinstance(attribute, list) and attribute and dataclasses.is_dataclass(attribute[0]):
        for one, of in zip(attribute, value, strict=True):
            same(one, of, path)
    else:
        assert attribute == value, path


def test_a_report_goes_to_a_file_and_back(tmp_path: Path) -> None:
    report = flashwatt.run(SMALL)
    report.write(tmp_path / "report.json")
    again = Report.read(tmp_path / "report.json")
    assert again.to_dict() == json.loads(report.json) == report.to_dict()
    assert again.energy_j == report.energy_j
    assert again.write_buffer is None
    assert repr(again).startswith("<Report: complete; x25m: 10 channels")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", r"bad\.json:1:2: not JSON"),
        ("[]", r"bad\.json: not a report; found no `schema`"),
        ('{"schema": 99}', r"bad\.json: schema: a report of another version; found 99; expected 1 to 3"),
    ],
)
def test_an_invalid_report_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(flashwatt.FlashwattError, match=said):
        Report.read(tmp_path / "bad.json")


def test_a_missing_figure_is_named() -> None:
    with pytest.raises(flashwatt.FlashwattError, match=r"throughput\.iops: missing"):
        _ = Report({"schema": 3, "throughput": {"simulated_s": 1.0}}).throughput
    with pytest.raises(flashwatt.FlashwattError, match=r"energy_j: missing"):
        _ = Report({"schema": 3}).energy_j


def test_the_page_for_a_notebook(report: Json) -> None:
    report["warnings"] = ["12 <requests> were folded"]
    report["status"] = "interrupted"
    page = Report(report)._repr_html_()
    for words in ("x25m", "713 mJ", "NAND program <b>47.2 %</b>", "12 &lt;requests&gt;", "interrupted", "p99.9"):
        assert words in page
    assert "<script" not in page
    assert "http" not in page


def test_an_unknown_kind_of_names_is_refused() -> None:
    with pytest.raises(
        flashwatt.FlashwattError, match=r"names: unknown name; found `preset`; .*did you mean `presets`"
    ):
        flashwatt.names("preset")
    assert "x25m" in flashwatt.names("presets")


def test_the_check_and_the_buffer() -> None:
    checked, plain = (flashwatt.run(SMALL, write_buffer__bytes=65536, check=check) for check in (True, False))
    assert checked.energy_j == plain.energy_j
    assert plain.write_buffer is not None
    assert plain.write_buffer.capacity_bytes == 65536
    assert plain.write_buffer.writes > 0


def test_functions_are_no_modules() -> None:
    """Importing a module must not take the name of a function."""
    import flashwatt.runs
    import flashwatt.sweeps.sweep

    assert callable(flashwatt.run)
    assert callable(flashwatt.sweep)
    assert set(dir(flashwatt)) == set(flashwatt.__all__)
    for name in flashwatt.__all__:
        assert getattr(flashwatt, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = flashwatt.no_such_name


@pytest.mark.parametrize("series", [1.5, 0, -1, 10**30, "x", None, [1]])
def test_a_series_of_no_whole_nanoseconds_is_refused(series: Any) -> None:
    with pytest.raises(flashwatt.FlashwattError, match=r"^series: found .*; expected True, False, or the nanoseconds"):
        flashwatt.run(SMALL, series=series)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"latency": 1}, "latency: found 1; expected True or False"),
        ({"op_log": 3}, "op_log: found 3; expected the path of a file"),
        ({"capture": 3}, "capture: found 3; expected the path of a file"),
        ({"progress": 3}, "progress: found 3; expected True, False or a function"),
    ],
)
def test_an_argument_of_another_type_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(flashwatt.FlashwattError, match=f"^{said}$"):
        flashwatt.run(SMALL, **options)


def test_a_trace_in_place_of_a_configuration_is_one_fault(tmp_path: Path) -> None:
    trace = tmp_path / "t.csv"
    trace.write_text("0,0,R,0,4096\n" * 50)
    with pytest.raises(flashwatt.FlashwattError, match=r"a trace is run\(\{\"workload.trace.path\": ") as raised:
        flashwatt.run(trace)
    assert str(raised.value).count("\n") == 0


@pytest.mark.parametrize("config", [None, 5, b"drive.toml", ["drive.toml"], "a\0b", 1.5])
def test_an_invalid_configuration_is_refused(config: Any) -> None:
    with pytest.raises(flashwatt.FlashwattError, match=r"^config: found |not the name of a file"):
        flashwatt.run(config)


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"seed": 1, "run__seed": 2}, "seed: given twice; found `seed` and `run.seed`"),
        ({"seed": 1, "run": {"seed": 2}}, "seed: given twice"),
        ({"device__ways": 1, "device.ways": 2}, "device.ways: given twice; found `device__ways` and `device.ways`"),
        ({"device": {"ways": 1}, "device__ways": 2}, "device.ways: given twice; found `device` and `device__ways`"),
    ],
)
def test_a_key_that_is_given_twice_is_refused(keywords: dict[str, Any], said: str) -> None:
    with pytest.raises(flashwatt.FlashwattError, match=said):
        flashwatt.run(SMALL, **keywords)


def test_overrides_of_one_key_in_one_table_are_refused() -> None:
    with pytest.raises(flashwatt.FlashwattError, match=r"^device\.ways: given twice, in two spellings"):
        SMALL.override({"device.ways": 1, "device": {"ways": 2}})
    later = SMALL.override({"device.ways": 1}, {"device.ways": 2}, device__ways=4)
    assert later.resolve()["device"]["ways"] == 4
    with pytest.raises(
        flashwatt.FlashwattError, match=r"^workload\.trace\.devices: found range\(0, 10{12}\); expected at"
    ):
        SMALL.override(workload__trace__devices=range(10**12))


def test_a_report_gives_copies() -> None:
    report = flashwatt.run(SMALL)
    before = report.json
    report.to_dict()["config"]["device"]["channels"] = 99
    report.to_dict()["warnings"].append("none")
    report.config["device"]["channels"] = 99
    report.warnings.append("none")
    report.parallelism.active_dies_s.clear()
    report.ledger.die_ns.clear()
    assert report.json == before


def test_a_report_is_read_from_its_directory_and_with_a_byte_order_mark(tmp_path: Path) -> None:
    report = flashwatt.run(SMALL)
    (tmp_path / "report.json").write_text("\ufeff" + report.json, encoding="utf-8")
    assert Report.read(tmp_path).to_dict() == Report.read(tmp_path / "report.json").to_dict() == report.to_dict()
    text = "\ufeff" + report.json
    assert flashwatt.reprice(text, "energy.nand.read_ma = 20").energy_j == report.energy_j


HOSTILE: list[tuple[str, str]] = [
    ('"config": {}, ', r"config\.device: missing"),
    ('"config": 5, ', r"config: wrong type; found 5; expected a table"),
    ('"status": 5, ', r"status: wrong type; found 5; expected text"),
    ('"warnings": [5], ', r"warnings\[0\]: wrong type; found 5; expected text"),
    ('"seed": 1.5, ', r"seed: wrong type; found 1\.5; expected a whole number"),
    ('"energy_j": {"total": "much"}, ', r"energy_j\.total: wrong type; found 'much'; expected 0, or a number"),
    ('"throughput": {"simulated_s": 1e999}, ', r"throughput\.simulated_s: wrong type; found inf"),
    ('"throughput": {"simulated_s": NaN}, ', r"not JSON; found NaN; expected a finite number"),
    (f'"seed": {"9" * 5000}, ', r"not JSON; Exceeds the limit"),
    (f'"seed": {"9" * 30}, ', r"seed: wrong type; found 9{30}; expected a whole number of at most 64 bits"),
    (f'"x": {"[" * 100_000}{"]" * 100_000}, ', r"nested too deep; expected 64 levels at most"),
    (f'"x": {"[" * 100}{"]" * 100}, ', r"nested too deep; expected 64 levels at most"),
    ('"series": {"start_ns": 0, "interval_ns": 1, "power_w": {"a": ["x"]}}, ', r"series\.power_w\.a\[0\]: wrong type"),
    (
        '"series": {"start_ns": 0, "interval_ns": 1, "power_w": {"a": [1.0], "b": []}}, ',
        r"series\.power_w\.b: found 0 values; expected 1",
    ),
    ('"latency_histogram": {"read": {"upper_ns": [1], "count": []}}, ', r"latency_histogram\.read\.count: found 0 "),
]


@pytest.mark.parametrize(("edit", "said"), HOSTILE, ids=[said[:30] for _, said in HOSTILE])
def test_a_report_that_was_edited_by_hand_is_named(tmp_path: Path, edit: str, said: str) -> None:
    content = flashwatt.run(SMALL, latency=False).to_dict()
    content.pop(edit.split('"')[1], None)
    (tmp_path / "report.json").write_text("{" + edit + json.dumps(content)[1:])
    with pytest.raises(flashwatt.FlashwattError, match=rf"report\.json: {said}"):
        Report.read(tmp_path)


def test_sections_are_short_to_read() -> None:
    report = flashwatt.run(workload__uniform__requests=10)
    energy = report.energy_j
    assert repr(energy.dram) == f"ActiveIdle(active={energy.dram.active:.6g}, idle={energy.dram.idle:.6g})"
    lines = repr(energy).splitlines()
    assert lines[:2] == ["Energy(", f"    total={energy.total:.6g},"]
    assert lines[-1] == ")"
    assert "        program=" in repr(energy)
    assert "requests=10," in repr(report.workload)


def test_long_times_are_in_units_that_people_use() -> None:
    report = flashwatt.run(workload__uniform={"requests": 2, "rate_per_s": 0.0005}, latency=False)
    stream = io.StringIO()
    show(report.to_dict(), Console(file=stream, width=100))
    seconds = report.throughput.simulated_s
    assert f"{seconds / 60:.1f} min simulated" in stream.getvalue()
    assert f"{seconds / 60:.1f} min" in report._repr_html_()
    assert metric_of("throughput.simulated_s").write(7200) == "2.0 h"
