"""Power cuts: a campaign of cuts of one run, and its result."""

from __future__ import annotations

import json
import math
import re
from contextlib import contextmanager
from operator import index
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.asked import run_progress
from flashwatt.base.cut_figures import MAP_LOAD, results
from flashwatt.base.files import parse_json, printable, read_text
from flashwatt.base.literals import shown
from flashwatt.base.outputs import save
from flashwatt.base.scripts import blaming, explained
from flashwatt.base.units import counted
from flashwatt.config.config import Config
from flashwatt.runs import nearest, overrides_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    import polars as pl

    from flashwatt.base.files import Json
    from flashwatt.config.config import Source
    from flashwatt.runs import Progress

SCHEMA = 1
CUTS = 100
"""Number of cuts unless told otherwise."""
_LATEST_NS = 2**63 - 1
_RANGES = {"cuts": (1, 2**32 - 1), "at_ns": (0, _LATEST_NS), "at_operation": (1, _LATEST_NS)}
_BYTES_MAX = 4 << 30
_KINDS: dict[str, Any] = {
    **dict.fromkeys(("status", "drive", "ftl", "config"), str),
    **dict.fromkeys(("seed", "logical_units", "unit_bytes", "run_ns", "operations"), int),
    **dict.fromkeys(("twice", "has_volatile_buffer", "has_paired_pages"), bool),
    "when": dict,
    **dict.fromkeys(("capacitors", "array", "scrub"), (dict, type(None))),
    "warnings": list,
    "cuts": list,
}
"""What a result has beside its version, and of which kind it is."""
_FIGURES = tuple(name for name, one in results().items() if one.is_always)
"""What every cut has, beside its time and the operations before it."""
_OF_SECOND = tuple(name for name, one in results(second=True).items() if one.is_always)
"""What every second one has: no lost requests of its own, for example."""
_SOMETIMES = {
    "capacitors": tuple(name for name in results() if name.startswith(("dump_", "capacitance_"))),
    "scheduler": tuple(name for name in results() if name.startswith("host_")),
    "file_system": tuple(name for name in results() if name.startswith("files_")),
    "array": tuple(name for name in results() if name.startswith(("inconsistent_", "hole_"))),
    "loads_map": tuple(name for name in results() if name.startswith(MAP_LOAD)),
}
"""What a first cut has beside that if the result has this key: capacitors, a block layer, files, an array, a portion of
the map that is loaded. Of these a second one has the last."""


class Spread(NamedTuple):
    """How a figure varies over the cuts; a quantile is a value that occurred."""

    min: float
    median: float
    p99: float
    max: float

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        """Take the quantile q of n values as the ⌈q · n⌉-th smallest one (nearest rank)."""
        ranked = sorted(values)
        median, p99 = (ranked[max(0, math.ceil(share * len(ranked)) - 1)] for share in (0.5, 0.99))
        return cls(ranked[0], median, p99, ranked[-1])


class Loss(NamedTuple):
    """A cut after which durable data was missing."""

    at_ns: int
    """Time of the first cut."""
    after_ns: int | None
    """From the first power on to the second cut, if the loss came with that one."""
    lost_units: int


class Capacitors(NamedTuple):
    """The capacitors of a drive: their voltages, and what they must be able to do.

    The latter is to bring a full write buffer to flash, when an erase of each die has just begun.
    """

    max_v: float
    """Voltage in V to which they are charged."""
    min_v: float
    """Voltage in V at which the drive stops."""
    dump_pages: int
    """Pages of a full write buffer."""
    dump_ns: int
    """Time until all of it is on flash."""
    dump_energy_j: float
    """Energy of the drive in that time."""
    capacitance_f: float
    """The capacitance that gives this energy: 2 · energy / (max_v² - min_v²)."""


class Array(NamedTuple):
    """The array whose power was cut."""

    level: str
    """`raid0`, `raid1`, `raid5` or `raid10`."""
    members: int
    """Number of members, with that which has failed."""
    chunk_bytes: int
    """Bytes that lie together on one member."""
    member_bytes: int
    """Bytes of each member that the array uses."""
    rows: int
    """Rows of one chunk of each member."""
    logical_bytes: int
    """Bytes that the host sees."""
    failed_member: int | None
    """The member that has failed; None if none has."""


class Scrub(NamedTuple):
    """A scrub of a whole array: it reads all rows, and writes anew what does not match."""

    at_ns: int
    """Time of the cut that it comes after: that which left the most rows that do not match; of equals the first."""
    rows: int
    """Rows that it reads."""
    read_bytes: int
    """Bytes that it reads: all chunks of these rows."""
    repaired_rows: int
    """Rows of which it writes something anew."""
    written_bytes: int
    """Bytes of parity and of copies that it writes anew."""
    scrub_ns: int
    """Its time, from when the last member is back."""
    energy_j: float
    """Energy of all members in that time."""


class Crash:
    """The result of a campaign of power cuts. Each cut is one of the whole run, as if there had been no other.

    >>> drive = {"device.preset": "x25m", "device.channels": 2, "device.blocks_per_plane": 32}
    >>> result = flashwatt.crash(drive, cuts=5, workload__uniform__requests=200)
    >>> result.status, result.lost_units, len(result.cuts)
    ('complete', 0, 5)
    """

    def __init__(self, content: Json) -> None:
        """Wrap the content of a file that `save` wrote."""
        self._content = content

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Crash:
        """Read a file that `save` or `flashwatt crash --out` wrote. Raises `FlashwattError` for another file."""
        name = printable(path)
        content = parse_json(read_text(path, _BYTES_MAX), name)
        if not isinstance(content, dict) or "crash" not in content:
            raise _core.FlashwattError(f"{name}: not a result of `flashwatt crash`; expected a file of its --out")
        if content["crash"] != SCHEMA:
            raise _core.FlashwattError(f"{name}: crash: found schema {shown(content['crash'])}; expected {SCHEMA}")
        _check(content, name)
        return cls(content)

    @property
    def status(self) -> str:
        """`complete`, or `interrupted`: then the cuts that were made until then are kept."""
        return str(self._content["status"])

    @property
    def ftl(self) -> str:
        """The translation layer."""
        return str(self._content["ftl"])

    @property
    def scheduler(self) -> str | None:
        """The scheduler of the block layer before the drive (`[host]`); None without one."""
        return self._content.get("scheduler")

    @property
    def file_system(self) -> str | None:
        """The file system of the workload (`workload.files`); None without one."""
        return self._content.get("file_system")

    @property
    def drive(self) -> str:
        """The drive in one line."""
        return str(self._content["drive"])

    @property
    def seed(self) -> int:
        """The seed of the run (`run.seed`), which also draws the times of the cuts."""
        return int(self._content["seed"])

    @property
    def when(self) -> dict[str, int | list[int]]:
        """When the power was cut: `cuts`, `at_ns` or `at_operation`, as it was asked for.

        A list is that of the configuration (`run.power_cuts`).
        """
        return dict(self._content["when"])

    @property
    def asked(self) -> int:
        """Number of cuts that were asked for; with the status `interrupted` fewer were made."""
        ((place, value),) = self._content["when"].items()
        return len(value) if isinstance(value, list) else int(value) if place == "cuts" else 1

    @property
    def twice(self) -> bool:
        """Whether the power was cut again during each recovery."""
        return bool(self._content["twice"])

    @property
    def while_busy(self) -> bool:
        """Whether random times were drawn from those alone at which a flash operation is under way."""
        return bool(self._content.get("while_busy"))

    @property
    def idle_cuts(self) -> int | None:
        """Cuts at which no flash operation was under way; None of a file of an earlier version, which does not say."""
        return self._content.get("idle_cuts")

    @property
    def warnings(self) -> list[str]:
        """Warnings about the run that was cut: keys of the configuration that have no effect on it."""
        return list(self._content["warnings"])

    @property
    def has_volatile_buffer(self) -> bool:
        """Whether the drive has a volatile write buffer.

        Without one, or with one that capacitors or a journal protect, a write is durable when it has completed. With
        one it is durable when it has completed with forced unit access (FUA), or when a flush has completed that came
        after the write's completion.
        """
        return bool(self._content["has_volatile_buffer"])

    @property
    def array(self) -> Array | None:
        """The array; None of a single drive. Its figures of a cut are sums over the members, and times the last's."""
        found = self._content.get("array")
        return Array(**found) if found else None

    @property
    def scrub(self) -> Scrub | None:
        """A scrub of the array after the cut that left the most rows that do not match; None without redundancy."""
        found = self._content.get("scrub")
        return Scrub(**found) if found else None

    @property
    def capacitors(self) -> Capacitors | None:
        """The capacitors that bring the write buffer's content to flash at a cut; None if there are none."""
        found = self._content.get("capacitors")
        return Capacitors(**found) if found else None

    @property
    def has_journal(self) -> bool:
        """Whether the drive has a write buffer with a journal on flash (`write_buffer.protection`)."""
        return bool(self._content.get("has_journal"))

    @property
    def loads_map(self) -> bool:
        """Whether the drive loads a portion of its map into its cached table after a cut."""
        return bool(self._content.get("loads_map"))

    @property
    def has_paired_pages(self) -> bool:
        """Whether pages share cells with others, which a torn page spoils (`device.nand.paired_pages`)."""
        return bool(self._content["has_paired_pages"])

    @property
    def logical_units(self) -> int:
        """Map units that the host can address."""
        return int(self._content["logical_units"])

    @property
    def unit_bytes(self) -> int:
        """Bytes of a map unit."""
        return int(self._content["unit_bytes"])

    @property
    def run_ns(self) -> int:
        """Simulated nanoseconds of the run without a cut; for a single cut at a given place, until that cut."""
        return int(self._content["run_ns"])

    @property
    def operations(self) -> int:
        """Flash operations of the run, counted over the same time as `run_ns`."""
        return int(self._content["operations"])

    @property
    def lost_units(self) -> int:
        """Map units of which a durable version is lost, summed over all cuts, second ones included. It must be 0.

        Those of `pair_lost_units` are not among them.
        """
        return sum(loss.lost_units for loss in self.losses)

    @property
    def pair_lost_units(self) -> int:
        """Map units of which a durable version is lost with spoilt pages, summed over all cuts, second ones too."""
        of_second = (cut["again"] for cut in self._content["cuts"] if "again" in cut)
        return sum(cut["pair_lost_units"] for cut in (*self._content["cuts"], *of_second))

    @property
    def host_lost_units(self) -> int:
        """Map units of which data is lost that was durable for the process that had written it, summed over all cuts.

        It must be 0. A drive without a block layer before it has none: `lost_units` counts what it loses.
        """
        return self._sum("host_lost_units")

    @property
    def files_lost(self) -> int:
        """Files of which data is lost that an fsync had made durable, summed over all cuts. It must be 0.

        Those of `files_pair_lost` are not among them.
        """
        return self._sum("files_lost")

    @property
    def files_exposed_blocks(self) -> int:
        """Blocks that committed metadata gives to a file and that do not hold its data, summed over all cuts.

        It must be 0. Only a file system with a journal is looked at.
        """
        return self._sum("files_exposed_blocks")

    @property
    def files_pair_lost(self) -> int:
        """Files of which fsynced data is lost, at cuts that spoilt pages, summed over all cuts."""
        return self._sum("files_pair_lost")

    @property
    def hole_lost_bytes(self) -> int:
        """Bytes of a failed member's data that are lost as the row did not match (write hole), summed over all cuts."""
        return self._sum("hole_lost_bytes")

    def _sum(self, figure: str) -> int:
        return sum(cut.get(figure, 0) for cut in self._content["cuts"])

    @property
    def losses(self) -> list[Loss]:
        """The cuts after which a durable version was missing, but for spoilt pages, in the order of their times."""
        found = []
        for cut in self._content["cuts"]:
            again = cut.get("again")
            found.append(Loss(cut["at_ns"], None, cut["lost_units"]))
            if again:
                found.append(Loss(cut["at_ns"], again["after_ns"], again["lost_units"]))
        return [loss for loss in found if loss.lost_units]

    @property
    def cuts(self) -> pl.DataFrame:
        """The cuts, one row each, in the order of their times.

        Columns: `at_ns`, the time of the cut; `operations`, flash operations that had ended by then;
        `operations_under_way`, those that were under way, on a die or on its bus; `requests_lost`,
        requests that had been sent and had not completed, which never complete; `torn_pages`, pages whose program was
        cut; `spoilt_pages`, whole pages in the same cells as torn ones; `half_erased_blocks`, blocks whose erase was
        cut. Map units after the recovery: `kept_units` with the version that was written last, `rolled_back_units` with
        an older one or nothing, of which nothing newer was durable, `pair_lost_units` of which a durable version is
        lost with a spoilt page, and `lost_units` of which one is lost in another way. What the recovery took:
        `recovery_ns` from power on until requests are served, `energy_j` in that time, `spare_reads` (reads of spare
        areas), `reads`, `programs`, `erases`, and `scan_memory_bytes`, the memory that the scan needs.

        If the drive loads a portion of its map (`recovery.map_load_fraction`) also what of that it took: `map_load_ns`,
        `map_load_energy_j` in that time, and `map_load_reads` of pages of the map.

        With capacitors also what they did at the cut: `dump_pages`, pages of the write buffer that were programmed;
        `dump_ns`, the time from the cut until operations under way had ended and these pages were on flash;
        `dump_energy_j`, the energy of the drive in that time; and `capacitance_f`, the capacitance that gives it.

        Behind a block layer also `host_requests_lost`, those of the lost requests that the drive had not got (merged
        ones counted once), and `host_lost_units`, map units of which data is lost that was durable for the process that
        had written it: it must be 0.

        With files (`workload.files`) also what a mount of the file system finds: `files_fsynced`, files with data that
        an fsync has made durable, and `files_fsynced_bytes` of it; `files_lost`, files of which such data is lost,
        which must be 0, `files_lost_bytes` of it, and `files_pair_lost`, those at cuts that spoilt pages;
        `files_rolled_back`, files with changes that no fsync had made durable and that are gone, and
        `files_rolled_back_bytes` of them; and `files_exposed_blocks`, blocks that the committed metadata of a journal
        gives to a file and that do not hold its data, which must be 0.

        Of an array also `inconsistent_rows`, rows whose parity does not match their data or whose copies differ;
        `inconsistent_bytes` of parity and copies that a scrub must write anew; `hole_bytes`, data of a member that the
        others would give wrongly if it failed before the scrub, for the member with the most; and `hole_lost_bytes`,
        data of the failed member that is lost in this way.

        With `twice` there are also `second_after_ns`, the time from the first power on to the second cut, and the
        columns of the second cut and of the recovery from it, each with `second_` before its name.
        """
        import polars as pl

        rows = [_row(cut) for cut in self._content["cuts"]]
        always = ["at_ns", "operations", "operations_under_way", *_FIGURES, *_sometimes(self._content)]
        names = dict.fromkeys([*always, *(key for row in rows for key in row)])
        return pl.DataFrame([_series(name, [row.get(name) for row in rows]) for name in names])

    def spread(self, figure: str, *, second: bool = False) -> Spread | None:
        """Say how a figure, a column of `cuts`, varies over the cuts; None if there is none.

        With `second` it is the figure of the second cuts. A quantile is a value that occurred: of n values the
        ⌈q · n⌉-th smallest. Raises `FlashwattError` for an unknown figure.
        """
        values = self.values(figure, second=second)
        return Spread.of(values) if values else None

    def values(self, figure: str, *, second: bool = False) -> list[float]:
        """The values of a figure, a column of `cuts`, in the order of the cuts; with `second` those of second cuts."""
        from flashwatt.base.misspelt import known

        of = [cut["again"] for cut in self._content["cuts"] if "again" in cut] if second else self._content["cuts"]
        if of:
            known("figure", [figure], [key for key in of[0] if key != "again"])
        return [cut[figure] for cut in of]

    def to_config(self) -> Config:
        """Give the configuration of the run, to cut it again: `flashwatt.crash(result.to_config(), at_ns=…)`."""
        return Config(self._content["config"], "<crash>")

    def to_dict(self) -> Json:
        """Give the content of the file that `save` writes, as a copy."""
        content: Json = json.loads(json.dumps(self._content))
        return content

    def to_json(self) -> str:
        """Give the text of the file that `save` writes."""
        return json.dumps(self._content, indent=1)

    def encoded(self) -> bytes:
        """The bytes of the file that `save` writes."""
        return f"{self.to_json()}\n".encode()

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write it as JSON, which `Crash.read` reads.

        Raises `FlashwattError` if there is no such directory and, without `force`, for a file that is there and is no
        result of this kind.
        """
        with explained():
            save(path, self.encoded(), marks.CRASH, force=force)

    def __repr__(self) -> str:
        cuts, lost = counted(len(self._content["cuts"]), "cut"), counted(self.lost_units, "unit")
        return f"<Crash: {self.status}; {self.drive}; {cuts}, {lost} lost>"


@blaming
def crash(
    config: Source = MappingProxyType({}),
    /,
    *,
    cuts: int | None = None,
    at_ns: int | None = None,
    at_operation: int | None = None,
    twice: bool | None = None,
    while_busy: bool | None = None,
    seed: int | None = None,
    progress: Progress | bool | None = None,
    **overrides: Any,
) -> Crash:
    """Cut the power of a drive that serves its workload, let it come back, and say what is lost and what that costs.

    `cuts` is a number of random cuts, uniform over the run; the seed of the run draws their times. `at_ns` is one cut
    at this simulated time in ns, `at_operation` one cut when this number of flash operations has ended. At most one of
    the three is given; without any the cuts are those of the configuration (`run.power_cuts`), or 100 random ones.
    With `twice` the power is cut again during each recovery, at a time uniform over it. With `while_busy` random times
    are drawn from those alone at which a flash operation is under way, uniform over that time; else a cut of a run that
    is idle for a while falls into idle time (`Crash.idle_cuts`). Unless given, both are as the configuration says.
    `config`, `seed`, `progress` and `overrides` are those of `flashwatt.run`; `progress` counts cuts. The run is that
    of `flashwatt.run`, but `run.max_flash_ops` has no effect, and `Crash.warnings` says so.

    Each cut is one of the whole run: the drive that is cut is a copy, and the run goes on to the next cut.

    Ctrl-C ends the campaign early: its status is "interrupted", and it has the cuts until then. Raises `FlashwattError`
    for a configuration that cannot be run or cut, and if the run ends before the cut.
    """
    config = Config.of(config).override(overrides_of(seed, overrides))
    with nearest(overrides, crash), explained(), run_progress(progress, "Cutting", "cuts") as show:
        return campaign(
            config,
            cuts=cuts,
            at_ns=at_ns,
            at_operation=at_operation,
            twice=twice,
            while_busy=while_busy,
            progress=show,
        )


def campaign(
    config: Config,
    *,
    cuts: int | None = None,
    at_ns: int | None = None,
    at_operation: int | None = None,
    twice: bool | None = None,
    while_busy: bool | None = None,
    progress: Progress | None = None,
) -> Crash:
    """Cut a run; messages call overrides `--set`."""
    asked = _when({"cuts": cuts, "at_ns": at_ns, "at_operation": at_operation})
    resolved = json.loads(_core.resolve(config.text, config.name, list(config.sets)))
    configured = dict(resolved["run"].get("power_cuts") or {"cuts": CUTS, "twice": False})
    again, busy = configured.pop("twice"), configured.pop("while_busy", False)
    when, twice = asked or configured, again if twice is None else twice
    ((place, value),) = when.items()
    if while_busy and place != "cuts":
        raise _core.FlashwattError(f"while_busy: found {place} beside it, which says when; expected random cuts")
    busy = place == "cuts" and (busy if while_busy is None else while_busy)
    lists: dict[str, Any] = {place: [value] if place != "cuts" and isinstance(value, int) else value}
    with _named(place if asked else f"run.power_cuts.{place}"):
        text = _core.crash(
            config.text, config.name, list(config.sets), **lists, twice=twice, while_busy=busy, progress=progress
        )
    found: Json = json.loads(text)
    head = {
        "crash": SCHEMA,
        "version": _core.__version__,
        "status": found["status"],
        "drive": _drive_of(resolved, found),
        "seed": resolved["run"]["seed"],
        "when": when,
        "twice": twice,
        "while_busy": busy,
        "warnings": _warnings(resolved["run"]),
        "config": _core.merged(config.text, config.name, list(config.sets), None),
    }
    made = found.pop("cuts")
    return Crash({**head, **found, "cuts": made})


def _when(asked: Mapping[str, int | None]) -> dict[str, int]:
    """The place of the cuts that is asked for, if any. Raises `FlashwattError` for two, and for one out of range."""
    given = {name: value for name, value in asked.items() if value is not None}
    if len(given) > 1:
        first, second, *_ = given
        raise _core.FlashwattError(f"{second}: given beside {first}; expected one of cuts, at_ns and at_operation")
    if not given:
        return {}
    ((name, value),) = given.items()
    least, most = _RANGES[name]
    try:
        number = -1 if isinstance(value, bool) else index(value)
    except TypeError:
        number = -1
    if not least <= number <= most:
        raise _core.FlashwattError(f"{name}: found {shown(value)}; expected a whole number, {least} to {most}")
    return {name: number}


@contextmanager
def _named(argument: str) -> Iterator[None]:
    """Within the block, a fault of the place of the cut names the argument that asked for it."""
    try:
        yield
    except _core.FlashwattError as error:
        raise type(error)(re.sub(r"^crash: ", f"{argument}: ", str(error), flags=re.MULTILINE)) from None


def _drive_of(resolved: Json, found: Json) -> str:
    from flashwatt.report.table import describe_device

    array = {"array": found["array"]} if found.get("array") else {}
    return describe_device({"config": resolved, "ftl": {"name": found["ftl"]}, **array})


def _warnings(run: Json) -> list[str]:
    """Name the key that bounds a run, but not the run that is cut."""
    return ["run.max_flash_ops has no effect on the run that is cut"] if run["max_flash_ops"] else []


def _row(cut: Json) -> Json:
    """A cut as a flat row."""
    again: Json = cut.get("again") or {}
    plain = {key: value for key, value in cut.items() if key != "again"}
    return {**plain, **{f"second_{key}": value for key, value in again.items()}}


def _series(name: str, values: list[Any]) -> pl.Series:
    """A column of the frame, of the same type whatever is in it."""
    import polars as pl

    from flashwatt.base.frames import column

    if name.removeprefix("second_") not in ("at_ns", "after_ns", "operations", "operations_under_way", *results()):
        return column(name, values)
    return pl.Series(name, values, dtype=pl.Float64 if name.endswith(("_j", "_f")) else pl.UInt64)


def _sometimes(content: Json) -> list[str]:
    """The figures that the cuts of this result have, and not those of every one."""
    return [figure for key, figures in _SOMETIMES.items() if content.get(key) for figure in figures]


def _check(content: Json, name: str) -> None:
    """Raise `FlashwattError` if something that a result has is missing in a file, or no number."""
    expected = "expected a file as `flashwatt crash --out` wrote it"
    for key, kind in _KINDS.items():
        if not isinstance(content.get(key), kind):
            raise _core.FlashwattError(f"{name}: {key}: found {shown(content.get(key))}; {expected}")
    if set(content.get("array") or Array._fields) != set(Array._fields):
        raise _core.FlashwattError(f"{name}: array: found {shown(content['array'])}; {expected}")
    for place, one, keys in _tables(content):
        for key in keys:
            value = one.get(key) if isinstance(one, dict) else None
            if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
                raise _core.FlashwattError(f"{name}: {place}.{key}: found {shown(value)}; {expected}")


def _tables(content: Json) -> Iterator[tuple[str, Any, Sequence[str]]]:
    """The tables of numbers of a result: their places, and what each must have."""
    for key, fields in {"capacitors": Capacitors._fields, "scrub": Scrub._fields}.items():
        if content.get(key) is not None:
            yield key, content[key], fields
    figures = (*_FIGURES, *_sometimes(content))
    for number, cut in enumerate(content["cuts"]):
        yield f"cuts[{number}]", cut, ("at_ns", "operations", *figures)
        if isinstance(cut, dict) and "again" in cut:
            loaded = _SOMETIMES["loads_map"] if content.get("loads_map") else ()
            yield f"cuts[{number}].again", cut["again"], ("after_ns", *_OF_SECOND, *loaded)
