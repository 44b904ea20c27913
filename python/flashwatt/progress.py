"""The progress bar: on the terminal's error stream, where it disturbs no output."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flashwatt.units import duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    Update: TypeAlias = Callable[[int, int | None, int, bool], None]


@contextmanager
def bar() -> Iterator[Update]:
    """Show a bar while the block runs, if someone is there to see it."""
    if not sys.stderr.isatty():
        yield lambda _done, _total, _now_ns, _preparing: None
        return

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(show_speed=True),
        TextColumn("{task.completed:,} requests, {task.fields[simulated]} simulated,"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("Starting", total=None, simulated="0 s")
        half: bool | None = None

        def update(done: int, total: int | None, now_ns: int, preparing: bool) -> None:
            nonlocal half
            if preparing != half:  # another half begins, with a speed of its own
                half = preparing
                progress.reset(task, description="Preparing" if preparing else "Simulating", total=total)
            progress.update(task, completed=done, total=total, simulated=duration(now_ns))

        yield update


@contextmanager
def tasks_bar() -> Iterator[Callable[[int, int], None]]:
    """Show how many of a sweep's tasks are finished while the block runs, if someone is there to see it."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("Sweeping"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("left"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
