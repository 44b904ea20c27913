"""A result of the benchmark as tables on the terminal: of one form for simulated and real targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from flashwatt.base.units import NOTHING, count, duration, number, si
from flashwatt.dio.figures import rails_of
from flashwatt.dio.load import PATTERNS
from flashwatt.report.table import emit, new_table, show_warnings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.table import Table

    from flashwatt.base.files import Json

_MAX_WIDTH = 100
_STEP = 1024
_UNITS_MAX = 10_000  # more of a unit say less than the same in decimal
SHORT = {one.name: name for name, one in PATTERNS.items()}
_QUANTILES = ("mean", "p50", "p99", "max")


def show(content: Json, console: Console | None = None) -> None:
    """Print a result."""
    console = console or Console(highlight=False)
    console.width = min(console.width, _MAX_WIDTH)
    emit(console, heading(content))
    if content["points"]:
        emit(console, _points(content["points"]))
    from flashwatt.dio.probe_tables import tables

    for one in tables(content["probes"]):
        emit(console, one)
    if content["target"]["kind"] != "simulated" and content["written"]["bytes"]:
        emit(console, Text(written(content)))
    show_warnings(content["warnings"], console)


def written(content: Json) -> str:
    """Say what a benchmark wrote to a real target."""
    found, name = content["written"], content["target"]["name"]
    text = f"written: {size(found['bytes'])} into the first {size(found['until_byte'])} of {name}"
    return f"{text}, whose size is unchanged" if content["target"]["kind"] == "file" else text


def heading(content: Json) -> Text:
    """Say what was measured, and how."""
    return Text("\n").join(Text(line, style) for line, style in _heading(content))


def _heading(content: Json) -> Iterator[tuple[str, str]]:
    target, plan, power = content["target"], content["plan"], content["power"]
    clock = "simulated time" if target["kind"] == "simulated" else f"real time, requests by {target['requests_by']}"
    direct = "" if target["direct"] else ", through the page cache"
    yield f"{target['name']}: {size(target['size_bytes'])}, {clock}{direct}", "bold"
    depth = "one request at a time" if plan["queue_depth"] == 1 else f"{plan['queue_depth']} requests at a time"
    span = "" if plan["span_bytes"] == target["size_bytes"] else f", on its first {size(plan['span_bytes'])}"
    bound = f", {size(plan['bytes'])} or {plan['seconds']:g} s a point" if plan["patterns"] else ""
    yield f"{depth}{bound}, seed {plan['seed']}{span}", "dim"
    if any("write" in one for one in plan["patterns"]):
        if plan["prepare_bytes"] and "random write" in plan["patterns"]:
            yield f"before random writes {size(plan['prepare_bytes'])} of them, 4 MiB each or more", "dim"
        yield "a flush ends a point of writes, and counts", "dim"
    yield _power(power), "dim"


def _power(power: Json | None) -> str:
    if power is None:
        return "no power: none was measured (--power)"
    rails = " and ".join(_supply(rail) if rail.endswith("V") else "all rails as one" for rail in power["rails"])
    return f"power: {power['source']}, {rails}, sampled every {duration(power['interval_ns'], exact=True)}"


def _points(points: list[Json]) -> Table:
    rails = rails_of(points)
    power = [_supply(rail) for rail in rails] if len(rails) > 1 else ["power"]
    table = new_table("", "", "count", "MB/s", *_times(rails), *power, "J/MB")
    table.padding = (0, 1, 0, 0)  # nine columns in a terminal of 80
    pattern = None
    for one in points:
        if one["pattern"] != pattern:
            if pattern is not None:
                table.add_section()
            pattern = one["pattern"]
            table.add_row(Text(SHORT[pattern], "bold"))
        table.add_row(f"  {size(one['request_bytes'])}", *cells(one, rails))
    return table


def _times(rails: Sequence[str]) -> tuple[str, ...]:
    """The figures of latency that a table shows: a second rail takes the place of the median."""
    return tuple(key for key in _QUANTILES if key != "p50" or len(rails) < 2)  # noqa: PLR2004


def _supply(rail: str) -> str:
    """The name of a rail in tables: "+12 V"."""
    return f"+{rail[:-1]} V"


def cells(one: dict[str, Any], rails: Sequence[str]) -> list[str]:
    """The figures of a point as text; its mean power by rail, if there are several."""
    latency, power = one["latency_ns"] or {}, one["power_w"] or {}
    times = [duration(latency.get(key)) for key in _times(rails)]
    means = [power.get("rails", {}).get(rail) for rail in rails] if len(rails) > 1 else [power.get("mean")]
    watts = [si(mean, "W") for mean in means]
    return [count(one["requests"]), rate(one["mb_s"]), *times, *watts, figure(one["j_per_mb"])]


def rate(value: float | None) -> str:
    """Write a rate: three digits of a small one, whole numbers of a large one."""
    if value is None:
        return NOTHING
    return count(value) if value >= 1000 else number(value, 1 if value >= 10 else 3)  # noqa: PLR2004


def figure(value: float | None) -> str:
    """Write an energy per megabyte, or another small number, in three digits."""
    return NOTHING if value is None else f"{value:#.3g}".rstrip(".")


def size(value: int) -> str:
    """Write a number of bytes with the largest binary unit that divides it; else in decimal."""
    for power, unit in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if value % _STEP**power == 0 and 1 <= value // _STEP**power < _UNITS_MAX:
            return f"{value // _STEP**power} {unit}"
    return si(value, "B")
