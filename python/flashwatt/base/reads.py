"""The files that a command or a call reads: `flashwatt.base.outputs` never replaces or removes one of them.

Readers name their files here, and writers ask here, so that no command has to pass the ones to the other. The command
line opens a list for each command and names every argument in it. A function of the library that reads and writes
opens a list for the call. Without an open list nothing is kept: a script may read a report and save over it.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike


class _File(NamedTuple):
    """A file under every name that it may have."""

    path: str
    """Without symbolic links."""
    inode: tuple[int, int] | None
    """Its device and its number there, which its hard links share; None if there is no file."""


_files: ContextVar[set[_File] | None] = ContextVar("files that are read", default=None)


@contextmanager
def reading() -> Iterator[None]:
    """Within the block, keep a list of the files that are read; it begins with those of a block around this one."""
    before = _files.get()
    token = _files.set(set(before or ()))
    try:
        yield
    finally:
        _files.reset(token)


def reads(*paths: str | PathLike[str]) -> None:
    """Name files that are read. They need not be there yet."""
    files = _files.get()
    if files is not None:
        files |= {_file(path) for path in paths}


def is_read(path: str | PathLike[str]) -> bool:
    """Whether a file is one of those that are read, under any of its names."""
    files = _files.get()
    if not files:
        return False
    asked = _file(path)
    return any(asked.path == one.path or (asked.inode and asked.inode == one.inode) for one in files)


@contextmanager
def renewed(path: str | PathLike[str]) -> Iterator[None]:
    """Within the block, a file that is read may be replaced: the command puts more into it."""
    before = _files.get()
    token = _files.set({one for one in before or () if one != _file(path)})
    try:
        yield
    finally:
        _files.reset(token)


def _file(path: str | PathLike[str]) -> _File:
    try:
        found = Path(path).stat()
    except (OSError, ValueError):  # none there yet, or a name that no file can have
        return _File(_real(path), None)
    return _File(_real(path), (found.st_dev, found.st_ino))


def _real(path: str | PathLike[str]) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # a NUL in the name
        return os.fspath(path)
