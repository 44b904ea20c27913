//! What happens next: one pending event per resource, in a tournament tree.
//!
//! A resource (a die, a channel, …) never waits for two things at once, so the tree has one leaf for each and needs no
//! allocation and no tie-breaking counter: the key is time · 2^k + resource, and resources are numbered in the order in
//! which their events of one instant are to be handled.

use crate::mem::Table;
use crate::units::Nanos;

const NEVER: u64 = u64::MAX;

/// A tournament tree over resources.
pub struct Events {
    /// `tree[leaves + r]` is resource r's key, `tree[i]` the lesser of `tree[2i]` and `tree[2i + 1]`.
    tree: Table<u64>,
    leaves: usize,
    shift: u32,
    /// The leaf that was taken last and not set again yet; its key is void. Most resources set their next event at once,
    /// and one walk up the tree does for both.
    taken: Option<u32>,
}

impl Events {
    /// No events, for `resources` resources.
    pub fn new(resources: usize) -> Self {
        let leaves = resources.next_power_of_two().max(2);
        Events { tree: vec![NEVER; 2 * leaves].into(), leaves, shift: leaves.trailing_zeros(), taken: None }
    }

    /// The last instant that can be told.
    pub fn horizon(&self) -> Nanos {
        (NEVER >> self.shift) - 1
    }

    /// Sets the event of a resource.
    #[inline(always)]
    pub fn set(&mut self, resource: u32, at: Nanos) {
        debug_assert!(at <= self.horizon());
        let key = at << self.shift | u64::from(resource);
        if self.taken == Some(resource) {
            self.taken = None;
        } else if self.tree[self.leaves + resource as usize] == NEVER {
            return self.enter(resource, key);
        }
        self.update(resource, key);
    }

    /// The next event: when, and of which resource.
    #[inline(always)]
    pub fn peek(&mut self) -> Option<(Nanos, u32)> {
        if let Some(resource) = self.taken.take() {
            self.update(resource, NEVER);
        }
        let key = self.tree[1];
        (key != NEVER).then(|| (key >> self.shift, (key & (self.leaves as u64 - 1)) as u32))
    }

    /// Takes the event that [`Self::peek`] gave.
    #[inline(always)]
    pub fn take(&mut self, resource: u32) {
        self.taken = Some(resource);
    }

    /// Takes back the event of a resource.
    pub fn cancel(&mut self, resource: u32) {
        self.update(resource, NEVER);
    }

    /// Sets a key where there was none: the walk up ends where an earlier event is in the way, mostly at once.
    #[inline(always)]
    fn enter(&mut self, resource: u32, key: u64) {
        let mut at = self.leaves + resource as usize;
        while at > 0 && self.tree[at] > key {
            self.tree[at] = key;
            at >>= 1;
        }
    }

    #[inline(always)]
    fn update(&mut self, resource: u32, key: u64) {
        let mut at = self.leaves + resource as usize;
        let tree = &mut self.tree;
        tree[at] = key;
        let mut least = key;
        while at > 1 {
            least = least.min(tree[at ^ 1]);
            at >>= 1;
            tree[at] = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gives_what_a_sorted_list_gives(sets in prop::collection::vec((0u32..37, 0u64..1000), 1..200)) {
            let mut events = Events::new(37);
            let mut list = std::collections::BTreeMap::new();
            for (resource, at) in sets {
                events.set(resource, at);
                list.insert(resource, at);
                if at % 3 == 0 {
                    let least = list.iter().map(|(&r, &t)| (t, r)).min();
                    prop_assert_eq!(events.peek(), least);
                    if let Some((_, resource)) = least {
                        events.take(resource);
                        list.remove(&resource);
                    }
                }
            }
        }
    }

    #[test]
    fn events_of_one_instant_come_in_the_order_of_resources() {
        let mut events = Events::new(5);
        for resource in [3, 0, 4, 1] {
            events.set(resource, 7);
        }
        let order: Vec<u32> = std::iter::from_fn(|| {
            let (_, resource) = events.peek()?;
            events.take(resource);
            Some(resource)
        })
        .collect();
        assert_eq!(order, [0, 1, 3, 4]);
    }
}
