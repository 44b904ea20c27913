"""The points of a sweep as tables: for the terminal, as CSV, and for papers."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

import flashwatt as package
from flashwatt.base.literals import label
from flashwatt.cli.sweep import _drawn, _show
from flashwatt.report import latex
from flashwatt.report.axes import heads
from flashwatt.report.doubts import mark
from flashwatt.report.keys import figures
from flashwatt.report.metrics import flat, metric_of, resolution
from flashwatt.sweeps.choice import axes
from flashwatt.sweeps.columns import key_columns, short_names
from flashwatt.sweeps.seeds import varied_by_seeds
from flashwatt.sweeps.summary import _figure, show_summary

if TYPE_CHECKING:
    from conftest import Cli

TRACE = Path(__file__).parents[2] / "examples/trace.csv"
DRIVE = {"preset": "x25m", "channels": 2, "ways": 1, "logical_bytes": 200 << 20, "op_ratio": 0.08}


def load(requests: int = 100) -> dict[str, Any]:
    return {"device": DRIVE, "workload": {"uniform": {"requests": requests}}}


@pytest.fixture(scope="module")
def results() -> package.Results:
    """Sweep over two drives and a key of one value, two seeds each."""
    grid = {"device.ways": [1, 2], "gc.policy": ["greedy"]}
    return package.sweep(grid, base=load(), seeds=2, workers=1)


def shown(results: package.Results, width: int = 120, **options: Any) -> str:
    stream = io.StringIO()
    show_summary(results, Console(file=stream, width=width), **options)
    return stream.getvalue()


def test_warnings_of_runs_are_told_once() -> None:
    quiet = package.sweep({"device.ways": [1, 2]}, base=load(), workers=1)
    assert quiet.summary()["warned"].to_list() == [0, 0]
    assert "warn" not in shown(quiet)
    grid = {"write_buffer.bytes": [0, 1_048_576, 2_097_152]}
    results = package.sweep(grid, base=load(), seeds=2, workers=1)
    assert results.summary()["warned"].to_list() == [0, 2, 2]
    # A buffer takes 100 writes in no time, and what happens then is left out.
    assert results.frame()["warnings"].to_list() == [0, 0, 2, 2, 2, 2]
    assert "warnings" not in results.metrics
    text = shown(results)
    assert " ".join(text.split()).startswith("write buffer size (MiB) warn ")
    told = " ".join(text.split())
    assert told.count("the figures leave out work that went on after the window") == 1
    assert "warning: 4 runs, for example: " in told


def test_map_units_that_differ_are_told() -> None:
    grid = {"ftl.page.map_unit_bytes": [1024, 4096]}
    results = package.sweep(grid, base=load(), workers=1)
    assert "ftl.map_unit_bytes: 1024 bytes" in " ".join(shown(results).split())


@pytest.mark.parametrize("drive", [{"device": {"preset": "laptop-7200"}}, {"array": {"members": 2}}])
def test_a_sweep_of_disks_or_of_arrays_has_no_map_units(drive: dict[str, Any]) -> None:
    swept = package.sweep({"workload.uniform.read_fraction": [0.0, 1.0]}, base=load() | drive, workers=1)
    assert "read_fraction" in shown(swept)


def test_what_is_the_same_in_every_row_is_said_once(results: package.Results) -> None:
    text = shown(results, 60)
    head = text.split("\n")[1].split()
    assert head[0] == "ways"
    assert "throughput" in head
    assert "policy" not in head
    assert text.count("greedy") == 1
    assert "the same in every row: policy greedy" in text
    assert "no room for" in text
    assert max(map(len, text.splitlines())) <= 60


def test_every_figure_that_is_asked_for_is_printed(results: package.Results) -> None:
    asked = ["latency_ns.write.p99_9", "power_w.mean", "flash.programs.total", "energy_j.nand.idle", "energy_j.total"]
    text = shown(results, 60, metrics=asked)
    assert max(map(len, text.splitlines())) <= 60
    for words in ("write p99.9", "mean power", "programs, total", "energy, NAND, idle", " energy "):
        assert words in text
    assert text.count("ways") > 1
    assert "throughput" not in text
    assert "writes –" in shown(results, metrics=["write_buffer.writes", "energy_j.total"])


def test_a_row_for_each_run(results: package.Results) -> None:
    text = shown(results, per_run=True, metrics=["energy_j.total"])
    assert [line.split()[:2] for line in text.splitlines()[3:7]] == [["1", "1"], ["1", "2"], ["2", "1"], ["2", "2"]]
    assert "±" not in text
    runs = results.runs(["energy_j.total"])
    assert runs.columns == ["device.ways", "gc.policy", "seed", "status", "warnings", "energy_j.total"]
    assert runs["energy_j.total"].to_list() == [one.report.energy_j.total for one in results]


def test_intervals_are_spoken_of_where_there_are_some(results: package.Results) -> None:
    assert "means over 2 seeds, ± half of the 95 % confidence interval; seeds vary the requests: the" in shown(results)
    single = shown(package.sweep({"device.ways": [1, 2]}, base=load(), workers=1))
    assert "±" not in single
    assert "one run for each point" in single


def test_what_the_seeds_of_a_trace_vary() -> None:
    trace = {"device": DRIVE, "workload": {"trace": {"path": str(TRACE), "fold": True}}}

    def said(*bases: dict[str, Any]) -> str:
        return varied_by_seeds(package.resolve(base) for base in bases)

    assert said(load()) == "seeds vary the requests: the start state is fixed"
    assert said({**load(), "run.precondition": "steady"}) == "seeds vary the requests and the start state"
    of_a_snapshot = package.resolve(load())
    of_a_snapshot["run"]["precondition"] = {"snapshot": "aged.fw"}
    assert varied_by_seeds([of_a_snapshot]) == "seeds vary the requests: the start state is fixed"
    assert said(trace).startswith("seeds vary nothing but policies that draw by chance")
    assert said({**trace, "run.precondition": "steady"}).startswith("seeds vary the start state only")
    assert said({**trace, "run.precondition.uniform.requests": 9}).startswith("seeds vary the start state only")
    assert "; of traces, none" in said(trace, load())
    assert "; of traces, only that" in said(trace, {**load(), "run.precondition": "steady"})


def test_figures_of_a_report_are_known_before_a_run(results: package.Results) -> None:
    (one, *_) = results
    numbers = {key for key, value in flat(one.report.to_dict()).items() if type(value) in (int, float)}
    assert numbers - set(figures()) <= {"version"}
    assert set(results.metrics) <= set(figures())


def test_the_axes_are_figures_that_vary(results: package.Results) -> None:
    assert axes(results) == ("throughput.iops", "efficiency.j_per_gb")
    assert axes(results, "efficiency.j_per_gb") == ("efficiency.j_per_gb", "energy_j.total")
    base = {"device": DRIVE, "workload": {"uniform": {"requests": 100, "rate_per_s": 10, "gaps": "constant"}}}
    paced = package.sweep({"device.ways": [1, 2], "energy.controller.active_ma": [30, 60]}, base=base, workers=1)
    assert axes(paced)[0] != "throughput.iops"


def test_no_picture_is_drawn_of_figures_that_no_run_has(
    results: package.Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {"x": "write_buffer.writes", "y": None, "color": None, "shape": None}
    assert _drawn(results, tmp_path, options, force=False) == []
    assert "tradeoff.html is not drawn: no run has write_buffer.writes" in capsys.readouterr().err


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(
        "seeds = 2\n[grid]\ndevice.ways = [1, 2]\n"
        "[base]\ndevice.logical_bytes = 200_000_000\ndevice.channels = 2\nworkload.uniform.requests = 100\n"
    )
    return path


def test_formats_of_the_command(flashwatt: Cli, study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metrics = ["energy_j.total", "power_w.peak"]
    done = flashwatt("sweep", study, "--out", "out", "--metrics", ",".join(metrics), "--format", "csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    results = package.Results.read(study.parent / "out")
    points = results.summary(metrics).to_dicts()

    def asked(format_: str, *, per_run: bool = False) -> str:
        _show(results, format_, metrics, per_run=per_run)
        return capsys.readouterr().out

    assert [float(row["energy_j.total.mean"]) for row in rows] == [row["energy_j.total.mean"] for row in points]
    assert list(rows[0]) == list(points[0])
    each = list(csv.DictReader(io.StringIO(asked("csv", per_run=True))))
    assert [(row["device.ways"], row["seed"]) for row in each] == [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")]
    table = asked("latex")
    assert r"ways & energy (" in table
    assert table.count(r"\pm") == 4
    assert "throughput" not in asked("table")
    assert json.loads(asked("json"))["points"] == points


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--metrics", "Energy_J.Total"], "--metrics: unknown name; found `Energy_J.Total`"),
        (["--metrics", "Energy_J.Total"], "did you mean `energy_j.total`?"),
        (["--x", "energy"], "--x: unknown name; found `energy`"),
        (["--color", "device.way"], "--color: unknown name; found `device.way`; expected one of `device.ways`"),
        (["--json", "--format", "csv"], "--json and --format csv are two formats"),
    ],
)
def test_a_wrong_name_is_told_before_a_run(flashwatt: Cli, study: Path, options: list[str], said: str) -> None:
    result = flashwatt("sweep", study, "--out", "out", *options)
    assert result.returncode == 2
    assert said in result.stderr
    assert not (study.parent / "out").exists()


def test_latex_escapes_what_tex_would_read() -> None:
    assert latex.escape("a_b & 5 % of $x^2$ {µ}") == r"a\_b \& 5 \% of \$x\textasciicircum{}2\$ \{$\mu$\}"
    assert latex.escape("日\x1b[0m\\") == r"??[0m\textbackslash{}"
    assert latex.escape_comment("±\n日") == ["+-", "?"]


@pytest.mark.parametrize(
    ("key", "values", "unit", "cells"),
    [
        ("latency_ns.read.p99", [1_500, 28_000_000], "ms", ["0.00150", "28.0"]),
        ("latency_ns.read.p99", [7_200_000_000_000, None], "s", ["7200", "--"]),
        ("energy_j.total", [0.0123, 0.5], "mJ", ["12.3", "500"]),
        ("flash.erases.total", [3, 1200], "", ["3", "1200"]),
        ("flash.write_amplification", [1.23456, 0.0], "", ["1.23", "0"]),
        ("throughput.read_mb_s", [-0.001, 12.5], "MB/s", ["$-0.00100$", "12.5"]),
    ],
)
def test_a_column_has_one_unit(key: str, values: list[float], unit: str, cells: list[str]) -> None:
    assert latex.numbers(metric_of(key), values) == (unit, cells)


def test_a_sweep_in_latex(results: package.Results) -> None:
    text = results.to_latex(["throughput.iops", "latency_ns.write.p99_9", "write_buffer.writes"])
    assert r"% \ddag too short" in text, "few requests for p99.9"
    lines = [line for line in text.splitlines() if "too short" not in line]
    assert lines[:2] == [
        "% means over 2 seeds, +- half of the 95 % confidence interval (Student)",
        r"% needs \usepackage{booktabs}",
    ]
    assert lines[4] == r"ways & throughput (IOPS) & write latency, p99.9 (ms) \\"
    mean, half = results.summary(["throughput.iops"]).select("throughput.iops.mean", "throughput.iops.ci95").rows()[0]
    written, around = (float(one) for one in lines[6].split("$")[1].split(r" \pm "))
    assert (written, half, around) == (round(mean), 0, 0)
    assert text.isascii()
    assert results.to_latex(["energy_j.total"], per_run=True).count("\\\\") == 5


def test_quantiles_in_lists_have_the_marks_of_their_own_counts(tmp_path: Path) -> None:
    """600 reads tell a p99, 20 flushes do not: of the whole run, and of the origin that sent them."""
    jobs = "[a.b]\nrw=randread\nbs=4k\nsize=1m\nio_size=2400k\n[log]\nrw=write\nbs=4k\nsize=1m\nio_size=80k\nfsync=1\n"
    (tmp_path / "two.fio").write_text(jobs)
    base = {"device": DRIVE, "workload": {"fio": {"path": str(tmp_path / "two.fio")}}}
    few = ["latency_ns.flush.p99", "origins.log.latency_ns.flush.p99", "origins.a.b.latency_ns.read.p99_9"]
    enough = ["latency_ns.read.p99", "origins.a.b.latency_ns.read.p99", "origins.log.latency_ns.flush.mean"]
    results = package.sweep({"device.ways": [1, 2]}, base=base, workers=1)
    doubts = results.doubts()
    row = results.summary(few).to_dicts()[0]
    assert [doubts(row, key) for key in few] == ["‡"] * 3
    assert [doubts(row, key) for key in enough] == [""] * 3
    assert results.to_latex(few).count(r"\ddag{}") == 6
    report = next(iter(results)).report.to_dict()
    flows = [{"name": "fsync", "latency_ns": {"count": 400}}, {"name": "read", "latency_ns": {"count": 500}}]
    host = {"latency_ns": {"queue": {"read": {"count": 499}}}}
    report |= {"files": {"flows": flows}, "host": host}
    asked = ("files.flows.fsync.latency_ns.p99", "files.flows.read.latency_ns.p99", "host.latency_ns.queue.read.p99")
    assert [mark(report, key) for key in asked] == ["‡", "", "‡"]


def test_figures_of_origins_are_called_as_those_of_the_run() -> None:
    assert [metric_of(f"origins.a.b.{key}").title for key in ("read_mb_s", "iops", "end_ns", "no_space")] == [
        "a.b: read (MB/s)",
        "a.b: throughput (IOPS)",
        "a.b: last completion (ns)",
        "a.b: no space",
    ]


def test_names_that_would_coincide_keep_their_table() -> None:
    assert key_columns(["run.warmup.requests"], [{"run.warmup.requests": 1}])[0].name == "warmup.requests"
    assert heads(["run.warmup.requests"]) == ["warm-up requests"]
    assert short_names(["workload.requests", "energy_j.total"], ["requests"]) == ["workload.requests", "energy"]


def test_a_figure_that_no_run_has_is_explained(results: package.Results) -> None:
    text = shown(results, metrics=["latency_ns.flush.p99", "write_buffer.writes", "energy_j.total"])
    said = "– no run has a value: latency_ns.flush.p99 (no request was a flush), write_buffer.writes"
    assert said in " ".join(text.split())
    assert "no run has" not in shown(results)


def test_a_figure_has_each_mark_once() -> None:
    row = {"latency_ns.read.p99.mean": 2e6, "latency_ns.read.p99.ci95": 1.9e6}
    assert _figure(row, "latency_ns.read.p99", "†‡", per_run=False) == "2.0 ± 1.9 ms†‡"
    assert _figure(row, "latency_ns.read.p99", "", per_run=False) == "2.0 ± 1.9 ms‡"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("greedy", "greedy"),
        ({"d_choices": {"d": 5}}, "d_choices (d 5)"),
        ({"dftl": {"cmt_fraction": 0.02, "cache": "lru"}}, "dftl (cmt_fraction 0.02, cache lru)"),
        ({"page": {}}, "page"),
        ([1, True], "1, true"),
    ],
)
def test_labels_of_values(value: object, text: str) -> None:
    assert label(value) == text


def test_halves_of_intervals_keep_a_digit() -> None:
    metric = metric_of("flash.write_amplification")
    assert latex.numbers(metric, [2.58, 1.2], [0.0004, 0.1])[1] == [r"$2.5800 \pm 0.0004$", r"$1.20 \pm 0.10$"]
    assert latex.numbers(metric, [2.58], [0.0])[1] == [r"$2.58 \pm 0$"]


def test_a_table_names_options_and_leaves_none_out(tmp_path: Path) -> None:
    grid = {"gc.policy": ["greedy", {"d_choices": {"d": 3}}]}
    results = package.sweep(grid, base=load(), out=tmp_path)
    assert r"d\_choices (d 3)" in results.to_latex()
    policy = {"gc.policy": grid["gc.policy"][1]}
    chosen = package.plot.versus(results, x="gc.policy", y="throughput.iops", where=policy)
    assert "d_choices (d 3)" in str(chosen.spec())


def test_a_table_in_a_file_is_not_cut(
    results: package.Results, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    show_summary(results, metrics=["throughput.iops", "energy_j.total", "latency_ns.write.p99", "efficiency.j_per_gb"])
    assert "…" not in capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "60")
    show_summary(results, metrics=["throughput.iops", "energy_j.total", "latency_ns.write.p99", "efficiency.j_per_gb"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60


def test_an_interval_of_a_quantile_is_no_narrower_than_a_bin() -> None:
    """Both seeds write in one bin, 1/128 of the value wide: the mean of upper bounds has no spread."""
    base = load() | {"workload": {"uniform": {"requests": 100, "queue_depth": 1}}}
    results = package.sweep({"device.ways": [1, 2]}, base=base, seeds=2, workers=1)
    key = "latency_ns.write.p50"
    row = results.summary([key]).row(0, named=True)
    assert row[f"{key}.ci95"] == 0
    assert "982 ±<8 µs" in shown(results, metrics=[key])
    assert r"$982 \pm 8$" in results.to_latex([key])  # 82 µs over the bus, 900 µs of programming; 982 / 128 = 7.7
    assert resolution(key) == resolution("latency_ns.write.p99_9") == 1 / 128
    assert resolution("latency_ns.read.mean") == resolution("energy_j.total") == 0
