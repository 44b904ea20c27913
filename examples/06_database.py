# %% [markdown]
# # A drive inside a larger model
#
# A small database in [SimPy](https://simpy.readthedocs.io): clients think, read pages, and commit. A commit waits until
# its record is in the log on the drive. One process writes the log. While a write is under way the records of other
# clients gather, and the next write takes them all (group commit). `flashwatt.Drive` is the drive.

# %%
import random
from collections.abc import Generator
from typing import Any, TypeAlias

import polars as pl
import simpy

import flashwatt
from flashwatt.drive import Kind

Process: TypeAlias = Generator[simpy.Event, Any, None]
PAGE_BYTES, LOG_BYTES, DATA_BYTES = 4096, 64 << 20, 1 << 30
READS, THINK_NS, RUN_NS = 3, 10_000_000, 500_000_000

# %% [markdown]
# The drive as a part of the model. `request` gives an event that SimPy's processes wait for. One process carries the
# drive along: it sleeps until the drive's next event, or until a request is sent.


# %%
class Storage:
    """A drive whose requests are events of SimPy."""

    def __init__(self, env: simpy.Environment, drive: flashwatt.Drive) -> None:
        """Connect a drive to an environment whose time is in nanoseconds."""
        self.env, self.drive = env, drive
        self.ends: dict[int, simpy.Event] = {}
        self.sent = env.event()
        env.process(self.run())

    def request(self, kind: Kind, offset_bytes: int, size_bytes: int) -> simpy.Event:
        """Send a request; the event comes when it ends."""
        tag = self.drive.submit(kind, offset_bytes, size_bytes, at_ns=int(self.env.now), fua=kind == "write")
        self.ends[tag] = self.env.event()
        if not self.sent.triggered:
            self.sent.succeed()
        return self.ends[tag]

    def run(self) -> Process:
        """Carry the drive along."""
        while True:
            for done in self.drive.advance(int(self.env.now)):
                self.ends.pop(done.tag).succeed()
            at_ns = self.drive.next_event_ns()
            self.sent = self.env.event()
            if at_ns is None:
                yield self.sent
            else:
                yield self.sent | self.env.timeout(at_ns - self.env.now)


# %% [markdown]
# The database: its clients, its log, and what it counts.


# %%
class Database:
    """Clients, and the log that they share."""

    def __init__(self, env: simpy.Environment, storage: Storage, clients: int) -> None:
        """Start them."""
        self.env, self.storage = env, storage
        self.records: list[tuple[int, simpy.Event]] = []
        self.appended = env.event()
        self.commit_ns: list[int] = []
        self.log_writes = 0
        env.process(self.log_writer())
        for client in range(clients):
            env.process(self.client(random.Random(client)))

    def client(self, rng: random.Random) -> Process:
        """Think, read, commit, for ever."""
        while True:
            yield self.env.timeout(round(rng.expovariate(1 / THINK_NS)))
            for _ in range(READS):
                page = rng.randrange(DATA_BYTES // PAGE_BYTES)
                yield self.storage.request("read", LOG_BYTES + page * PAGE_BYTES, PAGE_BYTES)
            begin_ns, committed = int(self.env.now), self.env.event()
            self.records.append((rng.randint(100, 600), committed))
            if not self.appended.triggered:
                self.appended.succeed()
            yield committed
            self.commit_ns.append(int(self.env.now) - begin_ns)

    def log_writer(self) -> Process:
        """Write all records that wait, for ever."""
        head = 0
        while True:
            if not self.records:
                self.appended = self.env.event()
                yield self.appended
            group, self.records = self.records, []
            pages = -(-sum(size for size, _ in group) // PAGE_BYTES)
            if head + pages * PAGE_BYTES > LOG_BYTES:
                head = 0
            yield self.storage.request("write", head, pages * PAGE_BYTES)
            head += pages * PAGE_BYTES
            self.log_writes += 1
            for _, committed in group:
                committed.succeed()


# %% [markdown]
# A few numbers of clients, each on a fresh drive that has been filled once.


# %%
def measure(clients: int) -> dict[str, float]:
    """Run the database for a while."""
    env = simpy.Environment()
    drive = flashwatt.Drive(device={"preset": "x25m", "logical_bytes": 2 << 30}, run__precondition="filled")
    database = Database(env, Storage(env, drive), clients)
    env.run(until=RUN_NS)
    commits, ms = len(database.commit_ns), pl.Series(database.commit_ns) / 1e6
    return {
        "clients": clients,
        "tx_per_s": commits / (RUN_NS / 1e9),
        "tx_per_log_write": commits / database.log_writes,
        "commit_p50_ms": float(ms.quantile(0.5) or 0),
        "commit_p99_ms": float(ms.quantile(0.99) or 0),
        "mj_per_tx": drive.energy_j() * 1e3 / commits,
    }


results = [measure(clients) for clients in (1, 8, 32, 128)]
print(" ".join(f"{name:>16}" for name in results[0]))
for row in results:
    print(" ".join(f"{value:16.5g}" for value in row.values()))

# %% [markdown]
# More clients share a write of the log, and the energy of a transaction falls.

# %%
pl.DataFrame(results)
