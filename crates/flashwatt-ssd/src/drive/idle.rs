//! Work of the translation layer for which the drive waits until it is idle.
//!
//! The drive asks the layer for the first piece of work when it has had no request for [`IdlePace::start_ns`]. When a piece has ended,
//! the drive waits for [`IdlePace::gap_ns`] and asks for the next one. It stops when the layer has no more work, or when a request
//! comes; a piece that has begun is finished. No piece begins after the host's last request has ended, for the run ends then.

use std::hint::cold_path;

use super::service::Service;
use super::settings::Settings;
use super::{NO_SEAT, Ssd};
use crate::controller::EndedOp;
use crate::firmware::Firmware;
use crate::ftl::IdlePace;
use crate::nand::Geometry;
use crate::observe::probe::{Probe, Purpose};
use flashwatt_base::units::RequestId;
use flashwatt_core::connector::Cx;

/// The timer of an idle drive, and what is under way.
pub(super) struct IdleWork {
    pace: IdlePace,
    seat: u32,
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

impl Service for IdleWork {
    const REQUEST: RequestId = RequestId::IDLE_WORK;

    fn of_drive(_settings: &Settings, firmware: &Firmware, _geometry: &Geometry) -> Option<Self> {
        let pace = firmware.ftl.idle_pace()?;
        let (arrivals, timer_since, worked_since, remaining) = (0, None, None, 0);
        Some(IdleWork { pace, seat: NO_SEAT, arrivals, timer_since, worked_since, remaining, waits_for_erase: false })
    }

    fn seat(&mut self) -> Option<&mut u32> {
        Some(&mut self.seat)
    }

    /// The time has come for a piece of work.
    fn event<P: Probe>(&mut self, drive: &mut Ssd<P>, cx: &mut Cx) {
        (self.timer_since, self.worked_since) = (None, Some(self.arrivals));
        drive.firmware.idle_work(&drive.flash.array);
        drive.flash.accounts.planned(cx.now(), Purpose::Background, &drive.firmware);
        self.remaining = drive.controller.admit(Self::REQUEST, &drive.firmware, &mut drive.flash);
        self.waits_for_erase = self.remaining == 0;
    }

    #[inline(always)]
    fn request_came(&mut self) {
        cold_path();
        self.arrivals += 1;
    }

    #[inline(always)]
    fn erased(&mut self) {
        self.waits_for_erase = false;
    }

    /// An operation of the piece under way has ended.
    fn op_ended<P: Probe>(&mut self, _ended: EndedOp, _drive: &mut Ssd<P>, _cx: &mut Cx) {
        self.remaining -= 1;
    }

    /// Sets or cancels the timer.
    fn settle<P: Probe>(&mut self, drive: &mut Ssd<P>, cx: &mut Cx) {
        let is_quiet = drive.flash.accounts.outstanding() == 0 && !drive.draining && !drive.recovers();
        let may_begin = is_quiet
            && self.remaining == 0
            && !self.waits_for_erase
            && drive.firmware.ftl.has_idle_work(&drive.firmware.blocks);
        let since = may_begin.then_some(self.arrivals);
        if since == std::mem::replace(&mut self.timer_since, since) {
            return;
        }
        let goes_on = since == self.worked_since;
        let at = cx.now().saturating_add(if goes_on { self.pace.gap_ns } else { self.pace.start_ns });
        if since.is_some() && at <= cx.agenda.horizon() {
            cx.agenda.reset(self.seat, at);
        } else {
            cx.agenda.cancel(self.seat);
        }
    }
}
