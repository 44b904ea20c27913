//! Power over time in bins of equal length, by component.
//!
//! A bin holds the time integral of the number of parts in each state. A part that enters a state at time t is booked
//! for the whole rest of the bin, and subtracted again when it leaves. So a change costs two sums for any number of
//! states, and the time between changes costs nothing.

use std::any::Any;

use serde::Serialize;

use super::device_rows::DeviceRows;
use super::parts::{Columns, ComponentEnergies, PartTimes, Parts, PerState, STATES_MAX, StateId};
use flashwatt_base::mem;
use flashwatt_base::units::Nanos;

/// The largest number of bins that are stored.
pub const BINS_MAX: u64 = 10_000_000;

/// Components of a device: an estimate, for the memory that bins take when they are priced.
const COMPONENTS: usize = 10;
/// Bytes of a number's text: an estimate, for the memory that bins take when they are written.
pub const NUMBER_BYTES: usize = 24;

/// Bins being filled.
#[derive(Clone)]
pub struct Bins {
    interval_ns: Nanos,
    start_ns: Nanos,
    /// End of the open bin; the maximum time before [`Self::restart`], and when the store is full.
    end_ns: Nanos,
    /// Part-nanoseconds in the open bin if no state changes before it ends. Sums count modulo 2^64.
    open: PerState<u64>,
    /// As `open` of the bins that have ended, one after the other: of each bin, the states that the device declares.
    closed: Vec<u64>,
    /// Number of states that the device declares.
    states: usize,
    /// Work that parts had left at the end of the recording, in part-nanoseconds.
    owed: PartTimes,
    /// Automatic interval: adjacent bins are merged once there are this many.
    merge_at: Option<usize>,
    /// Whether there was no memory for a bin.
    is_full: bool,
    /// What the device records beside its power.
    rows: Option<Box<dyn DeviceRows>>,
}

/// Bins with their power. `A` is what the device did in each bin, beside its power.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PowerSeries<A = ()> {
    /// Length of a bin in ns.
    pub interval_ns: Nanos,
    /// Simulated time in ns at which the first bin begins.
    pub start_ns: Nanos,
    /// Mean power in W in each bin, by component.
    pub power_w: Columns,
    /// Energy in J of work that servers (DRAM and host interface of an SSD) were given before the end of the last bin and do after
    /// it, by component. Neither the totals nor the bins hold it.
    pub owed_j: ComponentEnergies,
    /// What the device did in each bin; none of a disk and of an array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activity: Option<A>,
}

impl PowerSeries {
    /// The same, with what the device did in each bin.
    pub fn with<A>(self, activity: Option<A>) -> PowerSeries<A> {
        let PowerSeries { interval_ns, start_ns, power_w, owed_j, activity: _ } = self;
        PowerSeries { interval_ns, start_ns, power_w, owed_j, activity }
    }
}

impl<A> PowerSeries<A> {
    /// The recordings of the members of an array as one, with a component for each member. All members' times pass together, so
    /// their bins are the same.
    pub fn of_members(members: Vec<(&'static str, Self)>) -> Option<Self> {
        let (_, first) = members.first()?;
        let (interval_ns, start_ns) = (first.interval_ns, first.start_ns);
        let owed = members.iter().map(|(name, series)| (*name, series.owed_j.total)).collect::<Vec<_>>();
        let columns = members.iter().map(|(name, series)| (*name, series.power_w.sums().collect())).collect();
        let owed_j = ComponentEnergies { total: owed.iter().map(|(_, joules)| joules).sum(), components: owed };
        Some(PowerSeries { interval_ns, start_ns, power_w: Columns::of(columns), owed_j, activity: None })
    }

    /// The highest power in W of a bin; 0 without bins.
    pub fn highest_w(&self) -> f64 {
        self.power_w.sums().fold(0.0, f64::max)
    }
}

impl Bins {
    /// Bins of `interval_ns` > 0. With `merge_at` this is the first length: adjacent bins are merged whenever there are
    /// that many, so a run of any length ends with `merge_at`/2 to `merge_at` bins.
    pub fn new(interval_ns: Nanos, merge_at: Option<usize>) -> Self {
        let (open, closed, owed) = (PerState::default(), Vec::new(), PartTimes::default());
        let (start_ns, end_ns, is_full, rows) = (0, Nanos::MAX, false, None);
        let states = STATES_MAX;
        Bins { interval_ns, start_ns, end_ns, open, closed, states, owed, merge_at, is_full, rows }
    }

    /// The device declares this number of states.
    pub(super) fn declare(&mut self, states: usize) {
        debug_assert!(self.closed.is_empty());
        self.states = states.max(1);
    }

    /// Number of bins that have ended.
    fn ended(&self) -> usize {
        self.closed.len() / self.states
    }

    /// Length of a bin.
    pub fn interval_ns(&self) -> Nanos {
        self.interval_ns
    }

    /// Whether there were more bins than [`BINS_MAX`], or than there is memory for; the later ones are lost.
    pub fn overflowed(&self) -> bool {
        self.is_full || self.ended() as u64 > BINS_MAX
    }

    /// A part enters a state.
    #[inline(always)]
    pub(super) fn enter(&mut self, now: Nanos, state: StateId) {
        let sum = &mut self.open[state.number()];
        *sum = sum.wrapping_add(self.end_ns - now);
    }

    /// A part leaves a state.
    #[inline(always)]
    pub(super) fn leave(&mut self, now: Nanos, state: StateId) {
        let sum = &mut self.open[state.number()];
        *sum = sum.wrapping_sub(self.end_ns - now);
    }

    /// Clears all bins and begins anew.
    pub(super) fn restart(&mut self, now: Nanos, count: &PerState<u32>) {
        (self.start_ns, self.owed) = (now, PartTimes::default());
        self.closed.clear();
        self.rows.iter_mut().for_each(|rows| rows.restart(now));
        self.open(now, PerState::default(), count);
    }

    /// Whether a bin ends by `now`.
    #[inline(always)]
    pub(super) fn ends_by(&self, now: Nanos) -> bool {
        self.end_ns <= now
    }

    /// Advances to `now`: closes all bins that have ended.
    pub(super) fn advance(&mut self, now: Nanos, count: &PerState<u32>) {
        while self.end_ns <= now {
            if self.closed.capacity() - self.closed.len() < self.states && !self.grow() {
                (self.is_full, self.end_ns) = (true, Nanos::MAX);
                return;
            }
            self.closed.extend_from_slice(&self.open[..self.states]);
            self.rows.iter_mut().for_each(|rows| rows.close(self.end_ns));
            let carried = if self.merge_at.is_some_and(|at| self.ended() >= at) { self.merge() } else { None };
            if self.overflowed() {
                self.end_ns = Nanos::MAX;
                return;
            }
            self.open(self.end_ns, carried.unwrap_or_default(), count);
        }
    }

    /// Makes room for twice the bins, if there is memory for them, for what they are priced to, and for its text.
    #[cold]
    fn grow(&mut self) -> bool {
        let (bins, more) = (self.ended(), self.ended().max(1024));
        let each = 2 * self.states * size_of::<u64>() + COMPONENTS * (size_of::<f64>() + NUMBER_BYTES);
        let has_room = |rows: &mut Box<dyn DeviceRows>| rows.grow(bins, more);
        mem::is_there(((bins + more) * each) as u64)
            && self.closed.try_reserve_exact(more * self.states).is_ok()
            && self.rows.as_mut().is_none_or(has_room)
    }

    /// The number of bins, if there was no memory for more.
    pub fn full_at(&self) -> Option<usize> {
        self.is_full.then_some(self.ended())
    }

    /// Opens a bin, booked for its whole length with the states at `now`.
    fn open(&mut self, now: Nanos, held: PerState<u64>, count: &PerState<u32>) {
        let bins = self.ended() as u64 + 1;
        self.end_ns = self.start_ns.saturating_add(bins.saturating_mul(self.interval_ns));
        self.open = held;
        for (sum, &count) in self.open.iter_mut().zip(count) {
            *sum = sum.wrapping_add(u64::from(count).wrapping_mul(self.end_ns - now));
        }
    }

    /// Merges pairs of bins. An unpaired last bin goes into the bin that is opened next.
    fn merge(&mut self) -> Option<PerState<u64>> {
        self.interval_ns *= 2;
        let (states, pairs) = (self.states, self.ended() / 2);
        let carried = (self.ended() % 2 == 1).then(|| {
            let mut last = PerState::default();
            last[..states].copy_from_slice(&self.closed[2 * pairs * states..]);
            last
        });
        for (pair, state) in (0..pairs).flat_map(|pair| (0..states).map(move |state| (pair, state))) {
            let first = 2 * pair * states + state;
            self.closed[pair * states + state] = self.closed[first].wrapping_add(self.closed[first + states]);
        }
        self.closed.truncate(pairs * states);
        self.rows.iter_mut().for_each(|rows| rows.merge());
        carried
    }

    /// Notes the `ns` that a part still has to spend in a state when the recording ends.
    pub(super) fn owe(&mut self, state: StateId, ns: Nanos) {
        self.owed.add(state, ns);
    }

    /// Closes the last bin, which may be shorter.
    pub(super) fn finish(&mut self, now: Nanos, count: &PerState<u32>) {
        for (sum, &count) in self.open.iter_mut().zip(count) {
            *sum = sum.wrapping_sub(u64::from(count).wrapping_mul(self.end_ns - now));
        }
        self.end_ns = now;
        let in_a_new_bin = now > self.open_start();
        self.rows.iter_mut().for_each(|rows| rows.finish(now, in_a_new_bin));
    }

    fn open_start(&self) -> Nanos {
        self.start_ns + self.ended() as u64 * self.interval_ns
    }

    /// Of a finished recording, the length of the last bin if it is shorter than the others; else 0.
    pub fn last_ns(&self) -> Nanos {
        self.end_ns.saturating_sub(self.open_start())
    }

    /// Records the device's own rows beside its power.
    pub fn record(&mut self, rows: Box<dyn DeviceRows>) {
        self.rows = Some(rows);
    }

    /// The device's own rows of this type, if they are recorded.
    pub fn rows<T: DeviceRows>(&self) -> Option<&T> {
        let rows: &dyn Any = self.rows.as_deref()?;
        rows.downcast_ref()
    }

    /// As [`Self::rows`].
    #[inline(always)]
    pub(super) fn rows_mut<T: DeviceRows>(&mut self) -> Option<&mut T> {
        let rows: &mut dyn Any = self.rows.as_deref_mut()?;
        rows.downcast_mut()
    }

    /// Prices a finished recording. The last bin may be shorter; its power is the mean over its own length.
    pub fn price(&self, parts: &Parts) -> PowerSeries {
        let mut power_w = parts.columns();
        let last_ns = self.last_ns();
        let lengths = self.closed.chunks_exact(self.states).map(|bin| (bin, self.interval_ns));
        for (bin, ns) in lengths.chain((last_ns > 0).then_some((&self.open[..], last_ns))) {
            power_w.push(&parts.drawn(bin.iter().copied()), |nw_ns| nw_ns as f64 * 1e-9 / ns as f64);
        }
        let owed_j = parts.energies(&self.owed);
        PowerSeries { interval_ns: self.interval_ns, start_ns: self.start_ns, power_w, owed_j, activity: None }
    }
}
