//! The settings of the page cache.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::disk::BLOCK_BYTES;
use flashwatt_base::units::Nanos;

/// Settings of the page cache.
#[derive(Clone, Debug, PartialEq)]
pub struct PageCacheSettings {
    /// Memory for pages in bytes.
    pub memory_bytes: u64,
    /// Per cent of it that may be dirty before pages are written back (`vm.dirty_background_ratio`).
    pub dirty_background_ratio: f64,
    /// Per cent of it that may be dirty or on its way to the disk before writers wait (`vm.dirty_ratio`).
    pub dirty_ratio: f64,
    /// Pages that have been dirty for so long are written back, in ns (`vm.dirty_expire_centisecs`).
    pub dirty_expire_ns: Nanos,
    /// How often that is looked for, in ns (`vm.dirty_writeback_centisecs`).
    pub dirty_writeback_ns: Nanos,
    /// The longest window of reading ahead in bytes; 0: never (`read_ahead_kb`).
    pub read_ahead_bytes: u64,
    /// Longest request in bytes; a multiple of 4096.
    pub max_request_bytes: u64,
}

impl Serialize for PageCacheSettings {
    /// In the units of a configuration file.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const CENTISECOND_NS: Nanos = 10_000_000;
        let mut table = serializer.serialize_struct("PageCacheSettings", 7)?;
        table.serialize_field("memory_bytes", &self.memory_bytes)?;
        table.serialize_field("dirty_background_ratio", &self.dirty_background_ratio)?;
        table.serialize_field("dirty_ratio", &self.dirty_ratio)?;
        table.serialize_field("dirty_expire_centisecs", &(self.dirty_expire_ns / CENTISECOND_NS))?;
        table.serialize_field("dirty_writeback_centisecs", &(self.dirty_writeback_ns / CENTISECOND_NS))?;
        table.serialize_field("read_ahead_bytes", &self.read_ahead_bytes)?;
        table.serialize_field("max_request_bytes", &self.max_request_bytes)?;
        table.end()
    }
}

impl PageCacheSettings {
    /// Pages in memory.
    pub fn pages(&self) -> usize {
        (self.memory_bytes / BLOCK_BYTES) as usize
    }

    /// Dirty pages above which pages are written back, and pages above which writers wait.
    pub fn limits(&self) -> [usize; 2] {
        [self.dirty_background_ratio, self.dirty_ratio].map(|ratio| (self.pages() as f64 * ratio / 100.0) as usize)
    }
}

impl Default for PageCacheSettings {
    /// The defaults of Linux 6.1: 10 and 20 per cent, 30 s and 5 s, 128 KiB. Memory of 1 GiB is a choice.
    fn default() -> Self {
        PageCacheSettings {
            memory_bytes: 1 << 30,
            dirty_background_ratio: 10.0,
            dirty_ratio: 20.0,
            dirty_expire_ns: 30_000_000_000,
            dirty_writeback_ns: 5_000_000_000,
            read_ahead_bytes: 128 << 10,
            max_request_bytes: 1 << 20,
        }
    }
}
