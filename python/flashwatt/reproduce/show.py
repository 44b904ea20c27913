"""Verdicts for the terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flashwatt.report.table import emit
from flashwatt.reproduce.criterion import CriterionClass
from flashwatt.reproduce.verdict import DOUBTFUL, Verdict, headline, numbers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from flashwatt.reproduce.catalogue import Experiment
    from flashwatt.reproduce.criterion import Criterion
    from flashwatt.reproduce.verdict import Row

_STYLES = {
    Verdict.MET: "green",
    Verdict.MISSED: "bold red",
    Verdict.SHOWN: "dim",
    Verdict.SHORT: "dim",
    Verdict.TRACE: "dim",
    Verdict.UNKNOWN: "yellow",
}

_COLUMNS = {"": None, "quantity": 4, "published": 2, "simulated": 2, "criterion": 2, "verdict": None}
"""Columns and their shares of the terminal's width; a column without a share is as wide as its content."""
_WHOLE = 1000
"""Greater figures are shown without decimals."""


def show_verdicts(rows: list[Row], console: Console | None = None) -> None:
    """Print a line for each criterion, the remarks on missed ones, and the number that are met."""
    console = console or Console(highlight=False)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True)
    for name, share in _COLUMNS.items():
        table.add_column(name, ratio=share, no_wrap=share is None)
    for row in rows:
        verdict = Text(judged(row).replace(", ", ",\n"), _STYLES[row.verdict])
        table.add_row(row.experiment, Text(row.claim), published(row), simulated(row), row.bound, verdict)
    emit(console, table)
    for row in rows:
        if row.remark:
            emit(console, Text.assemble((f"{row.experiment} {row.quantity}: ", "bold"), row.remark))
    emit(console, f"\n{headline(rows)}")
    show_numbers(rows, console)


def show_numbers(rows: Iterable[Row], console: Console) -> None:
    """Print the published numbers beside the simulated ones, the nearest first; nothing if there are none."""
    if not (laid := numbers(rows)):
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True, title="Published numbers", title_justify="left")
    for name, share in {"": None, "quantity": 4, "published": 1, "simulated": 1, "ratio": None}.items():
        table.add_column(name, ratio=share, no_wrap=share is None)
    for row in laid:
        table.add_row(row.experiment, Text(row.claim), published(row), simulated(row), f"{row.ratio:.2f}")
    emit(console, table)


def judged(row: Row) -> str:
    """Give the verdict, the class of the criterion unless it is predictive, and a doubt: `met, identity`."""
    silent = row.class_ in (CriterionClass.PREDICTIVE, CriterionClass.REPORT)
    doubt = [DOUBTFUL] if row.doubtful else []
    return ", ".join([row.verdict.value, *([] if silent else [row.class_.value]), *doubt])


def markdown(rows: Iterable[Row]) -> str:
    """The same as a table in Markdown."""
    lines = ["| | published | simulated | criterion | verdict |", "|---|---|---|---|---|"]
    for row in rows:
        remark = f"<br><small>{row.remark}</small>" if row.remark else ""
        cells = (f"{row.experiment}: {row.claim}{remark}", published(row), simulated(row), row.bound, judged(row))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def criteria(experiments: Iterable[Experiment]) -> str:
    """Give every criterion with its class, its bound and the reason for both, as a table in Markdown."""
    lines = ["| | claim | published | criterion | class | reason |", "|---|---|---|---|---|---|"]
    for experiment in experiments:
        for one in experiment.criteria:
            claim = f"{one.says} [{one.chosen}]" if one.chosen else one.says
            needs = f" (needs a real trace of {one.trace})" if one.trace else ""
            cells = (experiment.id, claim + needs, published(one), one.bound, one.class_.value, one.reason)
            lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in cells) + " |")
    return "\n".join(lines)


def published(row: Row | Criterion) -> str:
    """Give the published figure, with its unit if it is a plain number."""
    is_number = re.fullmatch(r"[-+−]?[\d.,]+", row.published)
    return f"{row.published} {row.unit}".rstrip() if is_number else row.published


def simulated(row: Row) -> str:
    """The figure with its interval and its unit."""
    match row.simulated:
        case None:
            return "–"
        case bool() as answer:
            return "yes" if answer else "no"
        case share if row.by_seed and isinstance(row.by_seed[0], bool):
            return f"yes with {round(share * len(row.by_seed))} of {len(row.by_seed)} seeds"
        case number if row.interval is not None:
            text = with_interval(number, row.interval)
        case number:
            text = _figure(number)
    return f"{text} {row.unit}".rstrip()


def with_interval(mean: float, half_width: float) -> str:
    """A mean, and half the width of its interval with two digits."""
    return f"{_figure(mean)} ± {_figure(half_width, digits=2)}"


def _figure(number: float, digits: int = 4) -> str:
    return f"{number:,.0f}" if abs(number) >= _WHOLE or isinstance(number, int) else f"{number:.{digits}g}"


def seeds_in_words(count: int) -> str:
    """Say what stands behind ±."""
    if count == 1:
        return "Each figure is of one run with one seed, without an interval."
    return (
        f"Figures with ± are means over {count} seeds, with half the width of the 95 % confidence interval (Student's "
        "t). No seed can change the others."
    )


def origin(workloads: Iterable[str], real: Collection[str]) -> str:
    """Say of each workload whether its trace is real."""
    kinds: dict[str, list[str]] = {}
    for name in dict.fromkeys(workloads):
        kinds.setdefault("real" if name in real else "standin", []).append(name)
    return "; ".join(f"trace={kind}: {', '.join(names)}" for kind, names in kinds.items())
