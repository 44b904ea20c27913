"""The bar that `progress=True` asks for, in a notebook and elsewhere."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import flashwatt
from flashwatt.base import asked
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
