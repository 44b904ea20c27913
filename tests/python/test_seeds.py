"""`flashwatt reproduce --seeds`: means with intervals for what seeds can change, one run for everything else."""

from __future__ import annotations

import json
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt as package
from flashwatt.plot.figures import Bar, Figure, Point, averaged, bars, lines
from flashwatt.reproduce import Terms
from flashwatt.reproduce.sample import Sample, averaged_text
from flashwatt.sweeps.seeds import matters

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

T_OF_2 = 4.302652729911275
"""Student's t for 95 % and two degrees of freedom, as in every table of it."""

PAPER = """\
title = "A paper"
citation = "Somebody."

[overrides]
device = { preset = "limit", blocks_per_plane = 64 }
"""
EXPERIMENT = """\
title = "Throughput"
source = "Fig. 1"
reason = "Nothing is put in."

[axes.writes]
random = { workload.uniform = { requests = 300, read_fraction = 0.5 }, run.precondition = "filled" }

[axes.stream]
stream = { workload.uniform = { requests = 300, sequential = true }, run.precondition = "empty" }

[runs.random]
axes = ["writes"]

[runs.stream]
axes = ["stream"]

[[criteria]]
quantity = "random"
says = "random requests"
class = "predictive"
at_least = 0
unit = "requests/s"

[[criteria]]
quantity = "stream"
says = "a stream of writes"
class = "predictive"
at_least = 0

[[criteria]]
quantity = "near"
says = "random requests, the bound within the scatter"
class = "predictive"
at_least = BOUND

[[criteria]]
quantity = "above"
says = "more than a bound that some seeds reach"
class = "predictive"
holds = true
"""
MEASURE = """\
from flashwatt.plot.figures import Bar, bars


def quantities(evidence):
    def random():
        return evidence["random"].value("throughput.iops", "random")

    def stream():
        return evidence["stream"].value("throughput.iops", "stream")

    return {"random": random, "stream": stream, "near": random, "above": lambda: random() >= BOUND}


def figures(evidence):
    iops = evidence["random"].value("throughput.iops", "random")
    yield bars("Throughput", "Of one size.", [Bar("random", "ours", iops)], "requests per second")
    yield f"| random | {iops:.1f} |"
"""


class Own:
    """An experiment of two runs: one that depends on the seed, one that does not."""

    def __init__(self, flashwatt: Cli, place: Path) -> None:
        """Lay it out."""
        self.flashwatt, self.place = flashwatt, place
        self.lay_out(1)

    def lay_out(self, bound: float) -> None:
        """Write the files, with a bound in the middle of the scatter."""
        directory = self.place / "own" / "p" / "x1"
        directory.mkdir(parents=True, exist_ok=True)
        (directory.parent / "paper.toml").write_text(PAPER)
        (directory / "experiment.toml").write_text(EXPERIMENT.replace("BOUND", repr(bound)))
        (directory / "measure.py").write_text(MEASURE.replace("BOUND", repr(bound)))
        (directory / "README.md").write_text("# X1\n\n**Claim.** Some.\n")

    def rows(self, *options: Any, out: str = "out") -> dict[str, dict[str, Any]]:
        """Run it, and give the verdicts by their quantities."""
        where = ("--experiments", self.place / "own", "--out", self.place / out)
        done = self.flashwatt("reproduce", "X1", *where, *options, "--json")
        assert done.returncode == 0, done.stderr
        return {row["quantity"]: row for row in json.loads(done.stdout)}

    def runs(self, out: str = "out") -> int:
        """Count the runs that were made."""
        return len((self.place / out / "results.jsonl").read_text().splitlines())


@pytest.fixture
def own(flashwatt: Cli, tmp_path: Path) -> Own:
    return Own(flashwatt, tmp_path)


def test_what_a_seed_can_change_is_run_three_times_and_has_an_interval(own: Own) -> None:
    found = own.rows()
    assert own.runs() == 3 + 1
    random, stream = found["random"], found["stream"]
    assert len(set(random["by_seed"])) == 3
    assert random["simulated"] == pytest.approx(fmean(random["by_seed"]))
    assert random["interval"] == pytest.approx(T_OF_2 * stdev(random["by_seed"]) / 3**0.5)
    assert (stream["interval"], len(stream["by_seed"])) == (None, 1)
    verdicts = json.loads((own.place / "out" / "verdicts.json").read_text())
    assert verdicts["seeds"] == 3
    page = (own.place / "out" / "p.html").read_text()
    assert "means over 3 seeds" in page
    assert "Means of 3 seeds with 95 % intervals." in page
    assert f"{fmean(random['by_seed']):.1f} ± " in page, "tables have intervals"


def test_one_seed_is_as_it_was(own: Own) -> None:
    one, three = own.rows("--seeds", 1, out="one"), own.rows("--seeds", 3)
    assert own.runs("one") == 2
    for name in ("random", "stream"):
        assert (one[name]["interval"], one[name]["doubtful"]) == (None, False)
        assert one[name]["simulated"] == three[name]["by_seed"][0]
    assert "±" not in (own.place / "one" / "p.html").read_text().partition("<article")[2].partition("<script")[0]


def test_a_first_look_takes_one_seed_unless_more_are_asked_for(own: Own) -> None:
    own.rows("--requests", 10, out="look")
    assert own.runs("look") == 2
    own.rows("--requests", 10, "--seeds", 2, out="two")
    assert own.runs("two") == 3
    assert (Terms().replicates, Terms(requests=1).replicates, Terms(requests=1, seeds=5).replicates) == (3, 1, 5)


def test_a_verdict_that_other_seeds_could_change_says_so(own: Own) -> None:
    least, _, most = sorted(own.rows()["random"]["by_seed"])
    own.lay_out((least + most) / 2)
    found = own.rows()
    assert [name for name, row in found.items() if row["doubtful"]] == ["near", "above"]
    assert found["near"]["verdict"] == ("met" if found["near"]["simulated"] >= (least + most) / 2 else "MISSED")
    assert found["above"]["verdict"] == "MISSED", "a yes is one with every seed"
    done = own.flashwatt("reproduce", "X1", "--experiments", own.place / "own", "--out", own.place / "out")
    assert "2 with the bound inside the interval" in " ".join(done.stdout.split())
    page = (own.place / "out" / "p.html").read_text()
    assert "yes with 1 of 3 seeds" in page or "yes with 2 of 3 seeds" in page
    assert "with the bound inside the interval</td>" in page


@pytest.mark.parametrize(
    ("values", "ends", "reached"),
    [
        ((1.0, 1.1, 1.2), (1.0,), True),
        ((1.0, 1.1, 1.2), (0.5, 2.0), False),
        ((1.0, 1.1, 1.2), (0.5, 1.3), True),  # half the width is 0.248
        ((1.0, 1.1, 1.2), (), False),
        ((1.0,), (1.0,), False),
        ((5, 5, 5), (5,), False),
        ((True, True, True), (), False),
        ((True, False, True), (), True),
    ],
)
def test_the_interval_and_the_bound(values: tuple[float, ...], ends: tuple[float, ...], *, reached: bool) -> None:
    assert Sample(values).reaches(ends) is reached


BASE = {"device.preset": "limit", "device.blocks_per_plane": 64, "run.precondition": "empty"}
STREAM = {"workload.uniform": {"requests": 2000, "sequential": True}}


FIXED = (
    STREAM,
    {"workload.uniform": {"requests": 500, "sequential": True, "request_bytes": 131_072}},
    {**STREAM, "ftl": "dftl"},
    {"workload.uniform": {"requests": 2000, "sequential": True, "read_fraction": 1.0}, "run.precondition": "filled"},
)
"""Runs that no seed can change."""


DRAWN = (
    {"workload.uniform": {"requests": 2000}},
    {"workload.uniform": {"requests": 2000, "sequential": True, "read_fraction": 0.5}},
    {"workload.uniform": {"requests": 2000, "sequential": True, "request_bytes": [[4096, 0.5], [8192, 0.5]]}},
    {"workload.uniform": {"requests": 2000, "sequential": True, "rate_per_s": 1e4, "gaps": "exponential"}},
    {"workload.sequential": {"requests": 2000, "streams": 4}},
    {**STREAM, "run.precondition": "steady"},
    {**STREAM, "gc.policy": "random"},
    {"workload.standin": {"name": "oltp", "requests": 2000}},
)
"""Runs that a seed can change, each for one reason."""


@pytest.mark.parametrize("changes", FIXED)
def test_runs_that_no_seed_can_change(changes: dict[str, Any]) -> None:
    config = package.Config().override({**BASE, **changes})
    assert not matters(config.resolve())
    assert same(*(package.run(config.override({"run.seed": seed})) for seed in (1, 2)))


@pytest.mark.parametrize("changes", DRAWN)
def test_runs_that_a_seed_can_change(changes: dict[str, Any]) -> None:
    config = package.Config().override({**BASE, **changes})
    assert matters(config.resolve())


def same(one: package.Report, other: package.Report) -> bool:
    """Whether two runs gave the same figures."""
    return (one.energy_j, one.latency_ns, one.flash) == (other.energy_j, other.latency_ns, other.flash)


def test_charts_of_several_seeds_are_one_with_intervals() -> None:
    def chart(value: float) -> Figure:
        return bars("T", "S.", [Bar("a", "ours", value), Bar("b", "ours", 7, 8)], "J")

    found = averaged([chart(1), chart(2), chart(3)])
    assert isinstance(found, Figure)
    first, second = found.rows
    assert (first.value, first.error) == (2, pytest.approx(T_OF_2 / 3**0.5))
    assert second == Bar("b", "ours", 7, 8), "what is equal stays as it is"
    assert found.subtitle == (
        "S. Black strokes: published or theoretical values. Means of 3 seeds with 95 % intervals.",
    )
    layers = found.spec()["layer"]
    assert any(layer["mark"]["type"] == "rule" for layer in layers)
    assert averaged([chart(1), chart(1)]).subtitle == ("S. Black strokes: published or theoretical values.",)


def test_stairs_and_charts_that_differ_show_the_first_seed() -> None:
    def stairs(y: float, *, several: bool = True) -> Figure:
        return lines("T", "S.", [Point(1, "ours", y)], ("x", "y"), stairs=several)

    found = averaged([stairs(1), stairs(2)])
    assert isinstance(found, Figure)
    assert (found.rows, found.subtitle) == ([Point(1, "ours", 1)], ("S. The first of 2 seeds.",))
    other = lines("T", "S.", [Point(2, "ours", 1)], ("x", "y"))
    assert averaged([stairs(1, several=False), other]).subtitle == ("S. The first of 2 seeds.",)


def test_an_interval_beyond_a_logarithmic_axis_ends_at_it() -> None:
    found = averaged([bars("T", "S.", [Bar("a", "ours", value)], "J", log=True) for value in (1, 3, 20)])
    (rule,) = [layer for layer in found.spec()["layer"] if layer["mark"]["type"] == "rule"]
    assert rule["encoding"]["y"]["field"] == "low"
    text = json.dumps(found.spec())
    assert '"low": 1' in text, "8 - 25.9 is below every power of ten: the axis begins at 1"


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("| a | 1.0 |", "| a | 2.0 |", "| a | 3.0 |"), "| a | 2.0 ± 2.5 |"),
        (("+1.00 %", "+2.00 %", "+3.00 %"), "+2.00 ± 2.48 %"),
        (("−1.00 %", "−2.00 %", "−3.00 %"), "−2.00 ± 2.48 %"),
        (("1,000", "2,000", "3,000"), "2,000 ± 2,484"),
        (("same 5", "same 5", "same 5"), "same 5"),
        (("| 5 | why |", "| 5 | |", "| 5 | why |"), "| 5 | why (2 of 3 seeds) |"),
        (("a\nb", "a", "a"), "a\nb\n\nThe first of 3 seeds."),
    ],
)
def test_texts_of_several_seeds(texts: tuple[str, ...], said: str) -> None:
    assert averaged_text(texts) == said
