//! Lists of requests: by age, and by sector.

use super::requests::{NONE, Pool, RqId};

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

    /// The request behind one that is in the list.
    pub fn after(self, id: RqId, pool: &Pool) -> Option<RqId> {
        Some(pool[id].after).filter(|&after| after != NONE).map(RqId)
    }

    /// The request before one that is in the list.
    pub fn before(self, id: RqId, pool: &Pool) -> Option<RqId> {
        Some(pool[id].before).filter(|&before| before != NONE).map(RqId)
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

    /// Adds a request that begins at sector `first`. It comes behind others that begin there, of which this gives the last one.
    #[inline(always)]
    pub fn insert(&mut self, first: u64, id: RqId) -> Option<RqId> {
        let at = self.before_sector(first + 1);
        self.requests.insert(at, (first, id));
        self.next += usize::from(at <= self.next);
        let &(before, other) = self.requests.get(at.wrapping_sub(1))?;
        (before == first).then_some(other)
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

    /// The first request that begins at this sector.
    pub fn beginning_at(&self, sector: u64) -> Option<RqId> {
        self.requests.get(self.before_sector(sector)).filter(|&&(first, _)| first == sector).map(|&(_, id)| id)
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
