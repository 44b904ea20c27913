"""Every argument that may name a file counts as a file that the command reads, unless its type says that it is written.

It holds for every command, also for one that is added later: `protect` goes through all of them.
"""

from __future__ import annotations

import os
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from flashwatt.base.reads import reading, reads
from flashwatt.cli.terminal import Output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def protect(command: click.Command) -> None:
    """Let a command, or every command of a group, refuse to write a file that is among its arguments."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            protect(inner)
    elif command.callback:
        written = {one.name for one in command.params if one.name and isinstance(one.type, Output)}
        command.callback = _protected(command.callback, written)


def _protected(callback: Callable[..., Any], written: set[str]) -> Callable[..., Any]:
    @wraps(callback)
    def whole(*values: Any, **options: Any) -> Any:
        with reading():
            reads(*(path for name, value in options.items() if name not in written for path in _paths(value)))
            return callback(*values, **options)

    return whole


def _paths(value: object) -> Iterator[str | os.PathLike[str]]:
    """Give the paths in the value of an option. Text is one if there is such a file; so is `NAME=FILE`."""
    if isinstance(value, os.PathLike):
        yield value
    elif isinstance(value, str):
        yield from (one for one in (value, value.partition("=")[2]) if one and os.path.exists(one))  # noqa: PTH110
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _paths(one)
