"""The parts that all commands share: options, exit statuses, and messages on the terminal."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import click

from flashwatt import _core
from flashwatt.base.missing import check_directory, no_such, printable
from flashwatt.base.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FAULTS_SHOWN = 20

FAILED, USER_ERROR, INTERRUPTED = 1, 2, 130


class Input(click.Path):
    """A file to read, which must be there; a missing one is named with its nearest neighbour.

    `refused` says what a file of another kind is, by the end of its name; `FILE` in it stands for that name.
    """

    def __init__(self, refused: Mapping[str, str] = MappingProxyType({}), **options: Any) -> None:
        """Take the options of `click.Path` as well."""
        super().__init__(**options)
        self.refused = refused

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give the path. Raises a usage error that begins with the file's name."""
        is_stdin = self.allow_dash and value == "-"
        if not is_stdin and not Path(value).exists():
            self._refuse(f"{printable(value)}: {self._missing(os.fspath(value), ctx)}", param, ctx)
        if not is_stdin and not self.dir_okay and Path(value).is_dir():
            self._refuse(f"{printable(value)}: a directory; expected a file", param, ctx)
        kind = next((kind for end, kind in self.refused.items() if os.fspath(value).endswith(end)), "")
        if kind:
            self._refuse(f"{printable(value)}: {kind.replace('FILE', printable(value))}", param, ctx)
        return super().convert(value, param, ctx)

    def _refuse(self, message: str, param: click.Parameter | None, ctx: click.Context | None) -> NoReturn:
        if isinstance(param, click.Option):
            self.fail(message, param, ctx)
        raise click.UsageError(message, ctx)

    @staticmethod
    def _missing(value: str, ctx: click.Context | None) -> str:
        from flashwatt.config.reference import presets

        command = ctx.command if ctx else None
        if value == "help" and ctx:
            return f"{no_such(value)}; `{ctx.command_path} --help` prints the help"
        if value == "=":
            return "stands alone; expected --set KEY=VALUE without blanks: --set device.channels=4"
        if value not in presets():
            return no_such(value)
        if any("--preset" in one.opts for one in (command.params if command else ())):
            return f"no such file; '{value}' is a preset: --preset {value}"
        if command and command.name == "price":
            return f"no such file; '{value}' is a preset; expected a TOML file with [energy], or a report"
        return f"no such file; '{value}' is a preset; expected a configuration, with device.preset = \"{value}\" in it"


FILE = Input(dir_okay=False, path_type=Path)
NO_TRACES = MappingProxyType(
    {
        ".toml": "a configuration, not a trace",
        ".fio": "a fio job file, not a trace; `flashwatt run --preset NAME --fio FILE` runs it",
        ".f": "a program of filebench, not a trace; `flashwatt run --preset NAME --program FILE` runs it",
        ".parquet": "a log in Parquet is for analysis, not a trace; a replay takes CSV: --capture NAME.csv",
        "report.json": "a report, not a trace",
    }
)
TRACE = Input(refused=NO_TRACES, dir_okay=False, path_type=Path)
REPORT = Input(path_type=Path)
"""A report.json, or a directory with one."""


class Output(click.Path):
    """A path to write to; an empty one, as of a variable that is not set, is a mistake.

    Other paths of a command are read (`flashwatt.cli.inputs`).
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give the path."""
        if not os.fspath(value):
            self.fail("an empty name; expected that of a file or a directory", param, ctx)
        if not self.file_okay:
            try:
                check_directory(value)
            except _core.FlashwattError as error:
                self.fail(str(error), param, ctx)
        return super().convert(value, param, ctx)


DIRECTORY = Output(file_okay=False, path_type=Path)
OUTPUT_FILE = Output(path_type=Path)

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
force = click.option("--force", is_flag=True, help="Replace files that flashwatt did not write.")


_QUIET = "flashwatt.quiet"


def _be_quiet(context: click.Context, _option: click.Parameter, value: bool) -> bool:
    context.meta[_QUIET] = value
    return value


quiet = click.option(
    "--quiet",
    "-q",
    is_flag=True,
    expose_value=False,
    callback=_be_quiet,
    help="Print errors only: no table, no progress, no notes.",
)


def quiet_is_on() -> bool:
    """Whether the command that runs was given --quiet."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(_QUIET))


def say(text: str, *, err: bool = False) -> None:
    """Print text that may hold names from outside, without characters that would act on the terminal."""
    click.echo(plain(text, keep="\n\t"), err=err)


def note(message: str) -> None:
    """Print a message on the error stream, unless --quiet was given; standard output is for results."""
    if not quiet_is_on():
        complain(message)


def complain(message: str) -> None:
    """Print a message on the error stream. Ignore a closed one."""
    with suppress(OSError):
        say(f"flashwatt: {message}", err=True)


def open_streams() -> None:
    """Open the standard streams that are closed.

    A file that is opened later must not get the number of one of them: messages would end up in it. Output to
    a closed standard output is an error, a message to a closed error stream is not.
    """
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_RDWR)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # the lowest number that is free
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def check_stdout() -> None:
    """Fail if standard output is closed, before a result is made that has nowhere to go."""
    if sys.__stdout__ is None:
        fail("standard output is closed; expected a terminal, a pipe or a file for the result (or --out DIR)", FAILED)


@contextmanager
def printed() -> Iterator[list[OSError]]:
    """Print a result within the block. An error goes into the list, to be raised when all files are saved."""
    faults: list[OSError] = []
    try:
        yield faults
        sys.stdout.flush()
    except OSError as error:
        faults.append(error)
    except SystemExit:  # rich ends the process when the reader of its tables has gone (`| head`)
        faults.append(BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)))


def drop_stdout() -> None:
    """Discard output that was not printed: Python would report the error again when it closes the stream."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def fail(message: str, status: int = USER_ERROR) -> NoReturn:
    """Print an error message, and exit."""
    complain(f"error: {_beginning(message)}")
    sys.exit(status)


def _beginning(message: str) -> str:
    """Shorten a list of faults to a screen: a file of another kind has a fault in every line."""
    lines = message.split("\n")
    more = len(lines) - _FAULTS_SHOWN
    return message if more <= 1 else "\n".join([*lines[:_FAULTS_SHOWN], f"… and {more} more faults"])
