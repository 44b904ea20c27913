//! The ledger: integer nanoseconds and counts. Nothing in it depends on a price.

use serde::{Deserialize, Serialize};

use super::table::DieState;
use crate::ftl::{Cause, OpKind};
use crate::units::Nanos;

/// What the drive as a whole is doing: what the idle accountings tell apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Phase {
    /// At least one die runs an operation.
    Busy,
    /// A request is in the device, no die runs.
    Outstanding,
    /// Neither.
    Quiet,
}

/// When the phases of one operation began and ended. A phase that the operation does not have is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpTimes {
    /// The operation starts: its command goes onto the bus, with the data for a program.
    pub start: Nanos,
    /// The array starts to work.
    pub array_start: Nanos,
    /// The array is done (a copyback's read; the program follows at once).
    pub array_end: Nanos,
    /// A read's data goes onto the bus; a copyback's program begins.
    pub out_start: Nanos,
    /// The operation ends.
    pub end: Nanos,
}

impl OpTimes {
    /// What of this lies after `since`.
    #[cold]
    fn clipped(&self, since: Nanos) -> OpTimes {
        OpTimes {
            start: self.start.max(since),
            array_start: self.array_start.max(since),
            array_end: self.array_end.max(since),
            out_start: self.out_start.max(since),
            end: self.end.max(since),
        }
    }
}

/// The books of one window of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Dies in the drive.
    pub dies: u32,
    /// Die-nanoseconds by state (as [`DieState`], idle left out) and cause (as [`Cause`]).
    pub die_ns: [[u64; 5]; DieState::COUNT],
    /// Operations ended by kind (as [`OpKind`]) and cause.
    pub operations: [[u64; 5]; 4],
    /// Elapsed nanoseconds by [`Phase`].
    pub elapsed_ns: [u64; 3],
    /// Elapsed nanoseconds with n dies busy, n = 0, 1, ….
    pub busy_dies_ns: Vec<u64>,
    /// Nanoseconds that DRAM operations took.
    pub dram_op_ns: u64,
    /// Map look-ups and updates in DRAM.
    pub map_accesses: u64,
    /// Nanoseconds that data moved over the host interface.
    pub host_interface_ns: u64,
}

impl Ledger {
    /// Empty books of a drive.
    pub fn new(dies: u32) -> Self {
        Ledger { dies, busy_dies_ns: vec![0; dies as usize + 1], ..Ledger::default() }
    }

    /// An operation has ended, or is cut off at `times.end` by the window's end (`count` = 0). Only what lies in the window,
    /// which began at `since`, is booked.
    #[inline(always)]
    pub fn operation(&mut self, kind: OpKind, cause: Cause, times: &OpTimes, since: Nanos, count: u64) {
        let clipped;
        let times = if times.start >= since {
            times
        } else {
            clipped = times.clipped(since);
            &clipped
        };
        let cause = cause as usize;
        self.operations[kind as usize][cause] += count;
        let mut book = |state: DieState, from: Nanos, to: Nanos| self.die_ns[state as usize][cause] += to - from;
        match kind {
            OpKind::Read => {
                book(DieState::ReadBus, times.start, times.array_start);
                book(DieState::Read, times.array_start, times.array_end);
                book(DieState::DataWait, times.array_end, times.out_start);
                book(DieState::ReadBus, times.out_start, times.end);
            }
            OpKind::Program => {
                book(DieState::ProgramBus, times.start, times.array_start);
                book(DieState::Program, times.array_start, times.end);
            }
            OpKind::Erase => {
                book(DieState::EraseBus, times.start, times.array_start);
                book(DieState::Erase, times.array_start, times.end);
            }
            OpKind::Copy => unreachable!("a copy is booked as a read and a program"),
            OpKind::Copyback => {
                book(DieState::ReadBus, times.start, times.array_start);
                book(DieState::Read, times.array_start, times.array_end);
                book(DieState::Program, times.array_end, times.end);
            }
        }
    }

    /// Elapsed time of the window.
    pub fn total_ns(&self) -> u64 {
        self.elapsed_ns.iter().sum()
    }

    /// Die-nanoseconds in a state, over all causes.
    pub fn state_ns(&self, state: DieState) -> u64 {
        self.die_ns[state as usize].iter().sum()
    }

    /// Die-nanoseconds in operations.
    pub fn active_ns(&self) -> u64 {
        DieState::ALL.iter().map(|&state| self.state_ns(state)).sum()
    }

    /// Pages read and programmed and blocks erased for a cause: a copyback is a read and a program.
    pub fn pages(&self, kind: OpKind, cause: Cause) -> u64 {
        let copies = if kind == OpKind::Erase { 0 } else { self.operations[OpKind::Copyback as usize][cause as usize] };
        self.operations[kind as usize][cause as usize] + copies
    }

    /// The books of this window and of one that follows it together.
    #[must_use]
    pub fn plus(&self, next: &Ledger) -> Ledger {
        let mut sum = self.clone();
        add(sum.die_ns.as_flattened_mut(), next.die_ns.as_flattened());
        add(sum.operations.as_flattened_mut(), next.operations.as_flattened());
        add(&mut sum.elapsed_ns, &next.elapsed_ns);
        add(&mut sum.busy_dies_ns, &next.busy_dies_ns);
        sum.dram_op_ns += next.dram_op_ns;
        sum.map_accesses += next.map_accesses;
        sum.host_interface_ns += next.host_interface_ns;
        sum
    }
}

fn add(to: &mut [u64], from: &[u64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}
