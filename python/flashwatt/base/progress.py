"""Progress on the error stream, where it disturbs no output: a bar on a terminal, elsewhere a line a minute."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, Protocol, runtime_checkable

from flashwatt.base.units import duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from rich.console import Console, RenderableType
    from rich.progress import ProgressColumn, Task

    Update: TypeAlias = Callable[[int, int | None, int, str | None], None]


CUTTING = "cutting the power"
"""What the engine calls the power cuts after a run (`[run.power_cuts]`)."""


class _Quiet:
    """The error stream with errors of writing ignored: a closed terminal does not end a run."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Lines:
    """Says once a minute how far a command is, where no terminal shows a bar: in a batch job or a log."""

    EVERY_S = 60.0

    def __init__(self, *, at_once: bool = False) -> None:
        """Begin before the work. The first line comes after a minute, or at once."""
        self._said_s = monotonic() - (self.EVERY_S if at_once else 0)
        self._doing: str | None = None
        self._begin = 0.0, 0

    def look(self, doing: str, done: int, total: int | None, counted: str, workers: Sequence[str] = ()) -> None:
        """Take how far the work is, and what its workers do.

        Another `doing` is another part of the work, with a speed of its own.
        """
        now_s = monotonic()
        if doing != self._doing:
            self._doing, self._begin = doing, (now_s, done)
        if now_s - self._said_s < self.EVERY_S:
            return
        self._said_s = now_s
        of = f" of {total:,}" if total else ""
        by = f"; {', '.join(workers)}" if workers else ""
        _Quiet(sys.stderr).write(f"flashwatt: {doing}: {done:,}{of} {counted}{self._left(now_s, done, total)}{by}\n")

    def _left(self, now_s: float, done: int, total: int | None) -> str:
        begin_s, first = self._begin
        if not total or done <= first:
            return ""
        return f", about {duration((now_s - begin_s) * (total - done) / (done - first) * 1e9)} left"


def _console() -> Console:
    from rich.console import Console

    return Console(file=_Quiet(sys.stderr))  # type: ignore[arg-type]


@contextmanager
def bar(doing: str = "Simulating", counted: str = "requests", *, hidden: bool = False) -> Iterator[Update]:
    """Show a bar while the block runs, or a line a minute if the error stream is no terminal.

    `doing` describes the main phase, and `counted` says what is counted in it.
    """
    if hidden:
        yield lambda _done, _total, _now_ns, _preparing: None
        return
    if not sys.stderr.isatty():
        lines = Lines()
        yield lambda done, total, _now_ns, preparing: lines.look(
            preparing or doing.lower(), done, total, counted_in(preparing) or counted
        )
        return

    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(show_speed=True),
        TextColumn("{task.completed:,} {task.fields[counted]}{task.fields[simulated]}"),
        left(),
    )
    with Progress(*columns, console=_console(), transient=True) as progress:
        task = progress.add_task("Starting", total=None, simulated="", counted="requests")
        half: str | None = "Starting"

        def update(done: int, total: int | None, now_ns: int, preparing: str | None) -> None:
            nonlocal half
            if preparing != half:  # another half begins, with a speed of its own
                half = preparing
                progress.reset(task, description=preparing.capitalize() if preparing else doing, total=total)
            simulated = f", {duration(now_ns)} simulated" if now_ns else ""
            of = counted_in(preparing) or counted
            progress.update(task, completed=done, total=total, simulated=simulated, counted=of)

        yield update


def counted_in(preparing: str | None) -> str | None:
    """Say what is counted before a simulation and after it; None during the simulation."""
    return ("cuts" if preparing == CUTTING else "requests") if preparing else None


@runtime_checkable
class ShowsWorkers(Protocol):
    """Progress that also shows what each worker does."""

    def workers(self, lines: Callable[[], Sequence[str]]) -> None:
        """Take a function that writes a line for each worker."""


class Runs:
    """Progress over many runs: called with the number of finished ones and of all."""

    def __init__(self, show: Callable[[int, int, Sequence[str]], object]) -> None:
        """Take a function that also gets a line for each worker."""
        self._show = show
        self._last: tuple[int, int] | None = None
        self._workers: Callable[[], Sequence[str]] = tuple

    def __call__(self, done: int, total: int) -> None:
        """Take how far the work is."""
        self._last = done, total
        self._show(done, total, self._workers())

    def workers(self, lines: Callable[[], Sequence[str]]) -> None:
        """Take a function that writes a line for each worker."""
        self._workers = lines
        if self._last:
            self._show(*self._last, lines())


@contextmanager
def runs_bar(doing: str, *, counted: bool, at_once: bool = False) -> Iterator[Runs]:
    """Show the number of finished runs, or their share, and what each worker does; elsewhere a line a minute.

    With `at_once` the first line does not wait for the end of a minute.
    """
    if not sys.stderr.isatty():
        lines = Lines(at_once=at_once)
        if counted:
            yield Runs(lambda done, total, workers: lines.look(doing.lower(), done, total, "runs", workers))
        else:
            yield Runs(lambda done, total, _: lines.look(doing.lower(), round(100 * done / max(total, 1)), 100, "%"))
        return

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn
    from rich.text import Text

    rows: Sequence[str] = ()

    class WithWorkers(Progress):
        def get_renderables(self) -> Iterable[RenderableType]:
            yield from super().get_renderables()
            yield from (Text(f"  {row}", "dim", no_wrap=True) for row in rows)

    done_of = (MofNCompleteColumn(), TextColumn("runs")) if counted else (TaskProgressColumn(),)
    columns = (TextColumn(doing), BarColumn(), *done_of, left())
    with WithWorkers(*columns, console=_console(), transient=True) as progress:
        task = progress.add_task("", total=None)

        def update(done: int, total: int, workers: Sequence[str]) -> None:
            nonlocal rows
            rows = workers
            progress.update(task, completed=done, total=total)

        yield Runs(update)


@contextmanager
def counting_bar(doing: str) -> Iterator[Callable[[str, int], None]]:
    """Show what is being done and the number of runs so far; without a terminal a line a minute."""
    if not sys.stderr.isatty():
        lines = Lines()
        yield lambda what, runs: lines.look(f"{doing.lower()}: {what}", runs, None, "runs")
        return

    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(doing), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=_console(), transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda what, runs: progress.update(task, description=f"{what}: {runs:,} runs")


def silent(_done: int, _total: int) -> None:
    """Show nothing."""


def left() -> ProgressColumn:
    """Make a column with the remaining time, empty until it can be estimated."""
    from rich.progress import TimeRemainingColumn
    from rich.text import Text

    class Left(TimeRemainingColumn):
        def render(self, task: Task) -> Text:
            if task.finished or task.time_remaining is None:
                return Text()
            return super().render(task).append(" left")

    return Left(compact=True)
