//! Doubly linked lists of table entries: the links lie in a table beside what they link, a list is two indices.

/// "No entry".
const NIL: u32 = u32::MAX;

/// The neighbours of an entry in the list that it is in.
#[derive(Clone, Copy, Debug)]
pub struct Links {
    before: u32,
    after: u32,
}

impl Links {
    /// Of an entry in no list.
    pub const NONE: Links = Links { before: NIL, after: NIL };
}

/// A list of entries. The same table of links must be given to every call, and an entry be in one list at a time.
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
    /// How many entries it has.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Has it none?
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

    /// The entry that follows on one of the list.
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

    /// Adds an entry before another one, which is in the list.
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

    /// Takes an entry out.
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

    /// Takes the first entry out.
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
        /// Like a queue from which entries are also taken in the middle.
        #[test]
        fn does_what_a_vector_does(steps in prop::collection::vec((0u32..4, 0u32..16), 1..200)) {
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
