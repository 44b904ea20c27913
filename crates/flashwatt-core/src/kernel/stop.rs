//! A rule that decides, from what has been measured, when a run ends.

use super::Completed;
use crate::connector::FlashCounts;
use flashwatt_base::units::Nanos;

/// Decides when the measured window ends, and whether it begins anew.
pub trait Stop: Send {
    /// Number of requests after which the rule looks for the first time, ≥ 1.
    fn first_look(&self) -> u64;

    /// Looks at the window, after the completion of a request.
    fn look(&mut self, look: &Look<'_>) -> Verdict;
}

/// What a rule sees.
pub struct Look<'a> {
    /// The time at which the window began.
    pub start_ns: Nanos,
    /// The present time.
    pub now_ns: Nanos,
    /// Bytes of the writes that completed before the window began.
    pub written_before_bytes: u64,
    /// The requests completed since the window began.
    pub completed: &'a Completed,
    /// Counts of flash since then.
    pub flash: FlashCounts,
    /// Energy in J since then.
    pub energy_j: f64,
    /// Whether the window ends now in any case.
    pub is_last: bool,
}

/// What a rule decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The window goes on; the rule looks again after this number of requests, ≥ 1.
    GoOn(u64),
    /// The window begins anew: what it held belongs to the warm-up. The rule looks again after this number of requests, ≥ 1.
    BeginAnew(u64),
    /// The window ends.
    End,
}
