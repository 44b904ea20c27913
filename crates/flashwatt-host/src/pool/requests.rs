//! Requests, the pieces that they consist of, and the table that holds them.

use std::ops::{Index, IndexMut};

use flashwatt_base::mem::FlatTable;
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::{Origin, Priority, Request, RequestKind, Tag};

/// The number of a request in the pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RqId(pub u32);

/// No neighbour, and no piece.
pub(super) const NONE: u32 = u32::MAX;

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
    /// The neighbours in a [`Fifo`](super::Fifo).
    pub(super) before: u32,
    pub(super) after: u32,
    /// The tag of the process's request that it was made for: its own piece.
    tag: Tag,
    /// The first and the last of the pieces that joined it.
    joined: (u32, u32),
    /// Whether the index of ends knows it.
    pub(crate) is_indexed: bool,
    /// A piece would have made it too long: no other one joins it (REQ_NOMERGE).
    pub(crate) is_closed: bool,
}

impl Rq {
    /// A piece of a process's request, which has this tag, as a request of its own.
    #[inline(always)]
    pub(crate) fn new(tag: Tag, request: &Request, first: u64, sectors: u64, now: Nanos) -> Self {
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
            is_closed: false,
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
    pub(crate) fn piece(&self, added_ns: Nanos) -> Piece {
        Piece { tag: self.tag, added_ns, process: self.process, next: NONE }
    }

    /// The request as the device gets it.
    #[inline(always)]
    pub(crate) fn to_request(&self) -> Request {
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
pub(crate) struct Piece {
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
    pub(crate) fn add(&mut self, rq: Rq) -> RqId {
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
    pub(crate) fn remove(&mut self, id: RqId) {
        self.free.push(id.0);
    }

    /// A piece joins a request: it comes behind the request's other pieces.
    pub(crate) fn join(&mut self, id: RqId, piece: Piece) {
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
    pub(crate) fn move_pieces(&mut self, from: RqId, to: RqId) {
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
    pub(crate) fn has_joined(&self, id: RqId) -> bool {
        self[id].joined.0 != NONE
    }

    /// Takes the first of the pieces that joined a request.
    pub(crate) fn take_joined(&mut self, id: RqId) -> Option<Piece> {
        let first = self[id].joined.0;
        let &piece = self.pieces.get(first as usize)?;
        self[id].joined.0 = piece.next;
        self.free_pieces.push(first);
        Some(piece)
    }
}
