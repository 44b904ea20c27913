"""Messages about options and commands that do not exist: the nearest one, or what does the same."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

import click

from flashwatt.cli.sections import HIDDEN

_NEAR = 0.8
_INSTEAD = {
    "plot": "pictures come with `flashwatt run … --series --out DIR`, those of a trace with `flashwatt trace plot`",
    "help": "`flashwatt --help` and `flashwatt COMMAND --help` print the help",
}
_SYNONYMS = {"simulate": "run", "sim": "run", "replay": "run", "stats": "info", "statistics": "info", "diff": "compare"}
_OF_STUDIES = {
    "--set": "keys go into the study's base, or with a list of values into [grid]",
    "--requests": "run.measure.requests in the study's base sets it",
    "--preset": "device.preset in the study's base sets it",
}


def unknown_option(name: str, context: click.Context | None) -> str:
    """Say that an option is unknown, and name the one that may be meant."""
    hint = _option_hint(name, context) if context else ""
    return f"{name}: unknown option" + (f"; {hint}" if hint else "")


def _option_hint(name: str, context: click.Context) -> str:
    command = context.command
    if isinstance(command, click.Group):
        having = [one.name for one in command.commands.values() if name in _options(one)]
        if having:
            return f"it is an option of {' and '.join(map(str, having))}: `{context.command_path} {having[0]} {name} …`"
    if command.name == "sweep" and name in _OF_STUDIES:
        return _OF_STUDIES[name]
    options = _options(command)
    if near := get_close_matches(name, options, n=1, cutoff=_NEAR):
        return f"did you mean {near[0]}?"
    if "--set" in options and (key := _key(name)):
        return f"keys of the configuration are set with --set {key}=VALUE"
    if len(name) == len("-p"):
        near = [one for one in options if one.startswith(f"-{name}")][:1]
    near = near or get_close_matches(name, options, n=1)
    return f"did you mean {near[0]}?" if near else f"`{context.command_path} --help` lists the options"


def _options(command: click.Command) -> list[str]:
    """The options of a command, and --help."""
    return [*(name for one in command.params if isinstance(one, click.Option) for name in one.opts), "--help"]


def _key(option: str) -> str | None:
    """The key of a configuration whose last part is nearest to an option's name."""
    from flashwatt.config.reference import keys

    names: dict[str, str] = {}
    for key in sorted(keys(), key=lambda one: one.count(".")):
        names.setdefault(key.rpartition(".")[2], key)
    near = get_close_matches(option.strip("-").replace("-", "_"), names, n=1, cutoff=_NEAR)
    return names[near[0]] if near else None


def unknown_command(name: str, context: click.Context) -> str:
    """Say that a command is unknown, with those there are and the one that may be meant."""
    group = context.command
    commands = [one for one in group.commands if one not in HIDDEN] if isinstance(group, click.Group) else []
    start = f"unknown command; found {name}; "
    if name in _INSTEAD and context.parent is None:
        return start + _INSTEAD[name]
    if context.parent is None and Path(name).is_file():
        return f"{start}`flashwatt run {name}` runs a configuration or a trace"
    synonym = _SYNONYMS.get(name)
    near = [synonym] if synonym in commands else get_close_matches(name, commands, n=1)
    question = f"; did you mean {near[0]}?" if near else ""
    return f"{start}expected one of {', '.join(commands)}{question}"
