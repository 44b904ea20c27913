"""Jobs of workers under SLURM: the keys of a job.toml, and the script that they make."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flashwatt import _core
from flashwatt.base.files import read_text
from flashwatt.base.missing import check_library, printable
from flashwatt.base.misspelt import known
from flashwatt.config.config import parse_toml
from flashwatt.sweeps.estimate import MB

if TYPE_CHECKING:
    from os import PathLike

_PASSED_ON = {
    "queue": str,
    "account": str,
    "walltime": str,
    "memory": str,
    "python": str,
    "interface": str,
    "local_directory": str,
    "log_directory": str,
    "job_extra_directives": list,
    "job_script_prologue": list,
    "worker_extra_args": list,
}
"""Keys that dask-jobqueue has under the same names, and what their values are."""
_WHOLE = ("cores", "jobs")
_EXPECTED = {str: "text", list: "a list of texts"}
_SCHEDULER = "tcp://SCHEDULER:PORT"
"""Stands in the script of a dry run: the scheduler gets its address when it begins."""


class Job(NamedTuple):
    """A description of jobs; each has a worker process with one thread for each of its cores."""

    cores: int
    jobs: int
    """The number of jobs, where they do not adapt."""
    megabytes: int
    """Memory of each worker."""
    options: dict[str, Any]
    """Of dask-jobqueue."""

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Job:
        """Read a job.toml. Raises `FlashwattError` with the key at fault."""
        name = printable(path)
        content = parse_toml(read_text(Path(path)), name)
        known(name, content, [*_PASSED_ON, *_WHOLE])
        for key, value in content.items():
            _check(name, key, value)
        for key in ("cores", "memory"):
            if key not in content:
                raise _core.FlashwattError(f'{name}: no {key}; expected that of a job: cores = 4, memory = "16GB"')
        cores, jobs = content.pop("cores"), content.pop("jobs", 1)
        memory = _bytes(name, content["memory"])
        options = {**content, "cores": cores, "processes": cores, "nanny": True}
        return cls(cores, jobs, memory // cores // MB, options)

    def with_resource(self, resource: str) -> dict[str, Any]:
        """Give the options, with the memory of each worker as a resource."""
        extra = [*self.options.get("worker_extra_args", []), "--resources", f"{resource}={self.megabytes}"]
        return {**self.options, "worker_extra_args": extra}

    def script(self, resource: str) -> str:
        """Write the script of a job, without a cluster. Raises `FlashwattError` if dask-jobqueue is not installed."""
        check_slurm()
        from dask_jobqueue.slurm import SLURMJob

        return str(
            SLURMJob(
                scheduler=_SCHEDULER, name="flashwatt", job_name="flashwatt", **self.with_resource(resource)
            ).job_script()
        )


def check_slurm() -> None:
    """Raise `FlashwattError` if dask-jobqueue is not installed."""
    check_library("dask_jobqueue", "dask-jobqueue", "a cluster under SLURM", "slurm")


def _check(name: str, key: str, value: Any) -> None:
    if key in _WHOLE:
        if type(value) is not int or value < 1:
            raise _core.FlashwattError(f"{name}: {key}: found {value!r}; expected a whole number, ≥ 1")
        return
    kind = _PASSED_ON[key]
    texts = value if isinstance(value, list) else [value]
    if not isinstance(value, kind) or not all(isinstance(one, str) for one in texts):
        raise _core.FlashwattError(f"{name}: {key}: found {value!r}; expected {_EXPECTED[kind]}")


def _bytes(name: str, text: str) -> int:
    from dask.utils import parse_bytes

    try:
        return int(parse_bytes(text))
    except ValueError:
        raise _core.FlashwattError(f'{name}: memory: found {text!r}; expected that of a job: "16GB"') from None
