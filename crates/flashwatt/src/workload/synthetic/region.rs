//! The part of the drive that a workload uses, and the places where a request may start in it.

/// Starts lie at multiples of `align_bytes` above `start_bytes`, as far as the largest request still fits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// First byte.
    pub start_bytes: u64,
    /// Length, ≥ `largest_bytes`.
    pub range_bytes: u64,
    /// Distance of two starts, ≥ 1.
    pub align_bytes: u64,
    /// The longest request.
    pub largest_bytes: u64,
}

impl Region {
    /// Places where a request may start, ≥ 1.
    pub fn slots(&self) -> u64 {
        self.range_bytes.saturating_sub(self.largest_bytes) / self.align_bytes.max(1) + 1
    }

    /// The first byte of such a place.
    #[inline]
    pub fn byte(&self, slot: u64) -> u64 {
        self.start_bytes + slot * self.align_bytes
    }
}
