//! Which requests can be one, and where to find them.

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

/// Queued requests by their ends. Of those that end alike it gives the one that came last.
#[derive(Debug)]
pub(super) struct Ends {
    by_first: Chains,
    by_end: Chains,
}

impl Ends {
    /// An empty index, made for this number of requests.
    pub fn new(requests: u32) -> Self {
        Ends { by_first: Chains::new(requests), by_end: Chains::new(requests) }
    }

    /// Adds a queued request.
    pub fn add(&mut self, id: RqId, rq: &Rq) {
        self.by_first.add(id, key(rq.first, rq.kind));
        self.by_end.add(id, key(rq.end(), rq.kind));
    }

    /// Removes a request that was added.
    pub fn remove(&mut self, id: RqId) {
        self.by_first.remove(id);
        self.by_end.remove(id);
    }

    /// The queued request of a kind that ends before this sector.
    pub fn ending_at(&self, sector: u64, kind: RequestKind) -> Option<RqId> {
        self.by_end.find(key(sector, kind))
    }

    /// The queued request of a kind that begins at this sector.
    pub fn beginning_at(&self, sector: u64, kind: RequestKind) -> Option<RqId> {
        self.by_first.find(key(sector, kind))
    }
}

fn key(sector: u64, kind: RequestKind) -> u64 {
    sector << 2 | kind as u64
}

/// Requests by a key each: chains of those whose keys hash alike, the newest first. There are few of them and they come and go
/// with every request, which is why this is no general map.
#[derive(Debug)]
struct Chains {
    /// The first of each chain.
    heads: Vec<u32>,
    /// By number of the request: its key, and the one behind it.
    links: Vec<(u64, u32)>,
}

const NONE: u32 = u32::MAX;

impl Chains {
    fn new(requests: u32) -> Self {
        Chains { heads: vec![NONE; requests.max(2).next_power_of_two() as usize], links: Vec::new() }
    }

    /// The chain of a key, by the upper bits of a product.
    #[inline(always)]
    fn chain(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - self.heads.len().trailing_zeros())) as usize
    }

    #[inline(always)]
    fn add(&mut self, id: RqId, key: u64) {
        let (chain, at) = (self.chain(key), id.0 as usize);
        if self.links.len() <= at {
            self.links.resize(at + 1, (0, NONE));
        }
        self.links[at] = (key, std::mem::replace(&mut self.heads[chain], id.0));
    }

    #[inline(always)]
    fn remove(&mut self, id: RqId) {
        let (key, after) = self.links[id.0 as usize];
        let chain = self.chain(key);
        if self.heads[chain] == id.0 {
            self.heads[chain] = after;
            return;
        }
        let mut at = self.heads[chain] as usize;
        while self.links[at].1 != id.0 {
            at = self.links[at].1 as usize;
        }
        self.links[at].1 = after;
    }

    #[inline(always)]
    fn find(&self, key: u64) -> Option<RqId> {
        let mut at = self.heads[self.chain(key)];
        while at != NONE {
            let (other, after) = self.links[at as usize];
            if other == key {
                return Some(RqId(at));
            }
            at = after;
        }
        None
    }
}

/// Whether two queued requests can be one: the second begins where the first ends.
pub(super) fn are_one(first: RqId, second: RqId, max_sectors: u64, pool: &Pool) -> bool {
    first != second && joins(&pool[first], &pool[second], max_sectors) == Some(Side::Back)
}
