"""The figures of a trace and of its stand-in, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console

from flashwatt.base.units import duration, si
from flashwatt.report.table import emit, new_table, show_warnings

if TYPE_CHECKING:
    from collections.abc import Iterator

    Figures = dict[str, Any]

_TOPS = (1, 10, 100, 1000)
_CACHES = (4, 64, 1024, 16_384)
_SIZE_QUANTILES = (10, 50, 90)
_GAP_QUANTILES = (10, 50, 90, 99)


def show_likeness(fitted: dict[str, Any], console: Console | None = None) -> None:
    """Print what `flashwatt.traces.fit_standin` returned."""
    console = console or Console(highlight=False)
    table = new_table("", "", "trace", "stand-in")
    for (name, of_trace), (_, of_standin) in zip(rows(fitted["trace"]), rows(fitted["standin"]), strict=True):
        table.add_row(name, of_trace, of_standin)
    emit(console, table)
    kind = "writes" if fitted["of_writes"] else "reads"
    console.print(f"Popular pages and cache hits are fitted for the {kind}; they differ by {fitted['distance']:.0%}.")
    show_warnings(fitted["warnings"], console)


def rows(figures: Figures) -> Iterator[tuple[str, str]]:
    """Name and value of each figure of a stream of requests."""
    requests = figures["requests"]
    yield "requests", f"{requests:,}"
    yield "reads", _percent(100 * figures["reads"]["requests"] / requests)
    yield "sequential", _percent(figures["sequential_percent"])
    yield "requests in a run", f"{figures['run_requests']:.2f}"
    for quantile, gap in zip(_GAP_QUANTILES, figures["gap_ns"], strict=True):
        yield f"time between arrivals, {quantile} %", duration(gap)
    for kind in ("reads", "writes"):
        yield from _of_kind(kind, figures[kind])


def _of_kind(kind: str, figures: Figures) -> Iterator[tuple[str, str]]:
    yield f"mean of {kind}", f"{figures['mean_kib']:.2f} KiB"
    for quantile, size in zip(_SIZE_QUANTILES, figures["bytes"], strict=True):
        yield f"size of {kind}, {quantile} %", si(size, "B")
    for top, share in zip(_TOPS, figures["top_percent"], strict=True):
        most_popular = "page" if top == 1 else f"{top:,} pages"
        yield f"{kind} that start in the most popular {most_popular}", _percent(share)
    yield f"{kind} that start in a new page", _percent(figures["new_percent"])
    for pages, share in zip(_CACHES, figures["hit_percent"], strict=True):
        yield f"{kind} that hit an LRU cache of {pages:,} pages", _percent(share)


def _percent(value: float) -> str:
    return f"{value:.1f} %"
