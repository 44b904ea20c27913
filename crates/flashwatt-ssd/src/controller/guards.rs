//! Programs of upper pages, which wait until the lower pages of the same cells are safe from a power cut.
//!
//! A program of an upper page is noted when it is planned, and does not start before the drive has looked at it: it lets the program
//! go, or gives it a backup of the lower page to wait for.

use super::op::Until;
use super::{Controller, MeteredFlash};
use crate::firmware::Firmware;
use crate::nand::{Array, FlashAddress};
use crate::observe::probe::Probe;
use crate::operation::OpKind;
use flashwatt_base::units::{OpId, RequestId};

/// A program of an upper page that waits for the drive to look at it, or a copy to such a page.
#[derive(Clone, Copy, Debug)]
pub struct Upper {
    /// The operation.
    pub op: OpId,
    /// Its page.
    pub at: FlashAddress,
}

impl Controller {
    /// From now on programs of upper pages wait.
    pub fn guard_pairs(&mut self) {
        self.guards_pairs = true;
    }

    /// Takes the programs of upper pages that have been planned since the last call, in the order of their planning. `into` is
    /// empty.
    pub fn take_uppers(&mut self, into: &mut Vec<Upper>) {
        std::mem::swap(&mut self.uppers, into);
    }

    /// Makes a new operation wait if it programs an upper page.
    #[inline(never)]
    pub(super) fn guard(&mut self, op: OpId) {
        if let Some(at) = self.ops[op].programs().filter(|at| at.is_upper()) {
            self.ops[op].blockers += 1;
            self.uppers.push(Upper { op, at });
        }
    }

    /// Lets the program of an upper page go: it needs no backup.
    pub fn let_go(&mut self, upper: &Upper) {
        self.unblock(upper.op);
    }

    /// Admits the plan of a backup, for which the program of an upper page waits. The data of a backup that is no copy is in memory
    /// when the program of the lower page starts.
    pub fn admit_backup<P: Probe>(&mut self, upper: &Upper, firmware: &Firmware, flash: &mut MeteredFlash<P>) {
        let Some(planned) = firmware.plan.only_op() else { unreachable!("a backup is one operation") };
        let backup = self.insert(planned, RequestId::BACKUP, self.has_order(), &mut flash.array);
        let lower = upper.at.lower().and_then(|at| flash.array.pending_program(at));
        if let Some(lower) = lower.filter(|_| planned.kind == OpKind::Program) {
            let op = &self.ops[lower];
            if !op.started || op.turns_into_program() {
                self.wait(backup, lower, Until::Start, &flash.array);
            }
        }
        self.enqueue_new(backup);
        self.wait(upper.op, backup, Until::End, &flash.array);
        self.unblock(upper.op);
    }

    /// Admits the plan of operations on blocks that the drive keeps for itself. `urgent`: others wait for them. Returns their number.
    pub fn admit_own<P: Probe>(
        &mut self,
        request: RequestId,
        urgent: bool,
        firmware: &Firmware,
        flash: &mut MeteredFlash<P>,
    ) -> u32 {
        self.admit_plan(&firmware.plan, request, urgent || self.has_order(), flash);
        firmware.plan.ops().len() as u32
    }

    /// Whether a queue is worked off strictly as planned. What its head waits for must not stand behind it.
    pub(super) fn has_order(&self) -> bool {
        self.order.in_order.is_some()
    }

    /// The operation that programs a page, if one is planned or under way, and whether its data passes the controller's memory.
    pub fn program_of(&self, at: FlashAddress, array: &Array) -> Option<bool> {
        array.pending_program(at).map(|op| self.ops[op].kind != OpKind::Copyback)
    }
}
