//! How far something is that takes long: a run, or the reading of a trace before it.

use crate::units::Nanos;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// A start state is being laid down; the requests are those that do it, and no time is simulated.
    pub preparing: bool,
    /// Requests completed, warm-up and all.
    pub requests_done: u64,
    /// Requests that there will be, if that is known.
    pub requests_total: Option<u64>,
    /// Simulated time.
    pub now_ns: Nanos,
}
