//! `[energy]`: the settings that the price table is made from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Nanos;

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
