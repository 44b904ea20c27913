//! The figures of operations in a window, by flow, with those of the page cache.

use crate::disk::IoFigures;
use crate::operation::OpError;
use flashwatt_base::stats::Histogram;
use flashwatt_base::units::Nanos;

/// The figures of a flow: of all operations that a source counts together.
#[derive(Clone, Debug, Default)]
pub struct FlowFigures {
    /// Operations that ended.
    pub count: u64,
    /// Of those, how many failed for want of space, and for other reasons.
    pub no_space: u64,
    /// As `no_space`.
    pub failed: u64,
    /// Bytes read or written.
    pub bytes: u64,
    /// Times of operations that did not fail.
    pub latency: Histogram,
}

impl FlowFigures {
    /// An operation has ended.
    pub fn ended(&mut self, result: Result<u64, OpError>, took_ns: Nanos) {
        self.count += 1;
        match result {
            Ok(bytes) => {
                self.bytes += bytes;
                self.latency.add(took_ns);
            }
            Err(OpError::NoSpace) => self.no_space += 1,
            Err(_) => self.failed += 1,
        }
    }
}

/// All figures of a window.
#[derive(Clone, Debug, Default)]
pub struct FileFigures {
    /// By flow.
    pub flows: Vec<FlowFigures>,
    /// Of the page cache.
    pub io: IoFigures,
}

impl FileFigures {
    /// Operations that ended.
    pub fn operations(&self) -> u64 {
        self.flows.iter().map(|flow| flow.count).sum()
    }
}
