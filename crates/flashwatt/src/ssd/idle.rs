//! Work of the translation layer for which the drive waits until it is idle.
//!
//! The drive asks the layer for the first piece of work when it has had no request for [`IdlePace::start_ns`]. When a piece has ended,
//! the drive waits for [`IdlePace::gap_ns`] and asks for the next one. It stops when the layer has no more work, or when a request
//! comes; a piece that has begun is finished. No piece begins after the host's last request has ended, for the run ends then.

use super::Ssd;
use crate::connector::Cx;
use crate::ftl::IdlePace;
use crate::probe::{Probe, Purpose};
use crate::units::RequestId;

/// The timer of an idle drive, and what is under way.
pub(super) struct IdleWork {
    pace: IdlePace,
    /// Requests that have come.
    arrivals: u64,
    /// The number of requests that had come when the timer was set, if it is.
    timer_since: Option<u64>,
    /// The same when the last piece of work began.
    worked_since: Option<u64>,
    /// Operations of the piece under way that have not ended.
    remaining: u32,
    /// Nothing is possible before an erase has ended.
    waits_for_erase: bool,
}

impl IdleWork {
    /// The timer of a layer that has such work.
    pub fn new(pace: IdlePace) -> Self {
        IdleWork { pace, arrivals: 0, timer_since: None, worked_since: None, remaining: 0, waits_for_erase: false }
    }

    /// A request has come.
    pub fn request_came(&mut self) {
        self.arrivals += 1;
    }

    /// An erase has ended.
    pub fn erased(&mut self) {
        self.waits_for_erase = false;
    }

    /// An operation of the piece under way has ended.
    pub fn op_ended(&mut self) {
        self.remaining -= 1;
    }
}

impl<P: Probe> Ssd<P> {
    /// Called after all events and requests of an instant: sets or cancels the timer.
    #[inline(never)]
    pub(super) fn settle_idle_work(&mut self, cx: &mut Cx) {
        let is_quiet = self.flash.accounts.outstanding() == 0 && !self.draining;
        let seat = self.seats.idle_work;
        let Some(work) = &mut self.idle_work else { return };
        let may_begin = is_quiet && work.remaining == 0 && !work.waits_for_erase && self.firmware.ftl.has_idle_work();
        let since = may_begin.then_some(work.arrivals);
        if since == std::mem::replace(&mut work.timer_since, since) {
            return;
        }
        let goes_on = since == work.worked_since;
        let at = cx.now().saturating_add(if goes_on { work.pace.gap_ns } else { work.pace.start_ns });
        if since.is_some() && at <= cx.agenda.horizon() {
            cx.agenda.reset(seat, at);
        } else {
            cx.agenda.cancel(seat);
        }
    }

    /// The time has come for a piece of work.
    pub(super) fn begin_idle_work(&mut self, cx: &mut Cx) {
        let Some(work) = &mut self.idle_work else { return };
        (work.timer_since, work.worked_since) = (None, Some(work.arrivals));
        self.firmware.idle_work(&self.flash.array);
        self.flash.accounts.planned(cx.now(), Purpose::Background, &self.firmware);
        work.remaining = self.controller.admit(RequestId::IDLE_WORK, &self.firmware, &mut self.flash);
        work.waits_for_erase = work.remaining == 0;
    }
}
