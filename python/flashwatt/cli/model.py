"""`flashwatt model`: the papers' closed forms, which need no simulation."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import click

from flashwatt import _core
from flashwatt.cli.options import Finite, blamed, drive_of, overriding, preset_option
from flashwatt.cli.terminal import FILE, as_json

if TYPE_CHECKING:
    from pathlib import Path

_SIZES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_CAPACITIES = tuple(2**power for power in range(29, 41))
_MISSES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


# click makes the class generic from 8.4 on.
if TYPE_CHECKING:
    _IntType = click.ParamType[int]
else:
    _IntType = click.ParamType


class _Bytes(_IntType):
    """A size: 131072, 128K, 512M, 1T (binary)."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"([0-9]+)([KMGT]?)(i?B)?", value.strip(), re.IGNORECASE)
        if not match or not int(match[1]):
            self.fail(f"{value!r} is no size such as 131072, 128K, 512M or 1T", param, ctx)
        return int(match[1]) * _SIZES[match[2].upper()]


@click.group()
def model() -> None:
    """Print the results of the papers' analytical models."""


@model.command("mapping-memory")
@click.option(
    "--capacity", "capacities", type=_Bytes(), multiple=True, help="Capacity of the drive; 512M to 1T unless given."
)
@click.option("--page-bytes", type=_Bytes(), default="2K", show_default=True, help="Size of a flash page.")
@click.option("--block-bytes", type=_Bytes(), default="128K", show_default=True, help="Size of an erase block.")
@as_json
def mapping_memory(capacities: tuple[int, ...], page_bytes: int, block_bytes: int, *, as_json: bool) -> None:
    """Memory that mapping tables take, by scheme (Park et al. 2011, 3.3).

    An entry of a table of n things has ⌈⌈log2 n⌉ / 8⌉ bytes; 5 % of the blocks are log blocks; DFTL has 32 KB of cache.
    A simulated drive's own tables stand in its report, beside this model's figure.
    """
    if block_bytes % page_bytes:
        raise click.UsageError(f"--block-bytes {block_bytes} is no multiple of --page-bytes {page_bytes}")
    wanted = capacities or _CAPACITIES
    for capacity in wanted:
        if capacity < block_bytes:
            raise click.UsageError(f"--capacity {capacity} is smaller than a block of {block_bytes} bytes")
    rows = [json.loads(_core.mapping_memory(capacity, page_bytes, block_bytes)) for capacity in wanted]
    if as_json:
        click.echo(json.dumps({"unit": "bytes", "rows": rows}, indent=2))
        return
    schemes = [key for key in rows[0] if key != "capacity_bytes"]
    click.echo("KB of tables" + "".join(f"{scheme:>14}" for scheme in schemes))
    for row in rows:
        click.echo(f"{_capacity(row['capacity_bytes']):>12}" + "".join(f"{row[s] / 1024:>14,.1f}" for s in schemes))


@model.command()
@click.option("--miss", "misses", type=Finite(0, 1), multiple=True, help="Miss ratios; 0 to 1 unless given.")
@click.option("--channels", type=click.IntRange(min=1), default=8, show_default=True, help="F of the model.")
@click.option("--copies", type=click.IntRange(min=1), multiple=True, help="N: 2, 4 and 6 unless given; at most F.")
@click.option(
    "--gc",
    type=Finite(0, 1),
    default=1.0,
    show_default=True,
    help="Probability that a miss meets garbage collection.",
)
@as_json
def rftl(misses: tuple[float, ...], channels: int, copies: tuple[int, ...], gc: float, *, as_json: bool) -> None:
    """Mean time of a map look-up with replicas of translation pages, and their cost (RFTL, 2019).

    F(P) = P · F_best + (1 - P) · F_worst with P = copies / channels, the original among the copies; C = 0.1, R = 25,
    W = 200 µs, and 900 µs of waiting for collection. A replica is a copy beside the original.
    """
    wanted = copies or tuple(n for n in (2, 4, 6) if n <= channels)
    for n in wanted:
        if n > channels:
            raise click.UsageError(f"--copies {n}: a channel holds one copy, and there are {channels} (--channels)")
    grid = misses or _MISSES
    found = json.loads(_core.rftl_model(list(grid), channels, list(wanted), gc))
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    click.echo(f"{'mean look-up, µs':<26}" + "".join(f"{f'M = {miss:g}':>10}" for miss in grid))
    for name, values in found["lookup_us"].items():
        click.echo(f"{name:<26}" + "".join(f"{value:>10.1f}" for value in values))
    click.echo(f"\n{'replicas':<26}" + "".join(f"{row['replicas']:>10}" for row in found["cost"]))
    for key, name in (("extra_writes_per_write", "extra writes per write"), ("map_mb", "map of 100 GB, MB")):
        click.echo(f"{name:<26}" + "".join(f"{row[key]:>10g}" for row in found["cost"]))


@model.command()
@click.argument("config", type=FILE, required=False, metavar="[CONFIG.toml]")
@preset_option
@click.option(
    "--dies",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="Dies at work at the same time; 1, 2, 4, … and all unless given.",
)
@overriding("Override any key: device.channels=4.")
@as_json
def power(
    config: Path | None, preset: str | None, dies: tuple[int, ...], sets: tuple[str, ...], *, as_json: bool
) -> None:
    """Power of a drive with n dies at work, from the currents and voltages of its configuration, without a run.

    Bus, DRAM and host interface add their power while they work beside the dies. A power budget
    (controller.power_budget_ma) is not applied. Currents are stated at one voltage, as in a report.
    """
    whole = drive_of(config, preset, sets)
    with blamed({"dies": "--dies", **({"device.preset": "--preset"} if preset else {})}, sets):
        all_dies = json.loads(_core.power_levels(whole.text, whole.name, list(whole.sets), [1]))["dies"]
        wanted = dies or sorted({2**power for power in range(all_dies.bit_length())} | {all_dies})
        levels = json.loads(_core.power_levels(whole.text, whole.name, list(whole.sets), list(wanted)))
    if as_json:
        click.echo(json.dumps(levels, indent=2))
        return
    from flashwatt.cli.power_table import show

    show(levels, whole.resolve()["device"])


@model.command("write-amplification")
@click.argument("config", type=FILE, required=False, metavar="[CONFIG.toml]")
@preset_option
@click.option(
    "--op-ratio",
    "ratios",
    type=Finite(0, 100),
    multiple=True,
    metavar="SHARE",
    help="Spare flash as a share of the logical capacity, instead of the configured one; give it several times.",
)
@overriding("Override any key: gc.policy=fifo.")
@as_json
def write_amplification(
    config: Path | None, preset: str | None, ratios: tuple[float, ...], sets: tuple[str, ...], *, as_json: bool
) -> None:
    """Write amplification of uniform writes by theory, without a run (Van Houdt 2013).

    Page mapping, writes of whole pages all over the drive, and greedy collection, a random victim, first in first out,
    or the best of d drawn blocks. Of each die the reserved blocks (gc.reserved_blocks) and half of an open block are no
    spare flash: on a small drive that is a large part of it.
    """
    from flashwatt.theory import of_config

    whole = drive_of(config, preset, sets)
    rows = []
    with blamed({"device.preset": "--preset"} if preset else {}, sets):
        for ratio in ratios or (None,):
            chosen = whole if ratio is None else whole.override({"device.op_ratio": ratio})
            resolved = chosen.resolve()
            rows.append({"op_ratio": resolved["device"].get("op_ratio"), **of_config(resolved)._asdict()})
    if as_json:
        click.echo(json.dumps({"rows": rows}, indent=2))
        return
    click.echo(f"{'policy':<10} {'op_ratio':>9} {'spare share':>12} {'effective':>10} {'write amplification':>20}")
    for row in rows:
        shares = f"{row['op_ratio']:>9.4f} {row['spare_share']:>12.4f} {row['effective_spare_share']:>10.4f}"
        click.echo(f"{row['policy']:<10} {shares} {row['write_amplification']:>20.3f}")


def _capacity(size: int) -> str:
    for letter in "TGMK":
        if size % _SIZES[letter] == 0:
            return f"{size // _SIZES[letter]} {letter}iB"
    return f"{size} B"
