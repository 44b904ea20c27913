//! A list that lies in place while it is short.

/// Up to `N` elements in place, more of them elsewhere.
#[derive(Clone, Debug)]
pub enum Few<T, const N: usize> {
    /// How many, and the elements: the rest of the places is not used.
    Here(u8, [T; N]),
    /// A box around the list keeps the short one short.
    #[expect(clippy::box_collection, reason = "8 bytes instead of 24 in each of a million inodes")]
    There(Box<Vec<T>>),
}

impl<T: Copy + Default, const N: usize> Default for Few<T, N> {
    fn default() -> Self {
        Few::Here(0, [T::default(); N])
    }
}

impl<T: Copy + Default, const N: usize> Few<T, N> {
    /// The elements.
    #[inline(always)]
    pub fn all(&self) -> &[T] {
        match self {
            Few::Here(len, places) => &places[..usize::from(*len)],
            Few::There(list) => list,
        }
    }

    /// The elements, to change them.
    #[inline(always)]
    pub fn all_mut(&mut self) -> &mut [T] {
        match self {
            Few::Here(len, places) => &mut places[..usize::from(*len)],
            Few::There(list) => list,
        }
    }

    /// Inserts an element before the one at `at`.
    pub fn insert(&mut self, at: usize, element: T) {
        match self {
            Few::Here(len, places) if usize::from(*len) < N => {
                places.copy_within(at..usize::from(*len), at + 1);
                places[at] = element;
                *len += 1;
            }
            Few::Here(_, places) => {
                let mut list = Vec::with_capacity(2 * N);
                list.extend_from_slice(places);
                list.insert(at, element);
                *self = Few::There(Box::new(list));
            }
            Few::There(list) => list.insert(at, element),
        }
    }

    /// Takes an element out.
    pub fn remove(&mut self, at: usize) {
        match self {
            Few::Here(len, places) => {
                places.copy_within(at + 1..usize::from(*len), at);
                *len -= 1;
            }
            Few::There(list) => {
                list.remove(at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_the_same_in_place_and_elsewhere() {
        let (mut few, mut list) = (Few::<u32, 2>::default(), Vec::new());
        for (at, element) in [(0, 5), (0, 4), (1, 6), (3, 7), (0, 3)] {
            few.insert(at, element);
            list.insert(at, element);
            assert_eq!(few.all(), list);
        }
        for at in [1, 3, 0, 1, 0] {
            few.remove(at);
            list.remove(at);
            assert_eq!(few.all(), list);
        }
    }
}
