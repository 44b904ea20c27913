//! `[host]` as the user writes it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Chosen, SchedulerKind};
use flashwatt_host::settings::{FlushRule, Merges};

/// `[host]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// The order in which requests go to the drive: a name, or a table `[host.scheduler.NAME]` with its parameters.
    pub scheduler: Option<Chosen<SchedulerKind>>,
    /// Requests that the driver gives to the drive at a time: 1 for a disk without queueing, 31 or 32 for SATA. At most
    /// `device.host_link.queue_depth`, which it is unless given.
    pub queue_depth: Option<u32>,
    /// Requests that the queue holds, those in the drive included. Processes wait when it is full. Schedulers of Linux 2.6.32
    /// have as many for requests that somebody waits for and again for those that nobody waits for: 128 unless given. Today's
    /// have as many in all: twice the queue depth unless given, at most 256.
    pub nr_requests: Option<u32>,
    /// Longest request to the drive; a multiple of 512. Longer ones are split. Unless given, 512 KiB with schedulers of Linux
    /// 2.6.32 and 1280 KiB with today's.
    pub max_request_bytes: Option<u64>,
    /// Which requests may be merged: `all` that the scheduler finds, or `none`.
    pub merges: Option<Merges>,
    /// New requests that nobody waits for are held back until there are this many, so that others can join them; 0: never.
    /// Unless given: 4 with schedulers of Linux 2.6.32 on a disk or with a queue depth of 1, and 0 otherwise; 32 with today's.
    pub plug_requests: Option<u32>,
    /// The longest time that they are held back, if they are. With today's schedulers it is the instant in which they come.
    pub plug_ns: Option<u64>,
    /// What a flush waits for: `drain` (for all earlier requests, and later ones for it: Linux 2.6.32) or `pass` (for nothing:
    /// today).
    pub flush: Option<FlushRule>,
    /// Does the driver know before it asks the scheduler whether the drive has room (SCSI and SATA: true, unless given)? Without
    /// that (false: NVMe, virtio) the next request leaves the scheduler while the drive is full: later ones neither join nor
    /// overtake it. Of today's schedulers only.
    pub dispatch_budget: Option<bool>,
    /// Does the drive say of itself that it has rotating parts? Unless given, a disk does, an array with a disk does, and an SSD does
    /// not. `bfq` and `cfq` wait for a process's next request more often
    /// then, and with schedulers of Linux 2.6.32 it decides `plug_requests`, unless that is given.
    pub rotational: Option<bool>,
    /// Where the partition begins on the drive, in sectors of 512 bytes: 63 for partitions of long ago, 2048 for today's. The
    /// workload sees the partition.
    pub partition_offset_sectors: Option<u64>,
    /// All writes are those of a page cache that writes back: nobody waits for them.
    pub async_writes: Option<bool>,
    /// Priorities of processes, as of `ionice`: `{ backup = "idle", 3 = "realtime/2" }`. A key is the name of a job, device or
    /// process in the report's `origins`, or its number; a value is `realtime`, `best-effort` or `idle`, the first two with a
    /// level from 0 (first) to 7.
    pub priorities: Option<BTreeMap<String, String>>,
}
