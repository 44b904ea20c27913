//! Figures of a report that a longer run would change: their keys and the reason, in a few words.

use serde::Serialize;

/// Why some figures are not steady.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Doubt {
    /// The reason in a few words; one of the report's warnings says more.
    pub why: String,
    /// Keys of the figures, or of the tables that they are in.
    pub keys: Vec<&'static str>,
}

/// What hangs on write amplification alone.
pub(super) const WRITES: [&str; 9] = [
    "flash.write_amplification",
    "flash.gc_factor",
    "flash.reads",
    "flash.programs",
    "flash.erases",
    "gc",
    "lifetime",
    "energy_by_cause_j",
    "energy_j.nand",
];
/// What hangs on it where requests wait for collection.
pub(super) const RATES: [&str; 3] = ["throughput", "latency_ns", "origins"];
/// What hangs on it where the energy is that of flash.
pub(super) const ENERGY: [&str; 4] = ["energy_j", "energy_total_j", "efficiency", "power_w"];

impl Doubt {
    /// A doubt about the figures of these lists.
    pub(super) fn new(why: &str, lists: &[&[&'static str]]) -> Self {
        Doubt { why: why.to_string(), keys: lists.concat() }
    }

    /// The doubt of a member as one of its array, which has no figure of flash of its own.
    pub(super) fn of_member(mut self, name: &str) -> Option<Self> {
        self.why = format!("{name}: {}", self.why);
        self.keys.retain(|key| RATES.contains(key) || ENERGY.contains(key));
        (!self.keys.is_empty()).then_some(self)
    }
}
