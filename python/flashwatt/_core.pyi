"""The engine (Rust): text in, JSON text out."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

AnyPath: TypeAlias = str | PathLike[str]
Progress: TypeAlias = Callable[[int, int | None, int, str | None], bool | None]

__version__: str
BUILD_ID: str
"""SHA-256 of the sources that the library is compiled from: builds of equal sources give equal results."""
REPORT_SCHEMA: int

class FlashwattError(ValueError):
    """The input cannot be run: the message names the place, the value found and the values expected."""

class RunInterruptedError(FlashwattError):
    """It was ended before there was anything to report: while a trace was read or the start state laid down."""

class Drive:
    """A drive that the caller drives."""

    def __init__(self, config_text: str, file_name: str, sets: Sequence[str], cuttable: bool) -> None: ...
    def submit(
        self,
        kind: str,
        offset_bytes: int,
        bytes: int,  # noqa: A002
        at_ns: int | None,
        fua: bool,
        origin: int,
    ) -> int: ...
    def advance(self, until_ns: int) -> list[tuple[int, int, int]]: ...
    def advance_to_done(self, until_ns: int) -> list[tuple[int, int, int]]: ...
    def sleep(self) -> bool: ...
    def cut(self) -> tuple[list[tuple[int, int, int]], str]: ...
    def next_event_ns(self) -> int | None: ...
    @property
    def now_ns(self) -> int: ...
    @property
    def logical_bytes(self) -> int: ...
    def energy_j(self) -> float: ...
    def blocks(self) -> list[tuple[int, int, str, int, int, int]]: ...
    def energy_by_supply_j(self) -> tuple[float, float]: ...
    def power_w(self) -> float: ...
    def report(self) -> str: ...

class LiveTarget:
    """A real file or block device that is open."""

    def __init__(self, path: AnyPath, write: bool, buffered: bool, threads: bool) -> None: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def sector_bytes(self) -> int: ...
    @property
    def is_device(self) -> bool: ...
    @property
    def engine(self) -> str: ...
    def measure(
        self,
        write: bool,
        seed: int | None,
        span_bytes: int,
        align_bytes: int,
        request_bytes: int,
        requests: int,
        time_limit_ns: int,
        queue_depth: int,
        progress: Progress | None = None,
    ) -> tuple[int, bytes, bool]: ...
    def flush(self) -> None: ...

class Offsets:
    """The offsets of a load, without end."""

    def __init__(self, seed: int | None, span_bytes: int, align_bytes: int, request_bytes: int) -> None: ...
    def __iter__(self) -> Offsets: ...
    def __next__(self) -> int: ...

class Meter:
    """A thread that reads a number from a file at equal intervals."""

    def __init__(self, path: AnyPath, interval_ns: int) -> None: ...
    def stop(self) -> list[tuple[int, int]]: ...

def run(
    config_text: str,
    file_name: str,
    sets: Sequence[str],
    op_log: str | PathLike[str] | None = None,
    series_interval_ns: int | None = None,
    progress: Progress | None = None,
    check: bool = False,
    latency_histogram: bool = False,
    edges_ns: tuple[int, int] | None = None,
    started: Callable[[], None] | None = None,
    force: bool = False,
    request_log: AnyPath | None = None,
    dispatch_log: AnyPath | None = None,
    capture: AnyPath | None = None,
) -> str: ...
def age(
    config_text: str,
    file_name: str,
    sets: Sequence[str],
    to: AnyPath,
    run: bool = False,
    progress: Progress | None = None,
    force: bool = False,
) -> str: ...
def crash(
    config_text: str,
    file_name: str,
    sets: Sequence[str],
    cuts: int | None = None,
    at_ns: Sequence[int] | None = None,
    at_operation: Sequence[int] | None = None,
    twice: bool = False,
    while_busy: bool = False,
    progress: Progress | None = None,
) -> str: ...
def cut_schema() -> str: ...
def inspect(
    config_text: str,
    file_name: str,
    sets: Sequence[str],
    after_run: bool = False,
    progress: Progress | None = None,
) -> str: ...
def inputs(config_text: str, file_name: str, sets: Sequence[str]) -> list[Path]: ...
def merged(config_text: str, file_name: str, sets: Sequence[str], beside: AnyPath | None = None) -> str: ...
def power_levels(config_text: str, file_name: str, sets: Sequence[str], dies: Sequence[int]) -> str: ...
def memory_bytes(text: str, name: str, sets: list[str]) -> int:
    """Memory in bytes that a run of this configuration takes at most."""

def definition(config_text: str, file_name: str, sets: Sequence[str]) -> tuple[int, str, int, list[Path]]: ...
def resolve(config_text: str, file_name: str, sets: Sequence[str]) -> str: ...
def reprice(report_json: str, report_name: str, table_toml: str, table_name: str) -> str: ...
def trace_info(
    path: AnyPath | Sequence[AnyPath],
    format: str | None = None,  # noqa: A002
    skip_bad: bool = False,
    sets: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> str: ...
def trace_profile(
    path: AnyPath | Sequence[AnyPath],
    format: str | None = None,  # noqa: A002
    skip_bad: bool = False,
    sets: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> str: ...
def standin_of_trace(
    path: AnyPath | Sequence[AnyPath],
    format: str | None = None,  # noqa: A002
    skip_bad: bool = False,
    sets: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> str: ...
def trace_convert(
    path: AnyPath | Sequence[AnyPath],
    to: AnyPath,
    format: str | None = None,  # noqa: A002
    skip_bad: bool = False,
    sets: Sequence[str] | None = None,
    to_format: str | None = None,
    drive_bytes: int | None = None,
    progress: Progress | None = None,
    force: bool = False,
) -> str: ...
def mapping_memory(capacity_bytes: int, page_bytes: int, block_bytes: int) -> str: ...
def rftl_model(misses: Sequence[float], channels: int, copies: Sequence[int], gc: float) -> str: ...
def kinds() -> list[str]: ...
def list_names(kind: str) -> list[tuple[str, str]] | None: ...
def registered(kind: str) -> str | None: ...
def config_schema() -> str: ...
def config_reference() -> str: ...
def number(key: str, text: str) -> str: ...
def preset_settings(name: str) -> str | None: ...
