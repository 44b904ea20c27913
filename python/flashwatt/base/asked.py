"""The bar that `progress=True` asks for: in a notebook a line below the cell, on a terminal that of the command line.

Elsewhere, as in a script whose error stream is a file, it shows nothing.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.literals import shown
from flashwatt.base.progress import bar, counted_in, runs_bar
from flashwatt.base.units import count, duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LEFT_FROM_S = 2  # before, an estimate of the time that is left says little


@contextmanager
def run_progress(asked: Any, doing: str = "Simulating", counted: str = "requests") -> Iterator[Any]:
    """Give the callback for the progress of a run: the caller's own, one that shows a bar for True, else None.

    `doing` describes the main phase, and `counted` says what is counted in it.
    """
    if asked is not True:
        if asked and not callable(asked):
            raise _core.FlashwattError(f"progress: found {shown(asked)}; expected True, False or a function")
        yield asked or None
    elif not in_notebook():
        with bar(doing, counted) as show:
            yield show
    else:
        with _Line() as line:

            def update(done: int, total: int | None, now_ns: int, preparing: str | None) -> None:
                of_all = f"{count(done)} of {count(total)}" if total else count(done)
                simulated = f", {duration(now_ns)} simulated" if now_ns else ""
                what = counted_in(preparing) or counted
                line.show(preparing or doing, done, total, f"{of_all} {what}{simulated}")

            yield update


@contextmanager
def sweep_progress(asked: Any) -> Iterator[Callable[[int, int], object] | None]:
    """Give the callback for the progress of a sweep: the caller's own, one that shows a bar for True, else None."""
    if asked is not True:
        yield asked or None
    elif not in_notebook():
        with runs_bar("Sweeping", counted=True) as show:
            yield show
    else:
        with _Line() as line:
            yield lambda done, total: line.show("Sweeping", done, total, f"{count(done)} of {count(total)} runs")


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook: one of IPython's shells that are not terminals."""
    ipython = sys.modules.get("IPython")  # a notebook has loaded it
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


class _Line:
    """A bar and a text below the cell, which go when the work has ended."""

    def __enter__(self) -> _Line:
        self._display = import_module("IPython.display")  # no dependency: only a notebook comes here
        self._handle = self._display.display(self._display.HTML(""), display_id=True)
        self._phase, self._begin_s, self._first = "", 0.0, 0
        return self

    def __exit__(self, *_: object) -> None:
        self._handle.update(self._display.HTML(""))

    def show(self, phase: str, done: int, total: int | None, text: str) -> None:
        """Show how much of a phase is done; without a total the bar has no end."""
        now_s = time.monotonic()
        if phase != self._phase:
            self._phase, self._begin_s, self._first = phase, now_s, done
        value = f' value="{done}" max="{total}"' if total else ""
        words = f"{phase[:1].upper()}{phase[1:]}: {text}{self._left(done, total, now_s - self._begin_s)}"
        from html import escape

        self._handle.update(self._display.HTML(f"<progress{value}></progress> {escape(words)}"))

    def _left(self, done: int, total: int | None, elapsed_s: float) -> str:
        since = done - self._first
        if not total or done >= total or since <= 0 or elapsed_s < _LEFT_FROM_S:
            return ""
        return f", {duration(elapsed_s * (total - done) / since * 1e9)} left"
