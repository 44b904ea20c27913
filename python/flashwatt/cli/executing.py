"""Options that say where runs are made: on this machine, on a cluster, or by an executor of another package."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from flashwatt.cli.options import Quantity, blamed
from flashwatt.cli.terminal import FILE

if TYPE_CHECKING:
    from click.decorators import FC

    from flashwatt.sweeps.executor import Executor

_DASK = "dask"
NAMES = ("executor", "scheduler", "local_cluster", "slurm", "adapt", "send_limit", "dry_run")


class Where(NamedTuple):
    """Where the runs of a command are made."""

    workers: int | None
    executor: Executor | str | None


def _jobs(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[int, int] | None:
    """Give the least and the largest number of jobs."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,6}):(\d{1,6})", text)
    least, most = map(int, found.groups()) if found else (1, 0)
    if not least <= most or not most:
        raise click.BadParameter(f"found {text!r}; expected the least and the largest number of jobs: 0:8")
    return least, most


_OPTIONS = (
    click.option(
        "--executor",
        metavar="NAME",
        help="Run by NAME: local, processes of this machine, unless given; dask, a cluster; or what a package brings.",
    ),
    click.option(
        "--scheduler", metavar="ADDRESS", help="The Dask cluster at tcp://HOST:PORT, which goes on afterwards."
    ),
    click.option(
        "--local-cluster",
        type=click.IntRange(min=1),
        metavar="N",
        help="A Dask cluster of N processes on this machine.",
    ),
    click.option(
        "--slurm", type=FILE, metavar="JOB.toml", help="A Dask cluster of SLURM jobs, as JOB.toml describes them."
    ),
    click.option(
        "--adapt", callback=_jobs, metavar="A:B", help="Let SLURM run A to B of these jobs, as the work needs."
    ),
    click.option(
        "--send-limit",
        type=Quantity("send_limit_bytes", 0),
        metavar="SIZE",
        help="Send files that workers do not see, up to SIZE each; 1GB unless given.",
    ),
    click.option("--dry-run", is_flag=True, help="Run nothing: print the script of the SLURM jobs."),
)


def executor_options(function: FC) -> FC:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def executor_of(options: dict[str, Any], workers: int | None) -> Executor | str | None:
    """Take the options out of those of a command, and give the executor; after `--dry-run` the program ends here.

    The executor is closed when the command ends, however it does. Raises `click.UsageError` for options that
    contradict each other.
    """
    given = {name: options.pop(name) for name in NAMES}
    name, dry_run = given.pop("executor"), given.pop("dry_run")
    beside = [key for key, value in given.items() if value is not None]
    if beside and name not in (None, _DASK):
        raise click.UsageError(f"{_option(beside[0])}: is about a Dask cluster; found --executor {name}; expected dask")
    if dry_run and not given["slurm"]:
        raise click.UsageError("--dry-run: prints the script of SLURM jobs; expected --slurm JOB.toml beside it")
    if not beside and name != _DASK:
        return cast("str | None", name)
    if workers:
        raise click.UsageError("--workers: is about processes without a cluster; expected --local-cluster N")
    return _dask(given, dry_run=dry_run)


def _dask(given: dict[str, Any], *, dry_run: bool) -> Executor:
    from flashwatt.sweeps.cluster.dask import Dask

    arguments = {"local_cluster": "local_workers", "send_limit": "send_limit_bytes"}
    named = {arguments.get(key, key): value for key, value in given.items() if value is not None}
    with blamed({arguments.get(key, key): _option(key) for key in given}):
        made = Dask(**named)
        if dry_run:
            click.echo(made.job_script, nl=False)
            sys.exit(0)
    click.get_current_context().call_on_close(made.close)
    return made


def _option(key: str) -> str:
    return f"--{key.replace('_', '-')}"
