"""The files that `flashwatt run` is given: a configuration, traces, or a trace on standard input."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashwatt.cli.terminal import NO_TRACES, Input

if TYPE_CHECKING:
    from collections.abc import Iterator

STDIN = Path("/dev/stdin")
"""The name under which the engine opens standard input: as a file, from its beginning, as often as it likes."""


SOURCE = Input(refused={**NO_TRACES, ".toml": ""}, dir_okay=False, allow_dash=True, path_type=Path)
"""A configuration or a trace, or `-`."""
PROGRAM = Input(refused={".toml": "a configuration, not a program"}, dir_okay=False, path_type=Path)
FIO_JOB = Input(refused={".toml": "a configuration, not a fio job file"}, dir_okay=False, path_type=Path)


def split(files: tuple[Path, ...]) -> tuple[Path | None, tuple[Path, ...]]:
    """Tell the configuration, which ends in `.toml`, from the traces."""
    configs = [path for path in files if path.suffix == ".toml"]
    if len(configs) > 1:
        raise click.UsageError(f"{configs[1]}: a second configuration after {configs[0]}; a run has one")
    return (configs[0] if configs else None), tuple(path for path in files if path.suffix != ".toml")


@contextmanager
def opened(traces: tuple[Path, ...]) -> Iterator[tuple[Path, ...]]:
    """Within the block, standard input is a regular file if one of the traces is `-`; give the names to open."""
    if Path("-") not in traces:
        yield traces
        return
    if traces.count(Path("-")) > 1:
        raise click.UsageError("- is given twice; standard input holds one trace")
    with _spooled():
        yield tuple(STDIN if path == Path("-") else path for path in traces)


@contextmanager
def _spooled() -> Iterator[None]:
    """Within the block, standard input is a file without a name that holds all that came from a pipe.

    A trace is read several times: for its format, its extent, its replay.
    """
    if not Path("/proc/self/fd").is_dir():
        raise click.UsageError("-: standard input can be read as a trace on Linux only; save the trace to a file")
    if sys.stdin.isatty():
        raise click.UsageError("-: standard input is a terminal; expected a trace from a pipe or a file")
    if stat.S_ISREG(os.fstat(0).st_mode):
        yield
        return
    before = os.dup(0)
    import shutil
    import tempfile

    with tempfile.TemporaryFile() as spool:
        with open(before, "rb", closefd=False) as pipe:
            shutil.copyfileobj(pipe, spool)
        spool.flush()
        os.dup2(spool.fileno(), 0)
        try:
            yield
        finally:
            os.dup2(before, 0)
            os.close(before)
