//! The queue between processes and the device: pieces come in, requests go out.

use std::collections::VecDeque;

use super::depths::Depths;
use super::figures::{HostFigures, kind};
use super::fullness::{Places, Waiters};
use super::merging::{Ends, Side, are_one, is_mergeable, joins};
use super::pool::{Piece, Pool, Rq, RqId};
use super::sched::{Choice, Cx, Front, Merging, Parameters, Passing, Scheduler, Setup};
use super::settings::{FlushRule, Host, Merges, Plug};
use crate::connector::{AtEnd, Completion, Priority, PriorityClass, Request, RequestKind, Status, Tag};
use crate::mem::FlatTable;
use crate::stats::Histogram;
use crate::units::{Nanos, SECTOR_BYTES};

/// A process's request that has not ended.
#[derive(Clone, Copy, Debug, Default)]
struct Io {
    arrival_ns: Nanos,
    /// Sectors that it reads or writes.
    sectors: u64,
    /// Pieces that have not ended.
    left: u32,
    process: u16,
    is_refused: bool,
}

/// A request in the device.
#[derive(Clone, Copy)]
struct Inside {
    /// Its number in the pool; [`PASSED`] for one that passed the queue.
    id: RqId,
    /// Of one that passed: the tag of the process's request, its process, the sectors that it reads or writes, when it was
    /// sent, the index of its kind among the figures, and its priority.
    tag: Tag,
    process: u16,
    moved_sectors: u64,
    arrival_ns: Nanos,
    at: u8,
    priority: Priority,
    is_sync: bool,
}

/// No number in the pool.
const PASSED: RqId = RqId(u32::MAX);

impl Inside {
    const NOTHING: Inside = Inside {
        id: PASSED,
        tag: Tag(0),
        process: 0,
        moved_sectors: 0,
        arrival_ns: 0,
        at: 0,
        priority: Priority::new(PriorityClass::BestEffort, 0),
        is_sync: true,
    };
}

/// A request that has ended in the device now.
struct Ended {
    status: Status,
    /// The index of its kind among the figures.
    kind: usize,
    dispatched_ns: Nanos,
    now: Nanos,
}

/// What every request that waits nowhere would add to several figures: it is counted here, and there at the end of a window.
#[derive(Clone, Debug, Default)]
struct Unqueued {
    /// Requests that passed the queue, and their sectors.
    passed: u64,
    sectors: u64,
    /// Of requests that waited neither for a place nor in the queue and have ended: the time from the arrival to the end.
    latency: Histogram,
}

/// The time integral of the number of requests in the device, from the times at which they come and go.
#[derive(Clone, Copy, Debug, Default)]
struct Integral {
    /// The sum of the times at which requests came: of those that were there before the window, of its begin.
    came_ns: u128,
    went_ns: u128,
}

impl Integral {
    #[inline(always)]
    fn comes(&mut self, now: Nanos) {
        self.came_ns += u128::from(now);
    }

    #[inline(always)]
    fn goes(&mut self, now: Nanos) {
        self.went_ns += u128::from(now);
    }

    /// The integral of the window that ends now, with this many requests there, in request-nanoseconds. The next one begins.
    fn take(&mut self, now: Nanos, there: u32) -> u128 {
        let until_now = u128::from(there) * u128::from(now);
        let sum = self.went_ns + until_now - self.came_ns;
        *self = Integral { came_ns: until_now, went_ns: 0 };
        sum
    }
}

/// The queue.
pub(super) struct Queue {
    scheduler: Box<dyn Scheduler>,
    merging: Option<Merging>,
    max_sectors: u64,
    flush: FlushRule,
    plug: Plug,
    offset_sectors: u64,
    partition_bytes: u64,
    async_writes: bool,
    /// Priorities of origins that have one of their own, by number.
    priorities: Vec<Option<Priority>>,
    pool: Pool,
    ends: Ends,
    /// The queued request that was added or grew last.
    last: Option<RqId>,
    places: Places,
    waiters: Waiters,
    /// Requests of processes, by tag.
    ios: Vec<Io>,
    /// Requests in the device, by the device's tag; and the free tags.
    in_device: FlatTable<Inside>,
    free: Vec<Tag>,
    /// Whether requests may pass, and those that did, by kind.
    passing_rule: Passing,
    /// Longest request that may pass; 0 if none may.
    passing_bytes: u64,
    /// Whether the queue can be full while the device has room.
    places_bind: bool,
    unqueued: [Unqueued; 3],
    /// Requests in the scheduler.
    queued: u32,
    /// Whether a request leaves the scheduler before the device has room for it, and the one that has.
    takes_ahead: bool,
    ahead: Option<RqId>,
    /// Whatever else is not in the device yet or holds others up: the request taken ahead, passing flushes, a barrier until it
    /// ends, what waits behind it, and pieces that wait for a place.
    waiting: u32,
    /// Flushes that pass the scheduler.
    passing: VecDeque<RqId>,
    /// The flush that drains the queue, until it ends; and what came after it.
    barrier: Option<RqId>,
    behind: VecDeque<Rq>,
    /// The queue is plugged: until this time, or to the end of the instant.
    plugged: Option<Nanos>,
    /// When the scheduler wants to be asked again.
    pub wake_ns: Option<Nanos>,
    /// The instant at which the scheduler gives no further request, if it has said so.
    closed_ns: Option<Nanos>,
    /// Where the last dispatched request ended.
    position: u64,
    /// Up to when time is booked, while it is.
    since_ns: Nanos,
    in_device_time: Integral,
    /// Requests over time, if recorded.
    depths: Option<Depths>,
    pub figures: HostFigures,
}

/// End of an instant, as a time to which the queue is plugged.
const INSTANT: Nanos = Nanos::MAX;

impl Queue {
    /// The queue of a device of this size, which accepts `depth` requests.
    pub fn new(settings: &Host, priorities: Vec<Option<Priority>>, device_bytes: u64, depth: u32, room: u32) -> Self {
        let setup = Setup {
            device_sectors: device_bytes / SECTOR_BYTES,
            queue_depth: depth,
            nr_requests: settings.nr_requests,
            rotational: settings.rotational,
        };
        let scheduler = (settings.scheduler.entry.build.make)(&Parameters(&settings.scheduler.parameters), &setup);
        let offset_sectors = settings.partition_offset_sectors;
        // A request that passes is the process's own.
        let changes = offset_sectors > 0 || settings.async_writes || !priorities.is_empty();
        let passing_rule = if changes { Passing::Never } else { scheduler.passing() };
        let places = Places::new(settings);
        Queue {
            merging: (settings.merges == Merges::All).then(|| scheduler.merging()),
            max_sectors: settings.max_request_bytes / SECTOR_BYTES,
            flush: settings.flush,
            plug: settings.plug,
            offset_sectors,
            partition_bytes: device_bytes.saturating_sub(offset_sectors * SECTOR_BYTES),
            async_writes: settings.async_writes,
            priorities,
            pool: Pool::default(),
            ends: Ends::new(settings.nr_requests),
            last: None,
            waiters: Waiters::default(),
            ios: vec![Io::default(); room as usize],
            in_device: vec![Inside::NOTHING; depth as usize].into(),
            passing_bytes: if passing_rule == Passing::Never { 0 } else { settings.max_request_bytes },
            places_bind: places.bind_within(depth),
            places,
            passing_rule,
            unqueued: Default::default(),
            free: (0..depth).rev().map(Tag).collect(),
            queued: 0,
            takes_ahead: !settings.dispatch_budget,
            ahead: None,
            waiting: 0,
            passing: VecDeque::new(),
            barrier: None,
            behind: VecDeque::new(),
            plugged: None,
            wake_ns: None,
            closed_ns: None,
            position: 0,
            since_ns: 0,
            in_device_time: Integral::default(),
            depths: None,
            scheduler,
            figures: HostFigures::default(),
        }
    }

    /// A request that finds nothing queued and room in the device goes there at once, if the scheduler lets it: gives its tag
    /// there. What follows of it is counted at the end of the window.
    #[inline(always)]
    pub fn pass(&mut self, tag: Tag, request: &Request, now: Nanos) -> Option<Tag> {
        let is_plain = request.bytes.wrapping_sub(1) < self.passing_bytes && request.arrival_ns == now;
        if !is_plain || self.is_busy() || (!request.is_sync && self.plug.requests > 1) {
            return None;
        }
        if self.places_bind && !self.places.any_for(request.is_sync) {
            return None;
        }
        let &inner = self.free.last()?;
        if self.passing_rule == Passing::Asked {
            if !self.scheduler.pass(request) {
                return None;
            }
            self.figures.counters.batches += 1;
        }
        self.free.pop();
        self.in_device_time.comes(now);
        self.places.take(request.is_sync);
        let (at, sectors) = (kind(request.kind), request.bytes / SECTOR_BYTES);
        self.in_device[inner.0 as usize] = Inside {
            id: PASSED,
            tag,
            process: request.process,
            moved_sectors: moved_sectors(request.kind, sectors),
            arrival_ns: now,
            at: at as u8,
            priority: request.priority,
            is_sync: request.is_sync,
        };
        let unqueued = &mut self.unqueued[at];
        unqueued.passed += 1;
        unqueued.sectors += sectors;
        self.seek(request.offset_bytes / SECTOR_BYTES, sectors);
        Some(inner)
    }

    /// Whether anything is queued or waits.
    #[inline(always)]
    pub fn is_busy(&self) -> bool {
        self.queued + self.waiting > 0
    }

    #[inline(always)]
    fn seek(&mut self, first: u64, sectors: u64) {
        let distance = self.position.abs_diff(first);
        self.position = first + sectors;
        self.figures.seeks += u64::from(distance > 0);
        self.figures.seek_sectors += u128::from(distance);
    }

    /// Records the requests over time.
    pub fn record(&mut self, depths: Option<Depths>) {
        self.depths = depths;
    }

    /// The figures of the window that ends now. Its recording ends as that of the device's meter does.
    pub fn end_window(&mut self, now: Nanos, at_end: AtEnd) -> HostFigures {
        self.pass_time(now);
        self.figures.in_device_ns = self.in_device_time.take(now, self.in_device());
        if let Some(depths) = &mut self.depths {
            match at_end {
                AtEnd::ReadOn => {}
                AtEnd::Restart => depths.restart(now),
                AtEnd::Deliver => self.figures.series = Some(depths.series(now)),
            }
        }
        self.take_figures()
    }

    fn take_figures(&mut self) -> HostFigures {
        for (unqueued, figures) in self.unqueued.iter_mut().zip(&mut self.figures.kinds) {
            let Unqueued { passed, sectors, latency } = std::mem::take(unqueued);
            figures.came += passed;
            figures.came_sectors += sectors;
            figures.pieces += passed;
            figures.dispatched += passed;
            figures.dispatched_sectors += sectors;
            figures.queue.add_many(0, latency.count());
            figures.clat = figures.clat.plus(&latency);
            figures.device = figures.device.plus(&latency);
            figures.slat.add_many(0, figures.clat.count() - figures.slat.count());
        }
        let figures = std::mem::take(&mut self.figures);
        // Who has requests under way takes part in the next window, even if none of them ends there.
        let mut is_passing: Vec<bool> = self.in_device.iter().map(|inside| inside.id == PASSED).collect();
        self.free.iter().for_each(|tag| is_passing[tag.0 as usize] = false);
        let inside = self.in_device.iter().zip(is_passing);
        let passed = inside.filter_map(|(inside, is_passing)| is_passing.then_some(inside.process));
        let queued = self.ios.iter().filter(|io| io.left > 0).map(|io| io.process);
        let under_way: Vec<_> = queued.chain(passed).collect();
        under_way.into_iter().for_each(|process| self.figures.moved(process, 0));
        figures
    }

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
            self.behind.push_back(self.pool.take(id));
        } else if !self.waiters.is_empty() && self.waiters.has(self.pool[id].process) {
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
        self.waiters.add(self.pool.take(id));
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

    /// Joins a piece with a queued request, if there is one.
    #[inline(always)]
    fn merge(&mut self, piece: RqId, now: Nanos) -> bool {
        let found = match self.merging {
            _ if !is_mergeable(&self.pool[piece]) => None,
            None => None,
            Some(Merging::Own) => self.with(now, |scheduler, cx| scheduler.find(piece, cx)),
            Some(Merging::Ends { front, .. }) => self.find(&self.pool[piece], front),
        };
        if let Some((id, side)) = found {
            self.join(piece, id, side, now);
        }
        found.is_some()
    }

    #[inline(never)]
    fn join(&mut self, piece: RqId, id: RqId, side: Side, now: Nanos) {
        let piece = self.pool.take(piece);
        self.pool.join(id, piece.piece(now));
        self.grow(id, piece.sectors, side, now);
        *(match side {
            Side::Back => &mut self.figures.back_merges,
            Side::Front => &mut self.figures.front_merges,
        }) += 1;
        if let Some(Merging::Ends { joins_neighbours: true, .. }) = self.merging {
            self.join_neighbour(id, side, now);
        }
    }

    #[inline(always)]
    fn find(&self, piece: &Rq, front: Front) -> Option<(RqId, Side)> {
        let fits = |id: RqId| {
            let queued = &self.pool[id];
            let side = joins(queued, piece, self.max_sectors)?;
            self.scheduler.may_join(queued, piece).then_some((id, side))
        };
        let newest = self.last.filter(|&id| !self.pool[id].is_indexed);
        let at_back = self.ends.ending_at(piece.first, piece.kind).or(newest);
        if let Some((id, Side::Back)) = at_back.and_then(fits) {
            return Some((id, Side::Back));
        }
        match front {
            Front::Never => None,
            Front::Last => self.last.and_then(fits),
            Front::LastOrSyncWrite => self.last.and_then(fits).or_else(|| {
                let at_front = self.ends.beginning_at(piece.end(), piece.kind);
                at_front.filter(|&id| self.pool[id].is_sync && !self.pool[id].is_read()).and_then(fits)
            }),
            Front::Any => self.ends.beginning_at(piece.end(), piece.kind).or(newest).and_then(fits),
        }
    }

    /// A queued request grows at one end.
    fn grow(&mut self, id: RqId, sectors: u64, side: Side, now: Nanos) {
        self.unindex(id);
        let first = self.pool[id].first;
        self.pool[id].sectors += sectors;
        if side == Side::Front {
            self.pool[id].first -= sectors;
            self.with(now, |scheduler, cx| scheduler.grown(id, first, cx));
        }
        self.index(id);
        self.last = Some(id);
    }

    /// A request that has grown may touch the next one now.
    fn join_neighbour(&mut self, id: RqId, side: Side, now: Nanos) {
        let rq = &self.pool[id];
        let neighbour = match side {
            Side::Back => self.ends.beginning_at(rq.end(), rq.kind),
            Side::Front => self.ends.ending_at(rq.first, rq.kind),
        };
        let Some(other) = neighbour else { return };
        let (first, second) = if side == Side::Back { (id, other) } else { (other, id) };
        let allowed = self.scheduler.may_join(&self.pool[first], &self.pool[second]);
        if !allowed || !are_one(first, second, self.max_sectors, &self.pool) {
            return;
        }
        self.unindex(second);
        self.with(now, |scheduler, cx| scheduler.absorbed(second, first, cx));
        self.pool.move_pieces(second, first);
        let (sectors, is_sync) = (self.pool[second].sectors, self.pool[second].is_sync);
        self.pool.remove(second);
        self.grow(first, sectors, Side::Back, now);
        self.places.free(is_sync);
        self.queued -= 1;
        self.figures.joined += 1;
    }

    fn index(&mut self, id: RqId) {
        if let Some(Merging::Ends { .. }) = self.merging
            && is_mergeable(&self.pool[id])
        {
            self.pool[id].is_indexed = true;
            self.ends.add(id, &self.pool[id]);
        }
    }

    fn unindex(&mut self, id: RqId) {
        if std::mem::take(&mut self.pool[id].is_indexed) {
            self.ends.remove(id);
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

    /// Requests that have not gone to the device: in the scheduler, and the one taken ahead.
    fn outside(&self) -> u32 {
        self.queued + u32::from(self.ahead.is_some())
    }

    /// Requests in the device.
    pub fn in_device(&self) -> u32 {
        (self.in_device.len() - self.free.len()) as u32
    }

    /// What has just been queued and was not dispatched at once can be found by later pieces.
    #[inline(always)]
    pub fn settle_last(&mut self) {
        if let Some(id) = self.last
            && !self.pool[id].is_indexed
        {
            self.index(id);
        }
    }

    /// A request has ended in the device. Of one that passed the queue, the tag of the process's request; else its number in
    /// the pool, for [`Self::queued_ended`].
    #[inline(always)]
    pub fn passed_ended(&mut self, tag: Tag, now: Nanos) -> Result<Tag, RqId> {
        let Some(inside) = self.in_device.get(tag.0 as usize) else {
            unreachable!("the device got no request {tag:?}")
        };
        self.free.push(tag);
        self.in_device_time.goes(now);
        if inside.id != PASSED {
            return Err(inside.id);
        }
        self.places.free(inside.is_sync);
        self.unqueued[usize::from(inside.at)].latency.add(now - inside.arrival_ns);
        self.figures.moved(inside.process, inside.moved_sectors);
        if self.passing_rule == Passing::Asked {
            self.scheduler.passed_ended(inside.priority.class());
        }
        Ok(inside.tag)
    }

    /// A request of the pool has ended in the device. Its completion, at this place, gives way to those of the processes'
    /// requests; returns the place behind them. The request keeps its place in the queue until then.
    #[inline(never)]
    pub fn queued_ended(&mut self, id: RqId, ends: &mut Vec<Completion>, mut at: usize, now: Nanos) -> usize {
        if self.barrier == Some(id) {
            self.barrier = None;
            self.waiting -= 1;
        } else if self.pool[id].kind != RequestKind::Flush {
            self.with(now, |scheduler, cx| scheduler.ended(id, cx));
        }
        let rq = &self.pool[id];
        let (piece, is_sync) = (rq.piece(rq.added_ns), rq.is_sync);
        let ended = Ended { status: ends[at].status, kind: kind(rq.kind), dispatched_ns: rq.dispatched_ns, now };
        match self.piece_ended(&piece, &ended) {
            Some(done) => {
                ends[at] = done;
                at += 1;
            }
            None => drop(ends.remove(at)),
        }
        if self.pool.has_joined(id) {
            at = self.joined_ended(id, &ended, ends, at);
        }
        self.places.free(is_sync);
        self.pool.remove(id);
        at
    }

    #[inline(never)]
    fn joined_ended(&mut self, id: RqId, ended: &Ended, ends: &mut Vec<Completion>, mut at: usize) -> usize {
        while let Some(piece) = self.pool.take_joined(id) {
            if let Some(done) = self.piece_ended(&piece, ended) {
                ends.insert(at, done);
                at += 1;
            }
        }
        at
    }

    /// The completion of the process's request, if this was its last piece.
    #[inline(always)]
    fn piece_ended(&mut self, piece: &Piece, ended: &Ended) -> Option<Completion> {
        let io = &mut self.ios[piece.tag.0 as usize];
        io.left -= 1;
        io.is_refused |= ended.status != Status::Done;
        if io.left > 0 {
            return None;
        }
        let status = if io.is_refused { Status::OutOfRange } else { Status::Done };
        let (arrival_ns, sectors) = (io.arrival_ns, io.sectors);
        self.figures.moved(piece.process, if io.is_refused { 0 } else { sectors });
        self.count(piece, arrival_ns, ended);
        Some(Completion { tag: piece.tag, status })
    }

    #[inline(always)]
    fn count(&mut self, piece: &Piece, arrival_ns: Nanos, ended: &Ended) {
        let &Ended { kind, dispatched_ns, now, .. } = ended;
        let queued_ns = dispatched_ns - piece.added_ns;
        if dispatched_ns == arrival_ns {
            self.unqueued[kind].latency.add(now - arrival_ns);
        } else {
            let figures = &mut self.figures.kinds[kind];
            if piece.added_ns > arrival_ns {
                figures.slat.add(piece.added_ns - arrival_ns);
            }
            figures.clat.add(now - piece.added_ns);
            figures.queue.add(queued_ns);
            figures.device.add(now - dispatched_ns);
        }
        self.figures.waited(usize::from(piece.process), queued_ns);
    }

    /// Lets waiting processes in, as far as there are places. Returns whether there was one.
    #[inline(always)]
    pub fn let_in(&mut self, now: Nanos) -> bool {
        (!self.behind.is_empty() || !self.waiters.is_empty()) && self.let_waiting_in(now)
    }

    fn let_waiting_in(&mut self, now: Nanos) -> bool {
        let mut any = false;
        while self.barrier.is_none()
            && let Some(piece) = self.behind.pop_front()
        {
            any = true;
            self.waiting -= 1;
            let id = self.pool.add(piece);
            self.send(id, now);
        }
        while self.barrier.is_none()
            && !self.waiters.is_empty()
            && let Some(piece) = self.waiters.take(&self.places)
        {
            any = true;
            self.waiting -= 1;
            let process = piece.process;
            let id = self.pool.add(piece);
            self.enter(id, now);
            self.go_on(process, now);
            self.waiters.put_back(process);
        }
        any
    }

    /// A process that was let in sends its next pieces as far as they join queued requests: a piece that joins needs no place.
    /// What leaves for the device at once cannot be joined.
    fn go_on(&mut self, process: u16, now: Nanos) {
        let is_full = self.free.is_empty() && (!self.takes_ahead || self.ahead.is_some());
        while self.queued > 0
            && (self.plugged.is_some() || is_full)
            && let Some(piece) = self.waiters.next_of(process).cloned()
        {
            let id = self.pool.add(piece);
            if !self.merge(id, now) {
                return self.pool.remove(id);
            }
            self.waiters.take_of(process);
            self.waiting -= 1;
        }
    }

    /// The end of an instant: whatever was plugged to there is not plugged any more.
    pub fn unplug(&mut self) -> bool {
        self.plugged.take_if(|until| *until == INSTANT).is_some()
    }

    /// When the queue wants to be asked again, if at a certain time.
    #[inline(always)]
    pub fn wakes_at(&self) -> Option<Nanos> {
        match (self.wake_ns, self.plugged.filter(|&until| until != INSTANT)) {
            (Some(wake), Some(unplug)) => Some(wake.min(unplug)),
            (wake, unplug) => wake.or(unplug),
        }
    }

    /// Books the time up to `now`. Without queued requests there is none to book, unless it is recorded.
    #[inline(always)]
    pub fn pass_time(&mut self, now: Nanos) {
        if self.is_busy() || self.depths.is_some() {
            self.book(now);
        }
    }

    #[inline(never)]
    fn book(&mut self, now: Nanos) {
        let (outside, in_device) = (self.outside(), self.in_device());
        if let Some(depths) = &mut self.depths {
            depths.pass(self.since_ns, now, [outside, in_device]);
        }
        let elapsed = u128::from(now - self.since_ns);
        self.since_ns = now;
        if outside > 0 {
            self.figures.queued_ns += elapsed * u128::from(outside);
            if !self.free.is_empty() {
                self.figures.withheld_ns += elapsed;
            }
        }
    }

    #[inline(always)]
    fn with<R>(&mut self, now: Nanos, call: impl FnOnce(&mut dyn Scheduler, &mut Cx) -> R) -> R {
        let (in_device, max_sectors) = (self.in_device(), self.max_sectors);
        let (pool, counters, closed_ns) = (&mut self.pool, &mut self.figures.counters, &mut self.closed_ns);
        call(self.scheduler.as_mut(), &mut Cx { now, pool, counters, closed_ns, in_device, max_sectors })
    }
}

/// Sectors that a request of this kind reads or writes.
#[inline(always)]
fn moved_sectors(kind: RequestKind, sectors: u64) -> u64 {
    if is_split(kind) { sectors } else { 0 }
}

/// Whether requests of a kind are split to the longest length.
fn is_split(kind: RequestKind) -> bool {
    matches!(kind, RequestKind::Read | RequestKind::Write)
}
