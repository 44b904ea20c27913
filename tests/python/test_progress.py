"""The bar that `progress=True` asks for, in a notebook and elsewhere."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import flashwatt
from flashwatt.base import asked, progress
from flashwatt.base.asked import in_notebook, run_progress

RUN = {"workload.uniform.requests": 2_000_000}
"""It takes longer than 0.1 s, after which progress is called for the first time."""
SWEEP: dict[str, Any] = {"base": {"workload.uniform.requests": 50}, "workers": 1}


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stand in for a notebook's kernel; give all that is shown below its cell."""
    lines: list[str] = []

    def display(first: str, *, display_id: bool) -> SimpleNamespace:
        assert display_id
        lines.append(first)
        return SimpleNamespace(update=lines.append)

    page, package = ModuleType("IPython.display"), ModuleType("IPython")
    page.HTML, page.display = str, display  # type: ignore[attr-defined]
    package.display = page  # type: ignore[attr-defined]
    package.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", page)
    monkeypatch.setattr(asked, "time", SimpleNamespace(monotonic=lambda: 0.0))  # no time passes: none is estimated
    return lines


def test_a_run_in_a_notebook(shown: list[str]) -> None:
    assert in_notebook()
    report = flashwatt.run(RUN, progress=True)
    assert report.status == "complete"
    assert any(line.startswith("<progress") and " of 2,000,000 requests" in line for line in shown)
    assert shown[-1] == "", "it goes when the run has ended"
    same = {key: value for key, value in flashwatt.run(RUN).to_dict().items() if key != "engine"}
    assert {key: value for key, value in report.to_dict().items() if key != "engine"} == same


def test_a_sweep_in_a_notebook(shown: list[str]) -> None:
    flashwatt.sweep({"device.ways": [1, 2]}, progress=True, **SWEEP)
    said = [line.partition("</progress> ")[2] for line in shown[1:-1]]
    assert said == ["Sweeping: 0 of 2 runs", "Sweeping: 1 of 2 runs", "Sweeping: 2 of 2 runs"]
    assert 'value="1" max="2"' in shown[2]
    assert shown[-1] == ""


def test_the_bar_goes_after_an_error(shown: list[str]) -> None:
    with pytest.raises(flashwatt.FlashwattError):
        flashwatt.run(device__ways=-1, progress=True)
    assert shown[-1:] in ([], [""])

    def fail() -> None:
        with run_progress(asked=True) as show:
            show(1, None, 0, "reading <the> trace")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert shown[-2] == "<progress></progress> Reading &lt;the&gt; trace: 1 requests"
    assert shown[-1] == ""


def test_the_time_left_is_that_of_the_phase(shown: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 3.0, 100.0, 110.0])
    monkeypatch.setattr(asked, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with run_progress(asked=True) as show:
        show(0, 100, 0, "laying down the start state")
        show(50, 100, 0, "laying down the start state")
        show(20, 100, 0, None)
        show(40, 100, 2_000_000_000, None)
    assert shown[2].endswith("Laying down the start state: 50 of 100 requests, 3.00 s left")
    assert shown[4].endswith("Simulating: 40 of 100 requests, 2.00 s simulated, 30.0 s left")


def test_elsewhere_nothing_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert not in_notebook()
    flashwatt.run(RUN, progress=True)
    flashwatt.sweep({"device.ways": [1]}, progress=True, **SWEEP)
    assert capfd.readouterr() == ("", "")
    seen: list[int] = []
    flashwatt.run(RUN, progress=lambda done, *_: seen.append(done))
    assert seen
    flashwatt.run(RUN, progress=False)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that progress sees, to be set by a test."""
    now_s = [0.0]
    monkeypatch.setattr("flashwatt.base.progress.monotonic", lambda: now_s[0])
    return now_s


def test_without_a_terminal_runs_are_counted_once_a_minute(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.runs_bar("Sweeping", counted=True) as show:
        for done in range(14):
            clock[0] = 10.0 * done
            show(done, 1_200)
    assert capsys.readouterr().err.splitlines() == [
        "flashwatt: sweeping: 6 of 1,200 runs, about 3.3 h left",
        "flashwatt: sweeping: 12 of 1,200 runs, about 3.3 h left",
    ]


def test_without_a_terminal_each_part_has_a_speed_of_its_own(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.bar("Cutting", "cuts") as show:
        show(0, 1_000, 0, "filling")
        clock[0] = 59
        show(900, 1_000, 0, "filling")
        show(0, 60, 0, None)
        clock[0] = 89
        show(30, 60, 0, None)
        show(31, 60, 0, None)
    assert capsys.readouterr().err.splitlines() == ["flashwatt: cutting: 30 of 60 cuts, about 30.0 s left"]


def test_work_without_a_total_is_counted_too(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with progress.counting_bar("Calibrating") as show:
        clock[0] = 61
        show("fitting", 1_234)
    with progress.runs_bar("Reproducing", counted=False) as share:
        clock[0] = 130
        share(1, 4)
    with progress.bar(hidden=True) as hidden:
        clock[0] = 500
        hidden(1, 2, 0, None)
    said = ["flashwatt: calibrating: fitting: 1,234 runs", "flashwatt: reproducing: 25 of 100 %"]
    assert capsys.readouterr().err.splitlines() == said
