"""The conversion as a whole: the file of a disk in, the text of a configuration out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.files import printable
from flashwatt.base.plain import plain
from flashwatt.config.config import Config
from flashwatt.config.reference import preset as described
from flashwatt.disks import description, settings, text

if TYPE_CHECKING:
    from pathlib import Path

    from flashwatt.disks.description import Description

PRESET = "caviar-80g"
"""The preset whose powers and spin-up a disk gets unless another one is named: an old disk of 3.5 inches."""

_TAKEN = ("hdd.energy.", "hdd.standby.")


@dataclass(frozen=True, slots=True)
class Converted:
    """A configuration, and how many names of the file have no counterpart."""

    config: str
    said: str


def from_json(path: Path, preset: str | None = None) -> Converted:
    """Convert the description of a disk. Raises `FlashwattError` for what is none."""
    return convert(description.read(path), path, preset)


def from_disksim(path: Path, disk: str | None = None, preset: str | None = None) -> Converted:
    """Convert a disk of DiskSim's parameter files. Raises `FlashwattError` for what is none."""
    from flashwatt.disks import disksim

    return convert(disksim.read(path, disk), path, preset)


def convert(disk: Description, path: Path, preset: str | None = None) -> Converted:
    """Write the configuration of a described disk."""
    chosen = PRESET if preset is None else preset
    powers = _powers(chosen)
    lines = settings.lines(disk)
    head = [
        f"A disk, converted from {printable(path)}",
        "Behind each value: the name that it came from.",
        f"Powers and spin-up: of the preset {chosen}, since the file has none. They are not this disk's.",
    ]
    about = str(disk.get("disk", path.stem))
    config = "".join(f"# {plain(line)}\n" for line in head)
    config += f"\n[device]\ndescription = {text.value_of(about)}\n"
    config += text.body(lines) + powers + text.remarks("Without a counterpart", disk.left_out)
    try:
        Config(config, printable(path)).resolve()
    except _core.FlashwattError as error:
        first = str(error).partition("\n")[0]
        first = first[max(first.find("hdd."), 0) :]  # without the place in a text that nobody has seen
        raise _core.FlashwattError(f"{printable(path)}: cannot be converted: {first}") from None
    return Converted(config, f"{len(disk.left_out)} names of {printable(path)} have no counterpart")


def _powers(preset: str) -> str:
    """Write the keys of a preset that no file of a disk has."""
    values: dict[str, dict[str, Any]] = described(preset)[1]
    taken = {key: one["value"] for key, one in values.items() if key.startswith(_TAKEN)}
    if not taken:
        raise _core.FlashwattError(
            f"{preset}: no disk; expected the preset of a disk, whose powers this one is to have"
        )
    lines = []
    for table in dict.fromkeys(key.rpartition(".")[0] for key in taken):
        own = {key: value for key, value in taken.items() if key.rpartition(".")[0] == table}
        lines += [
            "",
            f"[{table}]",
            *(f"{key.rpartition('.')[2]} = {text.value_of(value)}" for key, value in own.items()),
        ]
    return "\n".join(lines) + "\n"
