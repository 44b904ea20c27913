//! Events of the controller: reads end in the array, operations end, and operations that waited for them become ready.

use std::hint::cold_path;

use super::dispatch::OpStart;
use super::op::Until;
use super::settings::BusOrder;
use super::{Controller, EndedOp, MeteredFlash};
use crate::energy::DieState;
use crate::energy::die_state::OpStates;
use crate::firmware::Firmware;
use crate::ftl::PlanNumber;
use crate::nand::phases::OpStage;
use crate::nand::{Array, FlashAddress};
use crate::observe::probe::{OpRecord, Probe};
use crate::operation::{Cause, OpClass, OpKind};
use flashwatt_base::units::{BlockId, ChannelId, DieId, Nanos, OpId};
use flashwatt_core::connector::Agenda;

impl Controller {
    /// Whether an event belongs to a die, see [`Self::die_event`].
    #[inline(always)]
    pub fn is_of_die(&self, event: u32) -> bool {
        event < self.geometry.dies
    }

    /// Handles an event of a channel or of the slot.
    #[inline(always)]
    pub fn bus_event<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        event: u32,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        if event < self.slot_event() {
            let channel = ChannelId(event - self.geometry.dies);
            self.channels[channel.idx()].scheduled = false;
            self.mark_changed(channel);
            if self.cells.is_some() {
                cold_path();
                self.bus_of_cells_is_free(agenda, channel, firmware, flash);
            }
        } else {
            self.slot_is_free();
        }
    }

    /// Handles an event of a die. Returns the operation that ended, if any.
    #[inline(always)]
    pub fn die_event<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        die: DieId,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) -> Option<EndedOp> {
        let state = &self.dies[die.idx()];
        match state.stage {
            OpStage::Reading => {
                self.read_from_array(agenda, die, flash);
                None
            }
            OpStage::Apart => {
                cold_path();
                self.array_has_ended(agenda, die, firmware, flash);
                None
            }
            stage => {
                let (channel, kind) = (state.channel, self.ops[state.running].kind);
                self.channels[channel.idx()].scheduled &= stage != OpStage::Out; // no branch: which it is follows no pattern
                self.end(agenda, die, kind, firmware, flash)
            }
        }
    }

    /// A read's data is in the page register. It takes the bus now if that is free and nothing else of this instant could go before
    /// it: other data, or under [`BusOrder::CommandFirst`] a command. Otherwise dispatch decides after all events of this instant.
    #[inline(always)]
    pub(super) fn read_from_array<P: Probe>(&mut self, agenda: &mut Agenda, die: DieId, flash: &mut MeteredFlash<P>) {
        let now = agenda.now();
        let (channel, way) = self.seat(die);
        let state = &mut self.channels[channel.idx()];
        // One branch for all conditions: few of them follow a pattern. The compiler keeps it one because the set of changed
        // channels needs the result as a number. If the bus has an event, a look follows that.
        let is_free = (now >= state.bus_free_at) & !state.scheduled;
        let is_only_event = self.reads_end_apart | (!self.changed.has(channel) & !agenda.any_now());
        let alone = is_free & (state.data_waits == 0) & is_only_event & (self.bus_order == BusOrder::DataFirst);
        self.changed.add_if(!alone & !state.scheduled, channel);
        if alone {
            self.send_data(agenda, channel, die, self.read_states(die).array, flash);
        } else {
            let state = &mut self.channels[channel.idx()];
            state.data_waits |= 1 << way;
            self.dies[die.idx()].stage = OpStage::DataWait;
            if let Some(numbers) = &mut self.many_ways {
                cold_path();
                numbers.data_waits(die, self.ops[self.dies[die.idx()].running].seq);
            }
            flash.accounts.die(now, self.read_states(die).array, DieState::DataWait);
        }
    }

    /// The states of a die in the read that it runs.
    #[inline(always)]
    pub(super) fn read_states(&self, die: DieId) -> OpStates {
        OpStates::of(self.ops[self.dies[die.idx()].running].at.class(OpKind::Read))
    }

    /// Ends the running operation of a die.
    #[inline(always)]
    pub(super) fn end<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        die: DieId,
        kind: OpKind,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) -> Option<EndedOp> {
        let now = agenda.now();
        let state = &mut self.dies[die.idx()];
        let (channel, way, id, start) = (state.channel, state.way, state.running, state.started);
        (state.running, state.stage) = (OpId::NONE, OpStage::Idle);
        let bus = &mut self.channels[channel.idx()];
        let bit = 1 << way;
        (bus.idle, bus.stale) = (bus.idle | bit, bus.stale | bit);
        let op = &self.ops[id];
        let (cause, at, half_done) = (op.cause, op.at, op.turns_into_program());
        let class = at.class(kind);
        let course = self.courses.of(class);
        let mut over_ns = (now - start).wrapping_sub(course.whole_ns);
        if self.courses.moves_parts() {
            over_ns = over_ns.wrapping_add(self.moved_less(id, class, cause, flash));
        }
        flash.accounts.op_ended(now, class, cause, course.last, over_ns);
        if flash.accounts.began_before(start) {
            self.began_before(id, class, cause, start, now, flash);
        }
        flash.accounts.probe.op_ended(&OpRecord {
            op: self.ops[id].facts(),
            times: &self.courses.times(class, start, now, self.out_ns(id)),
            cells: None,
        });
        if half_done {
            self.release(at.block, &mut flash.array);
            self.turn_into_program(agenda, id, channel, way, flash);
            return None;
        }
        self.any_ended = true;
        let may_start = self.channels[channel.idx()].has_work() | self.end_frees_power;
        self.changed.add_if(may_start, channel); // what becomes ready from here on adds its channel
        self.conclude(id, kind, now, firmware, flash)
    }

    /// Books that the data of an operation which ends took less time on the bus than a whole page. Returns that time in ns.
    #[cold]
    fn moved_less<P: Probe>(&self, id: OpId, class: OpClass, cause: Cause, flash: &mut MeteredFlash<P>) -> Nanos {
        let less_ns = self.courses.out_ns(0) - self.out_ns(id);
        flash.accounts.moved_part(class, cause, less_ns);
        less_ns
    }

    /// Accounts for an operation that began before the current window.
    #[cold]
    fn began_before<P: Probe>(
        &self,
        id: OpId,
        class: OpClass,
        cause: Cause,
        start: Nanos,
        now: Nanos,
        flash: &mut MeteredFlash<P>,
    ) {
        let times = self.courses.times(class, start, now, self.out_ns(id));
        flash.accounts.op_began_before(class, cause, &times);
    }

    /// An operation has ended as a whole: what it has done counts, and what waited for it goes on. Returns the end, unless it is held back.
    #[inline(always)]
    pub(super) fn conclude<P: Probe>(
        &mut self,
        id: OpId,
        kind: OpKind,
        now: Nanos,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) -> Option<EndedOp> {
        let op = &self.ops[id];
        let (cause, at, request, source) = (op.cause, op.at, op.request, op.other.block);
        self.apply_end(kind, at, source, firmware, flash);
        let is_held = self.holds.is_some() && self.ends_with_holds(id, kind, at, flash);
        self.release_dependents(id, flash);
        if self.old_map.is_some() {
            cold_path();
            self.ended_for_old_map(id, &mut flash.array);
        }
        if cause == Cause::Map {
            cold_path();
            self.map_ops.ended(kind, self.ops[id].seq, now, flash.accounts.map_latency());
            firmware.plan.settled(self.map_ops.settled(self.next_seq));
        }
        let number = PlanNumber(self.ops[id].seq);
        self.ops.remove(id);
        if let Some(die) = request.as_background() {
            self.background_ended(die);
        }
        if is_held {
            cold_path();
            return self.hold_end(at, EndedOp { request, kind, number });
        }
        Some(EndedOp { request, kind, number })
    }

    /// A step of a die's background work has ended; the die can ask for the next one.
    #[inline(always)]
    pub(super) fn background_ended(&mut self, die: DieId) {
        let state = &mut self.dies[die.idx()];
        state.background -= 1;
        if state.background == 0 {
            state.background_since = self.next_seq;
            self.set_ready(die, self.step_queue(die));
        }
    }

    /// The read of a copy has ended: its program joins the queue, or starts now if no other operation can precede it.
    #[inline(always)]
    pub(super) fn turn_into_program<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        id: OpId,
        channel: ChannelId,
        way: u32,
        flash: &mut MeteredFlash<P>,
    ) {
        let op = &mut self.ops[id];
        op.kind = OpKind::Program;
        op.started = false;
        let at = std::mem::replace(&mut op.other, FlashAddress::NONE);
        op.at = at;
        self.keep_order(id, at, &flash.array);
        if self.is_alone(agenda, channel, id) {
            self.dies[at.die.idx()].bypassed = 0;
            return self.start(agenda, channel, OpStart { die: at.die, way, op: id, is_queued: false }, flash);
        }
        self.mark_changed(channel);
        self.enqueue_new(id);
    }

    /// Whether a new, ready operation is certain to be the next one on its channel without a look at the queues: no other event
    /// of this instant, and no other candidate on the channel.
    #[inline(always)]
    pub(super) fn is_alone(&self, agenda: &Agenda, channel: ChannelId, id: OpId) -> bool {
        let (op, bus) = (&self.ops[id], &self.channels[channel.idx()]);
        let is_only_event = self.changed.is_empty() && !self.any_ended && !agenda.any_now() && !self.competes;
        is_only_event
            && agenda.now() >= bus.bus_free_at
            && !bus.has_work()
            && op.blockers == 0
            && self.has_none_in(op.at.die, op.queue)
    }

    /// Applies the end of an operation to the array and to the translation layer.
    #[inline(always)]
    pub(super) fn apply_end<P: Probe>(
        &mut self,
        kind: OpKind,
        at: FlashAddress,
        source: BlockId,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        match kind {
            OpKind::Read | OpKind::SpareRead | OpKind::Copy => self.release(at.block, &mut flash.array),
            OpKind::Program | OpKind::Copyback => {
                if kind == OpKind::Copyback {
                    self.release(source, &mut flash.array);
                }
                if flash.array.end_program(at) {
                    cold_path();
                    firmware.blocks.close(at.block);
                    self.wake(at.die, firmware);
                }
            }
            OpKind::Erase => {
                cold_path();
                flash.array.end_erase(at.block);
                firmware.erased(at.block, &flash.array);
                self.wake(at.die, firmware);
                self.wake_woken(firmware);
            }
        }
    }

    /// Releases the operations that waited for an operation's end.
    #[inline(always)]
    pub(super) fn release_dependents<P: Probe>(&mut self, id: OpId, flash: &mut MeteredFlash<P>) {
        let replaces = self.ops[id].replaces;
        if replaces.is_some() {
            self.release(replaces, &mut flash.array);
            while let Some(block) = self.ops.pop_replaced(id) {
                self.release(block, &mut flash.array);
            }
        }
        while let Some(waiting) = self.ops.pop_dependent(id, Until::End) {
            self.ops.stop_awaiting(waiting, id);
            self.unblock(waiting);
        }
    }

    #[inline(always)]
    pub(super) fn release(&mut self, block: BlockId, array: &mut Array) {
        if let Some(erase) = array.release(block) {
            self.unblock(erase);
        }
    }
}
