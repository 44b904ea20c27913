//! Requests that wait for the medium, and which access comes next.

use super::geometry::{Lba, Place};
use super::mechanism::Mechanism;
use super::settings::{Order, Scheduling};
use super::write_cache::{Extent, WriteCache};
use crate::connector::Tag;
use crate::units::Nanos;

/// A request that waits for the medium.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Its tag.
    pub tag: Tag,
    /// The first sector that it needs from the medium, or writes to it.
    pub first: Lba,
    /// The sector after its last one.
    pub end: Lba,
    /// Whether it writes.
    pub writes: bool,
    /// Since when it waits.
    pub since: Nanos,
    /// Where its first sector lies.
    pub place: Place,
}

/// What the medium does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// The waiting request with this index.
    Request(usize),
    /// The extent of the cache that begins at this sector.
    Extent(Lba),
}

/// A choice, and whether it was made because of its age.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chosen {
    /// What is next.
    pub choice: Choice,
    /// It has waited for too long.
    pub is_overdue: bool,
}

/// The requests that wait, in the order in which they came.
pub struct Queue {
    waiting: Vec<Waiting>,
    order: Order,
    age_max_ns: Nanos,
    extent_age_max_ns: Nanos,
}

impl Queue {
    /// An empty queue.
    pub fn new(settings: &Scheduling, extent_age_max_ns: Nanos) -> Self {
        let Scheduling { order, age_max_ns } = *settings;
        Queue { waiting: Vec::new(), order, age_max_ns, extent_age_max_ns }
    }

    /// Whether no request waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Number of requests that wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// A request waits.
    pub fn push(&mut self, request: Waiting) {
        self.waiting.push(request);
    }

    /// Takes a request that was chosen.
    pub fn take(&mut self, index: usize) -> Waiting {
        self.waiting.remove(index)
    }

    /// What comes next at a time. Requests go before the cache, unless `cache_is_awaited`: then the two compete.
    pub fn choose(
        &self,
        now: Nanos,
        mechanism: &Mechanism,
        cache: &WriteCache,
        near: Lba,
        cache_is_awaited: bool,
    ) -> Option<Chosen> {
        if let Some(choice) = self.overdue(now, cache) {
            return Some(Chosen { choice, is_overdue: true });
        }
        let with_cache = cache_is_awaited || self.waiting.is_empty();
        let choice = match self.order {
            Order::Fifo => self.first(cache, with_cache),
            Order::Positioning => self.nearest(now, mechanism, cache, near, with_cache),
        };
        choice.map(|choice| Chosen { choice, is_overdue: false })
    }

    /// The oldest of the requests and extents that have waited for too long. Requests that are taken in order need no hurry; extents
    /// do, since requests go before them.
    fn overdue(&self, now: Nanos, cache: &WriteCache) -> Option<Choice> {
        let is_over = |since: Nanos, most: Nanos| now - since >= most;
        let hurries = self.order == Order::Positioning;
        let request = self.waiting.first().filter(|request| hurries && is_over(request.since, self.age_max_ns));
        let extent = cache.oldest().filter(|extent| is_over(extent.since, self.extent_age_max_ns));
        older(request, extent)
    }

    /// What came first.
    fn first(&self, cache: &WriteCache, with_cache: bool) -> Option<Choice> {
        older(self.waiting.first(), cache.oldest().filter(|_| with_cache))
    }

    /// What the heads reach first; of equals what comes first in the queue, and requests before extents.
    fn nearest(
        &self,
        now: Nanos,
        mechanism: &Mechanism,
        cache: &WriteCache,
        near: Lba,
        with_cache: bool,
    ) -> Option<Choice> {
        if let ([_], false) = (&*self.waiting, with_cache) {
            return Some(Choice::Request(0));
        }
        let (mut least, mut best) = (Nanos::MAX, None);
        for (index, request) in self.waiting.iter().enumerate() {
            if let Some(time) = mechanism.positioning(now, &request.place, request.writes, least) {
                (least, best) = (time, Some(Choice::Request(index)));
            }
        }
        if with_cache {
            for extent in cache.next_to(near) {
                if let Some(time) = mechanism.positioning(now, &extent.place, true, least) {
                    (least, best) = (time, Some(Choice::Extent(extent.first)));
                }
            }
        }
        best
    }
}

/// The older of the first request and the oldest extent.
fn older(request: Option<&Waiting>, extent: Option<&Extent>) -> Option<Choice> {
    match (request, extent) {
        (Some(request), Some(extent)) if extent.since < request.since => Some(Choice::Extent(extent.first)),
        (Some(_), _) => Some(Choice::Request(0)),
        (None, Some(extent)) => Some(Choice::Extent(extent.first)),
        (None, None) => None,
    }
}
