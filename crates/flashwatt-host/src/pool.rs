//! The requests of the block layer, and lists of them.

use std::ops::{Index, IndexMut};

use flashwatt_base::mem::FlatTable;
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::{Origin, Priority, Request, RequestKind, Tag};

/// The number of a request in the pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RqId(pub u32);

const NONE: u32 = u32::MAX;

/// A request in the block layer: a piece of a process's request, or several that were merged.
#[derive(Clone, Debug)]
pub struct Rq {
    /// The kind.
    pub kind: RequestKind,
    /// Whether somebody waits for it: every read, and writes that are not written back.
    pub is_sync: bool,
    /// Forced unit access.
    pub fua: bool,
    /// The priority of the process that made it.
    pub priority: Priority,
    /// The process that made it. Pieces of other processes may have been merged into it.
    pub process: u16,
    /// The origin of the first piece, for the device.
    origin: Origin,
    /// First sector of 512 bytes.
    pub first: u64,
    /// Number of sectors; 0 for a flush.
    pub sectors: u64,
    /// When it entered the queue, in ns.
    pub added_ns: Nanos,
    /// When it was given to the device, in ns; 0 before.
    pub dispatched_ns: Nanos,
    /// When its wait has lasted too long, in ns; set by a scheduler that knows deadlines.
    pub expires_ns: Nanos,
    /// A number for the scheduler's own use, such as that of a queue.
    pub group: u32,
    /// The neighbours in a [`Fifo`].
    before: u32,
    after: u32,
    /// The tag of the process's request that it was made for: its own piece.
    tag: Tag,
    /// The first and the last of the pieces that joined it.
    joined: (u32, u32),
    /// Whether the index of ends knows it.
    pub(super) is_indexed: bool,
}

impl Rq {
    /// A piece of a process's request, which has this tag, as a request of its own.
    #[inline(always)]
    pub(super) fn new(tag: Tag, request: &Request, first: u64, sectors: u64, now: Nanos) -> Self {
        Rq {
            kind: request.kind,
            is_sync: request.is_sync || request.kind == RequestKind::Read,
            fua: request.fua,
            priority: request.priority,
            process: request.process,
            origin: request.origin,
            first,
            sectors,
            added_ns: now,
            dispatched_ns: 0,
            expires_ns: 0,
            group: 0,
            before: NONE,
            after: NONE,
            tag,
            joined: (NONE, NONE),
            is_indexed: false,
        }
    }

    /// The sector behind its last one.
    #[inline(always)]
    pub fn end(&self) -> u64 {
        self.first + self.sectors
    }

    /// Whether it reads. The schedulers of the time know two directions: everything else is a write to them.
    #[inline(always)]
    pub fn is_read(&self) -> bool {
        self.kind == RequestKind::Read
    }

    /// Its own piece, which entered the queue at this time in ns.
    #[inline(always)]
    pub(super) fn piece(&self, added_ns: Nanos) -> Piece {
        Piece { tag: self.tag, added_ns, process: self.process, next: NONE }
    }

    /// The request as the device gets it.
    #[inline(always)]
    pub(super) fn to_request(&self) -> Request {
        Request {
            arrival_ns: self.dispatched_ns,
            kind: self.kind,
            offset_bytes: self.first * SECTOR_BYTES,
            bytes: self.sectors * SECTOR_BYTES,
            fua: self.fua,
            origin: self.origin,
            process: self.process,
            is_sync: self.is_sync,
            priority: self.priority,
        }
    }
}

/// A piece of a process's request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The tag of the process's request.
    pub tag: Tag,
    /// When the piece entered the queue, in ns.
    pub added_ns: Nanos,
    pub process: u16,
    next: u32,
}

/// All requests in the block layer, queued and in the device.
#[derive(Debug, Default)]
pub struct Pool {
    rqs: FlatTable<Rq>,
    free: Vec<u32>,
    /// Pieces that joined requests.
    pieces: Vec<Piece>,
    free_pieces: Vec<u32>,
}

impl Index<RqId> for Pool {
    type Output = Rq;

    #[inline(always)]
    fn index(&self, id: RqId) -> &Rq {
        &self.rqs[id.0 as usize]
    }
}

impl IndexMut<RqId> for Pool {
    #[inline(always)]
    fn index_mut(&mut self, id: RqId) -> &mut Rq {
        &mut self.rqs[id.0 as usize]
    }
}

impl Pool {
    /// Adds a request.
    #[inline(always)]
    pub(super) fn add(&mut self, rq: Rq) -> RqId {
        match self.free.pop() {
            Some(place) => {
                self.rqs[place as usize] = rq;
                RqId(place)
            }
            None => {
                self.rqs.push(rq);
                RqId(self.rqs.len() as u32 - 1)
            }
        }
    }

    /// Removes a request. Its pieces have been taken or moved.
    #[inline(always)]
    pub(super) fn remove(&mut self, id: RqId) {
        self.free.push(id.0);
    }

    /// A piece joins a request: it comes behind the request's other pieces.
    pub(super) fn join(&mut self, id: RqId, piece: Piece) {
        let place = match self.free_pieces.pop() {
            Some(place) => {
                self.pieces[place as usize] = piece;
                place
            }
            None => {
                self.pieces.push(piece);
                self.pieces.len() as u32 - 1
            }
        };
        self.append(id, (place, place));
    }

    /// Moves the pieces of one request behind those of another.
    pub(super) fn move_pieces(&mut self, from: RqId, to: RqId) {
        self.join(to, self[from].piece(self[from].added_ns));
        let joined = std::mem::replace(&mut self[from].joined, (NONE, NONE));
        if joined.0 != NONE {
            self.append(to, joined);
        }
    }

    /// Puts a list of pieces behind those of a request.
    fn append(&mut self, id: RqId, (first, last): (u32, u32)) {
        match self[id].joined {
            (NONE, _) => self[id].joined.0 = first,
            (_, end) => self.pieces[end as usize].next = first,
        }
        self[id].joined.1 = last;
    }

    /// Whether pieces have joined a request.
    #[inline(always)]
    pub(super) fn has_joined(&self, id: RqId) -> bool {
        self[id].joined.0 != NONE
    }

    /// Takes the first of the pieces that joined a request.
    pub(super) fn take_joined(&mut self, id: RqId) -> Option<Piece> {
        let first = self[id].joined.0;
        let &piece = self.pieces.get(first as usize)?;
        self[id].joined.0 = piece.next;
        self.free_pieces.push(first);
        Some(piece)
    }
}

/// A first-in, first-out list of requests. A request is in one such list at a time.
#[derive(Clone, Copy, Debug)]
pub struct Fifo {
    first: u32,
    last: u32,
}

impl Default for Fifo {
    fn default() -> Self {
        Fifo { first: NONE, last: NONE }
    }
}

impl Fifo {
    /// Whether the list is empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.first == NONE
    }

    /// The oldest request.
    #[inline(always)]
    pub fn first(&self) -> Option<RqId> {
        (self.first != NONE).then_some(RqId(self.first))
    }

    /// The newest request.
    pub fn last(&self) -> Option<RqId> {
        (self.last != NONE).then_some(RqId(self.last))
    }

    /// Puts a request at the end.
    #[inline(always)]
    pub fn push(&mut self, id: RqId, pool: &mut Pool) {
        (pool[id].before, pool[id].after) = (self.last, NONE);
        match self.last {
            NONE => self.first = id.0,
            last => pool[RqId(last)].after = id.0,
        }
        self.last = id.0;
    }

    /// Takes a request out of the list, wherever it stands.
    #[inline(always)]
    pub fn remove(&mut self, id: RqId, pool: &mut Pool) {
        let (before, after) = (pool[id].before, pool[id].after);
        match before {
            NONE => self.first = after,
            before => pool[RqId(before)].after = after,
        }
        match after {
            NONE => self.last = before,
            after => pool[RqId(after)].before = before,
        }
    }

    /// Takes the oldest request.
    pub fn pop(&mut self, pool: &mut Pool) -> Option<RqId> {
        let id = self.first()?;
        self.remove(id, pool);
        Some(id)
    }

    /// Moves all requests of another list behind those of this one.
    pub fn append(&mut self, other: &mut Fifo, pool: &mut Pool) {
        let Some(first) = other.first() else { return };
        pool[first].before = self.last;
        match self.last {
            NONE => self.first = first.0,
            last => pool[RqId(last)].after = first.0,
        }
        self.last = other.last;
        *other = Fifo::default();
    }

    /// The requests, the newest first.
    pub fn newest_first(self, pool: &Pool) -> impl Iterator<Item = RqId> {
        std::iter::successors(self.last(), |&id| Some(pool[id].before).filter(|&before| before != NONE).map(RqId))
    }

    /// Puts `id`, which is in no list, into the place of `other`, which leaves this one.
    pub fn replace(&mut self, other: RqId, id: RqId, pool: &mut Pool) {
        let (before, after) = (pool[other].before, pool[other].after);
        (pool[id].before, pool[id].after) = (before, after);
        match before {
            NONE => self.first = id.0,
            before => pool[RqId(before)].after = id.0,
        }
        match after {
            NONE => self.last = id.0,
            after => pool[RqId(after)].before = id.0,
        }
    }
}

/// Requests in the order of their first sectors.
///
/// A sorted vector: the queue of a block layer is short, and moving some bytes is cheaper than a tree's allocations.
#[derive(Clone, Debug, Default)]
pub struct Sorted {
    requests: Vec<(u64, RqId)>,
    /// The place of the request that followed the one that was removed last: it is often the next to be removed.
    next: usize,
}

/// So few requests are counted rather than searched by halves, where each comparison waits for the one before.
const FEW: usize = 4;

impl Sorted {
    /// The number of requests that begin before a sector.
    #[inline(always)]
    fn before_sector(&self, sector: u64) -> usize {
        let (mut from, mut left) = (0, self.requests.len());
        while left > FEW {
            let half = left / 2;
            from += half * usize::from(self.requests[from + half - 1].0 < sector);
            left -= half;
        }
        from + self.requests[from..from + left].iter().filter(|&&(first, _)| first < sector).count()
    }

    /// The place of a request that was added with sector `first`.
    #[inline(always)]
    fn place(&self, first: u64, id: RqId) -> usize {
        let mut at = self.before_sector(first);
        while self.requests[at] != (first, id) {
            at += 1;
        }
        at
    }

    fn at(&self, place: usize) -> Option<RqId> {
        self.requests.get(place).map(|&(_, id)| id)
    }

    /// Adds a request that begins at sector `first`. It comes behind others that begin there.
    #[inline(always)]
    pub fn insert(&mut self, first: u64, id: RqId) {
        let at = self.before_sector(first + 1);
        self.requests.insert(at, (first, id));
        self.next += usize::from(at <= self.next);
    }

    /// Removes a request that was added with sector `first`. Gives those before and after it.
    #[inline(always)]
    pub fn remove(&mut self, first: u64, id: RqId) -> (Option<RqId>, Option<RqId>) {
        let is_next = self.requests.get(self.next) == Some(&(first, id));
        let at = if is_next { self.next } else { self.place(first, id) };
        self.requests.remove(at);
        self.next = if at < self.requests.len() { at } else { 0 };
        (at.checked_sub(1).and_then(|before| self.at(before)), self.at(at))
    }

    /// The request with the least sector.
    pub fn first(&self) -> Option<RqId> {
        self.at(0)
    }

    /// The first request at a sector or behind it.
    pub fn at_or_after(&self, sector: u64) -> Option<RqId> {
        self.at(self.before_sector(sector))
    }

    /// The requests before and after one that was added with sector `first`.
    pub fn around(&self, first: u64, id: RqId) -> (Option<RqId>, Option<RqId>) {
        let at = self.place(first, id);
        (at.checked_sub(1).and_then(|before| self.at(before)), self.at(at + 1))
    }

    /// The request that comes before one that was added with sector `first`.
    pub fn before(&self, first: u64, id: RqId) -> Option<RqId> {
        self.around(first, id).0
    }

    /// The request that follows on one that was added with sector `first`.
    pub fn after(&self, first: u64, id: RqId) -> Option<RqId> {
        self.around(first, id).1
    }
}
