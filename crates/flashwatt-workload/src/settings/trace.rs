//! `[workload.trace]`: the settings of a recorded trace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LengthUnit, TimeUnit, is_one};
use flashwatt_base::units::Nanos;

/// A recorded trace, or several that are merged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trace {
    /// Paths of the files, at least one. Reports have the base names only, as a list if there are several.
    #[serde(rename = "path", serialize_with = "base_names")]
    pub paths: Vec<std::path::PathBuf>,
    /// Their format by name; none to recognise the format of each file.
    pub format: Option<String>,
    /// Unit of the time column; none for the unit of the format's definition.
    pub time_unit: Option<TimeUnit>,
    /// Unit of the offset column; none for the unit of the format's definition.
    pub offset_unit: Option<LengthUnit>,
    /// Unit of the size column; none for the unit of the format's definition.
    pub size_unit: Option<LengthUnit>,
    /// Keep only the requests to these devices; empty: to all devices.
    pub devices: Vec<u64>,
    /// Whether equal device numbers in several files are the same device.
    pub share_devices: bool,
    /// Shift the times of each file so that its first record is at time 0.
    pub align_starts: bool,
    /// Leave out records less than this time after the first record.
    pub from_ns: Nanos,
    /// Leave out records this time or more after the first record.
    pub until_ns: Option<Nanos>,
    /// Treatment of addresses beyond the drive.
    pub beyond: Beyond,
    /// Leave out records that cannot be read.
    pub skip_bad: bool,
    /// Sort the records of each file by time.
    pub sort: bool,
    /// Times are divided by this.
    pub speed: f64,
    /// Addresses on each device are multiplied by this.
    pub space_scale: f64,
    /// Issue requests as fast as the device accepts them, without regard to their times; none for `true` if all times are the same.
    pub closed_loop: Option<bool>,
    /// Count the gap between two requests from the end of the first one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub think_times: bool,
    /// Cut longer gaps between two records of a file, and longer steps back; none for the times of the trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_gap_ns: Option<Nanos>,
    /// Stop after this number of requests.
    pub max_requests: Option<u64>,
    /// Leave no gaps between the addresses that are touched.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dense: bool,
    /// Number of passes, ≥ 1.
    #[serde(skip_serializing_if = "is_one")]
    pub repeat: u32,
    /// Time from the last arrival of a pass to the first of the next; none for the trace's mean time between arrivals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat_gap_ns: Option<Nanos>,
    /// What the figures by origin tell apart; none for processes if there is one device and the trace names some, else
    /// for devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<TraceOrigin>,
    /// What happens to a stream that was logged behind a scheduler; none if no scheduler gets the requests.
    #[serde(rename = "dispatched", skip_serializing_if = "Dispatched::is_refused")]
    pub feeds_scheduler: Option<Dispatched>,
}

/// What happens to a stream that was logged behind a scheduler, if a scheduler is to get it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dispatched {
    /// An error.
    Refuse,
    /// A warning.
    Accept,
}

impl Dispatched {
    /// Whether a report leaves the setting out.
    fn is_refused(setting: &Option<Self>) -> bool {
        *setting != Some(Dispatched::Accept)
    }
}

/// What the figures by origin of a trace tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TraceOrigin {
    /// Devices of a trace; files, if each of several has one device.
    Device,
    /// Processes, by their numbers.
    Process,
}

impl Trace {
    /// Settings that replay the whole of one file without changes.
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
            closed_loop: None,
            think_times: false,
            max_gap_ns: None,
            max_requests: None,
            dense: false,
            repeat: 1,
            repeat_gap_ns: None,
            origin: None,
            feeds_scheduler: None,
        }
    }
}

/// Treatment of addresses beyond the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Beyond {
    /// An error.
    Error,
    /// Take the address modulo the drive's size.
    Fold,
    /// Cut requests at the drive's end; leave out requests wholly beyond it.
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
