//! Requests that wait for the medium, and which access comes next.

use super::geometry::{Lba, SectorPlace};
use super::mechanism::{Mechanism, Target};
use super::overlap::Incoming;
use super::settings::{self, Interface, Order, Scheduling};
use super::write_cache::{Oldest, WriteCache};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Tag;

/// A request that waits for the medium.
#[derive(Clone, Copy, Debug)]
pub struct WaitingRequest {
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
    pub place: SectorPlace,
    /// Of a read: a count of what had come into the disk's memory when its first sector was not there.
    pub seen: u64,
    /// Of a write whose data is still on the way: when it comes.
    pub data: Option<Incoming>,
    /// The first sector is not written before.
    pub ready_ns: Nanos,
}

/// What the medium does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextAccess {
    /// The waiting request with this tag.
    Request(Tag),
    /// The extent of the cache at this place.
    Extent(usize),
}

/// A choice, and whether it was made because of its age.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChosenAccess {
    /// What is next.
    pub choice: NextAccess,
    /// It has waited for too long.
    pub is_overdue: bool,
}

/// The requests that wait.
pub struct MediumQueue {
    /// By tag; of no meaning for a tag that does not wait.
    requests: Vec<WaitingRequest>,
    /// Those that wait, in the order in which they came.
    arrived: Vec<Key>,
    /// The same, sorted by cylinder; empty if the order does not depend on it.
    by_cylinder: Vec<Key>,
    /// Number of each by the order in which they came, by tag.
    numbers: Vec<u64>,
    /// Requests so far.
    count: u64,
    order: Order,
    age_max_ns: Nanos,
    extent_age_max_ns: Nanos,
    cache_goes_first: bool,
}

/// An entry of a sorted list of requests: a number below 2^48, and the tag of a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u64);

impl Key {
    /// Bits of a tag: it is less than the depth of the queue.
    const TAG_BITS: u32 = 16;

    #[inline(always)]
    fn new(number: u64, tag: Tag) -> Self {
        Key(number << Self::TAG_BITS | u64::from(tag.0))
    }

    /// The number, of a list sorted by cylinder.
    #[inline(always)]
    fn cylinder(&self) -> u32 {
        (self.0 >> Self::TAG_BITS) as u32
    }

    #[inline(always)]
    fn tag(self) -> Tag {
        Tag(self.0 as u32 & ((1 << Self::TAG_BITS) - 1))
    }

    /// Its place in a sorted list, or where it belongs.
    #[inline(always)]
    fn place_in(self, list: &[Key]) -> usize {
        list.partition_point(|&other| other < self)
    }
}

impl MediumQueue {
    /// An empty queue.
    pub fn new(settings: &Scheduling, interface: &Interface, cache: &settings::WriteCache) -> Self {
        let Scheduling { order, age_max_ns } = *settings;
        let depth = interface.queue_depth as usize;
        let none = WaitingRequest {
            tag: Tag(0),
            first: 0,
            end: 0,
            writes: false,
            since: 0,
            place: SectorPlace::default(),
            seen: 0,
            data: None,
            ready_ns: 0,
        };
        MediumQueue {
            requests: vec![none; depth],
            arrived: Vec::with_capacity(depth),
            by_cylinder: Vec::with_capacity(depth),
            numbers: vec![0; depth],
            count: 0,
            order,
            age_max_ns,
            extent_age_max_ns: cache.age_max_ns,
            cache_goes_first: cache.goes_first,
        }
    }

    /// Whether no request waits.
    pub fn is_empty(&self) -> bool {
        self.arrived.is_empty()
    }

    /// Number of requests that wait.
    pub fn len(&self) -> usize {
        self.arrived.len()
    }

    /// A request waits.
    pub fn push(&mut self, request: WaitingRequest) {
        let at = request.tag.0 as usize;
        (self.requests[at], self.numbers[at]) = (request, self.count);
        self.arrived.push(Key::new(self.count, request.tag));
        self.count += 1;
        if self.order == Order::Positioning {
            let key = Key::new(request.place.cylinder.into(), request.tag);
            self.by_cylinder.insert(key.place_in(&self.by_cylinder), key);
        }
    }

    /// Takes a request that was chosen.
    pub fn take(&mut self, tag: Tag) -> &WaitingRequest {
        let request = &self.requests[tag.0 as usize];
        let key = Key::new(self.numbers[tag.0 as usize], tag);
        self.arrived.remove(key.place_in(&self.arrived));
        if self.order == Order::Positioning {
            let key = Key::new(request.place.cylinder.into(), tag);
            self.by_cylinder.remove(key.place_in(&self.by_cylinder));
        }
        request
    }

    /// The request that has waited for the longest time.
    fn oldest(&self) -> Option<&WaitingRequest> {
        self.arrived.first().map(|key| &self.requests[key.tag().0 as usize])
    }

    /// What comes next at a time. Requests go before the cache, unless `cache_is_awaited`: then the two compete.
    pub fn choose(
        &self,
        now: Nanos,
        mechanism: &Mechanism,
        cache: &WriteCache,
        near: Lba,
        cache_is_awaited: bool,
    ) -> Option<ChosenAccess> {
        if let Some(choice) = self.overdue(now, cache) {
            return Some(ChosenAccess { choice, is_overdue: true });
        }
        let with_cache = cache_is_awaited || self.is_empty();
        if self.cache_goes_first && cache.has_extents() {
            let oldest = || cache.oldest().map(|extent| cache.from(extent.first));
            let nearest = || cache.nearest(now, mechanism, near, Nanos::MAX);
            let extent = if self.order == Order::Fifo { oldest() } else { nearest() };
            return extent.map(|at| ChosenAccess { choice: NextAccess::Extent(at), is_overdue: false });
        }
        let choice = match self.order {
            Order::Fifo => self.first(cache, with_cache),
            Order::Positioning => self.nearest(now, mechanism, cache, near, with_cache),
        };
        choice.map(|choice| ChosenAccess { choice, is_overdue: false })
    }

    /// The oldest of the requests and extents that have waited for too long. Requests that are taken in order need no hurry; extents
    /// do, since requests go before them.
    fn overdue(&self, now: Nanos, cache: &WriteCache) -> Option<NextAccess> {
        let is_over = |since: Nanos, most: Nanos| now - since >= most;
        let hurries = self.order == Order::Positioning;
        let request = self.oldest().filter(|request| hurries && is_over(request.since, self.age_max_ns));
        let extent = cache.oldest().filter(|extent| is_over(extent.since, self.extent_age_max_ns));
        older(request, extent, cache)
    }

    /// What came first.
    fn first(&self, cache: &WriteCache, with_cache: bool) -> Option<NextAccess> {
        older(self.oldest(), cache.oldest().filter(|_| with_cache), cache)
    }

    /// What the heads reach first; of equals what comes first in the queue, and requests before extents.
    fn nearest(
        &self,
        now: Nanos,
        mechanism: &Mechanism,
        cache: &WriteCache,
        near: Lba,
        with_cache: bool,
    ) -> Option<NextAccess> {
        if let ([only], false) = (&*self.arrived, with_cache) {
            return Some(NextAccess::Request(only.tag()));
        }
        let requests = &*self.by_cylinder;
        let request = mechanism.nearest(now, requests, Nanos::MAX, Key::cylinder, |key| self.target(*key));
        let limit = request.map_or(Nanos::MAX, |(_, ns)| ns);
        let extent = with_cache.then(|| cache.nearest(now, mechanism, near, limit)).flatten();
        extent.map(NextAccess::Extent).or_else(|| request.map(|(at, _)| NextAccess::Request(requests[at].tag())))
    }

    /// A request as a target of the heads.
    #[inline(always)]
    fn target(&self, key: Key) -> Target {
        let at = key.tag().0 as usize;
        let request = &self.requests[at];
        Target { rank: self.numbers[at], place: request.place, writes: request.writes, ready_ns: request.ready_ns }
    }
}

/// The older of the first request and the oldest extent.
fn older(request: Option<&WaitingRequest>, extent: Option<&Oldest>, cache: &WriteCache) -> Option<NextAccess> {
    match (request, extent) {
        (Some(request), Some(extent)) if extent.since < request.since => {
            Some(NextAccess::Extent(cache.from(extent.first)))
        }
        (Some(request), _) => Some(NextAccess::Request(request.tag)),
        (None, Some(extent)) => Some(NextAccess::Extent(cache.from(extent.first))),
        (None, None) => None,
    }
}
