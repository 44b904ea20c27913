//! What of the drive's draw is recorded over time, if anything is: mean power in bins, and every edge of the current in a
//! window.

use super::bins::Bins;
use super::edges::Edges;
use super::parts::{PerState, StateId};
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
    /// A recording of a device without parts; it begins with [`Self::restart`].
    pub fn new(bins: Option<Bins>, edges: Option<Edges>) -> Self {
        Series { count: PerState::default(), bins, edges }
    }

    /// Was there more to be recorded than can be stored?
    pub fn overflowed(&self) -> bool {
        self.bins.as_ref().is_some_and(Bins::overflowed) || self.edges.as_ref().is_some_and(Edges::overflowed)
    }

    /// A part goes from one state to another.
    #[inline(always)]
    pub(super) fn change(&mut self, now: Nanos, from: StateId, to: StateId) {
        let (left, entered) = (from.number(), to.number());
        self.count[left] = self.count[left].wrapping_sub(1);
        self.count[entered] = self.count[entered].wrapping_add(1);
        if let Some(bins) = &mut self.bins {
            bins.leave(now, from);
            bins.enter(now, to);
        }
        if let Some(edges) = &mut self.edges {
            edges.note(now, &self.count);
        }
    }

    /// At the end of what is recorded a part owes `ns` in a state, which the ledger has booked.
    pub(super) fn owes(&mut self, now: Nanos, state: StateId, ns: Nanos) {
        self.bins.iter_mut().for_each(|bins| bins.owe(now, state, ns));
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
