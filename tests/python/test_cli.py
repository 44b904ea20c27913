"""The command line: output streams, exit statuses, and messages without tracebacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flashwatt import _core
from flashwatt.cli.commands import COMMANDS
from flashwatt.cli.main import cli, main

if TYPE_CHECKING:
    from conftest import Cli

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
TRACE = Path(__file__).parents[2] / "examples/trace.csv"
SECTIONS = {
    "schema", "version", "status", "warnings", "config", "config_sha256", "seed", "workload", "window", "latency_ns",
    "throughput", "flash", "wear", "ftl", "energy_j", "energy_by_cause_j", "efficiency", "power_w", "current_ma",
    "parallelism", "engine",
}  # fmt: skip


def test_json_is_one_object_and_nothing_else(flashwatt: Cli, config: Path) -> None:
    result = flashwatt("run", config, "--json")
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report.keys() >= SECTIONS
    assert report["status"] == "complete"


def test_json_stays_pure_when_files_are_written(flashwatt: Cli, config: Path, tmp_path: Path) -> None:
    result = flashwatt("run", config, "--json", "--series", "--out", tmp_path / "a/b")
    assert result.returncode == 0, result.stderr
    printed = json.loads(result.stdout)
    assert printed == json.loads((tmp_path / "a/b/report.json").read_text())
    assert {path.name for path in (tmp_path / "a/b").iterdir()} == {
        "report.json",
        "config.toml",
        "series.parquet",
        "power.svg",
        "power.html",
        "activity.html",
    }
    assert "report.json" in result.stderr


def test_without_series_nothing_is_drawn(flashwatt: Cli, config: Path, tmp_path: Path) -> None:
    assert flashwatt("run", config, "--out", tmp_path / "out").returncode == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["config.toml", "report.json"]


def test_series_and_edges_are_kept_and_drawn(flashwatt: Cli, config: Path, tmp_path: Path) -> None:
    result = flashwatt("run", config, "--series-ms", 0.5, "--edges-ms", 5, 6, "--out", "out")
    assert result.returncode == 0, result.stderr
    recorded = json.loads((tmp_path / "out/report.json").read_text())
    assert recorded["series"]["interval_ns"] == 500_000
    assert (recorded["edges"]["from_ns"], recorded["edges"]["until_ns"]) == (5_000_000, 6_000_000)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names >= {f"{name}.{kind}" for name in ("power", "current") for kind in ("svg", "html")}
    assert names >= {"series.parquet", "edges.parquet"}
    assert "current edges" in result.stdout


def test_files_of_an_earlier_run_are_removed(flashwatt: Cli, config: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert flashwatt("run", config, "--series", "--out", out).returncode == 0
    (out / "notes.txt").write_text("mine")
    again = flashwatt("run", config, "--edges-ms", 5, 6, "--out", out)
    assert f"removed files of an earlier run: {out / 'series.parquet'}, " in again.stderr
    drawn = {"edges.parquet", "current.svg", "current.html"}
    assert {path.name for path in out.iterdir()} == {"report.json", "config.toml", "notes.txt"} | drawn
    prices = tmp_path / "prices.toml"
    prices.write_text("[energy.nand]\nprogram_ma = 10\n")
    (tmp_path / "copy.json").write_bytes((out / "report.json").read_bytes())
    assert flashwatt("price", "copy.json", "--table", prices, "--out", out).returncode == 0
    assert {path.name for path in out.iterdir()} == {"report.json", "notes.txt"}


def test_only_a_directory_of_a_run_is_cleared(flashwatt: Cli, config: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    out.mkdir()
    (out / "power.svg").write_text("drawn by hand")
    assert flashwatt("run", config, "--out", out).returncode == 0
    assert (out / "power.svg").read_text() == "drawn by hand"


def test_edges_that_cannot_be_drawn_are_kept(flashwatt: Cli, config: Path, tmp_path: Path) -> None:
    result = flashwatt("run", config, "--requests", 8_000, "--set", "workload.uniform.requests=8000",
                       "--edges-ms", 0, 10_000, "--out", "out")  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "current over time is not drawn: too many edges" in result.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"report.json", "config.toml", "edges.parquet"}


def test_several_traces_are_merged(flashwatt: Cli, config: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("0.0,0,W,0,4096\n2.0,0,R,0,4096\n")
    (tmp_path / "b.csv").write_text("1.0,0,W,0,4096\n")
    traces = ["--trace", "a.csv", "--trace", "b.csv"]
    report = json.loads(flashwatt("run", config, *traces, "--json").stdout)
    assert (report["workload"]["name"], report["workload"]["requests"]) == ("a.csv + b.csv", 3)
    assert "2 devices laid out one after another" in "".join(report["warnings"])
    by_key = flashwatt("run", config, "--set", 'workload.trace.path=["a.csv", "b.csv"]', "--json").stdout
    assert json.loads(by_key)["config_sha256"] == report["config_sha256"]
    one = json.loads(flashwatt("run", config, *traces, "--share-devices", "--align-starts", "--json").stdout)
    assert one["config"]["workload"]["trace"]["align_starts"]
    assert one["flash"]["unwritten_reads"] == 0
    assert "devices laid out" not in "".join(one["warnings"])
    result = flashwatt("run", config, "--trace", "a.csv", "--trace", "absent.csv")
    assert result.returncode == 2
    assert "--trace: absent.csv: no such file" in result.stderr


def test_engine_speed_is_measured(flashwatt: Cli, config: Path) -> None:
    engine = json.loads(flashwatt("run", config, "--json").stdout)["engine"]
    assert set(engine) == {"prepare_wall_s", "wall_s", "cpu_s", "requests_per_cpu_s", "flash_ops_per_cpu_s"}
    assert engine["wall_s"] > 0
    assert engine["prepare_wall_s"] > 0


def test_preparation_is_timed_apart(flashwatt: Cli, config: Path) -> None:
    short = ["--requests", 1, "--set", "device.blocks_per_plane=64", "--set", "gc.policy=fifo"]
    result = flashwatt("run", config, "--json", *short, "--set", "run.precondition=steady")
    assert result.returncode == 0, result.stderr
    engine = json.loads(result.stdout)["engine"]
    assert engine["prepare_wall_s"] > 5 * engine["wall_s"]


def test_table_says_what_matters(flashwatt: Cli, config: Path) -> None:
    result = flashwatt("run", config)
    assert result.returncode == 0, result.stderr
    for word in (
        "x25m",
        "Energy by component",
        "NAND program",
        "Energy by cause",
        "p99.9",
        "IOPS",
        "peak power",
        "MB/J",
    ):
        assert word in result.stdout
    assert result.stderr == ""


def test_every_operation_is_logged_on_request(flashwatt: Cli, config: Path, tmp_path: Path) -> None:
    result = flashwatt("run", config, "--json", "--op-log", "ops.csv")
    assert result.returncode == 0, result.stderr
    flash = json.loads(result.stdout)["flash"]
    operations = sum(flash[kind]["total"] for kind in ("reads", "programs", "erases"))
    assert len((tmp_path / "ops.csv").read_text().splitlines()) >= operations > 0


def test_a_log_that_cannot_be_written_is_a_message(flashwatt: Cli, config: Path) -> None:
    result = flashwatt("run", config, "--op-log", "no/such/directory/ops.csv")
    assert result.returncode == 2
    assert "no/such/directory/ops.csv" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_terminal_without_unicode_is_served(flashwatt: Cli, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    result = flashwatt("run", config, "--series")
    assert result.returncode == 0, result.stderr
    assert "Energy by component" in result.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_every_example_runs(flashwatt: Cli, example: Path) -> None:
    result = flashwatt("run", example, "--requests", 500, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["workload"]["requests"] == 500


def test_requests_and_sets_reach_the_engine(flashwatt: Cli, config: Path) -> None:
    report = json.loads(flashwatt("run", config, "--json", "--requests", 500).stdout)
    assert report["workload"]["requests"] == 500
    report = json.loads(flashwatt("run", config, "--json", "--set", "run.measure.requests=700").stdout)
    assert report["workload"]["requests"] == 700


def test_a_budget_of_operations_ends_a_run_and_keeps_it(flashwatt: Cli, config: Path, tmp_path: Path) -> None:
    result = flashwatt("run", config, "--set", "run.max_flash_ops=300", "--out", tmp_path / "out")
    assert result.returncode == 1
    assert "stopped: operation budget of 300 reached after" in result.stderr
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["status"] == "stopped: operation budget of 300 reached"
    assert report["workload"]["requests"] > 0


BAD_KEY = '[device]\npreset = "x25m"\nchanels = 4\n'


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "missing.toml"), "missing.toml"),
        (("run", "bad-key.toml"), "bad-key.toml:3"),
        (("run", "bad-key.toml"), "did you mean `channels`?"),
        (("run", "latin1.toml"), "not UTF-8"),
        (("run", "small.toml", "--trace", "missing.csv"), "missing.csv"),
        (("run", "small.toml", "--set", "run.measure.requests=many"), "run.measure.requests"),
        (("run", "small.toml", "--requests", "0"), "--requests"),
        (("run", "small.toml", "--out", "small.toml/x"), "small.toml"),
        (("run", "small.toml", "--no-such-option"), "--no-such-option"),
        (("run", "small.toml", "--series-ms", "0"), "--series-ms: found 0; expected milliseconds"),
        (("run", "small.toml", "--series-ms", "nan"), '--series-ms: not a number; found "nan"'),
        (("run", "small.toml", "--edges-ms", "3", "1"), "--edges-ms: the window from 3 until 1 is empty"),
        (("run", "small.toml", "--edges-ms", "-1", "1"), "--edges-ms: found -1; expected milliseconds"),
        (("run", "small.toml", "--edges-ms", "1"), "--edges-ms: too few values; expected 2"),
        (
            ("run", "small.toml", "--series-ms", "0.000001", "--set", "run.measure.seconds=3"),
            "error: --series-ms: too many bins",
        ),
        (("run", "small.toml", "--fold", "--clip", "--trace", "t.csv"), "error: --fold: fold and clip"),
        (
            ("run", "small.toml", "--trace", "t.csv", "--set", "workload.trace.format=cvs"),
            "error: --set: workload.trace.format: unknown",
        ),
        (
            ("run", "small.toml", "--trace", "t.csv", "--format", "spc", "--set", "workload.trace.format=cvs"),
            "error: --set: workload.trace.format: unknown",
        ),
        (("trace", "info", "t.csv", "--speed", "-1"), "error: --speed: out of range; found -1.0"),
        (("list", "nonsense"), "ftls"),
        (("list", "presetz"), "error: list: unknown name; found `presetz`; expected one of `presets`, "),
        (("list", "presetz"), "did you mean `presets`?"),
        (("nonsense",), "nonsense"),
    ],
)
def test_user_errors_are_messages(
    flashwatt: Cli, config: Path, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    assert config.exists()
    (tmp_path / "bad-key.toml").write_text(BAD_KEY)
    (tmp_path / "t.csv").write_text("time_ns,device,offset_bytes,size_bytes,op\n0,0,0,4096,R\n")
    (tmp_path / "latin1.toml").write_bytes(b'description = "caf\xe9"\n')
    result = flashwatt(*arguments)
    assert result.returncode == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("kind", [*_core.kinds(), "experiments"])
def test_lists_name_what_there_is(flashwatt: Cli, kind: str) -> None:
    result = flashwatt("list", kind)
    assert result.returncode == 0
    assert result.stdout.strip()
    assert json.loads(flashwatt("list", kind, "--json").stdout)


def test_variables_of_fio_jobs_are_those_of_the_environment(
    flashwatt: Cli, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "job.fio").write_text("[a]\nrw=write\nsize=1m\nbs=${FIO_BS}\n")
    options = ("run", config, "--fio", "job.fio", "--json")
    unset = flashwatt(*options)
    assert unset.returncode == 2
    assert "job.fio:4: bs: a variable that the environment does not have" in unset.stderr
    by_size = {}
    for size in ("8k", "16k"):
        monkeypatch.setenv("FIO_BS", size)
        report = json.loads(flashwatt(*options).stdout)
        assert any(f"job.fio:4: ${{FIO_BS}} is `{size}`" in one for one in report["warnings"])
        by_size[report["workload"]["requests"]] = report["workload"]["input_sha256"]
    assert list(by_size) == [128, 64]
    assert len(set(by_size.values())) == 2


def test_fio_jobs_run(flashwatt: Cli, config: Path, tmp_path: Path) -> None:
    job = tmp_path / "a job.fio"
    job.write_text("[global]\nioengine=libaio\ndirect=1\n[mix]\nrw=randrw\nbs=4k\nsize=1m\niodepth=4\n")
    report = json.loads(flashwatt("run", config, "--fio", job.name, "--json").stdout)
    workload = report["workload"]
    assert (workload["name"], workload["kind"], workload["requests"]) == ("a job.fio", "synthetic", 256)
    job.write_text("[mix]\nrw=randrw\niodpth=4\n")
    result = flashwatt("run", config, "--fio", job.name)
    assert result.returncode == 2
    assert "a job.fio:3: iodpth" in result.stderr
    assert "did you mean `iodepth`?" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_run_has_one_workload(flashwatt: Cli, config: Path) -> None:
    config.with_name("job.fio").write_text("[job]\nrw=read\nsize=1m\n")
    result = flashwatt("run", config, "--fio", config.with_name("job.fio"), "--trace", TRACE)
    assert result.returncode == 2
    assert "--fio and --trace" in result.stderr


def test_a_kind_without_names_is_no_kind(flashwatt: Cli) -> None:
    result = flashwatt("list", "phones")
    assert result.returncode == 2
    assert result.stdout == ""
    assert "list: unknown name; found `phones`; expected one of `presets`, `ftls`, `gc`" in result.stderr
    assert "phones" not in flashwatt("list").stdout


def test_a_list_shows_the_options_of_a_name(flashwatt: Cli) -> None:
    assert "[gc.policy.d_choices] d: Blocks drawn" in flashwatt("list", "gc").stdout
    shown = flashwatt("list", "ftls", "dftl").stdout
    assert "[ftl.dftl]" in shown
    assert "\n    cmt_bytes\n" in shown
    entry = json.loads(flashwatt("list", "gc", "d_choices", "--json").stdout)
    assert [(one["key"], one["default"]) for one in entry["options"]] == [("gc.policy.d_choices.d", 10.0)]
    shown = flashwatt("list", "formats", "csv").stdout
    for words in (
        "Columns: time (µs, may have a fraction), device,",
        "\n    time_us,device,op,offset,bytes\n    0.000,0,W,",
    ):
        assert words in shown
    result = flashwatt("list", "ftls", "dfl")
    assert result.returncode == 2
    assert "list ftls: unknown name; found `dfl`" in result.stderr
    assert "did you mean `dftl`?" in result.stderr


def test_version(flashwatt: Cli) -> None:
    assert flashwatt("version").stdout == flashwatt("--version").stdout
    assert flashwatt("version").stdout.startswith("flashwatt 0.")


def test_the_record_of_a_run_gives_it_again(flashwatt: Cli, config: Path, tmp_path: Path) -> None:
    options = ["--set", "device.channels=2", "--set", "gc.policy.d_choices.d=3", "--requests", "500"]
    assert flashwatt("run", config, *options, "--out", tmp_path / "a").returncode == 0
    again = flashwatt("run", tmp_path / "a/config.toml", "--out", tmp_path / "b")
    assert again.returncode == 0, again.stderr
    first, second = (json.loads((tmp_path / name / "report.json").read_text()) for name in "ab")
    assert first["config_sha256"] == second["config_sha256"]
    assert first["ledger"] == second["ledger"]


@pytest.mark.parametrize("preset", ["x25m", "energysim", "tlc-nvme-1t"])
@pytest.mark.parametrize("layer", ["block", "fast", "nftl"])
def test_the_record_of_a_run_gives_it_again_with_a_layer_that_only_merges(
    flashwatt: Cli, tmp_path: Path, preset: str, layer: str
) -> None:
    """What the preset says of collection has no effect then. Written by a user, it is an error."""
    options = ["--set", f"ftl={layer}", "--set", "device.scale=1/32", "--requests", "50"]
    first = flashwatt("run", "--preset", preset, *options, "--out", tmp_path / "a")
    assert first.returncode == 0, first.stderr
    again = flashwatt("run", tmp_path / "a/config.toml", "--out", tmp_path / "b")
    assert again.returncode == 0, again.stderr
    one, other = (json.loads((tmp_path / name / "report.json").read_text()) for name in "ab")
    assert one.keys() == other.keys()
    assert {**one, "engine": None} == {**other, "engine": None}


def test_a_bare_list_names_the_kinds(flashwatt: Cli) -> None:
    assert "presets" in flashwatt("list").stdout.split()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "small.toml", "--requests", "0"], "--requests: found 0; expected a whole number, ≥ 1"),
        (
            ["sweep", "small.toml", "--out", "x", "--workers", "two"],
            "--workers: found 'two'; expected a whole number, ≥ 1",
        ),
        (["run", "small.toml", "--series-ms", "x"], '--series-ms: not a number; found "x"; expected a number in ms'),
        (
            ["run", "small.toml", "--time-unit", "NS"],
            "--time-unit: found 'NS'; expected one of `s`, `ms`, `us`, `100ns`",
        ),
        (["run", "small.toml", "--time-unit", "NS"], "did you mean `ns`?"),
        (["sweep"], "sweep: nothing to work on; expected STUDY.toml"),
        (["run", "--sett"], "--sett: unknown option; did you mean --set?"),
        (["compar"], "unknown command; found compar; expected one of"),
        (["compare", "small.toml"], "one report alone has nothing to be compared with"),
    ],
)
def test_mistakes_on_the_command_line_are_told_as_all_others(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(config.parent)
    with pytest.raises(SystemExit) as end:
        main(arguments)
    first, second = capsys.readouterr().err.splitlines()
    assert end.value.code == 2
    assert first.startswith("flashwatt: error: ")
    assert said in first
    assert second.startswith("usage: ")


def test_the_table_of_commands_says_what_their_helps_say() -> None:
    """The help of `flashwatt` is made from the table, without the commands."""
    assert {name: one.help for name, one in COMMANDS.items()} == {
        name: command.short_help for name, command in cli.commands.items()
    }
    assert [name for name, command in cli.commands.items() if command.name != name] == []


def test_lists_of_commands_have_whole_sentences() -> None:
    listed = [command.short_help or "" for group in (cli, cli.commands["model"]) for command in group.commands.values()]  # type: ignore[attr-defined]
    assert "Memory that mapping tables take, by scheme (Park et al. 2011, 3.3)" in listed
    assert all(listed)
    assert not [text for text in listed if text.endswith("...")]
