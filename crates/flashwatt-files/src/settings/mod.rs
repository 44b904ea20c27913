//! `[workload.files]`: the settings of a program, of a file system, of the page cache and of the processor.

mod cache;
mod processor;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Serialize, Serializer};

pub use cache::PageCacheSettings;
pub use processor::ProcessorSettings;

use crate::program::Personality;
use crate::system::MountOptions;
use crate::systems::Registered;

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
    /// How it is mounted.
    #[serde(flatten, skip_serializing_if = "is_default")]
    pub options: MountOptions,
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

fn is_default(options: &MountOptions) -> bool {
    *options == MountOptions::default()
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
