"""Mistakes on the command line that click finds, in the form of all other messages: place, found, expected."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

_KINDS = {"integer": "a whole number", "float": "a number"}


def told(error: click.ClickException) -> str:
    """Write a mistake as one line, and the command's usage as a second one."""
    return "\n".join(_lines(error))


def _lines(error: click.ClickException) -> Iterator[str]:
    yield _message(error).rstrip(".")
    context = getattr(error, "ctx", None)
    if context is not None:
        usage = context.get_usage().removeprefix("Usage: ")
        yield f"usage: {' '.join(usage.split())} (more by `{context.command_path} --help`)"


def _message(error: click.ClickException) -> str:
    if not isinstance(error, click.BadParameter) or isinstance(error, click.MissingParameter):
        return error.format_message()
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
