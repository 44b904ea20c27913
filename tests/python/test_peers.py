"""Other simulators beside FlashWatt: their figures are data, each once, and large differences need reasons."""

from __future__ import annotations

import os
import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt
from flashwatt.experiments.peers.queue_theory import mean_response
from flashwatt.experiments.peers.side_by_side import Line, figures_of, table, unexplained
from flashwatt.reproduce import Terms, catalogue, reproduce
from flashwatt.reproduce.catalogue import choose
from flashwatt.reproduce.criterion import CriterionClass
from flashwatt.reproduce.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flashwatt.reproduce.catalogue import Experiment
    from flashwatt.reproduce.criterion import Criterion

SIMULATORS = ("mqsim", "mqsim_planes", "energysim")
TOLERANCE_MAX = 0.05


def numbers_in(content: Any) -> Iterator[float]:
    """All numbers of a file, at any depth."""
    if isinstance(content, (dict, list)):
        for one in content.values() if isinstance(content, dict) else content:
            yield from numbers_in(one)
    elif isinstance(content, (int, float)):
        yield content


def peer_criteria() -> list[Criterion]:
    return [
        one for experiment in choose((), "peers") for one in experiment.criteria if one.class_ is CriterionClass.PEER
    ]


@pytest.mark.parametrize("name", SIMULATORS)
def test_figures_have_their_origin(name: str) -> None:
    content = figures_of(name)
    assert re.fullmatch(r"[0-9a-f]{7}", content["commit"])
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", content["date"])
    assert content["remark"]
    assert len(content["settings"]) >= 3
    paper = choose((), "peers")[0].paper
    assert f"{content['simulator']} (" in paper.citation
    assert content["commit"] in paper.citation


def test_what_criteria_call_published_is_in_the_data() -> None:
    known = {number for name in SIMULATORS for number in numbers_in(figures_of(name))}
    judged = [(one, float(one.published.replace(",", ""))) for one in peer_criteria() if one.unit]
    assert len(judged) > 30
    for one, number in judged:
        assert number in known, one.says
        assert one.meets is not None
        assert one.meets(number), f"{one.says}: the peer's own figure"
        assert not one.meets(number * (1 + 1.1 * TOLERANCE_MAX)), one.says
        assert not one.meets(number * (1 - 1.1 * TOLERANCE_MAX)), one.says


def test_write_amplification_lies_between_the_two_figures_of_the_data() -> None:
    criteria = {one.quantity: one for one in catalogue()["P3"].criteria}
    runs = next(runs for runs in catalogue()["P3"].sets if runs.name == "equal")
    for spare, found in figures_of("mqsim")["write_amplification"].items():
        for end in runs.axes["free"]:
            one = criteria[f"equal_{spare.removesuffix(' %')}_{end}"]
            assert one.bound == f"{found['later']:g} … {found['first']:g}"
        assert runs.axes["counted"][spare]["device.logical_bytes"] == found["pages"] * 4096


def test_two_planes_of_mqsim_are_what_its_phases_say() -> None:
    """A request alone takes the sum of its phases, and requests in flight are requests a second by mean response."""
    figures = figures_of("mqsim_planes")
    page_us = 16.384
    alone = {
        "reads": 0.29 + 50.02 + page_us / 4,
        "page_reads": 0.29 + 50.02 + page_us,
        "pair_reads": 0.94 + 50.02 + 2 * page_us,
        "page_writes": 0.361 + page_us + 600,
        "pair_writes": 1.177 + 2 * page_us + 600,
        "stream_reads": 0.29 + 50.02 + page_us,
        "stream_reads_planes_first": 0.94 + 50.02 + 2 * page_us,
        "long_stream_reads": 0.94 + 50.02 + 8 * page_us,
        "stream_writes": 0.361 + page_us + 600,
        "stream_writes_planes_first": 1.177 + 2 * page_us + 600,
        "long_stream_writes": 4 * (1.177 + 2 * page_us) + 600,
    }
    assert set(alone) == {name for name, found in figures.items() if isinstance(found, dict) and "1" in found}
    for name, sum_us in alone.items():
        assert figures[name]["1"]["mean_us"] == pytest.approx(sum_us, abs=2e-3), name
        for depth, found in figures[name].items():
            assert found["iops"] * found["mean_us"] / 1e6 == pytest.approx(int(depth), rel=4e-3)
            assert 0 <= found["joined"] <= found["commands"]


def test_peers_are_no_paper() -> None:
    classes = {one.class_ for experiment in choose((), "peers") for one in experiment.criteria}
    assert classes == {CriterionClass.PEER, CriterionClass.THEORY, CriterionClass.IDENTITY, CriterionClass.REPORT}
    assert all(one.number is None for experiment in choose((), "peers") for one in experiment.criteria)
    papers = [one for one in catalogue().values() if one.paper.name != "peers"]
    assert not any(one.class_ is CriterionClass.PEER for experiment in papers for one in experiment.criteria)


def test_large_differences_need_reasons() -> None:
    small, large = Line("a", 100, 101.9), Line("b", 100, 97.9)
    assert unexplained([small, large, large._replace(reason="known")]) == 1
    rows = table("Other", "IOPS", [small, large, large._replace(case="c", reason="known"), Line("d", 2, 2, 4)])
    assert rows.splitlines()[2:] == [
        "| a | 100 | 101.90 | +1.90 % | – | – | – |  |",
        "| b | 100 | 97.90 | −2.10 % | – | – | – | not known |",
        "| c | 100 | 97.90 | −2.10 % | – | – | – | known |",
        "| d | 2 | 2.000 | +0.00 % | 4.000 | 0.5000 | 0.5000 |  |",
    ]


def test_a_queue_by_theory() -> None:
    assert mean_response(10, 0) == 10
    assert mean_response(10, 0.5) == 15
    assert mean_response(132, 0.8) == pytest.approx(396)


def loops() -> Experiment:
    """P1. Its longest runs, of a million reads, are of three tenths but in the soak."""
    whole = catalogue()["P1"]
    fewer = {} if "FLASHWATT_SOAK" in os.environ else {"workload.uniform.requests": 300_000}
    sets = [replace(one, overrides={**one.overrides, **fewer}) if one.name == "reads" else one for one in whole.sets]
    return replace(whole, sets=tuple(sets))


def test_closed_loops_beside_mqsim(tmp_path: Path) -> None:
    found = reproduce([loops()], tmp_path, terms=Terms(seeds=1))
    assert not found.fault
    missed = [row.quantity for row in found.rows if row.verdict is Verdict.MISSED]
    assert missed == ["slow_reads_1024"], "the length of MQSim's run is not known"
    by_name = {row.quantity: row.simulated for row in found.rows}
    assert all(value is not None for value in by_name.values())
    (side_by_side,) = found.texts["P1"]
    assert len(side_by_side.splitlines()) == 2 + 2 * 22, "every case in both orders"
    assert "not known" not in side_by_side
    page = (tmp_path / "peers.html").read_text()
    assert "<td>random reads, QD 1024, data first</td>" in page
    assert "| ---" not in page, "tables are tables, not text"


def planes() -> Experiment:
    """P5. Its longest runs have a hundred thousand requests but in the soak."""
    whole = catalogue()["P5"]
    most = 600_000 if "FLASHWATT_SOAK" in os.environ else 100_000
    sets = []
    for one in whole.sets:
        fewer = min(one.overrides["workload.uniform.requests"], most)
        sets.append(replace(one, overrides={**one.overrides, "workload.uniform.requests": fewer}))
    return replace(whole, sets=tuple(sets))


def test_dies_of_two_planes_beside_mqsim(tmp_path: Path) -> None:
    found = reproduce([planes()], tmp_path, terms=Terms(seeds=1))
    assert not found.fault
    assert [row.quantity for row in found.rows if row.verdict is Verdict.MISSED] == []
    shown = {row.quantity for row in found.rows if row.verdict is Verdict.SHOWN}
    assert shown == {f"pair_writes_{2**n}" for n in range(1, 7)} | {f"stream_writes_{2**n}" for n in range(4)}
    by_name = {row.quantity: row.simulated for row in found.rows}
    assert by_name["stream_writes_8"] == pytest.approx(8e9 / (600_000 + 4 * 16_973), rel=1e-3)
    for depth in (2, 4, 8, 16, 32):
        assert by_name[f"pair_writes_{depth}"] == pytest.approx(depth * 1e9 / 633_946, rel=1e-3)


@pytest.mark.parametrize("depth", [1, 4, 16, 64])
def test_pairs_of_pages_from_a_trace_beside_mqsim(tmp_path: Path, depth: int) -> None:
    """Both pages of a die are written at once, and the address says which die: MQSim's random writes of 32 KiB."""
    dies, page_bytes, rows = 32, 16_384, 29_000
    rng = random.Random(1)
    lines = ["time_us,device,op,offset,bytes"]
    for _ in range(30_000):
        first = rng.randrange(rows) * 2 * dies + rng.randrange(dies)
        lines += [f"0,0,W,{page * page_bytes},{page_bytes}" for page in (first, first + dies)]
    (tmp_path / "pairs.csv").write_text("\n".join(lines))
    whole = catalogue()["P5"]
    (pairs,) = [one for one in whole.sets if one.name == "pair_writes"]
    (two_planes,) = [one.axes["dies"]["two planes"] for one in whole.sets if one.name == "long_stream_writes"]
    own = {key: value for key, value in pairs.overrides.items() if not key.startswith("workload.")}
    trace = {"path": str(tmp_path / "pairs.csv"), "closed_loop": True}
    link = {"device.host_link.queue_depth": 2 * depth}
    report = flashwatt.run({}, **{**own, **two_planes, **link, "workload.trace": trace}).to_dict()
    peer = figures_of("mqsim_planes")["pair_writes"][str(depth)]["iops"]
    assert report["throughput"]["iops"] / 2 == pytest.approx(peer, rel=0.01)
    assert "pad" not in report["flash"]["programs"], "no row waits for a page that does not come"


def test_what_is_not_equal_is_seen(tmp_path: Path) -> None:
    """The criteria are about equal settings: slower flash misses them."""
    found = reproduce([loops()], tmp_path, terms=Terms(seeds=1, sets=("device.timing.read_ns=55_000",)))
    missed = {row.quantity for row in found.rows if row.verdict is Verdict.MISSED}
    assert {"reads_1", "reads_64", "reads_1024", "stream_reads_1", "unexplained"} <= missed
    assert not any(name.startswith(("writes", "stream_writes")) for name in missed)
