//! Power over time, by component, in bins of equal length.

use serde::Serialize;

use super::ledger::Phase;
use super::price;
use super::table::{DieState, Table};
use crate::units::Nanos;

/// The most bins that are stored.
pub const BINS_MAX: u64 = 10_000_000;

const DRAM: usize = DieState::COUNT;
const LINK: usize = DRAM + 1;
const PHASES: usize = LINK + 1;
const STATES: usize = PHASES + 3;

/// A series being recorded: for each bin the time integral of how many parts were in each state.
pub struct Series {
    interval_ns: Nanos,
    start_ns: Nanos,
    now: Nanos,
    bin_end: Nanos,
    /// Dies in each [`DieState`] (idle ones not kept), DRAM active, host interface active, the phase.
    count: [u32; STATES],
    bin: [u64; STATES],
    bins: Vec<[u64; STATES]>,
    /// Adjacent bins are merged once there are this many: an automatic interval.
    merge_at: Option<usize>,
}

/// What the meter tells of every change of state: a series, if one is recorded, or nobody. The latter is a type of its own,
/// so that a run without a series does not ask at each change whether there is one.
pub trait Recorder {
    /// Can it keep a series?
    const RECORDS: bool;

    /// With the series that is to be recorded, if one is.
    fn new(series: Option<Box<Series>>) -> Self;

    /// The series that is being recorded.
    fn series(&mut self) -> Option<&mut Series>;

    /// The series so far; none is recorded from now on.
    fn take(&mut self) -> Option<Box<Series>>;
}

impl Recorder for Option<Box<Series>> {
    const RECORDS: bool = true;

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
    const RECORDS: bool = false;

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

/// A series, priced.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PowerSeries {
    /// Length of a bin.
    pub interval_ns: Nanos,
    /// Simulated time at which the first bin begins.
    pub start_ns: Nanos,
    /// Mean power in W in each bin, by component.
    pub power_w: ComponentSeries,
}

/// Mean power in W per bin.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct ComponentSeries {
    pub controller: Vec<f64>,
    pub dram: Vec<f64>,
    pub nand_idle: Vec<f64>,
    pub nand_read: Vec<f64>,
    pub nand_program: Vec<f64>,
    pub nand_erase: Vec<f64>,
    pub nand_transfer: Vec<f64>,
    pub host_interface: Vec<f64>,
}

impl Series {
    /// A series with bins of `interval_ns`; with `merge_at` that is where it starts, and adjacent bins are merged whenever
    /// there are that many, so that a run of any length ends with `merge_at`/2 to `merge_at` bins.
    pub fn new(interval_ns: Nanos, merge_at: Option<usize>) -> Self {
        let mut count = [0; STATES];
        count[PHASES + Phase::Quiet as usize] = 1;
        Series {
            interval_ns,
            start_ns: 0,
            now: 0,
            bin_end: interval_ns,
            count,
            bin: [0; STATES],
            bins: Vec::new(),
            merge_at,
        }
    }

    /// Is the store full? The run goes on without a series that could not hold it.
    pub fn overflows(&self) -> bool {
        self.bins.len() as u64 > BINS_MAX
    }

    pub(super) fn die(&mut self, from: DieState, to: DieState) {
        if from != DieState::Idle {
            self.count[from as usize] -= 1;
        }
        if to != DieState::Idle {
            self.count[to as usize] += 1;
        }
    }

    pub(super) fn phase(&mut self, phase: Phase) {
        self.count[PHASES..].fill(0);
        self.count[PHASES + phase as usize] = 1;
    }

    pub(super) fn dram(&mut self, active: bool) {
        self.count[DRAM] = u32::from(active);
    }

    pub(super) fn host_interface(&mut self, active: bool) {
        self.count[LINK] = u32::from(active);
    }

    pub(super) fn restart(&mut self, now: Nanos) {
        (self.start_ns, self.now, self.bin_end) = (now, now, now + self.interval_ns);
        self.bin = [0; STATES];
        self.bins.clear();
    }

    pub(super) fn advance(&mut self, now: Nanos) {
        while now >= self.bin_end {
            self.add(self.bin_end);
            self.bins.push(std::mem::take(&mut self.bin));
            self.bin_end += self.interval_ns;
            if self.merge_at.is_some_and(|merge_at| self.bins.len() >= merge_at) {
                self.merge();
            }
            if self.overflows() {
                self.bin_end = Nanos::MAX;
                return;
            }
        }
        self.add(now);
    }

    fn add(&mut self, until: Nanos) {
        let ns = until - self.now;
        for (sum, &count) in self.bin.iter_mut().zip(&self.count) {
            *sum += u64::from(count) * ns;
        }
        self.now = until;
    }

    fn merge(&mut self) {
        self.interval_ns *= 2;
        let sum = |pair: &[[u64; STATES]]| std::array::from_fn(|state| pair.iter().map(|bin| bin[state]).sum());
        let carry = self.bins.len() % 2 == 1;
        self.bins = self.bins.chunks(2).map(sum).collect();
        if carry && let Some(half) = self.bins.pop() {
            self.bin = half;
        }
        self.bin_end = self.start_ns + (self.bins.len() as u64 + 1) * self.interval_ns;
    }

    /// Prices what was recorded. The last bin, cut short by the end of the run, is a mean over the time it has.
    pub fn price(&self, table: &Table, dies: u32) -> PowerSeries {
        let mut power = ComponentSeries::default();
        for (at, bin) in self.bins.iter().chain([&self.bin]).enumerate() {
            let start = self.start_ns + at as u64 * self.interval_ns;
            let ns = self.interval_ns.min(self.now.saturating_sub(start));
            if ns > 0 {
                price_bin(bin, ns, table, dies, &mut power);
            }
        }
        PowerSeries { interval_ns: self.interval_ns, start_ns: self.start_ns, power_w: power }
    }
}

fn price_bin(bin: &[u64; STATES], ns: Nanos, table: &Table, dies: u32, power: &mut ComponentSeries) {
    let mean_w = |nw_ns: i128| nw_ns as f64 * 1e-9 / ns as f64;
    let times = |ns: u64, nw: i64| i128::from(ns) * i128::from(nw);
    let die = |state: DieState| times(bin[state as usize], table.die[state as usize].nw);
    let mut base = [0i128; 3];
    for (at, phase) in [Phase::Busy, Phase::Outstanding, Phase::Quiet].into_iter().enumerate() {
        for (sum, draw) in base.iter_mut().zip(price::base(table, phase)) {
            *sum += times(bin[PHASES + at], draw.nw);
        }
    }
    let busy: u64 = bin[..DieState::COUNT].iter().sum();
    power.controller.push(mean_w(base[0]));
    power.dram.push(mean_w(base[1] + times(bin[DRAM], table.dram[1].nw - table.dram[0].nw)));
    power.nand_idle.push(mean_w(base[2] * i128::from(dies) - times(busy, table.die[0].nw)));
    power.nand_read.push(mean_w(die(DieState::Read)));
    power.nand_program.push(mean_w(die(DieState::Program)));
    power.nand_erase.push(mean_w(die(DieState::Erase)));
    let transfer = [DieState::ReadBus, DieState::ProgramBus, DieState::EraseBus, DieState::DataWait];
    power.nand_transfer.push(mean_w(transfer.into_iter().map(die).sum()));
    power.host_interface.push(mean_w(times(bin[LINK], table.host_interface.nw)));
}
