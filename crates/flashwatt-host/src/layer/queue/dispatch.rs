//! Requests leave the queue for the device.

use super::{INSTANT, Queue};
use crate::figures::kind;
use crate::pool::RqId;
use crate::sched::Choice;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Request, Tag};

impl Queue {
    /// Whether a look shows that there is nothing for the device now, though it has room.
    #[inline(always)]
    pub fn is_shut(&self, now: Nanos) -> bool {
        self.closed_ns == Some(now) && self.waiting == 0 && self.plugged.is_none() && !self.free.is_empty()
    }

    /// The request that the device gets now, and its tag there.
    #[inline(always)]
    pub fn next(&mut self, now: Nanos) -> Option<(Tag, RqId)> {
        // Also where the device is full: else the timer would be set to this instant again.
        self.plugged = self.plugged.filter(|&until| until > now);
        if self.free.is_empty() && !self.takes_ahead {
            return None;
        }
        if self.plugged.is_some() && self.passing.is_empty() {
            return None;
        }
        let Some(&tag) = self.free.last() else {
            self.take_ahead(now);
            return None;
        };
        let id = self.choose(now)?;
        self.free.pop();
        self.in_device_time.comes(now);
        self.in_device[tag.0 as usize].id = id;
        let rq = &mut self.pool[id];
        rq.dispatched_ns = now;
        let (first, sectors, kind) = (rq.first, rq.sectors, kind(rq.kind));
        let figures = &mut self.figures.kinds[kind];
        figures.dispatched += 1;
        figures.dispatched_sectors += sectors;
        if sectors > 0 {
            self.seek(first, sectors);
        }
        Some((tag, id))
    }

    /// A request as the device gets it.
    #[inline(always)]
    pub fn request(&self, id: RqId) -> Request {
        self.pool[id].to_request()
    }

    #[inline(always)]
    fn choose(&mut self, now: Nanos) -> Option<RqId> {
        if let Some(id) = self.passing.pop_front() {
            self.waiting -= 1;
            return Some(id);
        }
        if let Some(id) = self.ahead.take() {
            self.waiting -= 1;
            return Some(id);
        }
        if self.queued == 0 {
            return self.draining();
        }
        if self.closed_ns == Some(now) {
            debug_assert!(self.ask(now).is_none(), "a closed scheduler gives none");
            return None;
        }
        self.ask(now)
    }

    /// The device is full. A driver without a budget learns that only when it has got a request from the scheduler.
    #[inline(never)]
    fn take_ahead(&mut self, now: Nanos) {
        if self.ahead.is_none() && self.queued > 0 && self.plugged.is_none() {
            self.ahead = self.ask(now);
            self.waiting += u32::from(self.ahead.is_some());
        }
    }

    /// The request that the scheduler gives.
    #[inline(always)]
    fn ask(&mut self, now: Nanos) -> Option<RqId> {
        self.wake_ns = None;
        match self.with(now, |scheduler, cx| scheduler.next(cx)) {
            Choice::Dispatch(id) => {
                self.queued -= 1;
                self.unindex(id);
                self.last = self.last.filter(|&last| last != id);
                Some(id)
            }
            Choice::WaitUntil(at) => {
                debug_assert!(at > now, "a scheduler waits for a time to come");
                self.wake_ns = Some(at.max(now + 1));
                None
            }
            Choice::WaitForEnd | Choice::Idle => None,
        }
    }

    /// The barrier goes to the device once everything before it has ended.
    fn draining(&mut self) -> Option<RqId> {
        let id = self.barrier?;
        (self.in_device() == 0).then_some(id)
    }

    #[inline(always)]
    pub(super) fn seek(&mut self, first: u64, sectors: u64) {
        let distance = self.position.abs_diff(first);
        self.position = first + sectors;
        self.figures.seeks += u64::from(distance > 0);
        self.figures.seek_sectors += u128::from(distance);
    }

    /// When the queue wants to be asked again, if at a certain time.
    #[inline(always)]
    pub fn wakes_at(&self) -> Option<Nanos> {
        match (self.wake_ns, self.plugged.filter(|&until| until != INSTANT)) {
            (Some(wake), Some(unplug)) => Some(wake.min(unplug)),
            (wake, unplug) => wake.or(unplug),
        }
    }
}
