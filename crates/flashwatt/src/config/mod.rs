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
//! - `device.op_ratio` = (physical − logical) / **logical**: the spare flash as a share of the host's capacity.
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

use serde::Serialize;
use sha2::{Digest, Sha256};

use flashwatt_base::error::{Error, Fault, Place};
use flashwatt_base::units::SECTOR_BYTES;

mod capacity;
pub(crate) mod catalogue;
mod cuts;
mod drive;
mod layers;
mod parse;
mod paths;
mod presets;
mod prices;
pub mod raw;
mod resolve;
mod run;
mod schema;
mod settings;

pub use drive::{Array, Drive, HddTables, NamedDevice};
pub use flashwatt_core::kernel::settings::Span;
pub use flashwatt_host::settings::Host;
pub use flashwatt_ssd::cache::settings::WriteBuffer;
pub use flashwatt_ssd::controller::settings::{BusOrder, Controller, PowerBudget};
pub use flashwatt_ssd::drive::settings::{Flashsim, PartialPages, Settings as Ssd};
pub use flashwatt_ssd::energy::settings::{
    ChargedData, ChargedTransfer, Dram, DramRule, Energy, EnergyMode, HostInterface, IdleAccounting, NandEnergy, Part,
};
pub use flashwatt_ssd::ftl::Allocation;
pub use flashwatt_ssd::gc::{Gc, GcPolicy};
pub use flashwatt_ssd::nand::settings::{BlockStripe, DeviceTable, HostLink, Nand, ProgramOrder, ReadTransfer, Timing};
pub use flashwatt_ssd::wear::Wear;
pub use flashwatt_workload::settings::{
    Arrivals, Beyond, Fio, Gap, Group, Law, LengthUnit, OpenLoop, Phases, Size, Sizes, Standin, Synthetic, TimeUnit,
    Trace, Workload,
};
pub use parse::{load, merged, merged_to};
pub(crate) use presets::described;
pub use presets::{DEFAULT_PRESET, PRESETS, preset};
pub(crate) use prices::{Has, prices};
pub use run::{Cuts, Measure, PowerCuts, Precision, Precondition, Replay, Run};
pub use schema::{Key, OneOf, number, reference, schema};
pub use settings::{Setting, about, settings};

/// A valid, complete configuration. Every field has its final value; the report carries it whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Config {
    /// The drive, whose settings stand among the others in JSON.
    #[serde(flatten)]
    pub drive: Drive,
    /// The host's block layer, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
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

    /// Bytes that the host sees of its drive.
    pub fn logical_bytes(&self) -> u64 {
        self.drive.logical_bytes()
    }

    /// Bytes of the drive that the workload sees: those of its partition.
    pub fn partition_bytes(&self) -> u64 {
        let before = self.host.as_ref().map_or(0, |host| host.partition_offset_sectors * SECTOR_BYTES);
        self.logical_bytes() - before - self.run.replay.offset_bytes()
    }

    /// Bytes that one map entry of its translation layer covers.
    ///
    /// # Panics
    /// As [`Self::ssd`].
    pub fn map_unit_bytes(&self) -> u32 {
        self.ssd().map_unit_bytes()
    }

    /// The settings of its SSD.
    ///
    /// # Panics
    /// If the drive is no SSD.
    pub fn ssd(&self) -> &Ssd {
        self.drive.ssd().expect("the caller knows that the drive is an SSD")
    }

    /// The same run of another drive, with no block layer before it: of a member of an array.
    pub(crate) fn of_drive(&self, drive: &Drive) -> Config {
        Config { drive: drive.clone(), host: None, ..self.clone() }.sealed()
    }

    /// The same with random draws of its own for a member of an array: members that begin alike would collect at the same time. The first
    /// one keeps the seed of the run.
    pub(crate) fn of_member(&self, place: usize) -> Config {
        const APART: u64 = 0x9e37_79b9_7f4a_7c15;
        let seed = self.run.seed ^ (place as u64).wrapping_mul(APART);
        Config { run: Run { seed, ..self.run.clone() }, ..self.clone() }.sealed()
    }

    /// The same, judged by the precision of another configuration.
    ///
    /// # Errors
    /// If its report has not all of those figures.
    pub(crate) fn judged_by(&self, precision: &Precision) -> Result<Config, Error> {
        let measure = Measure { precision: Some(precision.clone()), ..self.run.measure.clone() };
        let config = Config { run: Run { measure, ..self.run.clone() }, ..self.clone() }.sealed();
        let faults = resolve::faults_of_precision(&config);
        if faults.is_empty() { Ok(config) } else { Err(Error::Config(faults)) }
    }

    /// The same with another start state.
    pub(crate) fn starting(&self, precondition: Precondition) -> Config {
        let run = Run { precondition, ..self.run.clone() };
        Config { run, ..self.clone() }.sealed()
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
            Workload::Files(files) => files.program.path().cloned().into_iter().collect(),
            Workload::Standin(standin) => standin.path.iter().cloned().collect(),
            Workload::Synthetic(_) => Vec::new(),
        };
        std::iter::once(&self.workload).chain(before).flat_map(paths).chain(snapshot).collect()
    }
}
