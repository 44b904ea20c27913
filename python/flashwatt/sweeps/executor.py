"""Executors: they decide where the tasks of a sweep run. `local` and `dask` are there; packages can bring others.

A package registers one by an entry point of the group `flashwatt.executors`, whose name is that of the executor. The
entry point is a class or a function that is called without arguments, and gives an `Executor`.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from flashwatt import _core
from flashwatt.base.misspelt import hint
from flashwatt.sweeps.workers import Local

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.sweeps.work import Work

GROUP = "flashwatt.executors"
"""The group of entry points."""
LOCAL, DASK = "local", "dask"


@runtime_checkable
class Executor(Protocol):
    """Something that runs tasks: processes, a cluster, a batch system.

    The results of a task are the same bytes wherever it runs, so an executor moves bytes and decides nothing else.
    """

    def run(self, work: Work) -> None:
        """Run every task of `work.tasks`, and return when each has a result or a fault.

        For each task, `flashwatt.sweeps.work.request` gives bytes, `answer` makes an answer of them in any process on
        any machine, and `work.keep` takes it. A task that cannot be run is named by `work.fail`, and the others go on.

        Ctrl-C comes as `KeyboardInterrupt`: stop what runs, and let it pass on. Raise `FlashwattError` if nothing more
        can be run; what was kept stays.
        """
        ...

    def close(self) -> None:
        """End what `run` has started. May be called twice."""
        ...


def executor_named(name: str, workers: int) -> Executor:
    """Make the executor of a name; `workers` is the number of processes on this machine.

    Raises `FlashwattError` for a name that no package has registered, and if what it needs is not installed.
    """
    if name == LOCAL:
        return Local(workers)
    if name == DASK:
        from flashwatt.sweeps.cluster.dask import Dask

        return Dask(local_workers=workers)
    return _registered(name)


def _registered(name: str) -> Executor:
    """Make an executor that another package has registered."""
    from importlib.metadata import entry_points

    found = {one.name: one for one in entry_points(group=GROUP)}
    if name not in found:
        known = hint(name, [LOCAL, DASK, *found])
        raise _core.FlashwattError(f"executor: unknown name; found `{name}`; {known}")
    try:
        make = cast("Callable[[], object]", found[name].load())
    except ImportError as error:
        place = f"the entry point {found[name].value} of the group {GROUP}"
        raise _core.FlashwattError(f"executor: {name}: {place} cannot be loaded; found: {error}") from None
    made = make()
    if not isinstance(made, Executor):
        what = f"found {type(made).__name__}, which has no `run` and `close`"
        raise _core.FlashwattError(f"executor: {name}: no executor; {what}; expected a flashwatt.Executor")
    return made


@contextmanager
def opened(executor: Executor | str | None, workers: int) -> Iterator[Executor]:
    """Give an executor for the block: one that is named is made and closed here, another one is the caller's."""
    if executor is None or isinstance(executor, str):
        made = executor_named(executor or LOCAL, workers)
        try:
            yield made
        finally:
            made.close()
    elif isinstance(executor, Executor):
        yield executor
    else:
        found = f"found {type(executor).__name__}"
        raise _core.FlashwattError(f"executor: {found}; expected a name, or an object with `run(work)` and `close()`")
