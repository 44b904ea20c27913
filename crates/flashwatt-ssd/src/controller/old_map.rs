//! Old copies of pages of the map, which a drive keeps that finds its map on flash again after a power cut.
//!
//! A page of the map may name data whose program has not ended. If the power is cut then, the older copy of the page alone has the
//! address of the older data. So the block of that copy is not erased before all programs have ended that were planned before the
//! new copy. No program waits for that.

use std::collections::VecDeque;

use crate::ftl::{Plan, PlannedOp};
use crate::nand::Array;
use crate::operation::{Cause, OpKind};
use flashwatt_base::units::{BlockId, OpId};

/// What is kept.
#[derive(Clone, Default)]
pub(super) struct OldMap {
    /// Programs with lower numbers have ended.
    first: u64,
    /// Of each operation from that number on: whether it has ended, or is no program.
    ended: VecDeque<bool>,
    writes: VecDeque<OldMapWrites>,
    /// Entries that the programs of `writes` change.
    changes: u64,
}

/// Writes of pages of the map in one plan.
#[derive(Clone)]
struct OldMapWrites {
    /// The number of the first operation after the plan.
    until: u64,
    changes: u64,
    /// The blocks of the old copies.
    held: Vec<BlockId>,
}

impl OldMap {
    /// An operation is planned. Numbers rise one by one.
    pub fn planned(&mut self, number: u64, kind: OpKind) {
        let is_program = matches!(kind, OpKind::Program | OpKind::Copy | OpKind::Copyback);
        if self.ended.is_empty() {
            if !is_program {
                return;
            }
            self.first = number;
        }
        debug_assert_eq!(self.first + self.ended.len() as u64, number);
        self.ended.push_back(!is_program);
    }

    /// Keeps what the writes of a plan replace. `until`: the number of the first operation after it.
    pub fn keep(&mut self, plan: &Plan, until: u64, array: &mut Array) {
        let writes = |op: &PlannedOp| op.kind == OpKind::Program && op.cause == Cause::Map;
        let first = plan.ops().iter().filter(|op| writes(op) && op.replaces.is_some()).map(|op| op.replaces);
        let more = plan.more_replaced().iter().filter(|(op, _)| writes(&plan.ops()[op.0 as usize]));
        let mut held: Vec<BlockId> = first.chain(more.map(|&(_, block)| block)).collect();
        held.sort_unstable();
        held.dedup();
        held.iter().for_each(|&block| array.hold(block));
        let changes = plan.map_writes().iter().map(|write| u64::from(write.changes)).sum();
        self.changes += changes;
        self.writes.push_back(OldMapWrites { until, changes, held });
    }

    /// An operation has ended. Returns the blocks that need not be kept any longer.
    pub fn ended(&mut self, number: u64) -> Vec<BlockId> {
        if let Some(ended) = number.checked_sub(self.first).and_then(|at| self.ended.get_mut(at as usize)) {
            *ended = true;
        }
        while self.ended.front() == Some(&true) {
            self.ended.pop_front();
            self.first += 1;
        }
        let mut released = Vec::new();
        let is_over = |write: &OldMapWrites| self.ended.is_empty() || write.until <= self.first;
        while self.writes.front().is_some_and(is_over) {
            let Some(OldMapWrites { changes, held, .. }) = self.writes.pop_front() else { break };
            self.changes -= changes;
            released.extend(held);
        }
        released
    }

    /// Entries of the map that operations bring which have not ended, or more.
    pub fn changes(&self) -> u64 {
        self.changes + self.ended.iter().filter(|&&ended| !ended).count() as u64
    }
}

impl super::Controller {
    /// From now on old copies of pages of the map are kept.
    pub fn keep_old_map(&mut self) {
        self.old_map = Some(Box::default());
    }

    /// Old copies of pages of the map are not kept any longer. A fault on purpose.
    pub fn forget_old_map(&mut self) {
        self.old_map = None;
    }

    /// Entries of the map that operations bring which have not ended, or more; 0 unless old copies are kept.
    pub fn map_changes(&self) -> u64 {
        self.old_map.as_ref().map_or(0, |old_map| old_map.changes())
    }

    /// An operation has ended.
    #[inline(never)]
    pub(super) fn ended_for_old_map(&mut self, id: OpId, array: &mut Array) {
        let number = self.ops[id].seq;
        let released = self.old_map.as_mut().map(|old_map| old_map.ended(number)).unwrap_or_default();
        released.into_iter().for_each(|block| self.release(block, array));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::fixture::{SMALL, geometry};
    use crate::ftl::plan::MapWrite;
    use crate::nand::settings::ProgramOrder;
    use flashwatt_base::units::Ppn;

    /// Operations 3 to 6: a read, a program, a page of the map in place of one in block 1, and a program after that.
    #[test]
    fn a_block_is_kept_until_all_programs_before_the_new_copy_have_ended() {
        let mut array = Array::new(geometry(SMALL), ProgramOrder::Ascending);
        let (mut old_map, mut plan, block) = (OldMap::default(), Plan::default(), BlockId(1));
        let page = plan.program(Ppn(0), Cause::Map, None);
        plan.replaces(page, block);
        plan.writes_map(MapWrite { page: 0, changes: 2, content: Vec::new() });
        for (number, kind) in (3..).zip([OpKind::Read, OpKind::Program, OpKind::Program]) {
            old_map.planned(number, kind);
        }
        old_map.keep(&plan, 6, &mut array);
        old_map.planned(6, OpKind::Program);
        assert_eq!((array.holds(block), old_map.changes()), (1, 2 + 3));
        assert_eq!(old_map.ended(5), [], "the program before it has not ended");
        assert_eq!(old_map.ended(4), [block], "the one after it does not matter");
        assert_eq!(old_map.changes(), 1);
        assert_eq!((old_map.ended(6), old_map.changes()), (Vec::new(), 0));
    }
}
