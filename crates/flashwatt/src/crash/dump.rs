//! What is left to do for capacitors at a power cut, and what that takes (`capacitors.rs` works it out).

use schemars::JsonSchema;
use serde::Serialize;

use flashwatt_base::units::{BlockId, Nanos};
use flashwatt_ssd::controller::UnderWay;
use flashwatt_ssd::operation::{OpClass, OpKind};

/// What it takes to bring the content of a write buffer to flash after the power is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Dump {
    /// Pages programmed with the content of the write buffer.
    pub dump_pages: u32,
    /// Time from the cut until all of it is on flash, in ns.
    pub dump_ns: Nanos,
    /// Energy of the drive in that time, in J.
    pub dump_energy_j: f64,
    /// The capacitance in F that gives this energy.
    pub capacitance_f: f64,
}

/// The capacitors of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sizing {
    /// Voltage in V to which they are charged.
    pub max_v: f64,
    /// Voltage in V at which the drive stops.
    pub min_v: f64,
    /// What they must be able to do: bring a full write buffer to flash, when an erase of each die has just begun.
    #[serde(flatten)]
    pub full: Dump,
}

/// What is left to do for capacitors.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// Programs and erases under way: their classes, whether the page is an upper one, and the time in ns since they began.
    pub under_way: Vec<(OpClass, bool, Nanos)>,
    /// Pages to program.
    pub pages: u32,
    /// The blocks for them.
    pub blocks: Vec<BlockId>,
}

impl Work {
    /// Whether capacitors let an operation end.
    pub fn is_ended(kind: OpKind) -> bool {
        matches!(kind, OpKind::Program | OpKind::Copyback | OpKind::Erase)
    }

    /// An operation under way at the time `now`.
    pub fn part(op: &UnderWay, now: Nanos) -> (OpClass, bool, Nanos) {
        (op.at.class(op.kind), op.at.is_upper(), now - op.since)
    }
}
