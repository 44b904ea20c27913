//! Which pages are dirty, and since when their owners have had some.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::disk::{Owner, PageKey};
use flashwatt_base::units::Nanos;

/// The time of an owner whose turn it is: no entry of the order has it.
const TAKEN: Nanos = Nanos::MAX;

/// The dirty pages.
#[derive(Debug, Default)]
pub struct Dirty {
    /// Numbers of pages, in the order of owners and indices.
    pages: BTreeSet<u64>,
    /// Owners with dirty pages, and when the first of those became dirty.
    since: BTreeMap<Owner, Nanos>,
    /// The same owners in the order of that time. An entry whose time is another one now is void.
    order: VecDeque<(Nanos, Owner)>,
}

fn owner_of(page: u64) -> Owner {
    Owner((page >> 32) as u32)
}

impl Dirty {
    /// Number of dirty pages.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Whether a page is dirty.
    pub fn holds(&self, page: u64) -> bool {
        self.pages.contains(&page)
    }

    /// A page is dirty.
    pub fn add(&mut self, page: u64, now: Nanos) {
        if self.pages.insert(page)
            && let std::collections::btree_map::Entry::Vacant(since) = self.since.entry(owner_of(page))
        {
            since.insert(now);
            self.order.push_back((now, owner_of(page)));
        }
    }

    /// A page is not dirty any more.
    pub fn remove(&mut self, page: u64) {
        if self.pages.remove(&page) && self.of(owner_of(page)).next().is_none() {
            self.since.remove(&owner_of(page));
        }
    }

    /// All dirty pages, in order.
    pub fn all(&self) -> impl Iterator<Item = PageKey> {
        self.pages.iter().map(|&page| PageKey { owner: owner_of(page), index: page as u32 })
    }

    /// The indices of an owner's dirty pages, in order.
    pub fn of(&self, owner: Owner) -> impl Iterator<Item = u32> {
        self.from(owner, 0)
    }

    /// Those from a page on.
    pub fn from(&self, owner: Owner, first: u32) -> impl Iterator<Item = u32> {
        let all = u64::from(owner.0) << 32;
        self.pages.range(all | u64::from(first)..=all | u64::from(u32::MAX)).map(|&page| page as u32)
    }

    /// The owner whose pages have been dirty for longest, if that is since this time or before. Pages of it that stay dirty count as
    /// dirty since now.
    pub fn take_oldest(&mut self, until: Nanos) -> Option<Owner> {
        loop {
            let &(at, owner) = self.order.front()?;
            if self.since.get(&owner) != Some(&at) {
                self.order.pop_front();
                continue;
            }
            if at > until {
                return None;
            }
            self.order.pop_front();
            // An owner that was cleaned and became dirty again at one instant stands in the order twice.
            self.since.insert(owner, TAKEN);
            return Some(owner);
        }
    }

    /// An owner, whose turn is over, has pages that are still dirty: it is behind all others.
    pub fn requeue(&mut self, owner: Owner, now: Nanos) {
        if let Some(since) = self.since.get_mut(&owner) {
            *since = now;
            self.order.push_back((now, owner));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_has_its_turn_once() {
        let mut dirty = Dirty::default();
        let page = 7 << 32;
        dirty.add(page, 5);
        dirty.remove(page);
        dirty.add(page, 5);
        assert_eq!((dirty.take_oldest(9), dirty.take_oldest(9)), (Some(Owner(7)), None));
        dirty.requeue(Owner(7), 9);
        assert_eq!(dirty.take_oldest(9), Some(Owner(7)));
    }
}
