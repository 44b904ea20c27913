//! What happens next: one pending event per resource, in lanes.
//!
//! Events whose delay is the same come back in the order in which they are set: reads of the array take tR, programs tPROG,
//! transfers the time of a page. So each kind of event has a [`Lane`] of its own, a sorted queue that is nearly always
//! added to at its end, and what happens next is the least of the lanes' heads: a step costs the same for ten dies and for
//! ten thousand. An event that does not belong at its lane's end moves up to where it belongs.
//!
//! A key is time · 2^k + resource, and resources are numbered in the order in which their events of one instant are to be
//! handled. A resource (a die, a channel, …) never waits for two things at once.

use crate::mem::Table;
use crate::units::Nanos;

const NEVER: u64 = u64::MAX;

/// Kinds of events. Which lane an event is in changes no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Lane {
    /// A read of the array is done.
    Read,
    /// A program is done.
    Program,
    /// A page has crossed a bus.
    Transfer,
    /// A bus that something waits for is free.
    Bus,
    /// Everything else: erases and copybacks, and whatever is set anew before it happens, or is taken back.
    Other,
}

const LANES: usize = 5;

/// The pending events of all resources.
pub struct Events {
    /// Keys of all lanes, a ring for each.
    keys: Table<u64>,
    rings: [Ring; LANES],
    /// The least key of each lane, …
    heads: [u64; LANES],
    /// … and of all.
    first: u64,
    /// The greatest key that there could be at this instant.
    last_now: u64,
    /// The lane of each resource's event.
    lanes: Table<Lane>,
    shift: u32,
    mask: u64,
}

/// A lane's part of the keys. Positions count up (modulo 2^32); the ring holds them modulo its length.
#[derive(Clone, Copy)]
struct Ring {
    base: u32,
    mask: u32,
    head: u32,
    tail: u32,
    /// The greatest key that it has had.
    last: u64,
}

impl Ring {
    #[inline(always)]
    fn at(&self, position: u32) -> usize {
        (self.base + (position & self.mask)) as usize
    }
}

impl Events {
    /// No events, for `resources` resources.
    pub fn new(resources: usize) -> Self {
        let shift = resources.max(2).next_power_of_two().trailing_zeros();
        let len = (resources + 1).next_power_of_two();
        let ring = |lane: usize| Ring { base: (lane * len) as u32, mask: len as u32 - 1, head: 0, tail: 0, last: 0 };
        Events {
            keys: vec![NEVER; LANES * len].into(),
            rings: std::array::from_fn(ring),
            heads: [NEVER; LANES],
            first: NEVER,
            last_now: 0,
            lanes: vec![Lane::Other; resources].into(),
            shift,
            mask: (1 << shift) - 1,
        }
    }

    /// The last instant that can be told.
    pub fn horizon(&self) -> Nanos {
        (NEVER >> self.shift) - 1
    }

    /// Sets the event of a resource, which has none.
    #[inline(always)]
    pub fn set(&mut self, lane: Lane, resource: u32, at: Nanos) {
        debug_assert!(at <= self.horizon());
        let key = at << self.shift | u64::from(resource);
        let ring = &mut self.rings[lane as usize];
        let here = ring.at(ring.tail);
        ring.tail = ring.tail.wrapping_add(1);
        self.keys[here] = key;
        if ring.last <= key {
            ring.last = key;
        } else {
            self.move_up(lane);
        }
        self.heads[lane as usize] = self.heads[lane as usize].min(key);
        self.first = self.first.min(key);
        self.lanes[resource as usize] = lane;
    }

    /// Sets the event of a resource, or sets it anew.
    pub fn reset(&mut self, resource: u32, at: Nanos) {
        self.cancel(resource);
        self.set(Lane::Other, resource, at);
    }

    /// Goes on to the instant of the next event, if there is one: when that is, and whose event it is, which is taken.
    #[inline(always)]
    pub fn next_event(&mut self) -> Option<(Nanos, u32)> {
        if self.first == NEVER {
            return None;
        }
        let at = self.first >> self.shift;
        self.last_now = self.first | self.mask;
        Some((at, self.take_first()))
    }

    /// Is there another event at this instant, the last that [`Self::next_event`] gave?
    #[inline(always)]
    pub fn any_now(&self) -> bool {
        self.first <= self.last_now
    }

    /// Takes the next event of this instant: whose it is.
    #[inline(always)]
    pub fn next_now(&mut self) -> Option<u32> {
        if self.any_now() { Some(self.take_first()) } else { None }
    }

    #[inline(always)]
    fn take_first(&mut self) -> u32 {
        let resource = (self.first & self.mask) as u32;
        let lane = self.lanes[resource as usize] as usize;
        self.rings[lane].head = self.rings[lane].head.wrapping_add(1);
        self.find_first(lane);
        resource
    }

    /// Takes back the event of a resource that was [`Self::reset`], if it has one.
    pub fn cancel(&mut self, resource: u32) {
        let lane = Lane::Other as usize;
        let ring = self.rings[lane];
        let pending = ring.tail.wrapping_sub(ring.head);
        let at = |i: u32| ring.at(ring.head.wrapping_add(i));
        let found = (0..pending).find(|&i| self.keys[at(i)] & self.mask == u64::from(resource));
        let Some(found) = found else { return };
        for i in found..pending - 1 {
            self.keys[at(i)] = self.keys[at(i + 1)];
        }
        self.rings[lane].tail = ring.tail.wrapping_sub(1);
        self.find_first(lane);
    }

    #[inline(always)]
    fn find_first(&mut self, lane: usize) {
        let ring = &self.rings[lane];
        self.heads[lane] = if ring.head == ring.tail { NEVER } else { self.keys[ring.at(ring.head)] };
        let [a, b, c, d, e] = self.heads;
        self.first = a.min(b).min(c.min(d)).min(e);
    }

    /// The last key of a lane moves up to its place.
    #[cold]
    fn move_up(&mut self, lane: Lane) {
        let ring = self.rings[lane as usize];
        let mut place = ring.tail.wrapping_sub(1);
        while place != ring.head {
            let before = place.wrapping_sub(1);
            if self.keys[ring.at(before)] <= self.keys[ring.at(place)] {
                return;
            }
            self.keys.swap(ring.at(before), ring.at(place));
            place = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Lane; LANES] = [Lane::Read, Lane::Program, Lane::Transfer, Lane::Bus, Lane::Other];

    proptest! {
        #[test]
        fn gives_what_a_sorted_list_gives(sets in prop::collection::vec((0u32..37, 0u64..1000, 0..LANES), 1..300)) {
            let mut events = Events::new(37);
            let mut list = std::collections::BTreeMap::new();
            for (resource, at, lane) in sets {
                if resource < 5 {
                    events.reset(resource, at);
                } else if list.contains_key(&resource) {
                    continue;
                } else {
                    events.set(ALL[lane], resource, at);
                }
                list.insert(resource, at);
                if at % 7 == 0 && resource < 5 {
                    events.cancel(resource);
                    list.remove(&resource);
                }
                let least = list.iter().map(|(&r, &t)| (t, r)).min();
                if let Some((at, resource)) = least.filter(|_| at % 3 == 0) {
                    prop_assert_eq!(events.next_event(), Some((at, resource)));
                    list.remove(&resource);
                    let another = list.values().any(|&other| other == at);
                    prop_assert_eq!(events.any_now(), another);
                }
            }
        }
    }

    #[test]
    fn events_of_one_instant_come_in_the_order_of_resources() {
        let mut events = Events::new(5);
        for (lane, resource) in [(Lane::Read, 3), (Lane::Program, 0), (Lane::Read, 4), (Lane::Program, 1)] {
            events.set(lane, resource, 7);
        }
        assert_eq!(events.next_event(), Some((7, 0)));
        let order: Vec<u32> = std::iter::from_fn(|| events.next_now()).collect();
        assert_eq!(order, [1, 3, 4]);
        assert_eq!(events.next_event(), None);
    }
}
