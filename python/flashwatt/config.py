"""What a run is made from: TOML text, a dictionary or a file, and what is laid over it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.literals import assignments

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike
    from typing import TypeAlias

    Source: TypeAlias = "str | PathLike[str] | Mapping[str, Any] | Config"
    """A configuration as a user has it: the path of a TOML file, a dictionary of the same shape, or a `Config`."""


@dataclass(frozen=True, slots=True)
class Config:
    """A configuration: TOML text and overrides. It is not checked before it is resolved or run.

    >>> drive = Config('device.preset = "x25m"').override(device__channels=4)
    >>> drive.resolve()["device"]["channels"]
    4
    """

    text: str = ""
    """TOML, as in a file."""
    name: str = "<config>"
    """What messages call the text."""
    sets: tuple[str, ...] = ()
    """Overrides as on the command line, `device.channels=4`; the last one of a key counts."""

    @classmethod
    def of(cls, source: Source) -> Config:
        """Take a configuration in any of its forms; a string is a path. Raises `FlashwattError` for a bad file."""
        if isinstance(source, Config):
            return source
        if isinstance(source, Mapping):
            return cls("\n".join(assignments(source)), "<dict>")
        if isinstance(source, str) and "\n" in source:
            raise _core.FlashwattError("a string is the path of a file; for TOML as text say flashwatt.Config(text)")
        return cls(read_text(source), printable(source))

    def override(self, *tables: Mapping[str, Any], **keys: Any) -> Config:
        """Lay values over it: dictionaries with tables or dotted keys, keywords with `__` for the dot.

        `override({"device.channels": 4})`, `override(device={"channels": 4})` and `override(device__channels=4)` mean
        the same.
        """
        dotted = {key.replace("__", "."): value for key, value in keys.items()}
        sets = [one for table in (*tables, dotted) for one in assignments(table)]
        return replace(self, sets=(*self.sets, *sets))

    def resolve(self) -> dict[str, Any]:
        """Check it, and give every value that a run would use. Raises `FlashwattError` with every fault found."""
        with explained():
            config: dict[str, Any] = json.loads(_core.resolve(self.text, self.name, list(self.sets)))
        return config

    def merged(self) -> str:
        """The preset, the text and the overrides as one TOML text, which gives the same configuration by itself."""
        with explained():
            return _core.merged(self.text, self.name, list(self.sets))

    def inputs(self) -> list[Path]:
        """Name the files that a run would read besides."""
        return _core.inputs(self.text, self.name, list(self.sets))


@contextmanager
def explained() -> Iterator[None]:
    """Name places as a script's author knows them: overrides instead of `--set`, no lines where no file has any."""
    try:
        yield
    except _core.FlashwattError as error:
        text = re.sub(r"^--set: ", "override ", str(error), flags=re.MULTILINE)
        raise type(error)(without_lines(text)) from None


def without_lines(message: str) -> str:
    """Take line and column from places in a dictionary, which has none."""
    return re.sub(r"^(<dict>):\d+:\d+: ", r"\1: ", message, flags=re.MULTILINE)


def read_text(path: str | PathLike[str]) -> str:
    """Read a text file; a `FlashwattError` says what is wrong with it."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise _core.FlashwattError(f"{printable(path)}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        found = f"not a text file (byte {error.start} is not UTF-8)"
        raise _core.FlashwattError(f"{printable(path)}: {found}") from None


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """Read TOML that is no configuration of the engine's; `name` is what a `FlashwattError` calls it."""
    import tomli

    try:
        content: dict[str, Any] = tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        raise _core.FlashwattError(f"{name}: not TOML; {error}") from None
    return content


def printable(path: str | PathLike[str]) -> str:
    """Give a file name as a message can hold it: bytes that are no UTF-8 as escapes."""
    return str(path).encode(errors="surrogateescape").decode(errors="backslashreplace")
