//! Which entry of the write buffer is the newest of its map unit: a hash table whose chains run through the entries.
//!
//! Every unit that is written is entered, looked up and removed once, so each of these is a few instructions. The table's
//! size follows the buffer, not the drive.

use flashwatt_base::mem::FlatTable;
use flashwatt_base::units::{EntryId, Lpn};

/// The index that means "no entry".
const NIL: u32 = u32::MAX;

/// The newest entry of each map unit that has one.
pub struct Newest {
    /// The first entry of each chain. Their number is a power of two, and at least that of `nodes`.
    chains: FlatTable<u32>,
    /// The unit of each entry, and the entry after it in its chain.
    nodes: FlatTable<Node>,
}

#[derive(Clone, Copy)]
struct Node {
    lpn: Lpn,
    next: u32,
}

impl Newest {
    /// Memory for each entry of a full buffer, in bytes.
    pub const ENTRY_BYTES: usize = size_of::<u32>() + size_of::<Node>();

    pub fn new() -> Self {
        Newest { chains: vec![NIL; 16].into(), nodes: Vec::new().into() }
    }

    /// The newest entry of a unit.
    #[inline]
    pub fn get(&self, lpn: Lpn) -> Option<EntryId> {
        let mut at = self.chains[self.chain(lpn)];
        while at != NIL {
            let node = self.nodes[at as usize];
            if node.lpn == lpn {
                return Some(EntryId(at));
            }
            at = node.next;
        }
        None
    }

    /// Makes an entry the newest of a unit that has none.
    #[inline]
    pub fn insert(&mut self, lpn: Lpn, entry: EntryId) {
        if entry.idx() >= self.nodes.len() {
            self.make_room(entry.0 + 1);
        }
        let chain = self.chain(lpn);
        self.nodes[entry.idx()] = Node { lpn, next: self.chains[chain] };
        self.chains[chain] = entry.0;
    }

    /// Takes an entry out if it is still the newest of its unit. It must have been so at some time.
    #[inline]
    pub fn remove(&mut self, entry: EntryId) {
        let chain = self.chain(self.nodes[entry.idx()].lpn);
        let (mut before, mut at) = (NIL, self.chains[chain]);
        while at != entry.0 {
            if at == NIL {
                return;
            }
            (before, at) = (at, self.nodes[at as usize].next);
        }
        let next = self.nodes[at as usize].next;
        match before {
            NIL => self.chains[chain] = next,
            before => self.nodes[before as usize].next = next,
        }
    }

    /// The units that have an entry, and the newest of each. Their order has no meaning.
    pub fn iter(&self) -> impl Iterator<Item = (Lpn, EntryId)> + '_ {
        self.chains.iter().flat_map(move |&first| {
            let mut next = first;
            std::iter::from_fn(move || {
                let node = (next != NIL).then(|| self.nodes[next as usize])?;
                let entry = EntryId(std::mem::replace(&mut next, node.next));
                Some((node.lpn, entry))
            })
        })
    }

    /// The chain of a unit: the upper bits of a product with 2^32 divided by the golden ratio (Knuth, Volume 3, 6.4),
    /// which spread neighbours.
    #[inline(always)]
    fn chain(&self, lpn: Lpn) -> usize {
        const ODD: u32 = 0x9e37_79b9;
        let bits = self.chains.len().trailing_zeros();
        (lpn.0.wrapping_mul(ODD) >> (u32::BITS - bits)) as usize
    }

    /// Makes room for `entries`.
    #[cold]
    fn make_room(&mut self, entries: u32) {
        (self.nodes.len()..entries as usize).for_each(|_| self.nodes.push(Node { lpn: Lpn(0), next: NIL }));
        if self.nodes.len() <= self.chains.len() {
            return;
        }
        let all: Vec<(Lpn, EntryId)> = self.iter().collect();
        self.chains = vec![NIL; self.nodes.len().next_power_of_two()].into();
        for (lpn, entry) in all {
            self.insert(lpn, entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The table answers as the standard library's does, whatever is entered and removed.
        #[test]
        fn as_a_hash_map(steps in prop::collection::vec((0_u32..40, 0_u32..90, any::<bool>()), 0..300)) {
            let (mut newest, mut expected) = (Newest::new(), HashMap::<Lpn, EntryId>::new());
            let mut known = HashSet::new();
            for (lpn, entry, is_set) in steps {
                let (lpn, entry) = (Lpn(lpn * 0x400_0001), EntryId(entry));
                if is_set && !expected.values().any(|&used| used == entry) {
                    if let Some(older) = newest.get(lpn) {
                        newest.remove(older);
                    }
                    newest.insert(lpn, entry);
                    expected.insert(lpn, entry);
                    known.insert(entry);
                } else if !is_set && known.contains(&entry) {
                    newest.remove(entry);
                    expected.retain(|_, there| *there != entry);
                }
                prop_assert_eq!(newest.iter().collect::<HashMap<_, _>>(), expected.clone());
                prop_assert!((0..40).map(|at| Lpn(at * 0x400_0001)).all(|at| newest.get(at) == expected.get(&at).copied()));
            }
        }
    }
}
