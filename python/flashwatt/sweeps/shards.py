"""Shards: parts of a sweep that run on several machines. The machines need one directory that all of them see.

A shard of N takes every N-th task of the study and keeps its results in a file of its own, `shard-I-of-N.jsonl`, that
no other process writes. So shards need neither a scheduler nor a network. A sweep of the same study in that directory
takes what the shards have finished into `results.jsonl`: the same bytes as those of one machine.
"""

from __future__ import annotations

import re
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from flashwatt import _core
from flashwatt.base.missing import printable
from flashwatt.base.outputs import BusyError, locked
from flashwatt.sweeps.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from flashwatt.sweeps.task import Task

RESULTS = "results.jsonl"
"""The file of a whole sweep."""
_NAME = re.compile(r"shard-(\d+)-of-(\d+)\.jsonl")
_EXPECTED = "I/N, with I from 0 to N - 1: 0/3, 1/3, 2/3"


class Shard(NamedTuple):
    """One of several parts of a study."""

    number: int
    """From 0."""
    of: int
    """The number of parts."""

    @classmethod
    def of_text(cls, text: str) -> Shard:
        """Read `I/N`. Raises `FlashwattError` for anything else."""
        found = re.fullmatch(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text)
        shard = cls(*map(int, found.groups())) if found else None
        if shard is None or not shard.is_valid():
            raise _core.FlashwattError(f"found {text!r}; expected {_EXPECTED}")
        return shard

    def is_valid(self) -> bool:
        """Whether there is such a part."""
        return 0 <= self.number < self.of

    def __str__(self) -> str:
        """Write it as it is asked for."""
        return f"{self.number}/{self.of}"

    @property
    def file(self) -> str:
        """The name of the file with its results."""
        return f"shard-{self.number}-of-{self.of}.jsonl"

    @contextmanager
    def locked(self, directory: Path) -> Iterator[None]:
        """Keep other processes from running the shard. Raises `BusyError` if one does."""
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(directory, f".flashwatt-shard-{self.number}-of-{self.of}.lock"))
            except BusyError:
                raise BusyError(f"{printable(directory)}: another command runs shard {self} there") from None
            yield

    def part(self, tasks: Sequence[Task]) -> list[Task]:
        """Give its tasks: every N-th, each once, so that points that take long are dealt out to all shards."""
        return list({task.id: task for task in tasks}.values())[self.number :: self.of]


def shards_in(directory: Path) -> list[Shard]:
    """Find the shards that have left a file in a directory."""
    names = (_NAME.fullmatch(path.name) for path in directory.glob("shard-*-of-*.jsonl"))
    return sorted(Shard(int(name[1]), int(name[2])) for name in names if name)


def finished(directory: Path, *, but: str = "") -> set[str]:
    """Give the ids of all tasks whose results are in a directory, in any file but that of this name.

    Other processes may be writing to it: a line that is not whole yet does not count.
    """
    # A merge removes the file of a shard when RESULTS has its content, so RESULTS comes last.
    names = (*(shard.file for shard in shards_in(directory)), RESULTS)
    return {task for name in names if name != but for task in _ids(directory / name)}


def _ids(path: Path) -> list[str]:
    """Give the ids of the tasks in a file; none if it is not there."""
    with suppress(FileNotFoundError), closing(Journal(path, only_read=True)) as journal:
        return journal.ids
    return []


def gather(directory: Path, tasks: Iterable[Task], journal: Journal) -> None:
    """Take the results of these tasks out of the files of shards."""
    wanted = {task.id for task in tasks}
    for shard in shards_in(directory):
        with closing(Journal(directory / shard.file, only_read=True)) as part:
            for task in part.ids:
                if task in wanted and task not in journal:
                    journal.add(task, part.line(task))


def remove_gathered(directory: Path, journal: Journal) -> None:
    """Remove the files of shards whose results are all in the journal, and that no process is writing to."""
    for shard in shards_in(directory):
        path = directory / shard.file
        with suppress(BusyError), shard.locked(directory), closing(Journal(path, only_read=True)) as part:
            if all(task in journal for task in part.ids):
                path.unlink()


def doubts(directory: Path) -> Iterator[str]:
    """Write which files of shards have results that were not taken, and why that may be."""
    by_shard = {shard: _ids(directory / shard.file) for shard in shards_in(directory)}
    there = set(_ids(directory / RESULTS)) if by_shard else set()
    for shard, ids in by_shard.items():
        if foreign := len(set(ids) - there):
            found = f"{printable(directory / shard.file)}: {foreign} results are of no task of this study"
            expected = "runs of the same study, by the same build of flashwatt, on traces with the same content"
            yield f"{found}; expected {expected}"
