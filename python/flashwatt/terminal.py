"""What the commands share: options, statuses, and how they speak to the person at the terminal."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import NoReturn

import click

from flashwatt.plain import plain

_FAULTS_SHOWN = 20

FAILED, USER_ERROR, INTERRUPTED = 1, 2, 128 + signal.SIGINT

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
DIRECTORY = click.Path(file_okay=False, path_type=Path)

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")


def say(text: str, *, err: bool = False) -> None:
    """Print text that may hold names from outside, without characters that would act on the terminal."""
    click.echo(plain(text, keep="\n\t"), err=err)


def note(message: str) -> None:
    """Say something to the person at the terminal; standard output is for results."""
    say(f"flashwatt: {message}", err=True)


def fail(message: str, status: int = USER_ERROR) -> NoReturn:
    """Say what is wrong, and end."""
    note(f"error: {_beginning(message)}")
    sys.exit(status)


def _beginning(message: str) -> str:
    """As many of the faults as a screen holds: a file of another kind has one in every line."""
    lines = message.split("\n")
    more = len(lines) - _FAULTS_SHOWN
    return message if more <= 1 else "\n".join([*lines[:_FAULTS_SHOWN], f"… and {more} more faults"])
