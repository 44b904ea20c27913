//! The settings of the processors.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use flashwatt_base::units::Nanos;

/// Settings of the processors.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessorSettings {
    /// Threads that run at a time, > 0.
    pub cores: u32,
    /// Processor time of a call in ns, > 0.
    pub call_ns: Nanos,
    /// Bytes that are copied between a process and the page cache in a second.
    pub copy_bytes_per_s: f64,
}

impl ProcessorSettings {
    /// Processor time in ns of a call that moves this number of bytes.
    #[inline(always)]
    pub fn call_ns(&self, bytes: u64) -> Nanos {
        self.call_ns + (bytes as f64 * 1e9 / self.copy_bytes_per_s) as Nanos
    }
}

impl Serialize for ProcessorSettings {
    /// In the units of a configuration file.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = serializer.serialize_struct("ProcessorSettings", 3)?;
        table.serialize_field("cores", &self.cores)?;
        table.serialize_field("call_ns", &self.call_ns)?;
        table.serialize_field("copy_mb_s", &(self.copy_bytes_per_s / 1e6))?;
        table.end()
    }
}

impl Default for ProcessorSettings {
    /// Choices: 8 cores; 1 µs for a call and 5 GB/s for a copy, the order of what servers of the 2010s measure.
    fn default() -> Self {
        ProcessorSettings { cores: 8, call_ns: 1_000, copy_bytes_per_s: 5e9 }
    }
}
