//! Reads and erases of dies that do more than one thing at a time.
//!
//! A die that starts a read takes other reads of the same queue with it, one a plane, as `device.bus.joint_reads` allows. Each of them
//! takes the bus for its command, then the array reads all of them at once, for as long as the slowest takes. Their data moves out one
//! after the other, the oldest first; other dies may come between.
//!
//! With `device.bus.cache_read` the array reads the next pages while that data waits or moves: if a read is what the die would serve
//! next, its command goes ahead of the data.

use super::Moving;
use super::dies::{ArrayWork, Shared, Times};
use crate::controller::dispatch::{BYPASS_MAX, referee};
use crate::controller::op::{OpQueue, Role};
use crate::controller::queues::{OpList, ways};
use crate::controller::{Controller, MeteredFlash};
use crate::energy::die_state::OpStates;
use crate::energy::ledger::OpTimes;
use crate::firmware::Firmware;
use crate::nand::settings::{JointReads, ReadTransfer};
use crate::nand::{Array, FlashAddress};
use crate::observe::probe::{OpRecord, Probe};
use crate::operation::{OpClass, OpKind};
use flashwatt_base::units::{ChannelId, DieId, Nanos, OpId};
use flashwatt_core::connector::{Agenda, EventKind};

/// Reads of a queue that are looked at for one that joins. Choice: more than dies have planes, and few enough to cost little.
const LOOK_AT: usize = 64;

impl Controller {
    /// The type of page that an operation reads or programs, for its class and its times.
    fn type_at(&self, at: FlashAddress) -> usize {
        self.geometry.type_of(at.page) as usize
    }

    /// tR of a read.
    fn read_ns(&self, id: OpId, array: &Array) -> Nanos {
        let (op, rules) = (&self.ops[id], &self.cells().rules);
        match op.kind {
            _ if array.is_slc(op.at.block) => rules.slc_read_ns,
            OpKind::SpareRead => rules.spare_read_ns,
            _ => rules.read_ns[self.type_at(op.at)],
        }
    }

    /// How long the data of a read takes on the bus; 0 if none moves out.
    fn data_out_ns(&self, id: OpId) -> Nanos {
        let (op, rules) = (&self.ops[id], &self.cells().rules);
        let moves = op.kind == OpKind::Read && op.role != Role::OnDie && rules.read_transfer == ReadTransfer::OnBus;
        if moves { self.out_ns(id) } else { 0 }
    }

    /// Whether an operation is a read that several dies do not wait for.
    fn is_plain_read(&self, id: OpId) -> bool {
        let op = &self.ops[id];
        matches!(op.kind, OpKind::Read | OpKind::SpareRead) && matches!(op.role, Role::Single | Role::OnDie)
    }

    /// Starts a read, and those that join it.
    pub(super) fn start_reads<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        first: OpId,
        flash: &mut MeteredFlash<P>,
    ) {
        let now = agenda.now();
        let die = self.ops[first].at.die;
        let (reads, planes) = self.join_reads(first);
        self.count_read_meanwhile(die);
        let mut array_ns = 0;
        let all: Vec<OpId> = self.listed(reads).collect();
        for id in all {
            array_ns = array_ns.max(self.read_ns(id, &flash.array));
            let op = &mut self.ops[id];
            op.started = true;
            let (cause, moves) = (op.cause, op.kind == OpKind::Read);
            let crosses = moves && op.role != Role::OnDie;
            referee(op, &mut flash.array);
            flash.array.start_beside_suspended(self.ops[id].at);
            let sectors = if self.courses.moves_parts() { self.ops[id].sectors() } else { 0 };
            if moves {
                flash.accounts.page_moves(now, cause, crosses, sectors);
            }
        }
        let rules = &self.cells().rules;
        let array_start = now + rules.command_ns * Nanos::from(planes);
        let is_beside = self.cells().dies[die.idx()].out.head.is_some();
        let busy_ns = if is_beside { rules.bus.cache_busy_ns } else { 0 };
        let array_end = array_start + array_ns + busy_ns;
        let states = OpStates::of(OpClass::plain(self.ops[first].kind));
        let of = &mut self.cells_mut().dies[die.idx()];
        (of.work, of.reads) = (ArrayWork::Reads, reads);
        (of.started, of.array_start) = (now, array_start);
        self.channels[channel.idx()].bus_free_at = array_start;
        self.set_course(die, now, planes, states, array_start, flash);
        agenda.set(EventKind::Read, self.first_seat + die.0, array_end);
    }

    /// A read with those that join it, which leave their queue, and their number.
    fn join_reads(&mut self, first: OpId) -> (OpList, u32) {
        let mut list = OpList { head: first, tail: first };
        self.ops[first].next = OpId::NONE;
        let mut planes = 1;
        if !self.cells().rules.joins() || !self.is_plain_read(first) {
            return (list, planes);
        }
        let (die, queue, kind) = (self.ops[first].at.die, self.ops[first].queue, self.ops[first].kind);
        let mut taken: u64 = 1 << self.geometry.plane_of(self.ops[first].at.page);
        let mut at = self.dies[die.idx()].queues[queue as usize].head;
        for _ in 0..LOOK_AT {
            if at.is_none() || planes == self.geometry.planes {
                break;
            }
            let next = self.ops[at].next;
            let plane = 1 << self.geometry.plane_of(self.ops[at].at.page);
            let joins = self.is_plain_read(at) && self.ops[at].kind == kind && taken & plane == 0;
            if joins && self.may_join(first, at) {
                taken |= plane;
                self.unlink(at);
                list = self.append(list, at);
                planes += 1;
            }
            at = next;
        }
        (list, planes)
    }

    /// Whether the rule for joint reads lets two of them be one operation.
    fn may_join(&self, first: OpId, other: OpId) -> bool {
        let (first, other) = (self.ops[first].at, self.ops[other].at);
        let is_same_row = || {
            let geometry = &self.geometry;
            first.block == other.block && first.page / geometry.planes == other.page / geometry.planes
        };
        self.cells().rules.bus.joint_reads == JointReads::Any || is_same_row()
    }

    /// Starts reads of dies whose data moves out, or waits for that: the array is free.
    pub(super) fn begin_reads_beside<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        flash: &mut MeteredFlash<P>,
    ) {
        if !self.cells().rules.bus.cache_read || self.with_data_beside(channel) == 0 {
            return;
        }
        while !self.is_taken_by_cells(agenda, channel) {
            let mut dies = ways(self.with_data_beside(channel)).map(|way| self.geometry.die_at(channel, way));
            let Some((die, id)) = dies.find_map(|die| Some((die, self.read_beside(die)?))) else { return };
            self.note_bypass(die, self.ops[id].queue as usize);
            self.unlink(id);
            self.start_on_cells(agenda, channel, id, flash);
        }
    }

    /// The dies of a channel whose data waits for the bus, and that may do something beside.
    fn with_data_beside(&self, channel: ChannelId) -> u64 {
        let bus = &self.channels[channel.idx()];
        bus.beside & bus.data_waits
    }

    /// The read that a die may start beside data that moves out.
    fn read_beside(&self, die: DieId) -> Option<OpId> {
        let of = &self.cells().dies[die.idx()];
        if of.work != ArrayWork::None || of.out.head.is_none() || of.behind.head.is_some() {
            return None;
        }
        if of.is_suspended() {
            return self.read_meanwhile(die).filter(|&id| self.is_plain_read(id));
        }
        let queue = self.best_queue(die)?;
        let state = &self.dies[die.idx()];
        let is_step = queue == OpQueue::Step as usize || queue == OpQueue::UrgentStep as usize;
        let is_bound = state.bypassed >= BYPASS_MAX && state.ready >> (queue + 1) != 0;
        let head = state.queues[queue].head;
        (!is_step && !is_bound && self.is_plain_read(head)).then_some(head)
    }

    /// The array has done its reads: those without data to move end, the others wait for the bus.
    pub(super) fn reads_are_done<P: Probe>(
        &mut self,
        die: DieId,
        planes: u32,
        now: Nanos,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        let of = &mut self.cells_mut().dies[die.idx()];
        let times = Times { start: of.started, array_start: of.array_start, array_end: now, planes };
        let done = std::mem::take(&mut of.reads);
        let all: Vec<OpId> = self.listed(done).collect();
        let mut stay = OpList::default();
        for id in all {
            if self.data_out_ns(id) > 0 {
                stay = self.append(stay, id);
            } else {
                self.finish(id, &times.whole(now, now), times.shared(), firmware, flash);
            }
        }
        let of = &mut self.cells_mut().dies[die.idx()];
        if of.out.head.is_none() {
            (of.out, of.out_times) = (stay, times);
        } else {
            (of.behind, of.behind_times) = (stay, times);
        }
    }

    /// Sends the data of the oldest read of a channel's dies that waits for the bus.
    pub(in crate::controller) fn send_oldest_out<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        flash: &mut MeteredFlash<P>,
    ) {
        let way = self.oldest_out(channel, self.channels[channel.idx()].data_waits);
        let die = self.geometry.die_at(channel, way);
        self.book_transfer(die, agenda.now(), None, flash);
        let read = self.cells().dies[die.idx()].out.head;
        let ns = self.data_out_ns(read);
        self.begin_transfer(agenda, channel, ns, Moving::Out(die, read));
        self.restate(die, agenda.now(), flash);
    }

    /// The data of a read has moved out: the read ends.
    pub(super) fn data_is_out<P: Probe>(
        &mut self,
        die: DieId,
        read: OpId,
        now: Nanos,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        let ns = self.data_out_ns(read);
        let next = self.ops[read].next;
        let of = &mut self.cells_mut().dies[die.idx()];
        debug_assert_eq!(of.out.head, read);
        let (times, shared) = (of.out_times.whole(now - ns, now), of.out_times.shared());
        of.out.head = next;
        if next.is_none() {
            (of.out, of.out_times) = (std::mem::take(&mut of.behind), of.behind_times);
        }
        self.finish(read, &times, shared, firmware, flash);
    }

    /// Starts an erase.
    pub(super) fn start_erase<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        id: OpId,
        flash: &mut MeteredFlash<P>,
    ) {
        let now = agenda.now();
        let op = &mut self.ops[id];
        op.started = true;
        let die = op.at.die;
        referee(op, &mut flash.array);
        flash.array.start_alone(self.ops[id].at);
        let rules = &self.cells().rules;
        let (planes, erase_ns, array_start) = (rules.planes, rules.erase_ns, now + rules.command_ns);
        let of = &mut self.cells_mut().dies[die.idx()];
        (of.work, of.started, of.array_start) = (ArrayWork::Erase(id), now, array_start);
        self.channels[channel.idx()].bus_free_at = array_start;
        let states = OpStates::of(OpClass::plain(OpKind::Erase));
        self.set_course(die, now, planes, states, array_start, flash);
        self.set_array_end(agenda, die, array_start, erase_ns);
    }

    /// An erase has ended.
    pub(super) fn erase_has_ended<P: Probe>(
        &mut self,
        id: OpId,
        now: Nanos,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        let die = self.ops[id].at.die;
        let planes = self.geometry.planes;
        let of = &mut self.cells_mut().dies[die.idx()];
        let start = of.started;
        let (array_start, suspensions) = of.end_of_work();
        let times = OpTimes { start, array_start, array_end: now, out_start: now, end: now };
        let shared = Shared { in_end: array_start, pages: 1, planes, suspensions: &suspensions, earlier_moves: &[] };
        self.finish(id, &times, shared, firmware, flash);
    }

    /// Ends an operation: of a copy its first half.
    pub(super) fn finish<P: Probe>(
        &mut self,
        id: OpId,
        times: &OpTimes,
        shared: Shared,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        let op = &self.ops[id];
        let class = flash.array.class(op.at, op.kind);
        flash.accounts.count(class, op.cause, 1);
        flash.accounts.probe.op_ended(&OpRecord { op: op.facts(), times, cells: Some(shared.facts(class)) });
        self.end_on_cells(id, times.end, firmware, flash);
    }

    /// A read of a page whose row is not on flash yet ends: memory has the page.
    pub(super) fn read_in_memory<P: Probe>(&mut self, id: OpId, firmware: &mut Firmware, flash: &mut MeteredFlash<P>) {
        let (now, op) = (flash.accounts.now(), &self.ops[id]);
        let dram_bytes = flash.accounts.page_from_memory(now, op.cause, op.sectors());
        flash.accounts.probe.read_from_memory(now, &op.facts(), dram_bytes);
        self.end_on_cells(id, now, firmware, flash);
    }

    /// An operation has ended: of a copy the first half, whose data then waits for its row.
    fn end_on_cells<P: Probe>(&mut self, id: OpId, now: Nanos, firmware: &mut Firmware, flash: &mut MeteredFlash<P>) {
        let op = &self.ops[id];
        let (kind, block) = (op.kind, op.at.block);
        if op.turns_into_program() {
            self.release(block, &mut flash.array);
            return self.half_is_done(id);
        }
        self.any_ended = true;
        let ended = self.conclude(id, kind, now, firmware, flash);
        self.cells_mut().ended.extend(ended);
    }
}
