//! A queue of events at known times, with nearly all insertions at its end.
//!
//! Events of equal delay end in the order in which they were set: array reads take tR, programs tPROG, transfers the
//! time of a page. So each such kind has a lane of its own, and the next event costs the same for ten dies and for ten
//! thousand. A key that does not belong at the end of its lane moves up to its place.

use crate::mem::FlatTable;

/// A key after all others: the first key of an empty lane.
pub const NEVER: u64 = u64::MAX;

/// Keys in ascending order. A key is a time and, in its low bits, a seat. Aligned to a cache line of its own.
#[derive(Clone)]
#[repr(align(64))]
pub struct Lane {
    /// The least key; [`NEVER`] if there is none.
    pub first: u64,
    /// The second key, so that `first` need not wait for the ring. Undefined for an empty lane.
    second: u64,
    /// A ring. Positions count up (modulo 2^32); the ring holds them modulo its length. [`NEVER`] follows the last key,
    /// so that no branch tests for an empty lane: a processor cannot predict that branch.
    keys: FlatTable<u64>,
    mask: u32,
    head: u32,
    tail: u32,
}

impl Lane {
    /// An empty lane for at most `capacity` keys at a time.
    pub fn new(capacity: usize) -> Self {
        let len = (capacity + 1).next_power_of_two();
        Lane { first: NEVER, second: NEVER, keys: vec![NEVER; len].into(), mask: len as u32 - 1, head: 0, tail: 0 }
    }

    /// Adds a key.
    #[inline(always)]
    pub fn add(&mut self, key: u64) {
        debug_assert!(self.tail.wrapping_sub(self.head) < self.mask, "a lane has room for every key and the end");
        let (before, here) = (self.at(self.tail.wrapping_sub(1)), self.at(self.tail));
        self.tail = self.tail.wrapping_add(1);
        let end = self.at(self.tail);
        self.keys[here] = key;
        self.keys[end] = NEVER;
        self.first = self.first.min(key);
        if self.keys[before] > key {
            self.move_up(); // or `before` is no key any more, which `move_up` knows
        }
        self.second = self.keys[self.at(self.head.wrapping_add(1))];
    }

    /// Takes the first key of a lane that is not empty. Returns the key that is first now.
    #[inline(always)]
    pub fn take_first(&mut self) -> u64 {
        debug_assert!(self.first != NEVER);
        self.first = self.second;
        self.head = self.head.wrapping_add(1);
        self.second = self.keys[self.at(self.head.wrapping_add(1))];
        self.first
    }

    /// Takes a key for which `is_it` is true, if there is one.
    pub fn take_back(&mut self, is_it: impl Fn(u64) -> bool) {
        let pending = self.tail.wrapping_sub(self.head);
        let at = |i: u32| self.at(self.head.wrapping_add(i));
        let Some(found) = (0..pending).find(|&i| is_it(self.keys[at(i)])) else { return };
        for i in found..pending {
            let (here, next) = (self.at(self.head.wrapping_add(i)), self.at(self.head.wrapping_add(i + 1)));
            self.keys[here] = self.keys[next]; // the end moves, too
        }
        self.tail = self.tail.wrapping_sub(1);
        self.first = self.keys[self.at(self.head)];
        self.second = self.keys[self.at(self.head.wrapping_add(1))];
    }

    /// Whether `is_it` is true for a key.
    pub fn has(&self, is_it: impl Fn(u64) -> bool) -> bool {
        let pending = self.tail.wrapping_sub(self.head);
        (0..pending).any(|i| is_it(self.keys[self.at(self.head.wrapping_add(i))]))
    }

    /// Moves the last key up to its place.
    #[cold]
    fn move_up(&mut self) {
        let mut place = self.tail.wrapping_sub(1);
        while place != self.head {
            let (before, here) = (self.at(place.wrapping_sub(1)), self.at(place));
            if self.keys[before] <= self.keys[here] {
                return;
            }
            self.keys.swap(before, here);
            place = place.wrapping_sub(1);
        }
    }

    #[inline(always)]
    fn at(&self, position: u32) -> usize {
        (position & self.mask) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gives_what_a_sorted_list_gives(steps in prop::collection::vec((0u8..4, 0u64..1000), 1..400)) {
            let mut lane = Lane::new(13);
            let mut list: Vec<u64> = Vec::new();
            for (what, key) in steps {
                match what {
                    0 | 1 if list.len() < 13 => {
                        lane.add(key);
                        list.push(key);
                        list.sort_unstable();
                    }
                    2 if !list.is_empty() => {
                        lane.take_first();
                        list.remove(0);
                    }
                    _ => {
                        lane.take_back(|k| k == key);
                        if let Some(at) = list.iter().position(|&k| k == key) {
                            list.remove(at);
                        }
                    }
                }
                prop_assert_eq!(lane.first, list.first().copied().unwrap_or(NEVER));
            }
        }
    }
}
