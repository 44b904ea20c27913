"""Mistakes in a script: what the message says is wrong, in words that a script has, and what it offers instead."""

from __future__ import annotations

import inspect
import json
import pickle
import re
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt
from flashwatt import plot

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashwatt import Report, Results

    Mistake = Callable[[Report, Results], object]

CONFIG = '[device]\npreset = "park-1g"\n[workload.uniform]\nrequests = 50\n'
GRID = {"device.timing.read_ns": [30_000, 60_000]}


@pytest.fixture(scope="module")
def report() -> Report:
    return flashwatt.run(device__preset="park-1g", workload__uniform__requests=50, series=True)


@pytest.fixture(scope="module")
def results() -> Results:
    return flashwatt.sweep(GRID, base={"device.preset": "park-1g", "workload.uniform.requests": 50}, workers=1)


def without_log(report: Report) -> object:
    kept = flashwatt.run(report.to_config(), op_log="z.csv")
    Path("z.csv").unlink()
    return kept.op_log()


MISTAKES: dict[str, tuple[Mistake, tuple[str, ...]]] = {
    "a path for a report": (
        lambda _r, _s: plot.power("good"),  # type: ignore[arg-type]
        ("reports: found 'good'; expected a Report, or a dictionary", "flashwatt.Report.read(path)"),
    ),
    "a sweep for a report": (
        lambda _r, s: plot.energy(s),  # type: ignore[arg-type]
        ("reports: found <Results: 2 runs", "expected a Report"),
    ),
    "paths by names": (
        lambda _r, _s: plot.latency({"a": "good"}),  # type: ignore[dict-item]
        ("reports: a: found 'good'; expected a Report",),
    ),
    "a report for a sweep": (
        lambda r, _s: plot.versus(r, "device.ways", "throughput.iops"),  # type: ignore[arg-type]
        ("results: found <Report:", "expected the Results of a sweep, or a frame"),
    ),
    "the tradeoff of a report": (
        lambda r, _s: plot.tradeoff(r),  # type: ignore[arg-type]
        ("results: found <Report:", "expected the Results of a sweep"),
    ),
    "a figure by its last part": (
        lambda _r, s: plot.versus(s, "device.timing.read_ns", "iops"),
        ("y: unknown name; found `iops`", "did you mean `throughput.iops`?"),
    ),
    "a key by its last part": (
        lambda _r, s: plot.versus(s, "read_ns", "throughput.iops"),
        ("did you mean `device.timing.read_ns`?",),
    ),
    "one name for several": (
        lambda _r, s: s.summary("throughput.iops"),
        ("metrics: found 'throughput.iops'; expected a list of names: ['throughput.iops']",),
    ),
    "a kind of latency": (
        lambda r, _s: plot.latency(r, ["raed"]),
        ("kinds: unknown name; found `raed`", "did you mean `read`?"),
    ),
    "a value for a baseline": (
        lambda _r, s: s.differences(60_000),  # type: ignore[arg-type]
        ("baseline: found 60000; expected a dictionary of keys of the grid",),
    ),
    "one chart for several": (
        lambda r, _s: plot.write_page("p.html", "t", plot.power(r)),  # type: ignore[arg-type]
        ("charts: found one Chart; expected a list: [chart]",),
    ),
    "a log that is gone": (lambda r, _s: without_log(r), ("z.csv: the operation log of the run is gone",)),
    "a path for a repriced report": (
        lambda _r, _s: flashwatt.reprice("good", "[energy]"),
        ("report: found 'good'; expected a Report", "flashwatt.Report.read(path)"),
    ),
    "a number for prices": (
        lambda r, _s: flashwatt.reprice(r, 3),  # type: ignore[arg-type]
        ("table: found 3; expected a dictionary, or the text of TOML",),
    ),
    "a preset for a configuration": (
        lambda _r, _s: flashwatt.run("x25m"),
        ("x25m: no such file", '{"device.preset": "x25m"} is a configuration with it'),
    ),
    "a key by its last part in run": (
        lambda _r, _s: flashwatt.run(channels=4),
        ("run: unknown name; found `channels`", "did you mean `device__channels`?"),
    ),
    "requests of run": (lambda _r, _s: flashwatt.run(requests=4), ("`run__measure__requests`",)),
    "an option of run for a drive": (
        lambda _r, _s: flashwatt.Drive(series=True),
        ("Drive: unknown name; found `series`; expected one of `seed`",),
    ),
    "underscores for dots in a grid": (
        lambda _r, _s: flashwatt.sweep({"device__channels": [4]}),
        ("grid.device__channels: unknown key", "did you mean `device.channels`?"),
    ),
    "a sweep for one report": (
        lambda _r, _s: flashwatt.Results.read("good"),
        ("good: the report of one run, not results of a sweep", "flashwatt sweep --out"),
    ),
    "no directory of a sweep": (lambda _r, _s: flashwatt.Results.read("gooda"), ("no such file; did you mean good?",)),
    "a report of another version": (
        lambda _r, _s: flashwatt.Report.read("old.json"),
        ("schema: a report of another version; found 99; expected 1 to 3", "run its configuration again"),
    ),
    "JSON that is no report": (
        lambda _r, _s: flashwatt.Report.read("other.json"),
        ("other.json: not a report; found no `schema`; expected a report.json",),
    ),
    "another file for a report": (
        lambda r, _s: r.write("good.toml"),
        ("good.toml: cannot be written; found a file that is not a report", "(force=True replaces it)"),
    ),
    "another file for a picture": (lambda r, _s: plot.power(r).save("keep.svg"), ("(force=True replaces it)",)),
    "another file for a page": (
        lambda r, _s: plot.write_page("keep.html", "t", [plot.power(r)]),
        ("(force=True replaces it)",),
    ),
    "another file for a log": (lambda _r, _s: flashwatt.run("good.toml", op_log="keep.csv"), ("(force=True replaces",)),
    "a trace beyond the drive": (
        lambda _r, _s: flashwatt.run("good.toml", workload__trace__path="beyond.csv"),
        ("requests reach beyond the drive", "(workload.trace.fold = true takes addresses modulo the drive's size"),
    ),
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, report: Report) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.toml").write_text(CONFIG)
    Path("good").mkdir()
    report.write("good/report.json")
    Path("old.json").write_text(json.dumps(report.to_dict() | {"schema": 99}))
    Path("other.json").write_text("{}")
    Path("beyond.csv").write_text("time_us,device,op,offset,bytes\n0,0,W,4000000000,4096\n")
    for name in ("keep.svg", "keep.html", "keep.csv"):
        Path(name).write_text("mine")


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_named(name: str, report: Report, results: Results) -> None:
    mistake, words = MISTAKES[name]
    with pytest.raises(flashwatt.FlashwattError) as caught:
        mistake(report, results)
    for word in words:
        assert word in str(caught.value)
    assert not re.search("--(force|fold|clip)", str(caught.value)), "options are the command line's"
    assert caught.value.__suppress_context__ or caught.value.__context__ is None, "one exception, not two"


def test_prices_are_a_dictionary_or_toml(report: Report) -> None:
    prices: dict[str, Any] = {"energy": {"nand": {"program_ma": 1}}}
    dotted = flashwatt.reprice(report, {"energy.nand.program_ma": 1})
    assert flashwatt.reprice(report, prices).to_dict() == dotted.to_dict()
    assert flashwatt.reprice(report, "[energy.nand]\nprogram_ma = 1").to_dict() == dotted.to_dict()
    assert dotted.energy_j.total < report.energy_j.total


def test_per_cents_for_shares_are_warned_of_before_the_first_run(tmp_path: Path) -> None:
    """In a grid and in its base, in a file and in a script; a share is not."""
    study = tmp_path / "percent.toml"
    study.write_text(
        "[base]\ndevice.preset = 'park-1g'\n[grid]\ngc.policy = ['greedy']\ndevice.op_ratio = [10, 0.2, 30]\n"
    )
    (said,) = flashwatt.Study.read(study).suspicions()
    expected = "grid.device.op_ratio: found 10, 30: the flash would be 31 times what the host sees; expected shares"
    assert said.startswith(f"{study}:5: {expected}")
    nested = flashwatt.Study.of({"device": [{"op_ratio": 7}, {"op_ratio": 0.1}]}, base={"device.op_ratio": 28})
    assert [one.split(":")[0] for one in nested.suspicions()] == ["base.device.op_ratio", "grid.device.op_ratio"]
    base = {"device.preset": "park-1g", "device.logical_bytes": 64 << 20, "workload.uniform.requests": 1}
    with pytest.warns(UserWarning, match=r"grid\.device\.op_ratio: found 6"):
        flashwatt.sweep({"device.op_ratio": [6]}, base=base, workers=1)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: flashwatt.run(device__preset="x25mm"),
        lambda: flashwatt.sweep({"device.preset": ["x25mm"]}),
        lambda: flashwatt.compare([]),
        lambda: plot.power("good"),  # type: ignore[arg-type]
        lambda: flashwatt.resolve({"device.preset": "x25mm"}),
    ],
)
def test_a_traceback_ends_at_the_call(wrong: Callable[[], object]) -> None:
    """The frames: this test, the lambda, and one of the package, which hides itself in notebooks."""
    with pytest.raises(flashwatt.FlashwattError) as caught:
        wrong()
    frames = traceback.extract_tb(caught.tb)
    assert len(frames) == 3
    assert inspect.signature(flashwatt.run).parameters["seed"]
    assert pickle.loads(pickle.dumps(flashwatt.run)) is flashwatt.run  # for pools of processes
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
