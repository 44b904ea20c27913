//! The controller: when planned operations run, on which bus and die, and in which order.
//!
//! Resources are channels (buses) and dies. A read takes the bus for its command, the die for tR, and the bus again for its
//! data; a program takes the bus for command and data, then the die; an erase the bus for its command, then the die. At
//! one instant all completions are handled first, then [`Controller::dispatch`] starts what can start.

pub mod events;
pub mod op;
pub mod phases;
mod queues;

use crate::books::Books;
use crate::brain::Brain;
use crate::config::{self, Dispatch};
use crate::device::{Array, Geometry, Place};
use crate::energy::DieState;
use crate::ftl::{Cause, OpKind, Plan, PlannedOp};
use crate::mem::Table;
use crate::probe::{OpRecord, Probe, Purpose};
use crate::units::{BlockId, ChannelId, DieId, Nanos, OpId, RequestId};
use events::{Events, Lane};
use op::{NewOp, Op, OpTable, Queue, Until};
use phases::Courses;
use queues::{Channel, Die, Stage, ways};

/// An operation that has waited while so many others of better classes went ahead of it on its die goes next. Without it
/// a stream of reads could hold up writes, and collection, for ever.
const BYPASS_MAX: u32 = 64;

/// The controller.
pub struct Controller {
    geometry: Geometry,
    timing: config::Timing,
    courses: Courses,
    policy: Dispatch,
    /// The queue that operations go to, by kind and cause.
    queues: [[Queue; Cause::ALL.len()]; OpKind::ALL.len()],
    preemptible: bool,
    ops: OpTable,
    next_seq: u64,
    dies: Table<Die>,
    channels: Table<Channel>,
    /// The first of the channels on which something may be able to start: the one that was touched last.
    dirty: ChannelId,
    /// With a channel switch delay: when the next operation may start anywhere.
    slot_free_at: Nanos,
    /// Ids of the plan being admitted.
    ids: Vec<OpId>,
    /// The pending events of dies, channels, and whoever comes after them.
    pub events: Events,
}

/// An operation has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// For which request, if for one.
    pub request: RequestId,
    /// What it was.
    pub kind: OpKind,
}

impl Controller {
    /// All dies idle. `more_events`: events that others keep in the same tree.
    pub fn new(config: &config::Config, geometry: &Geometry, more_events: u32) -> Self {
        Controller {
            courses: Courses::new(&config.device.timing),
            timing: config.device.timing.clone(),
            policy: config.controller.policy,
            queues: queues::queues_of(config.controller.policy),
            preemptible: config.gc.preemptible,
            ops: OpTable::default(),
            next_seq: 0,
            dies: (0..geometry.dies)
                .map(DieId)
                .map(|die| Die { channel: geometry.channel_of(die), way: geometry.way_of(die), ..Die::default() })
                .collect(),
            channels: vec![Channel::new(geometry.ways); geometry.channels as usize].into(),
            dirty: ChannelId::NONE,
            slot_free_at: 0,
            ids: Vec::new(),
            events: Events::new((geometry.dies + geometry.channels + 1 + more_events) as usize),
            geometry: geometry.clone(),
        }
    }

    /// The first event number that is free for others.
    pub fn events_end(&self) -> u32 {
        self.slot_event() + 1
    }

    fn slot_event(&self) -> u32 {
        self.geometry.dies + self.geometry.channels
    }

    /// A die may have background work.
    #[inline]
    pub fn wake(&mut self, die: DieId, brain: &Brain) {
        if self.dies[die.idx()].background == 0 && brain.ftl.wants_background(die, &brain.blocks) {
            self.set_ready(die, if self.preemptible { Queue::Job } else { Queue::UrgentJob });
        }
    }

    // ---------------------------------------------------------------- planned operations come in

    /// Takes over a request's plan. Returns how many operations the request has to wait for.
    #[inline(always)]
    pub fn admit<P: Probe>(&mut self, request: RequestId, brain: &Brain, hw: &mut Hardware<P>) -> u32 {
        if let Some(planned) = brain.plan.only_op() {
            let id = self.insert(planned, request, false, &mut hw.array);
            self.enqueue_new(id);
        } else {
            self.take_over(&brain.plan, request, false, hw);
        }
        for &die in brain.plan.woken() {
            self.wake(die, brain);
        }
        brain.plan.ops().len() as u32
    }

    #[inline(never)]
    fn take_over<P: Probe>(&mut self, plan: &Plan, request: RequestId, urgent: bool, hw: &mut Hardware<P>) {
        self.ids.clear();
        for planned in plan.ops() {
            let id = self.insert(planned, request, urgent, &mut hw.array);
            self.ids.push(id);
            self.enqueue_new(id);
        }
        for &(index, block) in plan.more_replaced() {
            hw.array.hold(block);
            self.ops.push_replaced(self.ids[index.0 as usize], block);
        }
    }

    /// Makes an operation of a planned one: finds out what it has to wait for, and holds the blocks that it needs.
    #[inline(always)]
    fn insert(&mut self, planned: &PlannedOp, request: RequestId, urgent: bool, array: &mut Array) -> OpId {
        let place = self.geometry.place(planned.ppn);
        let id = match planned.kind {
            OpKind::Read => {
                let id = self.new_op(planned, place, Place::NONE, request, urgent);
                self.attach_read(id, place, array);
                id
            }
            OpKind::Program => {
                let id = self.new_op(planned, place, Place::NONE, request, urgent);
                self.attach_program(id, place, array);
                id
            }
            OpKind::Copy => {
                let source = self.geometry.place(planned.source);
                let id = self.new_op(planned, source, place, request, urgent);
                self.attach_read(id, source, array);
                array.plan_program(place, id); // the order of programs is looked at when the read has ended
                id
            }
            OpKind::Copyback => {
                let source = self.geometry.place(planned.source);
                let id = self.new_op(planned, place, source, request, urgent);
                self.attach_read(id, source, array);
                self.attach_program(id, place, array);
                id
            }
            OpKind::Erase => {
                let id = self.new_op(planned, place, Place::NONE, request, urgent);
                self.attach_erase(id, place.block, array);
                id
            }
        };
        if planned.replaces.is_some() {
            array.hold(planned.replaces);
        }
        if let Some(after) = planned.after {
            self.wait(id, self.ids[after.0 as usize], Until::End, array);
        }
        id
    }

    #[inline(always)]
    fn new_op(&mut self, planned: &PlannedOp, at: Place, other: Place, request: RequestId, urgent: bool) -> OpId {
        let seq = self.next_seq;
        self.next_seq += 1;
        let class = self.queues[planned.kind as usize][planned.cause as usize];
        self.ops.insert(NewOp {
            seq,
            kind: if planned.kind == OpKind::Copy { OpKind::Read } else { planned.kind },
            cause: planned.cause,
            queue: if urgent { Queue::Front } else { class },
            at,
            other,
            request,
            replaces: planned.replaces,
        })
    }

    #[inline(always)]
    fn attach_erase(&mut self, id: OpId, block: BlockId, array: &mut Array) {
        if array.holds(block) > 0 {
            array.wait_for_release(block, id);
            self.ops[id].blockers += 1;
        }
    }

    #[inline(always)]
    fn attach_read(&mut self, id: OpId, at: Place, array: &mut Array) {
        array.hold(at.block);
        if !array.is_programmed(at) {
            match array.pending_program(at) {
                Some(program) => self.wait(id, program, Until::End, array),
                None => unreachable!("a read was planned of a page that holds nothing"),
            }
        }
    }

    #[inline(always)]
    fn attach_program(&mut self, id: OpId, at: Place, array: &mut Array) {
        array.plan_program(at, id);
        self.keep_order(id, at, array);
    }

    /// A program waits for the one before it in its block to start, unless it comes behind that one in any case.
    #[inline(always)]
    fn keep_order(&mut self, id: OpId, at: Place, array: &Array) {
        if let Some(before) = array.program_before(at) {
            let (mine, other) = (self.ops[id].queue, &self.ops[before]);
            let goes_first = other.queue == mine && (other.blockers == 0 || self.is_ordered(mine));
            if !goes_first {
                self.wait(id, before, Until::Start, array);
            }
        }
    }

    /// `younger` waits for `older`, which inherits its class.
    fn wait(&mut self, younger: OpId, older: OpId, until: Until, array: &Array) {
        self.ops.wait(younger, older, until);
        if self.policy != Dispatch::InOrder {
            self.promote(older, self.ops[younger].queue, array);
        }
    }

    /// Moves an operation, and those that it waits for in turn, up to a better class.
    fn promote(&mut self, id: OpId, queue: Queue, array: &Array) {
        let mut at = Some(id);
        while let Some(id) = at {
            let op = self.ops[id];
            if op.queue <= queue || self.is_ordered(op.queue) || (op.started && !op.turns_into_program()) {
                return;
            }
            let is_linked = op.blockers == 0 && !op.started; // of a copy half done the program joins the queue later
            if is_linked {
                self.unlink(id);
            }
            self.ops[id].queue = queue;
            if let Some(before) = op.programs().and_then(|at| array.program_before(at)) {
                self.promote(before, queue, array);
            }
            if is_linked {
                self.link(id);
            }
            at = op.after.is_some().then_some(op.after);
        }
    }

    /// Something that an operation waited for is there.
    fn unblock(&mut self, id: OpId, until: Until) {
        let op = &mut self.ops[id];
        op.blockers -= 1;
        if until == Until::End {
            op.after = OpId::NONE;
        }
        if op.blockers == 0 {
            if self.is_ordered(self.ops[id].queue) {
                self.refresh_ordered(self.ops[id].at.die);
            } else {
                self.link(id);
            }
        }
    }

    // ---------------------------------------------------------------- events

    /// Is this an event of a die, which [`Self::die_event`] handles?
    #[inline(always)]
    pub fn is_of_die(&self, event: u32) -> bool {
        event < self.geometry.dies
    }

    /// An event of a channel, or of the slot.
    #[inline(always)]
    pub fn bus_event(&mut self, event: u32) {
        if event < self.slot_event() {
            let channel = ChannelId(event - self.geometry.dies);
            self.channels[channel.idx()].scheduled = false;
            self.touch(channel);
        } else {
            (0..self.geometry.channels).for_each(|channel| self.touch(ChannelId(channel)));
        }
    }

    /// An event of a die. Returns the operation that ended, if one did.
    #[inline(always)]
    pub fn die_event<P: Probe>(
        &mut self,
        now: Nanos,
        die: DieId,
        brain: &mut Brain,
        hw: &mut Hardware<P>,
    ) -> Option<Ended> {
        let state = &self.dies[die.idx()];
        match state.stage {
            Stage::Reading => {
                self.read_from_array(now, die, hw);
                None
            }
            Stage::Out => {
                let channel = state.channel;
                self.channels[channel.idx()].scheduled = false;
                self.end(now, die, OpKind::Read, brain, hw)
            }
            Stage::Idle | Stage::Array | Stage::DataWait => {
                let kind = self.ops[state.running].kind;
                self.end(now, die, kind, brain, hw)
            }
        }
    }

    /// A read's data is in the page register. It moves out at once if the bus is free and nothing else happens at this
    /// instant that could be older; else the channel is looked at with everything of this instant at hand.
    #[inline(always)]
    fn read_from_array<P: Probe>(&mut self, now: Nanos, die: DieId, hw: &mut Hardware<P>) {
        let (channel, way) = self.seat(die);
        let state = &mut self.channels[channel.idx()];
        let alone = state.data_waits == 0 && !state.dirty && now >= state.bus_free_at;
        if alone && !self.events.any_now() {
            self.move_die_out(now, channel, die, DieState::Read, hw);
        } else {
            self.channels[channel.idx()].data_waits |= 1 << way;
            self.dies[die.idx()].stage = Stage::DataWait;
            hw.books.die(now, DieState::Read, DieState::DataWait);
            self.touch(channel);
        }
    }

    /// The operation of a die, which is of this kind, ends.
    #[inline(always)]
    fn end<P: Probe>(
        &mut self,
        now: Nanos,
        die: DieId,
        kind: OpKind,
        brain: &mut Brain,
        hw: &mut Hardware<P>,
    ) -> Option<Ended> {
        let state = &mut self.dies[die.idx()];
        let (channel, way, id, start) = (state.channel, state.way, state.running, state.started);
        (state.running, state.stage) = (OpId::NONE, Stage::Idle);
        self.channels[channel.idx()].idle |= 1 << way;
        let op = &self.ops[id];
        let (cause, at, request) = (op.cause, op.at, op.request);
        let (half_done, other) = (kind == OpKind::Read && op.turns_into_program(), op.other);
        let course = self.courses.of(kind);
        hw.books.op_ended(now, kind, cause, course.last, now - start - course.whole_ns);
        if hw.books.began_before(start) {
            self.began_before(kind, cause, start, now, hw);
        }
        hw.books.probe.op_ended(&OpRecord { op: &self.ops[id], times: &self.courses.times(kind, start, now) });
        if half_done {
            self.release(at.block, &mut hw.array);
            self.turn_into_program(now, id, channel, way, hw);
            return None;
        }
        self.touch(channel);
        self.apply_end(kind, at, other.block, brain, hw);
        self.let_go(id, hw);
        self.ops.remove(id);
        if request.is_none() {
            self.background_ended(die);
        }
        Some(Ended { request, kind })
    }

    /// An operation that ends now had begun before the window did.
    #[cold]
    fn began_before<P: Probe>(&self, kind: OpKind, cause: Cause, start: Nanos, now: Nanos, hw: &mut Hardware<P>) {
        hw.books.op_began_before(kind, cause, &self.courses.times(kind, start, now));
    }

    /// A step of a die's background work has ended: the next one can be asked for.
    #[inline(always)]
    fn background_ended(&mut self, die: DieId) {
        let state = &mut self.dies[die.idx()];
        state.background -= 1;
        if state.background == 0 {
            self.set_ready(die, if self.preemptible { Queue::Job } else { Queue::UrgentJob });
        }
    }

    /// The data of a copy has been read: its program joins the queue, or starts at once where nothing could come before it.
    #[inline(always)]
    fn turn_into_program<P: Probe>(
        &mut self,
        now: Nanos,
        id: OpId,
        channel: ChannelId,
        way: u32,
        hw: &mut Hardware<P>,
    ) {
        let op = &mut self.ops[id];
        op.kind = OpKind::Program;
        op.started = false;
        op.at = std::mem::replace(&mut op.other, Place::NONE);
        let at = op.at;
        self.keep_order(id, at, &hw.array);
        if self.is_alone(now, channel, id) {
            self.dies[at.die.idx()].bypassed = 0;
            return self.start(now, channel, Chosen { die: at.die, way, op: id, is_queued: false }, hw);
        }
        self.touch(channel);
        self.enqueue_new(id);
    }

    /// Is it sure without a look at the queues that this operation, ready and new, is the next one on its channel? Nothing
    /// else happens at this instant, and nothing else could start there.
    #[inline(always)]
    fn is_alone(&self, now: Nanos, channel: ChannelId, id: OpId) -> bool {
        let (op, bus) = (&self.ops[id], &self.channels[channel.idx()]);
        let is_only_event = self.dirty.is_none() && !self.events.any_now() && self.timing.channel_switch_ns == 0;
        is_only_event
            && now >= bus.bus_free_at
            && !bus.has_work()
            && op.blockers == 0
            && self.dies[op.at.die.idx()].queues[op.queue as usize].head.is_none()
    }

    /// What the end of an operation changes on the array, and in what the brain knows of it.
    #[inline(always)]
    fn apply_end<P: Probe>(
        &mut self,
        kind: OpKind,
        at: Place,
        source: BlockId,
        brain: &mut Brain,
        hw: &mut Hardware<P>,
    ) {
        match kind {
            OpKind::Read | OpKind::Copy => self.release(at.block, &mut hw.array),
            OpKind::Program | OpKind::Copyback => {
                if kind == OpKind::Copyback {
                    self.release(source, &mut hw.array);
                }
                if hw.array.end_program(at) {
                    brain.blocks.close(at.block);
                    self.wake(at.die, brain);
                }
            }
            OpKind::Erase => {
                hw.array.end_erase(at.block);
                brain.erased(at.block, &hw.array);
                self.wake(at.die, brain);
            }
        }
    }

    /// Lets those go that waited for an operation's end.
    #[inline(always)]
    fn let_go<P: Probe>(&mut self, id: OpId, hw: &mut Hardware<P>) {
        let replaces = self.ops[id].replaces;
        if replaces.is_some() {
            self.release(replaces, &mut hw.array);
            while let Some(block) = self.ops.pop_replaced(id) {
                self.release(block, &mut hw.array);
            }
        }
        while let Some(waiting) = self.ops.pop_dependent(id, Until::End) {
            self.unblock(waiting, Until::End);
        }
    }

    #[inline(always)]
    fn release(&mut self, block: BlockId, array: &mut Array) {
        if let Some(erase) = array.release(block) {
            self.unblock(erase, Until::Start);
        }
    }

    // ---------------------------------------------------------------- dispatch

    /// Starts everything that can start now.
    #[inline(always)]
    pub fn dispatch<P: Probe>(&mut self, now: Nanos, brain: &mut Brain, hw: &mut Hardware<P>) {
        while let Some(channel) = self.take_dirty() {
            if self.timing.channel_switch_ns > 0 {
                self.touch(channel);
                return self.dispatch_by_slot(now, brain, hw);
            }
            self.dispatch_channel(now, channel, brain, hw);
        }
    }

    #[inline(always)]
    fn take_dirty(&mut self) -> Option<ChannelId> {
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
    fn dispatch_channel<P: Probe>(&mut self, now: Nanos, channel: ChannelId, brain: &mut Brain, hw: &mut Hardware<P>) {
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

    /// Channels wait for one slot: whenever it is free, the oldest operation that could start on any of them does.
    fn dispatch_by_slot<P: Probe>(&mut self, now: Nanos, brain: &mut Brain, hw: &mut Hardware<P>) {
        while let Some(channel) = self.take_dirty() {
            while !self.is_bus_taken(now, channel) && self.channels[channel.idx()].data_waits != 0 {
                self.move_out(now, channel, hw);
            }
        }
        while let Some((channel, chosen)) = self.oldest_of_channels(now, brain, hw) {
            self.start(now, channel, chosen, hw);
            self.slot_free_at = now + self.timing.channel_switch_ns;
        }
    }

    /// The oldest operation that could start on any channel. If the slot is not free yet, its event is set instead.
    fn oldest_of_channels<P: Probe>(
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
    fn is_bus_taken(&mut self, now: Nanos, channel: ChannelId) -> bool {
        let state = &mut self.channels[channel.idx()];
        if now >= state.bus_free_at {
            return false;
        }
        if !state.scheduled && state.has_work() {
            state.scheduled = true;
            self.events.set(Lane::Bus, self.geometry.dies + channel.0, state.bus_free_at);
        }
        true
    }

    /// The oldest read whose data waits on a channel moves out.
    #[inline(always)]
    fn move_out<P: Probe>(&mut self, now: Nanos, channel: ChannelId, hw: &mut Hardware<P>) {
        let waits = self.channels[channel.idx()].data_waits;
        let way = self.oldest(channel, waits, |die| die.running);
        self.channels[channel.idx()].data_waits &= !(1 << way);
        let die = self.geometry.die_at(channel, way);
        self.move_die_out(now, channel, die, DieState::DataWait, hw);
    }

    #[inline(always)]
    fn move_die_out<P: Probe>(
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
        self.events.set(Lane::Transfer, die.0, end);
    }

    /// What starts next on this channel: the operation of the best class, among those the oldest. Asks for background work
    /// where its turn comes.
    #[inline(always)]
    fn choose<P: Probe>(
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
                let is_sure = candidates & (candidates - 1) == 0 && self.timing.channel_switch_ns == 0;
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

    /// What a die serves if its best queue is `queue`: the head of that, or the oldest of all once others have been passed
    /// over too often, by turns with background work: where its turn comes it becomes urgent, and there is no answer yet.
    #[inline(always)]
    fn fair(&mut self, die: DieId, queue: u8) -> Option<OpId> {
        let state = &mut self.dies[die.idx()];
        let head = state.queues[queue as usize].head;
        if u32::from(state.ready) >> (queue + 1) == 0 {
            state.bypassed = 0;
            return Some(head);
        }
        state.bypassed += 1;
        if state.bypassed <= BYPASS_MAX { Some(head) } else { self.oldest_ready(die, queue) }
    }

    #[cold]
    fn oldest_ready(&mut self, die: DieId, queue: u8) -> Option<OpId> {
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
        let ready = u64::from(state.ready & !job);
        let state = &self.dies[die.idx()];
        ways(ready).map(|queue| state.queues[queue as usize].head).min_by_key(|&id| self.ops[id].seq)
    }

    /// Of the dies in `mask`, the one whose operation is oldest.
    #[inline(always)]
    fn oldest(&self, channel: ChannelId, mask: u64, op: impl Fn(&Die) -> OpId) -> u32 {
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
    fn pull<P: Probe>(
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
        debug_assert!(brain.plan.ops().iter().all(|op| self.geometry.die_of(op.ppn) == die));
        let state = &mut self.dies[die.idx()];
        state.background += brain.plan.ops().len() as u32;
        if is_sure
            && state.ready == 0
            && let Some(step) = brain.plan.only_op()
        {
            return self.take_step(step, urgent, hw);
        }
        self.take_over(&brain.plan, RequestId::NONE, urgent, hw);
        None
    }

    /// Takes over the only operation of a plan for a die on which nothing is ready. Answers with it if it could start.
    #[inline(always)]
    fn take_step<P: Probe>(&mut self, step: &PlannedOp, urgent: bool, hw: &mut Hardware<P>) -> Option<OpId> {
        let id = self.insert(step, RequestId::NONE, urgent, &mut hw.array);
        let op = &self.ops[id];
        let state = &mut self.dies[op.at.die.idx()];
        if op.blockers == 0 && state.queues[op.queue as usize].head.is_none() {
            state.bypassed = 0;
            return Some(id);
        }
        self.enqueue_new(id);
        None
    }

    /// Starts the operation that was chosen.
    #[inline(always)]
    fn start<P: Probe>(&mut self, now: Nanos, channel: ChannelId, chosen: Chosen, hw: &mut Hardware<P>) {
        let Chosen { die, way, op: id, is_queued } = chosen;
        if is_queued {
            self.unlink(id);
        }
        let op = &mut self.ops[id];
        op.started = true;
        let (kind, cause) = (op.kind, op.cause);
        referee(op, &mut hw.array);
        if kind != OpKind::Read {
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
            hw.books.turns_to_program(now + course.array_end_ns);
        }
        self.events.set(course.lane, die.0, now + course.event_ns);
    }

    /// A window of the run ends. What is under way is booked as if it ended now, without ending it.
    pub fn cut<P: Probe>(&self, now: Nanos, hw: &mut Hardware<P>) {
        hw.books.book_whole(|kind| self.courses.whole(kind));
        for die in self.dies.iter().filter(|die| die.running.is_some()) {
            let op = &self.ops[die.running];
            let bus_free_at = self.channels[die.channel.idx()].bus_free_at;
            let times = self.courses.times_until(now, op.kind, die.started, die.stage, bus_free_at);
            hw.books.op_cut(op.kind, op.cause, &times);
        }
    }

    #[inline(always)]
    fn seat(&self, die: DieId) -> (ChannelId, u32) {
        let die = &self.dies[die.idx()];
        (die.channel, die.way)
    }

    #[inline(always)]
    fn touch(&mut self, channel: ChannelId) {
        self.channels[channel.idx()].touch(channel, &mut self.dirty);
    }
}

/// The array is told of a start, and judges it.
#[inline(always)]
fn referee(op: &Op, array: &mut Array) {
    match op.kind {
        OpKind::Read | OpKind::Copy => array.start_read(op.at),
        OpKind::Program => array.start_program(op.at),
        OpKind::Erase => array.start_erase(op.at.block),
        OpKind::Copyback => {
            array.start_read(op.other);
            array.start_program(op.at);
        }
    }
}

/// What starts next: on which die of its channel, and which operation.
#[derive(Clone, Copy)]
struct Chosen {
    die: DieId,
    way: u32,
    op: OpId,
    /// Is it in its queue?
    is_queued: bool,
}

/// What operations act on: the flash, and the books of it.
pub struct Hardware<P: Probe> {
    /// The flash array.
    pub array: Array,
    /// Time and energy.
    pub books: Books<P>,
}
