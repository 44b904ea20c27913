//! How a run went, and what it came to.

use super::by_origin::ByOrigin;
use crate::connector::{Origin, RequestKind};
use crate::energy::Series;
use crate::energy::window::{Figures, Window};
use crate::error::Error;
use crate::stats::Histogram;
use crate::units::Nanos;

/// What has completed in a stage of the run.
#[derive(Clone, Debug, Default)]
pub struct Completed {
    /// Latencies of reads.
    pub reads: Histogram,
    /// Latencies of writes.
    pub writes: Histogram,
    /// Latencies of trims and flushes.
    pub others: Histogram,
    /// Trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Bytes of reads.
    pub read_bytes: u64,
    /// Bytes of writes.
    pub write_bytes: u64,
    /// The same by origin, if any request had another origin than 0.
    pub by_origin: ByOrigin,
}

impl Completed {
    /// Latencies of all requests.
    pub fn all(&self) -> Histogram {
        self.reads.plus(&self.writes).plus(&self.others)
    }

    /// Requests of all kinds.
    pub fn requests(&self) -> u64 {
        self.reads.count() + self.writes.count() + self.others.count()
    }

    /// What has completed in this stage and in the next.
    #[must_use]
    pub fn plus(&self, next: &Completed) -> Completed {
        Completed {
            reads: self.reads.plus(&next.reads),
            writes: self.writes.plus(&next.writes),
            others: self.others.plus(&next.others),
            trims: self.trims + next.trims,
            flushes: self.flushes + next.flushes,
            read_bytes: self.read_bytes + next.read_bytes,
            write_bytes: self.write_bytes + next.write_bytes,
            by_origin: ByOrigin::sum(self, next),
        }
    }

    /// Adds a request that has ended.
    #[inline(always)]
    pub(crate) fn add(&mut self, origin: Origin, kind: RequestKind, bytes: u64, latency: Nanos) {
        if origin != Origin(0) || self.by_origin.is_kept() {
            self.add_by_origin(origin, kind, bytes, latency);
        }
        self.add_to_all(kind, bytes, latency);
    }

    /// All requests before the first of another origin were of origin 0.
    #[inline(never)]
    fn add_by_origin(&mut self, origin: Origin, kind: RequestKind, bytes: u64, latency: Nanos) {
        if !self.by_origin.is_kept() {
            self.by_origin = ByOrigin::of_first(self);
        }
        self.by_origin.completed(origin).add_to_all(kind, bytes, latency);
    }

    #[inline(always)]
    fn add_to_all(&mut self, kind: RequestKind, bytes: u64, latency: Nanos) {
        match kind {
            RequestKind::Read => {
                self.reads.add(latency);
                self.read_bytes += bytes;
            }
            RequestKind::Write => {
                self.writes.add(latency);
                self.write_bytes += bytes;
            }
            RequestKind::Trim => {
                self.others.add(latency);
                self.trims += 1;
            }
            RequestKind::Flush => {
                self.others.add(latency);
                self.flushes += 1;
            }
        }
    }
}

/// How a run went, and what it came to.
pub struct Outcome<F> {
    /// The window before the counters started.
    pub warmed: Window<F>,
    /// Requests that completed in the warm-up.
    pub warmup: Completed,
    /// The measured window.
    pub measured: Window<F>,
    /// Requests that completed in the measured window.
    pub completed: Completed,
    /// The drain after the measured window, if the run came to it.
    pub drain: Option<Window<F>>,
    /// Requests that completed in the drain: they were under way when the measured window ended.
    pub drained: Completed,
    /// Pages read and programmed and blocks erased in the whole run.
    pub flash_operations: u64,
    /// Power over time in what the figures cover, if it was recorded.
    pub series: Option<Box<Series>>,
    /// Requests that entered the drive in all.
    pub taken: u64,
    /// How it ended.
    pub end: End,
}

impl<F: Figures> Outcome<F> {
    /// What the figures cover: the measured window, with the drain as one if that is counted.
    pub fn counted(&self, with_drain: bool) -> (Window<F>, Completed) {
        match &self.drain {
            Some(drain) if with_drain => (self.measured.plus(drain), self.completed.plus(&self.drained)),
            _ => (self.measured.clone(), self.completed.clone()),
        }
    }

    /// When what the figures cover began and ended.
    pub fn counted_ns(&self, with_drain: bool) -> (Nanos, Nanos) {
        let drain = self.drain.as_ref().filter(|_| with_drain);
        (self.measured.start_ns, drain.unwrap_or(&self.measured).end_ns)
    }
}

/// How a run ended.
#[derive(Debug)]
pub enum End {
    /// As asked for.
    Complete,
    /// By the user, in the middle.
    Interrupted,
    /// In the middle: it took more flash operations than these, which were all that it was allowed.
    OutOfBudget(u64),
    /// The workload could not go on.
    Failed(Error),
}
