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
    /// have as many for requests that somebody waits for and again for those that nobody waits for: 128 unless given. A process that
    /// fills them, or has waited for a place, takes 32 more within 20 ms, up to half as many again. Today's
    /// have as many in all: twice the queue depth unless given, at most 256.
    pub nr_requests: Option<u32>,
    /// Longest request to the drive; a multiple of 512. Longer ones are split. Unless given, 512 KiB with schedulers of Linux
    /// 2.6.32 and 1280 KiB with today's.
    pub max_request_bytes: Option<u64>,
    /// Which requests may be merged: `all` that the scheduler finds, or `none`.
    pub merges: Option<Merges>,
    /// New requests that nobody waits for are held back until there are this many, so that others can join them; 0: never.
    /// Unless given: 4 with schedulers of Linux 2.6.32, and 32 with today's. 2.6.32 holds nothing back where the block layer itself tags
    /// the requests of a drive without rotating parts; its drivers of SATA drives do not have it do that.
    pub plug_requests: Option<u32>,
    /// The longest time that they are held back, if they are. With today's schedulers it is the instant in which they come.
    pub plug_ns: Option<u64>,
    /// What a flush waits for: `drain` (for all earlier requests, and later ones for it: Linux 2.6.32) or `pass` (for nothing:
    /// today).
    pub flush: Option<FlushRule>,
    /// Does the driver know before it asks the scheduler whether the drive has room (true, unless given; today SCSI and SATA)? Without
    /// that (false: NVMe and virtio today, SCSI and SATA in Linux 2.6.32) the next request leaves the scheduler while the drive is full:
    /// later ones neither join nor overtake it.
    pub dispatch_budget: Option<bool>,
    /// Does the drive say of itself that it has rotating parts? Unless given, a disk does, an array with a disk does, and an SSD does
    /// not. `bfq`, `cfq` and `cfq_el6` wait for a process's next request more often then. The queue of Linux 2.6.32 is not run for a
    /// request then that comes to a queue which is neither empty nor plugged.
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
