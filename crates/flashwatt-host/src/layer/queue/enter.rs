//! Pieces of processes' requests come in: they join a queued request, become one, or wait for a place.

use super::{INSTANT, Io, Queue, is_split, moved_sectors};
use crate::figures::kind;
use crate::layer::settings::FlushRule;
use crate::pool::merging::is_mergeable;
use crate::pool::{Rq, RqId};
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::{Request, RequestKind, Tag};

impl Queue {
    /// A process sends a request. Returns false if it does not lie in the partition.
    pub fn submit(&mut self, tag: Tag, request: &Request, now: Nanos) -> bool {
        if !request.is_within(self.partition_bytes) {
            return false;
        }
        let figures = &mut self.figures.kinds[kind(request.kind)];
        let sectors = request.bytes / SECTOR_BYTES;
        figures.came += 1;
        figures.came_sectors += sectors;
        let longest = if is_split(request.kind) { self.max_sectors } else { sectors.max(1) };
        let pieces = if sectors <= longest { 1 } else { sectors.div_ceil(longest) };
        figures.pieces += pieces;
        self.figures.moved(request.process, 0);
        self.ios[tag.0 as usize] = Io {
            arrival_ns: request.arrival_ns,
            sectors: moved_sectors(request.kind, sectors),
            left: pieces as u32,
            process: request.process,
            is_refused: false,
        };
        let (mut first, mut rest) = (request.offset_bytes / SECTOR_BYTES + self.offset_sectors, sectors);
        while rest > longest {
            self.send_longest(tag, request, first, longest, now);
            (first, rest) = (first + longest, rest - longest);
        }
        self.send_part(tag, request, first, rest, now);
        true
    }

    #[inline(never)]
    fn send_longest(&mut self, tag: Tag, request: &Request, first: u64, longest: u64, now: Nanos) {
        self.send_part(tag, request, first, longest, now);
    }

    /// Makes a piece, in its place in the pool, and sends it.
    #[inline(always)]
    fn send_part(&mut self, tag: Tag, request: &Request, first: u64, sectors: u64, now: Nanos) {
        let mut piece = Rq::new(tag, request, first, sectors, now);
        piece.is_sync &= piece.is_read() || !self.async_writes;
        if let Some(Some(priority)) = self.priorities.get(usize::from(request.origin.0)) {
            piece.priority = *priority;
        }
        let id = self.pool.add(piece);
        self.send(id, now);
    }

    /// A process sends a piece, unless it waits for a place already.
    #[inline(always)]
    fn send(&mut self, id: RqId, now: Nanos) {
        if self.barrier.is_some() {
            self.waiting += 1;
            self.behind.push_back(id);
        } else if self.waiters.has(self.pool[id].process) {
            self.block(id);
        } else {
            self.enter(id, now);
        }
    }

    /// A piece waits for a place.
    #[inline(never)]
    fn block(&mut self, id: RqId) {
        self.waiting += 1;
        self.figures.blocked += 1;
        self.waiters.add(id, &self.pool);
    }

    /// A piece joins a queued request, becomes one, or waits.
    #[inline(always)]
    fn enter(&mut self, id: RqId, now: Nanos) {
        let is_sync = self.pool[id].is_sync;
        if self.queued > 0 && self.merge(id, now) {
            return self.was_sent(is_sync);
        }
        if !self.becomes_request(id, now) {
            self.unplug_now();
            self.block(id);
        }
    }

    /// A piece becomes a request. Returns false if there is no place for it.
    #[inline(always)]
    fn becomes_request(&mut self, id: RqId, now: Nanos) -> bool {
        let piece = &mut self.pool[id];
        piece.added_ns = now;
        let (is_flush, is_sync, process) = (piece.kind == RequestKind::Flush, piece.is_sync, piece.process);
        if !self.places.claim(process, is_sync, now, || self.scheduler.lets_in(process, is_sync)) {
            return false;
        }
        if is_flush {
            self.add_flush(id);
            return true;
        }
        self.plug(is_sync, now);
        self.since_ns = now;
        self.queued += 1;
        self.figures.queued_max = self.figures.queued_max.max(self.outside());
        self.settle_newest();
        self.newest = Some(id);
        if self.last.is_none() && is_mergeable(&self.pool[id]) {
            self.last = Some(id);
        }
        self.with(now, |scheduler, cx| scheduler.add(id, cx));
        self.take_given();
        if self.plugging() >= self.plug.requests && self.plugged.take().is_some() {
            self.runs = true;
        }
        self.was_sent(is_sync);
        true
    }

    /// Requests that count for the plug: of Linux 2.6.32 also those that have left the scheduler and not gone to the device.
    #[inline(always)]
    fn plugging(&self) -> u32 {
        if self.is_multi { self.queued } else { self.outside() }
    }

    /// Plugs an empty queue. Today only a request that nobody waits for does, and one that somebody waits for unplugs it.
    fn plug(&mut self, is_sync: bool, now: Nanos) {
        if self.is_multi && is_sync {
            self.plugged = None;
        } else if self.plugging() == 0 && self.plug.requests > 1 {
            // One that somebody waits for unplugs it in a moment, so that no time need be reckoned.
            let until = self.plug.ns.filter(|_| !is_sync).map(|ns| self.ticks.later(now, ns));
            self.plugged = Some(until.unwrap_or(INSTANT));
        }
    }

    /// A piece has been sent (the end of __make_request). Today the queue is run whatever it was.
    #[inline(always)]
    fn was_sent(&mut self, is_sync: bool) {
        if self.is_multi {
            self.runs = true;
        } else if is_sync || self.plug.requests < 2 {
            self.unplug_now();
        }
    }

    /// Unplugs the queue, and runs it if it was plugged. Otherwise a queue of requests waits for the next end, unless the device has no
    /// rotating parts (__generic_unplug_device) or the queue is never plugged.
    #[inline(always)]
    fn unplug_now(&mut self) {
        let was_plugged = self.plugged.take().is_some();
        self.runs |= was_plugged || self.is_multi || !self.rotational || self.plug.requests < 2;
    }

    fn add_flush(&mut self, id: RqId) {
        self.plugged = None;
        self.runs = true;
        self.waiting += 1;
        match self.flush {
            FlushRule::Pass => self.passing.push_back(id),
            FlushRule::Drain => self.barrier = Some(id),
        }
    }

    /// Lets waiting processes in, as far as there are places. Returns whether there was one.
    #[inline(always)]
    pub fn let_in(&mut self, now: Nanos) -> bool {
        (!self.behind.is_empty() || !self.waiters.is_empty()) && self.let_waiting_in(now)
    }

    fn let_waiting_in(&mut self, now: Nanos) -> bool {
        let mut any = false;
        while self.barrier.is_none()
            && let Some(id) = self.behind.pop_front()
        {
            any = true;
            self.waiting -= 1;
            self.send(id, now);
        }
        if !self.is_multi {
            return any || (self.barrier.is_none() && self.let_awake_in(now));
        }
        while self.barrier.is_none()
            && let Some(id) = self.waiters.take(&self.places)
        {
            any = true;
            self.waiting -= 1;
            let process = self.pool[id].process;
            self.enter(id, now);
            self.go_on(process, now);
            self.waiters.put_back(process, &self.pool);
        }
        self.runs |= any;
        any
    }

    /// Whether a process has found a place though no request has ended: two have become one.
    #[inline(always)]
    pub fn has_woken(&self) -> bool {
        self.waiters.any_awake()
    }

    /// The process that was woken first sends its next piece. Returns false if no process is awake. What it waited with is not joined
    /// with queued requests again (__make_request).
    fn let_awake_in(&mut self, now: Nanos) -> bool {
        let Some((id, goes_on)) = self.waiters.next_awake() else { return false };
        let (process, is_sync) = (self.pool[id].process, self.pool[id].is_sync);
        if !goes_on {
            self.places.has_waited(process, now);
        }
        if goes_on && self.queued > 0 && self.merge(id, now) {
            self.was_sent(is_sync);
        } else if !self.becomes_request(id, now) {
            self.unplug_now();
            self.waiters.wait_again(&self.pool);
            return true;
        }
        self.waiting -= 1;
        self.waiters.sent();
        true
    }

    /// A process that was let in sends its next pieces as far as they join queued requests: a piece that joins needs no place.
    /// What leaves for the device at once cannot be joined.
    fn go_on(&mut self, process: u16, now: Nanos) {
        let is_full = self.free.is_empty() && (!self.takes_ahead || self.ahead.is_some());
        while self.queued > 0
            && (self.plugged.is_some() || is_full)
            && let Some(id) = self.waiters.next_of(process)
            && self.merge(id, now)
        {
            self.waiters.take_of(process);
            self.waiting -= 1;
        }
    }

    /// The end of an instant: whatever was plugged to there is not plugged any more.
    pub fn unplug(&mut self) -> bool {
        let was_plugged = self.plugged.take_if(|until| *until == INSTANT).is_some();
        self.runs |= was_plugged;
        was_plugged
    }
}
