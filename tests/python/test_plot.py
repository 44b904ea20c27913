"""Pictures: they render, they show the report's figures, and they load nothing from the network."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

import flashwatt
from charts import rows_of
from conftest import CONFIG
from flashwatt import Report, plot
from flashwatt.plot.power import power_chart
from flashwatt.plot.style import Canvas

if TYPE_CHECKING:
    from pathlib import Path

    from flashwatt.base.files import Json
    from flashwatt.plot.style import Palette

SIGNATURES = {"svg": b"<svg", "html": b"<!DOCTYPE html>", "png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-"}
PLOTS = {"power": plot.power, "current": plot.current, "energy": plot.energy, "latency": plot.latency}


@pytest.fixture(scope="module")
def run() -> Report:
    """Make one run with everything that a plot can want."""
    return flashwatt.run(flashwatt.Config(CONFIG), series=True, edges=(5_000_000, 6_000_000))


@pytest.mark.parametrize("suffix", SIGNATURES)
@pytest.mark.parametrize("name", PLOTS)
def test_every_plot_in_every_format(run: Report, tmp_path: Path, name: str, suffix: str) -> None:
    path = PLOTS[name](run).save(tmp_path / f"{name}.{suffix}")
    assert path.read_bytes().startswith(SIGNATURES[suffix])


def test_an_unknown_format_is_named(run: Report, tmp_path: Path) -> None:
    with pytest.raises(flashwatt.FlashwattError, match=r"found `\.gif`; expected one of `\.html`"):
        plot.energy(run).save(tmp_path / "energy.gif")


def test_a_missing_recording_is_named() -> None:
    run = flashwatt.run(flashwatt.Config(CONFIG), latency=False)
    with pytest.raises(flashwatt.FlashwattError, match="series=True"):
        plot.power(run)
    with pytest.raises(flashwatt.FlashwattError, match="edges="):
        plot.current(run)
    with pytest.raises(flashwatt.FlashwattError, match="latency=True"):
        plot.latency(run)
    with pytest.raises(flashwatt.FlashwattError, match="no report"):
        plot.energy({})


def test_a_series_without_bins_is_not_drawn(tmp_path: Path) -> None:
    trace = tmp_path / "trim.csv"
    trace.write_text("time_us,device,op,offset,bytes\n0,0,T,0,4096\n")
    text = f'[device]\npreset = "limit"\n[workload.trace]\npath = "{trace}"\n'
    run = flashwatt.run(flashwatt.Config(text), series=True)
    with pytest.raises(flashwatt.FlashwattError, match="the run took no time"):
        plot.power(run)


def test_svg_is_complete(report: Json) -> None:
    text = plot.power(Report(report)).svg()
    assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    for words in (
        "power (W)",
        "simulated time (ms)",
        "NAND program",
        "host interface",
        "instantaneous peak 3.41 W",
        "highest mean over",
        "x25m",
    ):
        assert words in text


def test_page_needs_no_network(report: Json, tmp_path: Path) -> None:
    report["config"]["device"]["preset"] = "a </script><b>name"
    text = plot.power(Report(report)).save(tmp_path / "power.html").read_text()
    assert "vegaEmbed" in text
    assert 'name="viewport"' in text
    assert "</script><b>" not in text
    assert "<script src" not in text
    markup = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert re.findall(r"src=|href=|url\(|@import", markup) == []


def test_a_report_without_a_peak_is_drawn_without_its_line(report: Json) -> None:
    report["power_w"]["peak"] = None
    assert "instantaneous" not in plot.power(Report(report)).svg()


@pytest.mark.parametrize("bins", [1, 2, 599, 600, 5000])
def test_joined_bins_keep_the_energy(report: Json, bins: int) -> None:
    chart = power_chart(report, Canvas(800), bins).to_dict()
    rows = rows_of(chart["datasets"][chart["layer"][0]["data"]["name"]])
    ends = [row["time"] for row in rows]
    joules = sum(a["NAND program"] * (end - a["time"]) for a, end in zip(rows, ends[1:], strict=False)) / 1e3
    assert joules == pytest.approx(report["energy_j"]["nand"]["program"], rel=1e-4)


def test_the_current_is_drawn_edge_by_edge(run: Report) -> None:
    spec = plot.current(run).spec()
    rows, edges = rows_of(spec["datasets"][spec["layer"][0]["data"]["name"]]), run.to_dict()["edges"]
    assert len(rows) == len(edges["time_ns"]) + 1
    assert [row["time"] for row in (rows[0], rows[-1])] == [0, 1000]
    for row, total in zip(rows, edges["total_ma"], strict=False):
        assert sum(row.values()) - row["time"] == pytest.approx(total, rel=1e-4)
    peak = max(edges["total_ma"])
    for words in ("simulated time since 5,000,000 ns (µs)", f"highest: {peak:.0f} mA", "current (mA)"):
        assert words in plot.current(run).svg()
    lasts = sum(
        end - begin
        for begin, end, total in zip(
            edges["time_ns"], [*edges["time_ns"][1:], edges["until_ns"]], edges["total_ma"], strict=True
        )
        if total == peak
    )
    assert f"for {lasts / 1e3:.0f} µs in all" in plot.current(run).title


def test_too_many_edges_are_not_drawn() -> None:
    run = flashwatt.run(flashwatt.Config(CONFIG), workload__uniform__requests=8_000, edges=True)
    with pytest.raises(flashwatt.FlashwattError, match=r"too many edges to draw; found [0-9,]+ edges; expected"):
        plot.current(run)


def test_an_idle_drive_is_drawn(report: Json) -> None:
    for watts in report["series"]["power_w"].values():
        watts[:] = [0.0] * len(watts)
    assert "power (W)" in plot.power(Report(report)).svg()


def test_the_bars_hold_all_the_energy(run: Report) -> None:
    spec = plot.energy({"one": run, "two": run}).spec()
    rows = spec["datasets"][spec["layer"][0]["data"]["name"]]
    assert {row["run"] for row in rows} == {"one", "two"}
    assert sum(row["share"] for row in rows) == pytest.approx(2, abs=1e-4)


def test_the_line_of_latencies_falls_from_all_to_none(run: Report) -> None:
    spec = plot.latency(run).spec()
    rows = [row for row in spec["datasets"][spec["data"]["name"]] if row["kind"] == "write"]
    shares = [row["share"] for row in rows]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.95
    assert rows[-1]["us"] == pytest.approx((run.latency_ns.write.max or 0) / 1e3, rel=0.01)
    past_p99 = max(row["share"] for row in rows if row["us"] >= (run.latency_ns.write.p99 or 0) / 1e3)
    assert past_p99 <= 0.01


def crossing(run: Report, kind: str, share: float) -> float:
    """The time at which the line of latencies falls to a share, in ns."""
    spec = plot.latency(run).spec()
    rows = [row for row in spec["datasets"][spec["data"]["name"]] if row["kind"] == kind]
    return 1e3 * next(row["us"] for row in rows if row["share"] <= share)


@pytest.mark.parametrize("kind", ["read", "write"])
def test_the_line_of_latencies_falls_where_the_quantiles_are(report: Json, kind: str) -> None:
    total = 3_700_000  # no power of ten: 1 % of one is as well where the number of digits changes
    times, left, counts = [], total, []
    while left:  # a long tail: each bin holds 3 % of what is left, and is 0.7 % wide
        counts.append(max(1, left * 3 // 100))
        left -= counts[-1]
        times.append(round(100_000 * 1.007 ** len(times)))
    bars = {"upper_ns": times, "count": counts}
    report["latency_histogram"] = {"read": bars, "write": bars}
    for tail in (0.05, 0.01, 0.001, 0.0001, 0.00001):
        seen = [sum(counts[: at + 1]) for at in range(len(counts))]
        quantile = next(time for time, below in zip(times, seen, strict=True) if total - below <= tail * total)
        assert crossing(Report(report), kind, tail) == pytest.approx(quantile, rel=0.0071)


def test_the_line_of_a_run_falls_where_its_report_says(run: Report) -> None:
    for kind, figures in (("read", run.latency_ns.read), ("write", run.latency_ns.write)):
        for share, quantile in ((0.05, figures.p95), (0.01, figures.p99), (0.001, figures.p99_9)):
            assert quantile is not None
            assert crossing(run, kind, share) == pytest.approx(quantile, rel=0.008)


def test_names_that_no_terminal_and_no_xml_can_hold(report: Json, tmp_path: Path) -> None:
    for at in (report["workload"], report["config"]["device"]):
        at["name" if "name" in at else "preset"] = "a\x1b[31m\x00\ufffe\U0001ffff\u202eb.csv"
    svg = plot.power(Report(report)).svg()
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert "a␛[31m␀���b.csv" in svg
    page = plot.power(Report(report)).save(tmp_path / "power.html").read_text()
    for text in (svg, page.partition("<script>")[0], page.rpartition("<script>")[2], Report(report)._repr_html_()):
        assert not set(text) & set("\x1b\x00\ufffe\U0001ffff\u202e")


def test_latencies_of_the_map_are_drawn_if_asked_for() -> None:
    run = flashwatt.run(flashwatt.Config(CONFIG), ftl={"dftl": {"cmt_entries": 8}}, run__precondition="filled")
    spec = plot.latency(run, kinds=["map_read", "map_write_last"]).spec()
    rows = spec["datasets"][spec["data"]["name"]]
    assert {row["kind"] for row in rows} == {"map_read", "map_write_last"}
    assert "map reads p99" in plot.latency(run, kinds=["map_read"]).title
    with pytest.raises(flashwatt.FlashwattError, match="kinds: unknown name; found `map_reads`; expected one of"):
        plot.latency(run, kinds=["map_reads"])
    with pytest.raises(flashwatt.FlashwattError, match="kinds: found 'read'; expected a list of names"):
        plot.latency(run, kinds="read")


def test_a_notebook_is_shown_the_picture(run: Report) -> None:
    assert plot.energy(run)._repr_svg_().startswith("<svg")


def test_compromises_of_a_sweep() -> None:
    results = flashwatt.sweep({"device.channels": [2, 8]}, base=flashwatt.Config(CONFIG), seeds=2)
    spec = plot.tradeoff(results).spec()
    rows = spec["datasets"][spec["layer"][-1]["data"]["name"]]
    front = spec["datasets"][spec["layer"][0]["data"]["name"]]
    assert [row["device_channels"] for row in rows] == [2, 8]
    assert [row["device_channels"] for row in front] == [8]  # faster, and with less energy
    assert all(row["x_low"] < row["x"] < row["x_high"] for row in rows)
    with pytest.raises(flashwatt.FlashwattError, match=r"did you mean `device\.channels`"):
        plot.tradeoff(results, color="device.chanels")


def test_a_missing_directory_is_named(run: Report, tmp_path: Path) -> None:
    chart = plot.energy(run)
    for suffix in ("html", "svg", "png", "pdf"):
        path = tmp_path / f"missing/energy.{suffix}"
        with pytest.raises(flashwatt.FlashwattError, match=rf"^{path}: cannot be written; .*expected a file in a dir"):
            chart.save(path)
    with pytest.raises(flashwatt.FlashwattError, match=r"report\.json: cannot be written"):
        run.write(tmp_path / "missing/report.json")


def test_every_key_of_a_sweep_is_told_apart_or_said_not_to_be() -> None:
    grid = {"device.channels": [2, 8], "gc.policy": ["greedy", "fifo"], "device.ways": [1, 2]}
    results = flashwatt.sweep(grid, base=flashwatt.Config(CONFIG))
    chart = plot.tradeoff(results)
    dots = chart.spec()["layer"][-1]["encoding"]
    assert {channel: dots[channel]["legend"]["title"] for channel in ("color", "shape")} == {
        "color": "channels",
        "shape": "GC policy",
    }
    assert chart.subtitle[1] == "Beside the points: ways."
    assert "Point at a dot" in chart.hint  # on pages only: nobody points at paper
    assert "Point at a dot" not in chart.svg()
    dots = plot.tradeoff(results, shape="device.channels").spec()["layer"][-1]["encoding"]
    assert (dots["color"]["field"], dots["shape"]["field"]) == ("gc_policy", "device_channels")
    with pytest.raises(flashwatt.FlashwattError, match=r"shape: .*did you mean `device\.ways`"):
        plot.tradeoff(results, shape="device.way")


@pytest.mark.parametrize("palette", ["default", "colorblind", "grey"])
def test_components_of_a_disk_have_colours_of_their_own(run: Report, palette: Palette) -> None:
    disk = flashwatt.run(device__preset="laptop-7200", workload__uniform__requests=10)
    spec = plot.energy({"SSD": run, "disk": disk}, palette=palette).spec()
    scale = spec["layer"][0]["encoding"]["color"]["scale"]
    assert {"NAND program", "spindle, +5 V"} <= set(scale["domain"])
    assert len(set(scale["range"])) == len(scale["domain"]) == len(scale["range"])


def test_flushes_have_latencies_and_the_depths_of_runs_one_line(tmp_path: Path) -> None:
    job = tmp_path / "sync.fio"
    job.write_text("[w]\nioengine=psync\nrw=randwrite\nbs=4k\nsize=1m\nfsync=4\n")
    run = flashwatt.run(device__preset="x25m", workload__fio__path=str(job), host__scheduler="none", series=True)
    for form in ("tail", "bars"):
        assert "flushes" in (plot.latency(run, ["flush"], form=form).title)
    rows = plot.latency(run, ["flush"]).spec()["datasets"].values()
    assert {row["kind"] for some in rows for row in some} == {"flush"}
    said = plot.queue({"a": run, "b": run}, palette="grey").subtitle[0]
    assert said.count("queued") == 1
    assert " to " not in said


def test_bars_of_too_few_requests_are_hollow(run: Report) -> None:
    spec = plot.latency(run, form="bars").spec()  # of 1,000 reads one is beyond p99.9
    rows = next(rows for rows in spec["datasets"].values() if "group" in rows[0])
    assert {row["group"] for row in rows if row.get("doubt")} == {"reads, p99.9", "writes, p99.9"}
    assert "hollow: too short" in plot.latency(run, form="bars", title=None).svg()
