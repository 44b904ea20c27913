"""A report as a page for the terminal."""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from math import isclose
from typing import TYPE_CHECKING, Any

from rich import box
from rich.columns import Columns
from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from flashwatt import _core
from flashwatt.base.plain import plain
from flashwatt.base.units import NOTHING, count, duration, number, percent, si
from flashwatt.report.components import energies, kind_of
from flashwatt.report.cut_lines import of_cuts
from flashwatt.report.doubts import NOT_STEADY, TOO_SHORT, legend, mark, marks_of_quantile
from flashwatt.report.knee import knee_of, place_of
from flashwatt.report.narrow import fitted
from flashwatt.report.precise import of_precision

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import ConsoleOptions, RenderableType

    from flashwatt.base.files import Json

_MAX_WIDTH = 100
_BAR_WIDTH = 12
CAUSES = ("host", "gc", "merge", "map", "wear", "backup", "journal", "pad", "fold", "shared")
KINDS = ("read", "write", "flush")
"""Kinds of requests with latencies of their own."""
QUANTILES = {"mean": "mean", "p50": "p50", "p95": "p95", "p99": "p99", "p99.9": "p99_9", "max": "max"}
_SPARKS = " ▁▂▃▄▅▆▇█"


def show(report: Json, console: Console | None = None) -> None:
    """Print a report."""
    console = console or Console(highlight=False)
    console.width = min(console.width, _MAX_WIDTH)
    emit(console, _heading(report))
    if is_timed(report):
        parts = [part for table in _energy(report) for part in fitted(table, console.width)]
        emit(console, Columns(parts, padding=(0, 3)))
        if totals := report.get("energy_total_j"):
            emit(console, _idle_accountings(totals))
        _emit_fitted(console, _latency(report))
    if origins := report.get("origins"):
        _emit_fitted(console, _origins(origins), second=_TIMES_AT)
    for table in _before_the_drive(report):
        _emit_fitted(console, table)
    emit(console, Padding(_figures(report), (1, 0, 0, 1)))
    for text in _below_the_figures(report):
        emit(console, Padding(text, (1, 0, 0, 1)))
    for part in _over_time(report, console.width - 2):
        emit(console, part)
    if report.get("edges"):
        emit(console, Padding(_edges(report["edges"]), (1, 0, 0, 1)))
    for line in legend(marks_shown(report), [report]):
        emit(console, Text(line, "yellow"))
    show_warnings(report["warnings"], console)


def _below_the_figures(report: Json) -> Iterator[RenderableType]:
    if lifetime := report.get("lifetime"):
        yield _lifetime(lifetime, report)
    if precision := report.get("precision"):
        yield of_precision(precision)
    if cuts := report.get("power_cuts"):
        yield of_cuts(cuts)


def _emit_fitted(console: Console, table: Table, second: int | None = None) -> None:
    """Print a table, as several where the terminal is too narrow."""
    for part in fitted(table, console.width, second):
        emit(console, part)


def is_timed(report: Json) -> bool:
    """Whether the run of a report had a clock: else it has no figures of time and energy."""
    return report.get("replay") is None


class _Plain:
    """Remove characters that would act on the terminal from a text; names may hold any."""

    def __init__(self, inner: RenderableType) -> None:
        self.inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for one in console.render(self.inner, options):
            yield one if one.control else Segment(plain(one.text, keep="\n"), one.style)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self.inner)


def emit(console: Console, page: RenderableType) -> None:
    """Print a part of a page; everything that this package prints with styles goes through here."""
    console.print(_Plain(page))


def show_warnings(warnings: list[str], console: Console) -> None:
    """Print each on a line of its own."""
    for warning in warnings:
        emit(console, Text.assemble(("warning: ", "bold yellow"), warning))


def show_trace(info: dict[str, Any], console: Console | None = None) -> None:
    """Print the statistics of a trace."""
    console = console or Console(highlight=False)
    grid = Table.grid(padding=(0, 3))
    for name, value in _trace_lines(info):
        grid.add_row(Text(name, "dim"), Text(value))
    emit(console, Text(f"{info['file']}: {info['format']}, {duration(info['duration_s'] * 1e9)}", "bold"))
    emit(console, grid)
    if len(info["devices"]) > 1:
        _show_devices(info["devices"], console)
    show_warnings(info["warnings"], console)


_DEVICES_SHOWN = 20


def _show_devices(devices: list[dict[str, Any]], console: Console) -> None:
    """Print the devices of a trace; of many, those with the most requests, and the number of requests to all others."""
    shown, others = devices, []
    if len(devices) > _DEVICES_SHOWN:
        most = sorted(devices, key=lambda device: -device["requests"])
        shown, others = most[:_DEVICES_SHOWN], most[_DEVICES_SHOWN:]
    table = new_table("\nDevices", "device", "requests", "ends at")
    for device in shown:
        table.add_row(str(device["device"]), count(device["requests"]), si(device["end_bytes"], "B"))
    if others:
        requests = count(sum(device["requests"] for device in others))
        table.add_row(f"{count(len(others))} with fewer (--json lists them)", requests, "")
    emit(console, table)


def _trace_lines(info: dict[str, Any]) -> Iterator[tuple[str, str]]:
    kinds = ("reads", "writes", "trims", "flushes")
    yield "requests", f"{count(info['requests'])}: " + ", ".join(f"{count(info[k])} {k}" for k in kinds if info[k])
    peak = count(info["peak_requests_per_s"])
    yield "rate", f"{number(info['iops'], 1)} requests/s on average, {peak} in the busiest second"
    yield "times", _order(info)
    if info["units"]:
        yield "read as", info["units"]
    by_count, by_bytes = _percent(info["read_percent"]), _percent(info["read_bytes_percent"])
    yield "reads", f"{by_count} by count, {by_bytes} by bytes"
    yield "mean size", f"{number(info['mean_read_kib'], 1)} KiB read, {number(info['mean_write_kib'], 1)} KiB written"
    of_device, of_trace = _percent(info["sequential_percent"]), _percent(info["sequential_device_blind_percent"])
    yield "sequential", f"{of_device} on the same device, {of_trace} in the order of the trace"
    of_streams, length = _percent(info["sequential_streams_percent"]), number(info["stream_mean_requests"], 1)
    streams = f"{count(info['streams'])} stream{'' if info['streams'] == 1 else 's'}"
    lengths = f"; {streams} of {length} requests on average" if info["streams"] else ""
    yield "interleaved", f"{of_streams} continue one of the last 64 streams{lengths}"
    if info["processes"]:
        yield "processes", count(info["processes"])
    least = si(info["least_offset_bytes"], "B")
    yield "alignment", f"{_percent(info['aligned_percent'])} aligned to 4 KiB, least offset {least}"
    read, written = info["footprint_read_mib"], info["footprint_written_mib"]
    yield "footprint", f"{number(read, 1)} MiB read, {number(written, 1)} MiB written, in pages of 4 KiB"
    yield "overwriting", f"{number(info['overwrite_factor'], 2)} bytes written per distinct byte"
    yield "span", f"{si(info['span_bytes'], 'B')}: the size of a drive that holds it without --fold"
    yield "dense", f"{si(info['dense_bytes'], 'B')}: the size of a drive that holds it with dense = true"
    yield "sha256", info["sha256"]


def _order(info: dict[str, Any]) -> str:
    """Describe the largest step back in the times of a trace."""
    if not info["requests_back"]:
        return "in order"
    steps, requests = count(info["time_steps_back"]), count(info["requests_back"])
    largest = duration(info["largest_step_back_ns"])
    return f"{steps} steps back, the largest {largest}; {requests} requests before the latest time so far (see --sort)"


def _percent(value: float | None) -> str:
    return percent(None if value is None else value / 100)


def at(tree: Any, *path: str) -> Any:
    """Look a value up; `None` where the report has none."""
    for key in path:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def drive_name(report: Json) -> str:
    """Name the drive: by its preset, and by its `device.description` where that is not the preset's own."""
    if array := at(report, "config", "array"):
        names = Counter(_device_name(drive.get("device") or {}) for drive in array["drives"])
        return f"{array['level']} of {', '.join(f'{number} × {name}' for name, number in names.items())}"
    return _device_name(at(report, "config", "device") or {})


def _device_name(device: Json) -> str:
    preset, said = device.get("preset"), device.get("description")
    presets: dict[Any, str] = dict(_core.list_names("presets") or [])
    own = {text: name for name, text in presets.items()}
    if said in own:  # a member of an array by its own preset has that one's description
        return str(own[said])
    if preset and said:
        return f"{said} ({preset})"
    return str(preset or said or "custom drive")


def describe_device(report: Json) -> str:
    """Describe the drive in one line."""
    if kind_of(report) == "array":
        array = report["array"]
        chunk, size = (si(array[key], "B") for key in ("chunk_bytes", "logical_bytes"))
        spare = at(report, "config", "array", "spare", "device")
        beside = f", spare {_device_name(spare)}" if spare else ""
        return f"{drive_name(report)}: chunks of {chunk}, {size}{beside}"
    device, name = at(report, "config", "device") or {}, drive_name(report)
    if kind_of(report) == "disk":
        disk = report["config"]["hdd"]
        heads = f"{disk['heads']} head{'' if disk['heads'] == 1 else 's'}"
        return f"{name}: {count(disk['rpm'])} rpm, {heads}, {si(device.get('logical_bytes'), 'B')}"
    dies = f"{device.get('channels')} channels × {device.get('ways')} ways"
    page = f"{device.get('page_bytes', 0) / 1024:g} KiB pages"
    if scale := device.get("scale"):
        blocks, pages = device["blocks_per_plane"] * device["planes"], device["pages_per_block"]
        name, page = f"{name} at {of_drive(scale)}", f"{count(blocks)} blocks of {pages} pages a die, {page}"
    return f"{name}: {dies}, {page}, {si(device.get('logical_bytes'), 'B')}, FTL {at(report, 'ftl', 'name')}"


def of_drive(scale: float) -> str:
    """Write a share as people do: 1/64, where it is one over a whole number."""
    parts = round(1 / scale)
    return f"1/{parts}" if isclose(parts * scale, 1) else f"{scale:g}"


def describe_workload(report: Json) -> str:
    """Describe the workload in one line."""
    load = report["workload"]
    parts = [f"{count(load['reads'])} reads ({si(load['read_bytes'], 'B')})"]
    parts.append(f"{count(load['writes'])} writes ({si(load['write_bytes'], 'B')})")
    parts += [f"{count(load[kind])} {kind}" for kind in ("trims", "flushes") if load.get(kind)]
    return f"{load['name']}: {', '.join(parts)}"


def _heading(report: Json) -> Text:
    status = report["status"]
    text = Text()
    text.append(describe_device(report), "bold")
    text.append(f"\n{describe_workload(report)}\n")
    text.append(status, "green" if status == "complete" else "bold red")
    timed = is_timed(report)
    text.append(f", {duration(report['throughput']['simulated_s'] * 1e9)} simulated" if timed else ", without a clock")
    if engine := report.get("engine"):
        rate = f"{si(engine['requests_per_cpu_s'], '')} requests per CPU second"
        text.append(f" in {duration(engine['wall_s'] * 1e9)} ({rate})")
        if (before_s := engine.get("prepare_wall_s") or 0) >= _PREPARATION_NOTABLE_S:
            text.append(f" after {duration(before_s * 1e9)} of preparation")
    text.append(_window(report))
    if repriced := report.get("repriced"):
        text.append(f"\nwith the currents and voltages of {repriced['table']}: no peaks, which only a run gives")
    return text


_PREPARATION_NOTABLE_S = 0.5
_DRAIN_NOTABLE = 0.05  # of the energy that the figures hold


def _window(report: Json) -> str:
    """Describe the warm-up and the drain, which the figures do not cover."""
    window, text = report["window"], ""
    if window["warmup"]:
        text += f"\nafter a warm-up of {count(window['warmup'])} requests, which is not in the figures"
    drain_j = window["drain_energy_j"]
    if is_timed(report) and drain_j is not None and drain_j > _DRAIN_NOTABLE * report["energy_j"]["total"]:
        counted = "are in" if window["drain_counted"] else "are not in"
        drain = f"{si(window['drain_s'], 's')} and {si(drain_j, 'J')}"
        text += f"\nthe drain took {drain}, which {counted} the figures (run.count_drain)"
    return text


def new_table(title: str, *columns: str) -> Table:
    """A table in the house's style: the first column left, the others right."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def foldable(table: Table, column: int) -> None:
    """Let a column, and no other one, be folded where the terminal is too narrow."""
    table.columns[column].no_wrap, table.columns[column].overflow = False, "fold"


def _energy(report: Json) -> Iterator[Table]:
    yield _energy_by_component(report)
    if "energy_by_cause_j" in report:
        yield _energy_by_cause(report)
    if report.get("members"):
        yield _members(report)


def _members(report: Json) -> Table:
    """The members of an array: what each of them served, and how long that took."""
    table = new_table("\nMembers", "", "reads", "mean", "writes", "mean", "mean power")
    for place, (member, drive) in enumerate(zip(report["members"], _drives_of_members(report), strict=True)):
        label = f"member {place}{drive}"
        if member is None:
            table.add_row(label, Text("failed", "bold red"), *[""] * 4)
            continue
        cells = [cell for kind in ("read", "write") for cell in _served(member["latency_ns"][kind])]
        table.add_row(label, *cells, si(member["mean_w"], "W"))
    return table


def _drives_of_members(report: Json) -> list[str]:
    """The drive of each member, a spare in its place, where these differ; else nothing for each."""
    array = report["config"]["array"]
    drives = [_device_name(drive.get("device") or {}) for drive in array["drives"]]
    if spare := at(array, "spare", "device"):
        drives[array["failed"]["member"]] = f"{_device_name(spare)}, spare"
    return [f": {drive}" for drive in drives] if len(set(drives)) > 1 else [""] * len(drives)


def _served(latency: Json) -> tuple[str, str]:
    return count(latency["count"]), duration(latency["mean"])


def _energy_by_component(report: Json) -> Table:
    energy = report["energy_j"]
    table = new_table("\nEnergy by component", "", "energy", "share", "")
    of_an_ssd = kind_of(report) == "SSD"
    for name, part in energies(report).items():
        if not part and not of_an_ssd:
            continue  # a part of a disk draws from one supply or from both
        joules = part_of(part, energy["total"])
        table.add_row(name, si(joules, "J"), *_share(joules, energy["total"]))
    table.add_section()
    table.add_row("total", si(energy["total"], "J") + mark(report, "energy_j.total"), "", "", style="bold")
    table.columns[-1].justify = "left"
    return table


def _energy_by_cause(report: Json) -> Table:
    total = report["energy_j"]["total"]
    table = new_table("\nEnergy by cause", "", "energy", "share")
    for cause in CAUSES:
        if cause not in report["energy_by_cause_j"]:
            continue  # a run without backups, without a journal, without padding or folding
        joules = part_of(at(report, "energy_by_cause_j", cause), total)
        table.add_row(cause, si(joules, "J"), _share(joules, total)[0])
    return table


def _idle_accountings(totals: dict[str, float | None]) -> Padding:
    """The totals under all idle accountings that the report has; the tables above use the configuration's."""
    parts = (f"{name.replace('_', ' ')} {si(joules, 'J')}" for name, joules in totals.items() if joules is not None)
    return Padding(Text(f"total by idle accounting: {', '.join(parts)}", "dim"), (0, 0, 1, 1))


_ROUNDING = 1e-12
"""Parts of a sum of doubles that are smaller than this share of it are rounding errors."""


def part_of(joules: float | None, total: float | None) -> float | None:
    """Give a part of a total; 0 for a rounding error, which may be negative."""
    return 0.0 if joules is not None and total and abs(joules) < _ROUNDING * abs(total) else joules


def _share(part: float | None, total: float | None) -> tuple[str, str]:
    if part is None or not total:
        return NOTHING, ""
    share = part / total
    return percent(share), "█" * round(min(share, 1.0) * _BAR_WIDTH)


def _latency(report: Json) -> Table:
    table = new_table("Latency", "", "requests", *QUANTILES)
    for kind in KINDS:
        figures = at(report, "latency_ns", kind)
        if at(figures, "count"):
            keys = {key: f"latency_ns.{kind}.{key}" for key in QUANTILES.values()}
            cells = (duration(figures.get(key)) + mark(report, path) for key, path in keys.items())
            table.add_row(kind, count(figures["count"]), *cells)
    return table


def marks_shown(report: Json) -> Iterator[str]:
    """The marks of the figures that a page shows."""
    yield from (NOT_STEADY for doubt in report.get("not_steady") or [] if doubt["keys"])
    counts = [at(report, "latency_ns", kind, "count") for kind in KINDS]
    counts += [
        at(origin, "latency_ns", kind, "count")
        for origin in most(report.get("origins") or [])
        for kind in ("all", "flush")
    ]
    counts += [flow["latency_ns"]["count"] for flow in at(report, "files", "flows") or []]
    yield from (TOO_SHORT for one in counts for name in ("p95", "p99", "p99_9") if marks_of_quantile(one, name))


_ORIGINS_SHOWN = 8
_TIMES_AT = 7
"""The column of origins' latencies, which a second table begins with where the terminal is too narrow for one."""


def most(origins: list[Json]) -> list[Json]:
    """Give the origins with the most requests, as many as a page shows."""
    return sorted(origins, key=lambda origin: -origin["requests"])[:_ORIGINS_SHOWN]


def _origins(origins: list[Json]) -> Table:
    """The origins with the most requests, and how many more there are."""
    first = most(origins)
    kinds = dict.fromkeys(origin["kind"] for origin in first if origin["kind"] != "others")
    flushes = any(at(origin, "latency_ns", "flush", "count") for origin in first)
    heads = ("requests", "bytes", "IOPS", "MB/s", "from", "until", "mean", "p99", *(["flush p99"] if flushes else []))
    table = new_table("By origin", " or ".join(kinds), *heads)
    foldable(table, 0)
    for origin in first:
        latency = origin["latency_ns"]["all"]
        cells = (count(origin["requests"]), _share(origin["bytes_share"], 1.0)[0], *speed(origin))
        times = [duration(ns) for ns in (origin.get("start_ns"), origin.get("end_ns"), latency["mean"])]
        times.append(duration(latency["p99"]) + marks_of_quantile(latency["count"], "p99"))
        if flushes:
            of_flush = at(origin, "latency_ns", "flush") or {}
            times.append(duration(of_flush.get("p99")) + marks_of_quantile(of_flush.get("count"), "p99"))
        table.add_row(Text(origin["name"]), *cells, *times)
    if more := len(origins) - len(first):
        table.caption, table.caption_justify = Text(f"and {more} more, in report.json", "dim"), "left"
    return table


def speed(origin: Json) -> tuple[str, str]:
    """Requests and 10^6 bytes per second of an origin; dashes in a report of an older version."""
    if origin.get("iops") is None:
        return NOTHING, NOTHING
    return count(origin["iops"]), number(origin["read_mb_s"] + origin["write_mb_s"], 1)


def _before_the_drive(report: Json) -> Iterator[Table]:
    """What stands between applications and the drive: a file system, a block layer."""
    if files := report.get("files"):
        yield from _files(files)
    if host := report.get("host"):
        yield from _host(host)


def _files(files: Json) -> Iterator[Table]:
    """The file system: operations with their times, and what was written why."""
    operations = files["operations"]
    per_s, joules = count(operations["per_s"] or 0), si(operations["per_operation_j"], "J")
    table = new_table(
        f"Files on {files['system']}: {per_s} operations/s, {joules} each", "", "operations", "mean", "p99", "bytes"
    )
    for flow in files["flows"]:
        if not flow["count"]:
            continue
        lost = flow["no_space"] + flow["failed"]
        name = Text(flow["name"] + (f" ({count(lost)} failed)" if lost else ""))
        latency = flow["latency_ns"]
        times = (duration(latency[one]) + marks_of_quantile(latency["count"], one) for one in ("mean", "p99"))
        table.add_row(name, count(flow["count"]), *times, si(flow["bytes"], "B") if flow["bytes"] else "")
    yield table
    written = new_table("From the page cache to the drive", "", "data", "metadata")
    for one in files["written"]:
        if one["data_bytes"] or one["metadata_bytes"]:
            written.add_row(one["cause"], si(one["data_bytes"], "B"), si(one["metadata_bytes"], "B"))
    yield written


def _host(host: Json) -> Iterator[Table]:
    """The block layer: requests before and after it, and where their time goes."""
    requests = new_table(f"Host: {host['scheduler']}", "", "requests", "mean", "to the drive", "mean")
    times = new_table("Where the time goes", "", "to get a place", "queue", "longest", "drive")
    for kind in ("read", "write"):
        one, parts = host[kind], host["latency_ns"]
        if not one["submitted"]:
            continue
        before, after = (si(one[f"{side}_bytes_mean"], "B") for side in ("submitted", "dispatched"))
        requests.add_row(kind, count(one["submitted"]), before, count(one["dispatched"]), after)
        place, queue, drive = (duration(parts[part][kind]["mean"]) for part in ("slat", "queue", "device"))
        times.add_row(kind, place, queue, duration(parts["queue"][kind]["max"]), drive)
    yield requests
    yield times


def _figures(report: Json) -> Table:
    grid = Table.grid(*(Column(overflow="fold") for _ in range(4)), padding=(0, 3))
    left, right = list(_performance(report)), list(_power(report) if is_timed(report) else _replay(report["replay"]))
    for (name_a, value_a), (name_b, value_b) in zip_longest(left, right, fillvalue=("", "")):
        grid.add_row(Text(name_a, "dim"), value_a, Text(name_b, "dim"), value_b)
    return grid


def _performance(report: Json) -> Iterator[tuple[str, str]]:
    if through := report["throughput"]:
        doubt = mark(report, "throughput.iops")
        yield "throughput", f"{count(through['iops'])} IOPS{doubt}"
        rates = f"{number(through['read_mb_s'], 1)}, {number(through['write_mb_s'], 1)} MB/s"
        yield "read, write", f"{rates}{doubt}"
    if "flash" in report:
        yield from _of_flash(report)
    if array := report.get("array"):
        yield from _of_array(array)
    if disk := report.get("hdd"):
        yield from _of_disk(disk)


def _of_disk(disk: Json) -> Iterator[tuple[str, str]]:
    yield "reads from the buffer", f"{count(disk['read_hits'])}, {count(disk['partial_read_hits'])} in part"
    volts = {key: joules for key, joules in disk["energy_by_supply_j"].items() if joules}
    yield "energy by supply", ", ".join(f"+{key[1:]} V {si(joules, 'J')}" for key, joules in volts.items()) or "–"
    mean, cylinders = disk["seek_ns_mean"], disk["seek_cylinders_mean"]
    crossed = f", {duration(mean)} and {count(round(cylinders))} cylinders on average" if disk["seeks"] else ""
    yield "seeks", f"{count(disk['seeks'])} in {duration(disk['seek_ns'])}{crossed}"
    waits, waited = disk["rotational_waits"], disk["rotational_wait_ns"]
    each = f", {duration(waited / waits)} on average" if waits else ""
    yield "rotational waits", f"{count(waits)} in {duration(waited)}{each}"
    yield "read, read ahead", f"{si(disk['media_read_bytes'], 'B')}, {si(disk['read_ahead_bytes'], 'B')}"
    yield "written to the medium", si(disk["media_write_bytes"], "B")
    if disk["spin_ups"] or disk["spin_downs"]:
        standby = duration(disk["state_s"]["spindle_standby"] * 1e9)
        yield "spin-ups", f"{count(disk['spin_ups'])}, {standby} in standby"


def _of_array(array: Json) -> Iterator[tuple[str, str]]:
    yield "member reads", count(array["member_reads"])
    yield "member writes", count(array["member_writes"])
    if array["level"] == "raid5":
        yield "rows read first", count(array["rows_read_first"])
        yield "rows written without a read", count(array["rows_written_whole"])
    if array["reconstructed"]:
        yield "chunks reconstructed", count(array["reconstructed"])
    if rebuild := array["rebuild"]:
        ended = "" if rebuild["ended_s"] is None else f", ended at {duration(rebuild['ended_s'] * 1e9)}"
        yield f"rebuild of member {rebuild['member']}", f"{percent(rebuild['rebuilt_fraction'])}{ended}"
    if (lifetime := array.get("lifetime")) and lifetime["first_years"] is not None:
        yield f"lifetime, member {lifetime['first_member']} first", f"{number(lifetime['first_years'])} years"
        loss = lifetime["data_loss_years"]
        yield "lifetime, until data is lost", NOTHING if loss is None else f"{number(loss)} years"


def _of_flash(report: Json) -> Iterator[tuple[str, str]]:
    flash, erases = report["flash"], at(report, "wear", "erase_count")
    yield "write amplification", number(flash["write_amplification"]) + mark(report, "flash.write_amplification")
    yield from _amplification(flash)
    for name in ("reads", "programs", "erases"):
        yield f"flash {name}", count(flash[name]["total"]) + mark(report, f"flash.{name}.total")
    if spare := report.get("spare"):
        yield "spare flash, usable", spare_flash(spare)
    if buffer := report.get("write_buffer"):
        coalesced, hits = count(buffer["writes_coalesced"]), count(buffer["read_hits"])
        yield "write buffer", f"{coalesced} of {count(buffer['writes'])} writes coalesced, {hits} read hits"
    if memory := report.get("host_memory"):
        yield (
            "map in the host's memory",
            f"{si(memory['read_bytes'], 'B')} read, {si(memory['written_bytes'], 'B')} written",
        )
    if erases:
        mean = erases["mean"]
        yield "erases per block", f"{mean:{'.2f' if mean >= 1 else '.2g'}} ({erases['min']} to {erases['max']})"


def spare_flash(spare: Json) -> str:
    """Write the over-provisioning that was asked for and that collection can use, as ratios to the host's bytes."""
    asked, effective = spare["asked_op_ratio"], spare["effective_op_ratio"]
    return f"{percent(asked)} asked, {percent(effective)}"


def _replay(replay: Json) -> Iterator[tuple[str, str]]:
    yield "rules", replay["rules"]
    yield "mean write", si(replay["write_bytes_mean"], "B")
    yield "pages per 4 KiB written", number(replay["pages_per_4_kib"])
    yield "pages copied", count(replay["copies"])


def _amplification(flash: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The factors of write amplification, where garbage collection is not the only one."""
    factors = {name: flash.get(f"{name}_factor") for name in ("rmw", "buffer", "pad", "fold", "gc")}
    known = {name: factor for name, factor in factors.items() if factor is not None}
    if any(factor != 1 for name, factor in known.items() if name != "gc"):
        yield f"= {' × '.join(known)}", " × ".join(map(number, known.values()))


def kwh(value: float | None) -> str:
    """Write an energy in kWh."""
    return si(None if value is None else value * 1e3, "Wh") if value is None or value < 1 else f"{value:,.1f} kWh"


_UNEVEN = 3  # times the wear of the mean block: no levelling leaves so much


def _lifetime(lifetime: Json, report: Json) -> Text:
    """Until when the flash is worn out, in a line or two; the reason, where that is not known."""
    text = Text("lifetime   ", "dim")
    mean, worst = lifetime["mean_wear"], lifetime["worst_block"]
    if not mean:
        return text.append(lifetime["reason"] or NOTHING)
    written = f", {number(mean['tbw'], 1)} TBW" if mean["tbw"] is not None else ""
    doubt = mark(report, "lifetime.mean_wear")
    text.append(f"{years(mean['years'])}{written}{doubt} by mean wear", "default")
    if worst:
        text.append(f"; {years(worst['years'])} by the worst block", "default")
        if at(report, "config", "wear", "policy") == "none" and worst["years"] < mean["years"] / _UNEVEN:
            text.append(" (wear.policy = none: nothing levels wear)", "default")
    else:
        text.append(" (worst block: too early to tell)", "default")
    per_day = number(lifetime["drive_writes_per_day"], 2)
    cycles = count(lifetime["rated_cycles"])
    text.append(f"\n           {cycles} cycles, {per_day} drive writes per day, the window repeated")
    if scale := at(report, "config", "device", "scale"):
        text.append(f"\n           of the drive as scaled: at full size years and TBW are {1 / scale:.3g} times these")
    return text


def years(value: float) -> str:
    """Write a time in years; a short one in days."""
    return f"{value:,.1f} years" if value >= 1 else f"{number(value * 365.25, 1)} days"


def _amperes(milliamperes: float | None) -> str:
    return si(None if milliamperes is None else milliamperes / 1e3, "A")


def _power(report: Json) -> Iterator[tuple[str, str]]:
    power, efficiency = report["power_w"], report["efficiency"]
    yield "mean power", si(power["mean"], "W") + mark(report, "power_w.mean")
    yield "peak power", si(power["peak"], "W")
    yield "peak current", _peak_current(report)
    yield "worst 100 µs, 1 s", f"{si(power.get('max_100us'), 'W')}, {si(power.get('max_1s'), 'W')}"
    doubt = mark(report, "efficiency.j_per_gb")
    yield "efficiency", f"{number(efficiency['mb_per_j'], 1)} MB/J{doubt}"
    yield "energy per GB", si(efficiency["j_per_gb"], "J") + doubt
    yield "per TB written", si(efficiency.get("j_per_tb_written"), "J") + doubt
    yield "a month of this", kwh(efficiency.get("kwh_per_month")) + doubt
    yield "per watt", f"{count(efficiency['iops_per_w'])} IOPS{doubt}"
    if "parallelism" in report:
        busy = at(report, "parallelism", "mean_active_dies")
        yield "busy dies", number(busy and abs(busy), 2)


def _peak_current(report: Json) -> str:
    """Write the current with its voltage: currents of parts at different voltages do not add up."""
    peak, volts = at(report, "current_ma", "peak"), at(report, "current_ma", "supply_v")
    return _amperes(peak) if peak is None or volts is None else f"{_amperes(peak)} at {volts:g} V"


def _over_time(report: Json, width: int) -> Iterator[Padding]:
    """Power over time, and the knee of a drive with an SLC cache."""
    if report.get("series"):
        yield Padding(_power_over_time(report, width), (1, 0, 0, 1))
        if at(report, "config", "slc_cache"):
            yield Padding(_knee(report), (0, 0, 0, 1))


def _power_over_time(report: Json, width: int) -> Text:
    series = report["series"]
    watts = [sum(values) for values in zip(*series["power_w"].values(), strict=True)]
    group = max(1, -(-len(watts) // width))
    means = [sum(watts[i : i + group]) / len(watts[i : i + group]) for i in range(0, len(watts), group)]
    top = max(means, default=0.0)
    line = "".join(_SPARKS[max(0, round(watt / top * (len(_SPARKS) - 1)))] if top > 0 else " " for watt in means)
    text = Text("power over time", "dim")
    text.append(f" to {si(top, 'W')}, {duration(group * series['interval_ns'], exact=True)} a column\n", "dim")
    return text.append(line, "cyan")


def _knee(report: Json) -> Text:
    """Where the rate of writes falls, and the figures before and after it."""
    text, found = Text(f"{'knee':<14}", "dim"), knee_of(report)
    if found is None:
        return text.append("none: the rate of writes does not fall", "default")
    text.append(place_of(found), "default")
    written, levels = found.written_bytes, [("before it", found.before), ("after it", found.levels[0])]
    for level in found.levels[1:]:
        written += levels[-1][1].written_bytes
        levels.append((f"from {si(written, 'B')}", level))
    for name, level in levels:
        said = f"{count(level.write_mb_s)} MB/s at {si(level.power_w, 'W')}, {number(level.j_per_gb, 2)} J/GB"
        text.append(f"\n{name:<14}", "dim").append(said, "default")
    return text


def _edges(edges: dict[str, Any]) -> Text:
    """The number of recorded changes of the current, and the highest current."""
    totals, text = edges["total_ma"], Text("current edges", "dim")
    window = f"from {duration(edges['from_ns'])} until {duration(edges['until_ns'])}"
    text.append(f"   {count(len(totals))} {window}")
    if totals:
        highest = max(totals)
        text.append(f", highest {_amperes(highest)} at {duration(edges['time_ns'][totals.index(highest)])}")
    return text
