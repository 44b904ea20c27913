//! What of the drive's draw is recorded over time, if anything is: mean power in bins, and every edge of the current in a
//! window.

use super::bins::Bins;
use super::edges::Edges;
use super::ledger::Phase;
use super::states::{PerState, STATES, of_part, of_phase};
use super::table::DieState;
use crate::units::Nanos;

/// A recording.
pub struct Series {
    /// How many parts are in each state.
    count: PerState<u32>,
    /// Mean power over time …
    pub bins: Option<Bins>,
    /// … and every edge in a window.
    pub edges: Option<Edges>,
}

/// What the meter tells of every change of state: a series, if one is recorded, or nobody. The latter is a type of its own,
/// so that a run without a series does not ask at each change whether there is one.
pub trait Recorder {
    /// With the series that is to be recorded, if one is.
    fn new(series: Option<Box<Series>>) -> Self;

    /// The series that is being recorded.
    fn series(&mut self) -> Option<&mut Series>;

    /// The series so far; none is recorded from now on.
    fn take(&mut self) -> Option<Box<Series>>;
}

impl Recorder for Option<Box<Series>> {
    fn new(series: Option<Box<Series>>) -> Self {
        series
    }

    #[inline(always)]
    fn series(&mut self) -> Option<&mut Series> {
        self.as_deref_mut()
    }

    fn take(&mut self) -> Option<Box<Series>> {
        self.take()
    }
}

/// Records nothing.
impl Recorder for () {
    fn new(series: Option<Box<Series>>) -> Self {
        assert!(series.is_none(), "this run's probe has no place for a series; `probe::Recording` has");
    }

    #[inline(always)]
    fn series(&mut self) -> Option<&mut Series> {
        None
    }

    fn take(&mut self) -> Option<Box<Series>> {
        None
    }
}

impl Series {
    /// A recording of a drive on which everything is quiet; it begins with [`Self::restart`].
    pub fn new(bins: Option<Bins>, edges: Option<Edges>) -> Self {
        let mut count = [0; STATES];
        count[of_phase(Phase::Quiet)] = 1;
        Series { count, bins, edges }
    }

    /// Was there more to be recorded than can be stored?
    pub fn overflowed(&self) -> bool {
        self.bins.as_ref().is_some_and(Bins::overflowed) || self.edges.as_ref().is_some_and(Edges::overflowed)
    }

    #[inline(always)]
    pub(super) fn die(&mut self, now: Nanos, from: DieState, to: DieState) {
        self.change(now, Some(from as usize), Some(to as usize));
    }

    pub(super) fn phase(&mut self, now: Nanos, from: Phase, to: Phase) {
        self.change(now, Some(of_phase(from)), Some(of_phase(to)));
    }

    /// DRAM or the host interface begins or stops to work.
    pub(super) fn part(&mut self, now: Nanos, part: usize, works: bool) {
        let state = Some(of_part(part));
        if works { self.change(now, None, state) } else { self.change(now, state, None) }
    }

    /// One part leaves a state, or enters one, or both.
    #[inline(always)]
    fn change(&mut self, now: Nanos, from: Option<usize>, to: Option<usize>) {
        if let Some(from) = from {
            self.count[from] = self.count[from].wrapping_sub(1);
        }
        if let Some(to) = to {
            self.count[to] = self.count[to].wrapping_add(1);
        }
        if let Some(bins) = &mut self.bins {
            from.into_iter().for_each(|state| bins.leave(now, state));
            to.into_iter().for_each(|state| bins.enter(now, state));
        }
        if let Some(edges) = &mut self.edges {
            edges.note(now, &self.count);
        }
    }

    /// At the end of what is recorded a part still owes so much time that the ledger has booked.
    pub(super) fn owes(&mut self, now: Nanos, part: usize, ns: Nanos) {
        self.bins.iter_mut().for_each(|bins| bins.owe(now, of_part(part), ns));
    }

    /// Forgets everything and begins anew.
    pub(super) fn restart(&mut self, now: Nanos) {
        self.bins.iter_mut().for_each(|bins| bins.restart(now, &self.count));
        self.edges.iter_mut().for_each(|edges| edges.restart(now, &self.count));
    }

    /// When it has to be told that time has passed.
    pub(super) fn boundary(&self) -> Nanos {
        self.bins.as_ref().map_or(Nanos::MAX, Bins::end_ns)
    }

    /// Time has passed up to `now`.
    pub(super) fn advance(&mut self, now: Nanos) {
        self.bins.iter_mut().for_each(|bins| bins.advance(now, &self.count));
    }

    /// Nothing is recorded after `now`.
    pub(super) fn finish(&mut self, now: Nanos) {
        self.bins.iter_mut().for_each(|bins| bins.finish(now, &self.count));
        self.edges.iter_mut().for_each(|edges| edges.finish(now));
    }
}
