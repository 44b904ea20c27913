"""What is compared: jobs, schedulers, and the settings that both sides have."""

from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
DRIVE = HERE / "drive.toml"

SERVICE_NS = 20_000_000
DEPTH = 4
DISK_BYTES = 4 << 30
REGION_BYTES = 1 << 30
"""Each process has a part of the disk of its own, so that the disk's log tells whose a request is."""
PAGE_BYTES = 4096
RUNS = 5

SCHEDULERS = {"none": "none", "mq-deadline": "mq_deadline", "kyber": "kyber", "bfq": "bfq"}
"""Linux's name of each scheduler, and FlashWatt's."""


class Job(NamedTuple):
    """A fio job, and the queue before which it runs."""

    file: str
    window_ns: int
    """What is compared begins with the first dispatch and lasts so long: the job's runtime."""
    nr_requests: int | None = None
    """Requests that the queue holds; what Linux chooses, if not given. `none` has no queue of its own to set."""
    async_writes: bool = False
    drawn: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Sections that go to random places, and the regions of their processes. Linux gets the places that FlashWatt draws
    (fio's `read_iolog`)."""
    merged: bool = False
    """Requests are merged. Linux then counts a latency for each request to the disk, FlashWatt one for each of a
    process."""
    written_back: bool = False
    """Writes come from the page cache. Fio sees the cache's latency, not the disk's."""
    only: tuple[str, ...] = tuple(SCHEDULERS)

    @property
    def text(self) -> str:
        """The job file."""
        return (HERE / "jobs" / self.file).read_text()


PAIRS = (("readers", (0, 1)), ("writers", (2, 3)))
JOBS = {
    "single": Job("single.fio", 4_000_000_000, drawn=(("reader", (0,)),), only=("none",)),
    "four": Job("four.fio", 9_000_000_000, drawn=PAIRS),
    "random": Job("random.fio", 9_000_000_000, nr_requests=128, drawn=PAIRS),
    "crowded": Job("random.fio", 9_000_000_000, drawn=PAIRS, only=("mq-deadline", "kyber", "bfq")),
    "streams": Job("streams.fio", 9_000_000_000, nr_requests=128, merged=True),
    "short_streams": Job(
        "short_streams.fio", 9_000_000_000, nr_requests=128, merged=True, only=("mq-deadline", "kyber", "bfq")
    ),
    "buffered": Job("buffered.fio", 9_000_000_000, 128, True, (("reader", (0,)),), written_back=True),
}


RULES = {
    "free tags": "A request without a tag sleeps in `blk_mq_get_tag` (block/blk-mq-tag.c). A free tag belongs to "
    "whoever asks first, not to who has slept longest. The process whose request has just ended is awake, asks again "
    "and gets it, and the sleeper finds none. So one process can have all tags for a long time. Which one is chance: "
    "it differs from run to run. FlashWatt lets waiting processes in by turns.",
    "fio reaps late": "fio takes one end for each request that it sends (`iodepth_batch_complete_max` is 1), once "
    "`iodepth` of them are under way, and none while it sleeps in `io_submit` for want of a tag. What has ended has a "
    "latency until fio takes it. A process that has all tags sees `iodepth` times the time a request: 16 × 20 ms, or "
    "64 × 20 ms in `streams`. The kernel's own mean has the time from tag to end.",
}
"""Rules of Linux and fio that make a difference which is no fault of the model, by name."""


def rule_of(scheduler: str, job: str, figure: str) -> str | None:
    """The name of the rule that explains a difference in a figure."""
    tags_lack = job in ("random", "streams", "buffered") if scheduler == "none" else job == "crowded"
    if not tags_lack:
        return None
    if job != "buffered" and "latency p" in figure:
        return "fio reaps late"
    return "free tags" if "share" in figure else None


def host_sets(scheduler: str, job: Job) -> list[str]:
    """Keys of FlashWatt's `[host]` for a scheduler of Linux and a job."""
    sets = [f"host.scheduler={SCHEDULERS[scheduler]}", f"host.async_writes={str(job.async_writes).lower()}"]
    if scheduler == "none":
        return sets
    if job.nr_requests:
        sets.append(f"host.nr_requests={job.nr_requests}")
    return [*sets, "host.dispatch_budget=false"]  # virtio_blk has no get_budget
