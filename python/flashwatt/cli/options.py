"""Options that several commands share: the check of their values, and messages that name the option at fault."""

from __future__ import annotations

import json
import math
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from flashwatt import _core
from flashwatt.cli import completion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from click.decorators import FC

    from flashwatt.config.config import Config

    _NumberType = click.ParamType[float]
else:
    _NumberType = click.ParamType

TIME_UNITS = ("s", "ms", "us", "100ns", "ns")
"""Units of the times in a text trace."""
LENGTH_UNITS = ("bytes", "sectors", "kib", "4kib", "8kib", "16kib", "mib")
"""Units of offsets and sizes in a text trace; a sector has 512 bytes."""


class Quantity(_NumberType):
    """A number, perhaps with a unit: `10k`, `5min`, `64GB`. The end of the key's name is the unit of a bare number."""

    name = "number"

    def __init__(self, key: str, least: float | None = None) -> None:
        """Take the values of a key of the configuration, or of a name with a unit at its end."""
        self.key, self.least = key, least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give the number in the key's unit."""
        try:
            number = json.loads(_core.number(self.key, str(value)))
        except _core.FlashwattError as error:
            self.fail(str(error), param, ctx)
        if self.least is not None and (number < self.least or not isinstance(number, int)):
            self.fail(f"found {value}; expected a whole number, ≥ {self.least}", param, ctx)
        return number


class Finite(click.FloatRange):
    """A number with digits: Python also takes `nan`, `inf`, and what is too large for it, as `1e400`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give the number, which lies in the range."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"found {value}; expected a finite number", param, ctx)
        return number

    def _describe_range(self) -> str:
        """Describe the bounds for the help; empty for a number without any."""
        return "" if self.min is None and self.max is None else super()._describe_range()


UNIT_OPTIONS = (
    click.option("--time-unit", type=click.Choice(TIME_UNITS), help="Unit of the times in a text trace."),
    click.option("--offset-unit", type=click.Choice(LENGTH_UNITS), help="Unit of its offsets; a sector has 512 B."),
    click.option("--size-unit", type=click.Choice(LENGTH_UNITS), help="Unit of its sizes."),
    click.option("--sort", is_flag=True, help="Put the records of each trace in the order of their times."),
)
"""The options of every command that reads traces about units and order; units as the format says unless given."""

_NS_PER_MS = 1_000_000
_LATEST_NS = 2**63 - 1


preset_option = click.option(
    "--preset",
    metavar="NAME",
    shell_complete=completion.presets,
    help="The drive; `flashwatt list presets` names them.",
)

workers_option = click.option(
    "--workers", type=click.IntRange(min=1), metavar="N", help="Run N at a time; one per processor unless given."
)


start_states_option = click.option(
    "--start-states",
    type=Quantity("limit_bytes", 0),
    default="4GB",
    show_default=True,
    metavar="BYTES",
    help="Keep start states that several runs share in the user's cache directory, up to this size; 0 keeps none.",
)


def drive_of(config: Path | None, preset: str | None, sets: tuple[str, ...]) -> Config:
    """Give the configuration of a file, if there is one, with `--preset` and `--set` laid over it."""
    from flashwatt.config.config import Config

    base = Config.of(config) if config else Config()
    named = (f"device.preset={json.dumps(preset)}",) if preset else ()
    return Config(base.text, base.name, (*named, *sets))


def overriding(description: str) -> Callable[[FC], FC]:
    """Give the option `--set` with this description."""
    return click.option(
        "--set", "sets", multiple=True, metavar="KEY=VALUE", shell_complete=completion.overrides, help=description
    )


def reads_units(command: Any) -> Any:
    """Add `UNIT_OPTIONS` to a command."""
    for option in reversed(UNIT_OPTIONS):
        command = option(command)
    return command


def numbers(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Check a list of whole numbers: 0,2,5."""
    if value and not re.fullmatch(r"[0-9]+(,[0-9]+)*", value):
        raise click.BadParameter(f"{value!r} is not a list of whole numbers with commas between them")
    return value


def interval(_context: click.Context, _option: click.Parameter, value: float | None) -> int | None:
    """Nanoseconds of a bin, from milliseconds."""
    return None if value is None else _nanoseconds(value, at_least=1)


def window(_context: click.Context, _option: click.Parameter, value: tuple[float, float] | None) -> Any:
    """Nanoseconds of a window's beginning and end, from milliseconds."""
    if value is None:
        return None
    begin, end = (_nanoseconds(one, at_least=0) for one in value)
    if begin >= end:
        raise click.BadParameter(f"the window from {value[0]:g} until {value[1]:g} is empty; UNTIL must be later")
    return begin, end


def _nanoseconds(milliseconds: float, at_least: int) -> int:
    ns = round(milliseconds * _NS_PER_MS) if math.isfinite(milliseconds) else -1
    if not at_least <= ns <= _LATEST_NS:
        least = "0" if at_least == 0 else "0.000001"
        raise click.BadParameter(f"found {milliseconds:g}; expected milliseconds, {least} or more")
    return ns


@contextmanager
def blamed(options: Mapping[str, str], sets: Iterable[str] = ()) -> Iterator[None]:
    """Within the block, faults of overrides that options stand for name the option and not `--set`.

    `options` gives the option of each key. Keys that `sets` override as well stay with `--set`: its value is the one
    that counts.
    """
    own = {one.partition("=")[0].strip() for one in sets}
    try:
        yield
    except _core.FlashwattError as error:
        lines = [_named(line, {key: name for key, name in options.items() if key not in own}) for line in _lines(error)]
        raise type(error)("\n".join(lines)) from None


def _lines(error: Exception) -> list[str]:
    return str(error).split("\n")


def _named(line: str, options: Mapping[str, str]) -> str:
    """`--set: workload.trace.format: …` as `--format: …`; keys that are no override at all (`series: …`) likewise."""
    place = re.match(r"(?:--set: |override )?([^:;\s]+): ", line)
    return f"{options[place[1]]}: {line[place.end() :]}" if place and place[1] in options else line
