//! Settings of the loop: the stages of a run, and its bound.

use serde::Serialize;

use flashwatt_base::units::Nanos;

/// The stages of a run, and its bound.
#[derive(Clone, Copy, Debug)]
pub struct Stages {
    /// Before the counters start.
    pub warmup: Span,
    /// What is measured.
    pub measure: Span,
    /// The energy of the drain is part of the totals.
    pub count_drain: bool,
    /// A run that takes more flash operations than this ends there.
    pub max_flash_ops: Option<u64>,
}

impl Stages {
    /// These without a warm-up and without an end of what is measured.
    #[must_use]
    pub fn without_end(self) -> Self {
        Stages { warmup: Span::default(), measure: Span::default(), ..self }
    }

    /// Requests of a run, including the warm-up, for a workload that offers this number; none if it is known only at the end.
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

/// A number of requests or of simulated nanoseconds, whichever is reached first; `None`: no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Span {
    /// Requests.
    pub requests: Option<u64>,
    /// Simulated nanoseconds.
    pub ns: Option<Nanos>,
}
