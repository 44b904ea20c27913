//! Doubly linked lists of table entries.
//!
//! The entries of a list are indices into a table of the caller. The links are in a second table with the same indices.

/// The index that means "no entry".
const NIL: u32 = u32::MAX;

/// The neighbours of an entry in its list.
#[derive(Clone, Copy, Debug)]
pub struct Links {
    before: u32,
    after: u32,
}

impl Links {
    /// The links of an entry that is in no list.
    pub const NONE: Links = Links { before: NIL, after: NIL };
}

/// A list of entries. Every call needs the same table of links. An entry can be in one list of a table at a time.
#[derive(Clone, Copy, Debug)]
pub struct List {
    first: u32,
    last: u32,
    len: u32,
}

impl Default for List {
    fn default() -> Self {
        List { first: NIL, last: NIL, len: 0 }
    }
}

impl List {
    /// Number of entries.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether the list has no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first entry.
    pub fn first(&self) -> Option<u32> {
        (self.first != NIL).then_some(self.first)
    }

    /// The entries, from the first on.
    pub fn iter<'a>(&self, links: &'a [Links]) -> impl Iterator<Item = u32> + use<'a> {
        let mut next = self.first;
        std::iter::from_fn(move || {
            let entry = (next != NIL).then_some(next)?;
            next = links[entry as usize].after;
            Some(entry)
        })
    }

    /// The entry that follows `entry` in its list.
    pub fn after(links: &[Links], entry: u32) -> Option<u32> {
        let after = links[entry as usize].after;
        (after != NIL).then_some(after)
    }

    /// Adds an entry at the end.
    pub fn push_last(&mut self, links: &mut [Links], entry: u32) {
        links[entry as usize] = Links { before: self.last, after: NIL };
        match self.last {
            NIL => self.first = entry,
            last => links[last as usize].after = entry,
        }
        self.last = entry;
        self.len += 1;
    }

    /// Adds an entry at the front.
    pub fn push_first(&mut self, links: &mut [Links], entry: u32) {
        links[entry as usize] = Links { before: NIL, after: self.first };
        match self.first {
            NIL => self.last = entry,
            first => links[first as usize].before = entry,
        }
        self.first = entry;
        self.len += 1;
    }

    /// Adds an entry before `next`, which must be in the list.
    pub fn insert_before(&mut self, links: &mut [Links], entry: u32, next: u32) {
        let before = links[next as usize].before;
        if before == NIL {
            return self.push_first(links, entry);
        }
        links[entry as usize] = Links { before, after: next };
        links[before as usize].after = entry;
        links[next as usize].before = entry;
        self.len += 1;
    }

    /// Removes an entry, which must be in the list.
    pub fn remove(&mut self, links: &mut [Links], entry: u32) {
        let Links { before, after } = links[entry as usize];
        match before {
            NIL => self.first = after,
            before => links[before as usize].after = after,
        }
        match after {
            NIL => self.last = before,
            after => links[after as usize].before = before,
        }
        self.len -= 1;
    }

    /// Removes the last entry and returns it.
    pub fn pop_last(&mut self, links: &mut [Links]) -> Option<u32> {
        let last = (self.last != NIL).then_some(self.last)?;
        self.remove(links, last);
        Some(last)
    }

    /// Removes the first entry and returns it.
    pub fn pop_first(&mut self, links: &mut [Links]) -> Option<u32> {
        let first = self.first()?;
        self.remove(links, first);
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// The list gives the same entries in the same order as a [`VecDeque`] after the same steps.
        #[test]
        fn does_what_a_vector_does(steps in prop::collection::vec((0u32..5, 0u32..16), 1..200)) {
            let mut links = [Links::NONE; 16];
            let (mut list, mut oracle) = (List::default(), VecDeque::new());
            for (step, entry) in steps {
                let place = oracle.iter().position(|&e| e == entry);
                match (step, place) {
                    (0, None) => { list.push_last(&mut links, entry); oracle.push_back(entry) }
                    (1, None) => { list.push_first(&mut links, entry); oracle.push_front(entry) }
                    (3, None) if !oracle.is_empty() => {
                        let at = entry as usize % oracle.len();
                        list.insert_before(&mut links, entry, oracle[at]);
                        oracle.insert(at, entry);
                    }
                    (2, _) => prop_assert_eq!(list.pop_first(&mut links), oracle.pop_front()),
                    (4, None) => prop_assert_eq!(list.pop_last(&mut links), oracle.pop_back()),
                    (_, Some(place)) => { list.remove(&mut links, entry); oracle.remove(place); }
                    _ => {}
                }
                prop_assert_eq!(list.first(), oracle.front().copied());
                prop_assert!(list.iter(&links).eq(oracle.iter().copied()));
                prop_assert_eq!(list.len() as usize, oracle.len());
            }
            while let Some(entry) = list.pop_first(&mut links) {
                prop_assert_eq!(Some(entry), oracle.pop_front());
            }
            prop_assert!(oracle.is_empty() && list.is_empty());
        }
    }
}
