"""The command line. It imports little: a command that draws tables or plots loads their libraries itself."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from flashwatt import _core
from flashwatt.base.missing import unread
from flashwatt.cli.age import age
from flashwatt.cli.battery import battery
from flashwatt.cli.calibrate import calibrate
from flashwatt.cli.crash import crash
from flashwatt.cli.dio import dio
from flashwatt.cli.explain import explain, init, schema
from flashwatt.cli.fs import fs
from flashwatt.cli.inputs import protect
from flashwatt.cli.listing import list_
from flashwatt.cli.mistakes import check_once, told
from flashwatt.cli.model import model
from flashwatt.cli.next_step import follow
from flashwatt.cli.reproduce import reproduce
from flashwatt.cli.run import price, run
from flashwatt.cli.sections import Sectioned
from flashwatt.cli.standin import standin
from flashwatt.cli.sweep import compare, sweep
from flashwatt.cli.terminal import FAILED, INTERRUPTED, drop_stdout, end_as_on_interrupt, fail, open_streams, say
from flashwatt.cli.trace import trace
from flashwatt.cli.try_ import try_
from flashwatt.cli.tune import tune

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. A user's error ends in a message, not in a traceback.

    Return after a success; exit with a status otherwise.
    """
    _prepare()
    words = sys.argv[1:] if arguments is None else arguments
    try:
        check_once(cli, words)
        cli(arguments, standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        if stop.exit_code:
            sys.exit(stop.exit_code)
    except click.ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # of click 8.2 on; before, the help is printed without an error
            say(error.format_message(), err=True)
            sys.exit(error.exit_code)
        fail(told(error, cli, words), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        fail("interrupted; nothing was kept", INTERRUPTED)
    except BrokenPipeError:  # the reader of the output has gone (`| head`)
        drop_stdout()
        sys.exit(FAILED)
    except _core.RunInterruptedError as error:
        fail(str(error), INTERRUPTED)
    except _core.FlashwattError as error:
        fail(str(error))
    except (OSError, MemoryError) as error:
        _fail(error)


def _prepare() -> None:
    """Correct the streams, the environment and the signals that the process was started with."""
    open_streams()
    if not os.environ.get("COLUMNS", "1").strip("0"):
        del os.environ["COLUMNS"]  # a width of nothing: nothing would be printed
    end_as_on_interrupt()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without "×" gets "?"


def _fail(error: OSError | MemoryError) -> NoReturn:
    """Exit with the system's message about a file, or about standard output, which has no name; or about memory."""
    if isinstance(error, MemoryError):
        expected = "expected a recording with fewer values (a longer --series-ms, a shorter --edges-ms), or more memory"
        fail(f"the result needs more memory than there is (its address space may be limited: ulimit -v); {expected}")
    if error.filename is None:
        drop_stdout()
        fail(f"standard output: {error.strerror or error}", FAILED)
    fail(unread(os.fsdecode(error.filename), error))


@click.group(cls=Sectioned, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(_core.__version__, message="flashwatt %(version)s")
def cli() -> None:
    """Simulate an SSD, a hard disk or an array under a workload: speed, wear, and energy by component and cause."""


@cli.command(hidden=True)
def version() -> None:
    """Print the version."""
    click.echo(f"flashwatt {_core.__version__}")


for _command in (
    try_,
    run,
    age,
    crash,
    price,
    trace,
    standin,
    fs,
    dio,
    battery,
    sweep,
    compare,
    reproduce,
    tune,
    calibrate,
    model,
    list_,
    explain,
    init,
    schema,
):
    cli.add_command(_command)
    follow(_command)

protect(cli)


def _say_whole_sentences(group: click.Group) -> None:
    """Let lists of commands have the first sentence of each: click cuts it at the end of the line."""
    for command in group.commands.values():
        command.short_help = " ".join((command.help or "").split("\n\n")[0].split()).rstrip(".")
        if isinstance(command, click.Group):
            _say_whole_sentences(command)


_say_whole_sentences(cli)
