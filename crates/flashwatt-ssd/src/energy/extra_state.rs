//! The parts of a die that work beside it: further planes, and a bus that moves data while the array of the same die works.

use super::components::{NAND_ERASE, NAND_PROGRAM, NAND_READ, NAND_TRANSFER};
use super::die_state::DieState;
use super::parts::EXTRA_FIRST;
use flashwatt_core::energy::parts::StateId;

/// What a part of a die does beside the die, which is in a [`DieState`] at the same time.
///
/// Power is linear, so that such a part draws a power of its own on top of the die's. It is no die: it replaces no idle one, and its time
/// is no die time. A further state is a line here, in [`Self::ALL`] with its [`Self::COUNT`], and in the declarations of its name
/// ([`Self::name`]), of its component and of its power ([`PriceTable::new`](super::PriceTable::new)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ExtraState {
    /// A further plane reads in the same operation.
    Read,
    /// A further plane programs in the same operation.
    Program,
    /// A further plane erases in the same operation.
    Erase,
    /// A further plane programs in the same operation, in single-level mode.
    SlcProgram,
    /// The bus moves command or data of a read while the array works.
    ReadBus,
    /// The bus moves command or data of a program while the array works.
    ProgramBus,
}

impl ExtraState {
    /// Number of states.
    pub const COUNT: usize = 6;
    /// All of them, in the order of their numbers.
    pub const ALL: [ExtraState; Self::COUNT] = [
        ExtraState::Read,
        ExtraState::Program,
        ExtraState::Erase,
        ExtraState::SlcProgram,
        ExtraState::ReadBus,
        ExtraState::ProgramBus,
    ];

    /// Its number among a drive's states.
    #[inline(always)]
    pub const fn id(self) -> StateId {
        StateId::numbered(EXTRA_FIRST + self as usize)
    }

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            ExtraState::Read => "extra_read",
            ExtraState::Program => "extra_program",
            ExtraState::Erase => "extra_erase",
            ExtraState::SlcProgram => "extra_slc_program",
            ExtraState::ReadBus => "read_transfer_beside",
            ExtraState::ProgramBus => "program_transfer_beside",
        }
    }

    /// The component that its power counts as.
    pub(super) const fn component(self) -> usize {
        match self {
            ExtraState::Read => NAND_READ,
            ExtraState::Program | ExtraState::SlcProgram => NAND_PROGRAM,
            ExtraState::Erase => NAND_ERASE,
            ExtraState::ReadBus | ExtraState::ProgramBus => NAND_TRANSFER,
        }
    }

    /// The state of a further plane of a die whose array is in this state; none if no array works in it.
    pub const fn of_plane(die: DieState) -> Option<ExtraState> {
        match die {
            DieState::Read => Some(ExtraState::Read),
            DieState::Program => Some(ExtraState::Program),
            DieState::Erase => Some(ExtraState::Erase),
            DieState::SlcProgram => Some(ExtraState::SlcProgram),
            _ => None,
        }
    }

    /// Whether it is the die's bus that works, of which there is one; else a plane.
    pub const fn is_bus(self) -> bool {
        matches!(self, ExtraState::ReadBus | ExtraState::ProgramBus)
    }

    /// The states of a die that this one is beside.
    pub fn beside(self) -> impl Iterator<Item = DieState> {
        DieState::ALL.into_iter().filter(move |&die| match Self::of_plane(die) {
            Some(of_plane) => self.is_bus() || of_plane == self,
            None => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each state stands beside array work, a plane beside that of its own kind.
    #[test]
    fn a_part_works_beside_the_array_of_its_die() {
        for state in ExtraState::ALL {
            let dies: Vec<DieState> = state.beside().collect();
            assert!(!dies.is_empty() && dies.iter().all(|die| die.is_of_array()), "{}", state.name());
        }
        for die in DieState::ALL {
            assert_eq!(ExtraState::of_plane(die).is_some(), die.is_of_array(), "{}", die.name());
            if let Some(of_plane) = ExtraState::of_plane(die) {
                assert_eq!(die.component(), Some(of_plane.component()));
                assert_eq!(of_plane.beside().collect::<Vec<_>>(), [die]);
            }
        }
    }
}
