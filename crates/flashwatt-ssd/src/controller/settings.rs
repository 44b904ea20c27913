//! Settings of the controller: in which order operations and transfers go, and how many dies work at a time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policies::Policy;
use crate::nand::settings::ReadTransfer;

/// Dispatch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Controller {
    /// The registered order of operations on a die; a report has its name.
    pub policy: &'static Policy,
    /// Order of commands and data on a channel.
    pub bus_order: BusOrder,
    /// Whether the data of reads takes the bus.
    #[serde(skip_serializing_if = "ReadTransfer::is_default")]
    pub read_transfer: ReadTransfer,
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
