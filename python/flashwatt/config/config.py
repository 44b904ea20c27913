"""The configuration of a run: TOML text, a dictionary or a file, with overrides laid over it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.files import printable, read_text
from flashwatt.base.literals import assignments, flattened, leaves, shown
from flashwatt.base.reads import reads
from flashwatt.base.scripts import explained

if TYPE_CHECKING:
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
    """The name of the text in messages; of a file its path, from whose directory relative paths in the text lead."""
    sets: tuple[str, ...] = ()
    """Overrides as on the command line, `device.channels=4`; the last one of a key counts."""

    def __post_init__(self) -> None:
        """Refuse what is no text."""
        if not isinstance(self.text, str):
            expected = "TOML; of a dictionary or a file flashwatt.Config.of makes a configuration"
            raise _core.FlashwattError(f"text: found {shown(self.text)}; expected {expected}")

    @classmethod
    def of(cls, source: Source) -> Config:
        """Take a configuration in any of its forms; a string is a path. Raises `FlashwattError` for a bad file."""
        if isinstance(source, Config):
            return source
        if isinstance(source, Mapping):
            return cls("\n".join(assignments(source)), "<dict>")
        if isinstance(source, str) and "\n" in source:
            raise _core.FlashwattError("a string is the path of a file; for TOML as text say flashwatt.Config(text)")
        if not isinstance(source, str | PathLike):
            expected = "the path of a TOML file, a dictionary, or a flashwatt.Config"
            raise _core.FlashwattError(f"config: found {shown(source)}; expected {expected}")
        try:
            text = read_text(source)
            if Path(source).suffix != ".toml":
                parse_toml(text, printable(source))  # a trace would have a fault in every line
            return cls(text, printable(source))
        except _core.FlashwattError as error:
            from flashwatt.config.reference import presets

            name = printable(source)
            if name in presets():
                remedy = f'{{"device.preset": "{name}"}} is a configuration with it'
                raise _core.FlashwattError(f"{error}; {name} is a preset: {remedy}") from None
            if Path(source).is_file() and Path(source).suffix != ".toml":
                remedy = f'a trace is run({{"workload.trace.path": "{name}"}})'
                raise _core.FlashwattError(f"{error}; expected a configuration in TOML ({remedy})") from None
            raise

    def override(self, *tables: Mapping[str, Any], **keys: Any) -> Config:
        """Lay values over it: dictionaries with tables or dotted keys, keywords with `__` for the dot.

        `override({"device.channels": 4})`, `override(device={"channels": 4})` and `override(device__channels=4)` mean
        the same.
        """
        sets = [one for table in (*tables, dotted_of(keys)) for one in assignments(flattened(table))]
        return Config(self.text, self.name, (*self.sets, *sets))

    def resolve(self) -> dict[str, Any]:
        """Check it, and give every value that a run would use. Raises `FlashwattError` with every fault found."""
        with explained():
            config: dict[str, Any] = json.loads(_core.resolve(self.text, self.name, list(self.sets)))
        return config

    def merged(self, beside: str | PathLike[str] | None = None) -> str:
        """The preset, the text and the overrides as one TOML text, which gives the same configuration by itself.

        Keys of the preset that have no effect beside the others are left out: as keys of a user they would be refused.
        Relative paths in it lead from the directory `beside`, in which it is to be written; from the working directory
        unless that is given.
        """
        with explained():
            return _core.merged(self.text, self.name, list(self.sets), beside)

    def inputs(self) -> list[Path]:
        """Name the files that a run would read beside the configuration; a command that asks counts as their reader."""
        found = _core.inputs(self.text, self.name, list(self.sets))
        reads(*found)
        return found


def dotted_of(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords as dotted keys. Raises `FlashwattError` for a key that is given twice, in two spellings."""
    spelled: dict[str, str] = {}
    for keyword, value in keywords.items():
        for key, _ in leaves({keyword.replace("__", "."): value}):
            if other := spelled.get(key):
                found = f"found `{other}` and `{keyword}`" if other != keyword else f"found `{keyword}` twice"
                raise _core.FlashwattError(f"{key}: given twice; {found}; expected one of them")
            spelled[key] = keyword
    return {keyword.replace("__", "."): value for keyword, value in keywords.items()}


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """Read TOML that is no configuration; `name` names it in a `FlashwattError`."""
    import tomli

    try:
        content: dict[str, Any] = tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        raise _core.FlashwattError(f"{name}: not TOML; {error}") from None
    return content
