"""Figures of files side by side: their units, their places in comparisons and sweeps, tables of lists by name."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from rich.console import Console

import flashwatt as fw
from flashwatt import FlashwattError
from flashwatt.report.axes import figure
from flashwatt.report.compare import show
from flashwatt.report.keys import figures
from flashwatt.report.metrics import OPERATION_J, metric_of
from flashwatt.reproduce.evidence import Runs
from flashwatt.sweeps.choice import axes
from flashwatt.sweeps.summary import show_summary

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli
    from flashwatt.sweeps.journal import Journal
    from flashwatt.sweeps.task import Task

SMALL = {
    "device.preset": "x25m",
    "workload.files.operations": 600,
    "workload.files.set": {"nfiles": 60},
}


@pytest.fixture(scope="module")
def reports() -> dict[str, fw.Report]:
    return {name: fw.run({**SMALL, "workload.files.system": name}) for name in ("ext2", "lfs", "nilfs2")}


@pytest.fixture(scope="module")
def swept() -> fw.Results:
    grid = {"workload.files.system": ["ext2", "lfs"]}
    return fw.sweep(grid, base=SMALL, workers=1)


def _shown(comparison: fw.Comparison, width: int) -> str:
    stream = io.StringIO()
    show(comparison, Console(file=stream, width=width, highlight=False))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("key", "written", "axis"),
    [
        ("files.operations.per_s", "31,736/s", "operations (1/s)"),
        ("files.operations.seconds", "8.8 h", "seconds"),
        ("engine.requests_per_cpu_s", "31736.000", "requests per cpu s"),
        ("efficiency.mb_per_j", "31736.000", "MB per j"),
        ("replay.pages_per_4_kib", "31736.000", "pages per 4 kib"),
        ("host.seeks.bytes_mean", "31.7 kB", "mean seeks size"),
        ("host.depth.withheld_s", "8.8 h", "withheld (s)"),
    ],
)
def test_only_a_unit_at_the_end_of_a_key_is_one(key: str, written: str, axis: str) -> None:
    assert metric_of(key).write(31736.0) == written
    assert figure(key, [31736.0]).title == axis


def test_a_rate_is_no_time(reports: dict[str, fw.Report]) -> None:
    compared = fw.compare(reports, only=["files.operations.per_s"])
    (row,) = compared.figures()
    assert row.cells[0].text == f"{reports['ext2'].files.operations.per_s:,.0f}/s"  # type: ignore[union-attr]
    assert "(1/s)" in compared.to_latex()
    times = [key for key in figures() if metric_of(key).unit in ("s", "ns")]
    assert [key for key in times if "_per_" in key or ".per_" in key] == []


def test_a_comparison_of_files_begins_with_their_figures(reports: dict[str, fw.Report]) -> None:
    rows = {row.key: row for row in fw.compare(reports).figures()}
    assert list(rows)[:2] == ["files.operations.per_s", OPERATION_J]
    assert any(key.startswith("files.flows.") and "fsync" in key for key in rows)
    assert rows["files.written.sync.data_bytes"].name == "sync: data written"
    assert "files.written.direct.data_bytes" not in rows, "nothing was written for that cause"
    assert [cell.best for cell in rows["files.operations.per_s"].cells].count(True) == 1
    best = max(reports, key=lambda name: reports[name].files.operations.per_s)  # type: ignore[union-attr]
    assert rows["files.operations.per_s"].cells[list(reports).index(best)].best, "the highest rate is the best"


def test_other_comparisons_have_no_rows_of_files() -> None:
    plain = fw.run({"device.preset": "x25m", "workload.uniform.requests": 200})
    metrics = fw.compare({"a": plain, "b": plain}).to_dict()["a"]["metrics"]
    assert next(iter(metrics)) == "throughput.iops"
    assert [key for key in metrics if key.startswith("files.")] == []


def test_tables_in_lists_are_called_by_their_names(reports: dict[str, fw.Report]) -> None:
    def asked(*only: str) -> dict[str, Any]:
        return fw.compare(reports, only=only).to_dict()["ext2"]["metrics"]

    content = reports["ext2"].to_dict()["files"]
    flow = next(one for one in content["flows"] if one["name"] == "extend_fsync")
    key = "files.flows.extend_fsync.latency_ns.p99"
    assert asked(key) == {key: flow["latency_ns"]["p99"]}
    assert asked("files.flows.extend_fsync") == {
        **{f"files.flows.extend_fsync.{name}": flow[name] for name in ("count", "no_space", "failed", "bytes")},
        **{f"files.flows.extend_fsync.latency_ns.{name}": value for name, value in flow["latency_ns"].items()},
    }
    assert len({one.split(".")[2] for one in asked("files.flows")}) == len(content["flows"])
    assert asked("files.written.sync")["files.written.sync.data_bytes"] == content["written"][0]["data_bytes"]
    with pytest.raises(FlashwattError, match=r"did you mean `files.flows.extend_fsync.count`"):
        asked("files.flows.extend_fsyn.count")
    assert not any(key.startswith("files.flows") for key in fw.compare(reports).frame().columns)
    assert key in fw.compare(reports, only=[key]).frame().columns


def test_evidence_of_experiments_has_named_tables(reports: dict[str, fw.Report]) -> None:
    a_set: Any = SimpleNamespace(name="files", axes={"system": list(reports)})
    runs = Runs(a_set, {("ext2",): [cast("Task", None)]}, cast("Journal", None))
    runs._reports[("ext2",)] = reports["ext2"]
    written = reports["ext2"].to_dict()["files"]["written"][0]
    assert runs.value("files.written.sync.data_bytes", "ext2") == written["data_bytes"]
    assert runs.value("files.operations.count", "ext2") == 600
    with pytest.raises(FlashwattError, match=r"run files × ext2: unknown name; found `files.written.snyc.data_bytes`"):
        runs.value("files.written.snyc.data_bytes", "ext2")


def test_a_name_of_a_table_may_hold_dots_and_units() -> None:
    assert metric_of("origins.a.csv.latency_ns.all.p99").name == "a.csv: latency, p99"
    assert metric_of("origins.wait_s.requests").unit == ""
    assert figure("files.flows.wait_s.latency_ns.p99", [2e6]).title == "wait_s: latency, p99 (ms)"


def test_rows_that_no_report_of_a_table_has_are_left_out(reports: dict[str, fw.Report]) -> None:
    narrow = _shown(fw.compare(reports), 66)
    assert narrow.count("nilfs2.clean_low") == 1, "in the table of nilfs2 alone"
    assert narrow.count("ext2.reserved_percent") == 2, "the first report stands in both tables"
    assert "1048576" in narrow
    assert "e+06" not in narrow


def test_a_sweep_over_files_begins_with_their_figures(swept: fw.Results) -> None:
    assert swept.headlines[:3] == ("files.operations.per_s", OPERATION_J, "throughput.iops")
    assert "files.operations.per_s.mean" in swept.summary().columns
    assert axes(swept) == ("files.operations.per_s", OPERATION_J)
    stream = io.StringIO()
    show_summary(swept, Console(file=stream, width=160, highlight=False))
    assert stream.getvalue().index("operations") < stream.getvalue().index("energy per operation")
    plain = fw.sweep(
        {"device.ways": [1, 2]}, base={"device.preset": "x25m", "workload.uniform.requests": 50}, workers=1
    )
    assert not any(name.startswith("files.") for name in plain.summary().columns)


def test_a_sweep_takes_figures_of_named_tables(swept: fw.Results) -> None:
    key = "files.flows.extend_fsync.latency_ns.p99"
    means = swept.summary([key, "files.written.sync.data_bytes"])
    flows = [
        next(one for one in run.report.to_dict()["files"]["flows"] if one["name"] == "extend_fsync") for run in swept
    ]
    assert means[f"{key}.mean"].to_list() == [one["latency_ns"]["p99"] for one in flows]
    assert key not in swept.frame().columns
    with pytest.raises(FlashwattError, match=r"unknown name; found `files.flows.nobody.latency_ns.p99`"):
        swept.summary(["files.flows.nobody.latency_ns.p99"])


def test_metrics_of_the_sweep_command(flashwatt: Cli, tmp_path: Path) -> None:
    keys = "".join(f"{key} = {json.dumps(value)}\n" for key, value in SMALL.items() if not isinstance(value, dict))
    grid = '[grid]\n"workload.files.system" = ["ext2", "lfs"]\n'
    (tmp_path / "base.toml").write_text(keys + "workload.files.set = { nfiles = 60 }\n")
    (tmp_path / "study.toml").write_text(f'base = "base.toml"\n{grid}')
    metrics = "files.operations.per_s,files.flows.extend_fsync.latency_ns.p99"
    done = flashwatt("sweep", "study.toml", "--out", "o", "--metrics", metrics)
    assert done.returncode == 0, done.stderr
    assert "/s " in done.stdout
    assert "extend_fsync: p99" in done.stdout
    assert " h " not in done.stdout
    wrong = flashwatt("sweep", "study.toml", "--out", "o", "--metrics", "files.flows.extend_fsync.latency_ns.p98")
    assert wrong.returncode == 2
    assert "--metrics: unknown name" in wrong.stderr
    wrong = flashwatt("sweep", "study.toml", "--out", "o", "--metrics", "files.flows.fsync.latency_ns.p99")
    assert wrong.returncode == 2
    assert "--metrics: unknown name; found `files.flows.fsync.latency_ns.p99`; expected one of" in wrong.stderr
    assert "`files.flows.extend_fsync.latency_ns.p99`" in wrong.stderr


def test_the_page_of_files_draws_their_operations(
    flashwatt: Cli, reports: dict[str, fw.Report], tmp_path: Path
) -> None:
    for name in ("ext2", "lfs"):
        (tmp_path / name).mkdir()
        reports[name].write(tmp_path / name / "report.json")
    done = flashwatt("compare", "ext2", "lfs", "--html", "page.html")
    assert done.returncode == 0, done.stderr
    assert "Times of file operations" in (tmp_path / "page.html").read_text()
