//! The queues of dies and channels.
//!
//! A queue of operations that are ready is kept by plan number. An *ordered* queue holds all operations planned for it,
//! ready or not, and only its head may start: that is how a die works in order.

use std::hint::cold_path;

use super::Controller;
use super::op::{OpQueue, OpTable};
use super::policies::QueueOrder;
use crate::nand::phases::OpStage;
use crate::operation::{Cause, OpKind};
use flashwatt_base::units::{ChannelId, DieId, Nanos, OpId};

/// Operations linked by `next`.
#[derive(Clone, Copy)]
pub(super) struct OpList {
    pub head: OpId,
    pub tail: OpId,
}

impl Default for OpList {
    fn default() -> Self {
        OpList { head: OpId::NONE, tail: OpId::NONE }
    }
}

/// A die: its running operation and its queues. In cache lines of its own.
#[derive(Clone)]
#[repr(align(128))]
pub(super) struct DieQueue {
    pub channel: ChannelId,
    pub way: u32,
    /// Its bit among those of its channel.
    pub bit: u64,
    pub stage: OpStage,
    pub running: OpId,
    /// Start time of the running operation.
    pub started: Nanos,
    /// Planned and running background operations.
    pub background: u32,
    /// The first free plan number at the time from which the die could be asked for its next background step.
    pub background_since: u64,
    /// Number of operations, one after the other, that started while a worse choice was ready.
    pub bypassed: u32,
    /// Whether the step of background work comes next when the bound of bypasses is reached again.
    pub step_is_next: bool,
    /// A bit for each [`OpQueue`] whose head can start, or whose step of background work can be asked for.
    pub ready: u32,
    pub queues: [OpList; OpQueue::COUNT],
}

impl Default for DieQueue {
    fn default() -> Self {
        DieQueue {
            channel: ChannelId(0),
            way: 0,
            bit: 1,
            stage: OpStage::Idle,
            running: OpId::NONE,
            started: 0,
            background: 0,
            background_since: 0,
            bypassed: 0,
            step_is_next: false,
            ready: 0,
            queues: [OpList { head: OpId::NONE, tail: OpId::NONE }; OpQueue::COUNT],
        }
    }
}

impl DieQueue {
    /// The die's place in the order of its channel's dies, of which the least one is served first: by the best queue that is ready,
    /// and then by the plan number of the operation in front of it. A step of background work has no plan number yet; it comes
    /// first in its queue.
    #[inline(always)]
    pub fn place(&self, ops: &OpTable) -> DiePlace {
        let queue = self.ready.trailing_zeros();
        let head = self.queues[queue as usize].head;
        let seq = if head.is_some() { ops[head].seq } else { 0 };
        debug_assert!(seq >> (QUEUE_SHIFT - WAY_BITS) == 0, "a run has fewer operations");
        DiePlace(u64::from(queue) << QUEUE_SHIFT | seq << WAY_BITS)
    }
}

/// Where the queue stands in a place, above the plan number.
const QUEUE_SHIFT: u32 = u64::BITS - OpQueue::COUNT.ilog2();
/// Bits of a way's number: a channel has as many dies as a word has bits, at most. In a place they lie below the plan number.
pub(super) const WAY_BITS: u32 = u64::BITS.ilog2();

/// A die's place in the order of its channel's dies, see [`DieQueue::place`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct DiePlace(u64);

impl DiePlace {
    /// The queue that the die would serve.
    #[inline(always)]
    pub fn queue(self) -> u8 {
        (self.0 >> QUEUE_SHIFT) as u8
    }

    /// A number for a die with this place: of several dies the one with the least number is served first, the lowest way among
    /// equal places.
    #[inline(always)]
    pub fn number(self, way: u32) -> u64 {
        self.0 | u64::from(way)
    }

    /// The place in such a number.
    #[inline(always)]
    pub fn of_number(number: u64) -> Self {
        DiePlace(number >> WAY_BITS << WAY_BITS)
    }
}

/// A channel's bus and its dies, one bit for each die. In a cache line of its own.
#[derive(Clone)]
#[repr(align(64))]
pub(super) struct Channel {
    /// Dies without a running operation.
    pub idle: u64,
    /// Dies with a ready choice.
    pub ready: u64,
    /// Dies with data that waits for the bus.
    pub data_waits: u64,
    pub bus_free_at: Nanos,
    /// Whether an event will cause a look at the channel when the bus is free: its own, or that of a die that moves data out.
    pub scheduled: bool,
    /// Dies whose choices may be others than at the last look of [`super::many_ways`]. Other drives never look.
    pub stale: u64,
    /// Dies that may begin something beside what they do ([`super::cells`]).
    pub beside: u64,
}

impl Channel {
    pub fn new(ways: u32) -> Self {
        Channel {
            idle: u64::MAX >> (64 - ways),
            ready: 0,
            data_waits: 0,
            bus_free_at: 0,
            scheduled: false,
            stale: u64::MAX,
            beside: 0,
        }
    }

    /// The dies that could start something.
    #[inline(always)]
    pub fn candidates(&self) -> u64 {
        self.idle & self.ready
    }

    /// Whether an operation or data could use the bus if it were free.
    #[inline(always)]
    pub fn has_work(&self) -> bool {
        self.data_waits | self.candidates() != 0
    }
}

/// The set bits of a 64-bit word, by number.
#[inline(always)]
pub(super) fn ways(mut mask: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let way = mask.trailing_zeros();
        mask &= mask - 1;
        Some(way)
    })
}

/// The first way in `mask`, which is not 0, with the least value, and that value.
#[inline(always)]
pub(super) fn least<T: Ord>(mask: u64, value: impl Fn(u32) -> T) -> (u32, T) {
    let first = mask.trailing_zeros();
    let mut least = (first, value(first));
    for way in ways(mask & mask.wrapping_sub(1)) {
        let value = value(way);
        least = if value < least.1 { (way, value) } else { least };
    }
    least
}

/// The queue of an operation, by kind and cause.
pub(super) fn queues_of(order: &QueueOrder) -> [[OpQueue; Cause::ALL.len()]; OpKind::ALL.len()] {
    OpKind::ALL.map(|kind| Cause::ALL.map(|cause| (order.queue_of)(kind, cause)))
}

impl Controller {
    #[inline(always)]
    pub(super) fn is_ordered(&self, queue: OpQueue) -> bool {
        let Some(ordered) = self.order.in_order else { return false };
        cold_path();
        queue == ordered
    }

    /// Whether a die has no operation in a queue. Of a queue that is not ordered the bit of its head tells: the queue itself is not
    /// touched.
    #[inline(always)]
    pub(super) fn has_none_in(&self, die: DieId, queue: OpQueue) -> bool {
        let state = &self.dies[die.idx()];
        let is_ready = state.ready >> queue as u32 & 1 != 0;
        debug_assert!(self.is_ordered(queue) || is_ready == state.queues[queue as usize].head.is_some());
        if self.is_ordered(queue) { state.queues[queue as usize].head.is_none() } else { !is_ready }
    }

    /// Adds a new operation to its queue: now if the queue is ordered, else once it is ready.
    #[inline(always)]
    pub(super) fn enqueue_new(&mut self, id: OpId) {
        if self.cells.is_some() {
            cold_path();
            return self.enqueue_on_cells(id);
        }
        self.enqueue_plain(id);
    }

    /// As [`Self::enqueue_new`], on a die that does one thing at a time.
    #[inline(always)]
    pub(super) fn enqueue_plain(&mut self, id: OpId) {
        let op = &self.ops[id];
        if op.blockers == 0 || self.is_ordered(op.queue) {
            self.link(id);
        }
    }

    /// Whether a die does nothing.
    pub(super) fn is_idle(&self, die: DieId) -> bool {
        let (channel, way) = self.seat(die);
        self.channels[channel.idx()].idle >> way & 1 != 0
    }

    /// Planned and running operations of a die.
    pub(super) fn queue_length(&self, die: DieId) -> u32 {
        let mut length = u32::from(!self.is_idle(die));
        for list in &self.dies[die.idx()].queues {
            let mut at = list.head;
            while at.is_some() {
                (length, at) = (length + 1, self.ops[at].next);
            }
        }
        length
    }

    /// Inserts an operation into its queue by plan number.
    #[inline(always)]
    pub(super) fn link(&mut self, id: OpId) {
        let op = &self.ops[id];
        let (die, queue, seq, is_ready) = (op.at.die, op.queue, op.seq, op.blockers == 0);
        let list = &mut self.dies[die.idx()].queues[queue as usize];
        let is_first = list.head.is_none();
        let before = if is_first { id } else { list.tail };
        if self.ops[before].seq > seq {
            cold_path();
            self.link_before_younger(id);
            return self.mark(die, queue);
        }
        // Whether a queue is empty follows no pattern: what stands before the first in it is the first itself.
        list.head = if is_first { id } else { list.head };
        list.tail = id;
        self.ops[before].next = id;
        self.ops[id].next = OpId::NONE;
        self.set_ready_if(is_first & is_ready, die, queue); // behind others: the head is as ready as it was
    }

    #[cold]
    fn link_before_younger(&mut self, id: OpId) {
        let (die, queue, seq) = (self.ops[id].at.die, self.ops[id].queue, self.ops[id].seq);
        let list = self.dies[die.idx()].queues[queue as usize];
        if self.ops[list.head].seq > seq {
            self.ops[id].next = list.head;
            self.dies[die.idx()].queues[queue as usize].head = id;
            return;
        }
        let mut before = list.head;
        while self.ops[self.ops[before].next].seq < seq {
            before = self.ops[before].next;
        }
        self.ops[id].next = self.ops[before].next;
        self.ops[before].next = id;
    }

    /// Removes an operation from its queue.
    #[inline(always)]
    pub(super) fn unlink(&mut self, id: OpId) {
        let op = &self.ops[id];
        let (die, queue, next) = (op.at.die, op.queue, op.next);
        let list = &mut self.dies[die.idx()].queues[queue as usize];
        if list.head != id {
            return self.unlink_inner(id);
        }
        list.head = next;
        let mut ends = next.is_none();
        if self.is_ordered(queue) && !ends {
            ends = self.ops[next].blockers != 0;
        }
        self.clear_ready_if(ends, die, queue);
    }

    #[cold]
    fn unlink_inner(&mut self, id: OpId) {
        let (die, queue, next) = (self.ops[id].at.die, self.ops[id].queue, self.ops[id].next);
        let mut before = self.dies[die.idx()].queues[queue as usize].head;
        while self.ops[before].next != id {
            before = self.ops[before].next;
        }
        self.ops[before].next = next;
        if next.is_none() {
            self.dies[die.idx()].queues[queue as usize].tail = before;
        }
    }

    /// Checks whether the head of an ordered queue is ready.
    pub(super) fn refresh_ordered(&mut self, die: DieId) {
        if let Some(queue) = self.order.in_order {
            self.mark(die, queue);
        }
    }

    /// Sets or clears the bit of a queue by its head.
    #[cold]
    fn mark(&mut self, die: DieId, queue: OpQueue) {
        let head = self.dies[die.idx()].queues[queue as usize].head;
        if head.is_some() && self.ops[head].blockers == 0 {
            self.set_ready(die, queue);
        } else {
            self.clear_ready(die, queue);
        }
        self.mark_changed(self.dies[die.idx()].channel); // a choice less makes another candidate, too
    }

    /// Sets a choice of a die as ready.
    #[inline(always)]
    pub(super) fn set_ready(&mut self, die: DieId, queue: OpQueue) {
        self.set_ready_if(true, die, queue);
    }

    /// [`Self::set_ready`] if `really`, without a branch, because `really` is unpredictable.
    #[inline(always)]
    fn set_ready_if(&mut self, really: bool, die: DieId, queue: OpQueue) {
        let state = &mut self.dies[die.idx()];
        state.ready |= u32::from(really) << queue as u32;
        let (channel, way) = (state.channel, state.way);
        let bus = &mut self.channels[channel.idx()];
        bus.ready |= u64::from(really) << way;
        bus.stale |= u64::from(really) << way;
        let is_idle = bus.idle >> way & 1 != 0; // a busy die is looked at when it becomes idle
        let has_event = bus.scheduled & !self.competes; // a look follows then; but channels that compete want to know at once
        self.changed.add_if(really & is_idle & !has_event, channel);
    }

    /// Clears a choice of a die.
    #[inline(always)]
    pub(super) fn clear_ready(&mut self, die: DieId, queue: OpQueue) {
        self.clear_ready_if(true, die, queue);
    }

    /// [`Self::clear_ready`] if `really`, without a branch, because `really` is unpredictable.
    #[inline(always)]
    fn clear_ready_if(&mut self, really: bool, die: DieId, queue: OpQueue) {
        let state = &mut self.dies[die.idx()];
        state.ready &= !(u32::from(really) << queue as u32);
        let (channel, way, bit, has_none) = (state.channel, state.way, state.bit, state.ready == 0);
        let bus = &mut self.channels[channel.idx()];
        bus.ready &= !(u64::from(has_none) << way);
        bus.stale |= bit;
    }
}
