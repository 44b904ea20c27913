//! A device's power as its parts change their states.
//!
//! Every change of state is an edge in time. The meter integrates between edges, which is a second path to the total
//! energy, and finds what depends on what overlapped: the peak, the time spent at it, the worst window. Current is
//! right-continuous: all edges of one instant count before the new level does, so that a peak has positive length.

use std::hint::cold_path;

use super::parts::{NUMBERS, Parts, StateId};
use super::series::{Recorder, Series};
use super::table::Draw;
use crate::units::Nanos;

/// Lengths of the windows whose greatest mean power is reported.
pub const WINDOWS_NS: [Nanos; 2] = [100_000, 1_000_000_000];

/// The meter.
pub struct Meter<R: Recorder> {
    /// Power that a part draws more, by [`Change`].
    delta: [Draw; Change::COUNT],
    now: Nanos,
    level: Draw,
    /// ∫ power dt since the window began, in nW·ns = 10⁻¹⁸ J, …
    energy: u128,
    /// … but for what came since a stretch of [`WINDOWS_NS`] last ended, which fits a word.
    recent: u64,
    peak: Draw,
    at_peak_ns: u64,
    windows: [Window; 2],
    /// The earliest end of a window, or of a bin of the series.
    boundary: Nanos,
    /// The next change of a state that is known ahead.
    ahead: Ahead,
    /// The changes after that, the last one first. Few, and mostly none.
    further: Vec<Ahead>,
    /// Work that was left to the servers when windows ended, in nW·ns.
    owed: u128,
    servers: [Server; SERVERS],
    /// A lower bound of the time at which a server is done next.
    next_done: Nanos,
    /// The earlier of `next_done` and the time of `ahead`.
    next_own: Nanos,
    recorder: R,
}

/// How many parts of a device can be [`Server`]s.
pub const SERVERS: usize = 2;

/// What the meter read over a window of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// ∫ power dt in J.
    pub energy_j: f64,
    /// The part of it that servers spend after the window, for work that they were given in it.
    pub owed_j: f64,
    /// Highest power.
    pub peak: Draw,
    /// Time at the highest power.
    pub at_peak_ns: u64,
    /// Greatest mean power in W over each of [`WINDOWS_NS`], windows laid end to end; none if the run was shorter.
    pub window_w: [Option<f64>; 2],
}

impl<R: Recorder> Meter<R> {
    /// A meter of a device at time 0, with no part in any state. `servers` are the states of the parts that do one job
    /// after the other.
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
            windows: WINDOWS_NS.map(|len| Window::new(len, 0)),
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

    /// Up to when time has passed.
    #[inline(always)]
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Time passes up to `now`; the edges that the meter knew ahead are taken on the way. Whatever else changes at `now` is
    /// told after this.
    #[inline(always)]
    pub fn advance(&mut self, now: Nanos) {
        if self.next_own <= now {
            self.own_edges(now);
        }
        self.integrate(now);
    }

    /// A part changes its state now.
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

    /// A part will change its state at a known time. The meter keeps the change if the level changes with it, or a series
    /// tells the states apart.
    #[inline(always)]
    pub fn change_ahead(&mut self, at: Nanos, from: StateId, to: StateId) {
        let change = Change::new(from, to);
        if self.delta[change.0] != Draw::default() || self.recorder.series().is_some() {
            self.put_ahead(Ahead { at, change });
        }
    }

    /// A server works for `ns` > 0, after the work that it has.
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
        self.servers[server].add(now, ns); // more work puts the end off: it is looked for again at the time noted first
    }

    /// Energy in J since the window began, without the work left to servers, and the power in W now.
    pub fn so_far(&self) -> (f64, f64) {
        let energy = self.energy + u128::from(self.recent);
        (energy as f64 * 1e-18, self.level.nw as f64 * 1e-9)
    }

    /// Starts a window of the run: forgets all energy so far, and the work left to servers.
    pub fn restart(&mut self, now: Nanos) {
        self.settle(now);
        (self.energy, self.owed, self.peak, self.at_peak_ns) = (0, 0, Draw::default(), 0);
        self.windows = WINDOWS_NS.map(|len| Window::new(len, now));
        if let Some(series) = self.recorder.series() {
            series.restart(now);
        }
        self.find_boundary();
    }

    /// Ends a window of the run and reads the meter. The work left to servers counts here: the ledger booked it when it was
    /// asked for.
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

    /// The series up to now, if one was recorded.
    pub fn take_series(&mut self) -> Option<Box<Series>> {
        let mut series = self.recorder.take();
        series.iter_mut().for_each(|series| series.finish(self.now));
        self.find_boundary();
        series
    }

    /// Was there more to be recorded than can be stored?
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

    /// The edges that the meter knew ahead, up to and at `now`.
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

    /// A server may be done.
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

    /// A server will be done at this time.
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

    /// The level lasted for `ns`.
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

/// A part will change its state.
#[derive(Clone, Copy)]
struct Ahead {
    at: Nanos,
    change: Change,
}

impl Ahead {
    const NEVER: Ahead = Ahead { at: Nanos::MAX, change: Change::new(StateId::NONE, StateId::NONE) };
}

/// From which state a part goes to which. One word, so that an [`Ahead`] has no gaps: the processor waits where something is
/// loaded that was stored in parts.
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

/// A part that does one job after the other, in no state while it has none.
#[derive(Clone, Copy)]
struct Server {
    /// Its state while it works.
    state: StateId,
    /// Power while it works.
    draw: Draw,
    /// When it will be done; [`Nanos::MAX`] while it has no work.
    until: Nanos,
}

impl Server {
    /// There is work for `ns` more.
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
struct Window {
    len: Nanos,
    end: Nanos,
    energy_at_start: u128,
    greatest: Option<u128>,
}

impl Window {
    fn new(len: Nanos, start: Nanos) -> Self {
        Window { len, end: start + len, energy_at_start: 0, greatest: None }
    }

    /// Ends all stretches up to `now`, given the energy at `then` and the power since.
    fn close(&mut self, now: Nanos, then: Nanos, energy: u128, nw: i64) {
        if now < self.end {
            return;
        }
        let energy_at = |t: Nanos| energy + area(nw, t - then);
        self.note(energy_at(self.end) - self.energy_at_start);
        let more = (now - self.end) / self.len;
        if more > 0 {
            self.note(area(nw, self.len)); // all alike: nothing changed since `then`
        }
        let start = self.end + more * self.len;
        self.energy_at_start = energy_at(start);
        self.end = start + self.len;
    }

    fn note(&mut self, energy: u128) {
        self.greatest = Some(self.greatest.map_or(energy, |greatest| greatest.max(energy)));
    }
}
