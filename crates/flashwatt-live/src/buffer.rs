//! Memory for requests that bypass the page cache.

use std::ops::{Deref, DerefMut};

use flashwatt_base::rng::Rng;

/// Every device takes memory that begins at a multiple of a page.
const ALIGN_BYTES: usize = 4096;

/// Bytes that begin at a multiple of 4096.
pub(crate) struct Buffer {
    memory: Box<[u8]>,
    begin: usize,
    len: usize,
}

impl Buffer {
    /// A buffer of random bytes: a drive that compresses or deduplicates data gains nothing on them.
    pub(crate) fn random(len: usize, seed: u64) -> Self {
        let mut memory = vec![0; len + ALIGN_BYTES].into_boxed_slice();
        let begin = memory.as_ptr().align_offset(ALIGN_BYTES);
        let mut rng = Rng::new(seed);
        for word in memory[begin..begin + len].chunks_mut(8) {
            word.copy_from_slice(&rng.bits().to_le_bytes()[..word.len()]);
        }
        Buffer { memory, begin, len }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.begin..self.begin + self.len]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.begin..self.begin + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_at_a_page_and_has_its_length() {
        for len in [512, 4096, 5000] {
            let buffer = Buffer::random(len, 1);
            assert_eq!((buffer.as_ptr() as usize % ALIGN_BYTES, buffer.len()), (0, len));
            let zeros = buffer.iter().filter(|&&byte| byte == 0).count();
            assert!(zeros < len / 64, "random bytes are 0 once in 256: found {zeros} of {len}");
        }
    }
}
