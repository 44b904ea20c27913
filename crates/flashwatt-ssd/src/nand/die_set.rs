//! Sets of dies.

use flashwatt_base::mem::set_first_bits;
use flashwatt_base::units::DieId;

/// A set of a drive's dies, one bit for each.
pub struct DieSet {
    words: Vec<u64>,
}

impl DieSet {
    /// All dies of a drive that has this number of them.
    pub fn all(dies: u32) -> Self {
        let mut words = vec![0; dies.div_ceil(u64::BITS) as usize];
        set_first_bits(&mut words, dies);
        DieSet { words }
    }

    /// Adds a die.
    #[inline(always)]
    pub fn add(&mut self, die: DieId) {
        self.words[word_of(die.0)] |= 1 << (die.0 % u64::BITS);
    }

    /// Removes a die.
    #[inline(always)]
    pub fn remove(&mut self, die: DieId) {
        self.words[word_of(die.0)] &= !(1 << (die.0 % u64::BITS));
    }

    /// Whether a die is in the set.
    #[inline(always)]
    pub fn has(&self, die: DieId) -> bool {
        self.words[word_of(die.0)] >> (die.0 % u64::BITS) & 1 != 0
    }

    /// The first die of the set in the order of numbers, from `from` on. `from` may be the number of dies.
    #[inline(always)]
    pub fn first_from(&self, from: u32) -> Option<DieId> {
        let at = word_of(from);
        let rest = self.words.get(at)? & u64::MAX << (from % u64::BITS);
        if rest != 0 {
            return Some(die_in(at, rest));
        }
        (at + 1..self.words.len()).find(|&at| self.words[at] != 0).map(|at| die_in(at, self.words[at]))
    }
}

#[inline(always)]
fn word_of(die: u32) -> usize {
    (die / u64::BITS) as usize
}

#[inline(always)]
fn die_in(at: usize, word: u64) -> DieId {
    DieId(at as u32 * u64::BITS + word.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn finds_what_an_ordered_set_finds(
            dies in 1..300u32,
            steps in prop::collection::vec((any::<bool>(), 0..300u32), 0..300),
        ) {
            let (mut set, mut expected) = (DieSet::all(dies), (0..dies).collect::<BTreeSet<u32>>());
            for (adds, die) in steps {
                let die = die % dies;
                if adds {
                    set.add(DieId(die));
                    expected.insert(die);
                } else {
                    set.remove(DieId(die));
                    expected.remove(&die);
                }
                for from in 0..=dies {
                    prop_assert_eq!(set.first_from(from), expected.range(from..).next().map(|&die| DieId(die)));
                }
                prop_assert_eq!(set.has(DieId(die)), expected.contains(&die));
            }
        }
    }
}
