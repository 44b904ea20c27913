//! Reads of a page with several copies. Such a read waits in the queues of all dies with a copy; the first die that becomes
//! free serves it.
//!
//! The read is one operation with one plan number, and other operations wait for it alone. In the queues of the other dies it has
//! stand-ins with the same number. When a stand-in is about to start, the read takes its page and die, and all stand-ins are
//! removed.

use super::op::{NewOp, Role};
use super::{Controller, MeteredFlash};
use crate::ftl::{BusyBy, Plan, PlanIndex, PlannedOp, ReplicaChoice};
use crate::nand::{Array, FlashAddress};
use crate::observe::probe::Probe;
use flashwatt_base::units::{BlockId, ChannelId, DieId, Nanos, OpId, Ppn};

/// Largest number of alternatives of a read.
const ALTERNATIVES_MAX: usize = 4;

/// A read that has not started, and its stand-ins.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    read: OpId,
    stand_ins: [OpId; ALTERNATIVES_MAX],
    count: usize,
}

impl Waiting {
    fn stand_ins(&self) -> &[OpId] {
        &self.stand_ins[..self.count]
    }
}

/// A planned operation with the page chosen for it.
pub(super) struct PageChoice {
    /// The operation with that page.
    pub op: PlannedOp,
    /// Whether the choice is final; if not, the read waits for its alternatives as well.
    pub is_final: bool,
}

impl Controller {
    /// The page that a planned operation gets now: its own or an alternative.
    #[inline]
    pub(super) fn chosen_page(
        &self,
        plan: &Plan,
        at: PlanIndex,
        planned: &PlannedOp,
        array: &Array,
        now: Nanos,
    ) -> PageChoice {
        if !plan.has_alternatives() {
            return PageChoice { op: *planned, is_final: true };
        }
        let is_idle = |at: FlashAddress| match plan.busy_by {
            BusyBy::Die => self.is_free(at.die),
            BusyBy::Channel => self.is_channel_free(self.geometry.channel_of(at.die), now),
        };
        let mut pages = std::iter::once(planned.ppn).chain(plan.alternatives(at));
        let (ppn, is_final) = match plan.choice {
            ReplicaChoice::Idle => self.idle_copy(&mut pages, &is_idle, array),
            ReplicaChoice::IdleOrOriginal => (self.idle_copy(&mut pages, &is_idle, array).0, true),
            ReplicaChoice::ShortestQueue => {
                (pages.min_by_key(|&ppn| self.queue_length(self.geometry.die_of(ppn))), true)
            }
        };
        PageChoice { op: PlannedOp { ppn: ppn.unwrap_or(planned.ppn), ..*planned }, is_final }
    }

    /// The first page whose place is idle, which is final; otherwise the first page that is already on flash.
    fn idle_copy(
        &self,
        pages: &mut dyn Iterator<Item = Ppn>,
        is_idle: &dyn Fn(FlashAddress) -> bool,
        array: &Array,
    ) -> (Option<Ppn>, bool) {
        let mut on_flash = pages.filter(|&ppn| array.is_programmed(self.geometry.place(ppn)));
        let Some(first) = on_flash.next() else { return (None, true) };
        let idle = std::iter::once(first).chain(on_flash).find(|&ppn| is_idle(self.geometry.place(ppn)));
        (idle.or(Some(first)), idle.is_some())
    }

    /// Whether a die could start an operation now.
    fn is_free(&self, die: DieId) -> bool {
        self.is_idle(die) && self.dies[die.idx()].ready == 0
    }

    /// Whether any die of a channel could start an operation now, and its bus is free.
    fn is_channel_free(&self, channel: ChannelId, now: Nanos) -> bool {
        let mut dies = (0..self.geometry.ways).map(|way| self.geometry.die_at(channel, way));
        now >= self.channels[channel.idx()].bus_free_at && dies.all(|die| self.is_free(die))
    }

    /// Adds a ready read to the queues of the dies of all other copies on flash.
    #[inline(never)]
    pub(super) fn wait_everywhere(&mut self, read: OpId, plan: &Plan, at: PlanIndex, array: &mut Array) {
        if self.ops[read].blockers > 0 {
            return;
        }
        let own = self.ops[read].at;
        let mut waiting = Waiting { read, stand_ins: [OpId::NONE; ALTERNATIVES_MAX], count: 0 };
        for ppn in std::iter::once(plan.ops()[at.0 as usize].ppn).chain(plan.alternatives(at)) {
            let place = self.geometry.place(ppn);
            if place != own && array.is_programmed(place) {
                waiting.stand_ins[waiting.count] = self.stand_in(read, place, array);
                waiting.count += 1;
            }
        }
        if waiting.count > 0 {
            self.ops[read].role = Role::Read;
            self.waiting.push(waiting);
        }
    }

    fn stand_in(&mut self, read: OpId, at: FlashAddress, array: &mut Array) -> OpId {
        let op = self.ops[read];
        let id = self.ops.insert(NewOp {
            seq: op.seq,
            kind: op.kind,
            cause: op.cause,
            queue: op.queue,
            at,
            other: FlashAddress::NONE,
            request: op.request,
            replaces: BlockId::NONE,
            is_blank: false,
        });
        self.ops[id].role = Role::StandIn;
        array.hold(at.block);
        self.enqueue_new(id);
        id
    }

    /// The stand-ins of a read.
    #[inline(never)]
    pub(super) fn stand_ins_of(&self, read: OpId) -> &[OpId] {
        // Most often it is the one that has just been planned.
        self.waiting.iter().rev().find(|waiting| waiting.read == read).map_or(&[], Waiting::stand_ins)
    }

    /// Called when a read or one of its stand-ins is about to start: removes the others from their queues. Returns the read, now
    /// with the page and die of the one that starts.
    #[inline(never)]
    pub(super) fn start_waiting_read<P: Probe>(&mut self, started: OpId, flash: &mut MeteredFlash<P>) -> OpId {
        let is_of = |waiting: &Waiting| waiting.read == started || waiting.stand_ins().contains(&started);
        let Some(at) = self.waiting.iter().position(is_of) else { return started };
        let waiting = self.waiting.swap_remove(at);
        let (read, place) = (waiting.read, self.ops[started].at);
        for &id in [read].iter().chain(waiting.stand_ins()).filter(|&&id| id != started) {
            self.unlink(id);
            self.mark_changed(self.geometry.channel_of(self.ops[id].at.die)); // its candidate may be another
            self.release(self.ops[id].at.block, &mut flash.array);
        }
        (self.ops[read].role, self.ops[read].at) = (Role::Single, place);
        waiting.stand_ins().iter().for_each(|&id| self.ops.remove(id));
        read
    }
}
