//! Puts records in the order of their times, within a window of records.

use std::collections::BTreeMap;
use std::fmt;

use super::super::{Record, counted};

/// Records that each of `files` traces may hold: one that stands further behind its place cannot be put there. All of them
/// together hold 2^20, unless that is less than 2^16 for one.
pub fn window_records(files: usize) -> usize {
    ((1 << 20) / files.max(1)).max(1 << 16)
}

/// The records that are held, by time; records of one time stay in the file's order.
pub struct Sorter {
    /// Records that it holds at most.
    pub window: usize,
    held: BTreeMap<(u64, u64), (Record, u64)>,
    /// Records taken in so far.
    taken: u64,
    /// The latest time taken in.
    latest_ns: u64,
    /// The time of the last record taken in.
    last_ns: u64,
    /// The latest time given out.
    given_ns: u64,
    /// What was out of order.
    pub disorder: Disorder,
}

/// How far times go back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Disorder {
    /// Records with an earlier time than the one directly before them.
    pub steps: u64,
    /// Records with an earlier time than the latest before them.
    pub records: u64,
    /// The largest step back from one record to the next.
    pub largest_ns: u64,
}

impl Disorder {
    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Disorder {
            steps: self.steps + other.steps,
            records: self.records + other.records,
            largest_ns: self.largest_ns.max(other.largest_ns),
        }
    }

    /// Takes note of a record's time, after one of `last_ns` and with `latest_ns` as the latest so far.
    #[inline]
    pub fn add(&mut self, time_ns: u64, last_ns: u64, latest_ns: u64) {
        self.records += u64::from(time_ns < latest_ns);
        if time_ns < last_ns {
            self.steps += 1;
            self.largest_ns = self.largest_ns.max(last_ns - time_ns);
        }
    }
}

impl fmt::Display for Disorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (steps, ns) = (counted(self.steps, "step"), self.largest_ns);
        write!(f, "{steps} back, the largest ")?;
        match ns {
            0..1_000 => write!(f, "{ns} ns"),
            1_000..1_000_000 => write!(f, "{} us", ns as f64 / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{} ms", ns as f64 / 1e6),
            _ => write!(f, "{} s", ns as f64 / 1e9),
        }
    }
}

impl Sorter {
    /// A window of this number of records.
    pub fn new(window: usize) -> Self {
        let disorder = Disorder::default();
        Sorter { window, held: BTreeMap::new(), taken: 0, latest_ns: 0, last_ns: 0, given_ns: 0, disorder }
    }

    /// Takes a record in, with its position; false if an order is impossible since a later record was given out.
    pub fn take(&mut self, record: Record, position: u64) -> bool {
        if self.taken > 0 {
            self.disorder.add(record.time_ns, self.last_ns, self.latest_ns);
        }
        self.last_ns = record.time_ns;
        self.latest_ns = self.latest_ns.max(record.time_ns);
        self.held.insert((record.time_ns, self.taken), (record, position));
        self.taken += 1;
        record.time_ns >= self.given_ns
    }

    /// Have 2^16 more records been taken in? Then it is time to look for an interrupt.
    pub fn is_time_to_pause(&self) -> bool {
        self.taken.is_multiple_of(1 << 16)
    }

    /// Is there no room for another record?
    pub fn is_full(&self) -> bool {
        self.held.len() >= self.window
    }

    /// The earliest record that is held.
    pub fn give(&mut self) -> Option<(Record, u64)> {
        let (_, (record, position)) = self.held.pop_first()?;
        self.given_ns = record.time_ns;
        Some((record, position))
    }
}
