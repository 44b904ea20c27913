"""`flashwatt calibrate`: the parameters that made a table are found, and what a table does not determine is named."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tomli

import flashwatt as fw
from calibrating import RANGES, SMALL, TRUTH, at, repeated, table
from flashwatt import CalibrationInterruptedError, FlashwattError
from flashwatt.base.missing import check_library

np = pytest.importorskip("numpy", reason="no SciPy for this version of Python")
pytest.importorskip("scipy", reason="no SciPy for this version of Python")

from flashwatt.calibration.bench import Bench  # noqa: E402
from flashwatt.calibration.choices import choices  # noqa: E402
from flashwatt.calibration.identify import identified  # noqa: E402
from flashwatt.calibration.space import Space  # noqa: E402
from flashwatt.calibration.table import Table  # noqa: E402
from flashwatt.sweeps.journal import Journal  # noqa: E402
from flashwatt.sweeps.workers import Local, Threads  # noqa: E402

if TYPE_CHECKING:
    from conftest import Cli

X25M = Path(__file__).parents[2] / "examples/calibrate/x25m.toml"
SEEDS = range(1, 21) if "FLASHWATT_SOAK" in os.environ else range(1, 2)
NEAR = 0.03
LITTLE = X25M.read_text().replace("[overrides]", "[overrides]\ndevice.logical_bytes = 1_000_000_000")
"""The energy of one write does not depend on the size of the drive, but the time to lay it out does."""
GOOD = """\
noise_fraction = 0.02

[overrides]
device.logical_bytes = 1_000_000_000
workload.uniform.requests = 100

[free]
device.timing.read_ns = { min = 20_000, max = 200_000 }
energy.nand.read_ma = { min = 5, max = 60, scale = "log", start = 10 }

[[rows]]
name = "one by one"
overrides.workload.uniform = { read_fraction = 1.0, queue_depth = 1 }
measured = { latency_ns.read.mean = 2e5, power_w.mean = { value = 0.8, noise_absolute = 0.02 } }

[[rows]]
name = "many"
overrides.workload.uniform = { read_fraction = 1.0, queue_depth = 16 }
measured.throughput.read_mb_s = 180
"""


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """A small table that can be fitted."""
    return written(tmp_path, GOOD)


def written(directory: Path, text: str) -> Path:
    path = directory / "table.toml"
    path.write_text(text)
    return path


def bench_of(path: Path, preset: str = "x25m") -> Bench:
    return Bench(Table.read(path), preset, Journal(), Threads(1))


# ---------------------------------------------------------------- what it finds


@pytest.mark.parametrize("seed", SEEDS)
def test_the_parameters_that_made_a_table_are_found(seed: int, tmp_path: Path) -> None:
    """Each run is measured four times, every figure with noise of 1 %. The table determines all five parameters."""
    found = fw.calibrate("x25m", written(tmp_path, table(seed=seed, measured=repeated(4))), starts=2)
    assert found.identifiable
    assert 0.8 < found.rms_noises < 1.2
    for one in found.parameters:
        assert one.value == pytest.approx(TRUTH[one.key], rel=NEAR), f"seed {seed}, {one}"
        assert one.standard_error is not None
        assert abs(one.value - TRUTH[one.key]) < 4 * one.standard_error


def test_without_noise_they_are_found_to_their_last_digits(tmp_path: Path) -> None:
    found = fw.calibrate("x25m", written(tmp_path, table(noise=0.0)), starts=1)
    assert found.values == pytest.approx(TRUTH, rel=2e-4)
    assert found.rms_noises < 0.01


def test_an_executor_runs_what_threads_run(tmp_path: Path) -> None:
    lines = []
    for executor in (Threads(2), Local(2)):
        whole = bench_of(written(tmp_path, table(noise=0.0)))
        whole.executor = executor
        whole.begin()
        lines.append({name: whole.journal.line(name) for name in whole.journal.ids})
    assert lines[0] == lines[1]
    assert lines[0]
    with pytest.raises(FlashwattError, match="executor: unknown name; found `desk`"):
        fw.calibrate("x25m", written(tmp_path, table(noise=0.0)), executor="desk")


def test_parameters_that_cannot_be_told_apart_are_named(tmp_path: Path, flashwatt: Cli) -> None:
    """Controller and DRAM of this preset are active at the same times: only the sum of their currents shows."""
    key = "energy.controller.active_ma"
    free = {**RANGES, key: (10, 100)}
    path = written(tmp_path, table(truth={**TRUTH, key: 40.0}, free=free, measured=repeated(4)))
    done = flashwatt("calibrate", "x25m", path, "--starts", 2, "--out", "o", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["identifiable"] is False
    assert found["not_determined"] == [[key, "energy.dram.active_ma"]]
    by_key = {one["key"]: one for one in found["parameters"]}
    assert by_key[key]["not_apart_from"] == ["energy.dram.active_ma"]
    total = by_key[key]["value"] + by_key["energy.dram.active_ma"]["value"]
    assert total == pytest.approx(40 + TRUTH["energy.dram.active_ma"], rel=NEAR)
    for one in set(TRUTH) - {"energy.dram.active_ma"}:
        assert by_key[one]["determined"]
        assert by_key[one]["value"] == pytest.approx(TRUTH[one], rel=NEAR)
    shown = flashwatt("calibrate", "x25m", path, "--starts", 2, "--out", "o").stdout  # it has made all runs
    assert f"The table cannot tell apart: {key}, energy.dram.active_ma." in shown


def test_a_parameter_without_effect_is_named_and_keeps_the_presets_value(tmp_path: Path) -> None:
    """Nothing is erased in these runs."""
    key = "device.timing.erase_ns"
    free = {"device.timing.read_ns": RANGES["device.timing.read_ns"], key: (1_000_000, 5_000_000)}
    found = fw.calibrate("x25m", written(tmp_path, table(free=free)), starts=3)
    assert found.groups == [(key,)]
    assert found.values[key] == 2_000_000
    assert all(one.elasticities[key] == 0 for one in found.points)


def test_the_analysis_by_hand() -> None:
    """Two parameters with equal columns (20, 20): along (1, 1) the covariance is 1/(800 + 12), along (1, −1) 1/12."""
    alone = identified(np.diag([40.0, 1.0]))
    assert alone.errors == pytest.approx([1 / 1612**0.5, 1 / 13**0.5])
    assert alone.groups == ((1,),)
    both = identified(np.array([[20.0, 20.0]]))
    assert both.errors == pytest.approx([(0.5 * (1 / 812 + 1 / 12)) ** 0.5] * 2)
    assert both.correlations[0, 1] == pytest.approx((1 / 812 - 1 / 12) / (1 / 812 + 1 / 12))
    assert both.groups == ((0, 1),)
    pairs = identified(np.array([[90.0, 90, 0, 0, 0], [0, 0, 70, 70, 0], [0, 0, 0, 0, 30.0]]))
    assert pairs.groups == ((0, 1), (2, 3)), "pairs of equal weight are not mixed up"
    assert both.singular_values == pytest.approx([800**0.5])


def test_a_best_value_beyond_the_range_is_said_to_lie_there(tmp_path: Path, flashwatt: Cli) -> None:
    free = {"device.timing.read_ns": (20_000, 60_000)}
    path = written(tmp_path, table(free=free))
    (one,) = fw.calibrate("x25m", path, starts=2).parameters
    assert (one.value, one.at_bound) == (60_000, "max")
    assert (
        "device.timing.read_ns ended at the max of its range"
        in flashwatt("calibrate", "x25m", path, "--starts", 1).stdout
    )


def test_whole_numbers_of_few_values_are_searched_one_by_one(tmp_path: Path) -> None:
    """The number of channels decides the throughput of long queues, in steps."""
    truth = {"device.channels": 6, "device.timing.program_ns": 1_000_000}
    free = {"device.channels": (2, 16), "device.timing.program_ns": (500_000, 2_000_000)}
    found = fw.calibrate("x25m", written(tmp_path, table(truth, free=free, measured=repeated(2))), starts=4)
    assert found.values["device.channels"] == 6
    assert found.values["device.timing.program_ns"] == pytest.approx(1_000_000, rel=NEAR)


# ---------------------------------------------------------------- runs and prices


def test_currents_are_priced_and_not_simulated(tmp_path: Path) -> None:
    """Six runs, whatever the currents; the figures are those of runs with them."""
    free = {key: RANGES[key] for key in RANGES if key.startswith("energy.")}
    path = written(tmp_path, table(free=free, truth={**TRUTH, **dict.fromkeys(("device.timing.read_ns",), 50_000)}))
    found = fw.calibrate("x25m", path, starts=3)
    assert (found.runs, found.found_runs) == (6, 0)


@pytest.mark.parametrize(
    ("free", "linear"),
    [
        ({"energy.dram.active_ma": 61.5, "energy.nand.program_ma": 33.25}, True),
        ({"energy.nand.program_ma": 33.25, "energy.terminal_v": 4.4}, False),
    ],
    ids=["currents", "currents and a voltage"],
)
def test_priced_figures_are_those_of_a_run(free: dict[str, float], linear: bool, tmp_path: Path) -> None:
    keys = ("energy_j.total", "power_w.mean", "energy_by_cause_j.host", "throughput.write_mb_s", "power_w.peak")
    overrides = {"workload.uniform.read_fraction": 0.5, "workload.uniform.requests": 100}
    for figures in (keys[:4], keys, ("efficiency.mb_per_j",)):
        ranges = {key: (value * 0.5, value * 2) for key, value in free.items()}
        path = written(tmp_path, table({}, free=ranges, measured=[(overrides, figures), (overrides, figures)]))
        bench = bench_of(path)
        bench.begin()
        values = {**bench.start, **free}
        report = fw.run({"device.preset": "x25m", **SMALL, **overrides, **values}).to_dict()
        expected = [at(report, one.key) for one in bench.table.figures]
        assert bench.figures([values])[0] == pytest.approx(expected, rel=1e-9)
        priced = figures != keys  # a peak is known of a run only
        assert list(bench.rows[0].prices) == (list(free) if priced else [])
        assert bench.rows[0].linear == (linear and priced and "efficiency.mb_per_j" not in figures)


def test_places_and_values_are_each_others_inverse(good: Path) -> None:
    space = Space(Table.read(good).parameters)
    values = {"device.timing.read_ns": 65_000, "energy.nand.read_ma": 17.32}
    assert space.unit(values)[0] == 0.25
    assert space.unit(values)[1] == pytest.approx(np.log(17.32 / 5) / np.log(12))
    assert space.values(space.unit(values)) == values
    assert space.slope(space.unit(values)) == pytest.approx([180_000, 17.32 * np.log(12)])


def test_paths_lead_from_the_directory_of_the_table(tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_bytes((X25M.parents[1] / "trace.csv").read_bytes())
    text = "noise_fraction = 0.01\n[free]\nenergy.dram.active_ma = { min = 20, max = 200 }\n[[rows]]\n"
    path = written(tmp_path, f'{text}overrides.workload.trace.path = "trace.csv"\nmeasured.energy_j.total = 1.0\n')
    assert bench_of(path).begin() == {"energy.dram.active_ma": 100}
    path.write_text(path.read_text().replace("trace.csv", "trade.csv"))
    with pytest.raises(FlashwattError, match=r"table.toml:\d+: row 1: .*trade.csv: no such file; did you mean"):
        bench_of(path).begin()


# ---------------------------------------------------------------- rows held out


def test_a_row_held_out_is_predicted_and_changes_nothing(tmp_path: Path) -> None:
    text = table(noise=0.0)
    head, *rows = text.split("[[rows]]")
    wrong = re.sub(r"(power_w.mean = )(\S+)", r"\g<1>99.0", rows[2])
    held = fw.calibrate(
        "x25m",
        written(tmp_path, "[[rows]]".join([head, *rows[:2], f"\nheld_out = true{wrong}", *rows[3:]])),
        starts=1,
    )
    assert held.values == pytest.approx(TRUTH, rel=2e-3)
    assert [one.held_out for one in held.points] == [False] * 8 + [True] * 4 + [False] * 12
    assert held.rms_noises < 0.05
    predicted = next(one for one in held.points if one.held_out and one.key == "power_w.mean")
    assert predicted.deviation == pytest.approx((predicted.predicted or 0) / 99 - 1)


def test_every_choice_of_two_rows_of_the_x25m_is_predicted(tmp_path: Path) -> None:
    """Table IV of EnergySim, its real drive. Ten choices; three rows leave no parameter determined, which is said."""
    found = fw.calibrate("x25m", written(tmp_path, LITTLE), hold_out=2, starts=1)
    names = ["4 KB", "40 KB", "80 KB", "120 KB", "160 KB"]
    assert [one.rows for one in found.choices] == list(combinations(names, 2))
    assert all([point.row for point in one.points] == list(one.rows) for one in found.choices)
    errors = sorted(abs(point.deviation or 0) for one in found.choices for point in one.points)
    assert found.median_error == pytest.approx((errors[9] + errors[10]) / 2)
    assert found.median_error <= 0.2
    assert found.groups == [("device.timing.program_ns", "energy.dram.active_ma")]
    assert all(one.not_determined for one in found.choices)


def test_a_choice_learns_nothing_from_the_rows_it_holds_out(tmp_path: Path) -> None:
    found = []
    for content in (LITTLE, LITTLE.replace("1.3e-3", "9.9e-3").replace("2.5e-3", "9.9e-3")):
        bench = bench_of(written(tmp_path, content))
        bench.begin()
        found.append(next(choices(bench, Space(bench.table.parameters), 2, starts=1, seed=1, told=print)))
    assert [one.rows for one in found] == [("4 KB", "40 KB")] * 2
    assert found[0].values == found[1].values


# ---------------------------------------------------------------- what it leaves


def test_the_calibrated_preset_runs_and_says_where_each_line_is_from(
    tmp_path: Path, flashwatt: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = fw.calibrate("x25m", X25M, out="out", starts=1)
    text = (tmp_path / "out/calibrated.toml").read_text()
    assert text.endswith(found.text)
    assert str(tmp_path) not in text
    assert tomli.loads(text)["device"]["timing"]["program_ns"] == found.values["device.timing.program_ns"]
    for line in text.splitlines():
        if re.match(r"\w+ = ", line) and not line.startswith("description"):
            assert "  # " in line or re.search(r" # \S", line), line
    for key in found.values:
        (line,) = (
            one for one in text.splitlines() if one.startswith(f"{key.rpartition('.')[2]} = ") and "fitted" in one
        )
        assert re.search(r"fitted to x25m.toml rows .*160 KB by flashwatt calibrate, residual \d\.\d % \(rms\)", line)
    assert "read_ns = 50_000              # ES Table III" in text
    assert 'idle_accounting = "always_on" # set by x25m.toml (overrides)' in text
    for point, kib in zip(found.points, (4, 40, 80, 120, 160), strict=True):
        sets = (
            f"workload.uniform={{requests=1, sequential=true, request_bytes={kib * 1024}}}",
            "run.precondition=empty",
        )
        done = flashwatt("run", "out/calibrated.toml", *(word for one in sets for word in ("--set", one)), "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["energy_j"]["total"] == pytest.approx(point.predicted, rel=1e-9)


def test_a_layer_that_makes_keys_of_the_preset_idle_gives_a_file_that_runs(tmp_path: Path, flashwatt: Cli) -> None:
    common = {**SMALL, "ftl": "fast"}
    path = written(tmp_path, table(free={"device.timing.read_ns": (20_000, 150_000)}, common=common))
    fw.calibrate("x25m", path, out=tmp_path / "out", starts=1)
    done = flashwatt("run", tmp_path / "out/calibrated.toml", "--requests", 50, "--json")
    assert done.returncode == 0, done.stderr
    assert "fast" in json.loads(done.stdout)["config"]["ftl"]


def test_the_same_command_continues(good: Path, tmp_path: Path) -> None:
    """Ctrl-C after some runs keeps them, and the best values; the end is that of a calibration without it."""
    whole = fw.calibrate("x25m", good, out=tmp_path / "whole", starts=2, workers=2)

    def stop(doing: str, runs: int) -> None:
        if doing.startswith("start") and runs >= 12:
            raise KeyboardInterrupt

    with pytest.raises(CalibrationInterruptedError, match=r"runs are kept in .*results.jsonl") as caught:
        fw.calibrate("x25m", good, out=tmp_path / "cut", starts=2, progress=stop, workers=1)
    best = caught.value.calibration
    assert best is not None
    assert best.status == "interrupted"
    assert best.identifiable is None
    text = (tmp_path / "cut/calibrated.toml").read_text()
    assert "INTERRUPTED: the search had not ended" in text
    fw.Config(text).resolve()
    again = fw.calibrate("x25m", good, out=tmp_path / "cut", starts=2, workers=1)
    assert again.found_runs >= 10
    assert again.runs + again.found_runs == whole.runs
    assert again.text == whole.text
    third = fw.calibrate("x25m", good, out=tmp_path / "cut", starts=2)
    assert (third.runs, third.values) == (0, whole.values)


def test_ctrl_c_on_the_command_line_keeps_the_best_values(tmp_path: Path) -> None:
    free = {key: RANGES[key] for key in list(RANGES)[:2]}
    path = written(tmp_path, table(free=free).replace("'workload.uniform.requests': 200", ""))
    path.write_text(path.read_text().replace("requests = 200", "requests = 20000"))
    command = [sys.executable, "-m", "flashwatt", "calibrate", "x25m", str(path), "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        journal = tmp_path / "out/results.jsonl"
        for _ in range(600):
            time.sleep(0.1)
            if journal.exists() and journal.read_bytes().count(b"\n") > 15:
                break
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "the same calibration continues from there; best values so far" in said
    assert (tmp_path / "out/calibrated.toml").exists()


def test_files_of_others_are_not_replaced(good: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/calibrated.toml").write_text("mine = 1\n")
    with pytest.raises(FlashwattError, match="not an unchanged calibrated preset written by flashwatt"):
        fw.calibrate("x25m", good, out=tmp_path / "out")


def test_the_command_prints_all_that_the_report_is_asked_for(good: Path, flashwatt: Cli) -> None:
    done = flashwatt("calibrate", "x25m", good, "--starts", 1)
    assert done.returncode == 0, done.stderr
    for words in (
        "x25m, fitted to table.toml",
        "Rows",
        "Sensitivity",
        "Held fixed: ",
        "times their noise",
        "Rule: C =",
    ):
        assert words in done.stdout
    assert re.search(r"^ read_ns +50,000 +\d", done.stdout, re.MULTILINE)
    assert "runs simulated" in done.stderr
    content = json.loads(flashwatt("calibrate", "x25m", good, "--starts", 1, "--json").stdout)
    assert content["status"] == "complete"
    assert {"key": "device.channels", "value": 10, "source": "ES 4.2: ten channels"} in content["held"]


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[free]", "[fre]", ("table.toml:7: fre: unknown key; found `fre`", "did you mean `free`?")),
        (GOOD, "[free]\n", ("table.toml: free: found none; expected [free] with device.timing",)),
        (GOOD[GOOD.index("[[rows]]") :], "", ("table.toml: rows: found none; expected [[rows]] with measured",)),
        (GOOD, "device.channels = 3\n", ("not a table of measurements but a configuration; found `device`",)),
        ("noise_fraction = 0.02", "noise_fraction = ", ("table.toml: not TOML; ", "line 1")),
        ("timing.read_ns", "timing.reed_ns", ("table.toml:8: free.device.timing.reed_ns: unknown key", "read_ns`?")),
        ("timing.read_ns = {", "host_link.queue = {", ("table.toml:8: free.device.host_link.queue", "queue_depth`?")),
        ("device.timing.read_ns = {", "ftl = {", ("table.toml:8: free.ftl: not a number", "one that takes numbers")),
        ("{ min = 20_000,", "{ mni = 20_000,", ("free.device.timing.read_ns.mni: unknown key", "did you mean `min`?")),
        ("{ min = 20_000, max = 200_000 }", "50_000", ("table.toml:8: free.device.timing.read_ns: found 50000",)),
        ("min = 20_000, ", "", ("table.toml:8: free.device.timing.read_ns: no min; found",)),
        ("min = 20_000", "min = 0", ("read_ns.min: found 0; expected 1 to 1e+12, as the key takes",)),
        ("max = 200_000", "max = 20_000", ("read_ns.max: found 20000; expected more than min, 20000",)),
        ("min = 20_000", 'min = "2 parsecs"', ("read_ns.min: found '2 parsecs'; expected a whole number",)),
        ("min = 5", "min = 0", ("read_ma.min: found 0; expected more than 0 on a logarithmic scale",)),
        ('"log"', '"lgo"', ("table.toml:9: free.energy.nand.read_ma.scale: found 'lgo'", "did you mean `log`?")),
        ("start = 10", "start = 100", ("table.toml:9: free.energy.nand.read_ma.start: found 100; expected 5 to 60",)),
        ("measured.throughput.read_mb_s = 180", "", ("table.toml:17: row 2: name: a row without values",)),
        (
            "throughput.read_mb_s",
            "throughput.reed_mb_s",
            ("table.toml:19: row 2: measured.throughput.reed_mb_s: no figure of a report", "`throughput.read_mb_s`?"),
        ),
        ("read_mb_s = 180", "read_mb_s = -5", ("table.toml:19: row 2: measured.throughput.read_mb_s: found -5",)),
        ("read_mb_s = 180", 'read_mb_s = "fast"', ("read_mb_s: found 'fast'; expected a number in the unit of",)),
        (
            "noise_absolute = 0.02",
            "noise_absolute = 0",
            ("power_w.mean.noise_absolute: found 0; expected a number above",),
        ),
        ("noise_absolute", "noise_abs", ("row 1: measured.power_w.mean.noise_abs: unknown key", "`noise_absolute`?")),
        ("noise_fraction = 0.02", "", ("row 1: measured.latency_ns.read.mean: no noise", "noise_absolute here")),
        ("noise_fraction = 0.02", "noise_fraction = 2", ("table.toml:1: noise_fraction: found 2; expected a share",)),
        ("read_mb_s = 180", "read_mb_s = 0", ("read_mb_s: found 0 with a relative noise; expected noise_absolute",)),
        ('name = "many"', 'name = "one by one"', ("row 2: name: found `one by one`, as in row 1; expected each name",)),
        ('name = "many"', "held_out = 1", ("table.toml:17: row 2: held_out: found 1; expected true or false",)),
        ('name = "many"', 'nmae = "many"', ("table.toml:17: row 2: nmae: unknown key", "did you mean `name`?")),
        (
            'name = "one by one"',
            "held_out = true",
            ("fewer measured figures than free parameters; found 1 figures", "expected 2 at least"),
        ),
        (
            "[free]",
            "energy.nand.read_ma = 3\n[free]",
            ("table.toml:7: overrides.energy.nand.read_ma: found a value for energy.nand.read_ma, a free parameter",),
        ),
        (
            "workload.uniform.requests = 100",
            "workload.uniform.reqests = 100",
            ("table.toml:5: overrides.workload.uniform.reqests: unknown key", "did you mean `requests`?"),
        ),
        ("queue_depth = 16", "queue_depth = 0", ("table.toml:18: many: overrides.workload.uniform.queue_depth",)),
        (
            "latency_ns.read.mean",
            "latency_ns.write.mean",
            ("table.toml:14: row 1: measured.latency_ns.write.mean: the run has no such figure",),
        ),
    ],
)
def test_mistakes_in_a_table_are_named(
    old: str, new: str, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert old in GOOD
    written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(FlashwattError) as caught:
        fw.calibrate("x25m", "table.toml", starts=1)
    for one in words:
        assert one in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("x26m", "table.toml"), ("PRESET: unknown preset; found `x26m`", "did you mean `x25m`?")),
        (("x25m.toml", "table.toml"), ("PRESET: found the file x25m.toml; expected the name of a preset",)),
        (("x25m", "tabel.toml"), ("tabel.toml: no such file; did you mean table.toml?",)),
        (("x25m", "wrong.toml"), ("wrong.toml:2: fre: unknown key; found `fre`; expected one of", "mean `free`?")),
        (("x25m", "table.toml", "--hold-out", 2), ("--hold-out: found 2; expected fewer than the 2 rows",)),
        (("x25m", "table.toml", "--hold-out", 1), ("found 1 figures when 1 rows are held out; expected 2 at least",)),
        (("x25m", "table.toml", "--starts", 0), ("--starts: found 0; expected a whole number, ≥ 1",)),
        (("x25m", "table.toml", "--seed", "-1"), ("--seed: found -1; expected a whole number, ≥ 0",)),
    ],
)
def test_mistakes_on_the_command_line_are_named(
    arguments: tuple[object, ...], words: tuple[str, ...], good: Path, flashwatt: Cli
) -> None:
    (good.parent / "wrong.toml").write_text("rows = []\n[fre]\n")
    done = flashwatt("calibrate", *arguments)
    assert done.returncode == 2, done.stderr
    for one in words:
        assert one in done.stderr


def test_a_missing_library_is_named_with_the_way_to_install_it(good: Path) -> None:
    with pytest.raises(FlashwattError, match=r"needs Nothing; found no module `nothing_at_all`; .*flashwatt\[x\]"):
        check_library("nothing_at_all", "Nothing", "flashwatt calibrate", "x")
    hidden = "import sys; sys.modules['scipy'] = None; from flashwatt.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", hidden, "calibrate", "x25m", str(good)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "flashwatt calibrate needs SciPy; found no module `scipy`" in done.stderr
    assert "pip install 'flashwatt[calibrate]'" in done.stderr


def test_every_example_is_a_table() -> None:
    for path in X25M.parent.glob("*.toml"):
        values: dict[str, Any] = bench_of(path).begin()
        assert values
