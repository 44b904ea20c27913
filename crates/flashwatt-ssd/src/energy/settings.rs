//! `[energy]`: the settings that the price table is made from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashwatt_base::units::Nanos;

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
    /// Energy in pJ of a bit that is read from the host's memory or written to it, if it is known. It is none of the drive's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_memory_pj_per_bit: Option<f64>,
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

/// Idle accounting: the times at which components are charged for idling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IdleAccounting {
    /// (i) Everything is on for the whole run.
    AlwaysOn,
    /// (ii) Flash is off while no request is in the device and no die is busy.
    FlashOff,
    /// (iii) Every component is charged only while at least one die reads, programs or erases in its array. Operations
    /// are charged at all times.
    BusyOnly,
    /// (iv) As (iii), and also while a die only takes or sends data, or waits with it for the bus.
    BusyOrLoading,
}

impl IdleAccounting {
    /// All of them, in the order of reports.
    pub const ALL: [IdleAccounting; 4] =
        [IdleAccounting::AlwaysOn, IdleAccounting::FlashOff, IdleAccounting::BusyOnly, IdleAccounting::BusyOrLoading];
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

/// A part with two states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// µA while active.
    pub active_ua: u32,
    /// µA while idle, ≤ active.
    pub idle_ua: u32,
    /// Supply voltage in mV.
    pub millivolts: u32,
}

/// The DRAM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dram {
    /// Its two states.
    pub part: Part,
    /// One map lookup or update.
    pub map_access_ns: Nanos,
    /// The transfer of one page's data through DRAM.
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
    /// The charged time of a page's transfer on the bus; `None`: the time that it takes.
    #[serde(default)]
    pub transfer: Option<ChargedTransfer>,
    /// µA while programming a page in single-level mode; `None`: as any program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc_program_ua: Option<u32>,
    /// µA of each further plane that reads in the same operation.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub extra_plane_read_ua: u32,
    /// µA of each further plane that programs in the same operation.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub extra_plane_program_ua: u32,
    /// µA of each further plane that erases in the same operation.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub extra_plane_erase_ua: u32,
    /// µA of each further plane that programs in single-level mode in the same operation; `None`: as in any program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc_extra_plane_program_ua: Option<u32>,
    /// µA in all other states.
    pub idle_ua: u32,
    /// Supply voltage in mV.
    pub millivolts: u32,
}

/// Whether a current is that of no further plane.
fn is_zero(ua: &u32) -> bool {
    *ua == 0
}

/// The transfer of a page and its command on the bus. The charged time may differ from the real time; the charge is
/// spread over the real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChargedTransfer {
    /// Charged time in ns.
    pub charged_ns: Nanos,
    /// Real time in ns, > 0.
    pub taken_ns: Nanos,
}

/// The host interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostInterface {
    /// µA while data moves.
    pub active_ua: u32,
    /// Supply voltage in mV.
    pub millivolts: u32,
    /// Rate in 10^6 bytes/s, for the time of a transfer.
    pub bandwidth_mb_s: f64,
    /// What is charged for.
    #[serde(default, skip_serializing_if = "ChargedData::is_default")]
    pub charged_data: ChargedData,
}

/// The data that the host interface's energy is charged for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChargedData {
    /// The bytes of requests, when they enter the drive.
    #[default]
    HostBytes,
    /// The pages that cross a flash bus, for whatever cause: each read and each program of a page, when it starts. A copy within a die
    /// and a read of a spare area cross no bus with a page.
    FlashPages,
}

impl ChargedData {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
