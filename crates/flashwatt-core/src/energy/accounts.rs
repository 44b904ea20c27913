//! Energy accounts of a device that declares its [`Parts`]: time by state, and the meter. The two give the total by
//! independent paths.

use std::hint::cold_path;

use super::meter::{Meter, SERVERS};
use super::parts::{ComponentEnergies, PartTimes, Parts, StateId};
use super::series::Series;
use super::window::{AtEnd, Window};
use flashwatt_base::units::Nanos;

/// Energy accounts of a device.
pub struct Accounts {
    parts: Parts,
    meter: Meter<Option<Box<Series>>>,
    /// Number of parts in each state.
    counts: PartTimes,
    /// Part-nanoseconds in each state: for each part that left a state the time at which it did, less the time at which each
    /// part entered it, modulo 2^64. With `counts` times the present time it is the sum since the window began.
    times: PartTimes,
    /// Changes that are known ahead, in the order of their times, behind those that are made. A new one is nearly always the last.
    ahead: Vec<Change>,
    /// How many of them are made.
    made: usize,
    /// Time of the first one that is not; the end of time if there is none.
    next_at: Nanos,
    now: Nanos,
    window_start: Nanos,
}

/// Changes that are made and still listed, at most, while others lie ahead.
const MADE_MAX: usize = 64;

/// A change of a part's state at a time after the present.
#[derive(Clone, Copy)]
struct Change {
    at: Nanos,
    from: StateId,
    to: StateId,
}

impl Accounts {
    /// Accounts of a device at time 0, with its parts in these states.
    pub fn new(parts: Parts, at_start: &[(StateId, u32)], series: Option<Box<Series>>) -> Self {
        let mut meter = Meter::new(&parts, [StateId::NONE; SERVERS], series);
        let mut counts = PartTimes::default();
        for &(state, count) in at_start {
            (0..count).for_each(|_| meter.change(StateId::NONE, state));
            counts.add(state, count.into());
        }
        Accounts {
            parts,
            meter,
            counts,
            times: PartTimes::default(),
            ahead: Vec::new(),
            made: 0,
            next_at: Nanos::MAX,
            now: 0,
            window_start: 0,
        }
    }

    /// Books the time up to `now`, with every part in its state and with the changes ahead until then.
    #[inline]
    pub fn pass_time(&mut self, now: Nanos) {
        if self.next_at <= now {
            self.make_changes(now);
        }
        self.pass_to(now);
    }

    /// Makes the changes ahead up to `now`.
    fn make_changes(&mut self, now: Nanos) {
        while let Some(&Change { at, from, to }) = self.ahead.get(self.made).filter(|change| change.at <= now) {
            self.made += 1;
            self.pass_to(at);
            self.change(from, to);
        }
        match self.ahead.get(self.made) {
            None => self.forget_ahead(),
            Some(next) => {
                self.next_at = next.at;
                if self.made > MADE_MAX {
                    self.ahead.drain(..std::mem::take(&mut self.made));
                }
            }
        }
    }

    /// Books the time up to `now`. Without a recording over time the meter advances when the power changes, and not before.
    #[inline]
    fn pass_to(&mut self, now: Nanos) {
        self.now = now;
        if self.meter.records() {
            cold_path();
            self.meter.advance_constant(now);
        }
    }

    /// A part changes its state at the present time.
    #[inline(always)] // most callers know the states: half of the work is done when they are compiled
    pub fn change(&mut self, from: StateId, to: StateId) {
        self.counts.take(from, 1);
        self.counts.add(to, 1);
        self.times.add(from, self.now);
        self.times.take(to, self.now);
        self.meter.advance_constant(self.now);
        self.meter.change(from, to);
    }

    /// A part will change its state at a time; at the present time, if that is over.
    #[inline]
    pub fn change_at(&mut self, at: Nanos, from: StateId, to: StateId) {
        if at <= self.now {
            return self.change(from, to);
        }
        let change = Change { at, from, to };
        self.next_at = self.next_at.min(at);
        if self.ahead.last().is_none_or(|last| last.at <= at) {
            return self.ahead.push(change);
        }
        cold_path();
        self.ahead.drain(..std::mem::take(&mut self.made));
        let place = self.ahead.partition_point(|other| other.at <= at);
        self.ahead.insert(place, change);
    }

    /// Takes back all changes ahead.
    pub fn forget_ahead(&mut self) {
        self.ahead.clear();
        self.made = 0;
        self.next_at = Nanos::MAX;
    }

    /// Ends the window, up to whose end time is booked, and begins the next one.
    pub fn end_window(&mut self, meter: AtEnd) -> (Window<PartTimes>, Option<Box<Series>>) {
        let reads_on = meter == AtEnd::ReadOn;
        self.meter.advance_constant(self.now);
        let reading = (!reads_on).then(|| self.meter.read(self.now));
        let series = if meter == AtEnd::Deliver { self.meter.take_series() } else { None };
        if !reads_on {
            self.meter.restart(self.now);
        }
        let start_ns = std::mem::replace(&mut self.window_start, self.now);
        let mut figures = std::mem::take(&mut self.times);
        figures.add_over(&self.counts, self.now);
        self.times.take_over(&self.counts, self.now);
        (Window { start_ns, end_ns: self.now, reading, figures }, series)
    }

    /// The declaration.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Energy in J of a window, by component.
    pub fn energies(&self, times: &PartTimes) -> ComponentEnergies {
        self.parts.energies(times)
    }

    /// Energy in J since the window began, and the power in W now.
    pub fn so_far(&self) -> (f64, f64) {
        self.meter.so_far_constant(self.now)
    }

    /// Energy in J since the window began, by component.
    pub fn energies_so_far(&self) -> ComponentEnergies {
        let mut times = self.times.clone();
        times.add_over(&self.counts, self.now);
        self.energies(&times)
    }

    /// Whether a recording over time exceeded its storage.
    pub fn series_overflowed(&mut self) -> bool {
        self.meter.series_overflowed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::energy::Draw;
    use crate::energy::parts::PowerShare;

    const STATES: usize = 3;

    fn accounts() -> Accounts {
        let mut parts = Parts::new(&["all"], 5_000);
        for nw in [1_000_000, 30_000_000, 7_000_000] {
            parts.state(&[PowerShare { component: 0, draw: Draw { nw } }]);
        }
        Accounts::new(parts, &[(StateId::new(0), 2)], None)
    }

    proptest! {
        /// The meter reads the same, peak and greatest means too, whether time passes from change to change or in many steps.
        #[test]
        fn steps_in_time_change_no_reading(changes in prop::collection::vec((1u64..3_000_000, 0..STATES, 0u64..400_000), 1..30), step in 1u64..90_000) {
            let readings = [u64::MAX, step].map(|step| {
                let (mut accounts, mut now, mut state) = (accounts(), 0, 0);
                for &(after, to, later) in &changes {
                    for at in (now..now + after).step_by(step as usize) {
                        accounts.pass_time(at);
                    }
                    now += after;
                    accounts.pass_time(now);
                    accounts.change_at(now + later, StateId::new(state), StateId::new(to));
                    state = to;
                    now += later;
                }
                accounts.pass_time(now);
                accounts.end_window(AtEnd::Restart).0.reading
            });
            prop_assert_eq!(&readings[0], &readings[1]);
        }

        /// Two parts change their states now and then, some of the changes known ahead; windows end at any time. Each part's
        /// time in each state is found again by a walk from change to change.
        #[test]
        fn times_are_those_of_a_walk(steps in prop::collection::vec((1u64..400_000, 0..2usize, 0..STATES, 0u64..300_000, any::<bool>()), 1..40)) {
            let (mut accounts, mut now) = (accounts(), 0);
            let mut states = [0, 0];
            let mut changes: Vec<(Nanos, usize, usize)> = Vec::new();
            let (mut start, mut at_start) = (0, [0, 0]);
            for (after, part, to, later, ends) in steps {
                now = changes.iter().map(|change| change.0).max().unwrap_or(0).max(now) + after;
                accounts.pass_time(now);
                accounts.change_at(now + later, StateId::new(states[part]), StateId::new(to));
                changes.push((now + later, part, to));
                states[part] = to;
                if ends {
                    let end = now + later / 2;
                    accounts.pass_time(end);
                    let (so_far_j, _) = accounts.so_far();
                    let (window, _) = accounts.end_window(AtEnd::Restart);
                    let mut expected = [0u64; STATES];
                    let (mut at, mut held) = (start, at_start);
                    let within = changes.iter().filter(|change| change.0 <= end);
                    for &(time, part, to) in within.chain([&(end, 0, usize::MAX)]) {
                        held.iter().for_each(|&state| expected[state] += time - at);
                        at = time;
                        if to != usize::MAX {
                            held[part] = to;
                        }
                    }
                    changes.retain(|change| change.0 > end);
                    (start, at_start) = (end, held);
                    let found: [u64; STATES] = std::array::from_fn(|state| window.figures.ns(StateId::new(state)));
                    prop_assert_eq!(found, expected);
                    let joules = window.reading.expect("it was read").energy_j;
                    prop_assert!((joules - accounts.energies(&window.figures).total).abs() <= 1e-9 * joules);
                    prop_assert!((joules - so_far_j).abs() <= 1e-12 * joules);
                    now = end;
                }
            }
        }
    }
}
