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
    /// Erases and copybacks are done.
    Long,
    /// Whatever is set anew before it happens, or is taken back.
    Host,
}

const LANES: usize = 6;

/// The pending events of all resources.
pub struct Events {
    /// Keys of all lanes, a ring for each; behind a ring's last key stands [`NEVER`].
    keys: Table<u64>,
    rings: [Ring; LANES],
    /// The least key of each lane, …
    heads: [u64; LANES],
    /// … and of all.
    first: u64,
    /// The lane of each resource's event.
    lanes: Table<Lane>,
    shift: u32,
    mask: u64,
}

/// A lane's part of the keys. Positions count up for ever; the ring holds them modulo its length.
#[derive(Clone, Copy)]
struct Ring {
    base: usize,
    mask: usize,
    head: usize,
    tail: usize,
}

impl Ring {
    #[inline(always)]
    fn at(&self, position: usize) -> usize {
        self.base + (position & self.mask)
    }
}

impl Events {
    /// No events, for `resources` resources.
    pub fn new(resources: usize) -> Self {
        let shift = resources.max(2).next_power_of_two().trailing_zeros();
        let len = (resources + 2).next_power_of_two();
        let ring = |lane: usize| Ring { base: lane * len, mask: len - 1, head: 0, tail: 0 };
        Events {
            keys: vec![NEVER; LANES * len].into(),
            rings: std::array::from_fn(ring),
            heads: [NEVER; LANES],
            first: NEVER,
            lanes: vec![Lane::Host; resources].into(),
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
        let last = ring.tail;
        ring.tail += 1;
        let (before, here, behind) = (ring.at(last.wrapping_sub(1)), ring.at(last), ring.at(last + 1));
        self.keys[here] = key;
        self.keys[behind] = NEVER;
        if self.keys[before] > key {
            self.move_up(lane, last);
        }
        self.heads[lane as usize] = self.heads[lane as usize].min(key);
        self.first = self.first.min(key);
        self.lanes[resource as usize] = lane;
    }

    /// Sets the event of a resource, or sets it anew.
    pub fn reset(&mut self, resource: u32, at: Nanos) {
        self.cancel(resource);
        self.set(Lane::Host, resource, at);
    }

    /// When the next event happens, if there is one.
    #[inline(always)]
    pub fn next_instant(&self) -> Option<Nanos> {
        (self.first != NEVER).then_some(self.first >> self.shift)
    }

    /// Is there an event at this instant, before which there is none?
    #[inline(always)]
    pub fn any_at(&self, now: Nanos) -> bool {
        self.first >> self.shift == now
    }

    /// Takes the next event of this instant, before which there is none: whose it is.
    #[inline(always)]
    pub fn take_at(&mut self, now: Nanos) -> Option<u32> {
        if !self.any_at(now) {
            return None;
        }
        let resource = (self.first & self.mask) as u32;
        let lane = self.lanes[resource as usize] as usize;
        self.rings[lane].head += 1;
        self.find_first(lane);
        Some(resource)
    }

    /// Takes back the event of a resource that was [`Self::reset`], if it has one.
    pub fn cancel(&mut self, resource: u32) {
        let lane = Lane::Host as usize;
        let ring = self.rings[lane];
        let found = (ring.head..ring.tail).find(|&i| self.keys[ring.at(i)] & self.mask == u64::from(resource));
        let Some(found) = found else { return };
        for i in found..ring.tail {
            self.keys[ring.at(i)] = self.keys[ring.at(i + 1)];
        }
        self.rings[lane].tail -= 1;
        self.find_first(lane);
    }

    #[inline(always)]
    fn find_first(&mut self, lane: usize) {
        let ring = &self.rings[lane];
        self.heads[lane] = self.keys[ring.at(ring.head)];
        let [a, b, c, d, e, f] = self.heads;
        self.first = a.min(b).min(c.min(d)).min(e.min(f));
    }

    /// The last key of a lane moves up to its place.
    #[cold]
    fn move_up(&mut self, lane: Lane, last: usize) {
        let ring = self.rings[lane as usize];
        let mut place = last;
        while place > ring.head && self.keys[ring.at(place - 1)] > self.keys[ring.at(place)] {
            self.keys.swap(ring.at(place - 1), ring.at(place));
            place -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Lane; LANES] = [Lane::Read, Lane::Program, Lane::Transfer, Lane::Bus, Lane::Long, Lane::Host];

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
                prop_assert_eq!(events.next_instant(), least.map(|(at, _)| at));
                if let Some((at, resource)) = least.filter(|_| at % 3 == 0) {
                    prop_assert_eq!(events.take_at(at), Some(resource));
                    list.remove(&resource);
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
        let order: Vec<u32> = std::iter::from_fn(|| events.take_at(7)).collect();
        assert_eq!(order, [0, 1, 3, 4]);
    }
}
