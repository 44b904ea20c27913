"""A configuration to start from: every key explained, nothing decided."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from flashwatt.config.reference import facts, keys, preset, written

if TYPE_CHECKING:
    from flashwatt.config.reference import Key

_WIDTH = 116
_TAGGED = ("ftl", "gc.policy", "workload", "run.precondition", "run.replay", "host.scheduler")
"""Tables of which a configuration has one by name: the template writes that one out."""
_OPT_IN = ("array", "host", "run.measure.precision", "run.power_cuts")
"""Tables that change the run by standing there, even without a key: the template has their first line as a comment."""


_ONLY_OF_AN_SSD = ("device", "ftl", "gc", "wear", "write_buffer", "recovery", "controller", "energy")
"""Tables whose keys have no effect on a disk, but for `device.preset` and `device.description`."""


def template(name: str) -> str:
    """Write a commented configuration that is the preset of that name until a line is uncommented."""
    about, settings = preset(name)
    lines = [f"# {line}".rstrip() for line in about.splitlines()]
    lines += [
        "#",
        "# A line that begins with `#` and a key shows the value in force: uncomment it to change it.",
        "",
    ]
    table = None
    for key in _chosen(settings):
        above, _, short = key.rpartition(".")
        if above != table:
            table = above
            lines += ["", *_header(above, settings)]
        if key == "device.preset":
            lines += [*_doc(keys()[key]), f'preset = "{name}"']
        else:
            lines += _entry(keys()[key], short, settings.get(key))
    return "\n".join(lines).rstrip() + "\n"


def _header(table: str, settings: dict[str, Any]) -> list[str]:
    top = next((one for one in _OPT_IN if f"{table}.".startswith(f"{one}.")), None)
    if not top or any(key.startswith(f"{top}.") for key in settings):
        return [f"[{table}]"]
    if table != top:
        return [f"#[{table}]"]
    return [*_doc(keys()[table])[1:], f"#[{table}]  # uncomment this line before any key below it"]


def _chosen(settings: dict[str, Any]) -> list[str]:
    """List the keys of values by table; of the tables that are chosen by name, only the preset's choice."""
    found = []
    for key in filter(_of_a_disk if _is_disk(settings) else _of_an_ssd, keys()):
        tag = next((tag for tag in _TAGGED if key.startswith(f"{tag}.")), None)
        if tag and not key.startswith(f"{tag}.{_choice(tag, settings)}."):
            continue
        by_name = "." in key and key in _TAGGED and not any(given.startswith(f"{key}.") for given in settings)
        if by_name or (key not in _TAGGED and keys()[key]["types"] != ["object"]):
            found.append(key)
    tables = list(dict.fromkeys(key.rpartition(".")[0] for key in found))
    return sorted(found, key=lambda key: tables.index(key.rpartition(".")[0]))


def _is_disk(settings: dict[str, Any]) -> bool:
    return any(key.startswith("hdd.") for key in settings)


def _of_an_ssd(key: str) -> bool:
    return key.partition(".")[0] != "hdd"


def _of_a_disk(key: str) -> bool:
    """Whether a key has an effect on a disk."""
    if key.startswith("run.power_cuts"):
        return False
    return key in ("device.preset", "device.description") or key.partition(".")[0] not in _ONLY_OF_AN_SSD


def _choice(tag: str, settings: dict[str, Any]) -> str:
    if tag in settings:
        return str(settings[tag]["value"])
    below = [key[len(tag) + 1 :] for key in settings if key.startswith(f"{tag}.")]
    return below[0].partition(".")[0] if below else str(keys()[tag]["default"])


def _entry(key: Key, short: str, setting: dict[str, Any] | None) -> list[str]:
    if setting:
        source = f"  # {setting['source']}" if setting["source"] else ""
        return [*_doc(key), f"#{short} = {written(setting['value'])}{source}"]
    if key["default"] is not None:
        return [*_doc(key), f"#{short} = {written(key['default'])}"]
    return [*_doc(key), f"#{short} ="]


def _doc(key: Key) -> list[str]:
    text = f"{key['doc'].split(chr(10) * 2)[0]} ({facts(key)})"
    return ["", *textwrap.wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# ")]
