//! Bitmaps of blocks and of inodes: which are taken, group by group.

use std::ops::Range;

/// Bits in groups of one length, and how many of each group are free.
#[derive(Debug)]
pub struct Bitmap {
    words: Vec<u64>,
    bits: u32,
    /// Bits of a group.
    of_group: u32,
    free: Vec<u32>,
    free_in_all: u64,
}

impl Bitmap {
    /// No bit of these groups is taken. Each group but the last has `of_group` bits.
    pub fn new(bits: u32, of_group: u32) -> Self {
        let groups = bits.div_ceil(of_group);
        let length = |group: u32| (bits - group * of_group).min(of_group);
        Bitmap {
            words: vec![0; bits.div_ceil(64) as usize],
            bits,
            of_group,
            free: (0..groups).map(length).collect(),
            free_in_all: u64::from(bits),
        }
    }

    /// Free bits of a group.
    #[inline(always)]
    pub fn free_in(&self, group: u32) -> u32 {
        self.free[group as usize]
    }

    /// Free bits.
    #[inline(always)]
    pub fn free(&self) -> u64 {
        self.free_in_all
    }

    /// The mean of the groups' free bits, rounded down.
    pub fn mean_free(&self) -> u32 {
        (self.free_in_all / self.free.len() as u64) as u32
    }

    /// Whether a bit is taken.
    #[inline(always)]
    pub fn is_taken(&self, bit: u32) -> bool {
        self.words[(bit / 64) as usize] >> (bit % 64) & 1 != 0
    }

    /// Takes free bits of a group.
    #[inline]
    pub fn take(&mut self, bits: Range<u32>) {
        self.flip(&bits, false);
        self.free[(bits.start / self.of_group) as usize] -= bits.end - bits.start;
        self.free_in_all -= u64::from(bits.end - bits.start);
    }

    /// Gives taken bits of a group back.
    #[inline]
    pub fn give(&mut self, bits: Range<u32>) {
        self.flip(&bits, true);
        self.free[(bits.start / self.of_group) as usize] += bits.end - bits.start;
        self.free_in_all += u64::from(bits.end - bits.start);
    }

    /// Flips bits, all of which are taken or all of which are free.
    #[inline(always)]
    fn flip(&mut self, bits: &Range<u32>, are_taken: bool) {
        let mut bit = bits.start;
        while bit < bits.end {
            let end = bits.end.min((bit / 64 + 1) * 64);
            let mask = u64::MAX >> (64 - (end - bit)) << (bit % 64);
            let word = &mut self.words[(bit / 64) as usize];
            debug_assert_eq!(*word & mask, if are_taken { mask } else { 0 }, "bits {bit} to {end}");
            *word ^= mask;
            bit = end;
        }
    }

    /// The first free bit of a range.
    #[inline]
    pub fn first_free(&self, bits: Range<u32>) -> Option<u32> {
        self.first(bits, |word| !word)
    }

    /// The first free bits of a range that fill a whole byte: the first of them.
    pub fn first_free_byte(&self, bits: Range<u32>) -> Option<u32> {
        let bytes = bits.start.next_multiple_of(8)..bits.end;
        self.first(bytes, |word| {
            // The lowest bit of each byte without a taken bit.
            let half = word | word >> 4;
            let quarter = half | half >> 2;
            !(quarter | quarter >> 1) & 0x0101_0101_0101_0101
        })
    }

    /// Where free bits from one on end, at most here.
    #[inline]
    pub fn free_until(&self, bits: Range<u32>) -> u32 {
        self.first(bits.clone(), |word| word).unwrap_or(bits.end)
    }

    /// The first bit of a range that `mark` sets in the word of the bit.
    #[inline(always)]
    fn first(&self, bits: Range<u32>, mark: impl Fn(u64) -> u64) -> Option<u32> {
        let mut bit = bits.start;
        while bit < bits.end {
            let rest = mark(self.words[(bit / 64) as usize]) >> (bit % 64);
            if rest != 0 {
                let found = bit + rest.trailing_zeros();
                return (found < bits.end).then_some(found);
            }
            bit = (bit / 64 + 1) * 64;
        }
        None
    }

    /// Runs of taken bits, in ascending order.
    pub fn taken_runs(&self) -> Vec<Range<u32>> {
        let mut runs = Vec::new();
        let mut from = 0;
        while let Some(start) = self.first(from..self.bits, |word| word) {
            let end = self.first_free(start..self.bits).unwrap_or(self.bits);
            runs.push(start..end);
            from = end;
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_taken(bits: u32, taken: impl IntoIterator<Item = u32>) -> Bitmap {
        let mut bitmap = Bitmap::new(bits, 128);
        taken.into_iter().for_each(|bit| bitmap.take(bit..bit + 1));
        bitmap
    }

    #[test]
    fn free_bits_are_counted_by_group() {
        let mut bitmap = with_taken(300, [0, 127, 128, 299]);
        assert_eq!([0, 1, 2].map(|group| bitmap.free_in(group)), [126, 127, 43]);
        bitmap.give(127..128);
        assert_eq!((bitmap.free_in(0), bitmap.free(), bitmap.mean_free()), (127, 297, 99));
    }

    #[test]
    fn runs_are_taken_and_given_back_across_words() {
        let mut bitmap = Bitmap::new(512, 256);
        for bits in [3..4, 0..256, 60..70, 64..128, 255..256, 300..512] {
            bitmap.take(bits.clone());
            assert_eq!((bitmap.taken_runs(), bitmap.free()), (vec![bits.clone(); 1], 512 - bits.len() as u64));
            assert_eq!(bitmap.free_until(0..512), bits.start);
            bitmap.give(bits);
            assert_eq!((bitmap.taken_runs(), bitmap.free_until(5..400)), (vec![], 400));
        }
    }

    #[test]
    fn the_first_free_bit_is_in_the_range() {
        let bitmap = with_taken(300, (0..70).chain(72..200));
        assert_eq!(bitmap.first_free(0..300), Some(70));
        assert_eq!(bitmap.first_free(72..300), Some(200));
        assert_eq!(bitmap.first_free(72..200), None);
        assert_eq!(bitmap.first_free(71..71), None);
    }

    #[test]
    fn a_free_byte_has_eight_free_bits() {
        let bitmap = with_taken(300, (0..70).chain([80, 95, 104]));
        assert_eq!(bitmap.first_free_byte(0..300), Some(72));
        assert_eq!(bitmap.first_free_byte(73..300), Some(96), "80 to 95 are two bytes with a taken bit each");
        assert_eq!(bitmap.first_free_byte(97..300), Some(112));
        assert_eq!(bitmap.first_free_byte(97..112), None);
    }

    #[test]
    fn runs_of_taken_bits_end_at_the_last_bit() {
        assert_eq!(with_taken(300, (0..70).chain([80]).chain(128..300)).taken_runs(), [0..70, 80..81, 128..300]);
        assert_eq!(with_taken(300, []).taken_runs(), []);
    }
}
