"""Messages in the words of a script: arguments and keys instead of options of the command line."""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from flashwatt import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ARGUMENTS = {
    "--force": "force=True",
    "--fold": "workload.trace.fold = true",
    "--clip": "workload.trace.clip = true",
    "--sort": "workload.trace.sort = true",
    "--skip-bad": "workload.trace.skip_bad = true",
    "--max-gap": "workload.trace.max_gap_s =",
    "--devices": "workload.trace.devices",
    "--format": "workload.trace.format",
    "--time-unit": "workload.trace.time_unit",
    "--offset-unit": "workload.trace.offset_unit",
    "--size-unit": "workload.trace.size_unit",
}
"""What a script has for the options that messages name."""
_SHOWN = 80
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


@contextmanager
def explained(*, options: bool = True) -> Iterator[None]:
    """Name places and remedies as a script's author knows them: no lines where no file has any.

    With `options`, arguments and keys replace the options that remedies name.
    """
    try:
        yield
    except _core.FlashwattError as error:
        text = re.sub(r"^--set: ", "override ", str(error), flags=re.MULTILINE)
        raise type(error)(without_lines(in_keys(text) if options else text)) from None
    except UnicodeEncodeError as error:  # half of a surrogate pair in an argument: the engine takes UTF-8
        found = f"found {error.object[:_SHOWN]!r}"
        raise _core.FlashwattError(f"not UTF-8; {found}; expected text of whole characters") from None


def blaming(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Let the traceback of a user's error end at the call, without the lines of this package."""

    @wraps(function)
    def call(*args: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        __tracebackhide__ = True  # notebooks leave this call out as well
        try:
            return function(*args, **options)
        except _core.FlashwattError as error:
            raise error.with_traceback(None)  # noqa: B904 (it is the same error)

    return call


def in_keys(message: str) -> str:
    """Name arguments and keys where a message names options."""
    for option, argument in _ARGUMENTS.items():
        message = re.sub(rf"(?<![\w-]){option}(?![\w-])", argument, message)
    return message


def without_lines(message: str) -> str:
    """Take line and column from places in a dictionary, which has none."""
    return re.sub(r"^(<dict>):\d+:\d+: ", r"\1: ", message, flags=re.MULTILINE)
