//! Requests leave the queue for the device.

use super::{INSTANT, Queue};
use crate::figures::kind;
use crate::pool::RqId;
use crate::sched::{Choice, Given};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Request, Tag};

impl Queue {
    /// Whether the queue is run now: the driver asks for requests.
    #[inline(always)]
    pub fn takes_run(&mut self) -> bool {
        let runs = std::mem::take(&mut self.runs);
        if runs && !self.is_multi {
            self.plugged = None;
        }
        runs
    }

    /// Has the queue run: a request has ended, or a timer.
    #[inline(always)]
    pub fn run(&mut self) {
        self.runs = true;
    }

    /// A run that the scheduler asked for is over.
    #[inline(always)]
    pub fn has_run(&mut self) {
        if std::mem::take(&mut self.runs_for_scheduler) {
            self.scheduler.has_run();
        }
    }

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
        if let Some(id) = self.take_ready(now) {
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
        if self.ahead.is_none() && self.queued + self.ready.len() as u32 > 0 && self.plugged.is_none() {
            self.ahead = self.take_ready(now).or_else(|| if self.queued > 0 { self.ask(now) } else { None });
            self.waiting += u32::from(self.ahead.is_some());
            if let Some(id) = self.ahead {
                self.boundary = self.pool[id].end();
            }
        }
    }

    /// The first of the requests that the scheduler gave at once.
    #[inline(always)]
    fn take_ready(&mut self, now: Nanos) -> Option<RqId> {
        let id = self.ready.pop_front()?;
        self.waiting -= 1;
        self.with(now, |scheduler, cx| scheduler.activated(id, cx));
        Some(id)
    }

    /// Takes the requests that the scheduler gave at once.
    #[inline(always)]
    pub(super) fn take_given(&mut self) {
        if !self.given.is_empty() {
            self.make_ready();
        }
    }

    #[cold]
    fn make_ready(&mut self) {
        for (id, how) in std::mem::take(&mut self.given) {
            self.queued -= 1;
            self.waiting += 1;
            self.unindex(id);
            self.newest = self.newest.filter(|&newest| newest != id);
            self.last = self.last.filter(|&last| last != id);
            let place = match how {
                Given::Last => self.ready.len(),
                Given::BySector => self.place_by_sector(id),
            };
            self.ready.insert(place, id);
        }
    }

    /// Where a request stands among those that were given at once: by sector, upwards from the end of the last one that left, and
    /// reads and writes apart.
    fn place_by_sector(&self, id: RqId) -> usize {
        let rq = &self.pool[id];
        let comes_behind = |&other: &RqId| {
            let other = &self.pool[other];
            let (is_ahead, other_is_ahead) = (rq.first >= self.boundary, other.first >= self.boundary);
            other.is_read() != rq.is_read()
                || if is_ahead == other_is_ahead { rq.first >= other.first } else { other_is_ahead }
        };
        self.ready.iter().rposition(comes_behind).map_or(0, |before| before + 1)
    }

    /// The request that the scheduler gives.
    #[inline(always)]
    fn ask(&mut self, now: Nanos) -> Option<RqId> {
        self.wake_ns = None;
        match self.with(now, |scheduler, cx| scheduler.next(cx)) {
            Choice::Dispatch(id) => {
                self.queued -= 1;
                self.unindex(id);
                self.newest = self.newest.filter(|&newest| newest != id);
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
        self.boundary = self.position;
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
