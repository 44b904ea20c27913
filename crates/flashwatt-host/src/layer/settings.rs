//! `[host]`: the settings of the block layer.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::sched;
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::{OriginName, Priority};

/// Settings of the block layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Host {
    /// The order in which requests are dispatched.
    pub scheduler: Chosen,
    /// Requests that the driver gives to the device at a time, ≥ 1; at most what the device accepts.
    pub queue_depth: u32,
    /// Requests that the queue holds, those in the device included; see [`sched::Generation`].
    pub nr_requests: u32,
    /// Longest request to the device; a multiple of 512. Longer ones of processes are split.
    pub max_request_bytes: u64,
    /// Which requests may be merged.
    pub merges: Merges,
    /// When new requests are held back so that others can join them.
    pub plug: Plug,
    /// What a flush waits for.
    pub flush: FlushRule,
    /// Whether requests stay in the scheduler until the device has room. If not, one leaves it before.
    pub dispatch_budget: bool,
    /// Whether the device says of itself that it has rotating parts.
    pub rotational: bool,
    /// Where the partition begins on the device, in sectors of 512 bytes.
    pub partition_offset_sectors: u64,
    /// Writes come from a page cache that writes back: nobody waits for them.
    pub async_writes: bool,
    /// Priorities of origins, by their names or numbers. An origin without one keeps that of its requests.
    pub priorities: BTreeMap<String, Ionice>,
}

impl Host {
    /// Bytes of the drive before the partition.
    pub fn partition_offset_bytes(&self) -> u64 {
        self.partition_offset_sectors * SECTOR_BYTES
    }

    /// The number of the origin that a key of [`Self::priorities`] means: one of these by its name, or any number if there are
    /// no names.
    pub fn origin(key: &str, named: &[OriginName]) -> Option<u16> {
        let number = || key.parse().ok().filter(|&number| named.is_empty() || usize::from(number) < named.len());
        let by_name = (0..=u16::MAX).zip(named).find(|(_, origin)| origin.name == key);
        by_name.map(|(number, _)| number).or_else(number)
    }
}

/// The scheduler of a configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chosen {
    /// The registered scheduler. A report contains its name.
    #[serde(rename = "name")]
    pub entry: &'static sched::Registered,
    /// A valid value for each of the scheduler's parameters.
    pub parameters: BTreeMap<String, f64>,
}

/// Which requests may be merged (`/sys/block/*/queue/nomerges`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Merges {
    /// Those that the scheduler finds (nomerges 0).
    All,
    /// None (nomerges 2).
    None,
}

/// When new requests are held back so that others can join them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Plug {
    /// Requests that end the wait; 0: requests are never held back.
    pub requests: u32,
    /// The longest wait in ns; none: to the end of the instant.
    pub ns: Option<Nanos>,
}

/// What a flush waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlushRule {
    /// For all earlier requests, and all later ones wait for it: the barriers of Linux 2.6.32.
    Drain,
    /// For nothing: it goes to the device before all queued requests (Linux since 2.6.37). What it makes durable are the
    /// writes that had ended before.
    Pass,
}

/// A priority as a user writes it: `realtime/2`, `best-effort/4`, `idle`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ionice(pub Priority);

impl Serialize for Ionice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
