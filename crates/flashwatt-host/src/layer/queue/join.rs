//! A piece joins a queued request, and two queued requests become one.

use super::Queue;
use crate::pool::merging::{Side, are_one, is_mergeable, joins};
use crate::pool::{Rq, RqId};
use crate::sched::{Front, Merging};
use flashwatt_base::units::Nanos;

impl Queue {
    /// Joins a piece with a queued request, if there is one.
    #[inline(always)]
    pub(super) fn merge(&mut self, piece: RqId, now: Nanos) -> bool {
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
        let (sectors, own) = (self.pool[piece].sectors, self.pool[piece].piece(now));
        self.pool.remove(piece);
        self.pool.join(id, own);
        self.grow(id, sectors, side, now);
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

    pub(super) fn unindex(&mut self, id: RqId) {
        if std::mem::take(&mut self.pool[id].is_indexed) {
            self.ends.remove(id);
        }
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
}
