//! `[workload]`: the settings of models, fio jobs, stand-ins and traces.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::units::Nanos;
use crate::workload::synthetic::{self, MODELS, Model, Region};

mod trace;
mod trace_units;

use trace::base_name;
pub use trace::{Beyond, Trace};
pub use trace_units::{LengthUnit, TimeUnit};

/// The requests. Written as the user writes it: a table of one entry, named after the workload.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// A synthetic model.
    Synthetic(Synthetic),
    /// The jobs of a fio job file.
    Fio(Fio),
    /// A model fitted to a published trace.
    Standin(Standin),
    /// A recorded trace.
    Trace(Trace),
}

impl Workload {
    /// Its registered name.
    pub fn name(&self) -> &'static str {
        match self {
            Workload::Synthetic(synthetic) => synthetic.model.name,
            Workload::Fio(_) => "fio",
            Workload::Standin(_) => "standin",
            Workload::Trace(_) => "trace",
        }
    }

    /// How many requests it has at most, as far as the configuration says.
    pub fn requests(&self) -> Option<u64> {
        match self {
            Workload::Synthetic(synthetic) => Some(synthetic.requests),
            Workload::Standin(standin) => Some(standin.requests),
            Workload::Fio(_) => None,
            Workload::Trace(trace) => trace.max_requests,
        }
    }
}

impl Serialize for Workload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Workload::Synthetic(content) => serializer.collect_map([(self.name(), content)]),
            Workload::Fio(content) => serializer.collect_map([(self.name(), content)]),
            Workload::Standin(content) => serializer.collect_map([(self.name(), content)]),
            Workload::Trace(content) => serializer.collect_map([(self.name(), content)]),
        }
    }
}

/// Requests of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Synthetic {
    /// The registered model: where requests go.
    #[serde(skip)]
    pub model: &'static Model,
    /// A value for each of the model's parameters.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, f64>,
    /// How many, ≥ 1.
    pub requests: u64,
    /// Lengths of each kind of request, all ≤ `range_bytes`.
    pub sizes: Sizes,
    /// Share of reads, by count.
    pub read_fraction: f64,
    /// Share of trims; the rest writes.
    pub trim_fraction: f64,
    /// Starts are multiples of this above `start_bytes`; a positive multiple of 512.
    pub align_bytes: u64,
    /// First byte of the range.
    pub start_bytes: u64,
    /// Length of the range; ends within the drive.
    pub range_bytes: u64,
    /// How they arrive.
    pub arrivals: Arrivals,
}

impl Synthetic {
    /// One random 4 KiB write over nothing, to be filled in.
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
        }
    }

    /// Where requests may start.
    pub fn region(&self) -> Region {
        Region {
            start_bytes: self.start_bytes,
            range_bytes: self.range_bytes,
            align_bytes: self.align_bytes,
            largest_bytes: self.sizes.largest(),
        }
    }

    /// The value of a parameter of the model: its default where none is given.
    pub fn parameter(&self, name: &str) -> f64 {
        let default = || self.model.params.iter().find(|param| param.name == name).map_or(0.0, |param| param.default);
        self.parameters.get(name).copied().unwrap_or_else(default)
    }
}

impl PartialEq for synthetic::Model {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl std::fmt::Debug for synthetic::Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Lengths of each kind of request; none of the lists is empty.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sizes {
    /// Of reads.
    pub read: Vec<Size>,
    /// Of writes.
    pub write: Vec<Size>,
    /// Of trims.
    pub trim: Vec<Size>,
}

impl Sizes {
    /// One length for all.
    pub fn all(bytes: u64) -> Self {
        let one = vec![Size { bytes, share: 1.0 }];
        Sizes { read: one.clone(), write: one.clone(), trim: one }
    }

    /// Every length.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.read.iter().chain(&self.write).chain(&self.trim).map(|size| size.bytes)
    }

    /// The longest.
    pub fn largest(&self) -> u64 {
        self.iter().max().unwrap_or(0)
    }
}

/// A length and how often it comes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Size {
    /// A positive multiple of 512.
    pub bytes: u64,
    /// Its share, > 0; shares need not add up to 1.
    pub share: f64,
}

/// How the requests of a model arrive.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// So many outstanding at all times.
    Closed {
        /// Outstanding requests, ≥ 1.
        queue_depth: u32,
    },
    /// At times of their own.
    Open(OpenLoop),
}

/// Groups of requests that come together, whatever the drive does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenLoop {
    /// From one group to the next.
    pub gap: Gap,
    /// Requests in a group.
    pub group: Group,
    /// Pauses in between.
    pub phases: Option<Phases>,
    /// Groups come at multiples of this, later rather than sooner.
    pub tick_ns: Option<Nanos>,
}

/// A time that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gap {
    /// How.
    pub law: Law,
    /// Its mean.
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

/// How many requests come together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// So many.
    Fixed(u64),
    /// At least one; geometrically distributed.
    Geometric {
        /// The mean number, ≥ 1.
        mean: f64,
    },
}

/// An on/off source: arrivals go on only while it is on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Phases {
    /// Length of an active phase.
    pub on: Gap,
    /// Length of a pause.
    pub off: Gap,
}

/// The jobs of a fio job file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fio {
    /// The file. Reports carry the base name only.
    #[serde(serialize_with = "base_name")]
    pub path: std::path::PathBuf,
    /// Does time pass while it runs? Not where it lays down a start state.
    pub timed: bool,
}

/// A model fitted to a published trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standin {
    /// Its registered name.
    pub name: String,
    /// Share of the published size: of the number of requests, and of the space they go to.
    pub scale: f64,
    /// How many, ≥ 1.
    pub requests: u64,
}
