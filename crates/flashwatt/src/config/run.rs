//! Settings of a run: its seed, the drive's state at the start, and the stages.

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use crate::precision::Figure;
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::kernel::settings::{Span, Stages};
use flashwatt_ssd::drive::settings::Flashsim;
use flashwatt_workload::settings::Workload;

/// What is run and measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// Seed of every random draw.
    pub seed: u64,
    /// The drive's state at the start.
    pub precondition: Precondition,
    /// Before the counters start.
    pub warmup: Span,
    /// What is measured.
    pub measure: Measure,
    /// How the drive takes the requests. Configurations that ask for nothing have no such key.
    #[serde(skip_serializing_if = "Replay::is_timed")]
    pub replay: Replay,
    /// The energy of the drain is part of the totals.
    pub count_drain: bool,
    /// A run that takes more flash operations than this ends there.
    pub max_flash_ops: Option<u64>,
    /// When the power is cut, of copies of the drive. Configurations that ask for nothing have no such key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_cuts: Option<PowerCuts>,
}

/// What is measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measure {
    /// Its bounds.
    #[serde(flatten)]
    pub span: Span,
    /// When its figures are known well enough. Configurations that do not ask for it have no such key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
}

/// How well figures are to be known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Precision {
    /// Half the width of a confidence interval as a share of the figure, above 0.
    pub relative_error: f64,
    /// The figures, each once.
    pub figures: Vec<Figure>,
    /// Share of all runs whose interval holds the figure of an endless run, 0 to 1.
    pub confidence: f64,
    /// Requests that are measured at least.
    pub least_requests: u64,
}

/// Power cuts of a run. Each is one of a copy of the drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PowerCuts {
    /// When the power is cut.
    #[serde(flatten)]
    pub cuts: Cuts,
    /// Cut the power again during each recovery, at a time uniform over it.
    pub twice: bool,
    /// Draw random times from those alone at which a flash operation is under way. Configurations that do not ask for it have no such
    /// key.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub while_busy: bool,
}

impl Default for PowerCuts {
    fn default() -> Self {
        PowerCuts { cuts: Cuts::Random(Self::NUMBER), twice: false, while_busy: false }
    }
}

impl PowerCuts {
    /// Random cuts unless told otherwise.
    pub const NUMBER: u32 = 100;
}

/// When the power is cut. The names in JSON are the keys of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Cuts {
    /// At this number of times, uniform over the run, drawn by the seed of the run.
    #[serde(rename = "cuts")]
    Random(u32),
    /// At each of these times in ns.
    #[serde(rename = "at_ns")]
    At(Vec<Nanos>),
    /// Each time that one of these numbers of flash operations has ended.
    #[serde(rename = "at_operation")]
    Operations(Vec<u64>),
}

impl Run {
    /// What the loop takes of it.
    pub fn stages(&self) -> Stages {
        let &Run { warmup, count_drain, max_flash_ops, .. } = self;
        Stages { warmup, measure: self.measure.span, count_drain, max_flash_ops }
    }

    /// As [`Stages::requests`].
    pub fn requests(&self, offered: Option<u64>) -> Option<u64> {
        self.stages().requests(offered)
    }
}

/// How the drive takes the requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Replay {
    /// In simulated time.
    #[default]
    Timed,
    /// One after another and without a clock, by FlashSim's rules.
    Flashsim(Flashsim),
}

impl Replay {
    /// Whether requests take simulated time.
    pub fn is_timed(&self) -> bool {
        matches!(self, Replay::Timed)
    }

    /// Bytes of the drive before the first address of the workload.
    pub fn offset_bytes(&self) -> u64 {
        match self {
            Replay::Timed => 0,
            Replay::Flashsim(rules) => rules.offset_sectors * SECTOR_BYTES,
        }
    }
}

/// The drive's state at the start.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Precondition {
    /// The whole logical space mapped in address order, spare blocks erased.
    Filled,
    /// Every block erased, nothing mapped.
    Empty,
    /// Every block erased, and every logical page has a place.
    Mapped,
    /// The state that endless uniform random single-page writes lead to.
    Steady,
    /// What the file system of the workload holds written once in address order, nothing else mapped.
    Image,
    /// The state that a workload leaves behind on a filled drive, run without a clock.
    Workload(Box<Workload>),
    /// The state that a file holds ([`crate::snapshot`]). Reports carry the base name only.
    #[serde(serialize_with = "base_name")]
    Snapshot(PathBuf),
}

/// A file by its base name: its directory has no influence on the run.
fn base_name<S: Serializer>(path: &Path, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(&path.file_name().unwrap_or_default().to_string_lossy())
}
