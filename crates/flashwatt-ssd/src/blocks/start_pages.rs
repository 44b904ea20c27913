//! What lies at each address of a start state that has a formula, so that no table need be filled for it. A table of a large drive
//! takes gigabytes, which the system clears page by page.

use std::sync::Arc;

use crate::nand::Geometry;
use flashwatt_base::units::{BlockId, DieId, Lpn, Ppn};

/// Where each logical page lies in a start state, as long as it has not been written since.
#[derive(Clone, Default)]
pub(crate) enum StartPages {
    /// Nowhere.
    #[default]
    Nowhere,
    /// At [`Geometry::filled_ppn`].
    InOrder,
    /// Scattered over valid addresses.
    Scattered(Arc<ScatteredPages>),
}

impl StartPages {
    /// The address of a logical page.
    #[inline(always)]
    pub fn ppn_of(&self, lpn: Lpn, geometry: &Geometry) -> Option<Ppn> {
        match self {
            StartPages::Nowhere => None,
            StartPages::InOrder => Some(geometry.filled_ppn(lpn)),
            StartPages::Scattered(pages) => Some(pages.ppn_of(lpn, geometry)),
        }
    }

    /// The logical page at an address, if any.
    pub fn lpn_at(&self, ppn: Ppn, geometry: &Geometry) -> Option<Lpn> {
        match self {
            StartPages::Nowhere => None,
            StartPages::InOrder => geometry.filled_lpn(ppn),
            StartPages::Scattered(pages) => pages.lpn_at(ppn, geometry),
        }
    }
}

/// The numbers below n in scattered order: the k-th one, from 0 on, is (k + 1) · step mod n. `step` has no common divisor with n.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scatter {
    /// How many numbers there are.
    pub n: u32,
    /// From each number to the next one, modulo `n`.
    pub step: u32,
}

impl Scatter {
    fn at(self, k: u32) -> u32 {
        (u64::from(k + 1) * u64::from(self.step) % u64::from(self.n)) as u32
    }

    /// The factor that [`Self::place`] needs: the inverse of `step` modulo `n`.
    fn inverse(self) -> u32 {
        let (mut old, mut new) = ((i64::from(self.n), 0), (i64::from(self.step), 1));
        while new.0 != 0 {
            let quotient = old.0 / new.0;
            (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
        }
        old.1.rem_euclid(i64::from(self.n.max(1))) as u32
    }

    /// The k for which [`Self::at`] gives `number`.
    fn place(self, inverse: u32, number: u32) -> u32 {
        let next = (u64::from(number) * u64::from(inverse) % u64::from(self.n)) as u32;
        if next == 0 { self.n - 1 } else { next - 1 }
    }
}

/// Logical pages scattered over the addresses of a drive that are valid: the k-th valid address, in the order of addresses, holds
/// the k-th number of a [`Scatter`]. Each die may have a scatter of its own, of the logical pages that belong to it by their number.
pub(crate) struct ScatteredPages {
    /// A bit for each address: whether it is valid in the start state.
    valid: Vec<u64>,
    words_per_block: usize,
    /// The number of valid addresses before each block, and before the end.
    before: Vec<u32>,
    /// Scatters and their inverses: one for the drive, or one for each die.
    scatters: Vec<(Scatter, u32)>,
}

impl ScatteredPages {
    /// `valid` has a bit for each address in rows of `words_per_block` words. `scatters` has one element, or one for each die.
    pub fn new(valid: Vec<u64>, words_per_block: usize, scatters: Vec<Scatter>) -> Self {
        let mut sum = 0;
        let counts = valid.chunks(words_per_block).map(|row| row.iter().map(|word| word.count_ones()).sum::<u32>());
        let before = std::iter::once(0).chain(counts.map(|count| {
            sum += count;
            sum
        }));
        ScatteredPages {
            before: before.collect(),
            scatters: scatters.iter().map(|&scatter| (scatter, scatter.inverse())).collect(),
            words_per_block,
            valid,
        }
    }

    fn ppn_of(&self, lpn: Lpn, geometry: &Geometry) -> Ppn {
        let (rank, blocks) = match self.scatters[..] {
            [(scatter, inverse)] => (scatter.place(inverse, lpn.0), 0..geometry.blocks),
            _ => {
                let die = DieId(lpn.0 % geometry.dies);
                let (scatter, inverse) = self.scatters[die.idx()];
                let blocks = blocks_of(die, geometry);
                (self.before[blocks.start as usize] + scatter.place(inverse, lpn.0 / geometry.dies), blocks)
            }
        };
        let ends = &self.before[blocks.start as usize + 1..=blocks.end as usize];
        let block = BlockId(blocks.start + ends.partition_point(|&end| end <= rank) as u32);
        let unit = nth_set_bit(self.row(block), rank - self.before[block.idx()]);
        Ppn(geometry.first_ppn(block).0 + unit)
    }

    fn lpn_at(&self, ppn: Ppn, geometry: &Geometry) -> Option<Lpn> {
        let block = geometry.block_of(ppn);
        let unit = ppn.0 - geometry.first_ppn(block).0;
        let (row, word) = (self.row(block), (unit / u64::BITS) as usize);
        let bit = 1 << (unit % u64::BITS);
        if row[word] & bit == 0 {
            return None;
        }
        let in_row =
            row[..word].iter().map(|word| word.count_ones()).sum::<u32>() + (row[word] & (bit - 1)).count_ones();
        let rank = self.before[block.idx()] + in_row;
        if let [(scatter, _)] = self.scatters[..] {
            return Some(Lpn(scatter.at(rank)));
        }
        let die = geometry.die_of_block(block);
        let first = self.before[blocks_of(die, geometry).start as usize];
        Some(Lpn(die.0 + geometry.dies * self.scatters[die.idx()].0.at(rank - first)))
    }

    fn row(&self, block: BlockId) -> &[u64] {
        &self.valid[block.idx() * self.words_per_block..][..self.words_per_block]
    }
}

fn blocks_of(die: DieId, geometry: &Geometry) -> std::ops::Range<u32> {
    die.0 * geometry.blocks_per_die..(die.0 + 1) * geometry.blocks_per_die
}

/// The position of the n-th set bit, from 0 on, of a row of words. There must be one.
fn nth_set_bit(row: &[u64], mut n: u32) -> u32 {
    let mut first = 0;
    for &word in row {
        let ones = word.count_ones();
        if n < ones {
            return first + nth_set_bit_of_word(word, n);
        }
        (n, first) = (n - ones, first + u64::BITS);
    }
    unreachable!("a row with fewer valid addresses than its count")
}

fn nth_set_bit_of_word(mut word: u64, mut n: u32) -> u32 {
    let mut at = 0;
    for width in [32, 16, 8, 4, 2, 1] {
        let ones = (word & ((1 << width) - 1)).count_ones();
        if n >= ones {
            (n, at, word) = (n - ones, at + width, word >> width);
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_scatter_gives_every_number_once_and_finds_its_place() {
        for (n, step) in [(1, 0), (2, 1), (1000, 617), (4_294_967_291, 2_654_435_761)] {
            let scatter = Scatter { n, step };
            let numbers: Vec<u32> = (0..n.min(1000)).map(|k| scatter.at(k)).collect();
            let places: Vec<u32> = numbers.iter().map(|&number| scatter.place(scatter.inverse(), number)).collect();
            assert_eq!(places, (0..n.min(1000)).collect::<Vec<_>>(), "{n}");
        }
        let mut all: Vec<u32> = (0..1000).map(|k| Scatter { n: 1000, step: 617 }.at(k)).collect();
        all.sort_unstable();
        assert_eq!(all, (0..1000).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn finds_the_bit_that_a_walk_finds(row in prop::collection::vec(any::<u64>(), 1..4)) {
            let bits = (0..64 * row.len() as u32).filter(|bit| row[*bit as usize / 64] >> (bit % 64) & 1 != 0);
            for (n, bit) in (0..).zip(bits) {
                prop_assert_eq!(nth_set_bit(&row, n), bit);
            }
        }
    }
}
