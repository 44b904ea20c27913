//! The only module with `unsafe`: two hints to the machine that change no result, only run time, and unchecked indices.
//!
//! The map of a large drive does not fit any cache, so each look-up is a cache miss and a TLB miss: huge pages shorten
//! the TLB miss, prefetching hides the cache miss (`make bench` shows both).
#![allow(unsafe_code)]

/// Asks for the cache line that holds `slice[index]`. Does nothing if there is no such element.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if index < slice.len() {
        // SAFETY: the address lies inside `slice`; a prefetch reads nothing into the program and cannot fault.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch(slice.as_ptr().add(index).cast(), _MM_HINT_T0);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

/// A vector of zeros that costs memory only where it is written to, on huge pages where the system has them.
pub fn zeroed<T: Copy + Zero>(len: usize) -> Vec<T> {
    let vec = sparse(len);
    advise_huge(&vec);
    vec
}

/// As [`zeroed`], on small pages until [`advise_huge`]: for a large table of which few places may be used. The system clears
/// a whole huge page when one place of it is written to.
pub fn sparse<T: Copy + Zero>(len: usize) -> Vec<T> {
    vec![T::ZERO; len] // from calloc: untouched pages stay unmapped
}

/// An empty vector with room for `capacity` elements, which costs memory only where it is filled, on huge pages where the
/// system has them. If the system does not promise that much at once, the vector grows like any other.
pub fn with_room<T>(capacity: usize) -> Vec<T> {
    let mut vec = Vec::new();
    if vec.try_reserve_exact(capacity).is_ok() {
        advise_huge(vec.spare_capacity_mut());
    }
    vec
}

/// Sets the first `count` bits of a row of words, and clears the rest.
pub fn set_first_bits(words: &mut [u64], count: u32) {
    for (at, word) in words.iter_mut().enumerate() {
        *word = match count.saturating_sub(64 * at as u32) {
            0 => 0,
            rest @ 1..=63 => (1 << rest) - 1,
            _ => u64::MAX,
        };
    }
}

/// Whether the system promises `bytes` of memory. It may promise more than it has, up to a limit.
pub fn is_there(bytes: u64) -> bool {
    let mut probe = Vec::<u8>::new();
    let promised = usize::try_from(bytes).is_ok_and(|bytes| probe.try_reserve_exact(bytes).is_ok());
    std::hint::black_box(&probe); // else the compiler removes the unused allocation and assumes success
    promised
}

/// Types whose zero value is all bits zero, so that a fresh mapping already holds it.
pub trait Zero {
    /// The value.
    const ZERO: Self;
}

impl Zero for u16 {
    const ZERO: u16 = 0;
}
impl Zero for u32 {
    const ZERO: u32 = 0;
}
impl Zero for u64 {
    const ZERO: u64 = 0;
}

/// Asks for huge pages for what is not yet written to.
pub fn advise_huge<T>(slice: &[T]) {
    #[cfg(target_os = "linux")]
    {
        const HUGE: usize = 2 << 20;
        let start = (slice.as_ptr() as usize).next_multiple_of(HUGE);
        let end = (slice.as_ptr() as usize + std::mem::size_of_val(slice)) / HUGE * HUGE;
        if start < end {
            // SAFETY: the range lies inside memory that we own, and the advice changes no content. Failure is harmless.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = slice;
}

/// Are indices into a [`FlatTable`], and the seats of all events, checked? Wherever debug assertions are on, as in all tests, and in
/// every build that shows the engine's insides to other crates (feature `internals`).
pub const CHECKED: bool = cfg!(any(debug_assertions, feature = "checked"));

/// A table that is indexed on the hot path: a slice whose index is checked if [`CHECKED`].
///
/// Without the feature `internals` no other crate reaches a function that takes such an index. Every index is then an id that
/// this crate made for that very table (an operation, a die, a block, a page of the configured geometry), never a number from
/// outside. Measured on the bench presets it saves about a tenth of the time of an operation (`make bench`).
#[derive(Clone, Debug)]
pub struct FlatTable<T>(Vec<T>);

impl<T> FlatTable<T> {
    /// Adds an element at the end.
    #[inline(always)]
    pub fn push(&mut self, value: T) {
        self.0.push(value);
    }
}

impl<T> Default for FlatTable<T> {
    fn default() -> Self {
        FlatTable(Vec::new())
    }
}

impl<T> From<Vec<T>> for FlatTable<T> {
    fn from(vec: Vec<T>) -> Self {
        FlatTable(vec)
    }
}

impl<T> FromIterator<T> for FlatTable<T> {
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> Self {
        FlatTable(iter.into_iter().collect())
    }
}

impl<T> std::ops::Deref for FlatTable<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> std::ops::DerefMut for FlatTable<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T> std::ops::Index<usize> for FlatTable<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        if CHECKED {
            return &self.0[index];
        }
        // SAFETY: see the type's description.
        unsafe { self.0.get_unchecked(index) }
    }
}

impl<T> std::ops::IndexMut<usize> for FlatTable<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        if CHECKED {
            return &mut self.0[index];
        }
        // SAFETY: as above.
        unsafe { self.0.get_unchecked_mut(index) }
    }
}

impl<T> std::ops::Index<std::ops::Range<usize>> for FlatTable<T> {
    type Output = [T];

    fn index(&self, range: std::ops::Range<usize>) -> &[T] {
        &self.0[range]
    }
}

impl<T> std::ops::IndexMut<std::ops::Range<usize>> for FlatTable<T> {
    fn index_mut(&mut self, range: std::ops::Range<usize>) -> &mut [T] {
        &mut self.0[range]
    }
}
