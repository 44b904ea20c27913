//! The states of a die, and those that an operation takes it through.

use super::components::{NAND_ERASE, NAND_PROGRAM, NAND_READ, NAND_TRANSFER};
use crate::operation::{CellMode, OpClass, OpKind};
use flashwatt_core::energy::parts::StateId;

/// The state of a die.
///
/// A further state is a line here, in [`Self::ALL`] with its [`Self::COUNT`], and in the declarations of its name ([`Self::name`]), of the
/// component that it counts as ([`Self::component`]) and of its power ([`PriceTable::new`](super::PriceTable::new)): the compiler asks for
/// these three. [`OpStates::of`] says which operations go through it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum DieState {
    /// Idle.
    Idle,
    /// Reading a page from the array.
    Read,
    /// Programming a page.
    Program,
    /// Erasing a block.
    Erase,
    /// On the bus for a read: command in, data out.
    ReadBus,
    /// On the bus for a program: command and data in.
    ProgramBus,
    /// On the bus for an erase: command in.
    EraseBus,
    /// Holding data that waits for the bus.
    DataWait,
    /// Programming a page of a block in single-level mode.
    SlcProgram,
    /// With a program or an erase that is suspended, and with nothing else to do.
    Suspended,
}

impl DieState {
    /// Number of states.
    pub const COUNT: usize = 10;
    /// All of them, in the order of their numbers.
    pub const ALL: [DieState; Self::COUNT] = [
        DieState::Idle,
        DieState::Read,
        DieState::Program,
        DieState::Erase,
        DieState::ReadBus,
        DieState::ProgramBus,
        DieState::EraseBus,
        DieState::DataWait,
        DieState::SlcProgram,
        DieState::Suspended,
    ];

    /// Its number among a drive's states: they begin with those of a die.
    #[inline(always)]
    pub const fn id(self) -> StateId {
        StateId::numbered(self as usize)
    }

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            DieState::Idle => "idle",
            DieState::Read => "read",
            DieState::Program => "program",
            DieState::Erase => "erase",
            DieState::ReadBus => "read_transfer",
            DieState::ProgramBus => "program_transfer",
            DieState::EraseBus => "erase_transfer",
            DieState::DataWait => "data_wait",
            DieState::SlcProgram => "slc_program",
            DieState::Suspended => "suspended",
        }
    }

    /// Whether reports have this state only where a die was in it: it is one of drives with options of their own.
    pub const fn is_optional(self) -> bool {
        matches!(self, DieState::SlcProgram | DieState::Suspended)
    }

    /// The component that a busy die belongs to. A die on the bus, or with data that waits for it, counts as `nand_transfer`; and so does a
    /// die with a suspended operation. It is in an operation that waits, as a die with data is, and not idle: under the accountings that
    /// charge no idle dies its current is charged as that of every operation is, and it has a cause.
    pub(super) const fn component(self) -> Option<usize> {
        match self {
            DieState::Idle => None,
            DieState::Read => Some(NAND_READ),
            DieState::Program | DieState::SlcProgram => Some(NAND_PROGRAM),
            DieState::Erase => Some(NAND_ERASE),
            DieState::ReadBus | DieState::ProgramBus | DieState::EraseBus => Some(NAND_TRANSFER),
            DieState::DataWait | DieState::Suspended => Some(NAND_TRANSFER),
        }
    }

    /// Whether the die's array works.
    pub const fn is_of_array(self) -> bool {
        matches!(self.component(), Some(NAND_READ | NAND_PROGRAM | NAND_ERASE))
    }
}

/// The states that a die goes through in an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpStates {
    /// While the bus transfers command and data.
    pub bus: DieState,
    /// While the array works; of a copyback, while it reads.
    pub array: DieState,
    /// Just before the operation ends.
    pub last: DieState,
}

impl OpStates {
    /// Those of a class of operations. A class whose array draws a power of its own gets a state of its own here.
    #[inline(always)]
    pub const fn of(class: OpClass) -> Self {
        let program = match class.mode {
            CellMode::Native => DieState::Program,
            CellMode::Slc => DieState::SlcProgram,
        };
        let (bus, array, last) = match class.kind {
            OpKind::Read | OpKind::Copy => (DieState::ReadBus, DieState::Read, DieState::ReadBus),
            OpKind::SpareRead => (DieState::ReadBus, DieState::Read, DieState::Read),
            OpKind::Program => (DieState::ProgramBus, program, program),
            OpKind::Erase => (DieState::EraseBus, DieState::Erase, DieState::Erase),
            OpKind::Copyback => (DieState::ReadBus, DieState::Read, program),
        };
        OpStates { bus, array, last }
    }
}
