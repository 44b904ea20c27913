"""`flashwatt run --ranges`: what the ranges of a preset's parameters make of its figures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from flashwatt.base.progress import runs_bar
from flashwatt.base.units import count, counted, number, percent, setting
from flashwatt.cli.terminal import printed
from flashwatt.config.config import Config
from flashwatt.report.table import emit, new_table, of_drive
from flashwatt.sweeps.columns import stdout
from flashwatt.sweeps.ranges import NAMED, ranges
from flashwatt.sweeps.workers import processors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashwatt.sweeps.ranges import Parameter, Ranges

_SCALE = "1/64"
_REQUEST_BYTES = 131_072
_ERASE = "device.timing.erase_ns"
_SEEN = 0.01
"""A key that moves a figure by a smaller share of it is not named."""
_NAMES = {
    "knee": "knee",
    "write_mb_s_before": "writes before it",
    "write_mb_s_after": "writes after it",
    "power_w_before": "power before it",
    "power_w_after": "power after it",
    "j_per_gb_before": "energy before it",
    "j_per_gb_after": "energy after it",
    "mb_s": "rate of the run",
    "power_w": "power of the run",
    "j_per_gb": "energy of the run",
}
_NO_PLACE = ("out", "series", "series_ms", "edges_ms", "op_log", "request_log", "capture", "dispatch_log", "check")
"""Options about one run."""


def show(config: Config, options: Mapping[str, Any]) -> None:
    """Run the ranges and print them. Raises `click.UsageError` for options that are about one run."""
    if given := next((name for name in _NO_PLACE if options[name]), None):
        both = f"--{given.replace('_', '-')} is about one run, --ranges about many"
        raise click.UsageError(f"{both}; expected one of them (--json prints all that --ranges finds)")
    named = {one.partition("=")[0].strip() for one in config.sets}
    whole, factors = (config, {}) if _has_workload(config, named) else filled(config, named)
    with runs_bar("Running the ranges", counted=True) as bar:
        found = ranges(whole, keep=named, factors=factors, workers=processors(), progress=bar)
    with printed() as faults:
        if options["json"]:
            click.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
        else:
            _print(found, whole)
    if faults:
        raise faults[0]


def _has_workload(config: Config, named: set[str]) -> bool:
    from flashwatt.config.config import parse_toml

    return "workload" in parse_toml(config.text, config.name) or any(one.startswith("workload.") for one in named)


def filled(config: Config, named: set[str]) -> tuple[Config, dict[str, float]]:
    """Let a configuration write its drive once, from its first byte to its last; of a 64th unless it has a scale.

    A small drive has small blocks. Their erase takes less time in proportion, so that a byte costs as much of it as in
    the whole drive. The second value is that factor, by the key.
    """
    sets, before = list(config.sets), config.resolve()["device"]
    if before.get("scale") is None and not named & {"device.scale", "device.logical_bytes"}:
        sets.append(f'device.scale="{_SCALE}"')
    sets += [] if "run.precondition" in named else ['run.precondition="empty"']
    scaled = Config(config.text, config.name, tuple(sets))
    small = scaled.resolve()["device"]
    factor = 1.0 if _ERASE in named else small["pages_per_block"] / before["pages_per_block"]
    sets += [f"{_ERASE}={round(before['timing']['erase_ns'] * factor)}"] if factor < 1 else []
    requests = small["logical_bytes"] // _REQUEST_BYTES
    uniform = {"sequential": "true", "read_fraction": "0.0", "request_bytes": _REQUEST_BYTES, "requests": requests}
    sets += [f"workload.uniform.{key}={value}" for key, value in uniform.items()]
    return Config(config.text, config.name, tuple(sets)), {_ERASE: factor} if factor < 1 else {}


def _print(found: Ranges, config: Config) -> None:
    """Print a row for each figure, and below it the keys that move it most, with what each does alone."""
    console = stdout()
    drive = config.resolve()["device"]
    scale = f" at {of_drive(drive['scale'])}" if drive.get("scale") else ""
    table = new_table(f"{found.preset}{scale}, its parameters through their ranges", "", "as given", "least", "most")
    known = {one.key: one for one in found.parameters}
    for name, one in found.figures.items():
        table.add_row(
            Text(_NAMES[name], "bold"), *(_written(name, value) for value in (one.nominal, one.low, one.high))
        )
        moving = [effect for effect in one.effects if effect.high - effect.low >= _SEEN * one.nominal][:NAMED]
        for effect in moving:
            ends = (_written(name, value, unit=False) for value in (effect.low, effect.high))
            table.add_row(f"  {_through(known[effect.key])}", "", *ends, style="dim")
        if not moving:
            table.add_row(f"  no key moves it by {percent(_SEEN)}", style="dim")
        table.add_section()
    emit(console, table)
    emit(console, Text(_said(found)))


def _through(parameter: Parameter) -> str:
    return f"{parameter.key} {' to '.join(map(_of_key, (parameter.low, parameter.high)))}"


def _of_key(value: Any) -> str:
    return "/".join(map(setting, value)) if isinstance(value, tuple) else setting(value)


def _written(name: str, value: float, *, unit: bool = True) -> str:
    """Write a figure, with its unit if wanted."""
    if name == "knee":
        return percent(value) if unit else percent(value).removesuffix(" %")
    if "mb_s" in name:
        return f"{count(value)} MB/s" if unit else count(value)
    said = number(value, 2)
    return f"{said} {'W' if name.startswith('power') else 'J/GB'}" if unit else said


def _said(found: Ranges) -> str:
    """What was run, in words."""
    keys = counted(len(found.parameters), "key")
    lines = [
        f"{counted(found.runs, 'run')}: {keys} of the preset, each alone at both ends of its range (below a figure",
        f"the keys that move it most, {NAMED} at most), and for each figure all at the ends that lower it, and",
        "all at those that raise it. --json has the source of each range.",
    ]
    if found.without_knee:
        without = counted(found.without_knee, "run")
        lines.append(f"In {without} the rate of writes does not fall: these count for the whole run only.")
    return "\n".join(lines)
