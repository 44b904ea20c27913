//! The budget of flash operations of a run (`run.max_flash_ops`).
//!
//! An overloaded drive serves every request in the end, but the run may take too long: a block-mapped scheme can copy a
//! hundred pages for each page written. A limit of simulated time does not bound the work of such a run, because the
//! queue grows; a limit of operations does. Unlike a limit of wall-clock time, it ends the run at the same point on
//! every machine.
//!
//! The device already counts operations, so the budget counts nothing itself. It reads the count rarely: after a number
//! of instants in which at most the remaining operations can end, so that no instant passes the limit unnoticed.

use super::{End, Sim};
use crate::connector::{Device, Workload};
use crate::energy::window::Figures;

/// Instants between two reports of progress, times the operations that may end in one. An instant in which thousands of
/// dies work takes long, and a user who stops the run must not wait.
const OPERATIONS_PER_PROGRESS: u64 = 1 << 19;

/// The budget of a run.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    operations: Option<u64>,
    /// Largest number of operations that can end in one instant.
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
    /// Number of instants until the next look at the budget; or the end of the run, if the budget is used up.
    pub(super) fn instants_in_budget(&self) -> Result<u64, End> {
        let Some(operations) = self.budget.operations else { return Ok(self.budget.instants) };
        let left = operations.checked_sub(self.operations_ended()).ok_or(End::OutOfBudget(operations))?;
        Ok((left / self.budget.ended_at_once).clamp(1, self.budget.instants))
    }

    /// Flash operations that have ended since the run began.
    pub(super) fn operations_ended(&self) -> u64 {
        let before: u64 = self.ended_stages.iter().map(|stage| stage.window.figures.operations()).sum();
        let in_window = self.before_cut.as_ref().map_or(0, |window| window.figures.operations());
        before + in_window + self.device.operations()
    }
}
