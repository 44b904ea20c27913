"""The runs that a picture of a figure against a parameter is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from flashwatt import _core
from flashwatt.base.literals import label, shown
from flashwatt.base.misspelt import known
from flashwatt.report.doubts import mark, mark_of_row
from flashwatt.report.report import content_of
from flashwatt.sweeps.results import Results

if TYPE_CHECKING:
    from collections.abc import Mapping

MARKS = "marks of y"
"""The column that has the marks of each run beside its figure."""


def chosen(results: Results | pl.DataFrame, x: str, y: str, by: list[str], where: Mapping[str, Any]) -> pl.DataFrame:
    """Give the runs to draw, one row each, with the marks of their figures in the column `MARKS`."""
    if not isinstance(results, Results | pl.DataFrame):
        expected = "expected the Results of a sweep, or a frame with a row for each run"
        raise _core.FlashwattError(f"results: found {shown(results)}; {expected}")
    frame = results.frame() if isinstance(results, Results) else results
    known("x", [x], frame.columns)
    known("y", [y], [name for name, kind in frame.schema.items() if kind.is_numeric()])
    known("by", by, frame.columns)
    known("where", where, frame.columns)
    frame = frame.with_columns(pl.Series(MARKS, _marks(results, frame, y), dtype=pl.String))
    for key, given in where.items():
        frame = _kept(frame, key, given)
    if "status" in frame.columns:
        frame = frame.filter(pl.col("status") == "complete")
    frame = frame.filter(pl.col(y).is_not_null() & pl.col(x).is_not_null()).unique(maintain_order=True)
    if frame.is_empty():
        raise _core.FlashwattError(f"no complete run has a value of {y}; expected at least one to draw")
    _check_means(results, frame, [x, *by])
    return frame


def _check_means(results: Results | pl.DataFrame, frame: pl.DataFrame, drawn: list[str]) -> None:
    """Refuse means over different configurations: only seeds may differ among the runs of a point."""
    remedy = "draw it with `by`, or choose one of its values with `where`"
    if isinstance(results, Results):
        for key in results.keys:
            if key not in drawn and frame[key].n_unique() > 1:
                raise _core.FlashwattError(f"`{key}` varies among the runs of a point; {remedy}")
    elif "seed" in frame.columns and frame.select(*drawn, "seed").is_duplicated().any():
        raise _core.FlashwattError(f"a point has several runs of one seed, so something else varies; {remedy}")


def _marks(results: Results | pl.DataFrame, frame: pl.DataFrame, y: str) -> list[str]:
    """Give the marks of a figure in each run. A frame knows how many requests there were, not what is not steady."""
    if isinstance(results, Results):
        return [mark(content_of(one.report), y) for one in results]
    counts = f"{y.rpartition('.')[0]}.count"
    if counts not in frame.columns:
        return [""] * len(frame)
    return [mark_of_row({counts: count}, y) for count in frame[counts]]


def _kept(frame: pl.DataFrame, key: str, given: Any) -> pl.DataFrame:
    """Keep the runs with a value of a column, or with one of a list of values. Each must be that of a run."""
    there = frame[key].unique(maintain_order=True).to_list()
    several = isinstance(given, tuple | set | frozenset) or (isinstance(given, list) and label(given) not in there)
    wanted = [label(one) if isinstance(one, dict | list) else one for one in (given if several else [given])]
    if not wanted:
        raise _core.FlashwattError(f"where: {key}: found no value; expected some of {', '.join(map(str, there[:20]))}")
    for one in wanted:
        if one not in there:
            expected = ", ".join(map(str, there[:20]))
            raise _core.FlashwattError(
                f"where: no run with {key} = {one!r}; expected one of {expected}, or a list of some"
            )
    return frame.filter(pl.Series([one in wanted for one in frame[key].to_list()], dtype=pl.Boolean))
