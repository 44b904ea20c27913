//! What starts, on which die and bus, and in which order.

use std::hint::cold_path;

use super::events::EventKind;
use super::op::{Op, Queue, Role, Until};
use super::queues::{Die, Stage, ways};
use super::{Controller, Hardware};
use crate::brain::Brain;
use crate::device::Array;
use crate::energy::DieState;
use crate::ftl::{OpKind, PlannedOp};
use crate::probe::{Probe, Purpose};
use crate::units::{ChannelId, DieId, Nanos, OpId, RequestId};

/// An operation that has waited while so many others of better classes went ahead of it on its die goes next. Without it
/// a stream of reads could hold up writes, and collection, for ever.
const BYPASS_MAX: u32 = 64;

/// What starts next: on which die of its channel, and which operation.
#[derive(Clone, Copy)]
pub(super) struct Chosen {
    pub die: DieId,
    pub way: u32,
    pub op: OpId,
    /// Is it in its queue?
    pub is_queued: bool,
}

impl Controller {
    /// Starts everything that can start now.
    #[inline(always)]
    pub fn dispatch<P: Probe>(&mut self, now: Nanos, brain: &mut Brain, hw: &mut Hardware<P>) {
        while let Some(channel) = self.take_dirty() {
            if self.by_turns {
                cold_path();
                self.touch(channel);
                return self.dispatch_by_turns(now, brain, hw);
            }
            self.dispatch_channel(now, channel, brain, hw);
        }
    }

    #[inline(always)]
    pub(super) fn take_dirty(&mut self) -> Option<ChannelId> {
        let first = self.dirty;
        if first.is_none() {
            return None;
        }
        let bus = &mut self.channels[first.idx()];
        bus.dirty = false;
        self.dirty = bus.next_dirty;
        Some(first)
    }

    #[inline(always)]
    pub(super) fn dispatch_channel<P: Probe>(
        &mut self,
        now: Nanos,
        channel: ChannelId,
        brain: &mut Brain,
        hw: &mut Hardware<P>,
    ) {
        loop {
            if self.is_bus_taken(now, channel) {
                return;
            }
            if self.channels[channel.idx()].data_waits != 0 {
                self.move_out(now, channel, hw);
            } else {
                match self.choose(now, channel, brain, hw) {
                    Some(chosen) => self.start(now, channel, chosen, hw),
                    None => return,
                }
            }
        }
    }

    /// Channels wait for one slot, or for the power budget: whenever one more operation may start, the oldest that could on any
    /// of them does.
    #[inline(never)]
    pub(super) fn dispatch_by_turns<P: Probe>(&mut self, now: Nanos, brain: &mut Brain, hw: &mut Hardware<P>) {
        while self.dirty.is_some() {
            while let Some(channel) = self.take_dirty() {
                while !self.is_bus_taken(now, channel) && self.channels[channel.idx()].data_waits != 0 {
                    self.move_out(now, channel, hw);
                }
            }
            while self.has_power()
                && let Some((channel, chosen)) = self.oldest_of_channels(now, brain, hw)
            {
                self.start(now, channel, chosen, hw);
                self.slot_free_at = now + self.timing.channel_switch_ns;
            }
            // A step of background work may have gone to a channel that had been looked at before.
        }
    }

    /// May one more die work? If not, channels are looked at again when one has ended its operation.
    fn has_power(&self) -> bool {
        let idle: u32 = self.channels.iter().map(|channel| channel.idle.count_ones()).sum();
        self.geometry.dies - idle < self.active_dies_max
    }

    /// The oldest operation that could start on any channel. If the slot is not free yet, its event is set instead.
    pub(super) fn oldest_of_channels<P: Probe>(
        &mut self,
        now: Nanos,
        brain: &mut Brain,
        hw: &mut Hardware<P>,
    ) -> Option<(ChannelId, Chosen)> {
        let mut oldest: Option<(ChannelId, Chosen)> = None;
        for channel in (0..self.geometry.channels).map(ChannelId) {
            if !self.channels[channel.idx()].has_work() || self.is_bus_taken(now, channel) {
                continue;
            }
            if now < self.slot_free_at {
                self.events.reset(self.slot_event(), self.slot_free_at);
                return None;
            }
            if let Some(chosen) = self.choose(now, channel, brain, hw) {
                let is_older = |than: &Chosen| self.ops[chosen.op].seq < self.ops[than.op].seq;
                if oldest.as_ref().is_none_or(|(_, than)| is_older(than)) {
                    oldest = Some((channel, chosen));
                }
            }
        }
        oldest
    }

    /// Is the bus taken? If so and something waits for it, its event is set.
    #[inline(always)]
    pub(super) fn is_bus_taken(&mut self, now: Nanos, channel: ChannelId) -> bool {
        let state = &mut self.channels[channel.idx()];
        if now >= state.bus_free_at {
            return false;
        }
        if !state.scheduled && state.has_work() {
            state.scheduled = true;
            self.events.set(EventKind::Bus, self.geometry.dies + channel.0, state.bus_free_at);
        }
        true
    }

    /// The oldest read whose data waits on a channel moves out.
    #[inline(always)]
    pub(super) fn move_out<P: Probe>(&mut self, now: Nanos, channel: ChannelId, hw: &mut Hardware<P>) {
        let waits = self.channels[channel.idx()].data_waits;
        let way = self.oldest(channel, waits, |die| die.running);
        self.channels[channel.idx()].data_waits &= !(1 << way);
        let die = self.geometry.die_at(channel, way);
        self.move_die_out(now, channel, die, DieState::DataWait, hw);
    }

    #[inline(always)]
    pub(super) fn move_die_out<P: Probe>(
        &mut self,
        now: Nanos,
        channel: ChannelId,
        die: DieId,
        from: DieState,
        hw: &mut Hardware<P>,
    ) {
        let end = now + self.timing.page_transfer_ns;
        let bus = &mut self.channels[channel.idx()];
        debug_assert!(!bus.scheduled);
        (bus.bus_free_at, bus.scheduled) = (end, true); // the die's event comes then
        let state = &mut self.dies[die.idx()];
        state.stage = Stage::Out;
        hw.books.die(now, from, DieState::ReadBus);
        self.events.set(EventKind::Transfer, die.0, end);
    }

    /// What starts next on this channel: the operation of the best class, among those the oldest. Asks for background work
    /// where its turn comes.
    #[inline(always)]
    pub(super) fn choose<P: Probe>(
        &mut self,
        now: Nanos,
        channel: ChannelId,
        brain: &mut Brain,
        hw: &mut Hardware<P>,
    ) -> Option<Chosen> {
        loop {
            let state = &self.channels[channel.idx()];
            let candidates = state.idle & state.ready;
            if candidates == 0 {
                return None;
            }
            let (way, queue) = self.best(channel, candidates);
            let die = self.geometry.die_at(channel, way);
            if queue == Queue::Job as u8 || queue == Queue::UrgentJob as u8 {
                let is_sure = candidates & (candidates - 1) == 0 && !self.by_turns;
                if let Some(op) = self.pull(now, die, queue == Queue::UrgentJob as u8, is_sure, brain, hw) {
                    return Some(Chosen { die, way, op, is_queued: false });
                }
            } else if let Some(op) = self.fair(die, queue) {
                return Some(Chosen { die, way, op, is_queued: true });
            }
        }
    }

    /// The best of the dies in `candidates`, and the queue that it would serve.
    #[inline(always)]
    pub(super) fn best(&self, channel: ChannelId, candidates: u64) -> (u32, u8) {
        let queue = |way: u32| self.dies[self.geometry.die_at(channel, way).idx()].ready.trailing_zeros() as u8;
        let first = candidates.trailing_zeros();
        if candidates & (candidates - 1) == 0 {
            return (first, queue(first));
        }
        let rank = |way: u32| {
            let queue = queue(way);
            let head = self.dies[self.geometry.die_at(channel, way).idx()].queues[queue as usize].head;
            (queue, if head.is_some() { self.ops[head].seq } else { 0 })
        };
        let way = ways(candidates).min_by_key(|&way| rank(way)).unwrap_or(first);
        (way, queue(way))
    }

    /// What a die serves if its best queue is `queue`: the head of that, or the oldest of all once others have been passed
    /// over too often, by turns with background work: where its turn comes it becomes urgent, and there is no answer yet.
    #[inline(always)]
    pub(super) fn fair(&mut self, die: DieId, queue: u8) -> Option<OpId> {
        let state = &mut self.dies[die.idx()];
        let head = state.queues[queue as usize].head;
        if state.ready >> (queue + 1) == 0 {
            state.bypassed = 0;
            return Some(head);
        }
        state.bypassed += 1;
        if state.bypassed <= BYPASS_MAX { Some(head) } else { self.oldest_ready(die, queue) }
    }

    #[cold]
    pub(super) fn oldest_ready(&mut self, die: DieId, queue: u8) -> Option<OpId> {
        let state = &mut self.dies[die.idx()];
        state.bypassed = 0;
        let job = 1 << Queue::Job as u8;
        let operations_wait = (state.ready & !job) >> (queue + 1) != 0;
        let is_jobs_turn = state.ready & job != 0 && (state.job_is_next || !operations_wait);
        state.job_is_next = !is_jobs_turn;
        if is_jobs_turn {
            self.clear_ready(die, Queue::Job);
            self.set_ready(die, Queue::UrgentJob);
            return None;
        }
        let urgent_job = 1 << Queue::UrgentJob as u8; // comes next in any case, behind what another die's job does here
        let ready = u64::from(state.ready & !job & !urgent_job);
        let state = &self.dies[die.idx()];
        ways(ready).map(|queue| state.queues[queue as usize].head).min_by_key(|&id| self.ops[id].seq)
    }

    /// Of the dies in `mask`, the one whose operation is oldest.
    #[inline(always)]
    pub(super) fn oldest(&self, channel: ChannelId, mask: u64, op: impl Fn(&Die) -> OpId) -> u32 {
        let first = mask.trailing_zeros();
        if mask & (mask - 1) == 0 {
            return first;
        }
        let seq = |way: u32| self.ops[op(&self.dies[self.geometry.die_at(channel, way).idx()])].seq;
        ways(mask).min_by_key(|&way| seq(way)).unwrap_or(first)
    }

    /// Asks for the next step of a die's background work; `urgent` steps go before everything else. A die that has none now
    /// is not asked again until it is woken. If it is sure that no other die comes before this one, a step that can start
    /// skips its queue and is the answer.
    #[inline(always)]
    pub(super) fn pull<P: Probe>(
        &mut self,
        now: Nanos,
        die: DieId,
        urgent: bool,
        is_sure: bool,
        brain: &mut Brain,
        hw: &mut Hardware<P>,
    ) -> Option<OpId> {
        self.clear_ready(die, if urgent { Queue::UrgentJob } else { Queue::Job });
        brain.background(die, &hw.array);
        hw.books.planned(now, &brain.plan);
        hw.books.probe.planned(Purpose::Background, brain);
        let state = &mut self.dies[die.idx()];
        state.background += brain.plan.ops().len() as u32;
        self.wake_woken(brain);
        if is_sure
            && self.dies[die.idx()].ready == 0
            && let Some(step) = brain.plan.only_op()
        {
            return self.take_step(die, step, urgent, hw);
        }
        self.take_over(&brain.plan, RequestId::background_of(die), urgent, hw);

        None
    }

    /// Takes over the only operation of a plan for a die on which nothing is ready. Answers with it if it could start.
    #[inline(always)]
    pub(super) fn take_step<P: Probe>(
        &mut self,
        die: DieId,
        step: &PlannedOp,
        urgent: bool,
        hw: &mut Hardware<P>,
    ) -> Option<OpId> {
        let id = self.insert(step, RequestId::background_of(die), urgent, &mut hw.array);
        let op = &self.ops[id];
        let state = &mut self.dies[die.idx()];
        if op.at.die == die && op.blockers == 0 && state.queues[op.queue as usize].head.is_none() {
            state.bypassed = 0;
            return Some(id);
        }
        self.enqueue_new(id);
        None
    }

    /// Starts the operation that was chosen.
    #[inline(always)]
    pub(super) fn start<P: Probe>(&mut self, now: Nanos, channel: ChannelId, chosen: Chosen, hw: &mut Hardware<P>) {
        let Chosen { die, way, op: mut id, is_queued } = chosen;
        if is_queued {
            self.unlink(id);
            if self.ops[id].role != Role::Single {
                cold_path();
                id = self.take_place(id, hw);
            }
        }
        let op = &mut self.ops[id];
        op.started = true;
        let (kind, cause, is_upper) = (op.kind, op.cause, op.at.page & 1 != 0);
        referee(op, &mut hw.array);
        let mut more_ns = 0;
        if kind != OpKind::Read {
            more_ns = self.courses.of(kind).upper_ns * Nanos::from(is_upper);
            while let Some(waiting) = self.ops.pop_dependent(id, Until::Start) {
                self.unblock(waiting, Until::Start);
            }
        }
        let course = self.courses.of(kind);
        let state = &mut self.channels[channel.idx()];
        state.idle &= !(1 << way);
        state.bus_free_at = now + course.array_start_ns;
        let state = &mut self.dies[die.idx()];
        (state.running, state.started, state.stage) = (id, now, course.stage);
        hw.books.op_started(now, cause, course);
        if kind == OpKind::Copyback {
            cold_path();
            hw.books.turns_to_program(now + course.array_end_ns);
        }
        self.events.set(course.event, die.0, now + course.event_ns + more_ns);
    }
}

/// The array is told of a start, and judges it.
#[inline(always)]
fn referee(op: &Op, array: &mut Array) {
    match op.kind {
        OpKind::Read | OpKind::SpareRead | OpKind::Copy => array.start_read(op.at),
        OpKind::Program => array.start_program(op.at),
        OpKind::Erase => array.start_erase(op.at.block),
        OpKind::Copyback => {
            array.start_read(op.other);
            array.start_program(op.at);
        }
    }
}
