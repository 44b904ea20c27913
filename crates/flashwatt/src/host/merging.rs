//! Which requests can be one, and where to find them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::pool::{Pool, Rq, RqId};
use crate::connector::RequestKind;

/// The end of a queued request where a piece joins it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The piece goes before it.
    Front,
    /// The piece goes behind it.
    Back,
}

/// Where a piece joins a queued request; `None` if the two cannot be one request.
///
/// They are of one kind and one priority, touch, are not longer than a request may be, and neither is a trim, a flush or
/// forced.
#[inline]
pub fn joins(queued: &Rq, piece: &Rq, max_sectors: u64) -> Option<Side> {
    let side = match (queued.end() == piece.first, piece.end() == queued.first) {
        (true, _) => Side::Back,
        (_, true) => Side::Front,
        _ => return None,
    };
    let fits = queued.sectors + piece.sectors <= max_sectors;
    let alike = queued.kind == piece.kind && queued.priority == piece.priority;
    (fits && alike && is_mergeable(queued) && is_mergeable(piece)).then_some(side)
}

/// Whether a request can be merged with others at all.
#[inline(always)]
pub(super) fn is_mergeable(rq: &Rq) -> bool {
    matches!(rq.kind, RequestKind::Read | RequestKind::Write) && !rq.fua
}

/// Queued requests by their ends. Of two that end alike it knows the one that came last.
#[derive(Debug, Default)]
pub(super) struct Ends {
    by_first: Map,
    by_end: Map,
}

type Map = HashMap<u64, RqId, BuildHasherDefault<SectorHasher>>;

impl Ends {
    /// Adds a queued request.
    pub fn add(&mut self, id: RqId, rq: &Rq) {
        self.by_first.insert(key(rq.first, rq.kind), id);
        self.by_end.insert(key(rq.end(), rq.kind), id);
    }

    /// Removes a request that was added with this extent.
    pub fn remove(&mut self, id: RqId, rq: &Rq) {
        remove(&mut self.by_first, key(rq.first, rq.kind), id);
        remove(&mut self.by_end, key(rq.end(), rq.kind), id);
    }

    /// The request that ends at a sector.
    pub fn ending_at(&self, sector: u64, kind: RequestKind) -> Option<RqId> {
        self.by_end.get(&key(sector, kind)).copied()
    }

    /// The request that begins at a sector.
    pub fn beginning_at(&self, sector: u64, kind: RequestKind) -> Option<RqId> {
        self.by_first.get(&key(sector, kind)).copied()
    }
}

fn key(sector: u64, kind: RequestKind) -> u64 {
    sector << 2 | kind as u64
}

fn remove(map: &mut Map, key: u64, id: RqId) {
    if map.get(&key) == Some(&id) {
        map.remove(&key);
    }
}

/// Whether two queued requests can be one: the second begins where the first ends.
pub(super) fn are_one(first: RqId, second: RqId, max_sectors: u64, pool: &Pool) -> bool {
    first != second && joins(&pool[first], &pool[second], max_sectors) == Some(Side::Back)
}

/// Hashes a sector number by a multiplication.
#[derive(Default)]
struct SectorHasher(u64);

impl Hasher for SectorHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(self.0 ^ u64::from(byte)));
    }

    fn write_u64(&mut self, sector: u64) {
        self.0 = (sector ^ sector >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
