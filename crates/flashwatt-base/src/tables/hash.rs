//! A hash of numbers, for tables that are looked up for each request.

use std::hash::Hasher;

/// Hashes a number with one multiplication: an id, or the number of a row. It has no random seed, so that runs are reproducible.
#[derive(Default)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15; // 2^64 divided by the golden ratio (Knuth, Volume 3, 6.4)
        self.0 = (self.0 ^ number).wrapping_mul(ODD).rotate_left(32);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
