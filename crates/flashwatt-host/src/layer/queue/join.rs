//! A piece joins a queued request, and two queued requests become one.

use super::Queue;
use crate::pool::merging::{Side, is_mergeable, joins};
use crate::pool::{Rq, RqId};
use crate::sched::Merging;
use flashwatt_base::units::Nanos;

impl Queue {
    /// Joins a piece with a queued request, if there is one. If both together are too long, nothing joins that request any more.
    #[inline(always)]
    pub(super) fn merge(&mut self, piece: RqId, now: Nanos) -> bool {
        let found = match self.merging {
            _ if !is_mergeable(&self.pool[piece]) => None,
            None => None,
            Some(Merging::Own) => self.with(now, |scheduler, cx| scheduler.find(piece, cx)),
            Some(rule) => self.find(&self.pool[piece], rule),
        };
        let Some((id, side)) = found else { return false };
        if self.pool[id].sectors + self.pool[piece].sectors > self.max_sectors {
            self.close(id);
            return false;
        }
        self.join(piece, id, side, now);
        true
    }

    /// The request that a piece touches (elv_merge): the one that grew last, one that ends where the piece begins, or one that begins
    /// where it ends.
    #[inline(always)]
    fn find(&self, piece: &Rq, rule: Merging) -> Option<(RqId, Side)> {
        let at = |id: RqId| {
            let side = self.touches(id, piece)?;
            self.scheduler.may_join(&self.pool[id], piece).then_some((id, side))
        };
        if let Some(found) = self.last.and_then(at) {
            return Some(found);
        }
        let newest = self.newest.filter(|&id| !self.pool[id].is_indexed && is_mergeable(&self.pool[id]));
        let ends_here = newest.filter(|&id| self.pool[id].end() == piece.first);
        if let Some(found) = ends_here.or_else(|| self.ends.ending_at(piece.first)).and_then(at) {
            return Some(found);
        }
        let in_front = match rule {
            Merging::Asked => self.scheduler.front(piece, &self.pool),
            Merging::Ends { fronts: true } => self.beginning_at(piece.end(), piece),
            Merging::Ends { fronts: false } | Merging::Own => None,
        };
        in_front.and_then(at)
    }

    /// The newest queued request of the kind of `piece` that begins at a sector.
    fn beginning_at(&self, sector: u64, piece: &Rq) -> Option<RqId> {
        let is_it = |id: &RqId| {
            let rq = &self.pool[*id];
            !rq.is_indexed && is_mergeable(rq) && rq.first == sector && rq.kind == piece.kind
        };
        self.newest.filter(is_it).or_else(|| self.ends.beginning_at(sector, piece.kind))
    }

    /// Where a piece touches a queued request with which it can be one.
    fn touches(&self, queued: RqId, piece: &Rq) -> Option<Side> {
        joins(&self.pool[queued], piece, self.is_multi)
    }

    #[inline(never)]
    fn join(&mut self, piece: RqId, id: RqId, side: Side, now: Nanos) {
        let (sectors, own, priority) =
            (self.pool[piece].sectors, self.pool[piece].piece(now), self.pool[piece].priority);
        self.pool.remove(piece);
        self.pool.join(id, own);
        let rq = &mut self.pool[id];
        rq.priority = rq.priority.min(priority);
        match side {
            Side::Back => self.figures.back_merges += 1,
            Side::Front => self.figures.front_merges += 1,
        }
        match (side, self.neighbour(id, side, sectors)) {
            (_, None) => self.grow(id, sectors, side, now),
            (Side::Back, Some(next)) => {
                self.grow(id, sectors, Side::Back, now);
                let more = self.absorb(next, id, now);
                self.grow(id, more, Side::Back, now);
            }
            (Side::Front, Some(before)) => {
                let more = self.absorb(id, before, now);
                self.grow(before, sectors + more, Side::Back, now);
            }
        }
    }

    /// The request that one touches when it has grown, and with which it becomes one (attempt_back_merge, attempt_front_merge).
    fn neighbour(&self, id: RqId, side: Side, sectors: u64) -> Option<RqId> {
        let rq = &self.pool[id];
        let edge = if side == Side::Back { rq.end() + sectors } else { rq.first - sectors };
        let other = match (self.merging?, side) {
            (Merging::Asked, _) => self.scheduler.neighbour(id, side, &self.pool),
            (Merging::Ends { .. }, Side::Front) => self.ends.ending_at(edge),
            (Merging::Ends { fronts: true }, Side::Back) => self.beginning_at(edge, rq),
            (Merging::Ends { fronts: false } | Merging::Own, _) => None,
        };
        let fits = |&other: &RqId| {
            let beside = &self.pool[other];
            let touches = if side == Side::Back { beside.first == edge } else { beside.end() == edge };
            let is_alike = beside.kind == rq.kind && (!self.is_multi || beside.priority == rq.priority);
            let may_be_one = is_mergeable(beside) && is_mergeable(rq) && self.scheduler.may_join(beside, rq);
            touches && is_alike && may_be_one && rq.sectors + sectors + beside.sectors <= self.max_sectors
        };
        other.filter(fits)
    }

    /// A queued request grows at one end.
    fn grow(&mut self, id: RqId, sectors: u64, side: Side, now: Nanos) {
        match side {
            Side::Back => {
                self.unindex(id);
                self.pool[id].sectors += sectors;
                self.index(id);
            }
            Side::Front => self.grow_at_front(id, sectors, now),
        }
        self.last = Some(id);
    }

    fn grow_at_front(&mut self, id: RqId, sectors: u64, now: Nanos) {
        let first = self.pool[id].first;
        self.pool[id].sectors += sectors;
        self.pool[id].first -= sectors;
        self.with(now, |scheduler, cx| scheduler.grown(id, first, cx));
        self.take_given();
        if self.pool[id].is_indexed {
            self.ends.begins_elsewhere(id, &self.pool[id]);
        } else {
            self.index(id);
        }
    }

    /// A queued request becomes a part of another one, which is going to grow by the sectors returned.
    fn absorb(&mut self, id: RqId, into: RqId, now: Nanos) -> u64 {
        self.unindex(id);
        self.newest = self.newest.filter(|&newest| newest != id);
        self.last = self.last.filter(|&last| last != id);
        self.with(now, |scheduler, cx| scheduler.absorbed(id, into, cx));
        self.pool.move_pieces(id, into);
        let Rq { sectors, is_sync, priority, .. } = self.pool[id];
        let rq = &mut self.pool[into];
        rq.priority = rq.priority.min(priority);
        self.pool.remove(id);
        self.free_place(is_sync);
        self.queued -= 1;
        self.figures.joined += 1;
        sectors
    }

    /// Nothing joins a queued request any more.
    fn close(&mut self, id: RqId) {
        self.unindex(id);
        self.pool[id].is_closed = true;
        self.last = self.last.filter(|&last| last != id);
    }

    fn index(&mut self, id: RqId) {
        if let Some(Merging::Ends { .. } | Merging::Asked) = self.merging
            && is_mergeable(&self.pool[id])
        {
            self.pool[id].is_indexed = true;
            self.ends.add(id, &self.pool[id]);
        }
    }

    pub(super) fn unindex(&mut self, id: RqId) {
        if std::mem::take(&mut self.pool[id].is_indexed) {
            self.ends.remove(id);
        }
    }

    /// What has just been queued and was not dispatched at once can be found by later pieces.
    #[inline(always)]
    pub fn settle_newest(&mut self) {
        if let Some(id) = self.newest.take()
            && !self.pool[id].is_indexed
        {
            self.index(id);
        }
    }
}
