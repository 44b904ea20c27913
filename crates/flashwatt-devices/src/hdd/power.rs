//! Active, idle, standby: the disk's states as a whole, and the timer between them.

use super::job::{Kind, MediumJob};
use super::mechanism::{Access, ArmMove};
use super::parts::{ACTIVE, ASLEEP, IDLE, LINK_ASLEEP, LINK_IDLE, PARKED, ROTATING, SPINNING_UP, STOPPED, TRACKING};
use super::{Hdd, MEDIUM, STANDBY};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Cx;
use flashwatt_core::energy::parts::StateId;

impl Hdd {
    /// The electronics have something to do.
    #[inline]
    pub(super) fn wake(&mut self, cx: &mut Cx) {
        if self.electronics != ACTIVE {
            self.begin_work(cx);
        }
    }

    #[inline(never)]
    fn begin_work(&mut self, cx: &mut Cx) {
        self.set_electronics(ACTIVE);
        if std::mem::take(&mut self.timer_is_set) {
            cx.agenda.cancel(self.seat + STANDBY);
        }
    }

    fn set_electronics(&mut self, to: StateId) {
        let from = std::mem::replace(&mut self.electronics, to);
        self.accounts.change(from, to);
        match (from == ASLEEP, to == ASLEEP) {
            (true, false) => self.accounts.change(LINK_ASLEEP, LINK_IDLE),
            (false, true) => self.accounts.change(LINK_IDLE, LINK_ASLEEP),
            _ => {}
        }
    }

    /// The electronics are idle if there is nothing to do; the spindle stops after some time of that.
    pub(super) fn rest_if_idle(&mut self, cx: &mut Cx) {
        if self.requests > 0 || self.job.is_some() {
            return;
        }
        if self.electronics == ACTIVE && self.link_is_free() {
            self.set_electronics(if self.is_ready { IDLE } else { ASLEEP });
        }
        if self.must_sleep && self.electronics == IDLE && self.cache.is_clean() {
            cx.agenda.cancel(self.seat + STANDBY);
            self.stop_spindle(cx.now());
        }
        self.settle_timer(cx);
    }

    /// Sets the timer of an idle disk, also of one that had no request yet; the end of the run is no idle time.
    fn settle_timer(&mut self, cx: &mut Cx) {
        let Some(ns) = self.settings.standby.after_ns else { return };
        let is_wanted = self.electronics == IDLE && !self.drains;
        if is_wanted == std::mem::replace(&mut self.timer_is_set, is_wanted) {
            return;
        }
        let at = cx.now().saturating_add(ns);
        if is_wanted && at <= cx.agenda.horizon() {
            cx.agenda.reset(self.seat + STANDBY, at);
        } else {
            cx.agenda.cancel(self.seat + STANDBY);
        }
    }

    /// The disk was idle for long enough, or the host has sent it to sleep: it goes to standby.
    pub(super) fn stop_spindle(&mut self, now: Nanos) {
        self.stands_ns = now + self.settings.standby.spin_down_ns;
        (self.timer_is_set, self.must_sleep, self.is_ready) = (false, false, false);
        self.counts.spin_downs += 1;
        self.accounts.change(ROTATING, STOPPED);
        self.accounts.change(TRACKING, PARKED);
        self.set_electronics(ASLEEP);
        self.ahead = None;
    }

    /// The medium is needed in standby: the spindle is brought to speed once the platters stand.
    pub(super) fn spin_up(&mut self, cx: &mut Cx) {
        self.wake(cx);
        self.counts.spin_ups += 1;
        let stands_ns = self.stands_ns.max(cx.now());
        self.accounts.change_at(stands_ns, STOPPED, SPINNING_UP);
        let ready_ns = stands_ns + self.settings.standby.spin_up_ns;
        let way = ArmMove { cylinders: 0, switches_head: false, ns: 0 };
        let place = self.mechanism.geometry().place(0);
        let (on_track_ns, start_ns, end_ns) = (ready_ns, ready_ns, ready_ns);
        let access = Access { first: 0, end: 0, place, way, on_track_ns, start_ns, end_ns, from: 0, passed: 0 };
        self.job = Some(MediumJob::new(Kind::SpinUp, access, 0));
        cx.agenda.set_free(self.seat + MEDIUM, ready_ns);
    }

    /// The spindle turns at speed.
    pub(super) fn spun_up(&mut self) {
        self.is_ready = true;
        self.accounts.change(SPINNING_UP, ROTATING);
        self.accounts.change(PARKED, TRACKING);
    }
}
