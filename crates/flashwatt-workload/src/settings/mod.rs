//! `[workload]`: the settings of models, fio jobs, stand-ins and traces.

use std::path::PathBuf;

use serde::{Serialize, Serializer};

use crate::synthetic::settings::is_one;
pub use crate::synthetic::settings::{Arrivals, Gap, Group, Law, OpenLoop, Phases, Size, Sizes, Synthetic};
use flashwatt_files::settings::Files;

mod trace;
mod trace_units;

use trace::base_name;
pub use trace::{Beyond, Dispatched, Trace, TraceOrigin};
pub use trace_units::{LengthUnit, TimeUnit};

/// Settings of a workload. Serialized as in a configuration file: a table with one entry, named after the workload.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// A synthetic model.
    Synthetic(Synthetic),
    /// The jobs of a fio job file.
    Fio(Fio),
    /// Operations on the files of a file system.
    Files(Box<Files>),
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
            Workload::Files(_) => "files",
            Workload::Standin(_) => "standin",
            Workload::Trace(_) => "trace",
        }
    }

    /// Greatest number of requests; none if the configuration does not limit it.
    pub fn requests(&self) -> Option<u64> {
        match self {
            Workload::Synthetic(synthetic) => Some(synthetic.requests),
            Workload::Standin(standin) => Some(standin.requests),
            Workload::Fio(_) | Workload::Files(_) => None,
            Workload::Trace(trace) => trace.max_requests.map(|requests| requests.saturating_mul(trace.repeat.into())),
        }
    }
}

impl Serialize for Workload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Workload::Synthetic(content) => serializer.collect_map([(self.name(), content)]),
            Workload::Fio(content) => serializer.collect_map([(self.name(), content)]),
            Workload::Files(content) => serializer.collect_map([(self.name(), content)]),
            Workload::Standin(content) => serializer.collect_map([(self.name(), content)]),
            Workload::Trace(content) => serializer.collect_map([(self.name(), content)]),
        }
    }
}

/// The jobs of a fio job file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fio {
    /// Path of the file. Reports have its base name only.
    #[serde(serialize_with = "base_name")]
    pub path: std::path::PathBuf,
    /// Whether simulated time passes while the jobs run. It does not where they lay down a start state.
    pub timed: bool,
}

/// A model fitted to a published trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standin {
    /// Its registered name; empty if `path` names a file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The file of a stand-in that is not registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Scale, above 0 and at most 1: the factor on the published number of requests and on the space that they use.
    pub scale: f64,
    /// Number of requests, ≥ 1.
    pub requests: u64,
    /// Number of processes that the requests are dealt to, ≥ 1.
    #[serde(skip_serializing_if = "is_one")]
    pub processes: u32,
}
