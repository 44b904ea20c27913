//! Which requests can be one, and where to find them.

use super::requests::{Rq, RqId};
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

/// Where a piece touches a queued request with which it can be one; `None` if the two cannot be. How long they are together does not
/// matter here.
///
/// They are of one kind, touch, and neither is a trim, a flush or forced, nor closed to further pieces. `by_priority`: they are of
/// one priority, too, as in Linux 6.1.
#[inline]
pub fn joins(queued: &Rq, piece: &Rq, by_priority: bool) -> Option<Side> {
    let side = match (queued.end() == piece.first, piece.end() == queued.first) {
        (true, _) => Side::Back,
        (_, true) => Side::Front,
        _ => return None,
    };
    let alike = queued.kind == piece.kind && (!by_priority || queued.priority == piece.priority);
    (alike && is_mergeable(queued) && is_mergeable(piece)).then_some(side)
}

/// Whether a request can be merged with others at all.
#[inline(always)]
pub(crate) fn is_mergeable(rq: &Rq) -> bool {
    matches!(rq.kind, RequestKind::Read | RequestKind::Write) && !rq.fua && !rq.is_closed
}

/// Queued requests by their ends, whatever their kind, and by their first sectors and kinds. Of those that are alike it gives the one
/// that came last: that was added or has grown at its back.
///
/// These are chains of the requests whose keys hash alike, the newest first. There are few of them and they come and go with
/// every request, which is why this is no general map.
pub(crate) struct Ends {
    /// By hash: the first requests of a chain by end, and of one by first sector.
    heads: FlatTable<[u32; 2]>,
    /// By number of the request.
    links: FlatTable<Link>,
    /// Bits of a product that are no part of its hash.
    shift: u32,
    /// Whether first sectors are wanted.
    has_firsts: bool,
}

/// A request in its two chains: its keys, and the requests behind it.
#[derive(Clone, Copy)]
struct Link {
    keys: [u64; 2],
    after: [u32; 2],
}

/// The chains by end, and those by first sector.
const BY_END: usize = 0;
const BY_FIRST: usize = 1;

const NONE: u32 = u32::MAX;

impl Ends {
    /// An empty index, made for this number of requests. `has_firsts`: [`Self::beginning_at`] is going to be asked.
    pub fn new(requests: u32, has_firsts: bool) -> Self {
        let chains = requests.max(2).next_power_of_two();
        Ends {
            heads: vec![[NONE; 2]; chains as usize].into(),
            links: FlatTable::default(),
            shift: u64::BITS - chains.trailing_zeros(),
            has_firsts,
        }
    }

    /// Adds a queued request.
    #[inline(always)]
    pub fn add(&mut self, id: RqId, rq: &Rq) {
        while self.links.len() <= id.0 as usize {
            self.links.push(Link { keys: [0; 2], after: [NONE; 2] });
        }
        self.link(id, BY_END, rq.end());
        if self.has_firsts {
            self.link(id, BY_FIRST, key(rq.first, rq.kind));
        }
    }

    /// Removes a request that was added.
    #[inline(always)]
    pub fn remove(&mut self, id: RqId) {
        self.unlink(id, BY_END);
        if self.has_firsts {
            self.unlink(id, BY_FIRST);
        }
    }

    /// A request that was added begins elsewhere now. Among those with its end it keeps its place.
    pub fn begins_elsewhere(&mut self, id: RqId, rq: &Rq) {
        if self.has_firsts {
            self.unlink(id, BY_FIRST);
            self.link(id, BY_FIRST, key(rq.first, rq.kind));
        }
    }

    #[inline(always)]
    fn link(&mut self, id: RqId, by: usize, key: u64) {
        let chain = self.chain(key);
        let after = std::mem::replace(&mut self.heads[chain][by], id.0);
        let link = &mut self.links[id.0 as usize];
        (link.keys[by], link.after[by]) = (key, after);
    }

    #[inline(always)]
    fn unlink(&mut self, id: RqId, by: usize) {
        let Link { keys, after } = self.links[id.0 as usize];
        let chain = self.chain(keys[by]);
        if self.heads[chain][by] == id.0 {
            self.heads[chain][by] = after[by];
            return;
        }
        let mut at = self.heads[chain][by] as usize;
        while self.links[at].after[by] != id.0 {
            at = self.links[at].after[by] as usize;
        }
        self.links[at].after[by] = after[by];
    }

    /// The queued request that ends before this sector.
    #[inline(always)]
    pub fn ending_at(&self, sector: u64) -> Option<RqId> {
        self.find(BY_END, sector)
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
