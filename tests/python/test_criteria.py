"""Every criterion beside the specification's list of them: class, bound, published figure, and what counts as a number.

`data/criteria.tsv` is a copy of the specification. A criterion that leaves it, or that leaves the class `predictive`,
must not leave the headline's denominator unseen.
"""

from __future__ import annotations

import csv
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from flashwatt.config.config import parse_toml
from flashwatt.reproduce import catalogue
from flashwatt.reproduce.catalogue import Experiment
from flashwatt.reproduce.criterion import CriterionClass
from flashwatt.reproduce.evidence import NoEvidenceError
from flashwatt.reproduce.verdict import headline, judge

LISTED = Path(__file__).parent / "data" / "criteria.tsv"
BOUNDS = ("between", "at_least", "at_most", "above", "below", "equals", "holds")

NOT_THERE_YET: dict[tuple[str, str], str] = {}
"""Criteria that wait for a part of the engine, and the part. The headline counts them as missed."""

AT_DEPTH_8 = ("X31", "X32", "X33", "X34")
"""Here the third amendments judge at depth 8 what the list, made before them, has at depth 32: a row `q_32` of the list
is the criterion `q` at depth 8 now, and its row `q`, if it has one, the report `q_32`."""

OTHERWISE: dict[tuple[str, str], tuple[str, str]] = {
    ("X7", "deviating"): ("equals 1", "the amendments' words: exactly one"),
    ("X28", "erases_page"): ("equals 42; tolerance 0.25", "as published ± 25 %"),
    ("X28", "erases_dftl"): ("equals 30; tolerance 0.25", "as published ± 25 %"),
    ("X28", "erases_fast"): ("equals 28; tolerance 0.25", "as published ± 25 %"),
}
"""Bounds that are written otherwise than in the list, and why; none is wider."""

OF_REBOOTS = (
    *("load_is_short", "load_is_short_kept", "load_by_portion", "rebuild_off"),
    *("rebuild_ms", "rebuild_kept_ms", "load_10_ms", "load_25_ms", "load_50_ms", "load_100_ms"),
    *("rebuild_mj", "rebuild_kept_mj", "load_25_mj", "load_100_mj"),
)
MORE = {
    ("X34", "writes_09_32"): "the list has it at one depth; the other one is shown",
    ("X16", "block_empty"): "the third amendments ask for the empty start beside the mapped one",
    ("X16", "bast_star_empty"): "the same",
    ("X16", "bast_empty"): "the same",
    ("X17", "dftl_best_empty"): "the same",
    **{("X42", name): "the paper has the mechanism and no figure" for name in OF_REBOOTS},
}
"""Reports, and hypotheses of our own, that the list does not have."""


def listed() -> dict[tuple[str, str], dict[str, str]]:
    """Give the rows of the list by experiment and quantity."""
    with LISTED.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    names = {(row["experiment"], row["quantity"]) for row in rows}
    assert len(names) == len(rows)
    return {_now(names, (row["experiment"], row["quantity"])): row for row in rows}


def _now(names: set[tuple[str, str]], row: tuple[str, str]) -> tuple[str, str]:
    """Give the name that a row of the list has today."""
    experiment, quantity = row
    if experiment not in AT_DEPTH_8:
        return row
    if quantity.endswith("_32"):
        return experiment, quantity.removesuffix("_32")
    return (experiment, f"{quantity}_32") if (experiment, f"{quantity}_32") in names else row


def found() -> dict[tuple[str, str], tuple[Experiment, dict[str, Any]]]:
    """Give the criteria of the experiments as their files have them."""
    entries = {}
    for one in catalogue().values():
        file = one.directory / "experiment.toml"
        for entry in parse_toml(file.read_text(encoding="utf-8"), str(file)).get("criteria", []):
            entries[one.id, entry["quantity"]] = one, entry
    return entries


def _bound(entry: dict[str, Any]) -> str:
    (key,) = [one for one in BOUNDS if one in entry] or [""]
    text = f"{key} {entry[key]}" if key else ""
    return f"{text}; tolerance {entry['tolerance']}" if "tolerance" in entry else text


def test_every_listed_criterion_is_there_as_listed() -> None:
    rows, entries = listed(), found()
    assert sorted(rows.keys() - entries.keys()) == []
    assert entries.keys() - rows.keys() == MORE.keys()
    assert {entries[one][1]["class"] for one in MORE} == {"report", "house"}
    differences = []
    for name, row in rows.items():
        experiment, entry = entries[name]
        number = entry.get("number", "")
        expected = {
            "paper": row["paper"] if row["paper"] in experiment.sources else experiment.paper.name,
            "class": row["class"],
            "bound": OTHERWISE[name][0] if name in OTHERWISE else row["bound"],
            "published": row["published"],
            "number": row["number"],
            "counts": row["counts_as_published_number"],
        }
        actual = {
            "paper": row["paper"] if row["paper"] in experiment.sources else "",
            "class": entry["class"],
            "bound": _bound(entry),
            "published": entry.get("published", ""),
            "number": str(number),
            "counts": "yes" if number != "" else "",
        }
        differences += [(name, key, actual[key], expected[key]) for key in expected if actual[key] != expected[key]]
    assert differences == []


def test_what_is_not_there_yet_is_named_and_counts_as_missed() -> None:
    """The headline over all experiments has every predictive row of the list, but those that need a real trace."""
    waiting = {name for name, (_, entry) in found().items() if "pending" in entry}
    assert waiting == NOT_THERE_YET.keys()
    predictive = [name for name, row in listed().items() if row["class"] == CriterionClass.PREDICTIVE.value]
    with_trace = [name for name in predictive if "trace" in found()[name][1]]
    with patch.object(Experiment, "measures", lambda one: nullcontext(_Nothing(one))):
        rows = [row for one in catalogue().values() for row in judge(one, [{}])]
    said = headline(rows)
    assert said.startswith(f"predictive: 0 of {len(predictive) - len(with_trace)} criteria met")
    assert ("pending" in said) == bool(waiting)
    assert not waiting or f"{len(waiting)} pending, counted as missed" in said
    published = [name for name, row in listed().items() if row["counts_as_published_number"]]
    assert f"0 of {len(published)} published numbers" in said
    house = [name for name, row in listed().items() if row["class"] == CriterionClass.HOUSE.value]
    house += [name for name in MORE if found()[name][1]["class"] == CriterionClass.HOUSE.value]
    assert f"house: 0 of {len(house)} criteria met" in said


class _Nothing(SimpleNamespace):
    """The module of an experiment none of whose runs was made."""

    __file__ = "measure.py"

    def __init__(self, experiment: Experiment) -> None:
        super().__init__(experiment=experiment)

    def quantities(self, _: object) -> dict[str, Any]:
        """Give functions that have no evidence."""

        def missing() -> float:
            raise NoEvidenceError("not run")

        return {one.quantity: missing for one in self.experiment.criteria}
