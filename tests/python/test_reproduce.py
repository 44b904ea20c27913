"""`flashwatt reproduce`: experiments are data that is checked, runs are kept, verdicts follow from both."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt
import forked
from flashwatt.experiments.energysim import operations
from flashwatt.reproduce import catalogue, reproduce
from flashwatt.reproduce.catalogue import EXPERIMENTS, choose
from flashwatt.reproduce.criterion import Criterion
from flashwatt.reproduce.plan import Terms, plan
from flashwatt.reproduce.verdict import Verdict, judge, tally

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli
    from flashwatt.reproduce.catalogue import RunSet

DOCS = EXPERIMENTS.parents[2] / "docs" / "reproduce.md"
QUICK = ("X3", "X13", "X14", "X29", "X30")
"""Experiments that take seconds."""


def test_every_experiment_is_whole() -> None:
    found = catalogue()
    directories = {file.parent.name.upper() for file in EXPERIMENTS.glob("*/*/experiment.toml")}
    assert set(found) == directories
    for one in found.values():
        assert one.criteria, one.id
        assert one.readme.startswith("**Claim.**"), one.id
        assert "**Setting.**" in one.readme, one.id
        assert "**Deviations.**" in one.readme, one.id


def test_every_run_of_every_experiment_is_valid() -> None:
    work = plan(list(catalogue().values()))
    assert {one for one, _, _ in work.tasks} == {one.id for one in catalogue().values() if one.sets}
    assert len(work.once()) < sum(map(len, work.tasks.values())), "experiments that look at the same runs share them"


def test_every_criterion_names_a_quantity_of_its_experiment() -> None:
    for one in catalogue().values():
        with one.measures() as measures:
            quantities = measures.quantities({runs.name: _Nothing(runs) for runs in one.sets})
        asked = {criterion.quantity for criterion in one.criteria if not criterion.pending}
        assert asked == set(quantities), f"{one.id}: asked for and measured are the same"


class _Nothing:
    """Runs that are not there; their labels are."""

    def __init__(self, runs: RunSet) -> None:
        self._axes = runs.axes

    def labels(self, axis: str) -> list[str]:
        return list(self._axes[axis])

    def __iter__(self) -> Any:
        return iter([])


def test_a_die_idles_while_another_one_executes_an_operation() -> None:
    # Three pages on two dies. Their arrays work from 82 to 982, from 112 to 1012 and from 1064 to 1964 us, for 1830 us
    # in all. The dies are loaded for 82 us before each; 60 us of that fall into this time.
    config = {
        "device": {"preset": "energysim", "channels": 2, "ways": 1},
        "workload": {"uniform": {"requests": 1, "request_bytes": 12_288, "sequential": True}},
        "energy": {"idle_accounting": "busy_only"},
    }
    report = flashwatt.run(config)
    assert report.ledger.elapsed_ns.array == 1_830_000
    idle_w = 3e-3 * 3.3
    assert operations.idle_j(report) == pytest.approx(idle_w * (2 * 1830 - 3 * 900) * 1e-6, rel=1e-9)
    assert report.energy_j.nand.idle == pytest.approx(idle_w * (2 * 1830 - 3 * 900 - 60) * 1e-6, rel=1e-9)
    assert operations.dies_at_work(report) == pytest.approx(3 * 900 / 1830)
    assert operations.flash_j(report)["write"] == pytest.approx(3 * 59.4e-6)


def test_the_quick_experiments_are_met(tmp_path: Path) -> None:
    found = reproduce([catalogue()[name] for name in QUICK], tmp_path)
    assert not found.fault
    missed = [row.quantity for row in found.rows if row.verdict not in (Verdict.MET, Verdict.SHOWN)]
    assert missed == ["default_120_kb", "default_160_kb"], "the closed form of the same reading misses them, too"
    assert {path.name for path in found.files} == {"verdicts.json", "energysim.html", "park.html", "rftl.html"}
    content = json.loads((tmp_path / "verdicts.json").read_text())
    assert content["tally"] == tally(found.rows)
    assert {name: one["met"] for name, one in content["tally"]["classes"].items() if "met" in one} == {
        "predictive": 1,
        "identity": 22,
        "calibrated": 2,
    }


def test_closed_forms_are_exact(tmp_path: Path) -> None:
    found = reproduce([catalogue()[name] for name in ("X3", "X29", "X30")], tmp_path)
    by_name = {(row.experiment, row.quantity): row.simulated for row in found.rows}
    assert by_name["X3", "page_512m"] == 768
    assert by_name["X29", "at_06_us"] == pytest.approx(690.1, rel=1e-12)
    assert by_name["X30", "space_off"] == 0


def bound(**entry: Any) -> Criterion:
    table = {"quantity": "q", "says": "s", "class": "predictive", "reason": "r", **entry}
    return Criterion.of("place", table, "Fig. 1")


@pytest.mark.parametrize(
    ("entry", "good", "bad"),
    [
        ({"between": [1, 2]}, (1, 1.5, 2), (0.999, 2.001)),
        ({"at_least": 5}, (5, 6), (4.99,)),
        ({"at_most": 5}, (5, -1), (5.01,)),
        ({"above": 5}, (5.01,), (5,)),
        ({"below": 5}, (4.99,), (5,)),
        ({"equals": 3}, (3, 3 * (1 + 1e-10)), (3.001,)),
        ({"equals": 3, "tolerance": 0.1}, (2.71, 3.29), (2.6, 3.4)),
        ({"holds": True}, (True,), (False,)),
    ],
)
def test_bounds(entry: dict[str, Any], good: tuple[float, ...], bad: tuple[float, ...]) -> None:
    criterion = bound(**entry)
    assert criterion.meets is not None
    assert all(map(criterion.meets, good))
    assert not any(map(criterion.meets, bad))


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({}, "expected exactly one bound"),
        ({"above": 1, "below": 2}, "expected exactly one bound"),
        ({"class": "report", "above": 1}, "expected no bound"),
        ({"class": "predictiv", "above": 1}, "did you mean `predictive`"),
        ({"class": "calibrated", "above": 1, "number": 2}, "number: found 2; expected no number"),
        ({"reason": "", "above": 1}, "reason: missing"),
        ({"abov": 1}, "did you mean `above`"),
        ({"above": 1, "says": ""}, "says: missing"),
    ],
)
def test_a_criterion_that_says_too_little_or_too_much(entry: dict[str, Any], said: str) -> None:
    with pytest.raises(flashwatt.FlashwattError, match=said):
        bound(**entry)


def test_a_run_that_failed_leaves_no_evidence(tmp_path: Path) -> None:
    experiment, terms = catalogue()["X1"], Terms(seeds=1)
    reproduce([experiment], tmp_path, terms=terms)
    journal = tmp_path / "results.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    lines[0]["report"]["status"] = "failed: the drive caught fire"
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = reproduce([experiment], tmp_path, terms=terms)
    unknown = [row for row in found.rows if row.verdict is Verdict.UNKNOWN]
    assert unknown
    assert all("the drive caught fire" in row.remark for row in unknown)
    assert any(row.verdict is Verdict.MET for row in found.rows), "verdicts that need other runs only"


def test_a_real_trace_takes_the_place_of_a_model(tmp_path: Path) -> None:
    trace = tmp_path / "small.csv"
    trace.write_text("time_s,kind,offset,bytes\n" + "".join(f"{i / 100},write,{4096 * i},4096\n" for i in range(50)))
    work = plan(choose(("X25",), None), Terms({"financial1": trace}, seeds=1))
    configs = {labels: task.config.resolve() for (_, name, labels), (task,) in work.tasks.items() if name == "whole"}
    assert all(("trace" in config["workload"]) == (labels[0] == "financial1") for labels, config in configs.items())
    assert {
        config["workload"]["trace"]["max_requests"] for one, config in configs.items() if one[0] == "financial1"
    } == {500_000}
    with pytest.raises(flashwatt.FlashwattError, match="did you mean `financial1`"):
        plan(choose(("X25",), None), Terms({"financal1": trace}))


def test_full_runs_the_whole_of_every_workload() -> None:
    def requests(*, full: bool) -> dict[str, int]:
        work = plan(choose(("X23",), None), Terms(full=full, seeds=1))
        return {labels[0]: task.requests for (_, _, labels), (task,) in work.tasks.items()}

    some, whole = requests(full=False), requests(full=True)
    assert some["financial1"] == 500_000 < whole["financial1"] == 5_334_987
    assert some["filezilla"] == whole["filezilla"] < 500_000


def test_the_command_line(flashwatt: Cli, tmp_path: Path) -> None:
    result = flashwatt("reproduce", "x29", "X30", "--out", "r")
    assert result.returncode == 0, result.stderr
    assert "identity: 6 of 6 criteria met" in result.stdout
    assert (tmp_path / "r" / "rftl.html").exists()
    rows = json.loads(flashwatt("reproduce", "--paper", "rftl", "X30", "--json").stdout or "[]")
    assert rows == [], "ids and a paper are too much"
    listed = flashwatt("list", "experiments")
    assert "X13" in listed.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name experiments, or a --paper, or --all"),
        (("X13", "--all"), "name experiments, or a --paper, or --all"),
        (("X99",), "unknown name; found `X99`"),
        (("--paper", "energisim"), "did you mean `energysim`"),
        (("X25", "--full", "--requests", "5"), "contradict each other"),
        (("X25", "--set", "device.chanels=4"), "did you mean `channels`"),
        (("X25", "--trace", "financial1"), "expected NAME=FILE"),
        (("X25", "--skip-bad"), "--skip-bad is about the records of a --trace"),
        (("X25", "--trace", "financial1=nowhere.spc"), "there is no file nowhere.spc"),
        (("X29", "--out", "file/r"), "--out: file: a file; expected a directory"),
    ],
)
def test_faults_are_named(flashwatt: Cli, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "file").touch()
    result = flashwatt("reproduce", *arguments)
    assert result.returncode == 2
    assert said in result.stderr


def test_the_example_in_the_docs(flashwatt: Cli, tmp_path: Path) -> None:
    text = DOCS.read_text(encoding="utf-8")
    for name, content in re.findall(r"^`(mine/\S+)`\n\n```\w+\n(.*?)```$", text, re.MULTILINE | re.DOTALL):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    result = flashwatt("reproduce", "X40", "--experiments", "mine")
    assert result.returncode == 0, result.stderr
    shown = [line.rstrip() for line in result.stdout.splitlines() if line.strip()]
    assert shown == [line for line in text.splitlines() if line in shown], "the docs show the output"
    assert (tmp_path / "reproduction" / "agarwal.html").exists()


def test_an_experiment_of_two_papers_stands_on_both_pages(flashwatt: Cli, tmp_path: Path) -> None:
    """On the other paper's page if that is written: for experiments of its own. A paper that is none is an error."""
    for paper, also in (("lab", ""), ("shop", 'also = { lab = "Fig. 2" }\n')):
        place = tmp_path / "mine" / paper / f"{paper}1"
        place.mkdir(parents=True)
        (place.parent / "paper.toml").write_text(f'title = "The {paper}"\ncitation = "None."\n')
        (place / "experiment.toml").write_text(f'title = "A"\nsource = "Fig. 1"\n{also}')
        (place / "measure.py").write_text("def quantities(_):\n    return {}\n\n\ndef figures(_):\n    return []\n")
        (place / "README.md").write_text("# X\n")
    places = {}
    for paper in ("lab", "shop"):
        done = flashwatt("reproduce", "--paper", paper, "--experiments", "mine", "--out", paper)
        assert done.returncode == 0, done.stderr
        for page in (tmp_path / paper).glob("*.html"):
            places[paper, page.stem] = re.findall(r"<h2>(\w+): A \((.*)\)</h2>", page.read_text())
    assert places == {
        ("lab", "lab"): [("LAB1", "Fig. 1"), ("SHOP1", "Fig. 2")],
        ("lab", "shop"): [("SHOP1", "Fig. 1")],
        ("shop", "shop"): [("SHOP1", "Fig. 1")],
    }
    (place / "experiment.toml").write_text('title = "A"\nsource = "Fig. 1"\nalso = { lib = "Fig. 2" }\n')
    wrong = flashwatt("reproduce", "--all", "--experiments", "mine")
    assert wrong.returncode == 2
    assert "experiment.toml: also: unknown name; found `lib`; expected one of `lab`, `shop`" in wrong.stderr


def test_a_first_look_limits_the_operations_on_files() -> None:
    def operations(requests: int) -> set[int]:
        work = plan(choose(("X11",), None), Terms(requests=requests))
        configs = [task.config.resolve() for tasks in work.tasks.values() for task in tasks]
        return {one["workload"]["files"]["operations"] for one in configs}

    assert operations(100) == {100}
    assert operations(1_000_000) == {3_072, 1_000_000}, "runs for a time have no number of their own"


def test_experiments_of_ones_own_that_are_wrong(flashwatt: Cli, tmp_path: Path) -> None:
    def said() -> str:
        result = flashwatt("reproduce", "--all", "--experiments", "mine")
        assert result.returncode == 2
        return result.stderr

    assert "mine: no experiments; expected PAPER/paper.toml" in said()
    (tmp_path / "mine" / "lab").mkdir(parents=True)
    (tmp_path / "mine" / "lab" / "paper.toml").write_text('title = "Ours"\n')
    assert "paper.toml: citation: missing; expected text" in said()


def test_experiments_say_how_long_they_take(flashwatt: Cli, tmp_path: Path) -> None:
    place = tmp_path / "mine" / "lab" / "x40"
    place.mkdir(parents=True)
    (place.parent / "paper.toml").write_text('title = "Ours"\ncitation = "None."\n')
    (place / "measure.py").write_text("def quantities(_):\n    return {}\n\n\ndef figures(_):\n    return []\n")
    (place / "README.md").write_text("# X40\n")
    experiment = 'title = "A"\nsource = "B"\n'
    for seconds, shown in ((3, None), (240, "the runs take about 4 min of processor time")):
        (place / "experiment.toml").write_text(f"{experiment}cpu_s = {seconds}\n")
        said = flashwatt("reproduce", "X40", "--experiments", "mine")
        assert said.returncode == 0, said.stderr
        assert shown is None or shown in said.stderr
        assert shown is not None or "processor time" not in said.stderr
    first_look = flashwatt("reproduce", "X40", "--experiments", "mine", "--requests", 5)
    assert "processor time" not in first_look.stderr
    (place / "experiment.toml").write_text(f"{experiment}cpu_s = 0\n")
    wrong = flashwatt("reproduce", "X40", "--experiments", "mine")
    assert "cpu_s: found 0; expected seconds of processor time" in wrong.stderr
    listed = flashwatt("list", "experiments").stdout.splitlines()
    (x22,) = (line for line in listed if line.startswith("X22 "))
    assert re.search(r"\(energysim, Fig\. 12; about \d+ (s|min) on one processor\)$", x22)


def test_a_page_opens_with_what_was_found(flashwatt: Cli, tmp_path: Path) -> None:
    """It also says what the classes mean. What was found as published is not said of other settings."""
    place = tmp_path / "mine" / "lab" / "x40"
    place.mkdir(parents=True)
    (place.parent / "paper.toml").write_text('title = "Ours"\ncitation = "None."\n')
    (place.parent / "README.md").write_text("One is **one**.\n")
    (place / "measure.py").write_text(
        "def quantities(_):\n    return {'one': lambda: 1}\n\n\ndef figures(_):\n    return []\n"
    )
    (place / "README.md").write_text("# X40\n")
    criterion = (
        'quantity = "one"\nsays = "one"\npublished = ""\nclass = "identity"\nequals = 1\nreason = "arithmetic"\n'
    )
    (place / "experiment.toml").write_text(f'title = "A"\nsource = "B"\n\n[[criteria]]\n{criterion}')
    page = tmp_path / "reproduction" / "lab.html"
    for options, is_said in (((), True), (("--requests", 5), False)):
        done = flashwatt("reproduce", "X40", "--experiments", "mine", *options)
        assert done.returncode == 0, done.stderr
        text = page.read_text()
        assert ("One is <strong>one</strong>." in text) == is_said
        assert "identity: a closed form against itself, or a value that was put in and is read back." in text
        assert "predictive: " not in text


def test_a_killed_reproduction_goes_on(tmp_path: Path) -> None:
    """Finished runs are kept, and the tables have the same bytes in the end."""

    def command(out: str) -> list[str]:
        return ["reproduce", "X13", "X14", "--seeds", "1", "--out", out, "--workers", "1"]

    def finish(out: str) -> None:
        done = forked.run(command(out), tmp_path)
        assert done.returncode == 0, done.stderr

    finish("whole")
    journal = tmp_path / "killed" / "results.jsonl"
    words = [sys.executable, "-m", "flashwatt", *command("killed")]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as killed:
        while killed.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") > 2):
            time.sleep(0.01)
        killed.kill()
    *_, last, _torn = journal.read_bytes().split(b"\n")
    marked = last.replace(b", ", b",  ", 1)  # the same content: a run that is made again has one blank
    journal.write_bytes(journal.read_bytes().replace(last, marked))
    finish("killed")
    assert marked in journal.read_bytes().split(b"\n"), "a finished run was made again"
    journal.write_bytes(journal.read_bytes().replace(marked, last))
    for name in ("results.jsonl", "verdicts.json", "energysim.html"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_a_broken_trace_is_told_before_anything_is_run(flashwatt: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("time_us,device,op,offset,bytes\n1.5,0,R,0,4096\n2.5,0,R,x,4096\n")
    result = flashwatt("reproduce", "X25", "--trace", "financial1=bad.csv", "--out", "r")
    assert result.returncode == 2
    assert "bad.csv:3" in result.stderr
    assert not (tmp_path / "r" / "results.jsonl").exists()
    arguments = ("X25", "--trace", "financial1=bad.csv", "--skip-bad", "--requests", "100", "--out", "r")
    result = flashwatt("reproduce", *arguments)
    assert result.returncode == 0, result.stderr
    assert "bad records of traces left out" in result.stderr
    assert "trace=real: financial1" in result.stdout


def test_bad_records_of_a_real_trace_are_left_out_if_asked_for(tmp_path: Path) -> None:
    trace = tmp_path / "bad.csv"
    trace.write_text("time_us,device,op,offset,bytes\n1.5,0,W,0,4096\n2.5,0,W,x,4096\n3.5,0,W,8192,4096\n")
    terms = Terms({"financial1": trace}, skip_bad=True, seeds=1)
    work = plan(choose(("X25",), None), terms)
    configs = {labels: task.config.resolve() for (_, name, labels), (task,) in work.tasks.items() if name == "whole"}
    told = {labels[0]: config["workload"].get("trace", {}).get("skip_bad") for labels, config in configs.items()}
    assert told.pop("financial1") is True
    assert set(told.values()) == {None}, "the others have no records"
    assert terms.changed() == "bad records of traces left out"


def test_short_runs_are_not_judged(tmp_path: Path) -> None:
    found = reproduce([catalogue()["X36"]], tmp_path, terms=Terms(requests=2_000))
    verdicts = {row.verdict for row in found.rows}
    assert verdicts == {Verdict.SHORT}


def test_a_first_look_at_jobs_and_programs_measures_as_many_requests() -> None:
    work = plan(choose(("X27", "X28"), None), Terms(requests=500))
    configs = [(task.stream or task.config).resolve() for (task,) in work.tasks.values()]
    limits = [
        one["workload"].get("files", {}).get("operations") or one["run"]["measure"]["requests"] for one in configs
    ]
    assert limits == [500] * len(work.tasks)
    assert work.short == {"X27", "X28"}


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "def quantities(_):\n    return dict.fromkeys(['off_us', 'gain_percent', 'at_06_us', 'two_at_06_us'], 5)",
            "TypeError",
        ),
        ("def quantities(_):\n    return {}", "unknown name; found `off_us`"),
        ("def quantities(_)\n", "SyntaxError"),
    ],
)
def test_an_experiment_that_is_broken_is_told_by_its_place(tmp_path: Path, code: str, said: str) -> None:
    experiment = replace(catalogue()["X29"], directory=tmp_path)
    (tmp_path / "measure.py").write_text(code)
    with pytest.raises(flashwatt.FlashwattError, match=rf"measure.py.*{said}"):
        judge(experiment, [{}])


def test_changed_terms_are_told(flashwatt: Cli, tmp_path: Path) -> None:
    changed = ("--set", "device.timing.channel_switch_ns=60000", "--requests", "7")
    result = flashwatt("reproduce", "X13", "--out", "r", *changed)
    assert "MISSED" in result.stdout, "the steps come twice as late"
    said = "7 requests of each workload at most; device.timing.channel_switch_ns=60000"
    assert f"not as published: {said}" in result.stderr
    assert json.loads((tmp_path / "r" / "verdicts.json").read_text())["changed"] == said
    assert said in (tmp_path / "r" / "energysim.html").read_text()


def test_no_figure_is_no_verdict(tmp_path: Path) -> None:
    found = reproduce([catalogue()["X13"]], tmp_path)
    assert all(row.simulated is not None and not math.isnan(row.simulated) for row in found.rows)
