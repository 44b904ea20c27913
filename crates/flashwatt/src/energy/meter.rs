//! A device's power as its parts change their states.
//!
//! Every change of state is an edge in time. The meter integrates power between edges, which is a second path to the
//! total energy. It also finds the figures that depend on overlaps: the peak, the time at the peak, the worst window.
//! Power is right-continuous: all edges of one instant are applied before the new level counts, so that a peak has
//! positive length.

use std::hint::cold_path;

use super::parts::{NUMBERS, Parts, StateId};
use super::series::{Recorder, Series};
use super::table::Draw;
use crate::units::Nanos;

/// Lengths of the windows whose greatest mean power is reported.
pub const WINDOWS_NS: [Nanos; 2] = [100_000, 1_000_000_000];

/// The meter of a device.
pub struct Meter<R: Recorder> {
    /// Increase of power by [`Change`].
    delta: [Draw; Change::COUNT],
    now: Nanos,
    level: Draw,
    /// ∫ power dt from the window's start to the last end of a stretch of [`WINDOWS_NS`], in nW·ns = 10⁻¹⁸ J.
    energy: u128,
    /// ∫ power dt since then, which fits a word.
    recent: u64,
    peak: Draw,
    at_peak_ns: u64,
    windows: [MeanWindow; 2],
    /// The earliest end of a stretch, or of a bin of the series.
    boundary: Nanos,
    /// The next change of a state that is known ahead.
    ahead: Ahead,
    /// Later changes that are known ahead, the last one first. Rarely any.
    further: Vec<Ahead>,
    /// Work left to the servers when windows ended, in nW·ns.
    owed: u128,
    servers: [Server; SERVERS],
    /// A lower bound of the time at which the next server finishes.
    next_done: Nanos,
    /// The earlier of `next_done` and the time of `ahead`.
    next_own: Nanos,
    recorder: R,
}

/// Largest number of [`Server`]s of a device.
pub const SERVERS: usize = 2;

/// The meter's reading for a window of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// ∫ power dt in J.
    pub energy_j: f64,
    /// The part of `energy_j` that servers spend after the window, for work given to them in it.
    pub owed_j: f64,
    /// Highest power.
    pub peak: Draw,
    /// Time at the highest power in ns.
    pub at_peak_ns: u64,
    /// Greatest mean power in W over each of [`WINDOWS_NS`], for stretches laid end to end; none if the window was
    /// shorter.
    pub window_w: [Option<f64>; 2],
}

impl<R: Recorder> Meter<R> {
    /// A meter of a device at time 0, with no part in any state. `servers` are the working states of the parts that do
    /// one job after the other.
    pub fn new(parts: &Parts, servers: [StateId; SERVERS], series: Option<Box<Series>>) -> Self {
        let draws = parts.draws();
        Meter {
            level: Draw::default(),
            delta: std::array::from_fn(|change| draws[change % NUMBERS] - draws[change / NUMBERS]),
            now: 0,
            energy: 0,
            recent: 0,
            peak: Draw::default(),
            at_peak_ns: 0,
            windows: WINDOWS_NS.map(|len| MeanWindow::new(len, 0)),
            boundary: 0,
            ahead: Ahead::NEVER,
            further: Vec::new(),
            owed: 0,
            servers: servers.map(|state| Server { state, draw: parts.draw(state), until: Nanos::MAX }),
            next_done: Nanos::MAX,
            next_own: Nanos::MAX,
            recorder: R::new(series),
        }
    }

    /// Time up to which the power is integrated, in ns.
    #[inline(always)]
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Integrates up to `now`, with the edges known ahead until then. Other changes at `now` must follow this call.
    #[inline(always)]
    pub fn advance(&mut self, now: Nanos) {
        if self.next_own <= now {
            self.own_edges(now);
        }
        self.integrate(now);
    }

    /// A part changes its state at the present time.
    #[inline(always)]
    pub fn change(&mut self, from: StateId, to: StateId) {
        self.take(Change::new(from, to));
    }

    #[inline(always)]
    fn take(&mut self, change: Change) {
        self.level = self.level + self.delta[change.0];
        if let Some(series) = self.recorder.series() {
            series.change(self.now, change.from(), change.to());
        }
    }

    /// A part will change its state at a known time. The meter keeps the change if it changes the power, or if a series
    /// distinguishes the two states.
    #[inline(always)]
    pub fn change_ahead(&mut self, at: Nanos, from: StateId, to: StateId) {
        let change = Change::new(from, to);
        if self.delta[change.0] != Draw::default() || self.recorder.series().is_some() {
            self.put_ahead(Ahead { at, change });
        }
    }

    /// A server works for `ns` > 0, after the work it already has.
    #[inline(always)]
    pub fn work(&mut self, server: usize, now: Nanos, ns: Nanos) {
        let Server { state, draw, until } = self.servers[server];
        if draw == Draw::default() {
            return;
        }
        if until == Nanos::MAX {
            self.change(StateId::NONE, state);
            self.done_at(now + ns);
        }
        self.servers[server].add(now, ns); // more work delays the end: the time noted first stays a lower bound
    }

    /// Energy in J since the window began, without the work left to servers; and the present power in W.
    pub fn so_far(&self) -> (f64, f64) {
        let energy = self.energy + u128::from(self.recent);
        (energy as f64 * 1e-18, self.level.nw as f64 * 1e-9)
    }

    /// Starts a window of the run: clears all energy so far, and the work left to servers.
    pub fn restart(&mut self, now: Nanos) {
        self.settle(now);
        (self.energy, self.owed, self.peak, self.at_peak_ns) = (0, 0, Draw::default(), 0);
        self.windows = WINDOWS_NS.map(|len| MeanWindow::new(len, now));
        if let Some(series) = self.recorder.series() {
            series.restart(now);
        }
        self.find_boundary();
    }

    /// Ends a window of the run and reads the meter. The work left to servers is included, because the ledger booked it
    /// when it was requested.
    pub fn read(&mut self, now: Nanos) -> Reading {
        self.settle(now);
        let joules = |nw_ns: u128| nw_ns as f64 * 1e-18;
        Reading {
            energy_j: joules(self.energy),
            owed_j: joules(self.owed),
            peak: self.peak,
            at_peak_ns: self.at_peak_ns,
            window_w: self.windows.map(|w| w.greatest.map(|nw_ns| joules(nw_ns) / (w.len as f64 * 1e-9))),
        }
    }

    /// Ends the recording now, and returns the series if there is one.
    pub fn take_series(&mut self) -> Option<Box<Series>> {
        let mut series = self.recorder.take();
        series.iter_mut().for_each(|series| series.finish(self.now));
        self.find_boundary();
        series
    }

    /// Whether a recording over time exceeded its storage.
    pub fn series_overflowed(&mut self) -> bool {
        self.recorder.series().is_some_and(|series| series.overflowed())
    }

    fn settle(&mut self, now: Nanos) {
        self.advance(now);
        self.energy += u128::from(std::mem::take(&mut self.recent));
        for server in 0..SERVERS {
            let Server { state, draw, until } = self.servers[server];
            if until != Nanos::MAX {
                let owed = area(draw.nw, until - now);
                (self.energy, self.owed) = (self.energy + owed, self.owed + owed);
                self.recorder.series().into_iter().for_each(|series| series.owes(now, state, until - now));
                self.end_work(server);
            }
        }
        self.find_next_done();
    }

    /// Applies the edges known ahead up to and at `now`.
    #[inline(always)]
    fn own_edges(&mut self, now: Nanos) {
        while self.next_own <= now {
            let at = self.next_own;
            self.integrate(at);
            if self.ahead.at == at {
                self.take_ahead();
                self.next_own = self.ahead.at.min(self.next_done);
            } else {
                self.work_done(at);
            }
        }
    }

    #[inline(always)]
    fn end_work(&mut self, server: usize) {
        self.servers[server].until = Nanos::MAX;
        self.change(self.servers[server].state, StateId::NONE);
    }

    /// Checks whether a server has finished.
    #[inline(always)]
    fn work_done(&mut self, at: Nanos) {
        if self.servers[0].until == at {
            self.end_work(0);
        } else if self.servers[1].until == at {
            self.end_work(1);
        }
        self.find_next_done();
    }

    #[inline(always)]
    fn find_next_done(&mut self) {
        self.next_done = self.servers[0].until.min(self.servers[1].until);
        self.next_own = self.ahead.at.min(self.next_done);
    }

    /// A server finishes at this time.
    #[inline(always)]
    fn done_at(&mut self, at: Nanos) {
        self.next_done = self.next_done.min(at);
        self.next_own = self.next_own.min(at);
    }

    #[inline(always)]
    fn take_ahead(&mut self) {
        let change = self.ahead.change;
        self.ahead = if self.further.is_empty() { Ahead::NEVER } else { self.next_of_further() };
        self.take(change);
    }

    #[inline(always)]
    fn put_ahead(&mut self, edge: Ahead) {
        if self.ahead.at == Nanos::MAX {
            self.ahead = edge;
            self.next_own = self.next_own.min(edge.at);
        } else {
            self.put_among_others(edge);
        }
    }

    #[inline(never)]
    fn put_among_others(&mut self, edge: Ahead) {
        let later = if edge.at < self.ahead.at { std::mem::replace(&mut self.ahead, edge) } else { edge };
        self.next_own = self.next_own.min(self.ahead.at);
        let mut place = self.further.len();
        self.further.push(later);
        while place > 0 && self.further[place - 1].at < later.at {
            self.further[place] = self.further[place - 1];
            place -= 1;
        }
        self.further[place] = later;
    }

    #[inline(never)]
    fn next_of_further(&mut self) -> Ahead {
        self.further.pop().unwrap_or(Ahead::NEVER)
    }

    #[inline(always)]
    fn integrate(&mut self, now: Nanos) {
        debug_assert!(now >= self.now, "time runs backwards");
        if now == self.now {
            return;
        }
        if now >= self.boundary {
            cold_path();
            return self.pass_boundary(now);
        }
        let ns = now - self.now;
        self.recent += self.level.nw as u64 * ns;
        self.note_peak(ns);
        self.now = now;
    }

    /// Integrates the present level over `ns`.
    #[inline(always)]
    fn note_peak(&mut self, ns: Nanos) {
        if self.level >= self.peak {
            cold_path();
            if self.level > self.peak {
                (self.peak, self.at_peak_ns) = (self.level, 0);
            }
            self.at_peak_ns += ns;
        }
    }

    #[inline(never)]
    fn pass_boundary(&mut self, now: Nanos) {
        self.energy += u128::from(std::mem::take(&mut self.recent));
        for window in &mut self.windows {
            window.close(now, self.now, self.energy, self.level.nw);
        }
        if let Some(series) = self.recorder.series() {
            series.advance(now);
        }
        self.find_boundary();
        let ns = now - self.now;
        self.energy += area(self.level.nw, ns);
        self.note_peak(ns);
        self.now = now;
    }

    fn find_boundary(&mut self) {
        let window_ends = self.windows.iter().map(|window| window.end).min().unwrap_or(Nanos::MAX);
        self.boundary = self.recorder.series().map_or(window_ends, |series| series.boundary().min(window_ends));
    }
}

/// A future change of a part's state.
#[derive(Clone, Copy)]
struct Ahead {
    at: Nanos,
    change: Change,
}

impl Ahead {
    const NEVER: Ahead = Ahead { at: Nanos::MAX, change: Change::new(StateId::NONE, StateId::NONE) };
}

/// The states before and after a change. Packed into one word, so that an [`Ahead`] has no gaps: a processor stalls
/// when it loads a value that was stored in parts.
#[derive(Clone, Copy)]
struct Change(usize);

impl Change {
    const COUNT: usize = NUMBERS * NUMBERS;

    #[inline(always)]
    const fn new(from: StateId, to: StateId) -> Self {
        Change(from.number() * NUMBERS + to.number())
    }

    fn from(self) -> StateId {
        StateId::numbered(self.0 / NUMBERS)
    }

    fn to(self) -> StateId {
        StateId::numbered(self.0 % NUMBERS)
    }
}

/// A part that does one job after the other. It is in no state while it has no work.
#[derive(Clone, Copy)]
struct Server {
    /// Its state while it works.
    state: StateId,
    /// Power while it works.
    draw: Draw,
    /// Time at which its work is done; [`Nanos::MAX`] without work.
    until: Nanos,
}

impl Server {
    /// Adds work of `ns`.
    #[inline(always)]
    fn add(&mut self, now: Nanos, ns: Nanos) {
        self.until = if self.until == Nanos::MAX { now } else { self.until } + ns;
    }
}

/// A power, which is never negative, over a time.
#[inline(always)]
fn area(nw: i64, ns: Nanos) -> u128 {
    u128::from(nw as u64) * u128::from(ns)
}

/// Mean power over stretches of one length, laid end to end from the start of the run's window.
#[derive(Clone, Copy, Debug)]
struct MeanWindow {
    len: Nanos,
    end: Nanos,
    energy_at_start: u128,
    greatest: Option<u128>,
}

impl MeanWindow {
    fn new(len: Nanos, start: Nanos) -> Self {
        MeanWindow { len, end: start + len, energy_at_start: 0, greatest: None }
    }

    /// Ends all stretches up to `now`, given the energy at `then` and the constant power since.
    fn close(&mut self, now: Nanos, then: Nanos, energy: u128, nw: i64) {
        if now < self.end {
            return;
        }
        let energy_at = |t: Nanos| energy + area(nw, t - then);
        self.note(energy_at(self.end) - self.energy_at_start);
        let more = (now - self.end) / self.len;
        if more > 0 {
            self.note(area(nw, self.len)); // equal stretches: the power was constant since `then`
        }
        let start = self.end + more * self.len;
        self.energy_at_start = energy_at(start);
        self.end = start + self.len;
    }

    fn note(&mut self, energy: u128) {
        self.greatest = Some(self.greatest.map_or(energy, |greatest| greatest.max(energy)));
    }
}
