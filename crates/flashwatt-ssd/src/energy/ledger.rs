//! The ledger: integer nanoseconds and counts that depend on no price.

use std::hint::cold_path;

use super::die_state::{DieState, OpStates};
use super::extra_state::ExtraState;
use crate::operation::{Cause, OpClass, OpKind};
use flashwatt_base::units::Nanos;

/// The state of the whole drive, as the idle accountings distinguish it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Phase {
    /// At least one die executes an array operation: it reads, programs or erases.
    Array,
    /// At least one die runs an operation, and none executes its array part: commands and data move, or wait for the
    /// bus.
    Transfer,
    /// A request is in the device, no die runs.
    Outstanding,
    /// No request is in the device and no die runs.
    Quiet,
}

impl Phase {
    /// Number of phases.
    pub const COUNT: usize = 4;
    /// All of them, in the order of their numbers.
    pub const ALL: [Phase; Self::COUNT] = [Phase::Array, Phase::Transfer, Phase::Outstanding, Phase::Quiet];
}

/// Start and end times of the phases of one operation. A phase that the operation does not have is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpTimes {
    /// The operation starts: its command goes onto the bus, with the data for a program.
    pub start: Nanos,
    /// The array starts to work.
    pub array_start: Nanos,
    /// The array has finished (for a copyback its read; the program follows at once).
    pub array_end: Nanos,
    /// A read's data goes onto the bus; a copyback's program begins.
    pub out_start: Nanos,
    /// The operation ends.
    pub end: Nanos,
}

impl OpTimes {
    /// The states of a die during an operation of this class, each with its start and end.
    fn phases(&self, class: OpClass) -> [(DieState, Nanos, Nanos); 4] {
        let &OpTimes { start, array_start, array_end, out_start, end } = self;
        let OpStates { bus, array, last } = OpStates::of(class);
        let (transfer, none) = ((bus, start, array_start), (DieState::Idle, end, end));
        match class.kind {
            OpKind::Read | OpKind::Copy => [
                transfer,
                (array, array_start, array_end),
                (DieState::DataWait, array_end, out_start),
                (last, out_start, end),
            ],
            OpKind::Copyback => [transfer, (array, array_start, array_end), (last, array_end, end), none],
            OpKind::Program | OpKind::Erase | OpKind::SpareRead => [transfer, (array, array_start, end), none, none],
        }
    }
}

/// A number for each cause (as [`Cause`]).
pub type PerCause = [u64; Cause::ALL.len()];

/// The share of the `place`th of `pages` that work together for `ns`: the same for each, and what is left over for the first.
pub const fn share_ns(ns: u64, place: u64, pages: u64) -> u64 {
    ns / pages + if place == 0 { ns % pages } else { 0 }
}

/// The ledger of one window of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// Dies in the drive.
    pub dies: u32,
    /// Die-nanoseconds by state (as [`DieState`], idle left out) and cause.
    pub die_ns: [PerCause; DieState::COUNT],
    /// Nanoseconds of the parts that work beside their dies, by state (as [`ExtraState`]) and cause. They are no die time.
    pub extra_ns: [PerCause; ExtraState::COUNT],
    /// Operations ended by class (at [`OpClass::index`]; a copy counts as a read and a program) and cause. Boxed: a drive is moved about
    /// while it is set up, on stacks that may be small.
    pub operations: Box<[PerCause; OpClass::COUNT]>,
    /// Elapsed nanoseconds by [`Phase`].
    pub elapsed_ns: [u64; Phase::COUNT],
    /// Die-nanoseconds of operations in [`Phase::Transfer`].
    pub transfer_die_ns: u64,
    /// Elapsed nanoseconds with n dies busy, n = 0, 1, ….
    pub busy_dies_ns: Vec<u64>,
    /// Nanoseconds of DRAM operations.
    pub dram_op_ns: u64,
    /// Map look-ups and updates in DRAM.
    pub map_accesses: u64,
    /// Nanoseconds of data transfers over the host interface.
    pub host_interface_ns: u64,
    /// Bytes that the drive has read from the host's memory and written to it, for its map.
    pub host_memory_bytes: [u64; 2],
}

/// The empty ledger of no drive.
impl Default for Ledger {
    fn default() -> Self {
        Ledger {
            dies: 0,
            die_ns: Default::default(),
            extra_ns: Default::default(),
            operations: Box::new([Default::default(); OpClass::COUNT]),
            elapsed_ns: Default::default(),
            transfer_die_ns: 0,
            busy_dies_ns: Vec::new(),
            dram_op_ns: 0,
            map_accesses: 0,
            host_interface_ns: 0,
            host_memory_bytes: [0; 2],
        }
    }
}

impl Ledger {
    /// The empty ledger of a drive.
    pub fn new(dies: u32) -> Self {
        Ledger { dies, busy_dies_ns: vec![0; dies as usize + 1], ..Ledger::default() }
    }

    /// Operations of a kind that have ended, over all causes.
    pub fn operations_of(&self, kind: OpKind) -> u64 {
        Cause::ALL.iter().map(|&cause| self.ended_of(kind, cause)).sum()
    }

    /// Operations of a kind that have ended, for a cause.
    fn ended_of(&self, kind: OpKind, cause: Cause) -> u64 {
        OpClass::of_kind(kind).map(|class| self.operations[class.index()][cause as usize]).sum()
    }

    /// Books the end of an operation that took `over_ns` longer than others of its class: a read that waited for the
    /// bus, a program of an upper page. All other phases have one length for all operations of a class:
    /// [`Self::book_whole`] books them together, when the window ends.
    #[inline(always)]
    pub fn ended(&mut self, class: OpClass, cause: Cause, over_ns: Nanos) {
        let over = match class.kind {
            OpKind::Program | OpKind::Copyback => OpStates::of(class).last,
            OpKind::Read | OpKind::SpareRead | OpKind::Copy | OpKind::Erase => DieState::DataWait,
        };
        self.operations[class.index()][cause as usize] += 1;
        self.add(over, cause, over_ns);
    }

    /// Books that the data of an operation which ends took `less_ns` less on the bus than a whole page: [`Self::book_whole`] books a whole
    /// page for each.
    pub fn moved_part(&mut self, class: OpClass, cause: Cause, less_ns: Nanos) {
        self.add(OpStates::of(class).last, cause, less_ns.wrapping_neg());
    }

    /// Books the phases of all operations that have ended; `whole` gives their lengths.
    pub fn book_whole(&mut self, whole: impl Fn(OpClass) -> OpTimes) {
        self.die_ns = self.with_whole(&whole);
    }

    /// The die-nanoseconds with the phases of all operations that have ended; `whole` gives their lengths.
    pub fn with_whole(&self, whole: &dyn Fn(OpClass) -> OpTimes) -> [PerCause; DieState::COUNT] {
        let mut die_ns = self.die_ns;
        for class in OpClass::booked() {
            for (state, from, to) in whole(class).phases(class) {
                for cause in Cause::ALL {
                    let ended = self.operations[class.index()][cause as usize];
                    let sum = &mut die_ns[state as usize][cause as usize];
                    *sum = sum.wrapping_add(ended.wrapping_mul(to - from));
                }
            }
        }
        die_ns
    }

    /// Subtracts the part of an ended operation that lies before `since`, the start of the window.
    #[cold]
    pub fn began_before(&mut self, class: OpClass, cause: Cause, times: &OpTimes, since: Nanos) {
        for (state, from, to) in times.phases(class) {
            self.add(state, cause, (to.min(since) - from.min(since)).wrapping_neg());
        }
    }

    /// Books the part after `since`, the start of the window, of an operation that is under way at the window's end,
    /// `times.end`.
    pub fn cut(&mut self, class: OpClass, cause: Cause, times: &OpTimes, since: Nanos) {
        for (state, from, to) in times.phases(class) {
            self.add(state, cause, to.max(since) - from.max(since));
        }
    }

    /// During a window a sum may be less than the amount subtracted from it: sums count modulo 2^64.
    #[inline(always)]
    fn add(&mut self, state: DieState, cause: Cause, ns: u64) {
        let sum = &mut self.die_ns[state as usize][cause as usize];
        *sum = sum.wrapping_add(ns);
    }

    /// Books die-nanoseconds in a state, for an operation whose phases are booked as they end.
    pub fn book(&mut self, state: DieState, cause: Cause, ns: u64) {
        self.add(state, cause, ns);
    }

    /// Books nanoseconds of a part that works beside its die.
    pub fn book_extra(&mut self, state: ExtraState, cause: Cause, ns: u64) {
        let sum = &mut self.extra_ns[state as usize][cause as usize];
        *sum = sum.wrapping_add(ns);
    }

    /// Counts ended operations of a class, whose phases are booked apart ([`Self::book`]).
    pub fn count(&mut self, class: OpClass, cause: Cause, operations: u64) {
        self.operations[class.index()][cause as usize] += operations;
    }

    /// Books `ns` of elapsed time in a phase, with this number of dies in operations.
    #[inline(always)]
    pub fn passed(&mut self, phase: Phase, busy_dies: u32, ns: Nanos) {
        let sum = &mut self.elapsed_ns[phase as usize];
        *sum = sum.wrapping_add(ns);
        if phase == Phase::Transfer {
            cold_path();
            self.transfer_die_ns = self.transfer_die_ns.wrapping_add(ns.wrapping_mul(busy_dies.into()));
        }
    }

    /// Elapsed time of the window.
    pub fn total_ns(&self) -> u64 {
        self.elapsed_ns.iter().sum()
    }

    /// Elapsed time with at least one die in an operation.
    pub fn busy_ns(&self) -> u64 {
        self.elapsed_ns[Phase::Array as usize] + self.elapsed_ns[Phase::Transfer as usize]
    }

    /// Die-nanoseconds in a state, over all causes.
    pub fn state_ns(&self, state: DieState) -> u64 {
        self.die_ns[state as usize].iter().sum()
    }

    /// Nanoseconds in a state of the parts that work beside their dies, over all causes.
    pub fn extra_state_ns(&self, state: ExtraState) -> u64 {
        self.extra_ns[state as usize].iter().sum()
    }

    /// Die-nanoseconds in operations.
    pub fn active_ns(&self) -> u64 {
        DieState::ALL.iter().map(|&state| self.state_ns(state)).sum()
    }

    /// Pages programmed for all causes.
    pub fn programs(&self) -> u64 {
        Cause::ALL.iter().map(|&cause| self.pages(OpKind::Program, cause)).sum()
    }

    /// Pages read and programmed and blocks erased for a cause: a copyback is a read and a program, a read of a spare area
    /// is one of its page.
    pub fn pages(&self, kind: OpKind, cause: Cause) -> u64 {
        let count = |kind: OpKind| self.ended_of(kind, cause);
        match kind {
            OpKind::Read => count(OpKind::Read) + count(OpKind::Copyback) + count(OpKind::SpareRead),
            OpKind::Program => count(OpKind::Program) + count(OpKind::Copyback),
            _ => count(kind),
        }
    }

    /// Whether reports have this cause: backups, a journal, padding and folding stand in those of runs that have some.
    pub fn reports(&self, cause: Cause) -> bool {
        let is_optional = matches!(cause, Cause::Backup | Cause::Journal | Cause::Pad | Cause::Fold);
        !is_optional || self.die_ns.iter().chain(&self.extra_ns).any(|of_state| of_state[cause as usize] > 0)
    }

    /// Whether reports have this state of a die: no report has the idle one, and some stand where a die was in them.
    pub fn reports_state(&self, state: DieState) -> bool {
        state != DieState::Idle && (!state.is_optional() || self.die_ns[state as usize].iter().any(|&ns| ns > 0))
    }

    /// Pages read and programmed and blocks erased, for all causes together.
    pub fn flash_operations(&self) -> u64 {
        let kinds = [OpKind::Read, OpKind::Program, OpKind::Erase];
        kinds.iter().flat_map(|&kind| Cause::ALL.map(|cause| self.pages(kind, cause))).sum()
    }

    /// The sum of the ledgers of this window and the next one.
    #[must_use]
    pub fn plus(&self, next: &Ledger) -> Ledger {
        let mut sum = self.clone();
        add(sum.die_ns.as_flattened_mut(), next.die_ns.as_flattened());
        add(sum.extra_ns.as_flattened_mut(), next.extra_ns.as_flattened());
        add(sum.operations.as_flattened_mut(), next.operations.as_flattened());
        add(&mut sum.elapsed_ns, &next.elapsed_ns);
        add(&mut sum.busy_dies_ns, &next.busy_dies_ns);
        sum.transfer_die_ns += next.transfer_die_ns;
        sum.dram_op_ns += next.dram_op_ns;
        sum.map_accesses += next.map_accesses;
        sum.host_interface_ns += next.host_interface_ns;
        add(&mut sum.host_memory_bytes, &next.host_memory_bytes);
        sum
    }
}

fn add(to: &mut [u64], from: &[u64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::{CellMode, PageType};

    #[test]
    fn the_shares_of_a_row_add_up() {
        for (ns, pages) in [(0, 1), (7, 1), (11, 4), (12, 4), (1_068_500, 12)] {
            let shares: Vec<u64> = (0..pages).map(|place| share_ns(ns, place, pages)).collect();
            assert_eq!(shares.iter().sum::<u64>(), ns);
            assert!(
                shares[0] - shares[shares.len() - 1] < pages && shares[1..].iter().all(|&share| share == ns / pages)
            );
        }
    }

    /// Causes and states of drives with options of their own stand in reports where they occurred.
    #[test]
    fn what_did_not_occur_is_not_reported() {
        let mut ledger = Ledger::new(1);
        assert!(
            ledger.reports(Cause::Host)
                && ledger.reports_state(DieState::Read)
                && !ledger.reports_state(DieState::Idle)
        );
        for (cause, state) in [(Cause::Pad, DieState::SlcProgram), (Cause::Fold, DieState::Suspended)] {
            assert!(!ledger.reports(cause) && !ledger.reports_state(state));
            ledger.book(state, cause, 5);
            assert!(ledger.reports(cause) && ledger.reports_state(state));
        }
        ledger.book_extra(ExtraState::Program, Cause::Journal, 2);
        assert!(ledger.reports(Cause::Journal) && !ledger.reports(Cause::Backup));
        assert_eq!(ledger.active_ns(), 10, "what works beside a die is no die time");
        let class = OpClass { kind: OpKind::Program, page: PageType::Third, mode: CellMode::Slc };
        ledger.count(class, Cause::Pad, 3);
        ledger.count(OpClass::plain(OpKind::Program), Cause::Pad, 4);
        assert_eq!((ledger.pages(OpKind::Program, Cause::Pad), ledger.programs()), (7, 7), "of all types and modes");
        let twice = ledger.plus(&ledger);
        assert_eq!((twice.active_ns(), twice.extra_state_ns(ExtraState::Program), twice.programs()), (20, 4, 14));
    }
}
