//! A table whose copies share what none of them has changed since.
//!
//! A copy costs a pointer for each chunk of elements. A change of an element copies its chunk if another table has that, too. Equal
//! chunks that lie side by side when a table is made are one: a table of equal elements takes the memory of one chunk.

use std::ops::Index;
use std::sync::Arc;

/// Elements of a chunk: a power of two, so that a place is found by shifts. Larger chunks make copies of the table cheaper, and changes
/// after that dearer.
const CHUNK: usize = 256;

/// A table whose copies share what none of them has changed since.
#[derive(Clone, Debug)]
pub struct Shared<T> {
    chunks: Vec<Arc<[T]>>,
    len: usize,
}

impl<T: Clone + PartialEq> Shared<T> {
    /// A table of equal elements.
    pub fn filled(len: usize, value: T) -> Self {
        let mut table = Shared { chunks: Vec::new(), len: 0 };
        table.grow(len, value);
        table
    }

    /// Makes the table at least this long, with this value in the new places.
    pub fn grow(&mut self, len: usize, value: T) {
        while !self.len.is_multiple_of(CHUNK) && self.len < len {
            self.push(value.clone());
        }
        if self.len >= len {
            return;
        }
        let chunk: Arc<[T]> = vec![value; CHUNK].into();
        self.chunks.resize(len.div_ceil(CHUNK), chunk); // the last one holds more than is needed
        self.len = len;
        if let Some(last) = self.chunks.last_mut() {
            *last = last[..(len - 1) % CHUNK + 1].to_vec().into();
        }
    }

    /// Adds an element to a chunk that is not full, or a new one.
    fn push(&mut self, value: T) {
        match self.chunks.last_mut() {
            Some(last) if last.len() < CHUNK => *last = last.iter().cloned().chain([value]).collect(),
            _ => self.chunks.push([value].into()),
        }
        self.len += 1;
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The element at a place, if there is one.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&T> {
        self.chunks.get(at / CHUNK)?.get(at % CHUNK)
    }

    /// The element at a place, to change it.
    ///
    /// # Panics
    /// If there is none.
    pub fn change(&mut self, at: usize) -> &mut T {
        &mut Arc::make_mut(&mut self.chunks[at / CHUNK])[at % CHUNK]
    }

    /// All elements in their order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }
}

impl<T: Clone + PartialEq> FromIterator<T> for Shared<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut elements = elements.into_iter();
        let mut table = Shared { chunks: Vec::<Arc<[T]>>::new(), len: 0 };
        loop {
            let chunk: Vec<T> = elements.by_ref().take(CHUNK).collect();
            if chunk.is_empty() {
                return table;
            }
            table.len += chunk.len();
            let before = table.chunks.last().filter(|before| before[..] == chunk[..]);
            table.chunks.push(before.map_or_else(|| chunk.into(), Arc::clone));
        }
    }
}

impl<T> Index<usize> for Shared<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.chunks[at / CHUNK][at % CHUNK]
    }
}

/// Chunks that two tables share are not compared.
impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |(one, other): (&Arc<[T]>, &Arc<[T]>)| Arc::ptr_eq(one, other) || one == other;
        self.len == other.len && self.chunks.iter().zip(&other.chunks).all(is_same)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A table and its copies hold what vectors hold that are changed in the same way.
        #[test]
        fn is_a_vector(start in prop::collection::vec(0..3u8, 0..700), steps in prop::collection::vec((0..4u8, 0..1_000usize, 0..3u8), 0..60)) {
            let mut tables = vec![(Shared::from_iter(start.iter().copied()), start)];
            for (step, at, value) in steps {
                let which = at % tables.len();
                let (table, vec) = &mut tables[which];
                match step {
                    0 if at < vec.len() => (*table.change(at), vec[at]) = (value, value),
                    1 if at > vec.len() => {
                        table.grow(at, value);
                        vec.resize(at, value);
                    }
                    2 => {
                        let copy = tables[which].clone();
                        tables.push(copy);
                    }
                    _ => prop_assert_eq!(table.get(at), vec.get(at)),
                }
            }
            for (table, vec) in &tables {
                prop_assert!(table.iter().eq(vec.iter()) && table.len() == vec.len());
                for (other, of_other) in &tables {
                    prop_assert_eq!(table == other, vec == of_other);
                }
            }
        }
    }

    #[test]
    fn a_table_of_equal_elements_has_one_chunk_and_a_copy_shares_it() {
        let distinct = |table: &Shared<u64>| {
            table.chunks.iter().map(|chunk| chunk.as_ptr()).collect::<std::collections::BTreeSet<_>>().len()
        };
        let mut table = Shared::filled(10 * CHUNK, 7);
        let copy = table.clone();
        assert_eq!(distinct(&table), 2, "the last chunk is its own");
        assert_eq!(distinct(&Shared::from_iter([7; 10 * CHUNK])), 1);
        *table.change(300) = 8;
        assert_eq!((distinct(&table), distinct(&copy), copy[300], table[300]), (3, 2, 7, 8));
    }
}
