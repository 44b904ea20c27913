"""The page for the terminal and its numbers."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import pytest
from rich.console import Console
from rich.progress import Progress, ProgressColumn

from flashwatt.base.progress import left
from flashwatt.base.units import count, duration, number, percent, prefix, si
from flashwatt.report import table
from flashwatt.report.html import card

if TYPE_CHECKING:
    from flashwatt.base.files import Json


def page(report: Json, width: int = 100) -> str:
    """Print a report to a string."""
    stream = io.StringIO()
    table.show(report, Console(file=stream, width=width))
    return stream.getvalue()


def test_energy_shares_add_up(report: Json) -> None:
    text = page(report)
    shares = [float(word) for line in text.splitlines() for word in _shares(line)]
    components = shares[0::2][:6] + shares[12:]
    assert len(components) == 10
    assert sum(components) == pytest.approx(100, abs=0.6)


def _shares(line: str) -> list[str]:
    words = line.split()
    return [words[i - 1] for i, word in enumerate(words) if word == "%"]


def test_warnings_and_a_bad_end_are_shown(report: Json) -> None:
    report["status"] = "failed: [bold]no page left[/bold]"
    report["warnings"] = ["[red]12 requests were folded"]
    text = page(report)
    assert "failed: [bold]no page left[/bold]" in text
    assert "[red]12 requests were folded" in text


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_width_is_served(report: Json, width: int) -> None:
    text = page(report, width)
    assert "Energy by cause" in text
    assert max(map(len, text.splitlines())) <= max(width, 80)


def test_a_long_idle_run_shows_every_energy(report: Json) -> None:
    report["energy_j"] |= {"total": 9650.0}
    report["energy_j"]["nand"] |= {"idle": 9640.0, "program": 1.26e-3, "read": 3.0e-5}
    report["efficiency"]["mb_per_j"] = 8.5e-6
    report["throughput"] |= {"iops": 0.002, "read_mb_s": 1.2e-06}
    text = page(report)
    for words in ("9.65 kJ", "1.26 mJ", "30.0 µJ", "8.5e-06 MB/J", "0.002 IOPS", "1.2e-06"):
        assert words in text
    assert not re.search(r"\b0\.00 ", text)


def test_rounding_errors_count_as_zero(report: Json) -> None:
    report["energy_by_cause_j"]["shared"] = -1.8e-15
    text = page(report)
    assert re.search(r"shared +0 J +0\.0 %", text)
    assert "-0" not in text
    assert "shared" not in card(report)


def test_names_do_not_act_on_the_terminal(report: Json) -> None:
    report["workload"]["name"] = "e\x1b[31m\x7f\u202e.csv"
    report["warnings"] = ["\x1b]0;title\x07"]
    text = page(report)
    assert "e␛[31m␡�.csv" in text
    assert not set(text) & set("\x1b\x7f\u202e\x07")


def test_missing_figures_are_dashes(report: Json) -> None:
    report["power_w"] = {"mean": 1.0, "peak": None, "max_100us": None, "max_1s": None}
    report["parallelism"] = None
    report["efficiency"] = {"mb_per_j": None, "j_per_gb": None, "iops_per_w": None}
    assert "–" in page(report)


def test_a_run_of_nothing_is_shown(report: Json) -> None:
    for kind in ("all", "read", "write"):
        report["latency_ns"][kind] = {"count": 0, "mean": None, "p50": None}
    report["energy_j"]["total"] = 0.0
    report["series"]["power_w"] = {name: [] for name in report["series"]["power_w"]}
    assert "Energy" in page(report)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 W"),
        (1e-9, "1.00 nW"),
        (999.94, "1.00 kW"),
        (0.00123, "1.23 mW"),
        (1e5, "100 kW"),
        (-5, "-5.00 W"),
        (None, "–"),
    ],
)
def test_three_digits_and_a_prefix(value: float | None, text: str) -> None:
    assert si(value, "W") == text


def test_times_from_nanoseconds_to_days() -> None:
    times = [1e3, 8e6, 119e9, 121e9, 8e12, 1e16]
    assert [duration(t) for t in times] == ["1.00 µs", "8.00 ms", "119 s", "2.0 min", "2.2 h", "115.7 d"]
    assert duration(8e6, exact=True) == "8 ms"


def test_shares_and_columns() -> None:
    assert percent(0.1234) == "12.3 %"
    assert percent(None) == "–"
    assert percent(-1e-18) == "0.0 %"
    assert percent(-0.1) == "-10.0 %"
    assert [number(one, 1) for one in (0.0, -0.0, 12.34, 0.04, -0.04, 4e-7)] == [
        "0.0",
        "0.0",
        "12.3",
        "0.04",
        "-0.04",
        "4e-07",
    ]
    assert [count(one) for one in (0, -0.0, 1234, 0.4, 0.0021)] == ["0", "0", "1,234", "0.4", "0.0021"]
    assert prefix(0.7) == (1e-3, "m")
    assert prefix(0) == (1.0, "")


def test_a_long_preparation_and_edges_are_told(report: Json) -> None:
    assert "of preparation" not in page(report)
    report["engine"] = {"prepare_wall_s": 12.3, "wall_s": 1.0, "requests_per_cpu_s": 1e6}
    report["edges"] = {"from_ns": 0, "until_ns": 9000, "time_ns": [0, 2000], "total_ma": [190.0, 207.0]}
    text = page(report)
    assert "after 12.3 s of preparation" in text
    assert "2 from 0 s until 9.00 µs, highest 207 mA at 2.00 µs" in text


def test_write_amplification_is_taken_apart_where_collection_is_not_all_of_it(report: Json) -> None:
    assert "rmw" not in page(report)
    report["flash"] |= {"write_amplification": 8.57, "rmw_factor": 8.0, "gc_factor": 1.07125}
    assert "= rmw × gc" in page(report)
    assert "8.000 × 1.071" in page(report)
    report["flash"] |= {"rmw_factor": 2.0, "buffer_factor": 0.5}
    assert "= rmw × buffer × gc" in page(report)
    assert "2.000 × 0.500 × 1.071" in page(report)


def test_a_peak_current_says_at_which_voltage(report: Json) -> None:
    assert "682 mA at 5 V" in page(report)


@pytest.mark.parametrize(
    ("counted", "said"), [(False, "which are not in the figures"), (True, "which are in the figures")]
)
def test_the_drain_is_reported(report: Json, counted: bool, said: str) -> None:
    report["window"] |= {"drain_s": 0.25, "drain_energy_j": 3.5, "drain_counted": counted}
    assert f"took 250 ms and 3.50 J, {said}" in page(report)


def test_the_remaining_time_is_shown_once_it_is_known() -> None:
    with Progress(left(), console=Console(file=io.StringIO())) as progress:
        (column,) = progress.columns
        progress.add_task("", total=None)
        (task,) = progress.tasks
        assert isinstance(column, ProgressColumn)
        assert column.render(task).plain == ""
        progress.update(task.id, total=100)
        assert column.render(task).plain == ""
        for done in (10, 20):
            progress.update(task.id, completed=done)
        assert column.render(task).plain.endswith(" left")
        progress.update(task.id, completed=100)
        assert column.render(task).plain == ""
