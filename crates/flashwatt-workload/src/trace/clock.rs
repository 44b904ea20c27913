//! The trace's times as arrival times.

use super::Record;
use super::read::sort::Disorder;
use crate::settings;
use flashwatt_base::units::Nanos;

/// Turns the trace's times into arrival times.
#[derive(Default)]
pub struct TraceClock {
    /// When the pass began.
    start_ns: Nanos,
    /// The first record's time.
    origin: Option<u64>,
    /// The last record's.
    last_ns: u64,
    /// The latest of all.
    latest_ns: u64,
    /// Records of this pass whose time goes back.
    pub disorder: Disorder,
}

impl TraceClock {
    /// The arrival time of the next record: that of the record before it, if its own time is earlier.
    #[inline]
    pub fn arrival(&mut self, time_ns: u64) -> Nanos {
        let origin = *self.origin.get_or_insert(time_ns);
        self.disorder.add(time_ns, self.last_ns, self.latest_ns);
        self.last_ns = time_ns;
        self.latest_ns = self.latest_ns.max(time_ns);
        self.start_ns.saturating_add(self.latest_ns - origin)
    }

    /// Another pass begins so long after the last arrival.
    pub fn again(&mut self, gap_ns: Nanos) {
        let last_ns = self.start_ns.saturating_add(self.latest_ns - self.origin.unwrap_or(self.latest_ns));
        *self = TraceClock { start_ns: last_ns.saturating_add(gap_ns), ..TraceClock::default() };
    }
}

/// The times of a whole trace, for the gap between its passes.
#[derive(Clone, Default)]
pub struct Times {
    first_ns: Option<u64>,
    latest_ns: u64,
    records: u64,
    /// Whether a record has another time than the first one.
    differ: bool,
}

impl Times {
    /// Adds a record.
    pub fn add(&mut self, record: &Record) {
        let first_ns = *self.first_ns.get_or_insert(record.time_ns);
        self.differ |= record.time_ns != first_ns;
        self.latest_ns = self.latest_ns.max(record.time_ns);
        self.records += 1;
    }

    /// Notes records that were put at the start of their file: the file has another time for them.
    pub fn note_early(&mut self, records: u64) {
        self.differ |= records > 0;
    }

    /// Number of records.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Whether there are none: several records, all with one time.
    pub fn are_missing(&self) -> bool {
        self.records > 1 && !self.differ
    }

    /// The gap between passes: as configured, or the mean time between arrivals.
    pub fn gap_ns(&self, cfg: &settings::Trace) -> Nanos {
        let whole = self.latest_ns - self.first_ns.unwrap_or(self.latest_ns);
        cfg.repeat_gap_ns.unwrap_or_else(|| whole.checked_div(self.records.saturating_sub(1)).unwrap_or(0))
    }
}
