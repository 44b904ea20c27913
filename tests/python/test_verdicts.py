"""Verdicts: the classes of criteria, the headline, the published numbers beside the simulated ones."""

from __future__ import annotations

import io
import json
import math
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import pytest
from rich.console import Console

from flashwatt import FlashwattError
from flashwatt.reproduce import catalogue
from flashwatt.reproduce.catalogue import Experiment
from flashwatt.reproduce.criterion import Criterion
from flashwatt.reproduce.show import criteria as criteria_table
from flashwatt.reproduce.show import judged as judged_in_words
from flashwatt.reproduce.show import show_verdicts
from flashwatt.reproduce.verdict import Row, Verdict, headline, judge, numbers, tally


@dataclass
class Measures:
    """The module of an experiment."""

    found: dict[str, Any]
    __file__ = "measure.py"

    def quantities(self, _: Any) -> dict[str, Any]:
        """Give what stands in the place of figures."""
        return self.found


@dataclass
class Drawn:
    """Runs with a seed, and the figure that they give."""

    figure: float
    by_chance: bool = False


class BySeed:
    """The module of an experiment whose figure a seed can change."""

    __file__ = "measure.py"

    def quantities(self, evidence: Any) -> dict[str, Any]:
        """Give the figure with this seed."""

        def measure() -> float:
            evidence["runs"].by_chance = True
            return evidence["runs"].figure

        return {"q": measure}


def entry(name: str, **rest: Any) -> dict[str, Any]:
    """Give a criterion of a class as it stands in a file."""
    return {"quantity": "q", "says": "s", "class": name, "reason": "r", **rest}


def judged(criteria: list[Criterion], values: list[Any], traces: tuple[str, ...] = ()) -> list[Row]:
    """Give the verdicts on these figures."""
    experiment = replace(catalogue()["X29"], criteria=tuple(criteria))
    found = {one.quantity: (lambda value=value: value) for one, value in zip(criteria, values, strict=True)}
    with patch.object(Experiment, "measures", lambda _: nullcontext(Measures(found))):
        return judge(experiment, [{}], traces=traces)


def rows(*entries: tuple[str, float | None, Any]) -> list[Row]:
    """Give the verdicts for these classes, published numbers and simulated figures; the bound is 1 or more."""
    criteria = [
        Criterion.of("place", {**entry(name), **bound, **number, "quantity": f"q{at}"}, "Fig. 1")
        for at, (name, published, _) in enumerate(entries)
        for bound in [{} if name == "report" else {"at_least": 1}]
        for number in [{"number": published} if published else {}]
    ]
    return judged(criteria, [value for *_, value in entries])


def test_the_headline_counts_classes_apart() -> None:
    found = rows(("predictive", 2.0, 2.4), ("predictive", 10.0, 0.5), ("identity", None, 1), ("report", -4.0, 4.0))
    assert headline(found) == (
        "predictive: 1 of 2 criteria met, 1 MISSED; identity: 1 of 1 criteria met; 1 figures shown, not judged; "
        "1 of 3 published numbers, neither put in nor fitted, within 25 %"
    )
    assert [(row.quantity, row.ratio) for row in numbers(found)] == [("q0", 1.2), ("q1", 0.05), ("q3", -1.0)]
    assert tally(found)["numbers"] == {"laid": 3, "near": 1}


def test_a_hypothesis_of_our_own_is_counted_apart_and_has_nothing_published() -> None:
    found = rows(("predictive", None, 2), ("house", None, 2), ("house", None, 0))
    assert headline(found) == "predictive: 1 of 1 criteria met; house: 1 of 2 criteria met, 1 MISSED"
    assert judged_in_words(found[1]) == "met, house"
    for key, value in (("published", "9.9"), ("number", 9.9)):
        with pytest.raises(FlashwattError, match=f"{key}: found 9.9; expected no"):
            Criterion.of("place", entry("house", at_least=1, **{key: value}), "Fig. 1")


def test_both_tables_name_the_choices_behind_a_claim() -> None:
    criterion = Criterion.of("p", entry("predictive", at_least=1, published="3", number=3, chosen="depth 32"), "Fig. 1")
    console = Console(width=150, record=True, file=io.StringIO())
    show_verdicts(judged([criterion], [2]), console)
    assert console.export_text().count("s [depth 32]") == 2


@pytest.mark.parametrize("of", ["predictive", "report"])
def test_a_figure_that_is_no_number_is_not_met(of: str) -> None:
    (nan,), (infinite,) = rows((of, None, math.nan)), rows((of, None, math.inf))
    assert {nan.verdict, infinite.verdict} == {Verdict.UNKNOWN}
    assert (nan.simulated, nan.by_seed, nan.doubtful) == (None, (), False)
    assert nan.remark == "not met: the figure is not a number (NaN)"
    assert infinite.remark == "not met: the figure is infinite"
    assert json.loads(json.dumps(nan.to_dict(), allow_nan=False))["simulated"] is None


def test_a_figure_that_is_no_number_with_some_seed_is_not_met() -> None:
    """The mean over the seeds is none either, and has no interval."""
    experiment = replace(catalogue()["X29"], criteria=(Criterion.of("p", entry("predictive", at_least=1), "Fig. 1"),))
    with patch.object(Experiment, "measures", lambda _: nullcontext(BySeed())):
        (row,) = judge(experiment, [{"runs": Drawn(value)} for value in (2.0, math.nan, 3.0)])
        (finite,) = judge(experiment, [{"runs": Drawn(value)} for value in (2.0, 2.5, 3.0)])
    assert (row.verdict, row.interval) == (Verdict.UNKNOWN, None)
    assert row.remark == "not met: the figure is not a number (NaN) with 1 of 3 seeds"
    assert headline([row]) == "predictive: 0 of 1 criteria met, 1 no evidence"
    assert (finite.verdict, finite.simulated) == (Verdict.MET, 2.5)


def test_a_criterion_on_a_real_trace_waits_for_one() -> None:
    criterion = Criterion.of("place", entry("predictive", above=1, trace="msnfs"), "Fig. 1")
    (without,), (with_it,) = judged([criterion], [2]), judged([criterion], [2], ("msnfs",))
    assert (without.verdict, without.remark) == (Verdict.TRACE, "--trace msnfs=FILE names it")
    assert with_it.verdict is Verdict.MET
    assert headline([without]) == "predictive: 0 of 0 criteria met, 1 needs a trace"


def test_a_predictive_criterion_that_waits_for_a_part_counts_as_missed() -> None:
    """Its experiment need not measure it. A report that waits is no figure that is shown."""
    waits = {"pending": "no disk yet"}
    criteria = [
        Criterion.of("place", entry("predictive", above=1), "Fig. 1"),
        Criterion.of("place", entry("predictive", above=1, **waits) | {"quantity": "disk"}, "Fig. 1"),
        Criterion.of("place", entry("report", **waits, number=2) | {"quantity": "seek"}, "Fig. 1"),
    ]
    experiment = replace(catalogue()["X29"], criteria=tuple(criteria))
    with patch.object(Experiment, "measures", lambda _: nullcontext(Measures({"q": lambda: 2}))):
        found = judge(experiment, [{}])
    assert [row.verdict for row in found] == [Verdict.MET, Verdict.PENDING, Verdict.PENDING]
    assert [(row.simulated, row.remark) for row in found[1:]] == [(None, "no disk yet")] * 2
    assert headline(found) == (
        "predictive: 1 of 2 criteria met, 1 pending, counted as missed; "
        "0 of 1 published numbers, neither put in nor fitted, within 25 %"
    )
    assert tally(found)["classes"]["predictive"] == {"criteria": 2, "met": 1, "pending": 1}
    assert numbers(found) == []
    assert "s (pending: no disk yet)" in criteria_table([experiment])


def test_the_terminal_says_choices_in_brackets_and_each_remark_once() -> None:
    text = io.StringIO()
    criteria = [
        Criterion.of("place", entry("predictive", above=1, chosen="depth 32") | {"quantity": "a"}, "Fig. 1"),
        *(Criterion.of("place", entry("report", pending="no disk yet") | {"quantity": name}, "") for name in "bc"),
    ]
    show_verdicts(judged(criteria, [2, 2, 2]), Console(file=text, width=100, highlight=False))
    assert "s [depth 32]" in text.getvalue()
    assert "X29 b, X29 c: no disk yet" in text.getvalue()
