"""A page for each paper: verdicts, then every experiment with its figures, as one file that needs no network."""

from __future__ import annotations

import html
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from markdown_it import MarkdownIt

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.outputs import save
from flashwatt.plot.chart import Chart, document
from flashwatt.plot.figures import Multiples, averaged
from flashwatt.reproduce.criterion import MEANINGS
from flashwatt.reproduce.evidence import NoEvidenceError
from flashwatt.reproduce.sample import averaged_text
from flashwatt.reproduce.show import judged, origin, published, seeds_in_words, simulated
from flashwatt.reproduce.verdict import DOUBTFUL, Verdict, headline, numbers

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from flashwatt.reproduce.catalogue import Experiment, Paper
    from flashwatt.reproduce.plan import Terms
    from flashwatt.reproduce.verdict import Finding, Row

_Part: TypeAlias = "Chart | Multiples | str"
"""A chart, small charts side by side, or a text in Markdown."""

_CLASSES = {
    Verdict.MET: "met",
    Verdict.MISSED: "missed",
    Verdict.SHOWN: "shown",
    Verdict.SHORT: "shown",
    Verdict.TRACE: "shown",
    Verdict.PENDING: "shown",
    Verdict.UNKNOWN: "unknown",
}
_STYLE = """
article { border-top: 1px solid #e8ebef; margin-top: 2rem; padding-top: .6rem; }
article > div.said { padding: 0 12px; font-size: .95rem; line-height: 1.5; max-width: 62rem; }
article > div.said p, article > div.said li { color: inherit; padding: 0; margin: .3rem 0; }
.multiples { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 280px), 1fr)); }
.multiples > section { min-width: 0; }
.multiples h2 { font-size: .85rem; font-weight: normal; margin-top: .8rem; }
.scroll { overflow-x: auto; padding: 0 12px; }
table { border-collapse: collapse; font-size: .85rem; margin: .6rem 0; }
th { text-align: left; font-weight: normal; color: #69758a; }
th, td { padding: .25rem .9rem .25rem 0; vertical-align: top; border-bottom: 1px solid #eef0f3; }
td.figure { white-space: nowrap; }
.laid > p { margin: .6rem 0; padding: 0; color: inherit; }
.met { color: #23766a; } .missed { color: #b3263d; font-weight: bold; } .shown, .unknown { color: #69758a; }
small { color: #69758a; }
code { font-size: .9em; background: #f3f5f7; padding: 0 .2em; }
@media (max-width: 600px) {
  table, tbody, tr, td { display: block; }
  th { display: none; }
  td { border: none; padding: .1rem 0; }
  td.figure { white-space: normal; }
  td.figure:not(:empty)::before { content: attr(title) ": "; color: #69758a; }
  tr { border-bottom: 1px solid #eef0f3; padding: .5rem 0; }
  .laid table { display: table; } .laid tbody { display: table-row-group; } .laid tr { display: table-row; }
  .laid th, .laid td { display: table-cell; padding: .25rem .9rem .25rem 0; }
}
h3 { font-size: 1rem; padding: 0 12px; margin: .8rem 0 .2rem; }
"""


def write_pages(findings: Sequence[Finding], terms: Terms, directory: Path, *, force: bool = False) -> list[Path]:
    """Write `PAPER.html` for every paper with experiments of its own among the findings; return the paths.

    What another paper has as well stands on both pages.

    Raises `FlashwattError` for a page that cannot be written, and, without `force`, for a file that is none of ours.
    """
    papers = {page_path(one.experiment, directory): one.experiment.paper for one in findings}
    for path, paper in papers.items():
        found = [one for one in findings if paper.name in one.experiment.sources]
        save(path, _page(paper, found, terms), marks.PAGE, force=force)
    return list(papers)


def page_path(experiment: Experiment, directory: Path) -> Path:
    """Give the path of the page of an experiment's paper."""
    return directory / f"{experiment.paper.name}.html"


def _page(paper: Paper, findings: list[Finding], terms: Terms) -> bytes:
    parts: list[Chart | str] = [_overview(paper, [row for finding in findings for row in finding.rows], terms)]
    for one in findings:
        parts += [_said(one.experiment, paper, terms.traces), _table(one.rows), *_figures(one), "</article>"]
    return document(paper.title, parts, style=_STYLE)


def _overview(paper: Paper, rows: list[Row], terms: Terms) -> str:
    found = "" if terms.changed() or terms.traces else f'<div class="said">{_rendered(paper.found)}</div>\n'
    changed = f'<p class="missed">Not as published: {html.escape(terms.changed())}.</p>' if terms.changed() else ""
    return (
        f"<p>{html.escape(paper.citation)}</p>\n"
        f"{found}<p>{html.escape(headline(rows))}. FlashWatt {_core.__version__}.</p>\n"
        f"<p>{html.escape(_legend(rows))}</p>\n"
        f"<p>{html.escape(seeds_in_words(terms.replicates))}</p>{changed}{_numbers(rows)}"
    )


def _legend(rows: Sequence[Row]) -> str:
    """Say what the words of the headline and of the tables mean."""
    classes = [f"{one.value}: {meaning}" for one, meaning in MEANINGS.items() if any(row.class_ is one for row in rows)]
    doubtful = f"{DOUBTFUL}: the mean decides, and other seeds may decide otherwise"
    return "; ".join([*classes, *([doubtful] if any(row.doubtful for row in rows) else [])]) + "."


def _numbers(rows: list[Row]) -> str:
    """The published numbers that were neither put in nor fitted, the nearest first."""
    if not (laid := numbers(rows)):
        return ""
    head = "".join(f"<th>{name}</th>" for name in ("", "published", "simulated", "ratio"))
    body = "\n".join(_number(row) for row in laid)
    return (
        "<h2>Published numbers, neither put in nor fitted</h2>"
        f'<div class="scroll"><table>\n<tr>{head}</tr>\n{body}\n</table></div>'
    )


def _number(row: Row) -> str:
    cells = {"published": published(row), "simulated": simulated(row), "ratio": f"{row.ratio:.2f}"}
    figures = "".join(f'<td class="figure" title="{name}">{html.escape(text)}</td>' for name, text in cells.items())
    link = f'<a href="#{row.experiment}">{row.experiment}</a>'
    return f"<tr><td>{link}: {html.escape(row.claim)}</td>{figures}</tr>"


def _rendered(markdown: str) -> str:
    text: str = MarkdownIt("commonmark").enable("table").render(markdown)
    return text


def _said(experiment: Experiment, paper: Paper, real: Collection[str]) -> str:
    text = _rendered(experiment.readme)
    heading = f"{experiment.id}: {experiment.title} ({experiment.sources[paper.name]})"
    traces = f"<p>{html.escape(origin(experiment.workloads, real))}</p>" if experiment.workloads else ""
    return f'<article id="{experiment.id}">\n<h2>{html.escape(heading)}</h2>\n<div class="said">{text}{traces}</div>'


def _table(rows: list[Row]) -> str:
    head = "".join(f"<th>{name}</th>" for name in ("", "published", "simulated", "criterion", "verdict"))
    body = "\n".join(_line(row) for row in rows)
    return f'<div class="scroll"><table>\n<tr>{head}</tr>\n{body}\n</table></div>'


def _line(row: Row) -> str:
    remark = f"<br><small>{html.escape(row.remark)}</small>" if row.remark else ""
    cells = [f'<td title="{html.escape(row.reason)}">{html.escape(row.claim)}{remark}</td>']
    figures = {"published": published(row), "simulated": simulated(row), "criterion": row.bound}
    cells += [f'<td class="figure" title="{name}">{html.escape(text)}</td>' for name, text in figures.items()]
    return f'<tr>{"".join(cells)}<td class="{_CLASSES[row.verdict]}">{judged(row)}</td></tr>'


def texts(finding: Finding) -> list[str]:
    """Give the tables and other texts, in Markdown, that an experiment's page has among its charts."""
    return [part for part in _drawn(finding)[0] if isinstance(part, str)]


def _figures(finding: Finding) -> list[Chart | str]:
    drawn, fault = _drawn(finding)
    parts = [laid for one in drawn for laid in _laid(one)]
    return [*parts, f"<p>not drawn: {html.escape(fault)}</p>"] if fault else parts


def _laid(part: _Part) -> list[Chart | str]:
    if isinstance(part, str):
        return [f'<div class="scroll laid">{_rendered(part)}</div>']
    if isinstance(part, Multiples):
        heading = f"<h2>{html.escape(part.title)}</h2>\n<p>{html.escape(part.said)}</p>"
        return [f'{heading}\n<div class="multiples">', *part.charts, "</div>"]
    return [part]


def _drawn(finding: Finding) -> tuple[list[_Part], str]:
    """Charts, and texts in Markdown, of all seeds; then why the rest cannot be drawn, if it cannot."""
    found: list[list[_Part]] = []
    fault = ""
    with finding.experiment.measures() as measures:
        for evidence in finding.evidence:
            drawn: list[_Part] = []
            found.append(drawn)
            try:
                drawn += measures.figures(evidence)
            except NoEvidenceError as error:
                fault = fault or str(error)
            except ZeroDivisionError:
                fault = fault or "a ratio to nothing; something that the figure counts never happened"
    return [_of_all_seeds(some) for some in zip(*found, strict=False)], fault


def _of_all_seeds(parts: Sequence[_Part]) -> _Part:
    first = parts[0]
    if isinstance(first, str):
        return averaged_text([part for part in parts if isinstance(part, str)])
    if isinstance(first, Multiples):
        rows = zip(*(part.charts for part in parts if isinstance(part, Multiples)), strict=True)
        return replace(first, charts=tuple(map(averaged, rows)))
    return averaged([part for part in parts if isinstance(part, Chart)])
