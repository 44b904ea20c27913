//! `[workload.files]`: the settings of a program, of a file system, of the page cache and of the processor.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::program::Personality;
use super::system::BLOCK_BYTES;
use super::systems::Registered;
use flashwatt_base::units::Nanos;

/// Settings of a workload of file operations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Files {
    /// What the threads do.
    #[serde(flatten)]
    pub program: Program,
    /// Values of the program's variables, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, String>,
    /// The file system.
    pub system: ChosenSystem,
    /// The disk's history, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aged: Option<Aged>,
    /// Operations after which the threads stop, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// Simulated seconds after which they stop, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The page cache.
    pub cache: PageCacheSettings,
    /// The processors.
    pub processor: ProcessorSettings,
    /// Size of the disk in bytes; whole blocks.
    #[serde(skip)]
    pub disk_bytes: u64,
}

/// Settings of an aged disk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Aged {
    /// Share of the blocks of the empty file system that files of others use when the program's files are laid down.
    pub fill_fraction: f64,
    /// Bytes by which they were replaced, for each byte that they have.
    pub churn: f64,
    /// The mean length of a file in bytes.
    pub mean_file_bytes: u64,
}

/// Where a program is from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// Built in.
    Personality(&'static Personality),
    /// A file in filebench's language.
    #[serde(rename = "path")]
    File(PathBuf),
    /// A file of fio jobs.
    Fio(PathBuf),
}

impl Program {
    /// The file that it is read from, if any.
    pub fn path(&self) -> Option<&PathBuf> {
        match self {
            Program::Personality(_) => None,
            Program::File(path) | Program::Fio(path) => Some(path),
        }
    }
}

/// The file system of a configuration. Serialized as in a configuration file: a table with one entry, named after it.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenSystem {
    /// The registered file system.
    pub entry: &'static Registered,
    /// A valid value for each of its parameters.
    pub parameters: BTreeMap<String, f64>,
}

impl Serialize for ChosenSystem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.entry.name, &self.parameters)])
    }
}

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
