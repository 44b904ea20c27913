//! What is left to do for capacitors at a power cut, and what that takes (`capacitors.rs` works it out).

use schemars::JsonSchema;
use serde::Serialize;

use flashwatt_base::units::{BlockId, Nanos};
use flashwatt_ssd::controller::{EndOfOp, UnderWay};
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
    /// What they must be able to do: bring a full write buffer to flash, when an erase of each die has just begun (or the program of a row,
    /// if that takes longer). Where reads suspend such an operation, it has been suspended as often as it may, each time before it went on.
    #[serde(flatten)]
    pub full: Dump,
}

/// A program or an erase under way at a cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Its class.
    pub class: OpClass,
    /// Whether the page is an upper one.
    pub is_upper: bool,
    /// The time in ns since it began; of a row since the array did.
    pub elapsed: Nanos,
    /// The time in ns that its array still works for it, if it has been suspended.
    pub left_ns: Option<Nanos>,
}

/// What is left to do for capacitors.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// Programs and erases under way. The pages of a row are one.
    pub under_way: Vec<Part>,
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
    pub fn part(op: &UnderWay, now: Nanos) -> Part {
        let elapsed = now.saturating_sub(op.since); // a row may wait a moment in the registers
        let left_ns = match op.end {
            EndOfOp::AsPlanned => None,
            EndOfOp::At(end) => Some(end.saturating_sub(now)),
            EndOfOp::AfterResumption(ns) => Some(ns),
        };
        Part { class: op.at.class(op.kind), is_upper: op.at.is_upper(), elapsed, left_ns }
    }
}
