//! A device's power as its parts change their states.
//!
//! Every change of state is an edge in time. The meter integrates power over time, which is a second path to the total
//! energy. It also finds the figures that depend on overlaps: the peak, the time at the peak, the worst window.
//! Power is right-continuous: all edges of one instant are applied before the new level counts, so that a peak has
//! positive length.
//!
//! Energy is linear in the changes and needs no order of them ([`Changes`]). The peak needs the order, but only while
//! the power can reach it. The sum of all changes so far is an upper bound of the power, once it is corrected for falls
//! that are still ahead and for working servers. While this bound is below the peak so far, the meter looks at no edge.
//! From the instant at which the bound reaches the peak, the meter *watches*: it applies the edges one by one. It stops
//! when the bound is below the peak at the end of a stretch of [`WINDOWS_NS`]. A meter with a series always watches.

use std::cmp::Ordering;
use std::hint::cold_path;

use super::changes::{Ahead, Changes};
use super::device_rows::DeviceRows;
use super::draw::Draw;
use super::mean_window::MeanWindow;
use super::parts::{NUMBERS, Parts, StateId};
use super::series::{Recorder, Series};
use flashwatt_base::units::Nanos;

/// Lengths of the windows whose greatest mean power is reported.
pub const WINDOWS_NS: [Nanos; 2] = [100_000, 1_000_000_000];

/// Number of the parts of a device that do one job after the other.
pub const SERVERS: usize = 2;

/// The meter of a device.
#[derive(Clone)]
pub struct Meter<R: Recorder> {
    /// Increase of power in nW by the numbers of the states before and after a change. The difference of two loads
    /// from a table of powers would take 0.4 % more instructions of a read than one load from this table.
    /// Boxed, since a device is moved about while it is set up, on stacks that may be small.
    increase: Box<[[i64; NUMBERS]; NUMBERS]>,
    /// Time up to which power is integrated.
    now: Nanos,
    changes: Changes,
    /// The power may reach the peak only while `changes.level` is at least this. Far below 0 while the meter watches.
    alarm: i64,
    watches: bool,
    /// The earliest end of a stretch of [`WINDOWS_NS`].
    boundary: Nanos,
    windows: [MeanWindow; 2],
    /// ∫ power dt from the start of the run's window to the last boundary, in nW·ns = 10⁻¹⁸ J.
    energy: u128,
    /// In nW.
    peak: i64,
    at_peak_ns: u64,
    /// The working states of the servers.
    working: [StateId; SERVERS],
    recorder: R,
}

/// A time after which constant power is not integrated stretch by stretch: from a few of the shorter stretches on, all of them
/// together cost less. Power below 100 W over 100 ms fits a word.
const FAR_NS: Nanos = 400_000;

/// Every power reaches this alarm, also after some corrections of it.
const ALWAYS: i64 = i64::MIN / 2;

/// The meter's reading for a window of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// ∫ power dt in J.
    pub energy_j: f64,
    /// Energy that servers spend after the window, for work given to them until its end. It is no part of `energy_j`.
    pub owed_j: f64,
    /// Highest power; none of several meters read as one, whose changes are in no common order.
    pub peak: Option<Draw>,
    /// Time at the highest power in ns; none without that.
    pub at_peak_ns: Option<u64>,
    /// Greatest mean power in W over each of [`WINDOWS_NS`], for stretches laid end to end; none if the window was
    /// shorter.
    pub window_w: [Option<f64>; 2],
}

/// Of a window without time.
impl Default for Reading {
    fn default() -> Self {
        Reading {
            energy_j: 0.0,
            owed_j: 0.0,
            peak: Some(Draw::default()),
            at_peak_ns: Some(0),
            window_w: [None; WINDOWS_NS.len()],
        }
    }
}

impl Reading {
    /// The reading of this window and of the next one together. Windows of [`WINDOWS_NS`] begin anew between them.
    #[must_use]
    pub(super) fn plus(&self, next: &Reading) -> Reading {
        let (at_this, at_next) = (self.at_peak_ns.unwrap_or_default(), next.at_peak_ns.unwrap_or_default());
        let peaks = self.peak.zip(next.peak);
        Reading {
            energy_j: self.energy_j + next.energy_j,
            owed_j: next.owed_j,
            peak: peaks.map(|(this, next)| if this.nw < next.nw { next } else { this }),
            at_peak_ns: peaks.map(|(this, next)| match this.nw.cmp(&next.nw) {
                Ordering::Less => at_next,
                Ordering::Equal => at_this + at_next,
                Ordering::Greater => at_this,
            }),
            window_w: std::array::from_fn(|n| match (self.window_w[n], next.window_w[n]) {
                (Some(this), Some(next)) => Some(this.max(next)),
                (this, next) => this.or(next),
            }),
        }
    }

    /// Highest power in W; none of several meters read as one.
    pub fn peak_w(&self) -> Option<f64> {
        self.peak.map(|peak| peak.nw as f64 * 1e-9)
    }
}

impl<R: Recorder> Meter<R> {
    /// A meter of a device at time 0, with no part in any state. `servers` are the working states of the parts that do
    /// one job after the other. Such a part is in no state while it has no work.
    pub fn new(parts: &Parts, servers: [StateId; SERVERS], series: Option<Box<Series>>) -> Self {
        let series = series.map(|mut series| {
            series.declare(parts.states());
            series
        });
        let nw = parts.draws().map(|draw| draw.nw);
        Meter {
            increase: Box::new(nw.map(|from| nw.map(|to| to - from))),
            now: 0,
            changes: Changes::new(servers.map(|state| parts.draw(state).nw)),
            alarm: ALWAYS,
            watches: true,
            boundary: WINDOWS_NS[0],
            windows: WINDOWS_NS.map(|len| MeanWindow::new(len, 0)),
            energy: 0,
            peak: 0,
            at_peak_ns: 0,
            working: servers,
            recorder: R::new(series),
        }
    }

    /// Time up to which the power is integrated, in ns.
    #[inline(always)]
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Integrates up to `now`, with the changes ahead until then. Other changes at `now` must follow this call.
    #[inline(always)]
    pub fn advance(&mut self, now: Nanos) {
        debug_assert!(now >= self.now, "time runs backwards");
        if self.changes.level >= self.alarm || now >= self.boundary {
            cold_path();
            self.advance_by_edges(now);
        }
        self.now = now;
    }

    /// As [`Self::advance`], for a device that declares no servers and knows no change ahead: its power is constant since the last
    /// call, so that there is nothing to watch for.
    #[inline(always)]
    pub fn advance_constant(&mut self, now: Nanos) {
        if now > self.now {
            self.note_peak(self.changes.level, now - self.now);
            if let Some(series) = self.recorder.series() {
                series.advance(now);
            }
            if now >= self.boundary {
                self.pass_constant_stretches(now);
            }
        }
        self.now = now;
    }

    /// A part changes its state at the present time.
    #[inline(always)]
    pub fn change(&mut self, from: StateId, to: StateId) {
        self.changes.add(self.now, self.increase[from.number()][to.number()]);
        if let Some(series) = self.recorder.series() {
            series.change(self.now, from, to);
        }
    }

    /// A part will change its state at a time after the present. The meter keeps the change if it changes the power, or
    /// if a series distinguishes the two states.
    #[inline(always)]
    pub fn change_ahead(&mut self, at: Nanos, from: StateId, to: StateId) {
        let nw = self.increase[from.number()][to.number()];
        if nw != 0 || self.recorder.series().is_some() {
            self.changes.add_ahead(Ahead { at, nw, from, to });
            if self.watches {
                cold_path();
                self.changes.sort_last();
            }
            self.alarm += nw.min(0); // before a fall the power is above `changes.level`
        }
    }

    /// A server works for `ns` > 0, after the work it already has.
    #[inline(always)]
    pub fn work(&mut self, server: usize, now: Nanos, ns: Nanos) {
        if let Some(series) = self.recorder.series().filter(|_| self.changes.until(server) <= now) {
            series.change(now, StateId::NONE, self.working[server]);
        }
        self.alarm -= self.changes.work(server, now, ns);
    }

    /// Energy in J since the window began, without the work left to servers; and the present power in W.
    pub fn so_far(&self) -> (f64, f64) {
        let energy = self.energy + u128::from(self.changes.recent(self.now));
        (energy as f64 * 1e-18, self.changes.power(self.now) as f64 * 1e-9)
    }

    /// As [`Self::so_far`], at a time `now` up to which the power is constant since the last call of [`Self::advance_constant`].
    pub fn so_far_constant(&self, now: Nanos) -> (f64, f64) {
        let nw = self.changes.level.unsigned_abs();
        let since = u128::from(nw) * u128::from(now - self.now);
        let energy = self.energy + u128::from(self.changes.recent(self.now)) + since;
        (energy as f64 * 1e-18, self.changes.level as f64 * 1e-9)
    }

    /// Gives up the work that a server has left. Returns the time in ns that it would have taken.
    pub fn give_up(&mut self, server: usize, now: Nanos) -> Nanos {
        self.advance(now);
        let left = self.changes.until(server).saturating_sub(now);
        if left > 0 {
            self.changes.end_work(server, now);
            let state = self.working[server];
            if let Some(series) = self.recorder.series() {
                series.change(now, state, StateId::NONE);
            }
        }
        left
    }

    /// Whether there is a recording over time.
    #[inline(always)]
    pub fn records(&mut self) -> bool {
        self.recorder.series().is_some()
    }

    /// Power in W of one part in a state.
    pub fn draw_w(&self, state: StateId) -> f64 {
        self.increase[StateId::NONE.number()][state.number()] as f64 * 1e-9
    }

    /// Time in ns of the work that a server has left.
    pub fn left_ns(&self, server: usize, now: Nanos) -> Nanos {
        self.changes.until(server).saturating_sub(now)
    }

    /// Starts a window of the run: clears all energy so far. Work left to servers goes on in it.
    pub fn restart(&mut self, now: Nanos) {
        self.settle(now);
        (self.energy, self.peak, self.at_peak_ns) = (0, 0, 0);
        self.windows = WINDOWS_NS.map(|len| MeanWindow::new(len, now));
        self.boundary = now + WINDOWS_NS[0];
        self.watch();
        if let Some(series) = self.recorder.series() {
            series.restart(now);
        }
    }

    /// Ends a window of the run and reads the meter. The work left to servers belongs to the time after it.
    pub fn read(&mut self, now: Nanos) -> Reading {
        self.settle(now);
        let mut owed = 0;
        for server in 0..SERVERS {
            let left = self.left_ns(server, now);
            owed += self.changes.work_nw_ns(server, left);
            if let Some(series) = self.recorder.series().filter(|_| left > 0) {
                series.owes(self.working[server], left);
            }
        }
        let joules = |nw_ns: u128| nw_ns as f64 * 1e-18;
        Reading {
            energy_j: joules(self.energy),
            owed_j: joules(owed),
            peak: Some(Draw { nw: self.peak }),
            at_peak_ns: Some(self.at_peak_ns),
            window_w: self.windows.map(|w| w.greatest.map(|nw_ns| joules(nw_ns) / (w.len as f64 * 1e-9))),
        }
    }

    /// Whether a bin of the series ends by `now`.
    #[inline(always)]
    pub fn bin_ends_by(&mut self, now: Nanos) -> bool {
        self.recorder.series().and_then(|series| series.bins.as_ref()).is_some_and(|bins| bins.ends_by(now))
    }

    /// The device's own rows of this type, if they are recorded.
    #[inline(always)]
    pub fn rows<T: DeviceRows>(&mut self) -> Option<&mut T> {
        self.recorder.series()?.bins.as_mut()?.rows_mut()
    }

    /// Records the device's own rows beside its power, if there is a series of bins.
    pub fn record<T: DeviceRows>(&mut self, rows: impl FnOnce() -> T) {
        if let Some(bins) = self.recorder.series().and_then(|series| series.bins.as_mut()) {
            bins.record(Box::new(rows()));
        }
    }

    /// Ends the recording now, and returns the series if there is one.
    pub fn take_series(&mut self) -> Option<Box<Series>> {
        let mut series = self.recorder.take();
        series.iter_mut().for_each(|series| series.finish(self.now));
        series
    }

    /// Whether a recording over time exceeded its storage.
    pub fn series_overflowed(&mut self) -> bool {
        self.recorder.series().is_some_and(|series| series.overflowed())
    }

    /// Integrates up to `now`, and sums the energy.
    fn settle(&mut self, now: Nanos) {
        self.advance(now);
        self.energy += u128::from(self.changes.take_recent(now));
    }

    #[inline(never)]
    fn advance_by_edges(&mut self, now: Nanos) {
        if !self.watches && self.changes.level >= self.alarm {
            self.check_alarm(now);
        }
        let passes = now >= self.boundary;
        if passes {
            self.pass_boundaries(now);
        }
        if self.watches {
            self.apply_edges(now);
            if passes || self.changes.are_few_ahead() {
                self.watch_on(now);
            }
        }
    }

    /// Corrects the alarm for what has happened up to the present time. Watches if the power may reach the peak before `now`;
    /// with many changes ahead also if it may do so later, since to go through them again and again costs more.
    fn check_alarm(&mut self, now: Nanos) {
        self.alarm += self.changes.find_idle(self.now);
        if self.changes.level < self.alarm {
            return;
        }
        self.changes.forget_if_many(self.now);
        let (excess, most) = self.changes.bounds(self.now, now);
        self.alarm = self.peak - excess;
        let is_below = most < self.peak && self.changes.are_few_ahead();
        if self.changes.level >= self.alarm && !is_below {
            self.watch();
        }
    }

    /// Ends the stretches of [`WINDOWS_NS`] up to `now`, and sums the energy up to the last end.
    fn pass_boundaries(&mut self, now: Nanos) {
        self.changes.forget_if_many(self.now);
        while self.boundary <= now {
            self.energy += u128::from(self.changes.take_recent(self.boundary));
            let mut next = Nanos::MAX;
            for window in &mut self.windows {
                if window.end == self.boundary {
                    window.close(self.energy);
                }
                next = next.min(window.end);
            }
            if now - self.boundary > FAR_NS && self.changes.last_edge() <= self.boundary {
                self.pass_equal_stretches(now);
            } else {
                self.boundary = next;
            }
        }
    }

    /// As [`Self::pass_boundaries`], from a boundary on after which the power is constant.
    #[cold]
    fn pass_equal_stretches(&mut self, now: Nanos) {
        let (start, energy, nw) = (self.boundary, self.energy, self.changes.level.unsigned_abs());
        let energy_at = |t: Nanos| energy + u128::from(nw) * u128::from(t - start);
        for window in &mut self.windows {
            window.close_equal(now, energy_at);
        }
        self.energy = energy_at(now);
        self.changes.take_recent(now);
        self.boundary = self.windows.iter().map(|window| window.end).min().unwrap_or(Nanos::MAX);
    }

    /// As [`Self::pass_boundaries`], of a device without servers and changes ahead.
    fn pass_constant_stretches(&mut self, now: Nanos) {
        let (start, nw) = (self.boundary, self.changes.level.unsigned_abs());
        self.energy += u128::from(self.changes.take_constant(start));
        let [short, long] = &mut self.windows;
        short.close_constant::<{ WINDOWS_NS[0] }>(now, start, self.energy, nw);
        long.close_constant::<{ WINDOWS_NS[1] }>(now, start, self.energy, nw);
        self.boundary = short.end.min(long.end);
        self.energy += u128::from(nw) * u128::from(now - start);
        self.changes.take_constant(now);
    }

    /// Applies the edges known ahead up to and at `now`, in their order.
    fn apply_edges(&mut self, now: Nanos) {
        let mut then = self.now;
        while then < now {
            let next = self.changes.next_edge(then).min(now);
            self.note_peak(self.changes.power_in_order(then), next - then);
            if let Some(series) = self.recorder.series() {
                series.advance(next);
                for server in (0..SERVERS).filter(|&server| self.changes.until(server) == next) {
                    series.change(next, self.working[server], StateId::NONE);
                }
            }
            while let Some(edge) = self.changes.next_until(next) {
                if let Some(series) = self.recorder.series() {
                    series.change(next, edge.from, edge.to);
                }
            }
            then = next;
        }
    }

    /// The power was `nw` for `ns`.
    #[inline(always)]
    fn note_peak(&mut self, nw: i64, ns: Nanos) {
        if nw >= self.peak {
            cold_path();
            if nw > self.peak {
                (self.peak, self.at_peak_ns) = (nw, 0);
            }
            self.at_peak_ns += ns;
        }
    }

    /// Begins to watch at the present time.
    fn watch(&mut self) {
        self.changes.forget(self.now);
        self.changes.sort();
        (self.watches, self.alarm) = (true, ALWAYS);
    }

    /// Decides at `now` whether the meter watches on.
    fn watch_on(&mut self, now: Nanos) {
        self.changes.find_idle(now);
        self.changes.forget(now);
        let (excess, _) = self.changes.bounds(now, now);
        let alarm = self.peak - excess;
        if self.changes.level < alarm && self.recorder.series().is_none() {
            (self.watches, self.alarm) = (false, alarm);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::energy::bins::Bins;
    use crate::energy::parts::PowerShare;

    /// What happens to the meter, some time after the last step.
    #[derive(Clone, Debug)]
    enum Step {
        /// A part changes its state.
        Change(u8, u8),
        /// A part will change its state after some time.
        Ahead(Nanos, u8, u8),
        /// A server gets work.
        Work(usize, Nanos),
        /// The run's window ends and the next one begins.
        Restart,
    }

    /// All edges that a meter was given, as a list; each figure is found by going through all of it.
    #[derive(Default)]
    struct Listed {
        start: Nanos,
        /// Time and increase of power.
        edges: Vec<(Nanos, i64)>,
        /// Start and end of the work of each server.
        works: [Vec<(Nanos, Nanos)>; SERVERS],
    }

    /// Power in nW of one part by state. Some states are equal, and one draws less than nothing at all.
    const NW: [i64; 5] = [0, 3_000_000, 99_000_000, 3_000_000, -1_000_000];
    const SERVER_NW: [i64; SERVERS] = [40_000_000, 7_000_000];
    /// Power of the device in a state that it never leaves, so that no sequence of changes leads below 0.
    const BASE_NW: i64 = 15_000_000_000;

    impl Listed {
        fn power(&self, t: Nanos) -> i64 {
            let parts: i64 = self.edges.iter().filter(|(at, _)| *at <= t).map(|(_, nw)| nw).sum();
            let works = self.works.iter().zip(SERVER_NW);
            let busy = |works: &[(Nanos, Nanos)]| works.iter().any(|(from, until)| (*from..*until).contains(&t));
            parts + works.map(|(works, nw)| if busy(works) { nw } else { 0 }).sum::<i64>()
        }

        fn reading(&self, now: Nanos) -> (i128, i64, Nanos, [Option<i128>; 2]) {
            let mut times: Vec<Nanos> = self.edges.iter().map(|(at, _)| *at).collect();
            times.extend(self.works.iter().flatten().flat_map(|(from, until)| [*from, *until]));
            times.extend([self.start, now]);
            let ends = WINDOWS_NS.map(|len| (1..=(now - self.start) / len).map(move |n| self.start + n * len));
            ends.clone().into_iter().for_each(|ends| times.extend(ends));
            times.retain(|t| (self.start..=now).contains(t));
            times.sort_unstable();
            times.dedup();
            let stretches: Vec<(Nanos, Nanos, i64)> =
                times.windows(2).map(|pair| (pair[0], pair[1], self.power(pair[0]))).collect();
            let mut sums = vec![0];
            sums.extend(stretches.iter().scan(0, |sum, (t, end, nw)| {
                *sum += i128::from(*nw) * i128::from(end - t);
                Some(*sum)
            }));
            let energy_at = |t: Nanos| times.binary_search(&t).map_or(0, |place| sums[place]);
            let energy = |from: Nanos, until: Nanos| energy_at(until) - energy_at(from);
            let peak = stretches.iter().map(|(_, _, nw)| *nw).max().unwrap_or(0);
            let at_peak = stretches.iter().filter(|(_, _, nw)| *nw == peak).map(|(t, end, _)| end - t).sum();
            let greatest = [0, 1].map(|n| ends[n].clone().map(|end| energy(end - WINDOWS_NS[n], end)).max());
            (energy(self.start, now), peak, at_peak, greatest)
        }

        fn owed(&self, now: Nanos) -> i128 {
            let left = |works: &Vec<(Nanos, Nanos)>| works.last().map_or(0, |(_, until)| until.saturating_sub(now));
            self.works.iter().zip(SERVER_NW).map(|(works, nw)| i128::from(left(works)) * i128::from(nw)).sum()
        }
    }

    fn step() -> impl Strategy<Value = (Nanos, Step)> {
        let ns = prop_oneof![40 => 0..5_000u64, 40 => 0..300_000u64, 1 => Just(600_000_000)];
        let what = prop_oneof![
            4 => (0..5u8, 0..5u8).prop_map(|(from, to)| Step::Change(from, to)),
            4 => (1..90_000u64, 0..5u8, 0..5u8).prop_map(|(ns, from, to)| Step::Ahead(ns, from, to)),
            3 => (0..SERVERS, 1..60_000u64).prop_map(|(server, ns)| Step::Work(server, ns)),
            1 => Just(Step::Restart),
        ];
        (ns, what)
    }

    fn declaration() -> (Parts, [StateId; SERVERS], StateId) {
        let mut parts = Parts::new(&["all"], 3_300);
        let mut state = |nw| parts.state(&[PowerShare { component: 0, draw: Draw { nw } }]);
        NW.into_iter().for_each(|nw| {
            state(nw);
        });
        let servers = SERVER_NW.map(&mut state);
        let base = state(BASE_NW);
        (parts, servers, base)
    }

    /// Gives the steps to a meter and to the list, and compares the readings at each restart.
    fn compare<R: Recorder>(steps: &[(Nanos, Step)], series: Option<Box<Series>>) {
        compare_advanced::<R>(steps, series, Meter::advance);
    }

    /// As [`compare`], with the method by which the meter advances.
    fn compare_advanced<R: Recorder>(
        steps: &[(Nanos, Step)],
        series: Option<Box<Series>>,
        advance: fn(&mut Meter<R>, Nanos),
    ) {
        let (parts, servers, base) = declaration();
        let mut meter = Meter::<R>::new(&parts, servers, series);
        let mut listed = Listed::default();
        meter.change(StateId::NONE, base);
        listed.edges.push((0, BASE_NW));
        let id = |state: u8| StateId::new(state.into());
        let increase = |from: u8, to: u8| NW[usize::from(to)] - NW[usize::from(from)];
        let mut now = 0;
        for (ns, step) in steps {
            now += ns;
            advance(&mut meter, now);
            assert_eq!((meter.so_far().1 * 1e9).round() as i64, listed.power(now), "at {now}");
            match *step {
                Step::Change(from, to) => {
                    meter.change(id(from), id(to));
                    listed.edges.push((now, increase(from, to)));
                }
                Step::Ahead(ns, from, to) => {
                    meter.change_ahead(now + ns, id(from), id(to));
                    listed.edges.push((now + ns, increase(from, to)));
                }
                Step::Work(server, ns) => {
                    meter.work(server, now, ns);
                    let works = &mut listed.works[server];
                    let from = works.last().map_or(now, |(_, until)| now.max(*until));
                    works.push((from, from + ns));
                }
                Step::Restart => {
                    check(&mut meter, &listed, now);
                    meter.restart(now);
                    listed.start = now;
                }
            }
        }
        check(&mut meter, &listed, now);
    }

    fn check<R: Recorder>(meter: &mut Meter<R>, listed: &Listed, now: Nanos) {
        let (energy, peak, at_peak_ns, greatest) = listed.reading(now);
        let owed = listed.owed(now);
        let reading = meter.read(now);
        assert_eq!(meter.energy as i128, energy, "energy at {now}");
        assert_eq!((reading.owed_j * 1e18).round() as i128, owed, "work left at {now}");
        assert_eq!((reading.peak, reading.at_peak_ns), (Some(Draw { nw: peak }), Some(at_peak_ns)), "peak at {now}");
        assert_eq!(
            meter.windows.map(|window| window.greatest.map(|nw_ns| nw_ns as i128)),
            greatest,
            "windows at {now}"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn figures_equal_those_of_a_list_of_all_edges(steps in prop::collection::vec(step(), 1..100)) {
            compare::<()>(&steps, None);
            compare::<Option<Box<Series>>>(&steps, None);
            let bins = Series::new(Some(Bins::new(10_000, Some(64))), None);
            compare::<Option<Box<Series>>>(&steps, Some(Box::new(bins)));
        }

        #[test]
        fn figures_of_constant_power_equal_those_of_a_list(steps in prop::collection::vec(step(), 1..100)) {
            let is_now = |(_, step): &(Nanos, Step)| matches!(step, Step::Change(..) | Step::Restart);
            let steps: Vec<_> = steps.into_iter().filter(is_now).collect();
            compare_advanced::<()>(&steps, None, Meter::advance_constant);
            let bins = Series::new(Some(Bins::new(10_000, Some(64))), None);
            compare_advanced::<Option<Box<Series>>>(&steps, Some(Box::new(bins)), Meter::advance_constant);
        }
    }

    /// A server is given 300 ns of work at 50 ns, and the recording ends at 130 ns, in a bin that is 30 ns long. The bins
    /// hold the 80 ns that were worked; the other 220 ns at 40 mW stand apart.
    #[test]
    fn work_left_at_the_end_is_in_no_bin() {
        let (parts, servers, base) = declaration();
        let series = Box::new(Series::new(Some(Bins::new(100, None)), None));
        let mut meter = Meter::<Option<Box<Series>>>::new(&parts, servers, Some(series));
        meter.change(StateId::NONE, base);
        meter.restart(0);
        meter.advance(50);
        meter.work(0, 50, 300);
        meter.advance(130);
        let (reading, series) = (meter.read(130), meter.take_series().expect("it is recorded"));
        let series = series.bins.expect("it has bins").price(&parts);
        let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-12, "{found}, {expected}");
        assert_eq!(series.power_w["all"].len(), 2);
        close(series.power_w["all"][0], 15.0 + 0.04 * 50.0 / 100.0);
        close(series.power_w["all"][1], 15.04);
        close(series.owed_j.total, 8.8e-9);
        close(reading.owed_j, 8.8e-9);
        close(series.highest_w(), reading.peak_w().expect("one meter"));
    }

    /// The meter stops to watch when the power is far below the peak, and watches again before the power exceeds it.
    #[test]
    fn edges_are_applied_in_order_only_near_the_peak() {
        let (parts, servers, base) = declaration();
        let (low, high) = (StateId::new(1), StateId::new(2));
        let mut meter = Meter::<()>::new(&parts, servers, None);
        meter.change(StateId::NONE, base);
        meter.change(StateId::NONE, high);
        meter.advance(10);
        meter.change(high, low);
        meter.advance(150_000);
        assert!(!meter.watches, "96 mW below the peak, and servers add at most 47 mW");
        meter.change(StateId::NONE, low);
        meter.advance(150_001);
        meter.change_ahead(150_500, low, high);
        meter.change_ahead(150_600, high, low);
        meter.advance(150_900);
        meter.advance(160_000);
        let reading = meter.read(160_000);
        assert_eq!((reading.peak, reading.at_peak_ns), (Some(Draw { nw: BASE_NW + 102_000_000 }), Some(100)));
    }

    #[test]
    fn a_rise_to_the_peak_is_watched_for_when_it_comes() {
        let (parts, servers, base) = declaration();
        let high = StateId::new(2);
        let mut meter = Meter::<()>::new(&parts, servers, None);
        meter.change(StateId::NONE, base);
        meter.change(StateId::NONE, high);
        meter.advance(10);
        meter.change(high, StateId::NONE);
        meter.advance(20);
        meter.change_ahead(1_000, StateId::NONE, high);
        meter.advance(1_000);
        assert!(!meter.watches, "until 1000 ns the power is known to stay below the peak");
        meter.advance(1_100);
        assert!(meter.watches);
        assert_eq!(meter.read(1_100).at_peak_ns, Some(10 + 100));
    }
}
