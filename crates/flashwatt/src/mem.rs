//! The one place with `unsafe`: two hints to the machine that change no result, only the time it takes.
//!
//! The map of a large drive does not fit any cache, so that each of its look-ups is a cache and a TLB miss: huge pages
//! shorten the second, prefetching hides the first (`make bench` shows both).
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
    let vec = vec![T::ZERO; len]; // from calloc: untouched pages stay unmapped
    advise_huge(&vec);
    vec
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

fn advise_huge<T>(slice: &[T]) {
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
