//! How far something is that takes long: a run, or the reading of a trace before it.

use crate::units::Nanos;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is done before anything is simulated; the requests are those that do it, and no time is simulated. `None`
    /// from the first simulated nanosecond on.
    pub preparing: Option<Preparation>,
    /// Requests completed, warm-up and all.
    pub requests_done: u64,
    /// Requests that there will be, if that is known.
    pub requests_total: Option<u64>,
    /// Simulated time.
    pub now_ns: Nanos,
}

/// What is done before a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// A trace is read to its end: every record is checked, and every device measured, before the first is replayed.
    ReadingTrace,
    /// The drive is brought into its start state by requests without a clock.
    StartState,
}

impl Preparation {
    /// For people: "reading the trace".
    pub fn name(self) -> &'static str {
        match self {
            Preparation::ReadingTrace => "reading the trace",
            Preparation::StartState => "laying down the start state",
        }
    }
}
