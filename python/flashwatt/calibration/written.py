"""The calibrated preset as a file: a configuration in TOML with the provenance of every line beside it.

It has the form of the presets: the comment at its head says what it is, and the comment behind each value where that
is from.
"""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.literals import assignments, leaves, literal
from flashwatt.base.units import percent
from flashwatt.calibration.result import Held, error_text, rms
from flashwatt.config.config import Config, parse_toml
from flashwatt.config.reference import keys, preset, written
from flashwatt.report.metrics import metric_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashwatt.calibration.result import Calibration, Fitted
    from flashwatt.calibration.table import Table

_WIDTH = 116
_SETTING = ("workload", "run", "host")
"""Tables of the configuration that describe a measurement and no drive."""
_PRESET, _DESCRIPTION = "device.preset", "device.description"


def drive(table: Table, name: str, values: dict[str, float]) -> Config:
    """Give the configuration of the calibrated drive: the preset, the table's overrides of the drive, the values."""
    own = {key: value for key, value in table.overrides.items() if key.partition(".")[0] not in _SETTING}
    return Config("\n".join(assignments({_PRESET: name, **own})), table.places.name).override(values)


def held_of(table: Table, name: str, values: dict[str, float]) -> list[Held]:
    """Give every key of the drive that was not fitted, with its source."""
    _, settings = preset(name)
    found = []
    for key, value in _leaves(table, name, values).items():
        if key in values or key in (_PRESET, _DESCRIPTION):
            continue
        source = f"set by {table.name} (overrides)" if key in table.overrides else settings.get(key, {}).get("source")
        found.append(Held(key, value, source or f"as {name}"))
    return found


def text_of(calibration: Calibration, table: Table) -> str:
    """Write the file. The comments name the table, its rows, and how far the fit is from them."""
    _, settings = preset(calibration.preset)
    fitted = {one.key: one for one in calibration.parameters}
    held = {one.key: one for one in calibration.held}
    lines = [*_head(calibration, table), ""]
    above = None
    for key, value in _leaves(table, calibration.preset, calibration.values).items():
        header, _, short = key.rpartition(".")
        if isinstance(value, dict):  # a table without keys, as `[ftl.page]`
            header, short = key, ""
        if header != above:
            above = header
            lines += ["", f"[{header}]"] if header else []
        if key in fitted:
            old = settings.get(key)
            lines.append(_line(short, fitted[key].value, _fitted(fitted[key], calibration, old)))
        elif key == _PRESET:
            lines.append(_line(short, value, "the keys that this file leaves out"))
        elif key == _DESCRIPTION:
            lines.append(_line(short, f"{value}; calibrated to {calibration.table}", ""))
        elif short:
            lines.append(_line(short, value, held[key].source))
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


def _leaves(table: Table, name: str, values: dict[str, float]) -> dict[str, Any]:
    """Dotted keys and values of the file in the order of the reference; those without effect are left out."""
    config = drive(table, name, values)
    tree = parse_toml(_core.merged(config.text, config.name, list(config.sets)), "merged")
    found = dict(leaves(tree))
    order = {key: place for place, key in enumerate(keys())}

    def place(key: str) -> tuple[int, int]:
        header = key if isinstance(found[key], dict) else key.rpartition(".")[0]
        if not header:
            return -1, 0  # before the first table
        return order.get(header, len(order)), order.get(key, len(order))

    return {key: found[key] for key in sorted(found, key=place)}


def _line(short: str, value: Any, source: str) -> str:
    number = isinstance(value, int) and not isinstance(value, bool)
    text = f"{short} = {written(value) if number else literal(value)}"
    return f"{text:<29} # {source}" if source else text


def _head(calibration: Calibration, table: Table) -> Iterator[str]:
    about, _ = preset(calibration.preset)
    fitted = [one for one in calibration.points if not one.held_out]
    opening = (
        f"{calibration.preset}, calibrated to {calibration.table} by FlashWatt {_core.__version__}. A CALIBRATION, no "
        'validation: the numbers marked "fitted" are fitted to the figures that they then reproduce; the rest is '
        f"{calibration.preset}."
    )
    parts = [opening]
    if calibration.status != "complete":
        parts.append("INTERRUPTED: the search had not ended; these are the best values until then.")
    parts += [
        one for one in (table.description, table.source and f"Source of the measurements: {table.source}.") if one
    ]
    parts.append(f"SHA-256 of {calibration.table}: {calibration.table_sha256}")
    for title, points in (("Fitted", fitted), ("Held out", [one for one in calibration.points if one.held_out])):
        for one in points:
            write = metric_of(one.key).write
            off = "" if one.deviation is None else f" ({100 * one.deviation:+.1f} %)"
            parts.append(f"{title}: {one.row}: {one.key} {write(one.measured)}, here {write(one.predicted)}{off}.")
    for group in calibration.groups:
        parts.append(f"NOT DETERMINED by the table: {', '.join(group)}.")
    parts.append(f"{calibration.starts} start{'' if calibration.starts == 1 else 's'}, seed {calibration.seed}.")
    for part in parts:
        yield from textwrap.wrap(part, _WIDTH, initial_indent="# ", subsequent_indent="#   ", break_on_hyphens=False)
    yield "#"
    yield f"# {calibration.preset} says of itself:"
    yield from (f"# {line}".rstrip() for line in about.splitlines())


def _fitted(one: Fitted, calibration: Calibration, old: dict[str, Any] | None) -> str:
    """Say which rows a value is fitted to, how far these are from it, and what the preset has."""
    all_rows = dict.fromkeys(point.row for point in calibration.points if not point.held_out)
    names = one.rows or tuple(all_rows)
    word = "row" if len(names) == 1 else "rows"
    off = rms(point.deviation for point in calibration.points if point.row in names and not point.held_out)
    parts = [f"fitted to {calibration.table} {word} {', '.join(names)} by flashwatt calibrate"]
    parts.append(f"residual {percent(off)} (rms)" if off is not None else "residual unknown")
    if one.standard_error is not None:
        parts.append(f"standard error {error_text(one.standard_error)}")
    if one.at_bound:
        parts.append(f"at its bound ({one.at_bound})")
    said = "; ".join([", ".join(parts), *_doubts(one)])
    if old is None:
        return f"{said}; {calibration.preset} does not give it"
    return f"{said}; {calibration.preset} has {json.dumps(old['value'])}: {old['source']}"


def _doubts(one: Fitted) -> Iterator[str]:
    if one.not_apart_from:
        yield f"NOT DETERMINED: the table cannot tell it from {', '.join(one.not_apart_from)}"
    elif one.rivals:
        yield f"NOT DETERMINED: as good with {', '.join(f'{value:g}' for value in one.rivals)}"
    elif one.determined is False:
        yield "NOT DETERMINED: the table says too little about it"
