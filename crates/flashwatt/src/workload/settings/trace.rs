//! `[workload.trace]`: the settings of a recorded trace.

use serde::Serialize;

use super::{LengthUnit, TimeUnit};
use crate::units::Nanos;

/// A recorded trace, or several that are merged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trace {
    /// The files, at least one. Reports carry the base names only, as a list where there are several.
    #[serde(rename = "path", serialize_with = "base_names")]
    pub paths: Vec<std::path::PathBuf>,
    /// Their format, unless it is to be recognised.
    pub format: Option<String>,
    /// What the time column counts, unless it is what the format's definition says.
    pub time_unit: Option<TimeUnit>,
    /// The same of the offset column.
    pub offset_unit: Option<LengthUnit>,
    /// The same of the size column.
    pub size_unit: Option<LengthUnit>,
    /// Keep only these devices of the trace; empty: all.
    pub devices: Vec<u64>,
    /// Equal device numbers in several files are the same device.
    pub share_devices: bool,
    /// Each file's first record is at time 0.
    pub align_starts: bool,
    /// Leave out what comes earlier after the first record.
    pub from_ns: Nanos,
    /// Leave out what comes as late after the first record, or later.
    pub until_ns: Option<Nanos>,
    /// What to do with addresses beyond the drive.
    pub beyond: Beyond,
    /// Leave out records that cannot be read.
    pub skip_bad: bool,
    /// Put the records of each file in the order of their times.
    pub sort: bool,
    /// Times are divided by this.
    pub speed: f64,
    /// Addresses on each device are multiplied by this.
    pub space_scale: f64,
    /// Issue as fast as the device accepts.
    pub closed_loop: bool,
    /// Stop after so many requests.
    pub max_requests: Option<u64>,
}

impl Trace {
    /// The whole of one file, as it is.
    pub fn of(path: impl Into<std::path::PathBuf>) -> Self {
        Trace {
            paths: vec![path.into()],
            format: None,
            time_unit: None,
            offset_unit: None,
            size_unit: None,
            devices: Vec::new(),
            share_devices: false,
            align_starts: false,
            from_ns: 0,
            until_ns: None,
            beyond: Beyond::Error,
            skip_bad: false,
            sort: false,
            speed: 1.0,
            space_scale: 1.0,
            closed_loop: false,
            max_requests: None,
        }
    }
}

/// What to do with addresses beyond the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Beyond {
    /// An error.
    Error,
    /// Take them modulo the drive's size.
    Fold,
    /// Cut at the drive's end; leave out what lies wholly beyond.
    Clip,
}

fn base_names<S: serde::Serializer>(paths: &[std::path::PathBuf], s: S) -> Result<S::Ok, S::Error> {
    match paths {
        [path] => base_name(path, s),
        paths => s.collect_seq(paths.iter().map(|path| name_of(path))),
    }
}

pub(super) fn base_name<S: serde::Serializer>(path: &std::path::Path, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(&name_of(path))
}

fn name_of(path: &std::path::Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
