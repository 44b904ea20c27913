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
    "apart": Job("apart.fio", 9_000_000_000, nr_requests=128, merged=True, only=("bfq",)),
    "short_streams": Job(
        "short_streams.fio", 9_000_000_000, nr_requests=128, merged=True, only=("mq-deadline", "kyber", "bfq")
    ),
    "buffered": Job("buffered.fio", 9_000_000_000, 128, True, (("reader", (0,)),), written_back=True),
}


RULES = {
    "fio reaps late": "fio takes one end for each request that it sends (`iodepth_batch_complete_max` is 1), once "
    "`iodepth` of them are under way, and none while it sleeps in `io_submit` for want of a tag (`blk_mq_get_tag`, "
    "block/blk-mq-tag.c). What has ended has a latency until fio takes it. Where tags lack, each of the four processes "
    "gets one every 80 ms, so that a latency is 15 × 80 ms with 16 requests under way. The kernel's own mean has the "
    "time from tag to end.",
    "merged queues": "bfq makes one queue of those of processes that begin within 600 ms of each other "
    "(`bfq_do_or_sched_stable_merge`, `bfq_activation_stable_merging`; block/bfq-iosched.c). It takes them to be one "
    "job, and they have no turns among each other: the queue goes to the nearest request, and stays with a process as "
    "long as that has one there. FlashWatt's bfq gives each process a queue. In `apart` the processes begin 700 ms "
    "after one another.",
    "places of writes": "bfq lets writes that somebody waits for have three quarters of the queue's places, and three "
    "eighths while a queue is raised (`bfq_update_depths`, `bfq_limit_depth`; block/bfq-iosched.c). Where places "
    "lack, reads get more of them. FlashWatt's bfq bounds only writes that nobody waits for.",
    "first to begin": "fio's processes begin some ms after one another, as Linux lets them run. The first requests of "
    "the one that comes first find an empty disk and go out one by one, while those of the others are joined. It stays "
    "so: a process sends as many new pieces at a time as have ended together. Whose requests are divided is chance, "
    "and the more requests there are, the longer each waits. In FlashWatt all processes begin in one instant. With "
    "`startdelay` the requests of the one that begins first are divided there, too.",
}
"""Rules of Linux and fio that make a difference which is no fault of the model, by name."""


def rule_of(scheduler: str, job: str, figure: str) -> str | None:
    """The name of the rule that explains a difference in a figure."""
    if scheduler == "bfq" and job in ("random", "streams", "short_streams"):
        return "merged queues"
    if job == "short_streams":
        return "first to begin" if "size" in figure or "latency" in figure else None
    if not (job in ("random", "streams") if scheduler == "none" else job == "crowded"):
        return None
    if "latency p" in figure:
        return "fio reaps late"
    return "places of writes" if scheduler == "bfq" and ("share" in figure or "latency" in figure) else None


def host_sets(scheduler: str, job: Job) -> list[str]:
    """Keys of FlashWatt's `[host]` for a scheduler of Linux and a job."""
    sets = [f"host.scheduler={SCHEDULERS[scheduler]}", f"host.async_writes={str(job.async_writes).lower()}"]
    if scheduler == "none":
        return sets
    if job.nr_requests:
        sets.append(f"host.nr_requests={job.nr_requests}")
    return [*sets, "host.dispatch_budget=false"]  # virtio_blk has no get_budget
