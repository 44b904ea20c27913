"""The command line. It imports little: a command is loaded when it is asked for, and loads what it needs itself."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from flashwatt import _core
from flashwatt.base.missing import unread
from flashwatt.cli.commands import COMMANDS
from flashwatt.cli.group import Commands, LazyGroup
from flashwatt.cli.mistakes import check_once, told
from flashwatt.cli.signals import end_as_on_interrupt
from flashwatt.cli.terminal import FAILED, INTERRUPTED, drop_stdout, fail, open_streams, say

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
    if any(name.endswith("_COMPLETE") for name in os.environ):
        from flashwatt.cli import completion  # noqa: F401 (it replaces click's completion for bash)


def _fail(error: OSError | MemoryError) -> NoReturn:
    """Exit with the system's message about a file, or about standard output, which has no name; or about memory."""
    if isinstance(error, MemoryError):
        expected = "expected a recording with fewer values (a longer --series-ms, a shorter --edges-ms), or more memory"
        fail(f"the result needs more memory than there is (its address space may be limited: ulimit -v); {expected}")
    if error.filename is None:
        drop_stdout()
        fail(f"standard output: {error.strerror or error}", FAILED)
    fail(unread(os.fsdecode(error.filename), error))


@click.group(
    cls=LazyGroup,
    commands=Commands(COMMANDS),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(_core.__version__, message="flashwatt %(version)s")
def cli() -> None:
    """Simulate an SSD, a hard disk or an array under a workload: speed, wear, and energy by component and cause."""
