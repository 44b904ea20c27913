"""A group of commands that loads each on its first use: a command costs its own imports, not those of all others."""

from __future__ import annotations

from collections.abc import MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING

import click

from flashwatt.cli.sections import HIDDEN, write_sections

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from click.shell_completion import CompletionItem

    from flashwatt.cli.commands import Listed


class Commands(MutableMapping[str, click.Command]):
    """Commands by name. To look one up loads it; to ask for the names loads none."""

    def __init__(self, listed: Mapping[str, Listed]) -> None:
        """Take the table of commands."""
        self.listed = listed
        self._loaded: dict[str, click.Command] = {}
        self._names = dict.fromkeys(listed)

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._loaded:
            self._loaded[name] = _load(self.listed[name])
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._names[name] = None
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._names[name]
        self._loaded.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class LazyGroup(click.Group):
    """A group whose help and completion are made from the table of its commands."""

    commands: Commands

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands of each section, each with its sentence."""
        write_sections(formatter, {name: self.commands.listed[name].help for name in self.list_commands(ctx)})

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command, or an option of the group."""
        from click.shell_completion import CompletionItem

        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete) and name not in HIDDEN]
        found = [CompletionItem(name, help=self.commands.listed[name].help) for name in names]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]


def _load(listed: Listed) -> click.Command:
    from flashwatt.cli.inputs import protect
    from flashwatt.cli.next_step import follow

    command: click.Command = getattr(import_module(f"flashwatt.cli.{listed.module}"), listed.function)
    follow(command)
    protect(command)
    _say_whole_sentence(command)
    return command


def _say_whole_sentence(command: click.Command) -> None:
    """Let lists of commands have the first sentence of each: click cuts it at the end of the line."""
    command.short_help = " ".join((command.help or "").split("\n\n")[0].split()).rstrip(".")
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            _say_whole_sentence(inner)
