"""The executor `dask`: a cluster of our own, on this machine or under SLURM, or one that is running already."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.missing import check_library
from flashwatt.sweeps.cluster.job import Job, check_slurm
from flashwatt.sweeps.estimate import MB, RESOURCE, machine_bytes
from flashwatt.sweeps.workers import processors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from distributed import Client

    from flashwatt.sweeps.work import Work

_SEND_LIMIT_BYTES = 1_000_000_000
CONNECT_S = 10.0
"""So long a scheduler has to answer."""
_NEVER = 1_000_000
"""Deaths of workers after which Dask gives a task up. It also counts those of workers where the task only waited."""


class Dask:
    """Runs tasks on the workers of a Dask cluster.

    Needs Dask: `pip install 'flashwatt[dask]'`, with SLURM `pip install 'flashwatt[slurm]'`.
    """

    def __init__(
        self,
        *,
        scheduler: str | None = None,
        local_workers: int | None = None,
        slurm: str | PathLike[str] | None = None,
        adapt: tuple[int, int] | None = None,
        send_limit_bytes: int = _SEND_LIMIT_BYTES,
        cache: str | PathLike[str] | None = None,
    ) -> None:
        """Take one of three clusters; it is begun with the first run, and ended by `close` unless it is another's.

        `scheduler` is the address of one that is running, `tcp://HOST:PORT`. `local_workers` is a number of processes
        on this machine; one for each processor unless any cluster is named. `slurm` is the path of a job.toml, which
        describes the jobs of workers; with `adapt=(A, B)` there are A to B jobs, as many as the tasks need.

        Files that tasks read are sent to workers that do not see them, up to `send_limit_bytes` each. `cache` is the
        directory on the workers that they go to; unless given it is that of FLASHWATT_CACHE there, or the user's cache.

        A script that begins processes on this machine needs `if __name__ == "__main__":`, as Dask explains.

        Raises `FlashwattError` if Dask is not installed, or if the arguments contradict each other.
        """
        check_library("distributed", "Dask", "the executor `dask`", "dask")
        named = {"scheduler": scheduler, "local_workers": local_workers, "slurm": slurm}
        given = [name for name, value in named.items() if value is not None]
        if len(given) > 1:
            raise _core.FlashwattError(f"{given[0]}: names one cluster, {given[1]} another; expected one of them")
        if local_workers is not None and local_workers < 1:
            raise _core.FlashwattError(f"local_workers: found {local_workers}; expected a whole number, ≥ 1")
        if adapt and not slurm:
            raise _core.FlashwattError("adapt: found no jobs that could be more or fewer; expected slurm beside it")
        if adapt and not 0 <= adapt[0] <= adapt[1] >= 1:
            raise _core.FlashwattError(
                f"adapt: found {adapt}; expected the least and the largest number of jobs: (0, 8)"
            )
        self._scheduler, self._adapt = scheduler, adapt
        self._local_workers = local_workers or processors()
        self._job = Job.read(slurm) if slurm is not None else None
        if self._job:
            check_slurm()
        self._limits = (send_limit_bytes, "" if cache is None else str(cache))
        self._cluster: Any = None
        self._client: Client | None = None

    def run(self, work: Work) -> None:
        """Run all tasks. Raises `FlashwattError` if the scheduler ends, or if a worker has another build."""
        from flashwatt.sweeps.cluster.coordinator import Coordinator, Expected, Limits

        with _quiet():
            client = self._opened()
            Coordinator(client, work, Limits(*self._limits), Expected(*self._expected())).run()

    def close(self) -> None:
        """End the connection, and the cluster if it is our own."""
        client, self._client = self._client, None
        cluster, self._cluster = self._cluster, None
        with _quiet():
            if client:
                client.close()
            if cluster:
                cluster.close()

    @property
    def job_script(self) -> str:
        """The script of a job under SLURM. Raises `FlashwattError` for another cluster."""
        if self._job is None:
            raise _core.FlashwattError("dry run: found no job; expected one that SLURM would run (slurm, --slurm)")
        return self._job.script(RESOURCE)

    def _opened(self) -> Client:
        from distributed import Client

        if self._client is None:
            if self._job:
                self._cluster = self._slurm(self._job)
            elif self._scheduler is None:
                self._cluster = self._local()
            try:
                self._client = Client(self._cluster or self._scheduler, set_as_default=False, timeout=CONNECT_S)
            except (OSError, ValueError) as error:
                found = f"scheduler: found none at {self._scheduler} ({error})"
                raise _core.FlashwattError(
                    f"{found}; expected the address of one that is running: tcp://HOST:PORT"
                ) from None
        return self._client

    def _expected(self) -> tuple[int, tuple[int, ...]]:
        """Give the threads, and the memory of workers, that our own cluster comes to have."""
        if self._job:
            jobs = self._adapt[1] if self._adapt else self._job.jobs
            return jobs * self._job.cores, (self._job.megabytes,)
        return (0, ()) if self._scheduler else (self._local_workers, (self._local_megabytes,))

    @property
    def _local_megabytes(self) -> int:
        return machine_bytes() // MB // self._local_workers

    def _local(self) -> Any:
        import dask
        from distributed import LocalCluster

        with dask.config.set({"distributed.scheduler.allowed-failures": _NEVER}):
            return LocalCluster(
                n_workers=self._local_workers,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                memory_limit=0,
                resources={RESOURCE: self._local_megabytes},
                silence_logs=logging.CRITICAL,
            )

    def _slurm(self, job: Job) -> Any:
        import dask
        from dask_jobqueue.slurm import SLURMCluster

        options = job.with_resource(RESOURCE)
        try:
            with dask.config.set({"distributed.scheduler.allowed-failures": _NEVER}):
                cluster = SLURMCluster(
                    name="flashwatt",
                    job_name="flashwatt",
                    silence_logs=logging.CRITICAL,
                    scheduler_options={"dashboard_address": ":0"},
                    **options,
                )
                if self._adapt:
                    cluster.adapt(minimum_jobs=self._adapt[0], maximum_jobs=self._adapt[1])
                else:
                    cluster.scale(jobs=job.jobs)
        except (OSError, RuntimeError, ValueError) as error:
            found = f"slurm: no cluster; found: {error}"
            raise _core.FlashwattError(f"{found}; expected a machine on which sbatch submits jobs") from None
        return cluster


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's own messages back: what a user must know of, an error or progress says."""
    import distributed  # it sets the levels of its loggers

    names = [name for name in logging.root.manager.loggerDict if name.startswith(distributed.__name__)]
    before = {logger: logger.level for logger in map(logging.getLogger, names)}
    for logger in before:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in before.items():
            logger.setLevel(level)
