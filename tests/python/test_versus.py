"""A figure against a parameter: its means and intervals, its axes, and what it refuses to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import flashwatt
from conftest import CONFIG
from flashwatt import Results, plot
from flashwatt.report.axes import figure, word
from test_pictures import outside

if TYPE_CHECKING:
    from flashwatt.plot import Chart

Y = "latency_ns.read.p99_9"


@pytest.fixture(scope="module")
def results() -> Results:
    """Make a sweep over a number and a name, with three seeds."""
    grid = {"device.channels": [2, 8], "controller.policy": ["in_order", "reads_first"]}
    return flashwatt.sweep(grid, base=flashwatt.Config(CONFIG), seeds=3)


def layers(chart: Chart) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The layers of a chart, and the rows of its means."""
    spec = chart.spec()
    (rows,) = (rows for rows in spec["datasets"].values() if "mean" in rows[0])
    return spec["layer"], rows


def test_the_means_and_intervals_are_those_of_the_summary(results: Results) -> None:
    drawn, rows = layers(plot.versus(results, x="device.channels", y=Y, by="controller.policy"))
    assert drawn[0]["mark"]["type"] == "line"
    for want in results.summary([Y]).iter_rows(named=True):
        (row,) = (
            row for row in rows if row["x"] == want["device.channels"] and row["series"] == want["controller.policy"]
        )
        assert row["mean"] == pytest.approx(want[f"{Y}.mean"] / 1e6, rel=1e-5)
        assert row["high"] - row["low"] == pytest.approx(2 * want[f"{Y}.ci95"] / 1e6, rel=1e-4)
        assert row["runs"] == 3
    encoding = drawn[0]["encoding"]
    assert encoding["y"]["title"] == "read latency, p99.9 (ms)"
    assert encoding["x"]["scale"]["type"] == "linear"
    wide = plot.versus(results, x="device.channels", y=Y, by="controller.policy", confidence=0.99)
    assert all(a["half"] > b["half"] for a, b in zip(layers(wide)[1], rows, strict=True))


def test_names_are_drawn_as_bars_from_zero(results: Results) -> None:
    chart = plot.versus(results, x="controller.policy", y="throughput.iops", by="device.channels")
    drawn, rows = layers(chart)
    assert drawn[0]["mark"]["type"] == "bar"
    assert drawn[0]["encoding"]["y"]["scale"]["domain"][0] == 0
    assert drawn[1]["mark"]["type"] == "rule"
    assert {row["series"] for row in rows} == {"2", "8"}
    assert chart.title == "Throughput against controller policy"
    assert "Means over 3 runs for each point; bars: 95 % confidence" in chart.subtitle[0]


def test_a_line_far_from_zero_does_not_begin_there() -> None:
    frame = pl.DataFrame({"n": [1, 1, 2, 2], "seed": [1, 2, 1, 2], "power_w.mean": [2.0, 2.1, 2.2, 2.4]})

    def domain(**options: Any) -> list[float]:
        scale = layers(plot.versus(frame, "n", "power_w.mean", **options))[0][0]["encoding"]["y"]["scale"]
        found: list[float] = scale["domain"]
        return found

    assert domain(zero=False)[0] > 0
    assert domain(zero=True)[0] == 0
    frame = frame.with_columns(pl.Series("power_w.mean", [2.0, 2.01, 0.2, 0.21]))
    assert domain()[0] <= 0


def test_logarithmic_axes(results: Results) -> None:
    chosen: dict[str, Any] = {"where": {"controller.policy": "in_order"}}
    encoding = layers(plot.versus(results, "device.channels", Y, log_x=True, log_y=True, **chosen))[0][0]["encoding"]
    assert [encoding[axis]["scale"]["type"] for axis in "xy"] == ["log", "log"]
    with pytest.raises(flashwatt.FlashwattError, match=r"log_x: controller.policy holds no numbers"):
        plot.versus(results, "controller.policy", Y, by="device.channels", log_x=True)
    with pytest.raises(flashwatt.FlashwattError, match=r"log_y: found flash.erases.total = 0; expected values above 0"):
        plot.versus(results, "device.channels", "flash.erases.total", by="controller.policy", log_y=True)


def test_runs_that_differ_in_more_than_their_seed_are_not_averaged(results: Results) -> None:
    for wrong in (results, results.frame()):
        with pytest.raises(flashwatt.FlashwattError, match=r"varies.*draw it with `by`, or choose one of its values"):
            plot.versus(wrong, x="device.channels", y=Y)
    for right in (results, results.frame()):
        _, rows = layers(plot.versus(right, x="device.channels", y=Y, where={"controller.policy": "in_order"}))
        assert [row["x"] for row in rows] == [2, 8]
    with pytest.raises(flashwatt.FlashwattError, match=r"where: no run with device.channels = 3; expected one of 2, 8"):
        plot.versus(results, x="device.channels", y=Y, where={"device.channels": 3})


def test_names_that_are_not_there(results: Results) -> None:
    with pytest.raises(flashwatt.FlashwattError, match=r"x: .*did you mean `device\.channels`"):
        plot.versus(results, x="device.chanels", y=Y)
    with pytest.raises(flashwatt.FlashwattError, match=r"y: .*did you mean `latency_ns\.read\.p99_9`"):
        plot.versus(results, x="device.channels", y="latency_ns.read.p999")
    with pytest.raises(flashwatt.FlashwattError, match=r"by: unknown name; found `policy`"):
        plot.versus(results, x="device.channels", y=Y, by="policy")


def test_one_run_each_has_no_intervals(results: Results) -> None:
    first = results.frame().unique(["device.channels", "controller.policy"], keep="first", maintain_order=True)
    chart = plot.versus(first, x="device.channels", y=Y, by=["controller.policy"])
    assert chart.subtitle[0] == "One run for each point: there are no intervals."
    assert all(row["half"] is None for row in layers(chart)[1])


def test_axes_have_words_and_units() -> None:
    for key, values, title in (
        ("latency_ns.read.p99_9", [800_000.0], "read latency, p99.9 (µs)"),
        ("latency_ns.write.mean", [2e9], "write latency, mean (s)"),
        ("energy_j.nand.program", [0.02], "energy, NAND, program (mJ)"),
        ("efficiency.j_per_gb", [12.0], "energy per GB (J)"),
        ("throughput.write_mb_s", [12.0], "written (MB/s)"),
        ("flash.write_amplification", [3.0], "write amplification"),
        ("flash.programs.gc", [3.0], "programs, GC"),
        ("workload.uniform.request_bytes", [512, 65_536], "request size (KiB)"),
        ("device.logical_bytes", [1_000_000_000], "logical size (GB)"),
        ("write_buffer.bytes", [2**20], "write buffer size (MiB)"),
        ("controller.power_budget_ma", [45], "power budget (mA)"),
        ("device.op_ratio", [0.07], "over-provisioning"),
        ("gc.policy", [], "GC policy"),
    ):
        assert figure(key, values).title == title
    assert figure("latency_ns.read.p99_9", [800_000.0]).size == 1e3
    assert word("ftl.dftl.cmt_entries") == "CMT entries"


@pytest.mark.parametrize("width", [240, 300, 360])
def test_nothing_is_cut_off_in_a_column_of_a_paper(width: int) -> None:
    schedulers = ["none", "mq_deadline", "bfq", "kyber"] * 2
    drives = ["x25m"] * 4 + ["laptop-7200"] * 4
    frame = pl.DataFrame({"host.scheduler": schedulers, "device.preset": drives, "power_w.mean": [0.5] * 4 + [2.0] * 4})
    chart = plot.versus(frame, x="host.scheduler", y="power_w.mean", by="device.preset")
    svg = chart.restyle(width=width, title=None).svg()
    assert "laptop-7200" in svg
    assert outside(svg) == []


def legends(chart: Chart) -> str:
    """The texts of a picture without title and subtitle, as in a paper."""
    return chart.restyle(width=252, title=None).svg()


def short_of(quantile: str, counts: list[int]) -> pl.DataFrame:
    """Runs of three schedulers with these numbers of reads."""
    values = {"host.scheduler": ["none", "bfq", "kyber"], f"latency_ns.read.{quantile}": [1e6, 3e6, 4e7]}
    return pl.DataFrame({**values, "latency_ns.read.count": counts})


def test_doubted_figures_are_hollow_and_the_legend_says_so() -> None:
    chart = plot.versus(short_of("p99", [499, 500, 10_000]), "host.scheduler", "latency_ns.read.p99")
    drawn, rows = layers(chart)
    assert [row.get("doubt") for row in rows] == ["too short (‡)", None, None]  # five of 500 are beyond p99
    assert [one["mark"].get("fill") for one in drawn if one["mark"]["type"] == "bar"] == [None, "white"]
    assert chart.subtitle[1] == "Hollow: ‡ too few requests or runs to tell."
    assert "hollow: too short" in legends(chart)
    chart = plot.versus(short_of("p99", [500, 500, 500]), "host.scheduler", "latency_ns.read.p99")
    assert "hollow" not in legends(chart)
    assert len(chart.subtitle) == 1


def test_figures_that_are_not_steady_and_wide_intervals_are_hollow() -> None:
    grid: dict[str, list[Any]] = {"device.channels": [2, 8], "workload.uniform.read_fraction": [0.0]}
    results = flashwatt.sweep(grid, base=flashwatt.Config(CONFIG), seeds=2)
    frame = results.frame()
    doubts, y = results.doubts(), "flash.write_amplification"
    chart = plot.versus(results, "device.channels", y)
    want = [doubts(row, y) for row in frame.unique("device.channels", maintain_order=True).to_dicts()]
    assert [bool(row.get("doubt")) for row in layers(chart)[1]] == list(map(bool, want))
    wide = pl.DataFrame({"n": [1, 1, 2, 2], "seed": [1, 2, 1, 2], "power_w.mean": [1.0, 2.0, 2.2, 2.2]})
    rows = layers(plot.versus(wide, "n", "power_w.mean"))[1]
    assert [row.get("doubt") for row in rows] == ["too short (‡)", None]
    assert rows[0]["low"] == 0  # power is never below it
    assert rows[0]["cut"]


def test_where_takes_several_values(results: Results) -> None:
    for policies in (["in_order", "reads_first"], ("in_order",)):
        chart = plot.versus(results, "device.channels", Y, "controller.policy", where={"controller.policy": policies})
        assert list(dict.fromkeys(row["series"] for row in layers(chart)[1])) == list(policies)
    with pytest.raises(
        flashwatt.FlashwattError, match=r"no run with device.channels = 3; expected one of 2, 8, or a l"
    ):
        plot.versus(results, "device.channels", Y, "controller.policy", where={"device.channels": [2, 3]})
    with pytest.raises(
        flashwatt.FlashwattError, match=r"where: device.channels: found no value; expected some of 2, 8"
    ):
        plot.versus(results, "device.channels", Y, "controller.policy", where={"device.channels": []})


def test_names_have_points_on_a_logarithmic_axis() -> None:
    chart = plot.versus(short_of("p99", [500] * 3), "host.scheduler", "latency_ns.read.p99", log_y=True)
    assert "bar" not in [one["mark"]["type"] for one in layers(chart)[0]]


def theories(chart: Chart) -> list[dict[str, Any]]:
    """The points of theory in a chart."""
    return [row for rows in chart.spec()["datasets"].values() for row in rows if "theory" in row]


def test_theory_of_the_points_that_have_one() -> None:
    base = flashwatt.Config('[device]\npreset = "x25m"\nlogical_bytes = "100MiB"\n[workload.uniform]\nrequests = 10\n')
    grid = {"device.op_ratio": [0.25, 0.5], "gc.policy": ["greedy", "cost_benefit"]}
    results, y = flashwatt.sweep(grid, base=base), "flash.write_amplification"
    chart = plot.versus(results, "device.op_ratio", y, "gc.policy", theory=True)
    assert [(row["series"], row["x"]) for row in theories(chart)] == [("greedy", 0.25), ("greedy", 0.5)]
    assert chart.subtitle[-1] == "Dashed: theory; no closed form of cost_benefit."
    assert ">theory<" in legends(chart)
    bars = plot.versus(results, "gc.policy", y, "device.op_ratio", theory=True)
    assert "no closed form of 0.25 at cost_benefit, 0.5 at cost_benefit" in bars.subtitle[-1]
    assert ">theory<" in legends(bars)
    with pytest.raises(flashwatt.FlashwattError, match=r"theory: found gc\.policy cost_benefit"):
        plot.versus(results, "device.op_ratio", y, theory=True, where={"gc.policy": "cost_benefit"})
    with pytest.raises(flashwatt.FlashwattError, match=r"theory: found a frame.*expected the Results of a sweep"):
        plot.versus(results.frame(), "device.op_ratio", y, "gc.policy", theory=True)


def test_theory_at_the_points_alone(results: Results) -> None:
    chosen = {"controller.policy": "in_order"}
    chart = plot.versus(results, "device.channels", Y, where=chosen, theory={8: 1e6, 2: 3e6})
    assert [(row["x"], row["theory"]) for row in theories(chart)] == [(2, 3), (8, 1)]
    chart = plot.versus(results, "device.channels", Y, where=chosen, theory=lambda channels: 6e6 / channels)
    assert len(theories(chart)) > 50
    one = {"device.channels": 2}
    with pytest.raises(
        flashwatt.FlashwattError, match=r"found 'in_ordr' as a value of controller.policy; expected some"
    ):
        plot.versus(results, "controller.policy", Y, where=one, theory={"in_ordr": 1e6})
    with pytest.raises(flashwatt.FlashwattError, match=r"theory: found nan at 2; expected a finite number"):
        plot.versus(results, "device.channels", Y, where=chosen, theory={2: float("nan")})


def test_greys_leave_the_symbols_of_the_legend_whole(results: Results) -> None:
    chart = plot.versus(results, "device.channels", Y, "controller.policy", palette="grey")
    drawn = layers(chart)[0]
    assert [one["mark"].get("strokeDash") for one in drawn if one["mark"]["type"] == "line"] == [[1, 0], [6, 3]]
    assert not any("strokeDash" in one["encoding"] for one in drawn)
