//! What happens next: one pending event per resource, in a tournament tree.
//!
//! A resource (a die, a channel, …) never waits for two things at once, so the tree has one leaf for each and needs no
//! allocation and no tie-breaking counter: the key is time · 2^k + resource, and resources are numbered in the order in
//! which their events of one instant are to be handled.

use crate::mem::Table;
use crate::units::Nanos;

const NEVER: u64 = u64::MAX;

/// A tournament tree over resources: four children to a node, so that a walk up is short.
pub struct Events {
    /// Node 0 is the root, node i's children are 4i + 1 to 4i + 4, resource r's leaf is `first_leaf` + r. Each inner node holds
    /// the least key below it.
    tree: Table<u64>,
    first_leaf: usize,
    shift: u32,
    mask: u64,
    /// The leaf that was taken last and not set again yet; its key is void. Most resources set their next event at once,
    /// and one walk up the tree does for both.
    taken: Option<u32>,
}

impl Events {
    /// No events, for `resources` resources.
    pub fn new(resources: usize) -> Self {
        let mut leaves = 4;
        while leaves < resources {
            leaves *= 4;
        }
        let first_leaf = (leaves - 1) / 3;
        let shift = resources.max(2).next_power_of_two().trailing_zeros();
        Events { tree: vec![NEVER; first_leaf + leaves].into(), first_leaf, shift, mask: (1 << shift) - 1, taken: None }
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
        } else if self.tree[self.first_leaf + resource as usize] == NEVER {
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
        let key = self.tree[0];
        (key != NEVER).then(|| (key >> self.shift, (key & self.mask) as u32))
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
        let mut at = self.first_leaf + resource as usize;
        self.tree[at] = key;
        while at > 0 {
            at = (at - 1) >> 2;
            if self.tree[at] <= key {
                return;
            }
            self.tree[at] = key;
        }
    }

    /// Sets a key and finds the least ones above it anew.
    #[inline(always)]
    fn update(&mut self, resource: u32, key: u64) {
        let mut at = self.first_leaf + resource as usize;
        self.tree[at] = key;
        while at > 0 {
            at = (at - 1) >> 2;
            let child = 4 * at + 1;
            let first = self.tree[child].min(self.tree[child + 1]);
            let second = self.tree[child + 2].min(self.tree[child + 3]);
            self.tree[at] = first.min(second);
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
