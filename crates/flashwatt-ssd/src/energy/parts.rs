//! The SSD's parts: one controller, DRAM, dies and a host interface.
//!
//! The states of the whole drive ([`Phase`]) hold the power of all parts while every die is idle and neither DRAM nor
//! the host interface works. Every other state holds the additional power of a part at work. A die at work draws its
//! own power instead of that of an idle die; where the accounting does not charge idle dies, [`REPLACES_NONE`] corrects
//! for that. A part of a die that works beside it ([`ExtraState`]) draws its power in addition: it replaces nothing.

use super::components::{COMPONENTS, CONTROLLER, DRAM, HOST_INTERFACE, NAND_IDLE};
use super::{DieState, ExtraState, Phase, PriceTable, price};
use flashwatt_core::energy::Draw;
use flashwatt_core::energy::parts::{Parts, PowerShare, StateId};

/// DRAM works for an operation.
pub const DRAM_WORKS: StateId = StateId::new(DieState::COUNT);
/// Data moves over the host interface.
pub const LINK_WORKS: StateId = StateId::new(DieState::COUNT + 1);

/// A die in an operation while idle dies are not charged: it replaces no idle die.
pub const REPLACES_NONE: StateId = StateId::new(DieState::COUNT + 2 + Phase::COUNT);

/// The number of the first [`ExtraState`] among a drive's states: these come last.
pub(super) const EXTRA_FIRST: usize = DieState::COUNT + 2 + Phase::COUNT + 1;

/// The state of the whole drive. Idle dies are part of it.
pub const fn drive_state(phase: Phase) -> StateId {
    StateId::new(DieState::COUNT + 2 + phase as usize)
}

/// The parts of a drive with `dies` dies.
pub fn parts(table: &PriceTable, dies: u32) -> Parts {
    let mut parts = Parts::new(COMPONENTS, table.supply_mv);
    let share = |component: usize, draw: Draw| PowerShare { component, draw };
    for state in DieState::ALL {
        let (busy, idle) = (table.die[state as usize], table.die[DieState::Idle as usize]);
        let id = match state.component() {
            None => parts.state(&[]),
            Some(own) => parts.state(&[share(own, busy), share(NAND_IDLE, Draw::default() - idle)]),
        };
        assert_eq!(id, state.id());
    }
    parts.state(&[share(DRAM, table.dram[1] - table.dram[0])]);
    parts.state(&[share(HOST_INTERFACE, table.host_interface)]);
    for phase in Phase::ALL {
        let [controller, dram, die] = price::base(table, phase);
        let id = parts.state(&[share(CONTROLLER, controller), share(DRAM, dram), share(NAND_IDLE, die * dies)]);
        assert_eq!(id, drive_state(phase));
    }
    let id = parts.state(&[share(NAND_IDLE, table.die[DieState::Idle as usize])]);
    assert_eq!(id, REPLACES_NONE);
    for state in ExtraState::ALL {
        let id = parts.state(&[share(state.component(), table.extra[state as usize])]);
        assert_eq!(id, state.id());
    }
    parts
}
