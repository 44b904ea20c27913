//! Dispatch: the choice and start of operations on dies and buses.
//!
//! Only channels are looked at on which something has *changed* since the last look: an operation became ready, a die became
//! idle, the bus became free. On each of them the best candidate starts, until the bus is taken or nothing can start.
//!
//! The bits of a die's `ready` mask are its choices, the best one lowest ([`OpQueue`]). Some are queues of planned operations.
//! Others are *steps* of background work that the controller has not asked the translation layer for yet.

use std::hint::cold_path;

use super::op::{Op, OpQueue, Role, Until};
use super::queues::{least, ways};
use super::settings::BusOrder;
use super::{Controller, MeteredFlash};
use crate::energy::DieState;
use crate::firmware::Firmware;
use crate::ftl::PlannedOp;
use crate::nand::Array;
use crate::nand::phases::OpStage;
use crate::observe::probe::{Probe, Purpose};
use crate::operation::OpKind;
use flashwatt_base::units::{ChannelId, DieId, Nanos, OpId, RequestId};
use flashwatt_core::connector::{Agenda, EventKind};

/// If a die starts this number of operations, one after the other, while a worse choice is ready, its oldest operation goes
/// next. Without the bound a stream of reads could block writes and collection forever.
pub(super) const BYPASS_MAX: u32 = 64;

/// The candidate of a channel: the result of [`Controller::peek`], which changes nothing. [`Controller::commit`] acts on it.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub die: DieId,
    way: u32,
    /// The best of the die's choices, as a bit number of the die's `ready` mask; the lowest bit is the best.
    queue: u8,
    pub choice: OpChoice,
}

/// How a die's next operation was chosen.
#[derive(Clone, Copy)]
pub(super) enum OpChoice {
    /// The head of the best queue.
    Head(OpId),
    /// The oldest of all operations, after [`BYPASS_MAX`] others went ahead.
    Oldest(OpId),
    /// The next step of the die's background work, for which the controller must ask.
    Step,
    /// The same after [`BYPASS_MAX`] operations went ahead: the step becomes urgent.
    BypassedStep,
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
        self.any_ended = false;
        if let Some(competition) = &self.competition {
            cold_path();
            if competition.slot_came() | !self.changed.is_empty() {
                self.dispatch_competing(agenda, firmware, flash);
            }
            return;
        }
        if self.cells.is_some() {
            cold_path();
            return self.dispatch_all_on_cells(agenda, firmware, flash);
        }
        while let Some(channels) = self.changed.take_lowest() {
            for channel in channels {
                self.dispatch_channel(agenda, ChannelId(channel), firmware, flash);
            }
        }
        debug_assert!(
            self.channels.iter().all(|bus| !bus.has_work() || (bus.scheduled && agenda.now() < bus.bus_free_at)),
            "a channel with work is looked at now, or when its bus is free"
        );
    }

    /// Starts all operations of a channel that can start now.
    #[inline(always)]
    fn dispatch_channel<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        while self.is_free_for_operation(agenda, channel, flash) {
            let Some(candidate) = self.peek(channel) else { return };
            if let Some(chosen) = self.commit(agenda.now(), channel, candidate, firmware, flash) {
                self.start(agenda, channel, chosen, flash);
            }
        }
    }

    /// Sends the data that takes a channel's bus before its next operation. Returns whether the bus is free after that.
    #[inline(always)]
    pub(super) fn is_free_for_operation<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        flash: &mut MeteredFlash<P>,
    ) -> bool {
        while !self.is_bus_taken(agenda, channel) {
            if !self.data_goes_first(channel) {
                return true;
            }
            self.send_oldest_data(agenda, channel, flash);
        }
        false
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
            agenda.set(EventKind::Bus, self.first_seat + self.geometry.dies + channel.0, state.bus_free_at);
        }
        true
    }

    /// Whether data waits on a channel and takes the bus before the next operation (`controller.bus_order`).
    #[inline(always)]
    pub(super) fn data_goes_first(&mut self, channel: ChannelId) -> bool {
        self.channels[channel.idx()].data_waits != 0
            && (self.bus_order == BusOrder::DataFirst || !self.command_waits(channel))
    }

    /// Whether the next operation of a channel needs the bus for a command only. A step of background work does not count,
    /// because it may be a program.
    #[inline(never)]
    fn command_waits(&mut self, channel: ChannelId) -> bool {
        if self.cells.is_some() {
            cold_path();
            if self.read_waits_meanwhile(channel) {
                return true;
            }
        }
        self.peek(channel).is_some_and(|candidate| match candidate.choice {
            OpChoice::Head(op) | OpChoice::Oldest(op) => self.ops[op].kind != OpKind::Program,
            OpChoice::Step | OpChoice::BypassedStep => false,
        })
    }

    /// Sends the waiting data of a channel over its bus, while that is free.
    pub(super) fn send_all_data<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        flash: &mut MeteredFlash<P>,
    ) {
        while !self.is_bus_taken(agenda, channel) && self.channels[channel.idx()].data_waits != 0 {
            self.send_oldest_data(agenda, channel, flash);
        }
    }

    /// Sends the data of a channel's oldest read that waits for the bus.
    #[inline(always)]
    pub(super) fn send_oldest_data<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        flash: &mut MeteredFlash<P>,
    ) {
        if self.cells.is_some() {
            cold_path();
            return self.send_oldest_out(agenda, channel, flash);
        }
        let waits = self.channels[channel.idx()].data_waits;
        let way = self.take_oldest_data(channel, waits);
        self.channels[channel.idx()].data_waits &= !(1 << way);
        let die = self.geometry.die_at(channel, way);
        self.send_data(agenda, channel, die, DieState::DataWait, flash);
    }

    /// Sends the data of a die's read over the bus. `from` is the die's state until now.
    #[inline(always)]
    pub(super) fn send_data<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        die: DieId,
        from: DieState,
        flash: &mut MeteredFlash<P>,
    ) {
        let now = agenda.now();
        let end = now + self.out_ns(self.dies[die.idx()].running);
        let bus = &mut self.channels[channel.idx()];
        debug_assert!(!bus.scheduled);
        (bus.bus_free_at, bus.scheduled) = (end, true); // no bus event is needed: the die's transfer event comes then
        let state = &mut self.dies[die.idx()];
        state.stage = OpStage::Out;
        flash.accounts.die(now, from, self.read_states(die).last);
        agenda.set(EventKind::Transfer, self.first_seat + die.0, end);
    }

    /// The candidate of a channel: the best choice of its idle dies, the oldest operation among equals. Changes nothing: a look
    /// must not count as a start.
    #[inline(always)]
    pub(super) fn peek(&mut self, channel: ChannelId) -> Option<Candidate> {
        let candidates = self.channels[channel.idx()].candidates();
        if candidates == 0 {
            return None;
        }
        let (way, queue) = self.best(channel, candidates);
        let die = self.geometry.die_at(channel, way);
        let state = &self.dies[die.idx()];
        let choice = if queue == OpQueue::Step as u8 || queue == OpQueue::UrgentStep as u8 {
            OpChoice::Step
        } else if state.bypassed >= BYPASS_MAX && state.ready >> (queue + 1) != 0 {
            self.choice_after_bypasses(die, queue)
        } else {
            OpChoice::Head(state.queues[queue as usize].head)
        };
        Some(Candidate { die, way, queue, choice })
    }

    /// Acts on a candidate: notes whether it goes ahead of ready operations in worse classes, or asks for the step of background
    /// work. Returns the operation to start. `None` means that the channel must be looked at again.
    #[inline(always)]
    pub(super) fn commit<P: Probe>(
        &mut self,
        now: Nanos,
        channel: ChannelId,
        candidate: Candidate,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) -> Option<OpStart> {
        let Candidate { die, way, queue, choice } = candidate;
        let state = &mut self.dies[die.idx()];
        match choice {
            OpChoice::Head(op) => {
                let passes_over = state.ready >> (queue + 1) != 0;
                state.bypassed = if passes_over { state.bypassed + 1 } else { 0 };
                Some(OpStart { die, way, op, is_queued: true })
            }
            OpChoice::Step => {
                let candidates = self.channels[channel.idx()].candidates();
                let is_only_die = candidates & (candidates - 1) == 0;
                let op =
                    self.ask_for_step(now, die, queue == OpQueue::UrgentStep as u8, is_only_die, firmware, flash)?;
                Some(OpStart { die, way, op, is_queued: false })
            }
            OpChoice::Oldest(op) => {
                (state.bypassed, state.step_is_next) = (0, true);
                Some(OpStart { die, way, op, is_queued: true })
            }
            OpChoice::BypassedStep => {
                (state.bypassed, state.step_is_next) = (0, false);
                self.clear_ready(die, OpQueue::Step);
                self.set_ready(die, OpQueue::UrgentStep);
                None
            }
        }
    }

    /// The best of the dies in `candidates`, and the queue that it would serve.
    #[inline(always)]
    fn best(&mut self, channel: ChannelId, candidates: u64) -> (u32, u8) {
        let first = candidates.trailing_zeros();
        if candidates & (candidates - 1) == 0 {
            return (first, self.dies[self.geometry.die_at(channel, first).idx()].ready.trailing_zeros() as u8);
        }
        if let Some(numbers) = &mut self.many_ways {
            cold_path();
            let bus = &mut self.channels[channel.idx()];
            return numbers.best(channel, candidates, &mut bus.stale, &self.dies, &self.ops);
        }
        self.best_of_several(channel, candidates)
    }

    /// [`Self::best`] of two dies or more. Not inlined, since the code around it is inlined in many places.
    #[inline(never)]
    fn best_of_several(&self, channel: ChannelId, candidates: u64) -> (u32, u8) {
        let place = |way: u32| self.dies[self.geometry.die_at(channel, way).idx()].place(&self.ops);
        let (way, place) = least(candidates, place);
        (way, place.queue())
    }

    /// The choice of a die after [`BYPASS_MAX`] operations went ahead of worse ones. It alternates: the oldest operation of all
    /// queues one time, the step of background work the next time. `queue` is the best choice.
    #[cold]
    fn choice_after_bypasses(&self, die: DieId, queue: u8) -> OpChoice {
        let state = &self.dies[die.idx()];
        if self.waits_lazily(die, queue) {
            return OpChoice::Head(state.queues[queue as usize].head);
        }
        let step = 1 << OpQueue::Step as u8;
        let operations_wait = (state.ready & !step) >> (queue + 1) != 0;
        if state.ready & step != 0 && (state.step_is_next || !operations_wait) {
            return OpChoice::BypassedStep;
        }
        // Neither step has an operation to compare by age. The urgent one precedes everything but `Front` anyway.
        let steps = step | 1 << OpQueue::UrgentStep as u8;
        let ready = u64::from(state.ready & !steps);
        let heads = ways(ready).map(|queue| state.queues[queue as usize].head);
        OpChoice::Oldest(heads.min_by_key(|&id| self.ops[id].seq).unwrap_or(state.queues[queue as usize].head))
    }

    /// Of the dies in `waits`, whose data waits for the bus, the one with the oldest read. Its data is sent now.
    #[inline(always)]
    fn take_oldest_data(&mut self, channel: ChannelId, waits: u64) -> u32 {
        if let Some(numbers) = &mut self.many_ways {
            cold_path();
            return numbers.take_oldest_data(channel);
        }
        let first = waits.trailing_zeros();
        if waits & (waits - 1) == 0 {
            return first;
        }
        self.oldest_data_of_several(channel, waits)
    }

    /// [`Self::take_oldest_data`] of two dies or more. Not inlined, as [`Self::best_of_several`].
    #[inline(never)]
    fn oldest_data_of_several(&self, channel: ChannelId, waits: u64) -> u32 {
        least(waits, |way| self.ops[self.dies[self.geometry.die_at(channel, way).idx()].running].seq).0
    }

    /// Asks the translation layer for the next step of a die's background work. The operations of an `urgent` step precede all
    /// others. A die without such work is not asked again until [`Self::wake`]. If the die is the only candidate of its channel, an
    /// operation that can start skips its queue and is returned.
    #[inline(always)]
    pub(super) fn ask_for_step<P: Probe>(
        &mut self,
        now: Nanos,
        die: DieId,
        urgent: bool,
        is_only_die: bool,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) -> Option<OpId> {
        self.clear_ready(die, if urgent { OpQueue::UrgentStep } else { OpQueue::Step });
        if self.cells.is_some() {
            cold_path();
            if !self.plan_step_on_cells(die, firmware, &flash.array) {
                return None;
            }
        } else {
            firmware.background(die, &flash.array);
        }
        flash.accounts.planned(now, Purpose::Background, firmware);
        let state = &mut self.dies[die.idx()];
        state.background += firmware.plan.ops().len() as u32;
        self.wake_woken(firmware);
        if is_only_die
            && self.dies[die.idx()].ready == 0
            && let Some(step) = firmware.plan.only_op()
        {
            return self.admit_step(die, step, urgent, flash);
        }
        self.admit_plan(&firmware.plan, RequestId::background_of(die), urgent, flash);

        None
    }

    /// Admits a step of one operation, for a die on which nothing is ready. Returns the operation if it can start; otherwise
    /// it is queued.
    #[inline(always)]
    pub(super) fn admit_step<P: Probe>(
        &mut self,
        die: DieId,
        step: &PlannedOp,
        urgent: bool,
        flash: &mut MeteredFlash<P>,
    ) -> Option<OpId> {
        let id = self.insert(step, RequestId::background_of(die), urgent, &mut flash.array);
        let op = &self.ops[id];
        let starts = op.at.die == die && op.blockers == 0 && op.role.is_queued();
        if starts && self.has_none_in(die, op.queue) {
            self.dies[die.idx()].bypassed = 0;
            return Some(id);
        }
        self.enqueue_new(id);
        None
    }

    /// Starts the chosen operation, on a die of any kind.
    #[inline(always)]
    pub(super) fn start_any<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        chosen: OpStart,
        flash: &mut MeteredFlash<P>,
    ) {
        if self.cells.is_some() {
            cold_path();
            return self.start_chosen_on_cells(agenda, channel, chosen, flash);
        }
        self.start(agenda, channel, chosen, flash);
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
                id = self.start_waiting_read(id, flash);
            }
        }
        let op = &mut self.ops[id];
        op.started = true;
        let (kind, cause, class, is_upper) = (op.kind, op.cause, op.at.class(op.kind), op.at.is_upper());
        referee(op, &mut flash.array);
        if kind != OpKind::Read {
            while let Some(waiting) = self.ops.pop_dependent(id, Until::Start) {
                self.unblock(waiting);
            }
        }
        let part;
        let mut course = self.courses.of(class);
        let more_ns = if kind == OpKind::Read { 0 } else { course.upper_ns * Nanos::from(is_upper) };
        if self.courses.moves_parts() && self.ops[id].sectors() > 0 {
            cold_path();
            part = course.of_part();
            course = &part;
            flash.accounts.part_started(now, cause, self.ops[id].sectors());
        }
        let state = &mut self.channels[channel.idx()];
        let bit = 1 << way;
        (state.idle, state.stale) = (state.idle & !bit, state.stale | bit);
        state.bus_free_at = now + course.array_start_ns;
        let state = &mut self.dies[die.idx()];
        (state.running, state.started, state.stage) = (id, now, course.stage);
        let event_at = now + course.event_ns + more_ns;
        flash.accounts.op_started(now, cause, course, event_at);
        if kind == OpKind::Copyback {
            cold_path();
            flash.accounts.turns_to_program(now + course.array_end_ns, course);
        }
        agenda.set(course.event, self.first_seat + die.0, event_at);
    }
}

/// Reports the start of an operation to the array, which checks it against the rules of NAND.
#[inline(always)]
pub(super) fn referee(op: &Op, array: &mut Array) {
    match op.kind {
        OpKind::Read | OpKind::SpareRead if op.is_blank => array.start_blank_read(op.at),
        OpKind::Read | OpKind::SpareRead | OpKind::Copy => array.start_read(op.at),
        OpKind::Program => array.start_program(op.at),
        OpKind::Erase => array.start_erase(op.at.block),
        OpKind::Copyback => {
            array.start_read(op.other);
            array.start_program(op.at);
        }
    }
}
