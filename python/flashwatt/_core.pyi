"""The engine (Rust): text in, JSON text out."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

__version__: str
REPORT_SCHEMA: int

class FlashwattError(ValueError):
    """What the user wrote cannot be run: the message names the place, what was found and what was expected."""

class RunInterruptedError(FlashwattError):
    """The run was ended before there was anything to report: while the drive's start state was laid down."""

def run(
    config_text: str,
    file_name: str,
    sets: Sequence[str],
    op_log: str | PathLike[str] | None = None,
    series_interval_ns: int | None = None,
    progress: Callable[[int, int | None, int, bool], bool | None] | None = None,
    check: bool = False,
    latency_histogram: bool = False,
) -> str: ...
def inputs(config_text: str, file_name: str, sets: Sequence[str]) -> list[Path]: ...
def resolve(config_text: str, file_name: str, sets: Sequence[str]) -> str: ...
def reprice(report_json: str, report_name: str, table_toml: str, table_name: str) -> str: ...
def trace_info(path: str | PathLike[str], format: str | None = None, skip_bad: bool = False) -> str: ...  # noqa: A002
def list_names(kind: str) -> list[tuple[str, str]] | None: ...
