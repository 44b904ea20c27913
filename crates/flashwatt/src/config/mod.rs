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

use crate::ftl;
use crate::units::Nanos;

mod capacity;
mod check;
mod de;
mod layers;
mod node;
mod parse;
mod presets;
mod prices;
pub mod raw;
mod resolve;
mod rules;
mod schema;
mod settings;
mod synthetic;
mod trace_units;

pub(crate) use check::{Checker, Field, field};
pub use parse::{load, merged};
pub use presets::{DEFAULT_PRESET, PRESETS, preset};
pub(crate) use prices::prices;
pub use schema::{Choice, Key, reference, schema};
pub use settings::{Setting, about, settings};
pub use synthetic::{Arrivals, Fio, Gap, Group, Law, OpenLoop, Phases, Size, Sizes, Standin, Synthetic, Workload};
pub use trace_units::{LengthUnit, TimeUnit};

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
}

impl Config {
    /// SHA-256 (hex) of the configuration as JSON: equal for equal configurations, however they were written.
    pub fn sha256(&self) -> String {
        let json = serde_json::to_vec(self).expect("every key is a string and every number finite");
        format!("{:x}", Sha256::digest(json))
    }

    /// The files that a run reads: traces and fio jobs, as the user named them.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let before = match &self.run.precondition {
            Precondition::Workload(workload) => Some(workload.as_ref()),
            _ => None,
        };
        let paths = |workload: &Workload| match workload {
            Workload::Trace(trace) => trace.paths.clone(),
            Workload::Fio(fio) => vec![fio.path.clone()],
            Workload::Synthetic(_) | Workload::Standin(_) => Vec::new(),
        };
        std::iter::once(&self.workload).chain(before).flat_map(paths).collect()
    }
}

/// The drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Device {
    /// The preset it was laid over, if any.
    pub preset: Option<String>,
    /// One line about it.
    pub description: String,
    /// Channels, ≥ 1.
    pub channels: u32,
    /// Dies per channel, 1..=64.
    pub ways: u32,
    /// Planes per die, ≥ 1.
    pub planes: u32,
    /// Erase blocks per plane.
    pub blocks_per_plane: u32,
    /// Pages per erase block, 2..=65535.
    pub pages_per_block: u32,
    /// Bytes per page: a power of two ≥ 512.
    pub page_bytes: u32,
    /// Bytes that the host sees: a whole number of pages.
    pub logical_bytes: u64,
    /// (physical − logical) / physical, as it came out.
    pub spare_fraction: f64,
    /// (physical − logical) / logical, as it came out.
    pub op_ratio: f64,
    /// Timing.
    pub timing: Timing,
    /// The host's link.
    pub host_link: HostLink,
    /// Rules of the NAND.
    pub nand: Nand,
}

/// Timing of the flash array and its buses, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// tR.
    pub read_ns: Nanos,
    /// tPROG.
    pub program_ns: Nanos,
    /// tPROG of upper pages (every other page of a block, from its second one on), > `program_ns`; `None`: no difference.
    #[serde(default)]
    pub program_upper_ns: Option<Nanos>,
    /// tBERS.
    pub erase_ns: Nanos,
    /// Command time on the bus.
    pub command_ns: Nanos,
    /// One page's data over the bus; the way switch delay as well.
    pub page_transfer_ns: Nanos,
    /// Channel switch delay.
    pub channel_switch_ns: Nanos,
}

/// The host's link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostLink {
    /// 10^6 bytes/s; `None`: takes no time.
    pub bandwidth_mb_s: Option<f64>,
    /// Per command, in nanoseconds.
    pub command_ns: Nanos,
    /// Requests that the device accepts at a time, ≥ 1.
    pub queue_depth: u32,
}

/// Rules of the NAND.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Nand {
    /// Order of programs in a block.
    pub program_order: ProgramOrder,
    /// Copies within a die without the bus.
    pub copyback: bool,
}

/// In which order the pages of a block may be programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProgramOrder {
    /// Ascending; gaps are allowed.
    Ascending,
    /// Any, as the small-block SLC of the older papers did.
    Any,
}

/// Which die a page is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Allocation {
    /// Round robin, channels first; a die without room is passed over.
    Dynamic,
    /// Logical page modulo dies.
    Static,
}

/// Garbage collection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gc {
    /// The registered policy and its parameters.
    pub policy: GcPolicy,
    /// Collection starts when a die has fewer free blocks than this, ≥ 2 and > `reserved_blocks`.
    pub low_watermark_blocks: u32,
    /// Free blocks of a die that only garbage collection may take, ≥ 1.
    pub reserved_blocks: u32,
    /// Host operations may go between the steps of a collection.
    pub preemptible: bool,
}

/// A registered victim policy by name, with its numeric parameters in the order of the registry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GcPolicy {
    /// The registered name.
    pub name: String,
    /// Its parameters.
    pub parameters: std::collections::BTreeMap<String, f64>,
}

/// Wear levelling.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wear {
    /// The registered policy.
    pub policy: String,
    /// `static_swap`: ratio over the mean.
    pub ratio: f64,
    /// `static_swap`: erases over the mean.
    pub min_gap: u32,
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

/// The price table: currents in µA, voltages in mV.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// How currents become power.
    pub mode: EnergyMode,
    /// Which idle accounting the totals use.
    pub idle_accounting: IdleAccounting,
    /// When DRAM is active.
    pub dram_rule: DramRule,
    /// The flash controller.
    pub controller: Part,
    /// The DRAM.
    pub dram: Dram,
    /// A flash die.
    pub nand: NandEnergy,
    /// The host interface.
    pub host_interface: HostInterface,
}

/// How currents become power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnergyMode {
    /// Each part at its own voltage.
    Component,
    /// Everything at the drive's supply voltage, in mV.
    Terminal(u32),
}

/// What is charged while nothing happens (SPEC E7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IdleAccounting {
    /// (i) Everything is on for the whole run.
    AlwaysOn,
    /// (ii) Flash is off while no request is in the device and no die is busy.
    FlashOff,
    /// (iii) Every component is charged only while at least one die is busy.
    BusyOnly,
}

/// When DRAM draws its active current.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DramRule {
    /// While the controller is active.
    WithController,
    /// For the time of each operation.
    PerOp,
}

/// The names of [`Dispatch`], and one line about each.
pub const DISPATCH: &[(&str, &str)] = &[
    ("in_order", "as planned, first in first out on each die; background work when nothing else is planned for it"),
    ("reads_first", "host and map reads before everything else, which goes as planned"),
    ("out_of_order", "by class (host read, map, host write, merge and gc, erase), then as planned"),
];

/// A part with two states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// µA while active.
    pub active_ua: u32,
    /// µA while idle, ≤ active.
    pub idle_ua: u32,
    /// mV.
    pub millivolts: u32,
}

/// The DRAM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dram {
    /// Its two states.
    pub part: Part,
    /// One map lookup or update.
    pub map_access_ns: Nanos,
    /// One page's data through it.
    pub page_data_ns: Nanos,
}

/// A flash die.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NandEnergy {
    /// µA while reading from the array.
    pub read_ua: u32,
    /// µA while programming.
    pub program_ua: u32,
    /// µA while erasing.
    pub erase_ua: u32,
    /// µA while data moves over the bus; `None`: the current of the operation it belongs to.
    pub transfer_ua: Option<u32>,
    /// How long a page's way over the bus is charged for; `None`: as long as it takes.
    #[serde(default)]
    pub transfer: Option<ChargedTransfer>,
    /// µA otherwise.
    pub idle_ua: u32,
    /// mV.
    pub millivolts: u32,
}

/// A page's way over the bus, with its command: charged for one time, and taking another. The charge is spread over the time
/// that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChargedTransfer {
    /// Nanoseconds that it is charged for.
    pub charged_ns: Nanos,
    /// Nanoseconds that it takes, > 0.
    pub taken_ns: Nanos,
}

/// The host interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostInterface {
    /// µA while data moves.
    pub active_ua: u32,
    /// mV.
    pub millivolts: u32,
    /// 10^6 bytes/s that the time of a transfer is reckoned by.
    pub bandwidth_mb_s: f64,
}

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
}

/// A number of requests or of simulated nanoseconds, whichever is reached first; `None`: no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Span {
    /// Requests.
    pub requests: Option<u64>,
    /// Simulated nanoseconds.
    pub ns: Option<Nanos>,
}

fn base_names<S: serde::Serializer>(paths: &[std::path::PathBuf], s: S) -> Result<S::Ok, S::Error> {
    match paths {
        [path] => base_name(path, s),
        paths => s.collect_seq(paths.iter().map(|path| name_of(path))),
    }
}

fn base_name<S: serde::Serializer>(path: &std::path::Path, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(&name_of(path))
}

fn name_of(path: &std::path::Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
