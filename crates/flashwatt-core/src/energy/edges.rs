//! Every edge of the drive's current in a window of time, by component.

use serde::Serialize;

use super::parts::{Columns, Parts, PerState, STATES_MAX};
use flashwatt_base::units::Nanos;

/// The largest number of edges that are stored: a window is meant to be short.
pub const EDGES_MAX: usize = 1_000_000;

/// Edges being recorded.
#[derive(Clone)]
pub struct Edges {
    from_ns: Nanos,
    until_ns: Nanos,
    /// Times of the edges; the first one is the window's beginning. Empty until [`Self::restart`].
    times: Vec<Nanos>,
    /// Number of parts in each state that the device declares, from each of these times on.
    levels: Vec<u32>,
    /// Number of states that the device declares.
    states: usize,
    overflowed: bool,
}

/// The drive's current in a window of time: `total_ma[i]` from `time_ns[i]` to `time_ns[i + 1]`, the last one until
/// `until_ns`. Current is right-continuous: of several changes at one instant only the result is recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CurrentEdges {
    /// Simulated time in ns at which the window begins, clipped to the time of the figures.
    pub from_ns: Nanos,
    /// Simulated time in ns at which the window ends, clipped in the same way.
    pub until_ns: Nanos,
    /// Times in ns at which the current of a component changes; the first one is `from_ns`.
    pub time_ns: Vec<Nanos>,
    /// The drive's current from that time on, in mA at the report's `current_ma.supply_v`.
    pub total_ma: Vec<f64>,
    /// The current by component, in mA at the same voltage.
    pub current_ma: Columns,
}

impl Edges {
    /// Records the measured part of the simulated time from `from_ns` to before `until_ns`.
    pub fn new(from_ns: Nanos, until_ns: Nanos) -> Self {
        Edges { from_ns, until_ns, times: Vec::new(), levels: Vec::new(), states: STATES_MAX, overflowed: false }
    }

    /// Whether there were more edges than [`EDGES_MAX`]; the later ones are lost.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// The device declares this number of states.
    pub(super) fn declare(&mut self, states: usize) {
        debug_assert!(self.levels.is_empty());
        self.states = states;
    }

    /// Clears all edges and begins anew.
    pub(super) fn restart(&mut self, now: Nanos, count: &PerState<u32>) {
        self.times.clear();
        self.levels.clear();
        if now < self.until_ns {
            self.push(now.max(self.from_ns), count);
        }
    }

    fn push(&mut self, at: Nanos, count: &PerState<u32>) {
        self.times.push(at);
        self.levels.extend_from_slice(&count[..self.states]);
    }

    /// A state has changed at this instant.
    pub(super) fn note(&mut self, now: Nanos, count: &PerState<u32>) {
        let (at, edges) = (now.max(self.from_ns), self.times.len());
        match self.times.last() {
            Some(last) if *last == at => {
                let level = self.levels.len() - self.states;
                self.levels[level..].copy_from_slice(&count[..self.states]);
            }
            Some(_) if now < self.until_ns && edges < EDGES_MAX => self.push(at, count),
            Some(_) if now < self.until_ns => self.overflowed = true,
            _ => {}
        }
    }

    /// Ends the recording at `now`.
    pub(super) fn finish(&mut self, now: Nanos) {
        self.until_ns = self.until_ns.min(now);
        self.times.truncate(self.times.partition_point(|at| *at < now));
        self.levels.truncate(self.times.len() * self.states);
    }

    /// Prices a finished recording.
    pub fn price(&self, parts: &Parts) -> CurrentEdges {
        let start = self.times.first().copied().unwrap_or(self.until_ns);
        let mut edges = CurrentEdges {
            from_ns: start,
            until_ns: self.until_ns,
            current_ma: parts.columns(),
            ..CurrentEdges::default()
        };
        let mut last = None;
        for (place, at) in self.times.iter().enumerate() {
            let level = &self.levels[place * self.states..][..self.states];
            let row = parts.drawn(level.iter().copied().map(u64::from));
            if last.as_ref() != Some(&row) {
                edges.time_ns.push(*at);
                edges.total_ma.push(parts.ma(row.iter().sum()));
                edges.current_ma.push(&row, |nw| parts.ma(nw));
            }
            last = Some(row);
        }
        edges
    }
}
