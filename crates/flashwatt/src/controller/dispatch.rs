//! Dispatch: the choice and start of operations on dies and buses.

use std::hint::cold_path;

use super::op::{Op, Queue, Role, Until};
use super::queues::{DieQueue, ways};
use super::settings::BusOrder;
use super::{Controller, MeteredFlash};
use crate::connector::{Agenda, EventKind};
use crate::device::Array;
use crate::device::phases::OpStage;
use crate::energy::DieState;
use crate::firmware::Firmware;
use crate::ftl::PlannedOp;
use crate::operation::OpKind;
use crate::probe::{Probe, Purpose};
use crate::units::{ChannelId, DieId, Nanos, OpId, RequestId};

/// After this number of operations in better classes went ahead of it, the oldest operation of a die goes next. Without the
/// bound a stream of reads could block writes and collection forever.
const BYPASS_MAX: u32 = 64;

/// The candidate of a channel: the result of [`Controller::peek`], which changes nothing. [`Controller::commit`] acts on it.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    die: DieId,
    way: u32,
    /// The best of the die's choices, as a bit number of the die's `ready` mask; the lowest bit is the best.
    queue: u8,
    turn: Turn,
}

/// The rule that found a die's next operation.
#[derive(Clone, Copy)]
enum Turn {
    /// The head of the best queue.
    Head(OpId),
    /// The oldest of all operations, after [`BYPASS_MAX`] others went ahead.
    Oldest(OpId),
    /// The next step of the die's background work, which the controller must ask for.
    Background,
    /// Background work after [`BYPASS_MAX`] operations went ahead: it becomes urgent.
    BackgroundBypassed,
}

/// A candidate that was committed: an operation to start, and its die.
#[derive(Clone, Copy)]
pub(super) struct OpStart {
    pub die: DieId,
    pub way: u32,
    pub op: OpId,
    /// Whether it is in its queue; false for a background step that skipped it.
    pub is_queued: bool,
}

impl Controller {
    /// Starts all operations that can start now.
    #[inline(always)]
    pub fn dispatch<P: Probe>(&mut self, agenda: &mut Agenda, firmware: &mut Firmware, flash: &mut MeteredFlash<P>) {
        while let Some(channel) = self.take_dirty() {
            if self.by_turns {
                cold_path();
                self.touch(channel);
                return self.dispatch_by_turns(agenda, firmware, flash);
            }
            self.dispatch_channel(agenda, channel, firmware, flash);
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
    fn dispatch_channel<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        while !self.is_bus_taken(agenda, channel) {
            if self.data_goes_first(channel) {
                self.move_out(agenda, channel, flash);
                continue;
            }
            let Some(candidate) = self.peek(channel) else { return };
            if let Some(chosen) = self.commit(agenda.now(), channel, candidate, firmware, flash) {
                self.start(agenda, channel, chosen, flash);
            }
        }
    }

    /// Starts operations under a channel switch delay or a power budget, which all channels share: the oldest candidate of all
    /// channels first. As long as the budget does not bind, operations start in the order of a drive without a budget.
    #[inline(never)]
    fn dispatch_by_turns<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        while self.dirty.is_some() {
            while let Some(channel) = self.take_dirty() {
                self.dispatch_unrivalled(agenda, channel, firmware, flash);
            }
            while self.power_left() > 0
                && let Some((channel, candidate)) = self.oldest_of_channels(agenda)
            {
                if let Some(chosen) = self.commit(agenda.now(), channel, candidate, firmware, flash) {
                    self.start(agenda, channel, chosen, flash);
                    self.slot_free_at = agenda.now() + self.timing.channel_switch_ns;
                }
            }
            if self.bus_order == BusOrder::CommandFirst {
                (0..self.geometry.channels).for_each(|channel| self.move_out_all(agenda, ChannelId(channel), flash));
            }
            // A step of background work may have gone to a channel that had been looked at before.
        }
    }

    /// Starts work of a channel without competition: data moves out, and operations start while the power budget has room for
    /// them and for all older candidates.
    fn dispatch_unrivalled<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        while !self.is_bus_taken(agenda, channel) {
            if self.data_goes_first(channel) {
                self.move_out(agenda, channel, flash);
                continue;
            }
            let Some(candidate) = self.peek(channel) else { return };
            let left = self.power_left();
            let may_start = left >= self.geometry.channels || left > self.older_candidates(agenda.now(), candidate);
            if self.timing.channel_switch_ns > 0 || !may_start {
                return;
            }
            if let Some(chosen) = self.commit(agenda.now(), channel, candidate, firmware, flash) {
                self.start(agenda, channel, chosen, flash);
            }
        }
    }

    /// Number of further dies that the power budget allows to work. At 0, channels are looked at again when an operation ends.
    fn power_left(&self) -> u32 {
        if self.active_dies_max == self.geometry.dies {
            return u32::MAX;
        }
        let idle: u32 = self.channels.iter().map(|channel| channel.idle.count_ones()).sum();
        self.active_dies_max.saturating_sub(self.geometry.dies - idle)
    }

    /// Number of channels with an older candidate than this one.
    fn older_candidates(&self, now: Nanos, than: Candidate) -> u32 {
        if self.active_dies_max == self.geometry.dies {
            return 0;
        }
        let could_start = |channel: ChannelId| {
            let state = &self.channels[channel.idx()];
            now >= state.bus_free_at && !self.data_goes_first(channel)
        };
        let channels = (0..self.geometry.channels).map(ChannelId).filter(|&channel| could_start(channel));
        let age = self.age(than);
        channels.filter_map(|channel| self.peek(channel)).filter(|&other| self.age(other) < age).count() as u32
    }

    /// The channel with the oldest candidate, and that candidate. If the slot of the channel switch delay is not free yet, sets its
    /// event instead.
    fn oldest_of_channels(&mut self, agenda: &mut Agenda) -> Option<(ChannelId, Candidate)> {
        let mut oldest: Option<(ChannelId, Candidate, u64)> = None;
        for channel in (0..self.geometry.channels).map(ChannelId) {
            if !self.channels[channel.idx()].has_work() || self.is_bus_taken(agenda, channel) {
                continue;
            }
            if agenda.now() < self.slot_free_at {
                agenda.reset(self.slot_event(), self.slot_free_at);
                return None;
            }
            if let Some(candidate) = self.peek(channel) {
                let age = self.age(candidate);
                if oldest.is_none_or(|(_, _, least)| age < least) {
                    oldest = Some((channel, candidate, age));
                }
            }
        }
        oldest.map(|(channel, candidate, _)| (channel, candidate))
    }

    /// A candidate's age: its plan number. Background work without a plan has the plan number that was free when the die asked
    /// for it.
    fn age(&self, candidate: Candidate) -> u64 {
        match candidate.turn {
            Turn::Head(op) | Turn::Oldest(op) => self.ops[op].seq,
            Turn::Background | Turn::BackgroundBypassed => self.dies[candidate.die.idx()].background_since,
        }
    }

    /// Whether the bus is taken. If so and work waits for it, sets its event.
    #[inline(always)]
    pub(super) fn is_bus_taken(&mut self, agenda: &mut Agenda, channel: ChannelId) -> bool {
        let state = &mut self.channels[channel.idx()];
        if agenda.now() >= state.bus_free_at {
            return false;
        }
        if !state.scheduled && state.has_work() {
            state.scheduled = true;
            agenda.set(EventKind::Bus, self.geometry.dies + channel.0, state.bus_free_at);
        }
        true
    }

    /// Whether data waits on a channel and takes the bus before the next operation (`controller.bus_order`).
    #[inline(always)]
    fn data_goes_first(&self, channel: ChannelId) -> bool {
        self.channels[channel.idx()].data_waits != 0
            && (self.bus_order == BusOrder::DataFirst || !self.command_waits(channel))
    }

    /// Whether the next operation of a channel needs the bus for a command only. Background work that was not asked for does
    /// not count, because it may be a program.
    #[inline(never)]
    fn command_waits(&self, channel: ChannelId) -> bool {
        self.peek(channel).is_some_and(|candidate| match candidate.turn {
            Turn::Head(op) | Turn::Oldest(op) => self.ops[op].kind != OpKind::Program,
            Turn::Background | Turn::BackgroundBypassed => false,
        })
    }

    /// Moves the data that waits on a channel out while the bus is free.
    fn move_out_all<P: Probe>(&mut self, agenda: &mut Agenda, channel: ChannelId, flash: &mut MeteredFlash<P>) {
        while !self.is_bus_taken(agenda, channel) && self.channels[channel.idx()].data_waits != 0 {
            self.move_out(agenda, channel, flash);
        }
    }

    /// Moves out the data of the oldest waiting read of a channel.
    #[inline(always)]
    fn move_out<P: Probe>(&mut self, agenda: &mut Agenda, channel: ChannelId, flash: &mut MeteredFlash<P>) {
        let waits = self.channels[channel.idx()].data_waits;
        let way = self.oldest(channel, waits, |die| die.running);
        self.channels[channel.idx()].data_waits &= !(1 << way);
        let die = self.geometry.die_at(channel, way);
        self.move_die_out(agenda, channel, die, DieState::DataWait, flash);
    }

    #[inline(always)]
    pub(super) fn move_die_out<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        die: DieId,
        from: DieState,
        flash: &mut MeteredFlash<P>,
    ) {
        let now = agenda.now();
        let end = now + self.timing.page_transfer_ns;
        let bus = &mut self.channels[channel.idx()];
        debug_assert!(!bus.scheduled);
        (bus.bus_free_at, bus.scheduled) = (end, true); // no bus event is needed: the die's transfer event comes then
        let state = &mut self.dies[die.idx()];
        state.stage = OpStage::Out;
        flash.accounts.die(now, from, DieState::ReadBus);
        agenda.set(EventKind::Transfer, die.0, end);
    }

    /// The candidate of a channel: the operation of the best class, the oldest among equals. Changes nothing, because looking at
    /// a channel is not serving it.
    #[inline(always)]
    fn peek(&self, channel: ChannelId) -> Option<Candidate> {
        let state = &self.channels[channel.idx()];
        let candidates = state.idle & state.ready;
        if candidates == 0 {
            return None;
        }
        let (way, queue) = self.best(channel, candidates);
        let die = self.geometry.die_at(channel, way);
        let state = &self.dies[die.idx()];
        let turn = if queue == Queue::Job as u8 || queue == Queue::UrgentJob as u8 {
            Turn::Background
        } else if state.bypassed >= BYPASS_MAX && state.ready >> (queue + 1) != 0 {
            self.turn_of_bypassed(state, queue)
        } else {
            Turn::Head(state.queues[queue as usize].head)
        };
        Some(Candidate { die, way, queue, turn })
    }

    /// Acts on a candidate: counts the operations that it bypasses, or asks for the step of background work. `None` means that
    /// the channel must be looked at again.
    #[inline(always)]
    fn commit<P: Probe>(
        &mut self,
        now: Nanos,
        channel: ChannelId,
        candidate: Candidate,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) -> Option<OpStart> {
        let Candidate { die, way, queue, turn } = candidate;
        let state = &mut self.dies[die.idx()];
        match turn {
            Turn::Head(op) => {
                let passes_over = state.ready >> (queue + 1) != 0;
                state.bypassed = if passes_over { state.bypassed + 1 } else { 0 };
                Some(OpStart { die, way, op, is_queued: true })
            }
            Turn::Background => {
                let bus = &self.channels[channel.idx()];
                let candidates = bus.idle & bus.ready;
                let is_sure = candidates & (candidates - 1) == 0;
                let op = self.pull(now, die, queue == Queue::UrgentJob as u8, is_sure, firmware, flash)?;
                Some(OpStart { die, way, op, is_queued: false })
            }
            Turn::Oldest(op) => {
                (state.bypassed, state.job_is_next) = (0, true);
                Some(OpStart { die, way, op, is_queued: true })
            }
            Turn::BackgroundBypassed => {
                (state.bypassed, state.job_is_next) = (0, false);
                self.clear_ready(die, Queue::Job);
                self.set_ready(die, Queue::UrgentJob);
                None
            }
        }
    }

    /// The best of the dies in `candidates`, and the queue that it would serve.
    #[inline(always)]
    fn best(&self, channel: ChannelId, candidates: u64) -> (u32, u8) {
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

    /// The choice of a die after [`BYPASS_MAX`] bypasses: the oldest operation of all its queues, in turns with its background
    /// work.
    #[cold]
    fn turn_of_bypassed(&self, state: &DieQueue, queue: u8) -> Turn {
        let job = 1 << Queue::Job as u8;
        let operations_wait = (state.ready & !job) >> (queue + 1) != 0;
        if state.ready & job != 0 && (state.job_is_next || !operations_wait) {
            return Turn::BackgroundBypassed;
        }
        let urgent_job = 1 << Queue::UrgentJob as u8; // comes next in any case, behind what another die's job does here
        let ready = u64::from(state.ready & !job & !urgent_job);
        let heads = ways(ready).map(|queue| state.queues[queue as usize].head);
        Turn::Oldest(heads.min_by_key(|&id| self.ops[id].seq).unwrap_or(state.queues[queue as usize].head))
    }

    /// Of the dies in `mask`, the one with the oldest operation.
    #[inline(always)]
    pub(super) fn oldest(&self, channel: ChannelId, mask: u64, op: impl Fn(&DieQueue) -> OpId) -> u32 {
        let first = mask.trailing_zeros();
        if mask & (mask - 1) == 0 {
            return first;
        }
        let seq = |way: u32| self.ops[op(&self.dies[self.geometry.die_at(channel, way).idx()])].seq;
        ways(mask).min_by_key(|&way| seq(way)).unwrap_or(first)
    }

    /// Asks for the next step of a die's background work; `urgent` steps precede everything else. A die without such work is not
    /// asked again until it is woken. If no other die can precede this one, a step that can start skips its queue and is returned.
    #[inline(always)]
    pub(super) fn pull<P: Probe>(
        &mut self,
        now: Nanos,
        die: DieId,
        urgent: bool,
        is_sure: bool,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) -> Option<OpId> {
        self.clear_ready(die, if urgent { Queue::UrgentJob } else { Queue::Job });
        firmware.background(die, &flash.array);
        flash.accounts.planned(now, &firmware.plan);
        flash.accounts.probe.planned(Purpose::Background, firmware);
        let state = &mut self.dies[die.idx()];
        state.background += firmware.plan.ops().len() as u32;
        self.wake_woken(firmware);
        if is_sure
            && self.dies[die.idx()].ready == 0
            && let Some(step) = firmware.plan.only_op()
        {
            return self.take_step(die, step, urgent, flash);
        }
        self.take_over(&firmware.plan, RequestId::background_of(die), urgent, flash);

        None
    }

    /// Admits the only operation of a plan for a die on which nothing is ready. Returns it if it can start.
    #[inline(always)]
    pub(super) fn take_step<P: Probe>(
        &mut self,
        die: DieId,
        step: &PlannedOp,
        urgent: bool,
        flash: &mut MeteredFlash<P>,
    ) -> Option<OpId> {
        let id = self.insert(step, RequestId::background_of(die), urgent, &mut flash.array);
        let op = &self.ops[id];
        let state = &mut self.dies[die.idx()];
        if op.at.die == die && op.blockers == 0 && state.queues[op.queue as usize].head.is_none() {
            state.bypassed = 0;
            return Some(id);
        }
        self.enqueue_new(id);
        None
    }

    /// Starts the chosen operation.
    #[inline(always)]
    pub(super) fn start<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        chosen: OpStart,
        flash: &mut MeteredFlash<P>,
    ) {
        let now = agenda.now();
        let OpStart { die, way, op: mut id, is_queued } = chosen;
        if is_queued {
            self.unlink(id);
            if self.ops[id].role != Role::Single {
                cold_path();
                id = self.take_place(id, flash);
            }
        }
        let op = &mut self.ops[id];
        op.started = true;
        let (kind, cause, is_upper) = (op.kind, op.cause, op.at.page & 1 != 0);
        referee(op, &mut flash.array);
        let mut more_ns = 0;
        if kind != OpKind::Read {
            more_ns = self.courses.of(kind).upper_ns * Nanos::from(is_upper);
            while let Some(waiting) = self.ops.pop_dependent(id, Until::Start) {
                self.unblock(waiting);
            }
        }
        let course = self.courses.of(kind);
        let state = &mut self.channels[channel.idx()];
        state.idle &= !(1 << way);
        state.bus_free_at = now + course.array_start_ns;
        let state = &mut self.dies[die.idx()];
        (state.running, state.started, state.stage) = (id, now, course.stage);
        flash.accounts.op_started(now, cause, course);
        if kind == OpKind::Copyback {
            cold_path();
            flash.accounts.turns_to_program(now + course.array_end_ns);
        }
        agenda.set(course.event, die.0, now + course.event_ns + more_ns);
    }
}

/// Reports the start of an operation to the array, which checks it against the rules of NAND.
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
