"""A report as an object: typed sections, frames, a page for the notebook."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.files import parse_json, printable, read_report
from flashwatt.base.literals import shown
from flashwatt.base.outputs import save
from flashwatt.base.scripts import explained
from flashwatt.report.components import ONLY_OF_AN_SSD, kind_of
from flashwatt.report.earlier import read_as_today

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    import polars as pl

    from flashwatt.base.files import Json
    from flashwatt.config.config import Config
    from flashwatt.report import cuts as of_cuts  # noqa: F401 (in the names of types)
    from flashwatt.report import sections as kinds  # noqa: F401
    from flashwatt.report.knee import Knee

_T = TypeVar("_T")
_MEMBERS = " (`members` holds those of the array's drives)"


class Section(Generic[_T]):
    """An attribute that reads a key of the report and gives it its type."""

    def __init__(self, kind: Any) -> None:
        """Take the type of the key's value, or its name: sections are made with the first that is read."""
        self._kind = kind

    @property
    def kind(self) -> Any:
        """The type of the key's value."""
        if isinstance(self._kind, str):
            from flashwatt.report import cuts, sections

            self._kind = eval(self._kind, {"kinds": sections, "of_cuts": cuts})
        return self._kind

    def __set_name__(self, _owner: type[Report], name: str) -> None:
        self.name = name

    @overload
    def __get__(self, report: None, _owner: type[Report]) -> Section[_T]: ...
    @overload
    def __get__(self, report: Report, _owner: type[Report]) -> _T: ...
    def __get__(self, report: Report | None, _owner: type[Report]) -> Section[_T] | _T:
        if report is None:
            return self
        from flashwatt.report import sections as kinds
        from flashwatt.report.shape import UNTIMED

        content = content_of(report)
        if self.name in UNTIMED and content.get("replay"):
            found = f"{self.name}: a run without a clock has none; found run.replay = {content['replay']['rules']}"
            raise _core.FlashwattError(f"{found}; expected a run in simulated time")
        if (drive := kind_of(content)) != "SSD":
            if self.name in ONLY_OF_AN_SSD:
                found = f"{self.name}: only of an SSD; found the report of {'an' if drive == 'array' else 'a'} {drive}"
                raise _core.FlashwattError(f"{found}; expected one of an SSD{_MEMBERS if drive == 'array' else ''}")
            if self.name == "energy_j":
                return cast("_T", kinds.Components(content[self.name]))
        try:
            value: _T = kinds.build(self.kind, content.get(self.name), self.name)
        except KeyError as missing:
            found = f"{missing.args[0]}: missing in this report; expected one of schema {_core.REPORT_SCHEMA}"
            raise _core.FlashwattError(found) from None
        return value


def content_of(report: Report) -> Json:
    """Give the content of a report without a copy, to read and not to change: it may hold millions of numbers."""
    return report._content


class Report:
    """The result of a run. Attributes are the sections of report.json; `to_dict` gives it whole.

    >>> report = flashwatt.run(workload__uniform__requests=1000)
    >>> report.status, report.workload.requests
    ('complete', 1000)
    """

    schema = Section[int](int)
    """Number of the report's layout; it grows when keys change their meaning."""
    version = Section[str](str)
    """Version of FlashWatt."""
    status = Section[str](str)
    """`complete`, `interrupted`, `stopped: ` with the budget that was reached, or `failed: ` with the reason."""
    warnings = Section[list[str]](list[str])
    """Warnings about the run: records skipped or folded, figures that do not apply."""
    not_steady = Section["list[kinds.Doubt] | None"]("list[kinds.Doubt] | None")
    """Figures that a longer run would change, with the reason. None if there are none that are known."""
    config = Section[dict[str, Any]](dict)
    """The resolved configuration as the engine has it, with every default filled in: currents in µA, voltages in mV.
    `to_config` gives it in the keys and units of a configuration file."""
    config_sha256 = Section[str](str)
    """SHA-256 of the configuration."""
    seed = Section[int](int)
    """Seed of every random draw."""
    snapshot = Section["kinds.Snapshot | None"]("kinds.Snapshot | None")
    workload = Section["kinds.Workload"]("kinds.Workload")
    window = Section["kinds.Window"]("kinds.Window")
    replay = Section["kinds.Replay | None"]("kinds.Replay | None")
    """None for a run in simulated time."""
    latency_ns = Section["kinds.Latencies"]("kinds.Latencies")
    origins = Section["list[kinds.Origin] | None"]("list[kinds.Origin] | None")
    """Requests by who sent them: jobs, devices or files of a trace. None if one sender sent all."""
    files = Section["kinds.Files | None"]("kinds.Files | None")
    """None unless the workload is `files`."""
    host = Section["kinds.Host | None"]("kinds.Host | None")
    """None without `[host]` in the configuration."""
    throughput = Section["kinds.Throughput"]("kinds.Throughput")
    array = Section["kinds.Array | None"]("kinds.Array | None")
    """None unless the drive is an array (`[array]`). The sections of a flash drive from `flash` to `drain_ledger` are
    those of one SSD; `members` holds them for each SSD of an array."""
    hdd = Section["kinds.Hdd | None"]("kinds.Hdd | None")
    """None unless the drive is a hard disk (`[hdd]`)."""
    members = Section[list[dict[str, Any] | None] | None](list | None)
    """The members of an array in order: `name`, `description`, `latency_ns`, `mean_w`, and the sections of a run of its
    kind. None for a member that has failed; None for one drive."""
    flash = Section["kinds.Flash"]("kinds.Flash")
    spare = Section["kinds.Spare | None"]("kinds.Spare | None")
    """None in reports of older versions."""
    wear = Section["kinds.Wear"]("kinds.Wear")
    lifetime = Section["kinds.Lifetime | None"]("kinds.Lifetime | None")
    """None in reports of older versions."""
    ftl = Section["kinds.Ftl"]("kinds.Ftl")
    gc = Section["kinds.Gc"]("kinds.Gc")
    write_buffer = Section["kinds.WriteBuffer | None"]("kinds.WriteBuffer | None")
    """None for a drive without one."""
    host_memory = Section["kinds.HostMemory | None"]("kinds.HostMemory | None")
    """None unless the drive's map is cached in the host's memory (`device.host_memory`)."""
    energy_j = Section["kinds.Energy"]("kinds.Energy")
    """Of another drive than an SSD: `Components`, with the total and an attribute for each component."""
    energy_by_cause_j = Section["kinds.EnergyByCause"]("kinds.EnergyByCause")
    energy_total_j = Section["kinds.EnergyTotals"]("kinds.EnergyTotals")
    efficiency = Section["kinds.Efficiency"]("kinds.Efficiency")
    power_w = Section["kinds.Power"]("kinds.Power")
    current_ma = Section["kinds.Current"]("kinds.Current")
    parallelism = Section["kinds.Parallelism"]("kinds.Parallelism")
    precision = Section["kinds.Precision | None"]("kinds.Precision | None")
    """None without `run.measure.precision` in the configuration."""
    power_cuts = Section["of_cuts.PowerCuts | None"]("of_cuts.PowerCuts | None")
    """None without `[run.power_cuts]` in the configuration."""
    energy_integral_j = Section[float | None](float | None)
    """Total energy by integrating the drive's power as it changed: a second path to `energy_j.total`."""
    ledger = Section["kinds.Ledger"]("kinds.Ledger")
    drain_ledger = Section["kinds.Ledger | None"]("kinds.Ledger | None")
    """The ledger of the drain alone; `ledger` includes it where the drain is counted. None if the run ended before."""
    engine = Section["kinds.Engine | None"]("kinds.Engine | None")
    """None in the results of a sweep, which do not depend on the speed of the machine, and for a `Drive`."""
    repriced = Section["kinds.Repriced | None"]("kinds.Repriced | None")
    """None for a report whose prices are those of its run."""
    earlier = Section["kinds.Earlier | None"]("kinds.Earlier | None")
    """None for a report of today's schema."""

    def __init__(self, content: Json, *, op_log: Path | None = None) -> None:
        """Wrap the content of a report.json; `op_log` is the operation log of the same run."""
        self._content = content
        self._op_log = op_log

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Report:
        """Read a report.json, or the one in a directory. Raises `FlashwattError` for a file that is none.

        One of an earlier schema is brought into today's: `earlier` names the keys that have no value then.
        """
        return cls.parse(*read_report(path))

    @classmethod
    def parse(cls, text: str, name: str = "<report>") -> Report:
        """Take the text of a report.json; `name` names it in a `FlashwattError`."""
        from flashwatt.report.shape import check

        if not isinstance(text, str):
            raise _core.FlashwattError(f"{name}: found {shown(text)}; expected the text of a report.json")
        content = parse_json(text.removeprefix("\ufeff"), name)
        schema = content.get("schema") if isinstance(content, dict) else None
        if schema is None:
            expected = "expected a report.json, as `flashwatt run --out DIR` writes it"
            raise _core.FlashwattError(f"{name}: not a report; found no `schema`; {expected}")
        read_as_today(content, name)
        check(content, {key: one.kind for key, one in vars(cls).items() if isinstance(one, Section)}, name)
        return cls(content)

    def write(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write it as a report.json.

        Raises `FlashwattError` if there is no such directory and, without `force`, for a file that is there and is no
        report.
        """
        with explained():
            save(path, self.encoded(), marks.REPORT, force=force)

    def encoded(self) -> bytes:
        """The bytes of report.json."""
        return f"{self.json}\n".encode()

    def to_dict(self) -> Json:
        """Give the content of report.json as a copy; changes of the copy do not change the report."""
        from flashwatt.report.sections import copied

        content: Json = copied(self._content)
        return content

    def to_config(self) -> Config:
        """Give the run's configuration in the keys and units of a configuration file, to run or vary it again.

        `flashwatt.run(report.to_config(), device__ways=4)`; `report.to_config().merged()` is its text in TOML. A report
        names traces, jobs and snapshots without their directories: give their paths again, as in
        `report.to_config().override(workload__trace__path="traces/a.csv")`.
        """
        from flashwatt.config.config import Config
        from flashwatt.config.spelling import are_alike, as_written

        if not are_alike(self._content["config"].get("array", {}).get("drives", [])):
            raise _core.FlashwattError("the report is of an array of different drives; expected drives that are alike")
        written = as_written(self.config)
        written.pop("device.op_ratio", None)  # follows from the other sizes
        return Config("", "<report>").override(written)

    @property
    def json(self) -> str:
        """The text of report.json."""
        return json.dumps(self._content, indent=2)

    def series(self) -> pl.DataFrame:
        """Power over time, and what an SSD did, one row per bin. `run(..., series=True)` records it.

        Columns: `start_ns`, `end_ns`, mean power in W by component (`controller_w`, `nand_program_w`, …), `total_w`.
        Of an SSD also `iops`, `read_mb_s`, `write_mb_s`, `queue_depth` (mean number of requests inside the drive),
        `write_amplification` (null in a bin without writes), `accepted_bytes`, `programmed_pages`, `erased_blocks`,
        `free_blocks` (at the end of the bin), and the energy of flash operations by cause (`energy_host_j`, …).
        """
        from flashwatt.base import frames

        return frames.series(self._content)

    def knee(self) -> Knee | None:
        """Where the rate of the host's writes falls, as when an SLC cache is full: the time, the bytes written by then,
        and rate, power and J/GB before and after it. None if it does not fall.

        It is found in the recording that `run(..., series=True)` makes, and Python's help of `flashwatt.report.knee`
        says how. Raises `FlashwattError` without a recording of an SSD's activity.
        """
        from flashwatt.report.knee import check_recorded, knee_of

        check_recorded(self._content)
        return knee_of(self._content)

    def edges(self) -> pl.DataFrame:
        """Current as it changed, one row from each change to the next: `run(..., edges=(from_ns, until_ns))`.

        Columns: `start_ns`, `end_ns`, current in mA by component (`controller_ma`, `nand_program_ma`, …), `total_ma`.
        The rows follow one another without a gap. Of several changes at one instant only the last value is kept.
        """
        from flashwatt.base import frames

        return frames.edges(self._content)

    def latency(self) -> pl.DataFrame:
        """Distribution of latencies, one row per bin of the histogram that is not empty.

        Columns: `kind`, `upper_ns` (the greatest latency of the bin, which is at most 0.8 % wide), `count`,
        `cumulative_fraction` (the share of that kind that took `upper_ns` or less). Kinds: `read` and `write` of the
        host, from arrival to completion; `map_read`, `map_write_first` and `map_write_last`, operations of a map on
        flash from planning to end, a write of several copies to the end of the first and of the last. A kind that did
        not occur has no row.
        """
        from flashwatt.base import frames

        return frames.latency(self._content)

    def op_log(self) -> pl.DataFrame:
        """Every flash operation, request and event of the run, in the order of their ends: `run(..., op_log=True)`.

        Columns: `record` (an operation's kind, `request`, …) and `cause`, both categorical; `die`, `block`, `page`;
        `start_ns`, `array_start_ns`, `array_end_ns`, `out_start_ns`, `end_ns`; `map_accesses`, `bytes`. A drive with
        rows and cells has more: `in_end_ns`, `row_pages`, `planes`, `page_type`, `mode`, `suspensions`,
        `earlier_moves`. A program in two passes has a record `first_pass` before its own.

        It takes some 80 bytes of memory for each record. For long runs see `scan_op_log`.
        """
        return self.scan_op_log().collect()

    def scan_op_log(self) -> pl.LazyFrame:
        """The log of `op_log` as a lazy frame, read piece by piece, in bounded memory for runs of any length.

        `.filter(...).collect()` keeps the matching rows in memory, `.sink_parquet(path)` next to none. The log is a
        file of some 60 bytes for each record. A temporary one is removed with the report: keep the report while you use
        the frame.
        """
        from flashwatt.base import frames

        if self._op_log is None:
            raise _core.FlashwattError("the run kept no operation log; ask for it: run(..., op_log=True)")
        if not self._op_log.exists():
            found = "the operation log of the run is gone; expected the file that the run wrote"
            raise _core.FlashwattError(f"{printable(self._op_log)}: {found}")
        return frames.op_log(self._op_log)

    def _repr_html_(self) -> str:
        from flashwatt.report.html import card

        return card(self._content)

    def __repr__(self) -> str:
        from flashwatt.base.units import si
        from flashwatt.report.table import describe_device, describe_workload, is_timed

        drive, load = describe_device(self._content), describe_workload(self._content)
        if not is_timed(self._content):
            return f"<Report: {self.status}; {drive}; {load}; without a clock>"
        energy, power = self._content["energy_j"]["total"], self._content["power_w"]["mean"]
        return f"<Report: {self.status}; {drive}; {load}; {si(energy, 'J')}, {si(power, 'W')} mean>"
