"""The executor `dask`: a cluster of our own, on this machine or under SLURM, or one that is running already."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.missing import check_library
from flashwatt.sweeps.estimate import MB, machine_bytes
from flashwatt.sweeps.workers import processors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from distributed import Client

    from flashwatt.sweeps.cluster.coordinator import Expected
    from flashwatt.sweeps.work import Work

_SEND_LIMIT_BYTES = 1_000_000_000
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
        given = [
            name
            for name, one in (("scheduler", scheduler), ("local_workers", local_workers), ("slurm", slurm))
            if one is not None
        ]
        if len(given) > 1:
            raise _core.FlashwattError(f"{given[0]}: names one cluster, {given[1]} another; expected one of them")
        if local_workers is not None and local_workers < 1:
            raise _core.FlashwattError(f"local_workers: found {local_workers}; expected a whole number, ≥ 1")
        self._scheduler = scheduler
        self._local_workers = local_workers or processors()
        self._limits = (send_limit_bytes, "" if cache is None else str(cache))
        self._cluster: Any = None
        self._client: Client | None = None

    def run(self, work: Work) -> None:
        """Run all tasks. Raises `FlashwattError` if the scheduler ends, or if a worker has another build."""
        from flashwatt.sweeps.cluster.coordinator import Coordinator, Limits

        with _quiet():
            client, expected = self._opened()
            Coordinator(client, work, Limits(*self._limits), expected).run()

    def close(self) -> None:
        """End the connection, and the cluster if it is our own."""
        client, self._client = self._client, None
        cluster, self._cluster = self._cluster, None
        with _quiet():
            if client:
                client.close()
            if cluster:
                cluster.close()

    def _opened(self) -> tuple[Client, Expected]:
        from distributed import Client

        from flashwatt.sweeps.cluster.coordinator import Expected

        if self._client is None:
            if self._scheduler is None:
                self._cluster = self._local()
            try:
                self._client = Client(self._cluster or self._scheduler, set_as_default=False)
            except (OSError, ValueError) as error:
                found = f"found no scheduler at {self._scheduler} ({error})"
                raise _core.FlashwattError(
                    f"scheduler: {found}; expected tcp://HOST:PORT of one that is running"
                ) from None
        return self._client, Expected()

    def _local(self) -> Any:
        import dask
        from distributed import LocalCluster

        from flashwatt.sweeps.cluster.coordinator import RESOURCE

        with dask.config.set({"distributed.scheduler.allowed-failures": _NEVER}):
            return LocalCluster(
                n_workers=self._local_workers,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
                memory_limit=0,
                resources={RESOURCE: machine_bytes() // MB // self._local_workers},
                silence_logs=logging.CRITICAL,
            )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's own messages back: what a user must know of, an error or progress says."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
