//! What every deadline scheduler keeps for a direction: its requests by age and by sector.

use crate::pool::merging::Side;
use crate::pool::{Fifo, Pool, RqId, Sorted};
use flashwatt_base::units::Nanos;

/// The queued requests of one direction.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    /// By age.
    pub fifo: Fifo,
    /// By sector.
    pub sorted: Sorted,
}

impl Lists {
    /// Adds a request. Gives the one that begins at the same sector, if there is one.
    #[inline(always)]
    pub fn add(&mut self, id: RqId, pool: &mut Pool) -> Option<RqId> {
        self.fifo.push(id, pool);
        self.sorted.insert(pool[id].first, id)
    }

    /// Removes a request. Gives those before and after it by sector.
    #[inline(always)]
    pub fn remove(&mut self, id: RqId, pool: &mut Pool) -> (Option<RqId>, Option<RqId>) {
        self.fifo.remove(id, pool);
        self.sorted.remove(pool[id].first, id)
    }

    /// A request that began at sector `first` begins elsewhere now.
    pub fn moved(&mut self, id: RqId, first: u64, pool: &Pool) {
        self.sorted.remove(first, id);
        self.sorted.insert(pool[id].first, id);
    }

    /// The request beside one of these by sector.
    pub fn beside(&self, id: RqId, side: Side, pool: &Pool) -> Option<RqId> {
        match side {
            Side::Back => self.sorted.after(pool[id].first, id),
            Side::Front => self.sorted.before(pool[id].first, id),
        }
    }

    /// `id` becomes a part of `into`, which takes over the earlier deadline and its place by age.
    pub fn absorb(&mut self, id: RqId, into: RqId, pool: &mut Pool) {
        if pool[id].expires_ns < pool[into].expires_ns {
            pool[into].expires_ns = pool[id].expires_ns;
            self.fifo.remove(into, pool);
            self.sorted.remove(pool[id].first, id);
            self.fifo.replace(id, into, pool);
        } else {
            self.remove(id, pool);
        }
    }

    /// The oldest request, if its deadline has been reached.
    pub fn expired(&self, now: Nanos, pool: &Pool) -> Option<RqId> {
        self.fifo.first().filter(|&id| pool[id].expires_ns <= now)
    }

    /// Whether there is no request.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.fifo.is_empty()
    }
}
