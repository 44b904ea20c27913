//! How many flash operations a run may take (`run.max_flash_ops`).
//!
//! A drive that is asked for more than it can do serves every request in the end, but nobody may want to wait for that: a
//! scheme of blocks can copy a hundred pages for each one written. Simulated time is no bound on what such a run costs, for
//! the queue behind it grows; operations are, and unlike the wall clock they end it at the same place on every machine.
//!
//! Nothing is counted for it: the books have the number. They are opened rarely, and after so many instants that the
//! operations ending in them cannot be more than are left, so that no instant is passed at which the budget is exceeded.

use super::{End, Sim};
use crate::connector::{Device, Workload};
use crate::energy::window::Figures;

/// Instants between two reports of progress, times the operations that may end at one. An instant at which thousands of dies
/// work takes long, and a user who ends the run must not wait.
const OPERATIONS_PER_PROGRESS: u64 = 1 << 19;

/// What a run may take.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    operations: Option<u64>,
    /// Operations that can end at one instant.
    ended_at_once: u64,
    /// Instants between two reports of progress.
    instants: u64,
}

impl Budget {
    pub fn new(operations: Option<u64>, ended_at_once: u64) -> Self {
        let instants = (OPERATIONS_PER_PROGRESS / ended_at_once).clamp(1, 1 << 14);
        Budget { operations, ended_at_once, instants }
    }
}

impl<W: Workload, D: Device> Sim<W, D> {
    /// How many instants may pass before the budget is looked at again, or that it is exceeded.
    pub(super) fn instants_in_budget(&self) -> Result<u64, End> {
        let Some(operations) = self.budget.operations else { return Ok(self.budget.instants) };
        let left = operations.checked_sub(self.operations_ended()).ok_or(End::OutOfBudget(operations))?;
        Ok((left / self.budget.ended_at_once).clamp(1, self.budget.instants))
    }

    /// Flash operations that have ended since the run began.
    pub(super) fn operations_ended(&self) -> u64 {
        let before: u64 = self.ended_stages.iter().map(|stage| stage.window.figures.operations()).sum();
        before + self.device.operations()
    }
}
