"""The points of a sweep, and their differences, as tables in LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashwatt.base.digits import changes
from flashwatt.report import latex
from flashwatt.report.axes import heads
from flashwatt.report.doubts import TOO_SHORT, is_wide, legend, united
from flashwatt.report.metrics import metric_of, resolution
from flashwatt.sweeps.columns import in_words
from flashwatt.sweeps.paired import columns_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from flashwatt.base.labels import Labels


def points_table(
    frame: pl.DataFrame,
    keys: Sequence[str],
    metrics: Sequence[str],
    comment: str,
    labels: Labels,
    *,
    doubts: Callable[[Mapping[str, Any], str], str],
) -> str:
    """Write a frame as `Results.summary` or `Results.runs` gives it.

    Keys that have one value in all rows are left out, unless all of them do, and so is the number of runs. Each figure
    has one unit for the whole column; a figure without any value has no column. `doubts` gives the marks of a figure.
    """
    varying = [key for key in keys if frame[key].n_unique() > 1] or list(keys)
    others = [key for key in ("seed", "runs") if key in frame.columns and frame[key].n_unique() > 1]
    columns = [*_keys(frame, varying, labels), *((key, [str(one) for one in frame[key]]) for key in others)]
    shown: list[str] = []
    taken = {head for head, _ in columns}
    for name in metrics:
        of_mean = f"{name}.mean" in frame.columns
        means = frame[f"{name}.mean" if of_mean else name].to_list()
        if any(value is not None for value in means):
            halves = next((frame[one].to_list() for one in frame.columns if one.startswith(f"{name}.ci")), None)
            if halves:  # no narrower than what the figure resolves
                pairs = zip(means, halves, strict=True)
                halves = [half if half is None else max(half, resolution(name) * mean) for mean, half in pairs]
            metric = metric_of(name)
            unit, cells = latex.numbers(metric, means, halves)
            marks = _marks(frame, name, doubts, zip(means, halves or [None] * len(means), strict=True))
            shown += marks
            cells = [cell + latex.escape(one) for cell, one in zip(cells, marks, strict=True)]
            columns.append((latex.heading(_title(name, metrics, labels, taken), unit), cells))
    rows = list(zip(*(cells for _, cells in columns), strict=True))
    return latex.table([head for head, _ in columns], [rows], "\n".join([comment, *legend(shown)]))


def _marks(
    frame: pl.DataFrame,
    name: str,
    doubts: Callable[[Mapping[str, Any], str], str],
    intervals: Iterable[tuple[float | None, float | None]],
) -> list[str]:
    """The marks of a figure in each row: those of its runs, and that of an interval that is too wide."""
    found = [doubts(row, name) for row in frame.to_dicts()]
    wide = [is_wide(*pair) for pair in intervals]
    return [united(one, TOO_SHORT * is_so) for one, is_so in zip(found, wide, strict=True)]


def _keys(frame: pl.DataFrame, keys: Sequence[str], labels: Labels) -> Iterator[tuple[str, list[str]]]:
    """The columns of the grid's keys, in words and units."""
    for key, words in zip(keys, heads(keys), strict=True):
        head, texts = in_words(key, frame[key].to_list(), labels, labels.name(key, words))
        yield latex.escape(head), [latex.escape(text) for text in texts]


def _title(name: str, among: Sequence[str], labels: Labels, taken: Iterable[str] = ()) -> str:
    """The head of a figure: in words, unless two of the table's columns share these."""
    words = dict(zip(among, heads(among), strict=True))[name]
    return latex.escape(labels.name(name, name if latex.escape(words) in taken else words))


def differences_table(
    frame: pl.DataFrame, keys: Sequence[str], metrics: Sequence[str], confidence: float, comment: str, *, labels: Labels
) -> str:
    r"""Write a frame as `Results.differences` gives it: a figure's change in per cent with the bounds of its interval.

    A figure that has no ratios, as one that can be 0, has its difference, `$1.2 \pm 0.3$`, in the unit of its column.
    """
    varying = [key for key in keys if frame[key].n_unique() > 1] or list(keys)
    columns = list(_keys(frame, varying, labels))
    for name in metrics:
        names = columns_of(name, confidence)
        metric = metric_of(name)
        title = _title(name, metrics, labels)
        if frame[names["difference"]].count() == 0:
            continue
        if frame[names["ratio"]].count() < frame[names["difference"]].count():
            unit, cells = latex.numbers(metric, frame[names["difference"]].to_list(), frame[names["half"]].to_list())
            columns.append((latex.heading(title, unit), cells))
        else:
            bounds = frame.select(names["ratio"], names["low"], names["high"]).rows()
            columns.append((latex.heading(title, r"\%"), [_change(*one) for one in bounds]))
    rows = list(zip(*(cells for _, cells in columns), strict=True))
    return latex.table([head for head, _ in columns], [rows], comment)


def _change(ratio: float | None, low: float | None, high: float | None) -> str:
    """A ratio and its interval as changes in per cent, in the digits of half the interval."""
    mean, bounds = changes(ratio, low, high)
    if mean is None:
        return latex.NOTHING
    return f"${mean}$" + (f" $[{', '.join(bounds)}]$" if bounds else "")
