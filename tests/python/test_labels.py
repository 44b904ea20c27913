"""What a table or a figure for a paper is made of: the digits of an interval, names in words, labels of a user."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

import flashwatt
from flashwatt import plot
from flashwatt.base.digits import changes, rounded
from flashwatt.base.labels import Labels
from flashwatt.report import latex
from flashwatt.report.axes import heads
from flashwatt.report.metrics import metric_of, with_interval
from flashwatt.sweeps.summary import show_summary

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

WA = "flash.write_amplification"
DRIVE = {"preset": "x25m", "channels": 2, "ways": 1, "logical_bytes": 200 << 20, "op_ratio": 0.08}
BASE = {"device": DRIVE, "workload": {"uniform": {"requests": 100}}}
LABELS: dict[str, Any] = {
    "gc.policy": "Collector",
    "greedy": "Greedy",
    "write_buffer.bytes": {0: "none", 1 << 20: "one"},
    WA: "WA",
}


@pytest.fixture(scope="module")
def results() -> flashwatt.Results:
    """Sweep over policies and two sizes of the write buffer."""
    grid = {"gc.policy": ["greedy", "fifo"], "write_buffer.bytes": [0, 1 << 20]}
    return flashwatt.sweep(grid, base=BASE, seeds=2, workers=1)


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (4.96408, 0.02436, "4.96 ± 0.02"),
        (8.363, 0.1251, "8.36 ± 0.13"),  # a half that begins with 1 has two digits
        (1.0, 0.0996, "1.00 ± 0.10"),
        (2.0, 0.196, "2.0 ± 0.2"),
        (11_040.3, 77, "11,040 ± 80"),
        (123.4, 26, "120 ± 30"),
        (0.0001, 0.02, "0.00 ± 0.02"),
        (2.6531234, 2e-9, "2.6531 ± 0.0001"),
        (2.58, 0, "2.58 ± 0"),
    ],
)
def test_a_mean_ends_where_its_interval_does(value: float, half: float, text: str) -> None:
    assert " ± ".join(str(one) for one in rounded(value, half, grouped=True)) == text
    assert latex.numbers(metric_of(WA), [value], [half])[1] == [f"${text}$".replace("±", r"\pm").replace(",", "")]


def test_each_cell_has_digits_of_its_own() -> None:
    cells = latex.numbers(metric_of(WA), [4.96408, 8.36], [0.02436, 0.5])[1]
    assert cells == [r"$4.96 \pm 0.02$", r"$8.4 \pm 0.5$"]
    assert with_interval(metric_of("latency_ns.read.p99"), 2_763_000, 494_000) == "2.8 ± 0.5 ms"
    assert with_interval(metric_of("throughput.iops"), 1_234_567, 9_800) == "1,235,000 ± 10,000 IOPS"


def test_bounds_of_a_change_do_not_round_to_zero() -> None:
    assert changes(1.2588, 1.037, 1.53) == ("+26", ["+4", "+53"])
    assert changes(0.9999, 0.9998, 1.0) == ("0.0", ["0.0", "0.0"])
    assert changes(1.5) == ("+50.0", [])


def test_heads_are_words_and_units(results: flashwatt.Results) -> None:
    lines = results.to_latex([WA, "flash.programs.total"]).splitlines()
    assert lines[4] == r"GC policy & write buffer size (MiB) & write amplification & programs, total \\"
    assert lines[7].startswith("greedy & 1 &")


def test_labels_of_keys_figures_and_values(results: flashwatt.Results) -> None:
    lines = results.to_latex([WA], labels=LABELS).splitlines()
    assert lines[4] == r"Collector & write buffer size (MiB) & WA \\"
    assert lines[6].startswith("Greedy & none &")
    assert lines[9].startswith("fifo & one &")
    stream = io.StringIO()
    show_summary(results, Console(file=stream, width=100), [WA, "energy_j.total"], labels=Labels(LABELS))
    assert stream.getvalue().split()[:5] == ["Collector", "write", "buffer", "size", "(MiB)"]
    chart = plot.versus(results, x="gc.policy", y="energy_j.total", by="write_buffer.bytes", labels=LABELS)
    (rows,) = chart.spec()["datasets"].values()
    assert {(row["x"], row["series"]) for row in rows} == {(x, y) for x in ("Greedy", "fifo") for y in ("none", "one")}
    assert chart.title == "Energy against Collector"
    energy = {"energy_j.total": "Energy of all parts"}
    renamed = plot.versus(results, x="gc.policy", y="energy_j.total", by="write_buffer.bytes", labels=energy).spec()
    assert renamed["layer"][0]["encoding"]["y"]["title"] == "Energy of all parts (mJ)"
    drawn = str(plot.tradeoff(results, "throughput.iops", "energy_j.total", labels=LABELS).spec())
    assert all(word in drawn for word in ("Collector", "'Greedy'", "'none'"))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"gc.polcy": "Policy"}, r"labels: unknown name; found `gc.polcy`.*did you mean `gc.policy`"),
        ({"greedy": "one", "fifo": "one"}, r"labels: gc.policy: `greedy` and `fifo` are both called 'one'"),
        ({"greedy": ""}, r"labels: greedy: found ''; expected a text that is not empty"),
        ({"greedy": 3}, r"labels: greedy: found 3; expected a text"),
        (["greedy"], r"labels: found \['greedy'\]; expected a dictionary"),
        ({"write_buffer.bytes": {7: "seven"}}, r"labels: unknown name; found `write_buffer.bytes.7`"),
    ],
)
def test_labels_of_nothing(results: flashwatt.Results, labels: Any, message: str) -> None:
    with pytest.raises(flashwatt.FlashwattError, match=message):
        results.to_latex(labels=labels)


def test_labels_of_a_study_and_of_the_command(flashwatt: Cli, tmp_path: Path) -> None:
    study = (
        '[grid]\ngc.policy = ["greedy", { d_choices = { d = 3 } }]\n[labels]\ngc.policy = "Collector"\n'
        '"d_choices (d 3)" = "best of three"\n[base]\nworkload.uniform.requests = 100\n'
        "device = { preset = 'x25m', channels = 2, ways = 1, logical_bytes = '200MB' }\n"
    )
    (tmp_path / "study.toml").write_text(study)
    said = ("sweep", "study.toml", "--out", "out", "--format", "latex", "--metrics", WA)
    done = flashwatt(*said, "--label", "greedy=Greedy", "--label", f"{WA}=WA")
    assert done.returncode == 0, done.stderr
    assert [line.split(" & ")[0] for line in done.stdout.splitlines()[4:8:1]] == [
        "Collector",
        r"\midrule",
        "Greedy",
        "best of three",
    ]
    wrong = flashwatt(*said, "--label", "greddy=Greedy")
    assert wrong.returncode == 2
    assert "--label: unknown name; found `greddy`" in wrong.stderr
    (tmp_path / "study.toml").write_text(study.replace('"Collector"', "3"))
    wrong = flashwatt(*said)
    assert "labels: gc.policy: found 3; expected a text that is not empty" in wrong.stderr


def test_a_narrow_figure_is_no_text(results: flashwatt.Results) -> None:
    chart = plot.versus(results, x="gc.policy", y="energy_j.total", by="write_buffer.bytes", labels=LABELS)
    assert chart.spec()["title"]["subtitle"]
    assert chart.restyle(width=252).spec()["title"]["subtitle"] == []


def test_a_notebook_shows_what_differs(results: flashwatt.Results) -> None:
    page = results._repr_html_()
    heads = re.findall("<th>(.*?)</th>", page)
    assert heads[:2] == ["policy", "write buffer size (MiB)"]
    assert len(heads) < 12
    assert page.count("<tr>") == 5
    assert "means over 2 seeds" in page


def test_a_third_key_stands_beside_the_points(results: flashwatt.Results) -> None:
    grid = {"gc.policy": ["greedy", "fifo"], "write_buffer.bytes": [0, 1 << 20], "device.ways": [1, 2]}
    three = flashwatt.sweep(grid, base=BASE, workers=1)
    labels = {"device.ways.1": "one way"}
    chart = plot.tradeoff(three, "throughput.iops", "energy_j.total", labels=labels)
    assert "Beside the points: ways." in chart.subtitle
    rows = [row for part in chart.spec()["datasets"].values() for row in part]
    assert {row.get("beside") for row in rows} >= {"one way", "2"}
    two = plot.tradeoff(results, "throughput.iops", "energy_j.total").spec()
    assert {row.get("beside") for part in two["datasets"].values() for row in part} <= {"", None}


def test_figures_of_a_trace_that_hardly_differ_come_last() -> None:
    """An open trace has the rate of its arrivals on every drive."""
    load = {"uniform": {"requests": 100, "rate_per_s": 100, "gaps": "constant"}}
    swept = flashwatt.sweep({"device.ways": [1, 2]}, base={"device": DRIVE, "workload": load}, seeds=2, workers=1)
    stream = io.StringIO()
    show_summary(swept, Console(file=stream, width=80))
    head = stream.getvalue().splitlines()[1]
    assert "energy" in head
    assert "throughput" not in head.partition("energy")[0]


def test_two_figures_never_share_a_head(results: flashwatt.Results) -> None:
    assert heads(["host.read.dispatched_bytes_mean", "host.write.dispatched_bytes_mean"]) == [
        "read, mean dispatched size",
        "write, mean dispatched size",
    ]
    twice = heads(["files.written_bytes", "recovery.written_bytes"])
    assert twice == ["files.written_bytes", "recovery.written_bytes"]
    assert heads(["energy_j.nand.total", "energy_j.nand.idle"]) == ["energy of NAND", "energy, NAND, idle"]
    assert results.to_latex([WA]).splitlines()[4].endswith(r"write amplification \\")
