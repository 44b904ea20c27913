//! The settings of a synthetic model.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{MODELS, Model, Region};
use flashwatt_base::units::Nanos;

/// Settings of a synthetic model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Synthetic {
    /// The registered model of places.
    #[serde(skip)]
    pub model: &'static Model,
    /// Values of the model's parameters by name; a missing one has its default.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, f64>,
    /// Number of requests, ≥ 1.
    pub requests: u64,
    /// Lengths of each kind of request, all ≤ `range_bytes`.
    pub sizes: Sizes,
    /// Share of reads by count, 0 to 1.
    pub read_fraction: f64,
    /// Share of trims by count, 0 to 1; the other requests are writes.
    pub trim_fraction: f64,
    /// Requests start at multiples of this above `start_bytes`; a positive multiple of 512.
    pub align_bytes: u64,
    /// First byte of the range.
    pub start_bytes: u64,
    /// Length of the range, which ends within the drive.
    pub range_bytes: u64,
    /// How the requests arrive.
    pub arrivals: Arrivals,
    /// Number of processes that send them, ≥ 1: each a loop of its own, or a share of an open loop.
    #[serde(skip_serializing_if = "is_one")]
    pub processes: u32,
}

impl Synthetic {
    /// One write of 4 KiB with the first registered model, in a range of 4 KiB: a template for other settings.
    pub fn writes() -> Self {
        Synthetic {
            model: &MODELS[0],
            parameters: BTreeMap::new(),
            requests: 1,
            sizes: Sizes::all(4096),
            read_fraction: 0.0,
            trim_fraction: 0.0,
            align_bytes: 4096,
            start_bytes: 0,
            range_bytes: 4096,
            arrivals: Arrivals::Closed { queue_depth: 1 },
            processes: 1,
        }
    }

    /// Number of closed loops; 1 for an open loop.
    pub fn loops(&self) -> u32 {
        if matches!(self.arrivals, Arrivals::Closed { .. }) { self.processes } else { 1 }
    }

    /// The places where requests may start.
    pub fn region(&self) -> Region {
        Region {
            start_bytes: self.start_bytes,
            range_bytes: self.range_bytes,
            align_bytes: self.align_bytes,
            largest_bytes: self.sizes.largest(),
        }
    }

    /// The value of a parameter of the model: its default if none is given, 0 if the model has no such parameter.
    pub fn parameter(&self, name: &str) -> f64 {
        let default = || self.model.params.iter().find(|param| param.name == name).map_or(0.0, |param| param.default);
        self.parameters.get(name).copied().unwrap_or_else(default)
    }
}

/// Lengths of each kind of request. No list is empty.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sizes {
    /// Lengths of reads.
    pub read: Vec<Size>,
    /// Lengths of writes.
    pub write: Vec<Size>,
    /// Lengths of trims.
    pub trim: Vec<Size>,
}

impl Sizes {
    /// The same length for all requests.
    pub fn all(bytes: u64) -> Self {
        let one = vec![Size { bytes, share: 1.0 }];
        Sizes { read: one.clone(), write: one.clone(), trim: one }
    }

    /// Every length of every kind, in bytes.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.read.iter().chain(&self.write).chain(&self.trim).map(|size| size.bytes)
    }

    /// The longest length in bytes.
    pub fn largest(&self) -> u64 {
        self.iter().max().unwrap_or(0)
    }
}

/// A length and its share of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Size {
    /// The length, a positive multiple of 512.
    pub bytes: u64,
    /// Its share, > 0; shares need not add up to 1.
    pub share: f64,
}

/// How the requests of a model arrive.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// A closed loop: a constant number of outstanding requests.
    Closed {
        /// Outstanding requests, ≥ 1.
        queue_depth: u32,
    },
    /// An open loop: at times that do not depend on completions.
    Open(OpenLoop),
}

/// Groups of requests that arrive together, at times that do not depend on the drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenLoop {
    /// Time from one group to the next.
    pub gap: Gap,
    /// Number of requests in a group.
    pub group: Group,
    /// Active phases and the pauses between them; none for a source without pauses.
    pub phases: Option<Phases>,
    /// Groups arrive at multiples of this time: arrival times are rounded up.
    pub tick_ns: Option<Nanos>,
}

/// The distribution of a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gap {
    /// Its law.
    pub law: Law,
    /// Its mean in nanoseconds.
    pub mean_ns: f64,
}

/// How a time is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// Always the mean.
    Constant,
    /// Exponentially distributed.
    Exponential,
}

/// The number of requests that arrive together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// The same number in every group, ≥ 1.
    Fixed(u64),
    /// A geometrically distributed number, at least 1.
    Geometric {
        /// The mean number, ≥ 1.
        mean: f64,
    },
}

/// The phases of an on/off source, which sends requests only while it is on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Phases {
    /// Length of an active phase.
    pub on: Gap,
    /// Length of a pause.
    pub off: Gap,
}

/// Whether a count is one: reports leave such a setting out.
pub(crate) fn is_one(count: &u32) -> bool {
    *count == 1
}
