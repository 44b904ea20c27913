//! Which requests can be one, and where to find them.

use super::requests::{Pool, Rq, RqId};
use flashwatt_base::mem::FlatTable;
use flashwatt_core::connector::RequestKind;

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
pub(crate) fn is_mergeable(rq: &Rq) -> bool {
    matches!(rq.kind, RequestKind::Read | RequestKind::Write) && !rq.fua
}

/// Queued requests by their first sectors and by their ends. Of those that are alike it gives the one that came last.
///
/// These are chains of the requests whose keys hash alike, the newest first. There are few of them and they come and go with
/// every request, which is why this is no general map.
pub(crate) struct Ends {
    /// By hash: the first requests of a chain by first sector, and of one by end.
    heads: FlatTable<[u32; 2]>,
    /// By number of the request.
    links: FlatTable<Link>,
    /// Bits of a product that are no part of its hash.
    shift: u32,
}

/// A request in its two chains: its keys, and the requests behind it.
#[derive(Clone, Copy)]
struct Link {
    keys: [u64; 2],
    after: [u32; 2],
}

/// The chains by first sector, and those by end.
const BY_FIRST: usize = 0;
const BY_END: usize = 1;

const NONE: u32 = u32::MAX;

impl Ends {
    /// An empty index, made for this number of requests.
    pub fn new(requests: u32) -> Self {
        let chains = requests.max(2).next_power_of_two();
        Ends {
            heads: vec![[NONE; 2]; chains as usize].into(),
            links: FlatTable::default(),
            shift: u64::BITS - chains.trailing_zeros(),
        }
    }

    /// Adds a queued request.
    #[inline(always)]
    pub fn add(&mut self, id: RqId, rq: &Rq) {
        let keys = [key(rq.first, rq.kind), key(rq.end(), rq.kind)];
        while self.links.len() <= id.0 as usize {
            self.links.push(Link { keys: [0; 2], after: [NONE; 2] });
        }
        let after = [BY_FIRST, BY_END].map(|by| {
            let chain = self.chain(keys[by]);
            std::mem::replace(&mut self.heads[chain][by], id.0)
        });
        self.links[id.0 as usize] = Link { keys, after };
    }

    /// Removes a request that was added.
    #[inline(always)]
    pub fn remove(&mut self, id: RqId) {
        let Link { keys, after } = self.links[id.0 as usize];
        for by in [BY_FIRST, BY_END] {
            let chain = self.chain(keys[by]);
            if self.heads[chain][by] == id.0 {
                self.heads[chain][by] = after[by];
                continue;
            }
            let mut at = self.heads[chain][by] as usize;
            while self.links[at].after[by] != id.0 {
                at = self.links[at].after[by] as usize;
            }
            self.links[at].after[by] = after[by];
        }
    }

    /// The queued request of a kind that ends before this sector.
    #[inline(always)]
    pub fn ending_at(&self, sector: u64, kind: RequestKind) -> Option<RqId> {
        self.find(BY_END, key(sector, kind))
    }

    /// The queued request of a kind that begins at this sector.
    #[inline(always)]
    pub fn beginning_at(&self, sector: u64, kind: RequestKind) -> Option<RqId> {
        self.find(BY_FIRST, key(sector, kind))
    }

    #[inline(always)]
    fn find(&self, by: usize, key: u64) -> Option<RqId> {
        let mut at = self.heads[self.chain(key)][by];
        while at != NONE {
            let link = &self.links[at as usize];
            if link.keys[by] == key {
                return Some(RqId(at));
            }
            at = link.after[by];
        }
        None
    }

    /// The chain of a key, by the upper bits of a product.
    #[inline(always)]
    fn chain(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }
}

fn key(sector: u64, kind: RequestKind) -> u64 {
    sector << 2 | kind as u64
}

/// Whether two queued requests can be one: the second begins where the first ends.
pub(crate) fn are_one(first: RqId, second: RqId, max_sectors: u64, pool: &Pool) -> bool {
    first != second && joins(&pool[first], &pool[second], max_sectors) == Some(Side::Back)
}
