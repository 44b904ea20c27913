"""Mistakes on the command line that click finds, in the form of all other messages: place, found, expected."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_KINDS = {"integer": "a whole number", "float": "a number"}


def told(error: click.ClickException, program: click.Command, words: Sequence[str]) -> str:
    """Write a mistake as one line, and the command's usage as a second one.

    `words` are the arguments of the program: some errors of click do not say which command they belong to.
    """
    return "\n".join(_lines(error, _command(program, words)))


def check_once(program: click.Command, words: Sequence[str]) -> None:
    """Refuse an option with a value that is given twice: click would drop the first one."""
    for option in _command(program, words).params:
        if not isinstance(option, click.Option) or option.multiple or option.is_flag or option.count:
            continue
        given = [word for word in words if word.partition("=")[0] in option.opts]
        if len(given) > 1:
            raise click.UsageError(f"{option.opts[0]}: given twice; expected it once")


def _command(command: click.Command, words: Sequence[str]) -> click.Command:
    for word in words:
        if isinstance(command, click.Group) and word in command.commands:
            command = command.commands[word]
    return command


def _lines(error: click.ClickException, command: click.Command) -> Iterator[str]:
    yield _message(error, command).rstrip(".")
    context = getattr(error, "ctx", None)
    if context is not None:
        usage = context.get_usage().removeprefix("Usage: ")
        yield f"usage: {' '.join(usage.split())} (more by `{context.command_path} --help`)"


def _message(error: click.ClickException, command: click.Command) -> str:
    context = getattr(error, "ctx", None)
    if isinstance(error, click.NoSuchOption):
        from flashwatt.cli.unknown import unknown_option

        return unknown_option(error.option_name, context)
    if isinstance(error, click.MissingParameter):
        return _missing(error)
    if isinstance(error, click.BadOptionUsage):
        return _without_value(error, command)
    if isinstance(error, click.BadParameter):
        return _bad_value(error)
    return _of_words(error.format_message(), context)


def _of_words(message: str, context: click.Context | None) -> str:
    """Mend the mistakes that click tells by their words only."""
    if context is None:
        return message
    if wrong := re.match(r"No such command '(.*?)'", message, re.DOTALL):
        from flashwatt.cli.unknown import unknown_command

        return unknown_command(wrong[1], context)
    if wrong := re.match(r"Got unexpected extra arguments? \((.*)\)", message, re.DOTALL):
        return f"{context.command_path}: too many arguments; found {wrong[1]} as well; expected {_taken(context)}"
    return message


def _taken(context: click.Context) -> str:
    """Name the arguments that a command takes."""
    places = [one.make_metavar(context) for one in context.command.params if isinstance(one, click.Argument)]
    return " ".join(places) or "none"


def _missing(error: click.MissingParameter) -> str:
    """Name the option or the argument that is missing, and its kind of value."""
    if error.param is None or error.ctx is None:
        return error.format_message()
    kind = error.param.make_metavar(error.ctx)
    if isinstance(error.param, click.Option):
        return f"{error.param.opts[-1]}: missing; expected {error.param.opts[-1]} {kind}"
    return f"{error.ctx.command_path}: nothing to work on; expected {kind}"


_EXAMPLES = {"KEY=VALUE": "KEY=VALUE, as device.channels=4", "FROM UNTIL": "FROM UNTIL, as 0 5"}


def _without_value(error: click.BadOptionUsage, command: click.Command) -> str:
    """Say which value an option is without; click says only how many it requires."""
    wanted = re.search(r"requires (an argument|(\d+) arguments)", error.message)
    option = next((one for one in command.params if error.option_name in one.opts), None)
    if not wanted or not isinstance(option, click.Option):
        return error.format_message()
    metavar = option.metavar or (option.type.name or "value").upper()
    found = f"too few values; expected {wanted[2]}: " if wanted[2] else "no value; expected "
    return f"{error.option_name}: {found}{_EXAMPLES.get(metavar, metavar)}"


def _bad_value(error: click.BadParameter) -> str:
    place = error.param_hint or (error.param.get_error_hint(error.ctx) if error.param and error.ctx else None)
    if not place:
        return error.format_message()
    names = place if isinstance(place, str) else " / ".join(place)
    return f"{names.replace(chr(39), '')}: {_in_our_words(error)}"


def _in_our_words(error: click.BadParameter) -> str:
    """Say what was expected of a number or a choice, where click says what the value is not."""
    kind = error.param.type if error.param else None
    if wrong := re.match(r"(.*) is not a valid (integer|float)\b", error.message):
        return f"found {wrong[1]}; expected {_KINDS[wrong[2]]}{_range(kind)}"
    if wrong := re.match(r"(.*) is not in the range ", error.message):
        word = _KINDS["integer" if isinstance(kind, click.IntRange) else "float"]
        return f"found {wrong[1]}; expected {word}{_range(kind)}"
    if isinstance(kind, click.Choice) and (wrong := re.match(r"(.*) is not one of ", error.message)):
        from flashwatt.base.misspelt import hint

        return f"found {wrong[1]}; {hint(wrong[1].strip(chr(39)), [str(one) for one in kind.choices])}"
    return error.message


def _range(kind: object) -> str:
    if not isinstance(kind, click.IntRange | click.FloatRange):
        return ""
    bounds = [
        f"{sign}{'' if is_open else '='} {bound:g}".replace(">=", "≥").replace("<=", "≤")
        for sign, bound, is_open in ((">", kind.min, kind.min_open), ("<", kind.max, kind.max_open))
        if bound is not None
    ]
    return f", {' and '.join(bounds)}" if bounds else ""
