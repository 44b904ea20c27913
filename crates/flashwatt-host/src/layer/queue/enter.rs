//! Pieces of processes' requests come in: they join a queued request, become one, or wait for a place.

use super::{INSTANT, Io, Queue, is_split, moved_sectors};
use crate::figures::kind;
use crate::layer::settings::FlushRule;
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
        if self.queued > 0 && self.merge(id, now) {
            return;
        }
        let piece = &mut self.pool[id];
        piece.added_ns = now;
        let (is_flush, is_sync) = (piece.kind == RequestKind::Flush, piece.is_sync);
        if !self.places.any_for(is_sync) {
            self.plugged = None;
            return self.block(id);
        }
        self.places.take(is_sync);
        if is_flush {
            return self.add_flush(id);
        }
        self.plug(is_sync, now);
        self.since_ns = now;
        self.queued += 1;
        self.figures.queued_max = self.figures.queued_max.max(self.outside());
        self.settle_last();
        self.last = Some(id);
        self.with(now, |scheduler, cx| scheduler.add(id, cx));
        if self.queued >= self.plug.requests {
            self.plugged = None;
        }
    }

    /// A request that nobody waits for plugs an empty queue; one that somebody waits for unplugs it.
    fn plug(&mut self, is_sync: bool, now: Nanos) {
        if is_sync {
            self.plugged = None;
        } else if self.queued == 0 && self.plug.requests > 1 {
            self.plugged = Some(self.plug.ns.map_or(INSTANT, |ns| now.saturating_add(ns)));
        }
    }

    fn add_flush(&mut self, id: RqId) {
        self.plugged = None;
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
        any
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
        self.plugged.take_if(|until| *until == INSTANT).is_some()
    }
}
