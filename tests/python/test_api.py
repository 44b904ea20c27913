"""The package as a library: configurations in all their forms, typed reports."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt
from conftest import CONFIG
from flashwatt import Config, Report

if TYPE_CHECKING:
    from flashwatt.sections import Json

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
    """What equal runs have in common."""
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
        (Path("no/such.toml"), {}, r"no/such\.toml: No such file"),
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
    """Compare a section with its JSON, key by key."""
    if dataclasses.is_dataclass(attribute):
        assert {field.name for field in dataclasses.fields(attribute)} - {"input_sha256"} == value.keys(), path
        for key in value:
            same(getattr(attribute, key), value[key], f"{path}.{key}")
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
        ("[]", r"bad\.json: schema: found None; expected 1"),
        ('{"schema": 99}', r"bad\.json: schema: found 99; expected 1"),
    ],
)
def test_what_is_no_report_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(flashwatt.FlashwattError, match=said):
        Report.read(tmp_path / "bad.json")


def test_a_missing_figure_is_named() -> None:
    with pytest.raises(flashwatt.FlashwattError, match=r"throughput\.iops: missing"):
        _ = Report({"schema": 1, "throughput": {"simulated_s": 1.0}}).throughput
    with pytest.raises(flashwatt.FlashwattError, match=r"energy_j: missing"):
        _ = Report({"schema": 1}).energy_j


def test_the_page_for_a_notebook(report: Json) -> None:
    report["warnings"] = ["12 <requests> were folded"]
    report["status"] = "interrupted"
    page = Report(report)._repr_html_()
    for words in ("x25m", "713 mJ", "NAND program <b>47.2 %</b>", "12 &lt;requests&gt;", "interrupted", "p99.9"):
        assert words in page
    assert "<script" not in page
    assert "http" not in page


def test_names_of_an_unknown_kind_are_none() -> None:
    assert flashwatt.names("no such kind") == {}
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
    import flashwatt.sweeps

    assert callable(flashwatt.run)
    assert callable(flashwatt.sweep)
    assert set(dir(flashwatt)) == set(flashwatt.__all__)
    for name in flashwatt.__all__:
        assert getattr(flashwatt, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = flashwatt.no_such_name
