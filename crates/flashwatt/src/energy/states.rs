//! How many of the drive's parts are in which state: what a recording keeps, and what the table makes of it.

use serde::Serialize;

use super::ledger::Phase;
use super::price;
use super::table::{DieState, Draw, Table};

/// Parts that do one thing after the other: DRAM, which works for operations, …
pub(super) const DRAM: usize = 0;
/// … and the host interface, which moves data.
pub(super) const LINK: usize = 1;
/// How many they are.
pub(super) const PARTS: usize = 2;
/// Number of the first of the drive's phases. Before them come the states of a die, and of each part that it works.
const PHASES: usize = DieState::COUNT + PARTS;
/// How many there are.
pub(super) const STATES: usize = PHASES + 3;

/// Something for each state: parts that are in it, or part-nanoseconds. That of idle dies means nothing: they are the rest.
pub(super) type PerState<T> = [T; STATES];

/// The state of a part that works.
pub(super) fn of_part(part: usize) -> usize {
    DieState::COUNT + part
}

/// The state of a drive in a phase.
pub(super) fn of_phase(phase: Phase) -> usize {
    PHASES + phase as usize
}

/// One column for each component.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Components<T> {
    pub controller: T,
    pub dram: T,
    pub nand_idle: T,
    pub nand_read: T,
    pub nand_program: T,
    pub nand_erase: T,
    /// Dies on the bus, or with data that waits for it.
    pub nand_transfer: T,
    pub host_interface: T,
}

impl Components<i128> {
    /// What `amount` of all parts draws, by component, in nW.
    pub(super) fn drawn(amount: &PerState<u64>, table: &Table, dies: u32) -> Self {
        let times = |amount: u64, draw: Draw| i128::from(amount) * i128::from(draw.nw);
        let die = |state: DieState| times(amount[state as usize], table.die[state as usize]);
        let mut base = [0i128; 3];
        for phase in [Phase::Busy, Phase::Outstanding, Phase::Quiet] {
            for (sum, draw) in base.iter_mut().zip(price::base(table, phase)) {
                *sum += times(amount[of_phase(phase)], draw);
            }
        }
        let busy = amount[1..DieState::COUNT].iter().sum();
        let transfer = [DieState::ReadBus, DieState::ProgramBus, DieState::EraseBus, DieState::DataWait];
        Components {
            controller: base[0],
            dram: base[1] + times(amount[of_part(DRAM)], table.dram[1] - table.dram[0]),
            nand_idle: base[2] * i128::from(dies) - times(busy, table.die[DieState::Idle as usize]),
            nand_read: die(DieState::Read),
            nand_program: die(DieState::Program),
            nand_erase: die(DieState::Erase),
            nand_transfer: transfer.into_iter().map(die).sum(),
            host_interface: times(amount[of_part(LINK)], table.host_interface),
        }
    }

    /// Of all components together.
    pub(super) fn total(&self) -> i128 {
        let nand = self.nand_idle + self.nand_read + self.nand_program + self.nand_erase + self.nand_transfer;
        self.controller + self.dram + nand + self.host_interface
    }
}

impl Components<Vec<f64>> {
    /// A further row, in the unit that `value` gives.
    pub(super) fn push(&mut self, row: &Components<i128>, value: impl Fn(i128) -> f64) {
        self.controller.push(value(row.controller));
        self.dram.push(value(row.dram));
        self.nand_idle.push(value(row.nand_idle));
        self.nand_read.push(value(row.nand_read));
        self.nand_program.push(value(row.nand_program));
        self.nand_erase.push(value(row.nand_erase));
        self.nand_transfer.push(value(row.nand_transfer));
        self.host_interface.push(value(row.host_interface));
    }
}
