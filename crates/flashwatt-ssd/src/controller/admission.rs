//! Admission of planned operations: their conditions and their queues.

use std::hint::cold_path;

use super::op::{NewOp, OpQueue, Role, Until};
use super::{Controller, MeteredFlash};
use crate::firmware::Firmware;
use crate::ftl::{Plan, PlanIndex, PlannedOp};
use crate::nand::{Array, FlashAddress};
use crate::observe::probe::Probe;
use crate::operation::{Cause, OpKind};
use flashwatt_base::units::{BlockId, OpId, RequestId};

/// A step of a promotion to a better class.
#[derive(Clone, Copy)]
pub(super) enum Promotion {
    /// Raises an operation, and then those that it waits for.
    Raise(OpId),
    /// Adds an operation, which was removed from its queue, to its new one.
    Link(OpId),
}

impl Controller {
    /// Admits the plan of a request. Returns the number of operations that the request waits for.
    #[inline(always)]
    pub fn admit<P: Probe>(&mut self, request: RequestId, firmware: &Firmware, flash: &mut MeteredFlash<P>) -> u32 {
        if let Some(planned) = firmware.plan.only_op().filter(|_| self.cells.is_none()) {
            let id = self.insert_plain(planned, request, false, &mut flash.array);
            self.enqueue_plain(id);
        } else {
            self.admit_plan(&firmware.plan, request, false, flash);
        }
        self.wake_woken(firmware);
        firmware.plan.ops().len() as u32
    }

    #[inline(never)]
    pub(super) fn admit_plan<P: Probe>(
        &mut self,
        plan: &Plan,
        request: RequestId,
        urgent: bool,
        flash: &mut MeteredFlash<P>,
    ) {
        if self.cells.is_some() {
            cold_path();
            self.note_time(flash.accounts.now());
            plan.slc_blocks().iter().for_each(|&block| flash.array.use_as_slc(block));
        }
        self.ids.clear();
        let mut behind = plan.behind_earlier().iter().peekable();
        for (at, planned) in (0..).map(PlanIndex).zip(plan.ops()) {
            let seq = self.next_seq;
            let choice = self.chosen_page(plan, at, planned, &flash.array, flash.accounts.now());
            let id = self.insert(&choice.op, request, urgent, &mut flash.array);
            if planned.cause == Cause::Map {
                match planned.kind {
                    OpKind::Read => self.map_ops.read_planned(seq, id, flash.accounts.now()),
                    OpKind::Program if planned.source.is_none() => {
                        self.map_ops.write_planned(seq, plan.map_copies, flash.accounts.now())
                    }
                    _ => {} // its collection, or what a register has kept
                }
            }
            if let Some((_, earlier)) = behind.next_if(|(op, _)| *op == at)
                && let Some(older) = self.map_ops.find(*earlier)
            {
                self.wait(id, older, Until::End, &flash.array);
            }
            self.ids.push(id);
            self.enqueue_new(id);
            if !choice.is_final {
                self.wait_everywhere(id, plan, at, &mut flash.array);
            }
        }
        for &(index, block) in plan.more_replaced() {
            flash.array.hold(block);
            self.ops.push_replaced(self.ids[index.0 as usize], block);
        }
        if let Some(old_map) = &mut self.old_map
            && !plan.map_writes().is_empty()
        {
            cold_path();
            old_map.keep(plan, self.next_seq, &mut flash.array);
        }
    }

    /// Makes an operation of a planned one: sets its conditions, and holds the blocks that it needs.
    #[inline(always)]
    pub(super) fn insert(&mut self, planned: &PlannedOp, request: RequestId, urgent: bool, array: &mut Array) -> OpId {
        if self.has_rows() && matches!(planned.kind, OpKind::Program | OpKind::Copy | OpKind::Copyback) {
            cold_path();
            return self.insert_member(planned, request, urgent, array);
        }
        self.insert_plain(planned, request, urgent, array)
    }

    /// As [`Self::insert`], of an operation that is no member of a row.
    #[inline(always)]
    fn insert_plain(&mut self, planned: &PlannedOp, request: RequestId, urgent: bool, array: &mut Array) -> OpId {
        let target = self.geometry.place(planned.ppn);
        let (at, other) = match planned.kind {
            OpKind::Copy => (self.geometry.place(planned.source), target),
            OpKind::Copyback => (target, self.geometry.place(planned.source)),
            _ => (target, FlashAddress { page: planned.sectors.into(), ..FlashAddress::NONE }),
        };
        let id = self.new_op(planned, at, other, request, urgent);
        match planned.kind {
            OpKind::Read | OpKind::SpareRead => self.attach_read(id, at, array),
            OpKind::Program => self.attach_program(id, at, array),
            OpKind::Copy => {
                self.attach_read(id, at, array);
                array.plan_program(target, id); // the order of programs is looked at when the read has ended
            }
            OpKind::Copyback => {
                self.attach_read(id, other, array);
                self.attach_program(id, at, array);
            }
            OpKind::Erase => self.attach_erase(id, at.block, array),
        }
        if planned.replaces.is_some() {
            array.hold(planned.replaces);
        }
        if self.guards_pairs {
            cold_path();
            self.guard(id);
        }
        if let Some(after) = planned.after {
            cold_path();
            self.wait(id, self.ids[after.0 as usize], Until::End, array);
        }
        id
    }

    /// As [`Self::insert`], of a program on a drive with rows: it becomes a member of its row. A copy within a die is a read whose data
    /// stays there, and a program.
    fn insert_member(&mut self, planned: &PlannedOp, request: RequestId, urgent: bool, array: &mut Array) -> OpId {
        let target = self.geometry.place(planned.ppn);
        let id = if planned.kind == OpKind::Program {
            let id = self.new_op(planned, target, FlashAddress::NONE, request, urgent);
            self.ops[id].role = Role::Member;
            id
        } else {
            let source = self.geometry.place(planned.source);
            let id = self.new_op(planned, source, target, request, urgent);
            (self.ops[id].kind, self.ops[id].role) = match planned.kind {
                OpKind::Copyback => (OpKind::Read, Role::OnDie),
                _ => (OpKind::Read, Role::Single),
            };
            self.attach_read(id, source, array);
            id
        };
        array.plan_program(target, id);
        self.join_row(id, target, array);
        if planned.replaces.is_some() {
            array.hold(planned.replaces);
        }
        if let Some(after) = planned.after {
            self.wait(id, self.ids[after.0 as usize], Until::End, array);
        }
        id
    }

    #[inline(always)]
    pub(super) fn new_op(
        &mut self,
        planned: &PlannedOp,
        at: FlashAddress,
        other: FlashAddress,
        request: RequestId,
        urgent: bool,
    ) -> OpId {
        let seq = self.next_seq;
        self.next_seq += 1;
        if let Some(old_map) = &mut self.old_map {
            cold_path();
            old_map.planned(seq, planned.kind);
        }
        let class = self.queues[planned.kind as usize][planned.cause as usize];
        self.ops.insert(NewOp {
            seq,
            kind: if planned.kind == OpKind::Copy { OpKind::Read } else { planned.kind },
            cause: planned.cause,
            queue: if urgent { OpQueue::Front } else { class },
            at,
            other,
            request,
            replaces: planned.replaces,
            is_blank: planned.is_blank,
        })
    }

    /// An erase waits for all planned operations that need the block, including those whose data has been overwritten since.
    #[inline(always)]
    pub(super) fn attach_erase(&mut self, id: OpId, block: BlockId, array: &mut Array) {
        for program in array.unfinished_programs(block) {
            array.hold(block);
            self.ops.release_at_end(program, block);
        }
        if array.holds(block) > 0 {
            array.wait_for_release(block, id);
            self.ops[id].blockers += 1;
            if self.has_rows() {
                cold_path();
                self.look_at_rows_again(self.ops[id].at.die);
            }
        }
    }

    #[inline(always)]
    pub(super) fn attach_read(&mut self, id: OpId, at: FlashAddress, array: &mut Array) {
        array.hold(at.block);
        if !array.is_programmed(at) {
            cold_path();
            match array.pending_program(at) {
                _ if self.ops[id].is_blank => array.plan_blank_read(at),
                Some(program) if self.has_rows() => self.serve_from_memory(id, program, array),
                Some(program) => self.wait(id, program, Until::End, array),
                None => unreachable!("a read was planned of a page that holds nothing"),
            }
        }
    }

    #[inline(always)]
    pub(super) fn attach_program(&mut self, id: OpId, at: FlashAddress, array: &mut Array) {
        array.plan_program(at, id);
        self.keep_order(id, at, array);
    }

    /// A program waits for the start of the program before it in its block, unless the order is certain without that. It is
    /// not certain if the earlier program is the second half of a copy, which joins the queue only after the first half has ended.
    #[inline(always)]
    pub(super) fn keep_order(&mut self, id: OpId, at: FlashAddress, array: &Array) {
        if let Some(before) = array.program_before(at) {
            let (mine, other) = (self.ops[id].queue, &self.ops[before]);
            let is_queued = other.blockers == 0 && !other.turns_into_program();
            let goes_first = other.queue == mine && (is_queued || self.is_ordered(mine));
            if !goes_first {
                self.wait(id, before, Until::Start, array);
            }
        }
    }

    /// Makes `younger` wait for `older`, which inherits its class.
    pub(super) fn wait(&mut self, younger: OpId, older: OpId, until: Until, array: &Array) {
        self.ops.wait(younger, older, until);
        if self.order.inherits {
            self.promote(older, self.ops[younger].queue, array);
        }
    }

    /// Moves an operation, and all operations that it waits for, up to a better class. A list holds the remaining steps: there
    /// can be as many as pages in a block, too many for recursion.
    fn promote(&mut self, id: OpId, queue: OpQueue, array: &Array) {
        if !self.is_below(id, queue) {
            return;
        }
        let mut steps = std::mem::take(&mut self.promotion);
        steps.push(Promotion::Raise(id));
        while let Some(step) = steps.pop() {
            match step {
                Promotion::Raise(id) if self.is_below(id, queue) => self.raise(id, queue, array, &mut steps),
                Promotion::Raise(_) => {}
                Promotion::Link(id) => {
                    self.link(id);
                    self.note_read(id);
                }
            }
        }
        self.promotion = steps;
    }

    /// Whether an operation is in a worse class and can still be moved.
    fn is_below(&self, id: OpId, queue: OpQueue) -> bool {
        let op = &self.ops[id];
        let may_move = op.role.is_queued() && (!op.started || op.turns_into_program());
        op.queue > queue && !self.is_ordered(op.queue) && may_move
    }

    /// Moves one operation up. Adds the next steps to the end of `steps`, in reverse order.
    fn raise(&mut self, id: OpId, queue: OpQueue, array: &Array, steps: &mut Vec<Promotion>) {
        let op = self.ops[id];
        let is_linked = op.blockers == 0 && !op.started; // of a copy half done the program joins the queue later
        if is_linked {
            self.unlink(id);
            self.mark_changed(self.geometry.channel_of(op.at.die)); // its candidate may be another
        }
        self.ops[id].queue = queue;
        let first = steps.len();
        steps.extend(self.ops.awaited(id).map(Promotion::Raise));
        steps[first..].reverse();
        if is_linked {
            steps.push(Promotion::Link(id));
        }
        steps.extend(op.programs().and_then(|at| array.program_before(at)).map(Promotion::Raise));
        if op.role == Role::Read {
            steps.extend(self.stand_ins_of(id).iter().rev().copied().map(Promotion::Raise));
        }
    }

    /// Removes one condition of an operation.
    pub(super) fn unblock(&mut self, id: OpId) {
        let op = &mut self.ops[id];
        op.blockers -= 1;
        if op.blockers == 0 {
            if self.cells.is_some() {
                cold_path();
                return self.enqueue_on_cells(id);
            }
            if self.is_ordered(self.ops[id].queue) {
                self.refresh_ordered(self.ops[id].at.die);
            } else {
                self.link(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::fixture::{SMALL, controller, device, geometry};
    use flashwatt_base::units::Ppn;

    /// A read in the background, of some page.
    fn background_read(controller: &mut Controller, page: u32) -> OpId {
        let at = controller.geometry.place(Ppn(page));
        let planned = PlannedOp {
            kind: OpKind::Read,
            cause: Cause::Gc,
            ppn: Ppn(page),
            source: Ppn(page),
            after: None,
            replaces: BlockId::NONE,
            is_blank: false,
            sectors: 0,
        };
        controller.new_op(&planned, at, FlashAddress::NONE, RequestId(0), false)
    }

    #[test]
    fn everything_that_an_operation_waits_for_inherits_its_class() {
        let (device, geometry) = (device(SMALL), geometry(SMALL));
        let array = Array::new(geometry.clone(), device.nand.program_order);
        let mut controller = Controller::new(&controller(), &device.timing, true, &geometry);
        let [first, second, third, middle, last] = [0, 1, 2, 3, 4].map(|page| background_read(&mut controller, page));
        for awaited in [first, second, third] {
            controller.enqueue_new(awaited);
            controller.wait(middle, awaited, Until::End, &array);
        }
        controller.ops.stop_awaiting(middle, first);
        controller.unblock(middle);
        controller.ops[last].queue = OpQueue::HostRead;
        controller.wait(last, middle, Until::End, &array);
        let queues = [first, second, third, middle].map(|id| controller.ops[id].queue);
        assert_eq!(queues, [OpQueue::Background, OpQueue::HostRead, OpQueue::HostRead, OpQueue::HostRead]);
    }
}
