//! The rules of CFQ about where requests lie, which BFQ has taken over.

use crate::pool::{Pool, RqId, Sorted};

/// The rule of the nearer request.
#[derive(Clone, Copy, Debug)]
pub struct Seek {
    /// The longest way back in sectors, and how much more a sector of it counts than one ahead.
    pub back_max: u64,
    pub back_penalty: u64,
}

impl Seek {
    /// The better one of two requests (cfq_choose_req, bfq_choose_req): the nearer one; one too far behind is taken only if both
    /// are, and then the lower one.
    pub fn nearer(&self, one: Option<RqId>, other: Option<RqId>, position: u64, pool: &Pool) -> Option<RqId> {
        let (Some(a), Some(b)) = (one, other) else { return one.or(other) };
        if pool[a].is_sync != pool[b].is_sync {
            return if pool[a].is_sync { Some(a) } else { Some(b) };
        }
        let (first_a, first_b) = (pool[a].first, pool[b].first);
        let takes_a = match (self.distance(first_a, position), self.distance(first_b, position)) {
            (Some(way_a), Some(way_b)) if way_a == way_b => first_a >= first_b,
            (Some(way_a), Some(way_b)) => way_a < way_b,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => first_a <= first_b,
        };
        Some(if takes_a { a } else { b })
    }

    /// Of the requests around `last`, the one that is nearer to `position`. Behind the last request follows the first one.
    pub fn neighbour(&self, last: RqId, position: u64, sorted: &Sorted, pool: &Pool) -> Option<RqId> {
        let (before, after) = sorted.around(pool[last].first, last);
        let after = after.or_else(|| sorted.first().filter(|&lowest| lowest != last));
        self.nearer(after, before, position, pool)
    }

    /// As [`Self::neighbour`], of a request that has been removed from between these two.
    pub fn neighbour_of_removed(
        &self,
        (before, after): (Option<RqId>, Option<RqId>),
        position: u64,
        sorted: &Sorted,
        pool: &Pool,
    ) -> Option<RqId> {
        self.nearer(after.or_else(|| sorted.first()), before, position, pool)
    }

    /// The way to a sector; `None` if it lies too far behind.
    fn distance(&self, sector: u64, position: u64) -> Option<u64> {
        match position.checked_sub(sector) {
            None | Some(0) => Some(sector - position),
            Some(back) => (back <= self.back_max).then_some(back * self.back_penalty),
        }
    }
}
