//! The part of the drive that a workload uses, and the places in it where a request may start.

/// A range of bytes with the places where requests may start: the multiples of `align_bytes` above `start_bytes` at
/// which the largest request still fits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// First byte of the range.
    pub start_bytes: u64,
    /// Length of the range, ≥ `largest_bytes`.
    pub range_bytes: u64,
    /// Distance between two places, ≥ 1.
    pub align_bytes: u64,
    /// Length of the longest request.
    pub largest_bytes: u64,
}

impl Region {
    /// Number of places where a request may start, ≥ 1.
    pub fn slots(&self) -> u64 {
        self.range_bytes.saturating_sub(self.largest_bytes) / self.align_bytes.max(1) + 1
    }

    /// The first byte of the place with number `slot`, counted from 0.
    #[inline]
    pub fn byte(&self, slot: u64) -> u64 {
        self.start_bytes + slot * self.align_bytes
    }
}
