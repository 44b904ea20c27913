//! Configurations: what the user writes ([`raw`]) becomes what the engine runs on ([`Config`]), checked on the way.
//!
//! ```text
//! preset's TOML  <-  user's TOML  <-  --set KEY=VALUE      node: trees that know where each key was written; layers
//!                    |  de: names and types, by serde
//!                    v
//!                raw::Raw
//!                    |  resolve, capacity: defaults, ranges, what must fit together
//!                    v
//!                  Config
//! ```
//!
//! A configuration that names no preset is laid over `x25m`, so `device.channels = 4` alone is a drive.
//!
//! # Over-provisioning, twice
//!
//! Two definitions are in use and both are accepted, one at a time; both are reported:
//!
//! - `device.spare_fraction` = (physical − logical) / **physical**: the share of the flash that the host cannot see;
//! - `device.op_ratio` = (physical − logical) / **logical**: the spare flash as a share of what the host sees.
//!
//! So op_ratio = spare_fraction / (1 − spare_fraction), and the same drive has the greater number by the second:
//!
//! ```
//! let drive = |op: &str| flashwatt::config::load("", "none", &["device.blocks_per_plane=1000".into(), op.into()]);
//! let by_physical = drive("device.spare_fraction=0.2")?;
//! let by_logical = drive("device.op_ratio=0.25")?;
//! assert_eq!(by_physical, by_logical);
//! # Ok::<(), flashwatt::Error>(())
//! ```

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Fault, Place};
use crate::ftl;
use crate::units::Nanos;

mod capacity;
mod layers;
mod parse;
mod presets;
mod prices;
pub mod raw;
mod resolve;
mod schema;
mod settings;

pub use crate::device::settings::{Device, HostLink, Nand, ProgramOrder, Timing};
pub use crate::energy::settings::{
    ChargedTransfer, Dram, DramRule, Energy, EnergyMode, HostInterface, IdleAccounting, NandEnergy, Part,
};
pub use crate::ftl::Allocation;
pub use crate::gc::{Gc, GcPolicy};
pub use crate::wear::Wear;
pub use crate::workload::settings::{
    Arrivals, Beyond, Fio, Gap, Group, Law, LengthUnit, OpenLoop, Phases, Size, Sizes, Standin, Synthetic, TimeUnit,
    Trace, Workload,
};
pub use parse::{load, merged};
pub(crate) use presets::described;
pub use presets::{DEFAULT_PRESET, PRESETS, preset};
pub(crate) use prices::prices;
pub use schema::{Choice, Key, reference, schema};
pub use settings::{Setting, about, settings};

/// A valid, complete configuration. Every field has its final value; the report carries it whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Config {
    /// The drive.
    pub device: Device,
    /// The translation layer.
    pub ftl: ftl::Settings,
    /// Garbage collection.
    pub gc: Gc,
    /// Wear levelling.
    pub wear: Wear,
    /// The drive's write buffer.
    pub write_buffer: WriteBuffer,
    /// Dispatch.
    pub controller: Controller,
    /// Currents and voltages.
    pub energy: Energy,
    /// The requests.
    pub workload: Workload,
    /// What is run and measured.
    pub run: Run,
    /// The hash of everything above, as it was checked.
    #[serde(skip)]
    seal: String,
}

impl Config {
    /// The configuration with a seal on what has been checked.
    fn sealed(mut self) -> Self {
        self.seal = self.sha256();
        self
    }

    /// Refuses a configuration that was changed after it was checked: the engine relies on what the checks hold.
    pub(crate) fn check_seal(&self) -> Result<(), Error> {
        if self.seal == self.sha256() {
            return Ok(());
        }
        let fault = Fault::at(Place::default(), "the configuration was changed after it was checked");
        Err(Error::Config(vec![
            fault.expected("what `config::load` gave").help("change it by overrides of `config::load`"),
        ]))
    }

    /// The configuration changed by hand and taken for checked: for tests of the engine.
    #[cfg(feature = "internals")]
    pub fn changed(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self.sealed()
    }

    /// SHA-256 (hex) of the configuration as JSON: equal for equal configurations, however they were written.
    pub fn sha256(&self) -> String {
        let json = serde_json::to_vec(self).expect("every key is a string and every number finite");
        format!("{:x}", Sha256::digest(json))
    }

    /// Bytes that one map entry of its translation layer covers.
    pub fn map_unit_bytes(&self) -> u32 {
        self.ftl.map_unit_bytes(self.device.page_bytes)
    }

    /// The settings that its translation layer heeds besides its own.
    pub fn ftl_setup(&self) -> ftl::Setup<'_> {
        ftl::Setup { nand: &self.device.nand, gc: &self.gc, wear: &self.wear }
    }

    /// The files that a run reads: traces, fio jobs and a snapshot, as the user named them.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let (before, snapshot) = match &self.run.precondition {
            Precondition::Workload(workload) => (Some(workload.as_ref()), None),
            Precondition::Snapshot(path) => (None, Some(path.clone())),
            _ => (None, None),
        };
        let paths = |workload: &Workload| match workload {
            Workload::Trace(trace) => trace.paths.clone(),
            Workload::Fio(fio) => vec![fio.path.clone()],
            Workload::Synthetic(_) | Workload::Standin(_) => Vec::new(),
        };
        std::iter::once(&self.workload).chain(before).flat_map(paths).chain(snapshot).collect()
    }
}

/// The drive's write buffer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WriteBuffer {
    /// Size; 0 for none.
    pub bytes: u64,
    /// Share of dirty entries at which destaging starts, 0 to 1.
    pub destage_fraction: f64,
    /// Time without a request in the drive after which everything is destaged, ≥ 1.
    pub idle_ns: Nanos,
}

/// Dispatch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Controller {
    /// Order of operations on a die.
    pub policy: Dispatch,
    /// Order of commands and data on a channel.
    pub bus_order: BusOrder,
    /// What the drive's power must not exceed, if anything.
    pub power_budget: Option<PowerBudget>,
}

/// What the drive's power must not exceed, in nW, and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PowerBudget {
    /// The budget, ≥ `base_nw` + `operation_nw`.
    pub budget_nw: i64,
    /// What the drive draws at the most while no die works.
    pub base_nw: i64,
    /// What an operation draws at the most, above an idle die.
    pub operation_nw: i64,
    /// Dies that may work at a time, ≥ 1.
    pub active_dies: u32,
}

/// Order of operations on a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(extend("x-kind" = "dispatch"))]
pub enum Dispatch {
    /// As planned, first in first out; background work when nothing else is planned for the die.
    InOrder,
    /// Host and map reads before everything else, which goes as planned.
    ReadsFirst,
    /// By class (host read, map, host write, merge and gc, erase), then as planned.
    OutOfOrder,
}

/// What a free bus carries first when data of reads waits to move out and an operation could start on another die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BusOrder {
    /// The data: all of it moves out before anything starts.
    DataFirst,
    /// The command of a read or an erase, so that its die works while the data moves. Programs, which need the bus for a whole
    /// page, wait until all data has moved out.
    CommandFirst,
}

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
    pub measure: Span,
    /// The energy of the drain is part of the totals.
    pub count_drain: bool,
    /// A run that takes more flash operations than this ends there.
    pub max_flash_ops: Option<u64>,
}

impl Run {
    /// Requests that a run takes, warm-up and all, of a workload that offers so many; none if only the run will tell.
    pub fn requests(&self, offered: Option<u64>) -> Option<u64> {
        let asked = match (self.warmup, self.measure) {
            (_, Span { requests: None, ns: None }) => return offered,
            (Span { requests, ns: None }, Span { requests: Some(measured), ns: None }) => {
                measured.saturating_add(requests.unwrap_or(0))
            }
            _ => return None,
        };
        Some(offered.map_or(asked, |offered| offered.min(asked)))
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
    /// The state that endless uniform random single-page writes lead to.
    Steady,
    /// The state that a workload leaves behind on a filled drive, run without a clock.
    Workload(Box<Workload>),
    /// The state that a file holds ([`crate::snapshot`]). Reports carry the base name only.
    #[serde(serialize_with = "base_name")]
    Snapshot(PathBuf),
}

/// A number of requests or of simulated nanoseconds, whichever is reached first; `None`: no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Span {
    /// Requests.
    pub requests: Option<u64>,
    /// Simulated nanoseconds.
    pub ns: Option<Nanos>,
}

/// A file by its base name: where it lies is no part of what a run is.
fn base_name<S: serde::Serializer>(path: &std::path::Path, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(&path.file_name().unwrap_or_default().to_string_lossy())
}
