//! Programs and erases that are suspended for reads.
//!
//! A read of the class that `device.suspend.reads` names, ready on a die whose array programs or erases, suspends that operation. The
//! controller decides so at once, and its command takes no time on the bus. It does not know when the array will be done: an operation
//! that is about to end is suspended, too. The array winds down for `program_ns` or `erase_ns`, and is at work for the operation until
//! then. After that the die serves reads of the class, and nothing else, until none is ready and the data of all has moved out. Then
//! the operation goes on: the array takes `resume_ns`, and the time that was left. A read that comes meanwhile suspends it again.
//!
//! An operation is suspended `max` times at most, and no longer once [`BYPASS_MAX`] reads have gone ahead of it, reads of several planes at
//! once being one: then it runs to its end.

use super::Cells;
use super::dies::{ArrayWork, CellDie};
use crate::controller::dispatch::{BYPASS_MAX, OpStart};
use crate::controller::op::OpQueue;
use crate::controller::queues::ways;
use crate::controller::{Controller, EndOfOp, MeteredFlash};
use crate::energy::die_state::OpStates;
use crate::nand::FlashAddress;
use crate::nand::settings::{Resume, SUSPENSIONS_MAX, Suspend, SuspendReads};
use crate::observe::probe::Probe;
use crate::operation::{Cause, CellMode, OpClass, OpKind};
use flashwatt_base::units::{ChannelId, DieId, Nanos, OpId};
use flashwatt_core::connector::{Agenda, EventKind};

/// Reads of a queue that are looked at for one that suspends. Choice: what goes ahead of it in its queue are few copies.
const LOOK_AT: usize = 64;

const _: () = assert!(SUSPENSIONS_MAX <= BYPASS_MAX, "a read goes ahead in each suspension");

/// How far a program or an erase that can be suspended has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Stage {
    /// The array works for no such operation, or for one that runs to its end.
    #[default]
    Bound,
    /// The array works for it.
    Works,
    /// The array works for it, and has not worked for long enough to be suspended for the read that waits.
    Waits,
    /// The array winds down.
    WindsDown,
    /// It is suspended.
    Suspended,
}

/// A program or an erase of a die that can be suspended.
#[derive(Clone, Debug, Default)]
pub(super) struct Pause {
    pub stage: Stage,
    /// The operation, while it is suspended, with what the die knew of it.
    pub held: ArrayWork,
    pub started: Nanos,
    array_start: Nanos,
    planes: u32,
    /// When the array began with it, went on, or was told to wind down, and the time that it needed from then on.
    since: Nanos,
    left_ns: Nanos,
    /// The array time of the whole operation.
    whole_ns: Nanos,
    /// How often it was suspended, and how many reads the die has started meanwhile.
    times: u32,
    reads: u32,
    /// When it was suspended.
    pub stretches: Vec<(Nanos, Nanos)>,
}

impl Pause {
    /// The time that the array will need for the operation when it goes on.
    fn needs_ns(&self, work: ArrayWork, rules: &Suspend) -> Nanos {
        let restarts = rules.resume == Resume::Restart && kind_of(work) == OpKind::Erase;
        rules.resume_ns + if restarts { self.whole_ns } else { self.left_ns }
    }
}

/// The kind of what an array programs or erases.
fn kind_of(work: ArrayWork) -> OpKind {
    match work {
        ArrayWork::Row(_) => OpKind::Program,
        ArrayWork::Erase(_) => OpKind::Erase,
        ArrayWork::None | ArrayWork::Reads => unreachable!("programs and erases are suspended"),
    }
}

impl CellDie {
    /// Whether an operation is suspended here.
    pub fn is_suspended(&self) -> bool {
        self.pause.stage == Stage::Suspended
    }

    /// Whether a program or an erase may begin, as far as the array is concerned.
    pub fn has_free_array(&self) -> bool {
        self.work == ArrayWork::None && !self.is_suspended()
    }

    /// The array has ended a program or an erase: nothing can be suspended any more. Returns when the array began with it, and when it was
    /// suspended.
    pub fn end_of_work(&mut self) -> (Nanos, Vec<(Nanos, Nanos)>) {
        self.pause.stage = Stage::Bound;
        (self.array_start, std::mem::take(&mut self.pause.stretches))
    }

    /// Whether reads can suspend what the array does, or have suspended it.
    pub fn is_watched(&self, rules: &Suspend) -> bool {
        match self.pause.stage {
            Stage::Works => !self.is_exhausted(rules),
            Stage::Waits | Stage::Suspended => true,
            Stage::Bound | Stage::WindsDown => false,
        }
    }

    /// Whether an operation has been suspended as often, or for as many reads, as it may be.
    fn is_exhausted(&self, rules: &Suspend) -> bool {
        self.pause.times >= rules.times() || self.pause.reads >= BYPASS_MAX
    }
}

impl Controller {
    fn suspend_rules(&self) -> &Suspend {
        match &self.cells().rules.suspend {
            Some(rules) => rules,
            None => unreachable!("only drives that suspend operations come here"),
        }
    }

    /// The array of a die works from `array_start` on for so long, for a program or an erase: sets the event of its end.
    pub(super) fn set_array_end(&mut self, agenda: &mut Agenda, die: DieId, array_start: Nanos, array_ns: Nanos) {
        let kind = kind_of(self.cells().dies[die.idx()].work);
        let event = if kind == OpKind::Erase { EventKind::Other } else { EventKind::Program };
        let (seat, end) = (self.first_seat + die.0, array_start + array_ns);
        let rules = &self.cells().rules;
        if rules.suspend.as_ref().is_none_or(|rules| rules.wind_down_ns(kind).is_none()) {
            return agenda.set(event, seat, end);
        }
        let pause = &mut self.cells_mut().dies[die.idx()].pause;
        (pause.stage, pause.since, pause.left_ns, pause.whole_ns) = (Stage::Works, array_start, array_ns, array_ns);
        (pause.times, pause.reads) = (0, 0);
        agenda.set_free(seat, end);
    }

    /// Whether a die has an operation among the reads of the host that is ready.
    fn has_ready_read(&self, die: DieId) -> bool {
        self.dies[die.idx()].ready >> OpQueue::HostRead as u32 & 1 != 0
    }

    /// The next read that a die would serve while an operation is suspended.
    fn next_suspending(&self, die: DieId) -> Option<OpId> {
        if !self.has_ready_read(die) {
            return None;
        }
        let state = &self.dies[die.idx()];
        let for_map = self.suspend_rules().reads == SuspendReads::MapAndHost;
        let suspends = |&id: &OpId| {
            let op = &self.ops[id];
            let is_of_class = op.cause == Cause::Host || for_map && op.cause == Cause::Map;
            op.kind == OpKind::Read && !op.turns_into_program() && is_of_class
        };
        self.listed(state.queues[OpQueue::HostRead as usize]).take(LOOK_AT).find(suspends)
    }

    /// Suspends the operations of a channel's dies for which reads wait, and goes on with those that no read waits for.
    pub(super) fn suspend_and_resume<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        flash: &mut MeteredFlash<P>,
    ) {
        let Cells { watched, with_reads, paused, .. } = self.cells();
        let (reads, paused) = (with_reads[channel.idx()], paused[channel.idx()]);
        let has_read = |way| self.has_ready_read(self.geometry.die_at(channel, way));
        debug_assert!(!ways(watched[channel.idx()] & !reads).any(has_read), "a read that is ready is noted");
        for way in ways(watched[channel.idx()] & (reads | paused)) {
            let die = self.geometry.die_at(channel, way);
            if !self.has_ready_read(die) {
                self.cells_mut().with_reads[channel.idx()] &= !(1 << way);
            }
            let of = &self.cells().dies[die.idx()];
            let is_wanted = || self.next_suspending(die).is_some();
            match of.pause.stage {
                Stage::Works if is_wanted() && !of.is_exhausted(self.suspend_rules()) => {
                    self.suspend(agenda, die, flash)
                }
                Stage::Suspended if (is_exhausted_of_reads(of) || !is_wanted()) && self.does_nothing(die) => {
                    self.resume(agenda, die, flash);
                }
                _ => {}
            }
        }
    }

    /// Whether neither the array nor the registers of a die do anything.
    fn does_nothing(&self, die: DieId) -> bool {
        let of = &self.cells().dies[die.idx()];
        of.work == ArrayWork::None && of.out.head.is_none() && self.moving_of(die).is_none()
    }

    /// The array winds down, or its event is set to when it may.
    fn suspend<P: Probe>(&mut self, agenda: &mut Agenda, die: DieId, flash: &mut MeteredFlash<P>) {
        let (now, seat) = (agenda.now(), self.first_seat + die.0);
        let rules = self.suspend_rules();
        let of = &self.cells().dies[die.idx()];
        let (end, may_at) = (of.pause.since + of.pause.left_ns, of.pause.since.saturating_add(rules.min_run_ns));
        let wind_down_ns = rules.wind_down_ns(kind_of(of.work)).unwrap_or(0);
        if may_at >= end {
            return;
        }
        let pause = &mut self.cells_mut().dies[die.idx()].pause;
        if now < may_at {
            pause.stage = Stage::Waits;
            return agenda.reset(seat, may_at);
        }
        (pause.stage, pause.times) = (Stage::WindsDown, pause.times + 1);
        (pause.since, pause.left_ns) = (now, end - now);
        if wind_down_ns > 0 {
            agenda.reset(seat, now + wind_down_ns);
        } else {
            agenda.cancel(seat);
            self.is_wound_down(die, now, flash);
        }
        self.restate(die, now, flash); // the array's work goes on while it winds down: it is booked as one piece
    }

    /// The array has worked for long enough to be suspended. Dispatch does it, if a read still waits.
    pub(super) fn may_be_suspended(&mut self, agenda: &mut Agenda, die: DieId) {
        let pause = &mut self.cells_mut().dies[die.idx()].pause;
        pause.stage = Stage::Works;
        let end = pause.since + pause.left_ns;
        agenda.set_free(self.first_seat + die.0, end);
        self.mark_changed(self.geometry.channel_of(die));
    }

    /// The array has wound down: its operation is suspended.
    pub(super) fn is_wound_down<P: Probe>(&mut self, die: DieId, now: Nanos, flash: &mut MeteredFlash<P>) {
        self.book(die, now, self.moving_of(die), flash);
        let of = &mut self.cells_mut().dies[die.idx()];
        let (work, planes) = (std::mem::take(&mut of.work), std::mem::replace(&mut of.planes, 1));
        (of.pause.stage, of.pause.held, of.pause.planes) = (Stage::Suspended, work, planes);
        (of.pause.started, of.pause.array_start) = (of.started, of.array_start);
        of.pause.stretches.push((now, now));
        self.end_course(die, now, planes, flash);
        let (at, pages) = self.place_of(work);
        flash.array.suspend(at, pages);
    }

    /// The pages that a suspended operation works on: the first one and their number.
    fn place_of(&self, work: ArrayWork) -> (FlashAddress, u32) {
        match work {
            ArrayWork::Row(row) => (self.ops[self.cells().rows[row].op].at, self.cells().rows[row].size),
            ArrayWork::Erase(id) => (self.ops[id].at, self.geometry.pages_per_block),
            ArrayWork::None | ArrayWork::Reads => unreachable!("programs and erases are suspended"),
        }
    }

    /// The array goes on with the suspended operation.
    fn resume<P: Probe>(&mut self, agenda: &mut Agenda, die: DieId, flash: &mut MeteredFlash<P>) {
        let now = agenda.now();
        self.book(die, now, None, flash);
        let pause = &self.cells().dies[die.idx()].pause;
        let needs_ns = pause.needs_ns(pause.held, self.suspend_rules());
        let of = &mut self.cells_mut().dies[die.idx()];
        let pause = &mut of.pause;
        (of.work, of.started, of.array_start) = (std::mem::take(&mut pause.held), pause.started, pause.array_start);
        (pause.stage, pause.since, pause.left_ns) = (Stage::Works, now, needs_ns);
        match pause.stretches.last_mut() {
            Some(last) if last.0 < now => last.1 = now,
            _ => drop(pause.stretches.pop()),
        }
        let (planes, work) = (pause.planes, of.work);
        let mode = if let ArrayWork::Row(row) = work { self.cells().rows[row].mode } else { CellMode::Native };
        let states = OpStates::of(OpClass { mode, ..OpClass::plain(kind_of(work)) });
        flash.array.resume(die);
        self.set_course(die, now, planes, states, now, flash);
        agenda.set_free(self.first_seat + die.0, now + needs_ns);
        self.restate(die, now, flash);
    }

    /// The read that a die with a suspended operation may start now, be it beside data that moves out.
    pub(super) fn read_meanwhile(&self, die: DieId) -> Option<OpId> {
        let of = &self.cells().dies[die.idx()];
        let is_free = of.is_suspended() && of.work == ArrayWork::None && !is_exhausted_of_reads(of);
        if is_free { self.next_suspending(die) } else { None }
    }

    /// Starts a read on one of a channel's dies with suspended operations, the oldest one. Returns whether it did. The bus must be free.
    pub(super) fn begin_read_meanwhile<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        flash: &mut MeteredFlash<P>,
    ) -> bool {
        let dies = ways(self.cells().paused[channel.idx()]).map(|way| self.geometry.die_at(channel, way));
        let reads = dies.filter(|&die| self.does_nothing(die)).filter_map(|die| self.read_meanwhile(die));
        let Some(op) = reads.min_by_key(|&id| self.ops[id].seq) else { return false };
        let (die, queue) = (self.ops[op].at.die, self.ops[op].queue);
        self.note_bypass(die, queue as usize);
        let chosen = OpStart { die, way: self.geometry.way_of(die), op, is_queued: true };
        self.start_chosen_on_cells(agenda, channel, chosen, flash);
        true
    }

    /// Notes that an operation of this queue goes ahead of those in worse ones.
    pub(super) fn note_bypass(&mut self, die: DieId, queue: usize) {
        let state = &mut self.dies[die.idx()];
        state.bypassed = if state.ready >> (queue + 1) != 0 { state.bypassed + 1 } else { 0 };
    }

    /// Counts a start of reads while an operation is suspended.
    pub(super) fn count_read_meanwhile(&mut self, die: DieId) {
        let of = &mut self.cells_mut().dies[die.idx()];
        of.pause.reads += u32::from(of.is_suspended());
    }

    /// Whether a read waits that could start on one of a channel's dies with suspended operations.
    pub(in crate::controller) fn read_waits_meanwhile(&self, channel: ChannelId) -> bool {
        let mut dies = ways(self.cells().paused[channel.idx()]).map(|way| self.geometry.die_at(channel, way));
        dies.any(|die| self.does_nothing(die) && self.read_meanwhile(die).is_some())
    }

    /// When the array will have ended the program or the erase of a die, if no further read comes.
    pub(super) fn end_of_paused(&self, die: &CellDie) -> EndOfOp {
        let (Some(rules), pause) = (&self.cells().rules.suspend, &die.pause) else { return EndOfOp::AsPlanned };
        match pause.stage {
            Stage::Works | Stage::Waits if pause.times > 0 => EndOfOp::At(pause.since + pause.left_ns),
            Stage::WindsDown => {
                let wound_down = pause.since + rules.wind_down_ns(kind_of(die.work)).unwrap_or(0);
                EndOfOp::At(wound_down + pause.needs_ns(die.work, rules))
            }
            Stage::Suspended => EndOfOp::AfterResumption(pause.needs_ns(pause.held, rules)),
            Stage::Bound | Stage::Works | Stage::Waits => EndOfOp::AsPlanned,
        }
    }
}

/// Whether no further read goes ahead of a suspended operation.
fn is_exhausted_of_reads(of: &CellDie) -> bool {
    of.pause.reads >= BYPASS_MAX
}
