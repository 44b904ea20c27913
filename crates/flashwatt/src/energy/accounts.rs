//! Energy accounts of a device that declares its [`Parts`]: time by state, and the meter. The two give the total by
//! independent paths.

use super::meter::{Meter, SERVERS};
use super::parts::{ComponentEnergies, PartTimes, Parts, StateId};
use super::series::Series;
use super::window::{AtEnd, Window};
use crate::units::Nanos;

/// Energy accounts of a device.
pub struct Accounts {
    parts: Parts,
    meter: Meter<Option<Box<Series>>>,
    /// Number of parts in each state.
    counts: PartTimes,
    /// Part-nanoseconds in each state since the window began.
    times: PartTimes,
    now: Nanos,
    window_start: Nanos,
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
        Accounts { parts, meter, counts, times: PartTimes::default(), now: 0, window_start: 0 }
    }

    /// Books the time up to `now`, with every part in its state.
    pub fn pass_time(&mut self, now: Nanos) {
        self.times.add_over(&self.counts, now - self.now);
        self.meter.advance(now);
        self.now = now;
    }

    /// A part changes its state at the present time.
    pub fn change(&mut self, from: StateId, to: StateId) {
        self.counts.take(from, 1);
        self.counts.add(to, 1);
        self.meter.change(from, to);
    }

    /// Ends the window, up to whose end time is booked, and begins the next one.
    pub fn end_window(&mut self, meter: AtEnd) -> (Window<PartTimes>, Option<Box<Series>>) {
        let reads_on = meter == AtEnd::ReadOn;
        let reading = (!reads_on).then(|| self.meter.read(self.now));
        let series = if meter == AtEnd::Deliver { self.meter.take_series() } else { None };
        if !reads_on {
            self.meter.restart(self.now);
        }
        let start_ns = std::mem::replace(&mut self.window_start, self.now);
        (Window { start_ns, end_ns: self.now, reading, figures: std::mem::take(&mut self.times) }, series)
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
        self.meter.so_far()
    }

    /// Whether a recording over time exceeded its storage.
    pub fn series_overflowed(&mut self) -> bool {
        self.meter.series_overflowed()
    }
}
