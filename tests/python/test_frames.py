"""Frames: their content agrees with the report, and other libraries read them without a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import flashwatt
from conftest import CONFIG
from flashwatt import Config, Report
from flashwatt.base import frames as frames_of

if TYPE_CHECKING:
    from pathlib import Path

SMALL = Config(CONFIG)


@pytest.fixture(scope="module")
def run() -> Report:
    """Make one run with every frame."""
    return flashwatt.run(SMALL, series=True, edges=True, op_log=True)


def frames(run: Report) -> dict[str, pl.DataFrame]:
    """Give every frame of a run."""
    return {"series": run.series(), "edges": run.edges(), "latency": run.latency(), "op_log": run.op_log()}


def test_series_only_when_asked_for() -> None:
    report = flashwatt.run(SMALL)
    with pytest.raises(flashwatt.FlashwattError, match="series=True"):
        report.series()
    assert "series" not in report.to_dict()
    bins = flashwatt.run(SMALL, series=1_000_000).series()
    assert (bins["end_ns"] - bins["start_ns"])[:-1].unique().to_list() == [1_000_000]


@pytest.mark.parametrize("overrides", [{}, {"run__measure__requests": 900}, {"run__warmup__requests": 300}])
def test_the_series_holds_all_the_energy(overrides: dict[str, int]) -> None:
    report = flashwatt.run(SMALL, series=True, **overrides)
    series = report.series()
    seconds = (series["end_ns"] - series["start_ns"]) * 1e-9
    assert (series["total_w"] * seconds).sum() == pytest.approx(report.energy_j.total, rel=1e-9)
    assert (series["nand_program_w"] * seconds).sum() == pytest.approx(report.energy_j.nand.program, rel=1e-9)
    assert (series["start_ns"][1:] == series["end_ns"][:-1]).all()


def test_edges_only_when_asked_for() -> None:
    report = flashwatt.run(SMALL)
    with pytest.raises(flashwatt.FlashwattError, match=r"edges=\(from_ns, until_ns\)"):
        report.edges()
    assert "edges" not in report.to_dict()


def test_the_edges_hold_all_the_energy(run: Report) -> None:
    edges = run.edges()
    components = pl.sum_horizontal(pl.all().exclude("start_ns", "end_ns", "total_ma"))
    assert (edges["start_ns"][1:] == edges["end_ns"][:-1]).all()
    assert edges.select((components - pl.col("total_ma")).abs().max()).item() < 1e-9
    coulombs = (edges["total_ma"] * 1e-3 * (edges["end_ns"] - edges["start_ns"]) * 1e-9).sum()
    assert coulombs * run.config["energy"]["mode"]["terminal"] * 1e-3 == pytest.approx(run.energy_j.total, rel=1e-9)
    assert edges["total_ma"].max() == run.current_ma.peak


def test_the_staircase_of_the_x25m() -> None:
    """One write to every die: 190 mA and 17 more for each die at work (F21), 530 with all twenty."""
    write = {"sequential": {"requests": 1, "request_bytes": 20 * 4096}}
    edges = flashwatt.run(device__preset="x25m", workload=write, edges=True).edges()
    assert sorted(set(edges["total_ma"])) == [190.0 + 17 * dies for dies in range(1, 21)]


def test_a_window_cuts_edges() -> None:
    whole = flashwatt.run(SMALL, edges=True).edges()
    begin, end = 5_000_001, 7_000_000
    window = flashwatt.run(SMALL, edges=(begin, end)).edges()
    inside = whole.filter(pl.col("start_ns").is_between(begin, end, closed="left"))
    assert (window["start_ns"][0], window["end_ns"][-1]) == (begin, end)
    assert window["start_ns"][1:].to_list() == inside["start_ns"].to_list()
    assert window["total_ma"][1:].to_list() == inside["total_ma"].to_list()


def test_recordings_out_of_range_are_refused() -> None:
    missed = flashwatt.run(SMALL, edges=(10**15, 10**15 + 1))
    assert missed.edges().height == 0
    assert missed.warnings[-1].startswith("edges: none were recorded from 1000000000000000 ns until")
    long = flashwatt.run(SMALL, workload__uniform__requests=400_000, edges=True)
    assert long.status.startswith("failed: edges: too many edges of the current; found more than 1000000 from 0 ns")
    bins = flashwatt.run(SMALL, series=1)
    assert bins.status.startswith("failed: series: too many bins; found bins of 1 ns")


def test_latencies_are_those_of_the_report(run: Report) -> None:
    bins = run.latency()
    for kind, figures in (("read", run.latency_ns.read), ("write", run.latency_ns.write)):
        of_kind = bins.filter(pl.col("kind") == kind)
        assert of_kind["count"].sum() == figures.count
        assert of_kind["cumulative_fraction"][-1] == 1.0
        for share, quantile in ((0.5, figures.p50), (0.99, figures.p99)):
            first = of_kind.filter(pl.col("cumulative_fraction") >= share)["upper_ns"][0]
            assert first == pytest.approx(quantile, rel=0.008)
    with pytest.raises(flashwatt.FlashwattError, match="latency=True"):
        flashwatt.run(SMALL, latency=False).latency()


def test_latencies_of_a_map_on_flash_are_kept_too(run: Report) -> None:
    assert set(run.latency()["kind"]) <= {"read", "write"}
    report = flashwatt.run(SMALL, ftl={"dftl": {"cmt_entries": 8}}, run__precondition="filled")
    figures = report.ftl.map_latency_ns
    assert figures
    bins = report.latency()
    for name in ("read", "write_first", "write_last"):
        of_kind, summary = bins.filter(pl.col("kind") == f"map_{name}"), getattr(figures, name)
        assert of_kind["count"].sum() == summary.count > 0
        first = of_kind.filter(pl.col("cumulative_fraction") >= 0.5)["upper_ns"][0]
        assert first == pytest.approx(summary.p50, rel=0.008)
    assert report.ftl.map_energy_j.flash == report.energy_by_cause_j.map > 0


def test_the_log_is_that_of_the_report(run: Report) -> None:
    counts = {
        (record, cause): count for record, cause, count in run.op_log().group_by("record", "cause").len().iter_rows()
    }
    assert counts["read", "host"] == run.flash.reads.host
    assert counts["program", "host"] == run.flash.programs.host
    assert counts["request", "write"] == run.workload.writes
    log = run.op_log().filter(pl.col("record") == "program")
    assert log["start_ns"].null_count() == 0
    assert (log["end_ns"] > log["start_ns"]).all()
    assert run.op_log().schema["record"] == run.op_log().schema["cause"] == pl.Categorical


def test_the_log_of_a_drive_with_rows_has_more_columns(run: Report, tmp_path: Path) -> None:
    path = tmp_path / "ops.csv"
    run.op_log().head(0).write_csv(path)
    more = "in_end_ns,row_pages,planes,page_type,mode,suspensions,earlier_moves"
    header = path.read_text(encoding="ascii").strip()
    program = "program,pad,0,7,1,10,20,50,50,50,,,20,2,2,second,slc,30-40;45-47,2-6"
    path.write_text(f"{header},{more}\n{program}\nend,,,,,,,,,50,,,,,,,,,\n", encoding="ascii")
    log = frames_of.op_log(path).collect()
    assert log.columns == [*header.split(","), *more.split(",")]
    assert log.row(0)[-7:] == (20, 2, 2, "second", "slc", "30-40;45-47", "2-6")
    assert log["row_pages"].to_list() == [2, None]


def test_a_named_log_stays_and_a_temporary_one_goes(tmp_path: Path) -> None:
    kept = flashwatt.run(SMALL, op_log=tmp_path / "ops.csv")
    columnar = flashwatt.run(SMALL, op_log=tmp_path / "ops.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ops.csv", "ops.parquet"]
    assert kept.op_log().equals(columnar.op_log())
    temporary = flashwatt.run(SMALL, op_log=True)
    path = temporary._op_log
    assert path is not None
    assert path.exists()
    del temporary
    assert not path.exists()
    with pytest.raises(flashwatt.FlashwattError, match="op_log=True"):
        flashwatt.run(SMALL).op_log()


def test_a_failed_run_leaves_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(flashwatt.FlashwattError):
        flashwatt.run(SMALL, op_log=True, device__chanels=3)
    assert list(tmp_path.iterdir()) == []


def test_pandas_reads_every_frame(run: Report) -> None:
    pd = pytest.importorskip("pandas", reason="no pandas 3 for this version of Python")
    for name, frame in frames(run).items():
        read = pd.DataFrame.from_arrow(frame)
        assert list(read.columns) == frame.columns, name
        assert len(read) == len(frame), name
    assert pd.DataFrame.from_arrow(run.op_log())["record"].dtype == "category"


def test_duckdb_reads_every_frame(run: Report) -> None:
    duckdb = pytest.importorskip("duckdb", reason="no DuckDB 2 for this version of Python")
    series, latency, op_log = run.series(), run.latency(), run.op_log()
    assert all(frame is not None for frame in (series, latency, op_log))  # DuckDB finds them by their names
    peak = duckdb.sql("SELECT max(total_w) FROM series").fetchall()
    assert peak == [(run.series()["total_w"].max(),)]
    reads = duckdb.sql("SELECT sum(count) FROM latency WHERE kind = 'read'").fetchall()
    assert reads == [(run.workload.reads,)]
    programs = duckdb.sql("SELECT count(*) FROM op_log WHERE record = 'program' AND cause = 'host'").fetchall()
    assert programs == [(run.flash.programs.host,)]


def test_columns_are_handed_over_without_a_copy(run: Report) -> None:
    pa = pytest.importorskip("pyarrow", reason="no PyArrow 26 for this version of Python")
    series = run.series()
    for name in ("start_ns", "total_w"):
        first, second = (pa.table(series)[name].chunk(0).buffers()[1].address for _ in range(2))
        assert first == second, name
