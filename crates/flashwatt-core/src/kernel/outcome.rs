//! The outcome of a run.

use super::by_origin::ByOrigin;
use crate::connector::{Origin, RequestKind};
use crate::energy::Series;
use crate::energy::window::{Figures, Window};
use flashwatt_base::error::Error;
use flashwatt_base::stats::Histogram;
use flashwatt_base::units::Nanos;

/// A time in ns from the start of the run: of a request, from its arrival to its completion. An empty one is that of no
/// request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeSpan {
    /// Its start.
    pub start: Nanos,
    /// Its end; before the start, if it is empty.
    pub end: Nanos,
}

impl Default for TimeSpan {
    fn default() -> Self {
        TimeSpan { start: Nanos::MAX, end: 0 }
    }
}

impl TimeSpan {
    /// The shortest time that covers both.
    #[must_use]
    #[inline(always)]
    pub fn plus(self, other: TimeSpan) -> TimeSpan {
        TimeSpan { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// Counts and latencies of the requests completed in a stage of the run.
#[derive(Clone, Debug, Default)]
pub struct Completed {
    /// Latencies of reads.
    pub reads: Histogram,
    /// Latencies of writes.
    pub writes: Histogram,
    /// Latencies of trims and flushes.
    pub others: Histogram,
    /// Latencies of flushes alone.
    pub flush_times: Histogram,
    /// Number of trims.
    pub trims: u64,
    /// Number of flushes.
    pub flushes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Arrival of the earliest of these requests, and completion of the last one.
    pub span_ns: TimeSpan,
    /// Arrival of the latest of these requests.
    pub latest_ns: Nanos,
    /// Time between the completion of all earlier requests and the arrival of the next one.
    pub idle_ns: Nanos,
    /// The same figures by origin, if any request had another origin than 0.
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

    /// Whether a request of this origin may be among them. Those of origins without counts of their own cannot be told apart.
    pub fn may_hold(&self, origin: Origin) -> bool {
        if !self.by_origin.is_kept() {
            return origin == Origin(0) && self.requests() > 0;
        }
        let own = self.by_origin.own().any(|(one, completed)| one == origin && completed.requests() > 0);
        own || self.by_origin.others().is_some()
    }

    /// The sum of this stage and the next one.
    #[must_use]
    pub fn plus(&self, next: &Completed) -> Completed {
        Completed {
            reads: self.reads.plus(&next.reads),
            writes: self.writes.plus(&next.writes),
            others: self.others.plus(&next.others),
            flush_times: self.flush_times.plus(&next.flush_times),
            trims: self.trims + next.trims,
            flushes: self.flushes + next.flushes,
            read_bytes: self.read_bytes + next.read_bytes,
            write_bytes: self.write_bytes + next.write_bytes,
            span_ns: self.span_ns.plus(next.span_ns),
            latest_ns: self.latest_ns.max(next.latest_ns),
            idle_ns: self.idle_ns + next.idle_ns,
            by_origin: ByOrigin::sum(self, next),
        }
    }

    /// Adds a request that has ended.
    #[inline(always)]
    pub fn add(&mut self, origin: Origin, kind: RequestKind, bytes: u64, span: TimeSpan) {
        if origin != Origin(0) || self.by_origin.is_kept() {
            self.add_by_origin(origin, kind, bytes, span);
        }
        self.add_to_all(kind, bytes, span);
    }

    /// All requests before the first of another origin were of origin 0.
    #[inline(never)]
    fn add_by_origin(&mut self, origin: Origin, kind: RequestKind, bytes: u64, span: TimeSpan) {
        if !self.by_origin.is_kept() {
            self.by_origin = ByOrigin::of_first(self);
        }
        self.by_origin.completed(origin).add_to_all(kind, bytes, span);
    }

    #[inline(always)]
    fn add_to_all(&mut self, kind: RequestKind, bytes: u64, span: TimeSpan) {
        let latency = span.end - span.start;
        self.latest_ns = self.latest_ns.max(span.start);
        self.idle_ns += span.start.saturating_sub(self.span_ns.end);
        self.span_ns = self.span_ns.plus(span);
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
                self.flush_times.add(latency);
                self.flushes += 1;
            }
        }
    }
}

/// The outcome of a run: its windows and counts, and how it ended.
pub struct Outcome<F> {
    /// The window of the warm-up.
    pub warmed: Window<F>,
    /// Requests that completed in the warm-up.
    pub warmup: Completed,
    /// The measured window.
    pub measured: Window<F>,
    /// Requests that completed in the measured window.
    pub completed: Completed,
    /// The drain after the measured window, if the run reached it.
    pub drain: Option<Window<F>>,
    /// Requests that completed in the drain: they were under way when the measured window ended.
    pub drained: Completed,
    /// Pages read and programmed and blocks erased in the whole run.
    pub flash_operations: u64,
    /// Power over time in the time of the figures, if recorded.
    pub series: Option<Box<Series>>,
    /// Number of requests that entered the drive.
    pub taken: u64,
    /// Of these, requests that were in the drive when the power was lost.
    pub lost: u64,
    /// How the run ended.
    pub end: End,
}

impl<F: Figures> Outcome<F> {
    /// The window of the figures: the measured window, joined with the drain if that is counted.
    pub fn counted(&self, with_drain: bool) -> (Window<F>, Completed) {
        match &self.drain {
            Some(drain) if with_drain => (self.measured.plus(drain), self.completed.plus(&self.drained)),
            _ => (self.measured.clone(), self.completed.clone()),
        }
    }

    /// Start and end of the window of the figures, in ns.
    pub fn counted_ns(&self, with_drain: bool) -> (Nanos, Nanos) {
        let drain = self.drain.as_ref().filter(|_| with_drain);
        (self.measured.start_ns, drain.unwrap_or(&self.measured).end_ns)
    }
}

impl<F> Outcome<F> {
    /// The same outcome without the device's own figures.
    pub fn without_figures(self) -> Outcome<()> {
        Outcome {
            warmed: self.warmed.map(drop),
            warmup: self.warmup,
            measured: self.measured.map(drop),
            completed: self.completed,
            drain: self.drain.map(|drain| drain.map(drop)),
            drained: self.drained,
            flash_operations: self.flash_operations,
            series: self.series,
            taken: self.taken,
            lost: self.lost,
            end: self.end,
        }
    }

    /// The same outcome with other figures, as [`Self::with_windows`].
    pub fn with_figures<G>(&self, figures: impl Fn(&F) -> G) -> Outcome<G> {
        self.with_windows(|window| Window {
            start_ns: window.start_ns,
            end_ns: window.end_ns,
            reading: window.reading.clone(),
            figures: figures(&window.figures),
        })
    }

    /// The same outcome with other windows, and without a recording. How the run ended is kept only in so far as it is complete
    /// or not.
    pub fn with_windows<G>(&self, window: impl Fn(&Window<F>) -> Window<G>) -> Outcome<G> {
        Outcome {
            warmed: window(&self.warmed),
            warmup: self.warmup.clone(),
            measured: window(&self.measured),
            completed: self.completed.clone(),
            drain: self.drain.as_ref().map(&window),
            drained: self.drained.clone(),
            flash_operations: self.flash_operations,
            series: None,
            taken: self.taken,
            lost: self.lost,
            end: self.end.without_reason(),
        }
    }
}

impl End {
    /// Whether the run is complete, and nothing more: the same, or interrupted.
    pub(crate) fn without_reason(&self) -> End {
        if matches!(self, End::Complete) { End::Complete } else { End::Interrupted }
    }
}

/// How a run ended.
#[derive(Debug)]
pub enum End {
    /// The run completed.
    Complete,
    /// The user stopped the run.
    Interrupted,
    /// The run reached this limit of flash operations.
    OutOfBudget(u64),
    /// The workload failed.
    Failed(Error),
}
