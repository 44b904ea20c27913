//! The drive's power as it changes; its current is that power over one voltage ([`Table::supply_mv`]).
//!
//! Every change of state is an edge in time. The meter integrates between edges, which is a second path to the total
//! energy, and finds what depends on what overlapped: the peak, the time spent at it, the worst window. Current is
//! right-continuous: all edges of one instant count before the new level does, so that a peak has positive length.

use std::hint::cold_path;

use super::ledger::Phase;
use super::series::{Recorder, Series};
use super::states::{DRAM, LINK, PARTS};
use super::table::{DieState, Draw, Table};
use crate::config::IdleAccounting;
use crate::units::Nanos;

/// Lengths of the windows whose greatest mean power is reported.
pub const WINDOWS_NS: [Nanos; 2] = [100_000, 1_000_000_000];

/// The meter.
pub struct Meter<R: Recorder> {
    /// What a die draws more, by [`Change`].
    delta: [Draw; Change::COUNT],
    /// What everything but busy dies draws, by [`Phase`].
    base: [Draw; 3],
    phase: Phase,
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
    /// The next of the edges that are known ahead: the end of a transfer, where the array takes over …
    ahead: Ahead,
    /// … and the ones after it, the last one first. Few, and mostly none: a transfer is short.
    further: Vec<Ahead>,
    /// What DRAM and the host interface still had to do when windows ended, in nW·ns.
    owed: u128,
    /// DRAM and the host interface: when they are done with what they were asked to do.
    parts: [Server; PARTS],
    /// The earlier of `parts`, or earlier still: where work has been added to one of them since …
    next_done: Nanos,
    /// … and of that and `ahead`.
    next_own: Nanos,
    recorder: R,
}

/// What the meter read over a window of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// ∫ power dt in J.
    pub energy_j: f64,
    /// What of it DRAM and the host interface spend after the window, for work that they were asked to do in it.
    pub owed_j: f64,
    /// Highest power.
    pub peak: Draw,
    /// Time at the highest power.
    pub at_peak_ns: u64,
    /// Greatest mean power in W over each of [`WINDOWS_NS`], windows laid end to end; none if the run was shorter.
    pub window_w: [Option<f64>; 2],
}

impl<R: Recorder> Meter<R> {
    /// A meter of a drive with `dies` dies, at time 0, everything quiet.
    pub fn new(table: Table, dies: u32, series: Option<Box<Series>>) -> Self {
        let base = [Phase::Busy, Phase::Outstanding, Phase::Quiet].map(|phase| base_level(&table, dies, phase));
        Meter {
            level: base[Phase::Quiet as usize],
            delta: std::array::from_fn(|change| Change(change).draw(&table)),
            base,
            phase: Phase::Quiet,
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
            parts: [Server::idle(table.dram[1] - table.dram[0]), Server::idle(table.host_interface)],
            next_done: Nanos::MAX,
            next_own: Nanos::MAX,
            recorder: R::new(series),
        }
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

    /// A die changes its state.
    #[inline(always)]
    pub fn die(&mut self, from: DieState, to: DieState) {
        self.change(Change::new(from, to));
    }

    #[inline(always)]
    fn change(&mut self, change: Change) {
        self.level = self.level + self.delta[change.0];
        if let Some(series) = self.recorder.series() {
            series.die(self.now, change.from(), change.to());
        }
    }

    /// A die will change its state at a known time. Asked for only where the level changes or a series tells them apart.
    #[inline(always)]
    pub fn die_ahead(&mut self, at: Nanos, from: DieState, to: DieState) {
        let change = Change::new(from, to);
        if self.delta[change.0] != Draw::default() || self.recorder.series().is_some() {
            self.put_ahead(Ahead { at, change });
        }
    }

    /// The drive enters a phase.
    pub fn phase(&mut self, phase: Phase) {
        self.level = self.level + self.base[phase as usize] - self.base[self.phase as usize];
        if let Some(series) = self.recorder.series() {
            series.phase(self.now, self.phase, phase);
        }
        self.phase = phase;
    }

    /// DRAM works for `ns`, after what it is already doing.
    #[inline(always)]
    pub fn dram(&mut self, now: Nanos, ns: Nanos) {
        self.work(DRAM, now, ns);
    }

    /// Data moves over the host interface for `ns`, after what is already moving.
    #[inline(always)]
    pub fn host_interface(&mut self, now: Nanos, ns: Nanos) {
        if self.parts[LINK].draw.nw != 0 && ns > 0 {
            self.work(LINK, now, ns);
        }
    }

    #[inline(always)]
    fn work(&mut self, part: usize, now: Nanos, ns: Nanos) {
        if self.parts[part].is_idle() {
            self.level = self.level + self.parts[part].draw;
            self.note(part, true);
            self.done_at(now + ns);
        }
        self.parts[part].work(now, ns); // more work only puts the end off: it is looked for again where it was expected
    }

    /// Energy in J since the window began, without what DRAM and host interface still owe, and the power in W now.
    pub fn so_far(&self) -> (f64, f64) {
        let energy = self.energy + u128::from(self.recent);
        (energy as f64 * 1e-18, self.level.nw as f64 * 1e-9)
    }

    /// Starts a window of the run: what was read before is forgotten, also what DRAM and host interface still owe.
    pub fn restart(&mut self, now: Nanos) {
        self.settle(now);
        (self.energy, self.owed, self.peak, self.at_peak_ns) = (0, 0, Draw::default(), 0);
        self.windows = WINDOWS_NS.map(|len| Window::new(len, now));
        if let Some(series) = self.recorder.series() {
            series.restart(now);
        }
        self.find_boundary();
    }

    /// Ends a window of the run and reads the meter. What DRAM and host interface still owe is paid here: the ledger
    /// booked it when it was asked for.
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
        for part in [DRAM, LINK] {
            let Server { draw, until } = self.parts[part];
            if !self.parts[part].is_idle() {
                let owed = area(draw.nw, until - now);
                (self.energy, self.owed) = (self.energy + owed, self.owed + owed);
                self.recorder.series().into_iter().for_each(|series| series.owes(now, part, until - now));
                self.end_work(part);
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
    fn end_work(&mut self, part: usize) {
        self.level = self.level - self.parts[part].draw;
        self.parts[part].until = Nanos::MAX;
        self.note(part, false);
    }

    /// DRAM or the host interface may be done.
    #[inline(always)]
    fn work_done(&mut self, at: Nanos) {
        if self.parts[DRAM].until == at {
            self.end_work(DRAM);
        } else if self.parts[LINK].until == at {
            self.end_work(LINK);
        }
        self.find_next_done();
    }

    #[inline(always)]
    fn find_next_done(&mut self) {
        self.next_done = self.parts[DRAM].until.min(self.parts[LINK].until);
        self.next_own = self.ahead.at.min(self.next_done);
    }

    /// DRAM or the host interface will be done then.
    #[inline(always)]
    fn done_at(&mut self, at: Nanos) {
        self.next_done = self.next_done.min(at);
        self.next_own = self.next_own.min(at);
    }

    #[inline(always)]
    fn take_ahead(&mut self) {
        let change = self.ahead.change;
        self.ahead = if self.further.is_empty() { Ahead::NEVER } else { self.next_of_further() };
        self.change(change);
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

    #[inline(always)]
    fn note(&mut self, part: usize, works: bool) {
        if let Some(series) = self.recorder.series() {
            series.part(self.now, part, works);
        }
    }
}

/// A die will change its state.
#[derive(Clone, Copy)]
struct Ahead {
    at: Nanos,
    change: Change,
}

impl Ahead {
    const NEVER: Ahead = Ahead { at: Nanos::MAX, change: Change::new(DieState::Idle, DieState::Idle) };
}

/// From which state a die goes to which. One word, so that an [`Ahead`] has no gaps: the processor waits where something is
/// loaded that was stored in parts.
#[derive(Clone, Copy)]
struct Change(usize);

impl Change {
    const COUNT: usize = DieState::COUNT * DieState::COUNT;

    #[inline(always)]
    const fn new(from: DieState, to: DieState) -> Self {
        Change(from as usize * DieState::COUNT + to as usize)
    }

    fn from(self) -> DieState {
        DieState::ALL[self.0 / DieState::COUNT]
    }

    fn to(self) -> DieState {
        DieState::ALL[self.0 % DieState::COUNT]
    }

    fn draw(self, table: &Table) -> Draw {
        table.die[self.to() as usize] - table.die[self.from() as usize]
    }
}

/// A part that does one thing after the other.
#[derive(Clone, Copy)]
struct Server {
    /// What it draws while it works.
    draw: Draw,
    /// When it will be done; [`Nanos::MAX`] while it is idle.
    until: Nanos,
}

impl Server {
    fn idle(draw: Draw) -> Self {
        Server { draw, until: Nanos::MAX }
    }

    #[inline(always)]
    fn is_idle(&self) -> bool {
        self.until == Nanos::MAX
    }

    /// There is work for `ns` more.
    #[inline(always)]
    fn work(&mut self, now: Nanos, ns: Nanos) {
        self.until = if self.is_idle() { now } else { self.until } + ns;
    }
}

/// A power, which is never negative, over a time.
#[inline(always)]
fn area(nw: i64, ns: Nanos) -> u128 {
    u128::from(nw as u64) * u128::from(ns)
}

/// What everything draws in a phase while each die is idle, under the table's idle accounting.
fn base_level(table: &Table, dies: u32, phase: Phase) -> Draw {
    let [controller, dram, flash] = super::price::base(table, phase);
    controller + dram + flash * dies
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

/// Does this accounting charge flash, and everything else, in a phase?
pub(super) fn charged(accounting: IdleAccounting, phase: Phase) -> (bool, bool) {
    match accounting {
        IdleAccounting::AlwaysOn => (true, true),
        IdleAccounting::FlashOff => (phase != Phase::Quiet, true),
        IdleAccounting::BusyOnly => (phase == Phase::Busy, phase == Phase::Busy),
    }
}
