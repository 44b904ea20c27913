//! Recordings of power over time: mean power in bins, and every edge of the current in a window.

use super::bins::Bins;
use super::edges::Edges;
use super::parts::{PerState, StateId};
use flashwatt_base::units::Nanos;

/// A recording.
#[derive(Clone)]
pub struct Series {
    /// Number of parts in each state.
    count: PerState<u32>,
    /// Mean power in bins.
    pub bins: Option<Bins>,
    /// Every edge of the current in a window.
    pub edges: Option<Edges>,
    /// Of an array of drives: the recordings of its members, instead of its own.
    pub members: Vec<Series>,
}

/// The receiver of all changes of state: a recorded series, or nothing. Without a series the receiver has a type of its
/// own, so that no run-time test is needed at each change.
pub trait Recorder {
    /// The receiver for this series, if one is to be recorded.
    fn new(series: Option<Box<Series>>) -> Self;

    /// The series that is being recorded.
    fn series(&mut self) -> Option<&mut Series>;

    /// Ends the recording and returns the series so far.
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
        Series { count: PerState::default(), bins, edges, members: Vec::new() }
    }

    /// The recordings of the members of an array; none if they recorded nothing.
    pub fn of_members(members: Vec<Series>) -> Option<Box<Series>> {
        (!members.is_empty()).then(|| Box::new(Series { members, ..Series::new(None, None) }))
    }

    /// Whether a recording exceeded its storage.
    pub fn overflowed(&self) -> bool {
        let own =
            self.bins.as_ref().is_some_and(Bins::overflowed) || self.edges.as_ref().is_some_and(Edges::overflowed);
        own || self.members.iter().any(Series::overflowed)
    }

    /// The device declares this number of states: memory is needed for these alone.
    pub(super) fn declare(&mut self, states: usize) {
        self.bins.iter_mut().for_each(|bins| bins.declare(states));
        self.edges.iter_mut().for_each(|edges| edges.declare(states));
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

    /// Notes the `ns` that a part still has to spend in a state when the recording ends. The ledger has booked them.
    pub(super) fn owes(&mut self, state: StateId, ns: Nanos) {
        self.bins.iter_mut().for_each(|bins| bins.owe(state, ns));
    }

    /// Clears the recording and begins anew.
    pub(super) fn restart(&mut self, now: Nanos) {
        self.bins.iter_mut().for_each(|bins| bins.restart(now, &self.count));
        self.edges.iter_mut().for_each(|edges| edges.restart(now, &self.count));
    }

    /// Advances to `now`. Changes at `now` must follow.
    pub(super) fn advance(&mut self, now: Nanos) {
        self.bins.iter_mut().for_each(|bins| bins.advance(now, &self.count));
    }

    /// Ends the recording at `now`.
    pub(super) fn finish(&mut self, now: Nanos) {
        self.bins.iter_mut().for_each(|bins| bins.finish(now, &self.count));
        self.edges.iter_mut().for_each(|edges| edges.finish(now));
    }
}
