//! `[workload.files]` as the user writes it.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

use super::{Chosen, FileSystemKind};
use crate::config::schema::names;

/// `[workload.files]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Files {
    /// What the threads do: a built-in program. `varmail` unless given.
    #[schemars(schema_with = "names::personalities")]
    pub personality: Option<String>,
    /// Or the file of a program in filebench's language, relative to the configuration file that names it.
    pub path: Option<String>,
    /// Or the file of fio jobs, whose processes work on files.
    pub fio: Option<String>,
    /// Values of the program's variables, in place of its own: `{ nfiles = 5000, meanfilesize = "64k" }`.
    pub set: Option<BTreeMap<String, Scalar>>,
    /// The file system: a name, or a table `[workload.files.system.NAME]` with its parameters.
    pub system: Option<Chosen<FileSystemKind>>,
    /// When reading a file changes its inode (`ext2`, `ext3`); `noatime` unless given.
    pub atime: Option<AccessTimes>,
    /// Whether an fsync ends with a flush of the drive where nothing else flushes it (`ext2`, `ext3`). That of Linux 2.6 did not.
    pub fsync_flush: Option<bool>,
    /// A history of the disk before the program's files are laid down: files of others fill a part of it, and were replaced often.
    pub aged: Option<Aged>,
    /// Operations after which the threads stop. Unless this or `seconds` is given, they stop where the program says so.
    pub operations: Option<u64>,
    /// Simulated seconds after which they stop, in place of those of the program's `run`.
    pub seconds: Option<f64>,
    /// The page cache.
    pub cache: PageCache,
    /// The processors.
    pub processor: Processor,
}

/// When reading a file changes its inode.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AccessTimes {
    /// Never.
    Noatime,
    /// If it has been written since it was read last, or if that was a day ago.
    Relatime,
    /// With every read.
    Strictatime,
}

/// `[workload.files.aged]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Aged {
    /// Share of the file system's free blocks that files of others use.
    pub fill_fraction: Option<f64>,
    /// Bytes by which they were replaced, for each byte that they have.
    pub churn: Option<f64>,
    /// The mean length of a file.
    pub mean_file_bytes: Option<u64>,
}

/// `[workload.files.cache]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PageCache {
    /// Memory for pages of files and of metadata.
    pub memory_bytes: Option<u64>,
    /// Per cent of it that may be dirty before pages are written back (`vm.dirty_background_ratio`).
    pub dirty_background_ratio: Option<f64>,
    /// Per cent of it that may be dirty, or on its way to the drive, before writers wait (`vm.dirty_ratio`).
    pub dirty_ratio: Option<f64>,
    /// Pages that have been dirty for so long are written back, in 1/100 s (`vm.dirty_expire_centisecs`).
    pub dirty_expire_centisecs: Option<u64>,
    /// How often that is looked for, in 1/100 s (`vm.dirty_writeback_centisecs`).
    pub dirty_writeback_centisecs: Option<u64>,
    /// Longest window of reading ahead; 0: never. A multiple of 4096 (`read_ahead_kb`).
    pub read_ahead_bytes: Option<u64>,
    /// Longest request that the file system makes; a multiple of 4096.
    pub max_request_bytes: Option<u64>,
}

/// `[workload.files.processor]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Processor {
    /// Threads that run at a time. Others that are ready wait for their turn.
    pub cores: Option<u32>,
    /// Processor time of a system call.
    pub call_ns: Option<u64>,
    /// Rate at which data is copied between a process and the cache, in 10^6 bytes/s.
    pub copy_mb_s: Option<f64>,
}

/// The value of a variable, as a program would have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar(pub String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl Visitor<'_> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number, a word or a switch")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Scalar, E> {
        Ok(Scalar(text.to_string()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Scalar, E> {
        Ok(Scalar(number.to_string()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Scalar, E> {
        Ok(Scalar(number.to_string()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Scalar, E> {
        Ok(Scalar(number.to_string()))
    }

    fn visit_bool<E: de::Error>(self, switch: bool) -> Result<Scalar, E> {
        Ok(Scalar(switch.to_string()))
    }
}
