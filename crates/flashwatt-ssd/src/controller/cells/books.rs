//! What the meter and the ledger get of dies that do more than one thing at a time.
//!
//! The ledger of other dies counts operations and multiplies by the times of their class. Here times differ, so each phase is booked when
//! it ends, or when a window of the run does. What several operations share is divided evenly among them, the remainder goes to the first.

use super::Moving;
use super::dies::ArrayWork;
use crate::controller::{Controller, MeteredFlash};
use crate::energy::die_state::OpStates;
use crate::energy::ledger::share_ns;
use crate::energy::{DieState, ExtraState};
use crate::observe::probe::Probe;
use crate::operation::Cause;
use flashwatt_base::units::{DieId, Nanos, OpId};

impl Controller {
    /// Books the time of a die up to now. `moving` is what moved in or out of it in that time.
    pub(super) fn book<P: Probe>(
        &mut self,
        die: DieId,
        now: Nanos,
        moving: Option<Moving>,
        flash: &mut MeteredFlash<P>,
    ) {
        loop {
            let of = &mut self.cells_mut().dies[die.idx()];
            let (state, since) = (of.state, of.since);
            let follows = of.next.filter(|&(at, _)| at <= now);
            let until = follows.map_or(now, |(at, _)| at);
            of.since = until;
            if let Some((_, next)) = follows {
                (of.state, of.next) = (next, None);
            }
            if until > since && state != DieState::Idle {
                self.book_state(die, state, until - since, moving, flash);
            }
            if follows.is_none() {
                break;
            }
        }
        self.book_beside(die, now, moving, flash);
    }

    /// As [`Self::book`], of a die whose array may be in the middle of something. That is booked as one piece when it ends, since what
    /// operations share leaves a remainder.
    pub(super) fn book_transfer<P: Probe>(
        &mut self,
        die: DieId,
        now: Nanos,
        moving: Option<Moving>,
        flash: &mut MeteredFlash<P>,
    ) {
        match self.cells().dies[die.idx()].work {
            ArrayWork::None => self.book(die, now, moving, flash),
            _ => self.book_beside(die, now, moving, flash),
        }
    }

    /// Books what moved in or out of a die beside its array.
    fn book_beside<P: Probe>(&mut self, die: DieId, now: Nanos, moving: Option<Moving>, flash: &mut MeteredFlash<P>) {
        let of = &mut self.cells_mut().dies[die.idx()];
        if let (Some((state, since)), Some(moving)) = (of.beside, moving) {
            of.beside = Some((state, now));
            flash.accounts.book_extra(state, self.cause_of(moving), now - since);
        }
    }

    fn book_state<P: Probe>(
        &self,
        die: DieId,
        state: DieState,
        ns: Nanos,
        moving: Option<Moving>,
        flash: &mut MeteredFlash<P>,
    ) {
        let of = &self.cells().dies[die.idx()];
        match (of.work, moving) {
            (ArrayWork::Reads, _) => self.divide(self.listed(of.reads), of.planes, state, ns, flash),
            (ArrayWork::Row(row), _) => {
                let row = &self.cells().rows[row];
                self.divide(row.members(), of.planes, state, ns, flash);
            }
            (ArrayWork::Erase(id), _) => self.divide(std::iter::once(id), of.planes, state, ns, flash),
            (ArrayWork::None, Some(moving)) => flash.accounts.book(state, self.cause_of(moving), ns),
            (ArrayWork::None, None) if state == DieState::Suspended => match of.pause.held {
                ArrayWork::Row(row) => self.divide(self.cells().rows[row].members(), 1, state, ns, flash),
                ArrayWork::Erase(id) => flash.accounts.book(state, self.ops[id].cause, ns),
                ArrayWork::None | ArrayWork::Reads => unreachable!("programs and erases are suspended"),
            },
            (ArrayWork::None, None) => flash.accounts.book(state, self.ops[of.out.head].cause, ns),
        }
    }

    /// Books a state of a die for operations that share it, on this number of planes.
    fn divide<P: Probe>(
        &self,
        ids: impl Iterator<Item = OpId> + Clone,
        planes: u32,
        state: DieState,
        ns: Nanos,
        flash: &mut MeteredFlash<P>,
    ) {
        let count = ids.clone().count() as u64;
        for (place, id) in ids.enumerate() {
            let (share, cause) = (share_ns(ns, place as u64, count), self.ops[id].cause);
            flash.accounts.book(state, cause, share);
            if let Some(extra) = ExtraState::of_plane(state).filter(|_| planes > 1) {
                flash.accounts.book_extra(extra, cause, share * u64::from(planes - 1));
            }
        }
    }

    /// The cause of what moves over a bus.
    fn cause_of(&self, moving: Moving) -> Cause {
        let id = match moving {
            Moving::Out(_, read) => read,
            Moving::In(_, row) => self.cells().rows[row].next_member(),
        };
        self.ops[id].cause
    }

    /// The array of a die begins something on this number of planes, now or when command and data have moved in: its states, in the meter
    /// now and ahead.
    pub(super) fn set_course<P: Probe>(
        &mut self,
        die: DieId,
        now: Nanos,
        planes: u32,
        states: OpStates,
        array_start: Nanos,
        flash: &mut MeteredFlash<P>,
    ) {
        let OpStates { bus, array, .. } = states;
        let next = (array_start > now).then_some((array_start, array));
        self.set_state(die, now, if next.is_some() { bus } else { array }, flash);
        if next.is_some() {
            flash.accounts.die_at(array_start, bus, array);
        }
        let extra = ExtraState::of_plane(array).filter(|_| planes > 1);
        flash.accounts.extra(array_start, None, extra, planes - 1);
        let of = &mut self.cells_mut().dies[die.idx()];
        (of.next, of.extra, of.planes) = (next, extra, planes);
        flash.accounts.array_begins(array_start);
    }

    /// The array of a die, which worked on this number of planes, ends.
    pub(super) fn end_course<P: Probe>(&mut self, die: DieId, now: Nanos, planes: u32, flash: &mut MeteredFlash<P>) {
        let extra = self.cells_mut().dies[die.idx()].extra.take();
        flash.accounts.extra(now, extra, None, planes - 1);
        flash.accounts.array_ended(now);
    }

    /// Sets the state of a die.
    pub(super) fn set_state<P: Probe>(&mut self, die: DieId, now: Nanos, to: DieState, flash: &mut MeteredFlash<P>) {
        let of = &mut self.cells_mut().dies[die.idx()];
        debug_assert!(of.since == now && of.next.is_none(), "the time before is booked");
        let from = std::mem::replace(&mut of.state, to);
        if from == to {
            return;
        }
        match (from, to) {
            (DieState::Idle, _) => flash.accounts.die_begins(now, to),
            (_, DieState::Idle) => flash.accounts.die_ends(now, from),
            _ => flash.accounts.die(now, from, to),
        }
    }

    /// Sets what moves over the bus beside the array of a die.
    pub(super) fn set_beside<P: Probe>(
        &mut self,
        die: DieId,
        now: Nanos,
        to: Option<ExtraState>,
        flash: &mut MeteredFlash<P>,
    ) {
        let of = &mut self.cells_mut().dies[die.idx()];
        let from = of.beside.map(|(state, _)| state);
        if from != to {
            of.beside = to.map(|state| (state, now));
            flash.accounts.extra(now, from, to, 1);
        }
    }

    /// Books what dies have done up to the end of a window.
    pub(in crate::controller) fn book_all<P: Probe>(&mut self, now: Nanos, flash: &mut MeteredFlash<P>) {
        for die in (0..self.geometry.dies).map(DieId) {
            let moving = self.moving_of(die);
            self.book(die, now, moving, flash);
        }
    }
}
